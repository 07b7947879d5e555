"""What people would use instead of `nalm.ArithmeticRegressor`, each as they would use it, on one thread.

Operon and gplearn are needed by this benchmark alone:

    pip install pyoperon==0.6.2 gplearn==0.4.3
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import sympy as sp

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass
class Fitted:
    """What a tool made of a table: predictions, and its formula and its own word on it where it has them."""

    predict: Predict
    expression: str | None = None
    verdict: str = ""


Tool = Callable[[np.ndarray, np.ndarray, list[str], float, int], Fitted]
"""Inputs, targets, names of columns, seconds it may take, and a seed; to what was fitted."""

PACKAGES = {"operon": "pyoperon==0.6.2", "gplearn": "gplearn==0.4.3"}
SINGLE_PRECISION = 1e-11
"""Mean square error, as a part of the targets' variance, below which Operon, in float32, has all there is."""
DEGREE = 3
"""Of polynomials; beyond it 20 columns have more terms than is practical."""


def _module(name: str, tool: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        text = f"{tool} is not installed: run `pip install {PACKAGES[tool]}`, or leave it out of --tools."
        raise SystemExit(text) from error


def missing(tools: list[str]) -> list[str]:
    """What to install before these tools can be used."""
    modules = {"operon": "pyoperon", "gplearn": "gplearn"}
    wanted = [tool for tool in tools if tool in modules]
    return [PACKAGES[tool] for tool in wanted if importlib.util.find_spec(modules[tool]) is None]


def operon(x: np.ndarray, y: np.ndarray, names: list[str], seconds: float, seed: int) -> Fitted:
    """Operon: genetic programming with coefficients by Levenberg-Marquardt, error against length.

    It does not stop by itself when it is done: it runs in slices of a second until a formula of its front
    meets the targets to single precision (the shortest is taken), or the time is over (the best by the
    Bayesian information criterion is taken).
    """
    regressor = _module("pyoperon.sklearn", "operon").SymbolicRegressor
    search = regressor(
        allowed_symbols="add,sub,mul,div,sqrt,square,constant,variable",
        objectives=["mse", "length"],
        optimizer_iterations=10,
        epsilon=1e-6,
        generations=10**6,
        max_evaluations=10**9,
        max_time=1,
        n_threads=1,
        warm_start=True,
        random_state=seed,
    )
    # Targets are scaled: its comparisons of errors are absolute.
    scale = float(np.std(y)) or 1.0
    best, began = None, time.perf_counter()
    while best is None and time.perf_counter() - began < seconds - 0.5:
        search.fit(x, y / scale)
        good = [m for m in search.pareto_front_ if m["mean_squared_error"] <= SINGLE_PRECISION]
        best = min(good, key=lambda m: m["length"], default=None)
    best = best or min(search.pareto_front_, key=lambda m: m["bayesian_information_criterion"])
    text = f"{scale!r}*({search.get_model_string(best['tree'], 17, names)})"
    return Fitted(lambda rows: scale * search.evaluate_model(best["tree"], rows), text)


def gplearn(x: np.ndarray, y: np.ndarray, names: list[str], seconds: float, seed: int) -> Fitted:
    """gplearn: genetic programming in generations of 1,000 until the time is over."""
    regressor = _module("gplearn.genetic", "gplearn").SymbolicRegressor
    search = regressor(
        population_size=1000,
        generations=1,
        function_set=("add", "sub", "mul", "div", "sqrt"),
        stopping_criteria=1e-9 * float(np.std(y)),
        const_range=(-10.0, 10.0),
        feature_names=names,
        warm_start=True,
        random_state=seed,
    )
    began, longest = time.perf_counter(), 0.0
    while not longest or time.perf_counter() - began + longest < seconds:
        start = time.perf_counter()
        search.fit(x, y)
        longest = max(longest, time.perf_counter() - start)
        if search.run_details_["best_fitness"][-1] <= search.stopping_criteria:
            break
        search.set_params(generations=search.generations + 1)
    return Fitted(search.predict, _infix(str(search._program)))


def _infix(text: str) -> str:
    """gplearn's notation of calls as a sum of products; its root is of the absolute value."""
    calls = {
        "add": lambda a, b: f"({a}+{b})",
        "sub": lambda a, b: f"({a}-{b})",
        "mul": lambda a, b: f"({a}*{b})",
        "div": lambda a, b: f"({a}/{b})",
        "sqrt": lambda a: f"sqrt(abs({a}))",
    }
    stack: list[list[str]] = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").replace(",", " ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            arguments = stack.pop()
            stack[-1].append(calls[stack[-1].pop()](*arguments))
        else:
            stack[-1].append(f"({token})" if token.startswith("-") else token)
    return stack[0][0]


def polynomial(x: np.ndarray, y: np.ndarray, names: list[str], seconds: float, seed: int) -> Fitted:
    """A polynomial of degree 3 with few terms, chosen by orthogonal matching pursuit and cross-validation."""
    from sklearn.linear_model import OrthogonalMatchingPursuitCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    features = PolynomialFeatures(DEGREE, include_bias=False)
    pursuit = OrthogonalMatchingPursuitCV(max_iter=min(30, features.fit(x).n_output_features_))
    model = make_pipeline(StandardScaler(), features, StandardScaler(), pursuit).fit(x, y)
    first, second = model[0], model[2]
    centred = [
        (sp.Symbol(name, real=True) - float(mean)) / float(size)
        for name, mean, size in zip(names, first.mean_, first.scale_)
    ]
    slopes = pursuit.coef_ / second.scale_
    total = sp.Float(float(pursuit.intercept_ - slopes @ second.mean_))
    for k in np.flatnonzero(slopes):
        total += float(slopes[k]) * sp.Mul(*(v ** int(p) for v, p in zip(centred, features.powers_[k])))
    return Fitted(model.predict, sp.sstr(sp.expand(total), full_prec=True))


def mlp(x: np.ndarray, y: np.ndarray, names: list[str], seconds: float, seed: int) -> Fitted:
    """A perceptron of two hidden layers of 100, inputs and targets scaled, trained by L-BFGS."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    net = MLPRegressor(
        hidden_layer_sizes=(100, 100), solver="lbfgs", alpha=1e-4, max_iter=1000, random_state=seed
    )
    scaled = make_pipeline(StandardScaler(), net)
    model = TransformedTargetRegressor(scaled, transformer=StandardScaler()).fit(x, y)
    return Fitted(model.predict)


def trees(x: np.ndarray, y: np.ndarray, names: list[str], seconds: float, seed: int) -> Fitted:
    """Gradient-boosted trees."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(max_iter=300, min_samples_leaf=5, random_state=seed).fit(x, y)
    return Fitted(model.predict)


MODULES: dict[str, tuple[str, ...]] = {
    "operon": ("pyoperon.sklearn",),
    "gplearn": ("gplearn.genetic",),
    "polynomial": ("sklearn.linear_model", "sklearn.pipeline"),
    "mlp": ("sklearn.neural_network", "sklearn.compose", "sklearn.pipeline"),
    "trees": ("sklearn.ensemble",),
}
"""What each tool is imported from; to import it is no part of a fit's seconds."""

RIVALS: dict[str, Tool] = {
    "operon": operon,
    "gplearn": gplearn,
    "polynomial": polynomial,
    "mlp": mlp,
    "trees": trees,
}
