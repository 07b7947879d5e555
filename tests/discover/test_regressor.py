"""`nalm.ArithmeticRegressor` as an estimator: names, several targets, copies, pipelines and time."""

import copy
import pickle
import time
import warnings

import numpy as np
import pytest
import sympy as sp
import torch

import nalm
from nalm.discover.fit.found import find_formula
from nalm.errors import ArgumentError

pytest.importorskip("sklearn")
import joblib
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

X = np.random.default_rng(0).uniform(1, 5, (80, 4))
FAR = 10 * X
PRODUCT = X[:, 0] * X[:, 2] ** 2 / 2
RATIONAL = 1.25 * X[:, 0] * X[:, 1] / (X[:, 2] + 0.375 * X[:, 3])


def regressor(**options):
    return nalm.ArithmeticRegressor(**{"max_seconds": 10, "random_state": 0, **options})


@pytest.fixture(scope="module")
def rational():
    return regressor().fit(X, RATIONAL)


def test_it_tells_the_formula_and_what_it_is_worth():
    model = regressor().fit(X, PRODUCT)
    assert str(model.expression_) == "x0*x2**2/2"
    assert model.latex_ == sp.latex(model.expression_)
    assert model.verdict_ == "exact"
    assert model.error_ == pytest.approx(0, abs=1e-12)
    assert model.r2_ == pytest.approx(1)
    assert model.notes_ == [f"Rows were seen for {spans(0, 2)}."]
    assert model.alternatives_[-1].expression == model.expression_
    assert 0 < model.seconds_ < 10


def spans(*columns):
    return ", ".join(f"x{k} from {X[:, k].min():.4g} to {X[:, k].max():.4g}" for k in columns)


def test_it_remembers_the_box_of_its_rows(rational):
    np.testing.assert_array_equal(rational.box_, [X.min(0), X.max(0)])


def test_it_predicts_far_outside_to_machine_precision(rational):
    expected = 1.25 * FAR[:, 0] * FAR[:, 1] / (FAR[:, 2] + 0.375 * FAR[:, 3])
    np.testing.assert_allclose(rational.predict(FAR), expected, rtol=1e-13)
    assert rational.score(X, RATIONAL) == pytest.approx(1)


def test_several_targets_have_a_formula_each():
    y = np.column_stack([PRODUCT, X[:, 1] - X[:, 3], np.sqrt(X[:, 0])])
    model = regressor().fit(X, y)
    assert list(map(str, model.expression_)) == ["x0*x2**2/2", "x1 - x3", "sqrt(x0)"]
    assert model.verdict_ == ["exact"] * 3
    assert len(model.latex_) == len(model.notes_) == len(model.alternatives_) == 3
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-13, atol=1e-14)
    assert model.to_torch()(torch.from_numpy(X)).shape == (80, 3)


def test_the_time_is_shared_among_targets_that_wait_for_each_other(monkeypatch):
    given = []

    def remembered(*arguments):
        given.append(arguments[4])
        return find_formula(*arguments)

    monkeypatch.setattr("nalm.discover.regressor.find_formula", remembered)
    y = np.column_stack([PRODUCT, X[:, 1] - X[:, 3], np.sqrt(X[:, 0])])
    with joblib.parallel_config(backend="threading"):
        regressor(max_seconds=12, n_jobs=2).fit(X, y)
    assert given == [6.0] * 3


def test_one_target_in_a_column_of_its_own_stays_a_column():
    model = regressor().fit(X, PRODUCT[:, None])
    assert model.predict(X).shape == (80, 1)
    assert list(map(str, model.expression_)) == ["x0*x2**2/2"]


def test_targets_are_found_alike_side_by_side():
    y = np.column_stack([PRODUCT, X[:, 1] - X[:, 3]])
    with joblib.parallel_config(backend="threading"):
        together = regressor(n_jobs=2).fit(X, y)
    assert together.expression_ == regressor().fit(X, y).expression_


@pytest.mark.parametrize(
    "names",
    [
        ["pi", "sqrt", "lambda", "x y"],
        ["I", "E", "S", "zoo"],
        ["constant_0", "constant_1", "pi_", "x0"],
        ["a-b", "mass [kg]", "1", "Größe"],
    ],
    ids=str,
)
def test_columns_may_have_any_names(names):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=names)
    y = np.pi * RATIONAL
    model = regressor().fit(table, y)
    assert model.verdict_ == "exact"
    assert {symbol.name for symbol in model.expression_.free_symbols} == set(names)
    np.testing.assert_allclose(model.predict(table), y, rtol=1e-13)
    np.testing.assert_allclose(model.to_torch()(torch.from_numpy(X))[:, 0].detach(), y, rtol=1e-13)


@pytest.mark.parametrize(
    ("x_unit", "y_unit", "named"), [(1, 1e200, "y"), (1, 1e-200, "y"), (1e-170, 1, "x0")]
)
def test_numbers_whose_squares_have_no_double_are_refused(x_unit, y_unit, named):
    with pytest.raises(ArgumentError, match=rf"column {named} .* in another unit"):
        regressor().fit(x_unit * X, y_unit * PRODUCT)


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises((ArgumentError, ValueError), match="'a'"):
        regressor().fit(pandas.DataFrame(X, columns=list("abca")), PRODUCT)


def test_a_table_of_other_columns_is_refused():
    pandas = pytest.importorskip("pandas")
    model = regressor().fit(pandas.DataFrame(X, columns=list("abcd")), PRODUCT)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pandas.DataFrame(X, columns=list("abce")))


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float16])
def test_numbers_may_be_of_any_kind(kind):
    x = (10 * X).astype(kind)
    model = regressor().fit(x, x[:, 0].astype(np.float64) * x[:, 1].astype(np.float64))
    assert str(model.expression_) == "x0*x1"


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_missing_and_infinite_numbers_are_refused(wrong):
    broken = X.copy()
    broken[3, 1] = wrong
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        regressor().fit(broken, PRODUCT)


def test_a_time_that_is_no_time_is_refused():
    for wrong in (0, -1):
        with pytest.raises(ArgumentError, match="max_seconds"):
            regressor(max_seconds=wrong).fit(X, PRODUCT)


def test_it_does_not_predict_before_it_is_fitted():
    for method in (lambda m: m.predict(X), lambda m: m.to_torch()):
        with pytest.raises(NotFittedError):
            method(regressor())


def test_the_same_state_gives_the_same_formula():
    noisy = PRODUCT + 0.1 * np.random.default_rng(1).normal(size=80)
    first, second = (regressor(max_seconds=60).fit(X, noisy) for _ in range(2))
    assert str(first.expression_) == str(second.expression_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


def test_the_order_of_rows_does_not_change_an_exact_formula(rational):
    order = np.random.default_rng(2).permutation(80)
    assert regressor().fit(X[order], RATIONAL[order]).expression_ == rational.expression_


def test_the_data_are_not_changed():
    x, y = X.copy(), RATIONAL.copy()
    regressor().fit(x, y).predict(x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, RATIONAL)


def test_a_fit_gives_no_warnings():
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (PRODUCT, np.exp(X[:, 0]) * X[:, 1], np.zeros(80), 1e30 * PRODUCT):
            regressor(max_seconds=1).fit(pandas.DataFrame(X, columns=list("abcd")), y)


def test_a_clone_has_the_options_and_no_formula(rational):
    again = clone(rational)
    assert again.get_params() == rational.get_params()
    assert not hasattr(again, "expression_")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_predict_the_same(again, rational):
    other = again(rational)
    assert other.expression_ == rational.expression_
    np.testing.assert_array_equal(other.predict(FAR), rational.predict(FAR))


def test_it_goes_through_a_file_of_joblib(rational, tmp_path):
    joblib.dump(rational, tmp_path / "model")
    other = joblib.load(tmp_path / "model")
    np.testing.assert_array_equal(other.predict(FAR), rational.predict(FAR))


def test_it_is_the_end_of_a_pipeline():
    model = make_pipeline(FunctionTransformer(lambda x: x[:, ::2]), regressor()).fit(X, PRODUCT)
    assert str(model[-1].expression_) == "x0*x1**2/2"
    assert model.score(X, PRODUCT) == pytest.approx(1)


def test_it_is_searched_and_validated_by_scikit_learn():
    search = GridSearchCV(regressor(), {"random_state": [0, 1]}, cv=2, error_score="raise").fit(X, PRODUCT)
    assert str(search.best_estimator_.expression_) == "x0*x2**2/2"
    np.testing.assert_allclose(cross_val_score(regressor(), X, PRODUCT, cv=2), 1)


def test_the_module_computes_what_it_predicts(rational):
    module, inputs = rational.to_torch(), torch.from_numpy(FAR).requires_grad_()
    outputs = module(inputs)
    np.testing.assert_allclose(outputs[:, 0].detach(), rational.predict(FAR), rtol=1e-14)
    outputs.sum().backward()
    assert inputs.grad.abs().min() > 0
    assert module.constants.grad is not None


def test_copies_of_the_module_are_equal(rational):
    module, inputs = rational.to_torch(), torch.from_numpy(X)
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(again(inputs), module(inputs))
    other = rational.to_torch()
    other.load_state_dict(module.state_dict())
    assert torch.equal(other(inputs), module(inputs))


@pytest.mark.parametrize("seconds", [0.1, 2.0])
def test_time_is_kept(seconds):
    y = np.sin(2 * X[:, 0]) * np.exp(X[:, 1]) + np.cos(X[:, 2] * X[:, 3])
    began = time.process_time()
    model = regressor(max_seconds=seconds).fit(X, y)
    assert time.process_time() - began < seconds + 3
    assert model.verdict_ in ("approximate", "none")
    assert np.isfinite(model.predict(X)).all()


def test_time_is_shared_by_targets():
    y = np.sin(np.column_stack([X[:, 0] * X[:, 1], X[:, 1] * X[:, 2], X[:, 2] * X[:, 3]]))
    began = time.process_time()
    regressor(max_seconds=1.5).fit(X, y)
    assert time.process_time() - began < 1.5 + 3


def test_progress_is_told():
    told = []
    regressor(on_progress=told.append).fit(X, RATIONAL)
    assert told[0].expression is None
    assert told[-1].error < 1e-12


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_very_few_rows_are_fitted_and_never_exact(rows):
    generator = np.random.default_rng(rows)
    x, y = generator.normal(size=(rows, 3)), generator.normal(size=rows)
    model = regressor(max_seconds=2).fit(x, y)
    assert model.verdict_ != "exact"
    assert np.isfinite(model.predict(x)).all()


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="1 sample"):
        regressor().fit(X[:1], PRODUCT[:1])


def test_rows_without_a_value_are_nan():
    x = X.copy()
    model = regressor().fit(x, np.sqrt(x[:, 0]))
    x[0, 0] = -1.0
    made = model.predict(x)
    assert np.isnan(made[0])
    assert np.isfinite(made[1:]).all()
