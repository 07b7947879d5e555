"""Claims are judged by their own number first; an exact test says whether the seeds could tell."""

import pytest

from nalm.evaluate.intervals import success_interval
from nalm.papers import claims, counted
from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Claim, Findings


def found(**rows):
    """Findings of rows with so many successes of 25 in columns a, b, c, …"""
    numbers = {}
    for row, successes in rows.items():
        for column, solved in zip("abcdefghi", successes):
            interval = success_interval(solved, 25)
            numbers[row, column, "success"] = Finding(interval.value, interval.low, interval.high, 25)
    return Findings(numbers)


def answered(check, f):
    answer = Claim("x", "…", check).answer(f)
    return answer.holds, answer.weak


@pytest.mark.parametrize(
    ("solved", "expected"),
    [(25, (True, False)), (24, (True, False)), (20, (True, True)), (19, (False, False)), (0, (False, False))],
)
def test_full_success_stands_until_the_exact_test_excludes_it(solved, expected):
    assert answered(claims.full("x"), found(x=[25, solved])) == expected


@pytest.mark.parametrize(
    ("solved", "expected"), [(0, (True, False)), (5, (True, True)), (6, (False, False)), (10, (False, False))]
)
def test_no_success_stands_until_the_exact_test_excludes_it(solved, expected):
    assert answered(claims.none("x"), found(x=[0, solved])) == expected


def test_failures_on_many_columns_exclude_full_success_together():
    assert claims.full("x", ["a"])(found(x=[24]))
    assert not claims.full("x")(found(x=[24] * 9))


@pytest.mark.parametrize(
    ("solved", "expected"), [(10, (True, False)), (24, (True, True)), (25, (False, False))]
)
def test_not_full_needs_a_failure_and_is_weak_if_chance_could_have_made_it(solved, expected):
    assert answered(claims.not_full("x"), found(x=[0, solved])) == expected


def test_some_success_is_needed_in_every_column():
    assert answered(claims.some("x"), found(x=[25, 1])) == (True, True)
    assert not claims.some("x")(found(x=[25, 0]))


def test_columns_may_be_named():
    f = found(x=[25, 0])
    assert claims.full("x", ["a"])(f)
    assert not claims.full("x", ["b"])(f)


@pytest.mark.parametrize(("count", "expected"), [(3, (True, True)), (4, (False, True)), (0, (False, False))])
def test_a_count_must_be_the_same_count_and_says_if_other_seeds_would_give_it(count, expected):
    # Three columns are full, the fourth nearly so, two are far from it.
    f = found(x=[25, 25, 25, 24, 5, 0])
    assert answered(counted.full_on("x", count), f) == expected
    answer = counted.full_on("x", count)(f)
    assert (answer.paper, answer.ours) == (count, 3)


def test_counts_of_successes_and_of_better_columns():
    f = found(x=[20, 15, 0, 0, 0], y=[0, 15, 25, 0, 0])
    assert counted.some_on("x", 2)(f).ours == 2
    assert counted.better_on("x", "y", 1)(f)
    assert not counted.better_on("x", "y", 3)(f)


def test_better_needs_a_gain_and_no_sure_loss():
    assert answered(claims.better("x", "y"), found(x=[25, 20], y=[10, 11])) == (True, False)
    assert answered(claims.better("x", "y"), found(x=[13, 10], y=[10, 11])) == (True, True)
    assert answered(claims.better("x", "y"), found(x=[25, 0], y=[5, 15])) == (False, False)
    assert answered(claims.better("x", "y"), found(x=[10, 10], y=[10, 10])) == (False, True)


def test_better_everywhere_needs_a_gain_in_each_column_that_could_have_one():
    assert claims.better_everywhere("x", "y")(found(x=[25, 25, 20], y=[25, 10, 5]))
    assert not claims.better_everywhere("x", "y")(found(x=[25, 25, 5], y=[25, 10, 6]))


def test_better_in_compares_columns_of_one_row():
    assert answered(claims.better_in("x", "a", "b"), found(x=[25, 10])) == (True, False)
    assert answered(claims.better_in("x", "a", "b"), found(x=[12, 11])) == (True, True)
    assert not claims.better_in("x", "a", "b")(found(x=[10, 10]))


def test_not_better_stands_until_one_column_or_all_together_are_surely_better():
    assert answered(claims.not_better("x", "y"), found(x=[14, 0], y=[10, 25])) == (True, False)
    assert answered(claims.not_better("x", "y"), found(x=[14], y=[10])) == (True, True)
    assert not claims.not_better("x", "y")(found(x=[25, 0], y=[10, 25]))
    assert not claims.not_better("x", "y")(found(x=[18] * 9, y=[13] * 9))


def test_alike_stands_until_one_column_or_all_together_surely_differ():
    assert answered(claims.alike("x", "y"), found(x=[12, 25], y=[13, 24])) == (True, False)
    assert answered(claims.alike("x", "y"), found(x=[12], y=[17])) == (True, True)
    assert not claims.alike("x", "y")(found(x=[12, 25], y=[15, 5]))


def test_best_and_worst_are_those_with_the_highest_and_lowest_rate_over_all_runs():
    f = found(x=[20, 5], y=[14, 14], z=[0, 0])
    assert answered(claims.best("y", ["x", "y", "z"]), f) == (True, True)
    assert answered(claims.best("x", ["x", "y", "z"]), f) == (False, True)
    assert answered(claims.best("z", ["x", "y"]), f) == (False, False)
    assert claims.worst("z", ["x", "y"])(f)
    assert not claims.worst("x", ["z"])(f)


def test_at_least_a_share_is_weak_if_the_interval_reaches_below():
    assert answered(claims.at_least("x", ["a"], 0.4), found(x=[12])) == (True, True)
    assert answered(claims.at_least("x", ["a"], 0.4), found(x=[9])) == (False, True)
    assert answered(claims.at_least("x", ["a"], 0.4), found(x=[24])) == (True, False)


def test_uneven_rows_have_columns_that_surely_differ():
    assert claims.uneven("x")(found(x=[25, 10]))
    assert not claims.uneven("x")(found(x=[12, 15]))


def test_lower_compares_where_both_have_the_measure():
    numbers = {
        ("x", "a", "solved at"): Finding(100.0, 90.0, 110.0, 25),
        ("y", "a", "solved at"): Finding(300.0, 250.0, 350.0, 25),
        ("x", "b", "solved at"): Finding(900.0, None, None, 25),
        ("y", "b", "solved at"): Finding(None, None, None, 25),
    }
    f = Findings(numbers)
    assert answered(claims.lower("solved at", "x", "y", ["a", "b"]), f) == (True, False)
    assert not claims.lower("solved at", "y", "x", ["a", "b"])(f)
    assert not claims.lower("sparsity", "x", "y", ["a", "b"])(f)


def test_several_claims_hold_together_and_are_weak_where_one_is():
    f = found(x=[25], y=[0], z=[20])
    assert answered(claims.both(claims.full("x"), claims.none("y")), f) == (True, False)
    assert answered(claims.both(claims.full("x"), claims.full("z")), f) == (True, True)
    assert answered(claims.both(claims.full("z"), claims.full("y")), f) == (False, False)


def test_a_plain_truth_is_an_answer_too():
    assert Claim("x", "…", lambda f: True).answer(found(x=[1])) == Answer(True)
