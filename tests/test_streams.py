import itertools

import numpy as np
import pytest
import torch
from scipy import stats

from nalm.errors import ArgumentError
from nalm.streams import MAX_SEED, Purpose, check_seed, counters, key, normal, standard_normal, uniform

UNLIKELY = 1e-4
FIVE_SIGMA = 5.0


def draw(seeds, steps=0, elements=1024, purpose=Purpose.DATA, part=0, dtype=torch.float32):
    stream = key(int32(seeds), purpose, steps if isinstance(steps, int) else int32(steps), part)
    return uniform(stream, counters(elements), dtype).numpy().astype(np.float64)


def int32(values):
    return torch.as_tensor(np.asarray(values), dtype=torch.int32)


def grid(seeds, steps):
    """Every seed with every step, as two flat arrays."""
    s, t = np.meshgrid(np.arange(seeds), np.arange(steps), indexing="ij")
    return s.ravel(), t.ravel()


def names(stream):
    """Keys as single numbers."""
    return stream.first.numpy().astype(np.int64) << 32 | stream.second.numpy().astype(np.int64) & 0xFFFFFFFF


def words(u):
    """The 23 random bits of float32 numbers as -1 and 1."""
    whole = (np.ravel(u) * 2**23).astype(np.int32)
    return np.stack([(whole >> bit & 1) * np.float32(2) - 1 for bit in range(23)])


def uniformity(u, bins=64):
    """Chi-square p-values along the last axis."""
    cells = (u * bins).astype(int)
    counts = np.apply_along_axis(np.bincount, -1, cells, minlength=bins)
    return stats.chisquare(counts, axis=-1).pvalue


def pair_uniformity(first, second, bins=32):
    """Chi-square p-value of pairs on a square grid."""
    cells = (np.ravel(first) * bins).astype(int) * bins + (np.ravel(second) * bins).astype(int)
    return stats.chisquare(np.bincount(cells, minlength=bins * bins)).pvalue


def correlation_sigmas(first, second):
    """Correlation in units of its standard deviation for independent numbers."""
    a, b = np.ravel(first) - 0.5, np.ravel(second) - 0.5
    return 12 * (a * b).sum() / np.sqrt(a.size)


def largest_bit_correlation_sigmas(first, second):
    """The largest of the 23 x 23 correlations between bits, in standard deviations."""
    a, b = words(first), words(second)
    return np.abs(a @ b.T).max() / np.sqrt(a.shape[-1])


def looks_independent(first, second):
    return (
        abs(correlation_sigmas(first, second)) < FIVE_SIGMA
        and largest_bit_correlation_sigmas(first, second) < FIVE_SIGMA
        and pair_uniformity(first, second) > UNLIKELY
    )


@pytest.fixture(scope="module")
def many():
    """Training data of 320 seeds, 1024 numbers each."""
    return draw(np.arange(320))


# -- determinism ---------------------------------------------------------------------------------


def test_the_same_key_gives_the_same_numbers():
    assert np.array_equal(draw([3, 7], 11), draw([3, 7], 11))


@pytest.mark.parametrize(
    "other",
    [{"seeds": [6]}, {"steps": 4}, {"purpose": Purpose.NOISE}, {"part": 1}],
    ids=["seed", "step", "purpose", "part"],
)
def test_every_component_of_the_key_changes_the_numbers(other):
    usual = {"seeds": [5], "steps": 3, "purpose": Purpose.DATA, "part": 0}
    assert not np.isin(draw(**usual), draw(**{**usual, **other})).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_stream_does_not_depend_on_its_company(dtype):
    together = draw(np.arange(50), np.arange(50) * 3, dtype=dtype)
    for seed in (0, 17, 49):
        assert np.array_equal(together[seed], draw([seed], [3 * seed], dtype=dtype)[0])


def test_one_step_for_all_is_that_step_for_each():
    assert np.array_equal(draw([1, 2, 3], 9), draw([1, 2, 3], [9, 9, 9]))


def test_one_purpose_for_all_is_that_purpose_for_each():
    each = torch.full((3,), int(Purpose.TEST), dtype=torch.int32)
    assert np.array_equal(draw([1, 2, 3], purpose=Purpose.TEST), draw([1, 2, 3], purpose=each))


def test_a_longer_stream_begins_with_the_shorter_one():
    assert np.array_equal(draw([4], elements=1000)[:, :10], draw([4], elements=10))


def test_the_shape_of_the_elements_does_not_change_the_numbers():
    stream = key(int32([1, 2]), Purpose.DATA, 0)
    assert torch.equal(uniform(stream, counters(6, 20)).flatten(1), uniform(stream, counters(120)))


def test_elements_never_coincide():
    assert counters(1000, 1000).unique().numel() == 1_000_000


# -- range and resolution ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_lie_in_the_open_unit_interval(dtype):
    u = draw(np.arange(256), elements=4096, dtype=dtype)
    assert u.min() > 0
    assert u.max() < 1
    assert u.min() < 1e-5
    assert u.max() > 1 - 1e-5


def test_float32_numbers_are_midpoints_of_two_to_the_23_cells(many):
    assert (many * 2**24 % 2 == 1).all()


def test_float64_numbers_are_midpoints_of_two_to_the_52_cells():
    assert (draw(np.arange(64), dtype=torch.float64) * 2.0**53 % 2 == 1).all()


def test_float64_refines_float32():
    coarse, fine = draw([8]), draw([8], dtype=torch.float64)
    assert np.array_equal(np.floor(coarse * 2**23), np.floor(fine * 2**23))


def test_what_float64_adds_is_uniform_and_independent():
    coarse, fine = draw(np.arange(256)), draw(np.arange(256), dtype=torch.float64)
    added = fine * 2.0**23 % 1
    assert uniformity(added.ravel()) > UNLIKELY
    assert looks_independent(coarse, added)


def test_what_float64_adds_repeats_no_number_of_the_stream():
    coarse, fine = draw(np.arange(64), elements=16), draw(np.arange(64), elements=16, dtype=torch.float64)
    added = np.floor((fine * 2.0**23 % 1) * 2**23)
    # Modulo one half, because the top bit may be the sign bit of a signed word in one of them.
    repeats = (added % 2**22)[:, :, None] == (np.floor(coarse * 2**23) % 2**22)[:, None, :]
    assert not repeats.any()


# -- one stream ----------------------------------------------------------------------------------


def test_every_stream_is_uniform(many):
    p = uniformity(many)
    assert p.min() > UNLIKELY / len(p)
    assert stats.kstest(p, "uniform").pvalue > UNLIKELY


def test_all_streams_together_are_uniform(many):
    assert uniformity(many.ravel(), 1000) > UNLIKELY
    assert stats.kstest(many.ravel(), "uniform").pvalue > UNLIKELY


def test_mean_and_variance_are_those_of_the_uniform_distribution(many):
    n = many.size
    assert abs(many.mean() - 1 / 2) < 4 * np.sqrt(1 / 12 / n)
    assert abs(many.var() - 1 / 12) < 4 * np.sqrt(1 / 180 / n)


def test_the_means_of_streams_scatter_as_much_as_they_should(many):
    z = (many.mean(-1) - 0.5) * np.sqrt(12 * many.shape[-1])
    assert stats.kstest(z, "norm").pvalue > UNLIKELY


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 5, 6, 7, 8, 128, 400])
def test_numbers_are_independent_of_later_ones(many, lag):
    assert looks_independent(many[:, :-lag], many[:, lag:])


def test_every_bit_is_balanced(many):
    sums = words(many).sum(-1, dtype=np.float64)
    assert (np.abs(sums) / np.sqrt(many.size) < 4.5).all()


def test_bits_of_one_number_are_independent(many):
    bits = words(many)
    products = np.abs(bits @ bits.T) / np.sqrt(many.size)
    assert products[~np.eye(23, dtype=bool)].max() < FIVE_SIGMA


def test_triples_fill_the_cube(many):
    cells = (many[:, :1023].reshape(-1, 3) * 16).astype(int) @ (256, 16, 1)
    assert stats.chisquare(np.bincount(cells, minlength=4096)).pvalue > UNLIKELY


def test_the_largest_of_a_few_numbers_is_distributed_as_it_should_be(many):
    assert stats.kstest(many.reshape(-1, 8).max(-1) ** 8, "uniform").pvalue > UNLIKELY


# -- across streams ------------------------------------------------------------------------------


@pytest.mark.parametrize("element", [0, 1, 127])
def test_one_element_is_uniform_over_seeds(element):
    across = draw(np.arange(2**16), elements=128)[:, element]
    assert uniformity(across, 256) > UNLIKELY
    assert looks_independent(across[:-1], across[1:])


@pytest.mark.parametrize("element", [0, 1, 127])
def test_one_element_is_uniform_over_steps(element):
    across = draw(np.full(2**16, 5), np.arange(2**16), elements=128)[:, element]
    assert uniformity(across, 256) > UNLIKELY
    assert looks_independent(across[:-1], across[1:])


def test_the_first_two_elements_are_independent_over_seeds():
    u = draw(np.arange(2**16), elements=2, purpose=Purpose.INIT)
    assert looks_independent(u[:, 0], u[:, 1])


@pytest.mark.parametrize("apart", [1, 2, 3, 25, 256])
def test_streams_of_neighbouring_seeds_are_independent(many, apart):
    assert looks_independent(many[:-apart], many[apart:])


@pytest.mark.parametrize("apart", [1, 2, 8, 128, 1000])
def test_streams_of_neighbouring_steps_are_independent(apart):
    steps, same = np.arange(256), np.zeros(256)
    assert looks_independent(draw(same, steps), draw(same, steps + apart))


def test_streams_of_neighbouring_purposes_are_independent():
    streams = [draw(np.arange(256), purpose=purpose) for purpose in Purpose]
    for first, second in itertools.pairwise(streams):
        assert looks_independent(first, second)


def test_streams_of_neighbouring_parts_are_independent():
    streams = [draw(np.arange(256), part=part) for part in range(6)]
    for first, second in itertools.pairwise(streams):
        assert looks_independent(first, second)


def test_the_next_step_of_a_seed_is_independent_of_the_next_seed():
    seeds, steps = grid(23, 23)
    assert looks_independent(draw(seeds, steps + 1), draw(seeds + 1, steps))


def test_no_two_seeds_and_steps_share_a_key():
    seeds, steps = map(int32, grid(700, 700))
    assert len(np.unique(names(key(seeds, Purpose.DATA, steps)))) == 700 * 700


def test_no_two_purposes_and_parts_share_a_key():
    seeds, steps = map(int32, grid(40, 40))
    found = [names(key(seeds, purpose, steps, part)) for purpose in Purpose for part in range(12)]
    assert len(np.unique(found)) == 40 * 40 * len(Purpose) * 12


def test_no_two_streams_begin_alike():
    first, second = (draw(*grid(300, 300), elements=2) * 2**24).astype(np.int64).T
    assert len(np.unique(first << 24 | second)) == 300 * 300


# -- large seeds ---------------------------------------------------------------------------------


def test_the_largest_seeds_give_good_streams():
    u = draw(MAX_SEED - np.arange(128))
    assert u.min() >= 0
    assert u.max() < 1
    assert uniformity(u.ravel(), 256) > UNLIKELY
    assert looks_independent(u[:-1], u[1:])


def test_the_largest_steps_give_good_streams():
    u = draw(np.full(128, MAX_SEED), MAX_SEED - np.arange(128))
    assert uniformity(u.ravel(), 256) > UNLIKELY
    assert looks_independent(u[:-1], u[1:])


# -- normal numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normal_numbers_are_normal(dtype):
    z = normal(key(int32(np.arange(256)), Purpose.GRADIENT_NOISE, 0), counters(1024), dtype)
    assert z.dtype == dtype
    assert stats.kstest(z.double().ravel().numpy(), "norm").pvalue > UNLIKELY


def test_normal_numbers_have_normal_moments():
    z = normal(key(int32(np.arange(256)), Purpose.GRADIENT_NOISE, 0), counters(1024), torch.float64).ravel()
    n = z.numel()
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean().item() - moment) < 4 * np.sqrt(variance / n)


def test_standard_normal_is_the_normal_quantile():
    u = torch.linspace(0.0005, 0.9995, 1000, dtype=torch.float64)
    assert np.allclose(standard_normal(u).numpy(), stats.norm.ppf(u.numpy()), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normal_numbers_are_finite_at_both_ends(dtype):
    ends = standard_normal(torch.tensor([0.0, 1 - 2**-24], dtype=dtype))
    assert ends.isfinite().all()
    assert ends[0] < -5
    assert ends[1] > 5


# -- seeds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, MAX_SEED])
def test_seeds_that_name_a_stream_are_returned(seed):
    assert check_seed(seed) == seed


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1, 1.0, True, "1", None])
def test_other_seeds_are_refused_with_the_bounds(seed):
    with pytest.raises(ArgumentError, match=r"`seed` must be a whole number from 0 to 2147483647, but got "):
        check_seed(seed)
