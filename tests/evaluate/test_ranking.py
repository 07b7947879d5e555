"""Which unit for which operation: pooled over ranges, ordered by success, then by speed."""

from nalm.evaluate.ranking import rank


def row(unit, op="mul", solved=5, runs=5, mean=1000.0, **changes):
    values = {
        "model": unit,
        "op": op,
        "runs": runs,
        "success": {"rate": solved / runs},
        "solved_at": {"mean": mean if solved else None},
        "outcomes": {"solved": solved},
        "not_sparse": 0,
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
