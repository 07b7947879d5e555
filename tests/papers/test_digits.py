"""Experiments on images of digits: what is planned, and what is read from runs. Nothing is trained."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from nalm.evaluate.reference import upper_bound
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.papers.entries import ENTRIES
from nalm.papers.madsen2020.entries import digits as madsen
from nalm.papers.mistry2023.entries import digits_division, digits_product, digits_sequential
from nalm.papers.mistry2023.programs import digit_pairs
from nalm.papers.published import numbers_of
from nalm.papers.reproduce import rejudged, result_of
from nalm.papers.scale import Scale
from nalm.papers.shared import digits
from nalm.papers.shared.digits import DigitRow, accuracy, digit_accuracies, digit_case, read_as
from nalm.papers.shared.sequential_digits import PRODUCT, SOLVED, SUM, with_r_z, without_r_z
from nalm.papers.trask2018.entries import digits as trask
from nalm.papers.trask2018.programs import doubled
from nalm.recipes import ClipNorm, InputIdentity, PCCThenMSE
from nalm.tasks import MnistIsolated

QUICK = Scale(quick=True)
NAMES = [
    entry.id
    for module in (trask, madsen, digits_product, digits_division, digits_sequential)
    for entry in module.ENTRIES
]
SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "reproduce.schema.json"


def record(case: Case, seed: int = 0, logs: int = 4, **changes: object) -> Record:
    """A run of a case with errors that were never measured."""
    stream = np.random.default_rng([seed, len(str(case.model)), case.recipe.iterations])
    errors = {
        f"test/{measure.name}": stream.uniform(0, 1, (*measure.shape, logs)) for measure in case.task.measures
    }
    weight = stream.uniform(0, 1, (1, 2))
    curve, steps = stream.uniform(0, 1, logs), np.arange(logs) * case.recipe.iterations // (logs - 1)
    made = Record(
        id=f"{seed}",
        task=case.task.name,
        model=str(case.model),
        labels=case.task.labels(),
        seed=seed,
        iterations=case.recipe.iterations,
        identity=case.identity,
        machine={},
        steps=steps,
        validation=curve,
        test=curve,
        chosen=logs - 1,
        diverged_at=-1,
        reinitialised=0,
        sparsity=0.1,
        sparsity_with_gates=0.1,
        ideal_validation=None,
        ideal_test=None,
        chosen_parameters={"unit.weight": weight},
        final_parameters={"unit.weight": weight},
        history_steps=steps,
        history={"unit.weight": stream.uniform(0, 1, (logs, 1, 2))},
        computed_at="",
        cost={},
        errors=errors,
    )
    return replace(made, **changes)


class Made:
    """A store in which every run is there, as `record` makes them."""

    def records(self, experiment):
        return {case: [record(case, s) for s in range(experiment.seeds)] for case in experiment.cases}


def by_length(values, steps=(0, 100, 200)):
    """A run whose errors at each length are given, the same at all logged steps but the first."""
    case = digit_case("nmu", PRODUCT, QUICK)
    curve = np.repeat(np.asarray(values, dtype=float)[:, None], len(steps), 1)
    curve[:, 0] = 1e6
    changes = {"steps": np.array(steps), "chosen": len(steps) - 1, "errors": {digits.BY_LENGTH: curve}}
    return record(case, logs=len(steps), **changes)


# -- bounds and success ----------------------------------------------------------------------------


def test_the_bound_is_the_end_of_a_one_sided_interval():
    errors = [0.3, 0.5, 0.4, 0.7]
    mean, error = np.mean(errors), stats.sem(errors)
    assert upper_bound(errors) == pytest.approx(stats.t.ppf(0.99, 3, loc=mean, scale=error))
    assert upper_bound([0.2, 0.2]) == pytest.approx(0.2)


@pytest.mark.parametrize("errors", [[], [0.3], [0.3, float("nan")], [0.3, float("inf")]])
def test_there_is_no_bound_without_two_finite_errors(errors):
    assert upper_bound(errors) is None


def test_a_run_succeeds_at_the_lengths_at_which_it_is_below_the_bound():
    solved = [by_length([1.0] * 20), by_length([1.1] * 20), by_length([0.9] * 20)]
    bound = upper_bound([1.0, 1.1, 0.9])
    good, half = by_length([1.0] * 20), by_length([1.0] * 10 + [2.0] * 10)
    half = replace(half, sparsity=0.4)
    rows = [
        (DigitRow(SOLVED, "mul", PRODUCT), solved),
        (DigitRow("NMU", "nmu", PRODUCT), [good, half]),
    ]
    f = digits.by_length(SOLVED)(rows).findings
    assert f[SOLVED, "length 7", "bound"].value == pytest.approx(bound)
    assert (f.rate("NMU", "length 10").value, f.rate("NMU", "length 11").value) == (1.0, 0.5)
    assert f["NMU", "length 11", "solved at"].value == 100
    # Only runs that succeed count for sparsity.
    assert f["NMU", "length 11", "sparsity"].value == pytest.approx(0.1)
    assert f["NMU", "length 10", "sparsity"].value == pytest.approx(0.25, abs=0.05)


def test_errors_that_are_not_numbers_are_no_success():
    bounds = digits.bounds_of([by_length([1.0] * 20), by_length([2.0] * 19 + [np.nan])])
    assert bounds[0] is not None
    assert bounds[19] is None
    lost = by_length([np.nan] * 20)
    assert digits.solved_at(lost, 0, bounds[0]) is None
    assert digits.solved_at(by_length([1.0] * 20), 19, None) is None


def test_with_one_seed_nothing_is_judged_and_no_claim_either():
    entry = ENTRIES["madsen2020:fig4"]
    scale = Scale(quick=True, seeds=1)
    measured = entry.measure(scale, Made())
    assert measured.partial
    assert not measured.findings
    result = result_of(entry, measured, scale)
    assert result["cells"] == rejudged(entry, result)["cells"] == []


# -- accuracies and weights ------------------------------------------------------------------------


def test_a_confusion_matrix_gives_accuracies():
    matrix = np.zeros((10, 10))
    matrix[0, 1], matrix[1, 1], matrix[2, 2], matrix[2, 3] = 0.4, 0.3, 0.2, 0.1
    assert accuracy(matrix) == pytest.approx(50)
    each = digit_accuracies(matrix)
    assert each[:3] == pytest.approx([0, 100, 100 * 2 / 3])
    assert np.isnan(each[3])
    assert read_as(matrix, 0) == (1, 1.0)
    assert read_as(matrix, 2) == (2, pytest.approx(2 / 3))


def pair_rows(matrices, models=("mul", "fc-product")):
    """Rows with one seed each that reads both digits of a pair as the matrices say."""
    task = MnistIsolated("mul").reduced()
    held = []
    for name, matrix in zip((digits_product.MUL, digits_product.FC), matrices):
        case = digit_case(models[0], task, Scale())
        curve = np.stack([matrix, matrix])[..., None]
        made = record(case, logs=2)
        kept = {**made.errors, digits.DIGITS: np.repeat(curve, 2, -1)}
        held.append((DigitRow(name, models[0], task), [replace(made, errors=kept)]))
    return held


def test_claims_about_misread_digits_are_checked():
    zero_as_one, shifted = np.eye(10) / 10, np.eye(10) / 10
    zero_as_one[0] = [0, 0.1, *[0] * 8]
    for d in (6, 7, 8):
        shifted[d] = np.eye(10)[d + 1] / 10
    held = pair_rows([zero_as_one, shifted])
    f = digit_pairs.confusions(digit_pairs.first_seed)(held).findings
    assert digits_product.reads("MUL", {0: 1}, 0.99)(f)
    assert digits_product.reads("FC", {6: 7, 7: 8, 8: 9}, 0.99)(f)
    assert not digits_product.reads("FC", {0: 1})(f)
    assert not digits_product.has_diagonal("MUL")(f)
    by_digit = digit_pairs.by_digit(digit_pairs.first_seed)(held).findings
    assert [by_digit["MUL", f"digit {d}", "accuracy"].value for d in (0, 1)] == [0, 100]
    labels = digit_pairs.pair_accuracies("test/wrong", "MUL")(held).findings
    assert labels["FC", "label 2", "accuracy"].value == pytest.approx(70)
    assert labels["FC", "label 1, above MUL", "accuracy"].value == pytest.approx(-20)


def test_the_hardest_fold_has_the_lowest_accuracy_over_all_rows():
    case = digit_case("mul", MnistIsolated("mul"), QUICK)
    wrong = {0: 0.1, 1: 0.9, 2: 0.5}
    runs = [record(case, s, errors={"test/wrong": np.full(4, w)}) for s, w in wrong.items()]
    held = [(DigitRow("MUL", "mul", MnistIsolated("mul")), runs)]
    assert digit_pairs.hardest_seed("test/wrong")(held) == 1
    assert digit_pairs.first_seed(held) == 0


def test_weights_are_one_only_if_both_end_there():
    made = record(digit_case("nmu", MnistIsolated("mul"), QUICK))
    assert digits.weight_path(made).shape == (5, 2)
    for last, exact in (([[1.0, 1.0]], True), ([[1.0, 0.999]], False)):
        ended = replace(made, final_parameters={"unit.weight": np.array(last)})
        assert digits.has_weights_of_one(ended) == exact
    without = replace(made, final_parameters={"reader.weight": np.zeros((3, 3))})
    assert digits.weight_path(without).shape == (0, 2)
    assert not digits.has_weights_of_one(without)


# -- were tables 2 and 10 doubled? -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "length", "mse", "mae"),
    [
        ("addition", 10, 167.7, 14.7),
        ("addition", 100, 321_527, 799.8),
        ("addition", 1000, 38_718_574, 8797.9),
        ("counting", 100, 180.6, 18.0),
        ("counting", 1000, 19_851, 198.0),
    ],
)
def test_twice_the_error_of_a_constant(task, length, mse, mae):
    errors = doubled.constant_errors(task, length)
    assert errors.mse == pytest.approx(mse / 2, rel=2e-3)
    assert errors.mae == pytest.approx(mae / 2, rel=2e-3)


def test_exact_errors_are_those_of_sampled_series():
    stream, labels = np.random.default_rng(0), np.repeat(np.arange(10), doubled.TEST_LABELS)
    drawn = stream.choice(labels, (4000, 100))
    off = drawn.sum(1) - 10 * labels.mean()
    errors = doubled.constant_errors("addition", 100)
    assert np.abs(off).mean() == pytest.approx(errors.mae, rel=5e-3)
    assert np.square(off).mean() == pytest.approx(errors.mse, rel=5e-3)
    counts = np.stack([(drawn == d).sum(1) - 10 * (labels == d).mean() for d in range(10)])
    errors = doubled.constant_errors("counting", 100)
    assert np.abs(counts).mean() == pytest.approx(errors.mae, rel=5e-3)
    assert np.square(counts).mean() == pytest.approx(errors.mse, rel=5e-3)


def test_printed_errors_are_twice_those_of_a_constant_and_never_those_themselves():
    plain, twice = (
        [sum(fit.fits(factor) for fit in doubled.fits(metric)) for metric in doubled.METRICS]
        for factor in (1, 2)
    )
    assert (plain, twice) == ([0, 0], [10, 14])
    assert "24 are within" in trask.DOUBLED
    errors = [doubled.constant_errors("addition", length).mse for length in doubled.LENGTHS]
    assert "{:.1f}, {:,.0f} and {:,.0f}".format(*errors) in trask.DOUBLED


def test_the_tables_cannot_be_read_as_printed():
    assert (len(doubled.impossible(1)), len(doubled.impossible(2))) == (21, 9)
    assert "in 21 of their 36 cells" in trask.DOUBLED
    assert "halved, in 9," in trask.DOUBLED
    assert sum(row == "NAC" for row, _ in doubled.impossible(2)) == 4
    assert any("of 15 plain" in line for line in doubled.report())


def test_columns_marked_doubled_have_twice_our_error_beside_the_printed_one():
    entry = ENTRIES["trask2018:table10"]
    f = entry.measure(QUICK, Made()).findings
    for row in ("LSTM", "NAC", trask.CONSTANT):
        plain, twice = (f[row, f"addition, length 100{s}", "MSE"] for s in ("", ", doubled"))
        assert twice.value == 2 * plain.value
    printed = {(n.row, n.column): n.value for n in numbers_of("trask2018:table10")}
    assert printed["NAC", "addition, length 100, doubled"] == printed["NAC", "addition, length 100"] == 28.11
    claim = entry.claims[-1]
    assert "reads nothing" in claim.text
    assert claim.answer(f).holds


# -- what is planned -------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Scale(), QUICK])
@pytest.mark.parametrize(
    ("entry", "other", "shared"),
    [
        ("trask2018:table2", "trask2018:table10", 14),
        ("madsen2020:fig4", "madsen2020:fig15", 7),
        ("madsen2020:fig13", "madsen2020:fig14", 6),
        ("madsen2020:fig4", "mistry2023:fig4.17", 2),
        ("mistry2023:fig4.17", "mistry2023:fig6.4", 2),
        ("mistry2023:fig4.17", "mistry2023:fig6.5", 2),
        ("mistry2023:fig4.10", "mistry2023:fig4.11", 4),
        ("mistry2023:fig4.10", "mistry2023:figF.1", 5),
        ("mistry2023:fig4.10", "mistry2023:figF.2", 5),
        ("mistry2023:fig4.10", "mistry2023:figF.5", 5),
        ("mistry2023:fig4.14", "mistry2023:fig4.15", 4),
        ("mistry2023:fig4.14", "mistry2023:figF.3", 5),
        ("mistry2023:fig4.14", "mistry2023:figF.4", 5),
        ("mistry2023:fig4.14", "mistry2023:figF.6", 5),
        ("mistry2023:table5.5", "mistry2023:tableG.1", 4),
        ("mistry2023:table5.5", "mistry2023:fig5.17", 4),
        ("mistry2023:tableG.1", "mistry2023:figG.10", 7),
    ],
)
def test_entries_that_show_the_same_runs_plan_the_same_cases(entry, other, shared, scale):
    (ours,), (theirs,) = (ENTRIES[name].experiments(scale) for name in (entry, other))
    assert len(set(ours.cases) & set(theirs.cases)) == shared
    assert ours.seeds == theirs.seeds


def test_the_reduced_protocol_is_declared_and_leaves_no_number_comparable():
    measured = ENTRIES["mistry2023:fig4.17"].measure(QUICK, Made())
    assert "seeds: 3 instead of 10" in measured.reduced
    assert any(note.startswith("epochs: 12 instead of 1000") for note in measured.reduced)
    assert not measured.comparable
    fewer = ENTRIES["mistry2023:fig4.17"].measure(Scale(seeds=3), Made())
    assert fewer.reduced == ["seeds: 3 instead of 10"]
    assert fewer.comparable


def test_a_row_that_is_asked_for_is_trained_with_its_reference():
    (experiment,) = ENTRIES["madsen2020:fig4"].experiments(Scale(rows=("NMU",)))
    assert [str(case.model) for case in experiment.cases] == ["mul", "nmu"]


def test_the_penalty_on_readings_can_be_left_out_and_lent():
    def strengths(case):
        return [p for p in case.recipe.penalties if isinstance(p, InputIdentity)]

    assert len(strengths(digit_case("nmu", PRODUCT, QUICK))) == 1
    assert strengths(digit_case("nmu", PRODUCT, QUICK, without_r_z)) == []
    assert strengths(digit_case("nac", SUM, QUICK)) == []
    (lent,) = strengths(digit_case("nac", SUM, QUICK, with_r_z("nau", SUM)))
    assert lent.identity == 0
    # Where there is nothing to leave out, nothing is trained twice.
    assert digit_case("lstm", PRODUCT, QUICK, without_r_z) == digit_case("lstm", PRODUCT, QUICK)


def test_clipping_and_losses_are_those_that_the_rows_say():
    (experiment,) = ENTRIES["mistry2023:table5.5"].experiments(Scale())
    clips = {str(case.model): case.recipe.clip_norm for case in experiment.cases}
    assert clips["nmru"] == ClipNorm(1.0)
    assert clips["nru"] is clips["realnpu@modified"] is None
    for scale in (Scale(), QUICK):
        (experiment,) = ENTRIES["mistry2023:fig6.5"].experiments(scale)
        (switched,) = [c.recipe for c in experiment.cases if isinstance(c.recipe.loss, PCCThenMSE)]
        assert switched.loss.switch == switched.iterations / 2


# -- every entry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_gives_cells_and_a_figure(name):
    entry = ENTRIES[name]
    measured = entry.measure(QUICK, Made())
    assert not measured.partial
    result = result_of(entry, measured, QUICK)
    jsonschema.validate(json.loads(json.dumps(result)), json.loads(SCHEMA.read_text()))
    assert rejudged(entry, result)["cells"] == result["cells"]
    claims = [cell for cell in result["cells"] if cell["kind"] == "claim"]
    assert len(claims) == len(entry.claims) > 0
    shown = {(cell["row"], cell["column"].partition(":")[0]) for cell in result["cells"]}
    unseen = {(n.row, n.column) for n in numbers_of(name) if not n.row.startswith("Seguí")} - shown
    assert not unseen
    if entry.draw is not None:
        figure = Figure(layout="constrained")
        entry.draw(measured, figure)
        assert figure.axes


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_can_be_measured_in_part(name):
    class Some(Made):
        def records(self, experiment):
            held = list(super().records(experiment).items())
            return dict(held[: len(held) // 2])

    measured = ENTRIES[name].measure(QUICK, Some())
    assert measured.partial
    assert any(note.startswith("cells: ") for note in measured.reduced)
