"""`nalm predict`: the columns of a file, and what a saved formula gives for each row."""

import csv
import types

import numpy as np
import pytest
import sympy as sp
from talk import only_line

from nalm.discover.saved import save_formula

MASS, V = (sp.Symbol(name, real=True) for name in ("mass [kg]", "v"))
ENERGY, SPEED = MASS * V**2 / 2, sp.sqrt(V) / (V - 4)


@pytest.fixture
def model(tmp_path):
    def make(**targets):
        path = tmp_path / "model.safetensors"
        found = types.SimpleNamespace(
            expression_=list(targets.values()),
            verdict_=["exact"] * len(targets),
            feature_names_in_=["mass [kg]", "unused", "v"],
            n_features_in_=3,
            box_=np.array([[1, 0, 1], [9, 1, 5.5]]),
        )
        save_formula(path, found, targets=list(targets))
        return str(path)

    return make


@pytest.fixture
def data(tmp_path):
    def write(text, name="new.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_rows_come_out_as_they_went_in_with_the_prediction_at_the_end(run, model, data):
    path = data('v,who,mass [kg]\n2,"ann, b",3\n\n1e0,bob, 4.0\n')
    code, out, err = run("predict", model(energy=ENERGY), path)
    assert (code, err) == (0, "")
    assert out == 'v,who,mass [kg],predicted_energy\n2,"ann, b",3,6.0\n1e0,bob, 4.0,2.0\n'


def test_several_targets_are_several_columns_whose_names_can_be_chosen(run, model, data):
    path = data("v,mass [kg]\n1,2\n")
    both = model(energy=ENERGY, speed=SPEED)
    assert run("predict", both, path)[1].splitlines()[0] == "v,mass [kg],predicted_energy,predicted_speed"
    out = run("predict", both, path, "--column", "E,s")[1]
    assert out.splitlines()[0] == "v,mass [kg],E,s"
    assert float(out.splitlines()[1].split(",")[-1]) == pytest.approx(-1 / 3)


def test_the_output_is_written_like_the_input(run, model, data):
    out = run("predict", model(energy=ENERGY), data("v;mass [kg]\n1,5;2,0\n"))[1]
    assert out == "v;mass [kg];predicted_energy\n1,5;2,0;2,25\n"


def test_numbers_are_written_to_the_last_bit(run, model, data):
    rng = np.random.default_rng(0)
    rows = rng.uniform(1, 5, (100, 2))
    text = "v,mass [kg]\n" + "\n".join(f"{a!r},{b!r}" for a, b in rows.tolist())
    out = run("predict", model(energy=ENERGY), data(text))[1]
    got = [float(row["predicted_energy"]) for row in csv.DictReader(out.splitlines())]
    np.testing.assert_allclose(got, rows[:, 1] * rows[:, 0] ** 2 / 2, rtol=1e-15)


def test_output_to_a_file_is_whole_or_not_there(run, model, data, tmp_path):
    path, file = data("v,mass [kg]\n1,2\n3,4\n"), tmp_path / "out.csv"
    code, out, err = run("predict", model(energy=ENERGY), path, "-o", str(file))
    assert (code, out) == (0, "")
    assert only_line(err) == f"2 rows written to {file}."
    assert file.read_text().splitlines()[1:] == ["1,2,1.0", "3,4,18.0"]
    file.unlink()
    assert run("predict", model(energy=ENERGY), data("v,mass [kg]\n1,2\n3\n"), "-o", str(file))[0] == 2
    assert list(tmp_path.glob("out*")) == []


def test_rows_outside_the_data_that_were_fitted_are_counted(run, model, data):
    code, out, err = run("predict", model(energy=ENERGY), data("v,mass [kg]\n1,2\n6,2\n2,10\n"))
    assert (code, len(out.splitlines())) == (0, 4)
    said = (
        "2 of 3 rows are outside the data that were fitted; first in row 3, v is 6, where 1 to 5.5 was seen."
    )
    assert only_line(err) == said


def test_a_column_that_the_formula_does_not_use_need_not_be_there_and_has_no_box(run, model, data):
    assert run("predict", model(speed=SPEED), data("v,unused\n1,77\n"))[::2] == (0, "")


def test_rows_without_prediction_are_empty_and_counted_by_their_reason(run, model, data):
    code, out, err = run("predict", model(speed=SPEED), data("v,n\n1,1\n,2\n4,3\nNA,4\n"))
    assert code == 0
    assert [line.split(",")[-1] for line in out.splitlines()[2:]] == ["", "", ""]
    assert err.splitlines() == [
        "2 of 4 rows have no prediction, because a number is missing in a column that the formula needs: "
        "first in row 3.",
        "1 of 4 rows has no prediction, because the formula has no value, as where it divides by zero: "
        "in row 4.",
    ]


def test_a_constant_needs_no_column(run, model, data):
    assert run("predict", model(g=sp.Float(9.81)), data("a\n1\n2\n"))[1] == "a,predicted_g\n1,9.81\n2,9.81\n"


WRONG = {
    "v,mass\n1,2\n": "has no column 'mass [kg]', which the formula needs. Did you mean 'mass'?",
    "a,b\n1,2\n": "has no column 'mass [kg]', 'v'",
    "v,mass [kg]\n1,2\nfast,3\n": "has 'fast' in row 3, column v, not a number",
    "v,mass [kg],predicted_energy\n1,2,3\n": "Choose others with --column.",
    "v,mass [kg]\n1,2\n3\n": "has 1 cell in row 3, but 2 in row 1",
    "": "is empty",
}


@pytest.mark.parametrize("text", WRONG)
def test_data_that_do_not_fit_the_formula_are_code_2_and_a_sentence(run, model, data, text):
    code, out, err = run("predict", model(energy=ENERGY), data(text))
    assert (code, out) == (2, "")
    assert WRONG[text] in only_line(err)


def test_names_for_the_prediction_are_one_per_target(run, model, data):
    code, _, err = run("predict", model(energy=ENERGY), data("v,mass [kg]\n1,2\n"), "--column", "a,b")
    assert code == 2
    assert "as many names as targets, 1, but got 2" in only_line(err)


def test_what_is_no_saved_formula_is_code_1_and_a_sentence(run, data, tmp_path):
    path = data("v,mass [kg]\n1,2\n")
    code, _, err = run("predict", path, path)
    assert code == 1
    assert "is no formula saved by nalm, or is damaged" in only_line(err)
    code, _, err = run("predict", str(tmp_path / "gone.safetensors"), path)
    assert code == 1
    assert "gone.safetensors" in only_line(err)


def test_a_file_that_is_read_is_not_written(run, model, data):
    path = data("v,mass [kg]\n1,2\n")
    code, _, err = run("predict", model(energy=ENERGY), path, "-o", path)
    assert code == 2
    assert "not one that is read" in only_line(err)


def test_predictions_are_text(run, model, data, tmp_path):
    file = tmp_path / "predicted.parquet"
    code, _, err = run("predict", model(energy=ENERGY), data("v,mass [kg]\n1,2\n"), "-o", str(file))
    assert code == 2
    assert "a file for text" in err
    assert not file.exists()
