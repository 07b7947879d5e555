"""The plan: every run once, one program a chunk, large chunks first."""

import hashlib
import json
from dataclasses import replace

import pytest

from nalm.experiment.plan import make_plan
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.recipes import SGD
from nalm.tasks import ArithmeticDataset, SingleModule
from nalm.training.trainers import TRAINERS


def runs(model="nmu", op="mul", count=10, **changes):
    iterations = changes.pop("iterations", None)
    case = Case(ModelSpec.parse(model), SingleModule(op, **changes), iterations)
    return [Run(case, seed) for seed in range(count)]


def test_every_run_is_planned_once():
    wanted = runs(count=2500) + runs("nau", "add", 30) + runs("nau", "sub", 30)
    planned = [run for chunk in make_plan(wanted, 2) for run in chunk.runs]
    assert len(planned) == len(wanted)
    assert set(planned) == set(wanted)


def test_operations_and_ranges_share_a_chunk_but_models_do_not():
    wanted = runs("nau", "add") + runs("nau", "sub", range="-2:2") + runs("nmu", "mul")
    assert sorted(len(chunk.runs) for chunk in make_plan(wanted, 1)) == [10, 20]


def test_recipes_and_steps_and_inputs_do_not_share_a_chunk():
    wanted = runs("realnpu", "div") + runs("realnpu@modified", "div") + runs("realnpu", "div", inputs=10)
    wanted += runs("realnpu", "div", iterations=3000)
    assert len(make_plan(wanted, 1)) == 4


@pytest.mark.parametrize(
    ("count", "processes", "chunks"), [(25, 2, 1), (225, 2, 2), (2500, 1, 3), (1000, 4, 4)]
)
def test_a_group_is_cut_to_fill_the_processes_and_bound_the_loss(count, processes, chunks):
    sizes = [len(chunk.runs) for chunk in make_plan(runs(count=count), processes)]
    assert len(sizes) == chunks
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= TRAINERS["engine"].chunk


def test_a_chunk_of_millions_of_steps_is_cut_so_that_an_interruption_loses_minutes():
    case = Case(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"))
    assert case.recipe.iterations == 5_000_000
    chunks = make_plan([Run(case, seed) for seed in range(100)], processes=1)
    assert {len(chunk.runs) for chunk in chunks} == {10}


def test_large_chunks_come_first():
    wanted = runs("nau", "add", 5) + runs("nmu", "mul", 50)
    assert [len(chunk.runs) for chunk in make_plan(wanted, 2)] == [50, 5]


def test_nothing_to_do_is_no_plan():
    assert make_plan([], 2) == []


def test_a_run_is_named_by_what_determines_its_numbers():
    (one,) = runs(count=1)
    assert one.id == runs(count=1, range="1:2=>2:6")[0].id
    others = [
        *runs(count=2)[1:],
        *runs(count=1, iterations=10),
        *runs("snmu", count=1),
        *runs(count=1, inputs=3),
    ]
    others += [*runs("nmu(clamp=false)", count=1), *runs(count=1, range="-2:2")]
    assert len({one.id, *(run.id for run in others)}) == 7


def test_few_runs_of_millions_of_steps_are_worth_all_processes():
    case = Case(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"))
    chunks = make_plan([Run(case, seed) for seed in range(20)], 2)
    assert [len(chunk.runs) for chunk in chunks] == [10, 10]


def test_second_order_runs_come_in_small_chunks_in_float64():
    chunks = make_plan(runs("nmu@second-order", count=200), processes=2)
    assert {len(chunk.runs) for chunk in chunks} == {TRAINERS["second-order"].chunk}
    assert chunks[0].first.identity["precision"] == "float64"


def test_hidden_sizes_do_not_share_a_chunk():
    cases = [Case(ModelSpec.parse("nau+nmu"), ArithmeticDataset("mul"), hidden=size) for size in (2, 3)]
    assert len(make_plan([Run(case, 0) for case in cases], 1)) == 2


def test_another_recipe_is_another_run_and_the_usual_one_keeps_its_name():
    usual = Case(ModelSpec.parse("nmu"), SingleModule("mul"))
    same = replace(usual, other_recipe=usual.recipe)
    other = replace(usual, other_recipe=replace(usual.recipe, optimiser=SGD(1e-2)))
    assert Run(same, 0).id == Run(usual, 0).id != Run(other, 0).id
    assert other.recipe.optimiser == SGD(1e-2)


def test_the_name_of_a_run_is_a_hash_of_what_determines_it():
    run = runs(count=8)[7]
    whole = f"{json.dumps(run.case.identity, sort_keys=True)} 7"
    assert run.id == hashlib.sha256(whole.encode()).hexdigest()[:32]
