"""`nalm fit`: what it prints, writes and refuses, with a stand-in for the search itself."""

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from stand_in import Alternative, Progress, StandIn
from talk import only_line

from nalm.cli.fit_progress import Search, shown_search
from nalm.discover import fit_file
from nalm.discover.saved import load_formula

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "kinetic_energy.csv")
KEYS = ["expression", "latex", "verdict", "train_error", "r2", "alternatives", "notes", "seconds"]
NOISE = "a,b,y\n" + "\n".join(f"{k},{k % 3 + 1},{(-1) ** k * (k * k % 7)}" for k in range(1, 30))
LONG = "a_very_long_name_of_a_column_of_masses_in_kilograms_as_spreadsheets_have_them"


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """The estimators that commands make."""
    pytest.importorskip("pyarrow")
    found = []

    def make(**options):
        found.append(StandIn(**options))
        return found[-1]

    monkeypatch.setattr(fit_file, "make_regressor", make)
    return found


@pytest.fixture
def written(tmp_path):
    def write(text, name="data.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_the_formula_stands_alone_on_the_first_line_then_what_it_is_worth(run):
    code, out, _ = run("fit", EXAMPLE, "--target", "energy")
    lines = out.splitlines()
    assert code == 0
    assert lines[:2] == ["mass*velocity**2/2", ""]
    assert lines[2].startswith("exact: ")
    assert re.fullmatch(r"Error \(RMSE\) \S+, R2 1, 0\.2 s\.", lines[3])
    assert "The box seen: mass from 1.2 to 8.8." in lines
    assert lines[lines.index("Other formulas, from short to precise:") + 1].split() == [
        "length",
        "relative",
        "error",
        "formula",
    ]


def test_options_reach_the_search(run, made):
    options = ["--max-seconds", "7", "--seed", "3", "--jobs", "2", "--features", "velocity,mass"]
    assert run("fit", EXAMPLE, "--target", "energy", *options)[0] == 0
    assert made[0].options == (7.0, 3, 2)
    assert list(made[0].feature_names_in_) == ["velocity", "mass"]


def test_json_is_the_contract_to_the_letter_and_nothing_else(run):
    code, out, _ = run("fit", EXAMPLE, "--target", "energy", "--json", "-")
    data = json.loads(out)
    assert (code, list(data)) == (0, KEYS)
    assert (data["expression"], data["verdict"]) == ("mass*velocity**2/2", "exact")
    assert data["alternatives"]
    assert all(list(other) == ["expression", "error", "length"] for other in data["alternatives"])


def test_json_in_a_file_leaves_the_text_where_it_was(run, tmp_path):
    file = tmp_path / "found.json"
    _, out, _ = run("fit", EXAMPLE, "--target", "energy", "--json", str(file))
    assert out.startswith("mass*velocity**2/2\n")
    assert json.loads(file.read_text())["expression"] == "mass*velocity**2/2"


def test_several_targets_are_told_by_their_names(run):
    arguments = ["fit", EXAMPLE, "--target", "energy,mass", "--features", "velocity,temperature"]
    code, out, _ = run(*arguments)
    assert code == 0
    assert [line.partition(" = ")[0] for line in out.splitlines()[:2]] == ["energy", "mass"]
    assert "\nmass: approximate: " in out
    data = json.loads(run(*arguments, "--json", "-")[1])
    assert list(data) == ["targets"]
    assert {name: list(one) for name, one in data["targets"].items()} == {"energy": KEYS, "mass": KEYS}


def test_no_formula_is_code_1_and_no_file(run, written, tmp_path):
    model = tmp_path / "model.safetensors"
    code, out, err = run("fit", written(NOISE), "--target", "y", "--save", str(model))
    assert (code, out.splitlines()[0]) == (1, "no formula")
    assert "was not written, because there is no formula" in err
    assert not model.exists()
    code, out, _ = run("fit", written(NOISE), "--target", "y", "--json", "-")
    assert code == 1
    assert (json.loads(out)["expression"], json.loads(out)["verdict"]) == (None, "none")


def test_notes_about_the_file_come_first(run, written):
    text = "a,who,y\n1,x,2\n2,x,4\n3,x,\n4,x,8\n"
    notes = json.loads(run("fit", written(text), "--target", "y", "--json", "-")[1])["notes"]
    assert [note.partition(":")[0] for note in notes] == [
        "Column who was left out",
        "1 of 4 rows was left out, where a number is missing in column y",
        "The box seen",
    ]


def test_notes_name_rows_as_the_file_has_them(run, written, monkeypatch):
    class Naming(StandIn):
        def fit(self, X, y):
            super().fit(X, y)
            self.notes_ = [
                "It is largest in row 1 (0.5).",
                "Of 3 rows; the other rows are 0, 2, not counted.",
            ]

    monkeypatch.setattr(fit_file, "make_regressor", lambda **options: Naming(**options))
    data = json.loads(run("fit", written("a,y\n1,2\n2,\n3,6\n4,8\n"), "--target", "y", "--json", "-")[1])
    assert data["notes"][1:] == [
        "It is largest in row 4 (0.5).",
        "Of 3 rows; the other rows are 2, 5, not counted.",
    ]


def test_a_column_that_is_called_like_a_row_keeps_its_name(run, written, monkeypatch):
    class Naming(StandIn):
        def fit(self, X, y):
            super().fit(X, y)
            self.notes_ = ["Rows were seen for row 3 from 1 to 3.", "It is largest in row 1."]

    monkeypatch.setattr(fit_file, "make_regressor", lambda **options: Naming(**options))
    data = json.loads(run("fit", written("row 3,y\n1,2\n2,4\n3,6\n"), "--target", "y", "--json", "-")[1])
    assert data["notes"] == ["Rows were seen for row 3 from 1 to 3.", "It is largest in row 3."]


def test_names_stay_as_they_are(run, written):
    text = 'mass [kg],"v, fast",E\n' + "\n".join(f"{k},{k % 4 + 2},{k * (k % 4 + 2)}" for k in range(1, 9))
    path = written(text)
    assert run("fit", path, "--target", "E")[1].startswith("mass [kg]*v, fast\n")
    assert run("fit", path, "--target", '"v, fast"', "--features", "mass [kg],E")[0] == 0


@pytest.mark.parametrize("name", ["data.tsv", "data.parquet"])
def test_other_formats_give_the_same(run, written, tmp_path, name):
    text = Path(EXAMPLE).read_text()
    if name.endswith("tsv"):
        path = written(text.replace(",", "\t"), name)
    else:
        from pyarrow import csv, parquet

        path = str(tmp_path / name)
        parquet.write_table(csv.read_csv(EXAMPLE), path)
    assert run("fit", path, "--target", "energy")[1].startswith("mass*velocity**2/2\n")


WRONG = {
    "no target": ([], "--target"),
    "unknown target": (["--target", "enrgy"], "Argument `target` must be .* Did you mean 'energy'"),
    "empty list": (["--target", "energy,,mass"], "names of columns separated by commas"),
    "target among features": (["--target", "energy", "--features", "mass,energy"], "other than the target"),
    "no time": (["--target", "energy", "--max-seconds", "0"], "max_seconds"),
    "no process": (["--target", "energy", "--jobs", "0"], "jobs"),
    "seed": (["--target", "energy", "--seed", "-1"], "seed"),
    "plot": (["--target", "energy", "--plot", "plot.gif"], "plot.*png, svg, pdf, html"),
    "save over the data": (["--target", "energy", "--save", EXAMPLE], "other than the data"),
    "json over the data": (["--target", "energy", "--json", EXAMPLE], "other than the data"),
    "two outputs in one file": (
        ["--target", "energy", "--json", "same.out", "--save", "same.out"],
        "other than that of --json",
    ),
    "plot into a folder": (["--target", "energy", "--save", str(Path(EXAMPLE).parent)], "a file to write"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_usage_is_code_2_and_one_sentence_before_any_search(run, made, kind):
    arguments, sentence = WRONG[kind]
    code, out, err = run("fit", EXAMPLE, *arguments)
    assert (code, out, made) == (2, "", [])
    assert re.search(sentence, only_line(err))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "data.csv is empty."),
        ("a,y\n1,2\n", "data.csv has 1 row of numbers. At least 3 are needed."),
        ("a,a,y\n1,2,3\n", "data.csv has columns with the same name: 'a'."),
        ("a,y\n1,2\n2,inf\n3,4\n", "inf in row 3, column y"),
        ("a,y\n1,2\n2,steel\n3,4\n", "'steel' in row 3"),
        ("1,2\n3,4\n5,6\n", "has no heading: its columns are called x0 and x1"),
    ],
)
def test_data_that_cannot_be_used_are_code_2_and_a_sentence_with_the_place(run, written, text, sentence):
    code, out, err = run("fit", written(text), "--target", "y")
    assert (code, out) == (2, "")
    assert sentence in only_line(err)


def test_files_that_cannot_be_written_are_refused_before_the_search(run, made, tmp_path):
    gone = tmp_path / "gone" / "file.svg"
    for option in ("--json", "--save", "--plot"):
        code, _, err = run("fit", EXAMPLE, "--target", "energy", option, str(gone))
        assert (code, made) == (1, [])
        assert str(gone) in only_line(err)


def test_the_saved_formula_knows_columns_box_and_verdict(run, tmp_path):
    model = tmp_path / "model.safetensors"
    code, _, err = run("fit", EXAMPLE, "--target", "energy", "--save", str(model))
    assert code == 0
    assert f"Saved to {model}." in err
    found = load_formula(model)
    assert (found.targets, found.needed, found.verdicts) == (["energy"], ["mass", "velocity"], ["exact"])
    assert found.box[0].tolist() == [1.2, 8.8]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_a_plot_is_written_in_the_format_of_its_ending(run, tmp_path, ending):
    pytest.importorskip("matplotlib")
    plot = tmp_path / f"plot.{ending}"
    code, _, err = run("fit", EXAMPLE, "--target", "energy", "--plot", str(plot))
    assert code == 0
    assert f"Plot written to {plot}." in err
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "html": b"<!DOCTYPE html>"}
    assert plot.read_bytes().startswith(starts[ending])


def test_an_interruption_is_code_130_and_tells_the_best_formula(run, monkeypatch):
    class Interrupted(StandIn):
        def fit(self, X, y):
            super().fit(X, y)
            raise KeyboardInterrupt

    monkeypatch.setattr(fit_file, "make_regressor", lambda **options: Interrupted(**options))
    code, out, err = run("fit", EXAMPLE, "--target", "energy")
    assert (code, out) == (130, "")
    assert "The best formula so far: mass*velocity**2/2 (relative error" in err


def test_a_missing_package_is_named(run, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    code, _, err = run("fit", EXAMPLE, "--target", "energy")
    assert code == 1
    assert only_line(err) == "Fitting needs the package sklearn: pip install 'nalm[fit]'."


def test_everything_below_the_formula_fits_80_columns(on_terminal, written):
    rows = "\n".join(f"{k},{k % 5 + 1},{k * (k % 5 + 1) ** 2 / 2},x" for k in range(1, 20))
    shown = on_terminal(80, "fit", written(f"{LONG},v,y,who\n{rows}"), "--target", "y")
    assert shown[0] == f"{LONG}*v**2/2"
    over = [line for line in shown if len(line) > 80]
    assert all(LONG in line for line in over)  # only a name that is as long as a line itself


LENGTHY = "".join(f" + 0.12345678901{k}000*a**{k}" for k in range(40))[3:]


class Lengthy(StandIn):
    """Lists a formula of a thousand characters, and warns as numpy does."""

    def fit(self, X, y):
        super().fit(X, y)
        np.log(np.zeros(1))
        self.alternatives_ = [Alternative(sp.sympify(LENGTHY), 0.01, 80), Alternative("v*2.500", 0.1, 2)]


@pytest.mark.parametrize("columns", [None, 80])
def test_long_formulas_are_wrapped_and_cut_in_the_table(run, on_terminal, written, monkeypatch, columns):
    monkeypatch.setattr(fit_file, "make_regressor", lambda **options: Lengthy(**options))
    path = written("a,y\n1,2\n2,4\n3,6\n4,8\n")
    shown = (
        on_terminal(columns, "fit", path, "--target", "y")
        if columns
        else run("fit", path, "--target", "y")[1].splitlines()
    )
    table = shown[shown.index("Other formulas, from short to precise:") :]
    assert max(map(len, table)) <= (columns or 100)
    assert (len(table), table[-1][-1]) == (7, "…")
    assert "0.1235*a" in table[4]
    assert "0.12345678901" in run("fit", path, "--target", "y", "--json", "-")[1]


def test_no_warning_reaches_the_terminal(run, written, monkeypatch, recwarn):
    monkeypatch.setattr(fit_file, "make_regressor", lambda **options: Lengthy(**options))
    run("fit", written("a,y\n1,2\n2,4\n3,6\n4,8\n"), "--target", "y")
    assert not [one for one in recwarn if one.category is RuntimeWarning]


def reported(search):
    for error, formula in ((0.5, "a"), (0.1, "a*b"), (0.2, "a + b")):
        search.report(Progress(1.0, formula, error, "products"))


def test_a_pipe_gets_a_line_for_each_better_formula_on_standard_error(capsys, monkeypatch):
    monkeypatch.setattr("nalm.cli.fit_progress._PAUSE", 0)
    search = Search(60)
    with shown_search(search):
        reported(search)
    lines = "1.0 s: relative error 5.0e-01, a\n1.0 s: relative error 1.0e-01, a*b\n"
    assert capsys.readouterr() == ("", lines)
    assert search.best.expression == "a*b"


def test_the_next_target_begins_anew():
    search = Search(60)
    search.report(Progress(2.0, "a", 1e-16, "powers"))
    search.report(Progress(0.1, "b", 0.5, "powers"))
    assert search.best.expression == "b"


def test_a_pipe_gets_no_more_than_a_line_a_second(capsys):
    search = Search(60)
    with shown_search(search):
        reported(search)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_clock_stage_and_the_best_formula_in_its_width():
    from rich.console import Console

    search, page = Search(60), Console(width=80, file=io.StringIO())
    page.print(search)
    reported(search)
    search.report(Progress(2.0, " + ".join(f"{k}*mass [kg]" for k in range(100)), 0.01, "[b]roots[/b]"))
    page.print(search)
    lines = page.file.getvalue().splitlines()
    assert lines[:2] == ["0 s of at most 60 s, reading", "no formula yet"]
    assert lines[2:4] == ["1 s of at most 60 s, [b]roots[/b]", "best so far, relative error 1.0e-02:"]
    assert "mass [kg]" in lines[4]
    assert len(lines) == 8
    assert lines[-1].endswith("…")
    assert max(map(len, lines)) <= 80
