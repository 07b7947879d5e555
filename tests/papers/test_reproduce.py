"""Reproducing an entry: what is trained, what is a cell, what the verdict is."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from nalm.cli import app, main
from nalm.errors import NalmError
from nalm.experiment.local import Local
from nalm.papers.agreement import Finding, Reason
from nalm.papers.budget import FewerRuns
from nalm.papers.claims import Claim, Findings, full
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Grid, Measured, Study
from nalm.papers.published import published
from nalm.papers.reproduce import measure, measure_stored, rejudged, result_of
from nalm.papers.scale import Scale, make_scale
from nalm.papers.shared.series import Series, single_module, table
from nalm.tasks import SingleModule

pytestmark = pytest.mark.xdist_group("bench")
SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
U12 = "U[1,2)"
MIXED_SIGNS = ("U[-2,-1) & U[1,2)", "U[-2,2)", "U[1,2) & U[-2,-1)")


def rate(value, low, high, n=25):
    return Finding(value, low, high, n)


def study(found, *, id="mistry2023:fig3.4", reduced=(), claims=()):
    return Study(id, "t", "s", lambda scale: Measured(Findings(found), list(reduced)), claims=claims)


def cells(entry, scale=None):
    scale = scale or Scale()
    return result_of(entry, entry.measure(scale, run=None), scale)["cells"]


# -- verdicts of cells ---------------------------------------------------------------------------


def test_a_cell_with_a_published_number_gets_a_verdict():
    (cell,) = cells(study({("NMU", U12, "success"): rate(0.96, 0.8, 0.99)}))
    assert (cell["verdict"], cell["paper"], cell["paper_n"], cell["kind"]) == ("agrees", 1.0, 25, "claim")
    assert cell["paper_low"] == pytest.approx(0.867, abs=1e-3)


def test_a_cell_without_one_is_unpublished():
    (cell,) = cells(study({("NMU", "U[-2,-1)", "success"): rate(0.76, 0.57, 0.89)}))
    assert (cell["verdict"], cell["paper"], cell["reason"]) == ("unpublished", None, None)


def test_fewer_seeds_are_compared():
    found = {("NMU", U12, "success"): rate(1.0, 0.5, 1.0, 5)}
    entry = study(found, reduced=[FewerRuns("seeds: 5 instead of 25")])
    result = result_of(entry, entry.measure(Scale(), run=None), Scale())
    assert (result["protocol"], result["reduced"]) == ("paper", ["seeds: 5 instead of 25"])
    assert (result["cells"][0]["verdict"], result["cells"][0]["p"]) == ("agrees", 1.0)


def test_a_success_that_a_sentence_denies_contradicts_it():
    numbers = published()[("mistry2023:fig5.9", "NRU", "U[-2,2)", "success")]
    assert (numbers.kind, numbers.value) == ("claim", 0.0)
    (cell,) = cells(study({("NRU", "U[-2,2)", "success"): rate(1.0, 0.87, 1.0)}, id="mistry2023:fig5.9"))
    assert cell["verdict"] == "differs"


def test_numbers_of_data_that_a_paper_leaves_open_are_not_compared():
    found = {
        ("NALU", "a + b", "extrapolation error"): Finding(0.01, 0.0, 0.02, 10),
        ("NALU", "a / b", "extrapolation error"): Finding(24.0, 20.0, 30.0, 10),
    }
    table7 = ENTRIES["trask2018:table7"]
    entry = replace(study(found, id=table7.id), metrics=table7.metrics, same_data=table7.same_data)
    solved, failed = cells(entry)
    assert (solved["paper"], solved["verdict"]) == (0.0, "agrees")
    assert (failed["paper"], failed["verdict"], failed["reason"]) == (0.7, "not_comparable", "other data")


def test_a_mean_without_a_spread_may_get_ours():
    found = {("Hardtanh", "-1000 to 1000", "MAE"): Finding(495.6, 495.2, 496.0, 100)}
    entry = replace(study(found, id="trask2018:table5"), metrics=ENTRIES["trask2018:table5"].metrics)
    (cell,) = cells(entry)
    (lent,) = cells(replace(entry, lends_spread=True))
    assert (cell["paper"], cell["paper_high"]) == (495.47, 495.475)
    assert lent["paper_high"] == pytest.approx(495.47 + 0.4)


def test_rates_of_a_row_are_taken_together_too():
    found = {("NRU", c, "success"): rate(0.88, 0.7, 0.96) for c in MIXED_SIGNS}
    *singles, together = cells(study(found, id="mistry2023:fig5.8"))
    assert {cell["verdict"] for cell in singles} == {"agrees"}
    assert (together["column"], together["n"], together["paper_n"]) == ("all columns together", 75, 75)
    assert together["verdict"] == "differs"


def test_rates_of_unequal_weight_are_not_taken_together():
    found = {("NRU", c, "success"): rate(1.0, 0.5, 1.0, n) for c, n in zip(MIXED_SIGNS, (5, 1, 1))}
    assert [cell["column"] for cell in cells(study(found, id="mistry2023:fig5.8"))] == list(MIXED_SIGNS)


def test_a_result_is_judged_anew_from_what_was_measured():
    found = {("NRU", c, "success"): rate(0.96, 0.8, 0.99) for c in MIXED_SIGNS}
    entry = study(found, id="mistry2023:fig5.8", claims=(Claim("NRU", "has full success", full("NRU")),))
    result = json.loads(json.dumps(result_of(entry, entry.measure(Scale(), run=None), Scale())))
    assert rejudged(entry, result) == result
    changed = rejudged(study(found, id="mistry2023:fig5.8"), result)
    assert [cell["column"] for cell in changed["cells"]] == [*MIXED_SIGNS, "all columns together"]


def test_a_reduced_protocol_is_never_compared():
    found = {
        ("NMU", U12, "success"): rate(1.0, 0.5, 1.0, 5),
        ("NMU", "U[-2,-1)", "success"): rate(1.0, 0.5, 1, 5),
    }
    claim = Claim("NMU", "has full success", full("NMU"))
    first, second, said = cells(study(found, reduced=["steps: 0.1 of the paper's"], claims=(claim,)))
    assert (first["verdict"], first["reason"]) == ("not_comparable", "reduced protocol")
    assert second["verdict"] == "unpublished"
    assert (said["verdict"], said["ours"]) == ("not_comparable", 1.0)


def test_claims_are_cells_that_hold_or_do_not():
    claim = Claim("NMU", "has full success", full("NMU"))
    good = cells(study({("NMU", U12, "success"): rate(1.0, 0.87, 1.0)}, claims=(claim,)))[-1]
    bad = cells(study({("NMU", U12, "success"): rate(0.1, 0.02, 0.3)}, claims=(claim,)))[-1]
    assert (good["kind"], good["paper"], good["ours"], good["verdict"]) == ("claim", 1.0, 1.0, "agrees")
    assert (bad["ours"], bad["verdict"]) == (0.0, "differs")


def test_rows_of_a_study_can_be_chosen_and_claims_about_the_whole_are_then_left_out():
    found = {("NMU", U12, "success"): rate(1.0, 0.87, 1.0), ("NPU", U12, "success"): rate(1.0, 0.87, 1.0)}
    entry = study(found, claims=(Claim("NPU", "has full success", full("NPU")),))
    scale = make_scale(rows=["NMU"])
    result = result_of(entry, entry.measure(scale, run=None), scale)
    assert [(cell["row"], cell["verdict"]) for cell in result["cells"]] == [("NMU", "agrees")]
    assert (result["protocol"], result["reduced"]) == ("paper", ["rows: NMU only"])
    with pytest.raises(ValueError, match="Did you mean 'NMU'"):
        entry.measure(make_scale(rows=["NMUU"]), run=None)


# -- grids ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two seeds of two units for 1,000 steps."""
    series = (Series("NMU", "nmu"), Series("sNMU", "snmu", hidden=2))
    tasks = {k: task for k, task in single_module("mul").items() if k == U12}
    entry = Grid("mistry2023:fig3.4", "t", "s", 25, table(series, tasks))
    folder = tmp_path_factory.mktemp("small")
    scale = make_scale("paper", 2, 0.02)
    return entry, scale, folder / "runs.sqlite", measure(entry, scale, folder / "runs.sqlite", Local(1))


def test_a_grid_trains_its_cells_and_says_what_it_reduced(small):
    entry, scale, _, measured = small
    result = result_of(entry, measured, scale)
    assert result["protocol"] == "quick"
    assert result["reduced"] == [
        "seeds: 2 instead of 25",
        "steps: 0.02 of the paper's, schedules shortened with them",
    ]
    assert [(c["row"], c["n"], c["verdict"]) for c in result["cells"]] == [
        ("NMU", 2, "not_comparable"),
        ("sNMU", 2, "unpublished"),
    ]


def test_what_is_stored_is_not_trained_again(small):
    entry, scale, path, measured = small

    def fail(progress):
        raise AssertionError("trained again")

    assert measure(entry, scale, path, Local(1), fail).findings == measured.findings


def test_what_is_stored_so_far_can_be_measured_without_training(small):
    entry, _, path, _ = small
    part = make_scale("paper", 25, 0.02)
    measured = measure_stored(entry, part, path)
    assert measured.reduced[0] == "seeds: 2 instead of 25"
    assert {finding.n for finding in measured.findings.values()} == {2}
    others = {"U[1,2)": SingleModule("mul"), "U[10,20)": SingleModule("mul", "10:20")}
    wider = Grid("mistry2023:fig3.4", "t", "s", 25, table([Series("NMU", "nmu")], others))
    measured = measure_stored(wider, part, path)
    assert (next(iter(measured.findings))[1], measured.partial) == (U12, True)
    assert "cells: 1 instead of 2" in measured.reduced


def test_a_part_of_the_cells_answers_no_claim():
    claim = Claim("NMU", "has full success", full("NMU"))
    entry = study({("NMU", U12, "success"): rate(1.0, 0.87, 1.0)}, claims=(claim,))
    measured = replace(entry.measure(Scale(), run=None), partial=True)
    (cell,) = result_of(entry, measured, Scale())["cells"]
    assert (cell["column"], cell["metric"]) == (U12, "success")


def test_a_claim_that_names_its_rows_is_judged_as_soon_as_they_are_measured():
    named = Claim("NMU", "has full success", full("NMU"), ("NMU",))
    missing = Claim("NMU", "is better", full("NMU"), ("NMU", "NAC"))
    entry = study({("NMU", U12, "success"): rate(1.0, 0.87, 1.0)}, claims=(named, missing))
    measured = replace(entry.measure(Scale(), run=None), partial=True)
    made = result_of(entry, measured, Scale())["cells"]
    judged = [cell for cell in made if cell["metric"] is None]
    assert [cell["column"] for cell in judged] == ["has full success"]


def test_nothing_stored_is_said_and_leaves_no_store(small, tmp_path):
    entry, scale, _, _ = small
    with pytest.raises(NalmError, match=r"No run of mistry2023:fig3\.4 is stored"):
        measure_stored(entry, scale, tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_rows_can_be_chosen_and_unknown_ones_are_refused(small):
    entry, _, path, _ = small
    scale = make_scale("paper", 2, 0.02, ["NMU"])
    result = result_of(entry, measure(entry, scale, path, Local(1)), scale)
    assert {cell["row"] for cell in result["cells"]} == {"NMU"}
    assert "rows: NMU only" in result["reduced"]
    with pytest.raises(ValueError, match="Did you mean 'NMU'"):
        entry.experiments(make_scale(rows=["NMUU"]))


def test_cells_taken_together_count_all_their_runs(small, tmp_path):
    from nalm.papers.shared.series import pooled

    tasks = [SingleModule("mul", "1:2"), SingleModule("mul", "10:20")]
    entry = Grid("mistry2023:fig3.4", "t", "s", 25, pooled([Series("NMU", "nmu")], {"both": tasks}))
    measured = measure(entry, make_scale("paper", 2, 0.02), tmp_path / "r.sqlite", Local(1))
    assert measured.findings["NMU", "both", "success"].n == 4


def test_a_place_may_say_why_it_is_not_comparable():
    places = table([Series("NMU", "nmu")], {U12: SingleModule("mul")}, Reason.DATA)
    entry = Grid("mistry2023:fig3.4", "t", "s", 25, places)
    measured = Measured(Findings({("NMU", U12, "success"): rate(1.0, 0.87, 1.0)}))
    (cell,) = result_of(entry, measured, Scale())["cells"]
    assert (cell["verdict"], cell["reason"]) == ("not_comparable", "other data")


# -- specs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_every_published_number_of_an_entry_has_its_cell(entry):
    if not isinstance(entry, Grid):
        pytest.skip("a study says what it measures when it has measured")
    places = set(entry.places)
    measured = {metric.name for metric in entry.metrics}
    named = [n for n in published().values() if n.entry == entry.id and n.metric in measured]
    assert not [n for n in named if (n.row, n.column) not in places]


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_every_claim_of_a_grid_is_about_rows_and_columns_that_exist(entry):
    if not isinstance(entry, Grid):
        pytest.skip("a study says what it measures when it has measured")
    some = Finding(0.5, 0.3, 0.7, 25)
    keys = [(p.row, p.column, m.name) for p in entry.places.values() for m in entry.metrics]
    found = Findings(dict.fromkeys(keys, some))
    assert {claim.answer(found).holds for claim in entry.claims} <= {True, False}


def test_every_grid_can_be_planned():
    for entry in ENTRIES.values():
        for experiment in entry.experiments(Scale()):
            assert all(cell.recipe.iterations > 0 for cell in experiment.cases)


# -- command line --------------------------------------------------------------------------------


def command(*arguments):
    return CliRunner().invoke(app, ["reproduce", *arguments])


def valid(name, text):
    data = json.loads(text)
    jsonschema.validate(data, json.loads((SCHEMAS / f"{name}.schema.json").read_text()))
    return data


def test_the_list_shows_every_entry():
    entries = valid("ledger", command("--list", "--json", "-").stdout)["entries"]
    assert [entry["id"] for entry in entries] == list(ENTRIES)
    assert "mistry2023:fig3.4" in command("--list").stdout


def test_an_entry_prints_its_table_and_writes_its_figure(tmp_path):
    folder = ["--store", str(tmp_path / "r.sqlite"), "--figures", str(tmp_path)]
    arguments = ["mistry2023:fig4.4", "--seeds", "2", "--steps", "0.02", "--jobs", "1", *folder]
    result = valid("reproduce", command(*arguments, "--json", "-").stdout)
    assert len(result["cells"]) == 19
    assert result["protocol"] == "quick"
    printed = command(*arguments)
    assert "sNMU U[1,5]" in printed.stdout
    assert "Reduced: seeds: 2 instead of 25" in printed.stdout
    assert (tmp_path / "mistry2023-fig4.4-quick.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "mistry2023-fig4.4-quick.pdf").read_bytes().startswith(b"%PDF")


def test_a_figure_of_the_full_protocol_has_the_name_of_the_entry(tmp_path):
    assert command("mistry2023:table6.2", "--figures", str(tmp_path)).exit_code == 0
    assert {file.name for file in tmp_path.iterdir()} == {
        "mistry2023-table6.2.png",
        "mistry2023-table6.2.pdf",
    }


def test_a_dry_run_says_what_is_to_be_computed(tmp_path):
    plan = command("mistry2023:fig4.4", "--store", str(tmp_path / "r.sqlite"), "--dry-run", "--json", "-")
    assert json.loads(plan.stdout)["computed_runs"] == 450
    study = command("mistry2023:table6.2", "--dry-run")
    assert "stores no runs" in study.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mistry2023:fig3.44"], "Did you mean 'mistry2023:fig3.4'?"),
        ([], "`ID` must be a table or figure"),
        (["mistry2023:fig3.4", "--list"], "`ID` must be left out with --list"),
        (["mistry2023:table6.2", "--rows", "nope"], "`rows` must be one of"),
        (["mistry2023:fig3.4", "--scale", "huge"], "`scale` must be one of quick, paper"),
        (["mistry2023:fig3.4", "--rows", "NMUU"], "Did you mean 'NMU'?"),
        (["mistry2023:fig3.4", "--figures", "no/such"], "`figures` must be a folder that exists"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", *arguments])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_without_matplotlib_the_table_stands_and_a_sentence_says_what_to_install(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    arguments = ["mistry2023:fig4.4", "--rows", "NMU", "--seeds", "1", "--steps", "0.02", "--jobs", "1"]
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", *arguments, "--store", str(tmp_path / "r.sqlite"), "--figures", str(tmp_path)])
    assert stopped.value.code == 0
    out, error = capsys.readouterr()
    assert "NMU" in out
    assert "pip install 'nalm[report]'" in error
