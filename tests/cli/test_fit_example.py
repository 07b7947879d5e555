"""The tutorial of docs/fit.md, with the real search: from the example's table to a formula to predictions."""

import csv
from pathlib import Path

import pytest

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "kinetic_energy.csv")


def test_from_the_example_to_a_formula_to_predictions(run, tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("pyarrow")
    model, other = str(tmp_path / "energy.safetensors"), tmp_path / "other.csv"
    code, out, err = run("fit", EXAMPLE, "--target", "energy", "--save", model)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "mass*velocity**2/2"
    assert lines[2].startswith("exact: ")
    other.write_text("mass,velocity\n2,3\n1000,1000\n")
    code, out, err = run("predict", model, str(other))
    assert code == 0
    assert [float(row["predicted_energy"]) for row in csv.DictReader(out.splitlines())] == [9.0, 5e8]
    assert "1 of 2 rows is outside the data that were fitted: in row 3, mass is 1000" in err
