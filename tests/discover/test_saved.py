"""Formulas survive their files to the last bit; what is no formula is refused, and nothing in it is run."""

import json
import time
import types

import numpy as np
import pytest
import sympy as sp
from safetensors.numpy import load_file, save_file

import nalm
from nalm.discover import formula_text
from nalm.discover.formula_text import FormulaError
from nalm.discover.formula_values import values
from nalm.discover.saved import FORMAT, VERSION, load_formula, save_formula

NAMES = ["mass [kg]", "a - b", "lambda", "Größe, außen"]
M, D, L, G = (sp.Symbol(name, real=True) for name in NAMES)
EXPRESSIONS = [
    M * D**2 / 2,
    sp.factor(2 * M + 2),  # not 2*M + 2
    sp.sqrt(M**2),
    sp.Float(3.7, 17) * sp.sqrt(M + D) / (D - sp.Float(1.25, 17)) + sp.pi,
    1 / sp.sqrt(1 - M**2 / D**2),
    -L / 3,
    sp.sqrt(2) * G ** sp.Rational(-5, 3),
    sp.E * M - sp.Float(0.1, 17) * L,
    sp.Integer(3),
    sp.Float(1 / 3, 17),
    sp.Float("1.2345") * M,
    G,
    M - D - L - 1,
]


def fitted(*expressions, verdict="exact", names=NAMES):
    found = {"feature_names_in_": np.array(names, dtype=object)} if names else {}
    several = len(expressions) > 1
    return types.SimpleNamespace(
        expression_=list(expressions) if several else expressions[0],
        verdict_=[verdict] * len(expressions) if several else verdict,
        n_features_in_=4,
        box_=np.array([[0, 0, 0, 0], [1, 1, 1, 1.5]]),
        **found,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_an_expression_comes_back_as_it_was(expression, path):
    save_formula(path, fitted(expression), targets=["E [J]"])
    found = load_formula(path)
    assert found.expressions == [expression]
    assert str(found.expressions[0]) == str(expression)
    assert (found.names, found.targets, found.verdicts) == (NAMES, ["E [J]"], ["exact"])


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_values_are_those_of_sympy(expression, path):
    x = np.random.default_rng(0).uniform(2, 3, (20, 4)) * [0.1, 1, 1, 1]
    save_formula(path, fitted(expression))
    got = load_formula(path).predict(dict(zip(NAMES, x.T)), 20)
    expected = [float(expression.subs(dict(zip((M, D, L, G), row))).evalf(30)) for row in x.tolist()]
    np.testing.assert_allclose(got[:, 0], expected, rtol=1e-14)


def test_the_estimators_own_formula_comes_back(path):
    pytest.importorskip("sklearn")
    x = np.random.default_rng(0).uniform(1, 3, (60, 3))
    y = np.stack([1.2345 * x[:, 0] + x[:, 2], np.sqrt(x[:, 1])], axis=1)
    model = nalm.ArithmeticRegressor(max_seconds=20, random_state=0).fit(x, y)
    save_formula(path, model, targets=["a", "b"])
    found = load_formula(path)
    assert list(map(str, found.expressions)) == list(map(str, model.expression_))
    got = found.predict({f"x{k}": x[:, k] for k in range(3)}, 60)
    np.testing.assert_allclose(got, model.predict(x), rtol=1e-14)


def test_rows_are_computed_in_pieces_with_the_same_result(path, monkeypatch):
    x = np.random.default_rng(0).uniform(2, 3, (25, 4))
    save_formula(path, fitted(M * D, L / G))
    whole = load_formula(path).predict(dict(zip(NAMES, x.T)), 25)
    monkeypatch.setattr("nalm.discover.saved._ROWS_AT_ONCE", 10)
    np.testing.assert_array_equal(load_formula(path).predict(dict(zip(NAMES, x.T)), 25), whole)


def test_where_a_formula_has_no_value_there_is_nan_or_infinity():
    got = values(sp.sqrt(M) + 1 / D, {M: np.array([-1.0, 1.0]), D: np.array([1.0, 0.0])}, 2)
    assert np.isnan(got[0])
    assert np.isinf(got[1])


def test_the_box_and_what_lies_outside_it(path):
    save_formula(path, fitted(M + G))
    found = load_formula(path)
    np.testing.assert_array_equal(found.box, [[0, 1], [0, 1], [0, 1], [0, 1.5]])
    columns = {M.name: np.array([0.5, 2, 1]), G.name: np.array([1.5, -1, 1.6])}
    outside = found.outside(columns, 3)
    assert {name: mask.tolist() for name, mask in outside.items()} == {
        M.name: [False, True, False],
        G.name: [False, True, True],
    }


def test_without_names_columns_are_numbered_and_targets_are_y(path):
    x0 = sp.Symbol("x0", real=True)
    save_formula(path, fitted(x0, 2 * x0, names=None))
    found = load_formula(path)
    assert (found.names, found.targets) == (["x0", "x1", "x2", "x3"], ["y0", "y1"])


def test_targets_without_formula_are_left_out(path):
    several = fitted(M, None)
    several.verdict_ = ["approximate", "none"]
    assert save_formula(path, several, targets=["a", "b"]) == ["a"]
    assert load_formula(path).targets == ["a"]
    with pytest.raises(FormulaError, match="no formula to save"):
        save_formula(path, fitted(None, verdict="none"))


def test_what_cannot_be_read_back_is_not_written(path):
    with pytest.raises(FormulaError, match="cannot be saved: only sums"):
        save_formula(path, fitted(sp.sin(M)))
    assert not path.exists()


HOSTILE = [
    "__import__('os').system('true')",
    "x0.__class__",
    "(lambda: 1)()",
    "[x0 for x0 in x1]",
    "x0 if x1 else x2",
    "exec(x0)",
    "sqrt(x0)",
    "x9",
    "c0",
    "x00",
    "True",
    "1.5",
    "x0 / x1",
    "x0 - x1",
    "'text'",
    "f'{x0}'",
    "1" * 50,
    "x0 +",
    "(" * 5000 + "x0" + ")" * 5000,
    "-" * 20000 + "1",
    "x0*" * 40000 + "x0",
    "Abs(x0, x1)",
    "Abs(*x0)",
    "1/0",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20])
def test_nothing_but_formulas_is_read(text):
    with pytest.raises(FormulaError):
        formula_text.read(text, [M, D, L, G], [])


def test_a_power_tower_takes_no_time():
    began = time.monotonic()
    tower = formula_text.read("(9**(9**(9**(9**9))))*x0", [M], [])
    assert str(tower)
    assert np.isinf(values(tower, {M: np.ones(1)}, 1)).all()
    assert time.monotonic() - began < 5


def changed(path, **about):
    """Write the file again with other text in it."""
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        held = dict(file.metadata())
    save_file(load_file(path), path, held | about)


def formula_with(path, **parts):
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        return json.dumps(json.loads(file.metadata()["formula"]) | parts)


def test_a_newer_file_is_refused_with_its_version(path):
    save_formula(path, fitted(M))
    changed(path, version=str(VERSION + 1), nalm="99.0")
    with pytest.raises(FormulaError, match=r"saved by nalm 99\.0, which is newer"):
        load_formula(path)


def test_another_safetensors_file_is_refused(path):
    save_file({"weights": np.zeros(3)}, path)
    with pytest.raises(FormulaError, match="something else than formulas"):
        load_formula(path)
    save_file({"weights": np.zeros(3)}, path, {"format": FORMAT, "version": "1"})
    with pytest.raises(FormulaError, match="is damaged"):
        load_formula(path)


@pytest.mark.parametrize(
    "parts",
    [
        {"columns": [1, 2, 3, 4]},
        {"columns": ["a"]},
        {"columns": ["a", "a", "b", "c"]},
        {"columns": None},
        {"targets": []},
        {"targets": [{"name": "y"}]},
        {"targets": [{"name": "y", "text": "open('x')", "verdict": "exact"}]},
        {"targets": "y"},
        {"bits": [53]},
        {"bits": None},
    ],
    ids=str,
)
def test_a_file_with_wrong_content_is_refused(path, parts):
    save_formula(path, fitted(M))
    changed(path, formula=formula_with(path, **parts))
    with pytest.raises(FormulaError, match=str(path)):
        load_formula(path)


@pytest.mark.parametrize("kept", [0, 4, 100, -8])
def test_a_damaged_file_is_refused(path, kept):
    save_formula(path, fitted(3.5 * M))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(FormulaError, match="is no formula saved by nalm, or is damaged"):
        load_formula(path)


def test_a_file_that_is_not_there_is_told_as_such(path):
    with pytest.raises(FileNotFoundError):
        load_formula(path)
