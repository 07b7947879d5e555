"""Which unit for which operation: pooled over ranges, ordered by success, then by speed."""

from nalm.evaluate.ranking import Budget, rank


def row(unit, op="mul", solved=5, runs=5, mean=1000.0, **changes):
    values = {
        "model": unit,
        "op": op,
        "runs": runs,
        "success": {"rate": solved / runs},
        "solved_at": {"mean": mean if solved else None},
        "outcomes": {"solved": solved},
        "not_sparse": 0,
        "iterations": 50_000,
        "second_order": None,
    }
    return {**values, **changes}


def test_success_comes_first_and_then_speed():
    (entry,) = rank([row("slow", mean=9000.0), row("poor", solved=1), row("fast", mean=500.0)])
    assert [unit["unit"] for unit in entry["units"]] == ["fast", "slow", "poor"]
    assert entry["best"] == ["fast", "slow"]


def test_ranges_of_a_unit_are_taken_together():
    (entry,) = rank([row("a", solved=5, mean=1000.0), row("a", solved=0), row("a", solved=3, mean=2000.0)])
    (unit,) = entry["units"]
    assert unit["success"]["rate"] == 8 / 15
    assert unit["success"]["low"] < 8 / 15 < unit["success"]["high"]
    assert (unit["ranges"], unit["ranges_always_solved"], unit["ranges_never_solved"]) == (3, 1, 1)
    assert unit["mean_solved_at"] == (5 * 1000 + 3 * 2000) / 8


def test_nothing_solved_has_no_best():
    (entry,) = rank([row("a", solved=0)])
    assert entry["best"] == []
    assert entry["units"][0]["mean_solved_at"] is None


def test_operations_are_apart():
    assert [entry["op"] for entry in rank([row("a", "add"), row("a", "mul")])] == ["add", "mul"]


def test_models_that_differ_in_recipe_or_layer_alone_are_apart():
    rows = [
        row("nmu"),
        row("nmu@arithmetic", solved=0),
        row("nau(clamp=false)+nmu"),
        row("nau+nmu(clamp=false)"),
    ]
    (entry,) = rank(rows)
    assert len(entry["units"]) == 4


def test_only_units_of_as_many_steps_are_compared():
    """A unit of a user's own with 10,000 steps is not below an NMU that had 50,000."""
    rows = [row("mine", solved=3, iterations=10_000), row("nmu", solved=1, iterations=10_000), row("nmu")]
    long, short = rank(rows)
    assert (long["steps"], long["best"]) == (50_000, ["nmu"])
    assert (short["steps"], short["best"]) == (10_000, ["mine"])
    assert [(unit["unit"], unit["runs"]) for unit in short["units"]] == [("mine", 5), ("nmu", 5)]


def test_second_order_steps_are_of_another_kind():
    first, second = rank(
        [row("nmu@second-order", iterations=100, second_order={}), row("nmu", iterations=100)]
    )
    assert (first["second_order"], first["best"]) == (False, ["nmu"])
    assert (second["second_order"], second["best"]) == (True, ["nmu@second-order"])
    assert str(Budget(True, 100)) == "second-order, up to 100 steps"
    assert str(Budget(False, 50_000)) == "50,000 steps"
