"""Number words in the ledger: which run is chosen, what is read from it, and what a NALU's parts are."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import torch
from made_records import MadeRuns, made_record
from matplotlib.figure import Figure

from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings
from nalm.papers.entries import ENTRIES
from nalm.papers.published import numbers_of
from nalm.papers.reproduce import rejudged, result_of
from nalm.papers.scale import Scale
from nalm.papers.trask2018.entries import language as entries
from nalm.papers.trask2018.programs import inside_language as inside
from nalm.papers.trask2018.programs.language import (
    BEST,
    MEDIAN,
    LanguageRow,
    chosen_run,
    language_case,
    table,
)
from nalm.tasks import Language, Split

QUICK, FEW = Scale(quick=True), Scale(quick=True, seeds=2)
NAMES = [entry.id for entry in entries.ENTRIES]
SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "reproduce.schema.json"
ROW = LanguageRow("LSTM + NALU", "nalu")


def runs(errors):
    """The stored runs of a row: for each size and rate, runs with these validation errors."""
    return {
        case: [
            made_record(case, seed, validation=np.array([9e9, error]), test=np.array([9e9, 10 * error]))
            for seed, error in enumerate(each)
        ]
        for case, each in zip(ROW.cases(Scale()), errors, strict=True)
    }


def test_sizes_and_rates_are_the_papers_and_one_is_the_benchmarks_own():
    cases, reduced = ROW.cases(Scale()), ROW.cases(QUICK)
    found = {(case.task.size, case.recipe.optimiser.learning_rate) for case in cases}
    assert found == {(16, 0.01), (16, 0.001), (32, 0.01), (32, 0.001)}
    assert sum(case.other_recipe is None for case in cases) == 2
    assert all(case.other_recipe is None and case.task.protocol == "quick" for case in reduced)
    assert [case.task.size for case in reduced] == [16, 32]
    assert language_case("nalu", "final", 16, 0.01, Scale(steps=0.1)).recipe.iterations == 30_000


def test_the_run_with_the_lowest_validation_error_is_chosen_and_a_lost_one_never():
    stored = runs([[3.0, 2.0], [np.nan, 4.0], [1.0, 5.0], [6.0, np.inf]])
    best = chosen_run(ROW, stored, Scale())
    assert (best.run.seed, best.count) == (0, 8)
    assert best.case == ROW.cases(Scale())[2]
    found = table([best])
    assert found[ROW.row, "validation", BEST].value == 1
    assert found[ROW.row, "test", BEST].value == 10
    assert found[ROW.row, "test", MEDIAN].value == 30
    assert chosen_run(ROW, {}, Scale()) is None


@pytest.mark.parametrize("op", Language.ops)
def test_the_parts_of_a_nalu_give_its_result(op):
    case = language_case("nalu", op, 16, 0.01, QUICK)
    network = inside.network_of(case, made_record(case))
    for sentence, parts in inside.by_word(network).items():
        expected = network(inside.prefixes(sentence))[:, 0]
        torch.testing.assert_close(parts.result, expected.detach())
        assert len(parts.gate) == len(sentence.split())
    errors = inside.ablations(network, case.task)
    held = case.task.constants(Split.TEST)
    off = network(held["sentences"])[:, 0].detach() - held["values"]
    assert errors[inside.WHOLE] == pytest.approx(float(off.abs().mean()), rel=1e-5)
    assert set(errors) == {inside.WHOLE, inside.SUM, inside.PRODUCT, inside.ROUNDED, inside.DECIDED}


def test_rounding_changes_nothing_in_a_unit_that_does_arithmetic():
    case = language_case("nalu", "outputs", 16, 0.01, QUICK)
    network = inside.network_of(case, made_record(case))
    network.unit.ideal_("add", 0, 1)
    errors = inside.ablations(network, case.task)
    assert errors[inside.ROUNDED] == pytest.approx(errors[inside.WHOLE], rel=1e-6)
    assert inside.habits(network, case.task)["inputs with a weight above 0.5"] == 2


def made(errors):
    return Findings({(row, column, BEST): Finding(v, None, None, 1) for (row, column), v in errors.items()})


def test_claims_are_judged_by_the_errors():
    claims = {claim.text.split(":")[0]: claim for claim in ENTRIES["trask2018:table3"].claims}
    as_published = made(
        {
            ("LSTM", "train"): 0.003, ("LSTM", "test"): 29.4, ("LSTM + NAC", "train"): 80.0,
            ("LSTM + NAC", "test"): 114.3, ("LSTM + NALU", "test"): 0.41, ("LSTM + NAC•", "test"): 0.5,
        }
    )  # fmt: skip
    assert all(claim.answer(as_published).holds for claim in claims.values())
    others = made({("LSTM", "train"): 0.1, ("LSTM", "test"): 2.0, ("LSTM + NALU", "test"): 1.0})
    assert not any(claim.answer(others).holds for text, claim in claims.items() if "NAC" not in claim.row)


def test_the_least_error_of_a_nac_is_above_the_printed_one():
    """Summed states of 32 values and five words stay below 160, whatever the weights."""
    values = torch.tensor(Language().split_numbers(Split.TRAIN))
    least = (values - 160).clamp(min=0).float().mean()
    printed = {(n.row, n.column): n.value for n in numbers_of("trask2018:table3")}
    assert least > 3 * printed["LSTM + NAC", "train"]


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_gives_cells_and_a_figure(name):
    entry = ENTRIES[name]
    measured = entry.measure(FEW, MadeRuns())
    assert not measured.partial
    assert not measured.comparable
    assert "seeds: 2 instead of 10" in measured.reduced
    result = result_of(entry, measured, FEW)
    jsonschema.validate(json.loads(json.dumps(result)), json.loads(SCHEMA.read_text()))
    assert rejudged(entry, result)["cells"] == result["cells"]
    shown = {(cell["row"], cell["column"].partition(":")[0]) for cell in result["cells"]}
    assert {(n.row, n.column) for n in numbers_of(name)} <= shown
    if entry.draw is not None:
        figure = Figure(layout="constrained")
        entry.draw(measured, figure)
        assert figure.axes


def test_tables_and_figure_share_their_runs():
    (three,), (eleven,), (figure,) = (
        ENTRIES[name].experiments(QUICK) for name in sorted(NAMES, key=len)[::-1]
    )
    sets = [set(each.cases) for each in (three, eleven, figure)]
    assert sorted(map(len, sets)) == [2, 4, 20]
    biggest = max(sets, key=len)
    assert sorted(len(each & biggest) for each in sets) == [2, 2, 20]


def test_an_entry_can_be_measured_in_part():
    class Some(MadeRuns):
        def records(self, experiment):
            return dict(list(super().records(experiment).items())[:4])

    measured = ENTRIES["trask2018:table3"].measure(FEW, Some())
    assert measured.partial
    assert {row for row, _, _ in measured.findings} == {"LSTM", "LSTM + NAC"}
