"""All runs of a store, case by case, and how a case differs from the usual."""

from dataclasses import replace

from made_runs import bare_record

from nalm.experiment.run import Case, Run
from nalm.experiment.stored_cases import differences, stored_cases
from nalm.models import ModelSpec
from nalm.papers.scale import shortened
from nalm.recipes import PCC
from nalm.tasks import SingleModule

USUAL = Case(ModelSpec.parse("nmu"), SingleModule("mul", "1:2"))


def test_runs_that_differ_in_the_seed_alone_are_one_cell_in_the_order_of_seeds():
    runs = [Run(USUAL, seed) for seed in (3, 0)] + [Run(replace(USUAL, iterations=7), 0)]
    first, second = stored_cases([bare_record(run, solved=run.seed == 3) for run in runs])
    assert [run.seed for run in first.runs] == [0, 3]
    assert [str(run.assessment.outcome) for run in first.runs] == ["not_converged", "solved"]
    assert (first.variant, second.variant) == ((), ("iterations=7",))
    assert first.row()["success"]["rate"] == 0.5


def test_runs_that_no_threshold_can_judge_are_left_out():
    case = Case(ModelSpec.parse("nru"), SingleModule("div", "-2:2=>-2:2"))
    assert case.task.threshold() is None
    records = [bare_record(Run(case, 0), ideal_test=None), bare_record(Run(case, 1))]
    (found,) = stored_cases(records)
    assert [run.seed for run in found.runs] == [1]


def variant(**changes):
    return differences(replace(USUAL, **changes).identity, USUAL.identity)


def test_the_usual_differs_in_nothing():
    assert variant() == ()


def test_other_steps_and_sizes_are_told():
    assert variant(iterations=7) == ("iterations=7",)
    assert differences({**USUAL.identity, "hidden": 3}, USUAL.identity) == ("hidden=3",)
    assert differences({**USUAL.identity, "numerics_version": 1}, USUAL.identity) == ("numerics_version=1",)


def test_fewer_steps_are_told_apart_by_what_they_did_to_the_schedules():
    assert variant(iterations=10_000) == ("iterations=10000",)
    assert variant(iterations=10_000, schedule="scaled") == ("iterations=10000", "schedules scaled")
    assert variant(iterations=100_000, schedule="scaled") == ("iterations=100000",)
    papers = shortened(USUAL, 0.2)
    assert differences(papers.identity, USUAL.identity) == ("iterations=10000", "schedules scaled")
    slower = replace(USUAL.recipe, optimiser=replace(USUAL.recipe.optimiser, learning_rate=0.5))
    both = variant(iterations=10_000, other_recipe=slower, schedule="scaled")
    assert both == ("optimiser.learning_rate=0.5", "iterations=10000", "schedules scaled")


def test_without_schedules_fewer_steps_are_one_thing():
    plain = Case(ModelSpec.parse("nac"), SingleModule("add", "1:2"), 10_000)
    assert Run(plain, 0).id == Run(replace(plain, schedule="scaled"), 0).id


def test_a_recipe_is_told_by_the_parts_that_differ():
    recipe = USUAL.recipe
    slower = replace(recipe, optimiser=replace(recipe.optimiser, learning_rate=0.5))
    assert variant(other_recipe=slower) == ("optimiser.learning_rate=0.5",)
    assert variant(other_recipe=replace(recipe, loss=PCC())) == ("loss=PCC(epsilon=1e-08)",)
    assert variant(other_recipe=replace(recipe, penalties=())) == ("no penalties.1",)


def test_another_source_is_told_by_a_word_of_it():
    own = {**USUAL.identity, "layers": [{"unit": "Mine", "source": "a = 1", "options": {}}]}
    changed = {**own, "layers": [{"unit": "Mine", "source": "a = 2", "options": {}}]}
    (said,) = differences(changed, own)
    assert said.startswith("layer 1.source=")


def test_a_cell_knows_when_and_by_what_its_runs_were_computed():
    times = ["2026-01-03T00:00:00+00:00", "", "2026-01-02T00:00:00+00:00", "2026-01-04T00:00:00+00:00"]
    records = [bare_record(Run(USUAL, seed), computed_at=time) for seed, time in enumerate(times)]
    records[0] = replace(records[0], machine={"nalm": "0.6.0"})
    (found,) = stored_cases(iter(records))
    assert (found.times, found.untimed) == ((times[2], times[3]), 1)
    assert {dict(versions)["nalm"]: n for versions, n in found.machines.items()} == {"0.6.0": 1, "0.5.0": 3}
    assert found.trainer == "engine"


def test_runs_come_together_whether_or_not_they_share_their_identity_in_memory():
    """A store gives runs of a case one object; other readers give equal ones."""
    records = [bare_record(Run(USUAL, seed), identity=dict(USUAL.identity)) for seed in range(3)]
    assert [len(found.runs) for found in stored_cases(records)] == [3]
