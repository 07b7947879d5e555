"""`nalm.ArithmeticRegressor`: from a table to a formula, as an estimator of scikit-learn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from nalm.discover.fit.found import Alternative, Found, find_formula
from nalm.discover.fit.module import FormulaModule
from nalm.discover.fit.search import Progress
from nalm.errors import ArgumentError, check_above_zero
from nalm.symbolic.latex import latex

_SMALLEST, _LARGEST = 1e-100, 1e100


class ArithmeticRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Finds the formula behind a table: + - * /, whole and half powers, and real numbers.

    Args:
        max_seconds: the time after which the search for all targets ends with the best formulas so far. A
            search that ends by itself gives the same formula each time; one that is cut off may not.
        random_state: seed of the rows that are held back and of the starts of the search.
        n_jobs: how many targets are searched at the same time.
        on_progress: a function that is called with a `Progress` at every stage and for every better formula.

    Attributes:
        expression_: the formula in sympy, in the names of the columns; x0, x1, … for arrays.
        latex_: the same for LaTeX.
        verdict_: "exact": it fits every row given to the precision of the data, and the rows could have
            contradicted it. "approximate": it does not, or the rows are too few. "none": it does not explain
            half of the target's variance.
        notes_: the reasons for the verdict, and how the formula behaves outside the rows given.
        alternatives_: formulas that no other beats in both error and length, short ones first.
        error_: root mean squared residual on the rows given.
        r2_: share of the variance that is explained, on the rows given.
        seconds_: the time that the search took.

    For several targets, all of these but `seconds_` are lists.

    Example:
        >>> x = np.random.default_rng(0).uniform(1, 5, (100, 3))
        >>> model = nalm.ArithmeticRegressor(random_state=0).fit(x, x[:, 0] * x[:, 2] ** 2 / 2)
        >>> model.expression_, model.verdict_
        (x0*x2**2/2, 'exact')
    """

    def __init__(
        self,
        max_seconds: float = 60.0,
        random_state: Any = None,
        n_jobs: int | None = 1,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.on_progress = on_progress

    def fit(self, X: Any, y: Any) -> ArithmeticRegressor:
        """Search the formula of each target.

        Args:
            X: inputs, `n x in`: an array or a DataFrame.
            y: targets, `n` or `n x out`.
        """
        began = time.monotonic()
        check_above_zero("max_seconds", self.max_seconds)
        x, targets = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, multi_output=True, ensure_min_samples=2
        )
        x = np.require(x, requirements=["C", "W"])  # torch wants to be allowed to write
        targets = np.array(targets, dtype=np.float64)
        self._one = targets.ndim == 1
        columns = targets.reshape(len(targets), -1).T
        names = self._names()
        for name, column in (*zip(names, x.T), *(("y", column) for column in columns)):
            _check_size(name, column)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        at_once = min(len(columns), effective_n_jobs(self.n_jobs))
        share = self.max_seconds / -(-len(columns) // at_once)  # targets wait for those before them
        self._found: list[Found] = Parallel(n_jobs=self.n_jobs)(
            delayed(find_formula)(x, column, names, seed, share, self.on_progress) for column in columns
        )
        self._tell()
        self.box_ = np.stack([x.min(0), x.max(0)])
        self.seconds_ = time.monotonic() - began
        return self

    def _names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        names = [f"x{k}" for k in range(self.n_features_in_)] if given is None else [str(n) for n in given]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ArgumentError("X", "of columns with different names", f"two columns {twice!r}")
        return names

    def _tell(self) -> None:
        self.expression_ = self._each(lambda found: found.formula.expression)
        self.latex_ = self._each(lambda found: latex(found.formula.expression))
        self.verdict_ = self._each(lambda found: str(found.judged.verdict))
        self.notes_ = self._each(lambda found: list(found.notes))
        self.alternatives_ = self._each(lambda found: list(found.alternatives))
        self.error_ = self._each(lambda found: found.judged.error)
        self.r2_ = self._each(lambda found: found.judged.r2)

    def _each(self, what: Callable[[Found], Any]) -> Any:
        values = [what(found) for found in self._found]
        return values[0] if self._one else values

    def predict(self, X: Any) -> np.ndarray:
        """The values of the formulas, `n` or `n x out`; nan where a formula has none.

        Args:
            X: inputs, `n x in`.
        """
        check_is_fitted(self)
        x = validate_data(self, X, dtype=np.float64, reset=False)
        values = np.stack([found.formula(x) for found in self._found], -1)
        return values[:, 0] if self._one else values

    def to_torch(self) -> FormulaModule:
        """The formulas as a module, from `(..., in)` to `(..., out)`, with their numbers as its parameter."""
        check_is_fitted(self)
        formulas = [found.formula for found in self._found]
        return FormulaModule([f.expression for f in formulas], formulas[0].symbols)


def _check_size(name: str, column: np.ndarray) -> None:
    """Refuse numbers whose squares and cubes have no double."""
    largest = float(np.abs(column).max())
    if largest and not _SMALLEST <= largest <= _LARGEST:
        wrong = f"column {name} with numbers up to {largest:g}"
        expected = f"of columns with numbers of a size between {_SMALLEST:g} and {_LARGEST:g}"
        raise ArgumentError("table", expected, wrong, "Write the column in another unit.")


__all__ = ["Alternative", "ArithmeticRegressor", "Progress"]
