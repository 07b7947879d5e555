"""A stand-in for the search, quick and simple: one product of powers times a number, for each target."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import sympy as sp

POWERS = (0, 1, 2, -1, 0.5)


@dataclasses.dataclass
class Progress:
    seconds: float
    expression: Any
    error: float
    stage: str


@dataclasses.dataclass
class Alternative:
    expression: Any
    error: float
    length: int


class StandIn:
    """Keeps the contract of `nalm.ArithmeticRegressor` as far as commands use it."""

    def __init__(self, max_seconds=60.0, random_state=None, n_jobs=1, on_progress=None):
        self.options = (max_seconds, random_state, n_jobs)
        self.on_progress = on_progress

    def fit(self, X, y):
        self.feature_names_in_ = np.array(X.column_names, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        x, self.several = np.asarray(X), np.ndim(y) == 2
        self.found = [self._one(x, column) for column in (y.T if self.several else [y])]
        for name in ("expression", "latex", "verdict", "alternatives", "notes", "error", "r2"):
            values = [one[name] for one in self.found]
            setattr(self, f"{name}_", values if self.several else values[0])
        self.box_ = np.stack([x.min(0), x.max(0)])
        self.seconds_ = 0.25
        return self

    def _one(self, x, y):
        symbols = [sp.Symbol(name, real=True) for name in self.feature_names_in_]
        self.on_progress(Progress(0.0, None, np.inf, "powers"))
        best, others = None, []
        for powers in itertools.product(POWERS, repeat=min(2, x.shape[1])):
            shape = np.prod([np.abs(x[:, k]) ** p for k, p in enumerate(powers)], axis=0)
            factor = float(shape @ y / (shape @ shape))
            error = float(np.sqrt(np.mean((y - factor * shape) ** 2) / np.mean(y**2)))
            if best is None or error < best[0]:
                number = sp.nsimplify(factor, rational=True, tolerance=1e-9)
                expression = number * sp.prod(s ** sp.nsimplify(p) for s, p in zip(symbols, powers))
                best = (error, expression, factor, powers)
                others.append(Alternative(expression, error, 1 + sum(p != 0 for p in powers)))
                self.on_progress(Progress(0.1, expression, error, "powers"))
        error, expression, factor, powers = best
        verdict = "exact" if error < 1e-9 else "approximate" if error < 0.5 else "none"
        rmse = error * float(np.sqrt(np.mean(y**2)))
        return {
            "expression": expression if verdict != "none" else None,
            "latex": sp.latex(expression) if verdict != "none" else None,
            "verdict": verdict,
            "alternatives": others,
            "notes": [
                f"The box seen: {s} from {low:g} to {high:g}."
                for s, low, high in zip(symbols, x.min(0), x.max(0))
            ],
            "error": rmse,
            "r2": 1 - rmse**2 / np.var(y) if np.var(y) else float("nan"),
            "predict": (factor, powers),
        }

    def predict(self, X):
        x = np.asarray(X)
        made = [
            factor * np.prod([np.abs(x[:, k]) ** p for k, p in enumerate(powers)], axis=0)
            for factor, powers in (one["predict"] for one in self.found)
        ]
        return np.stack(made, -1) if self.several else made[0]
