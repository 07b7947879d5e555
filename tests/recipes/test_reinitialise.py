import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm.recipes.reinitialise import Reinitialise

INTERVAL = 20


def naive(rule, logged, began, step):
    """Keep a list with the last logged error of every step, as the published program does."""
    losses = np.array([logged[now // INTERVAL] for now in range(began, step)])
    if len(losses) <= rule.stored:
        return False
    half = len(losses) // 2
    first, second = losses[:half], losses[half:]
    return bool(first.mean() <= second.mean() + second.std() and second.mean() > rule.floor)


def stuck(rule, logged, began, step, interval=INTERVAL):
    logged = torch.as_tensor(np.asarray(logged), dtype=torch.float64)
    return rule.stuck(logged, interval, torch.as_tensor(began, dtype=torch.float64), step).tolist()


@settings(deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 200), drift=st.floats(-0.3, 0.3))
def test_it_decides_like_a_list_of_losses(seed, steps, drift):
    rng = np.random.default_rng(seed)
    step = 2 * steps
    logs = step // INTERVAL + 1
    logged = np.exp(drift * np.arange(logs) + rng.normal(0, 0.7, (8, logs)))
    began = 2 * rng.integers(0, steps, 8)
    rule = Reinitialise(stored=50, floor=0.8)
    expected = [naive(rule, logged[k], began[k], step) for k in range(8)]
    assert stuck(rule, logged, began, step) == expected


def test_the_random_cases_contain_both_answers():
    rng = np.random.default_rng(0)
    logged = np.exp(rng.normal(0, 0.7, (200, 11)))
    answers = stuck(Reinitialise(stored=50, floor=0.8), logged, np.zeros(200), 200)
    assert 20 < sum(answers) < 180


FLAT, FALLING = np.full(11, 5.0), np.linspace(50.0, 5.0, 11)


def test_a_flat_loss_is_stuck_and_a_falling_one_is_not():
    assert stuck(Reinitialise(stored=100), [FLAT, FALLING], [0, 0], 200) == [True, False]


def test_a_flat_loss_below_the_floor_is_not_stuck():
    assert stuck(Reinitialise(stored=100, floor=5.0), [FLAT, FLAT + 1e-9], [0, 0], 200) == [False, True]


@pytest.mark.parametrize(("step", "expected"), [(100, False), (102, True)])
def test_more_losses_must_be_stored_than_the_number_says(step, expected):
    assert stuck(Reinitialise(stored=100), [FLAT], [0], step) == [expected]


def test_losses_from_before_the_last_start_are_forgotten():
    jumped = np.concatenate([np.full(5, 100.0), np.full(6, 5.0)])
    assert stuck(Reinitialise(stored=90), [jumped, jumped], [0, 100], 200) == [False, True]


def test_each_model_counts_from_its_own_start():
    assert stuck(Reinitialise(stored=100), [FLAT] * 3, [0, 90, 110], 200) == [True, True, False]


def test_the_current_interval_counts_as_far_as_it_has_come():
    logged = np.array([3.0] * 5 + [0.5])
    rule = Reinitialise(stored=50)
    for step in range(102, 121, 2):
        assert stuck(rule, [logged], [0], step) == [naive(rule, logged, 0, step)]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_without_a_finite_loss_does_not_spoil_the_others(bad):
    spoiled = FLAT.copy()
    spoiled[3] = bad
    answers = stuck(Reinitialise(stored=100), [FLAT, spoiled, FALLING], [0, 0, 0], 200)
    assert [answers[0], answers[2]] == [True, False]


def test_the_published_numbers():
    assert Reinitialise() == Reinitialise(stored=10_000, floor=1.0, every=10)
