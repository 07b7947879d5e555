"""Formulas in files: what was found, with the box of the data, to predict with later.

The file is a safetensors file, which holds numbers and text and can hold nothing that runs. Its tensors are
the decimal numbers of the formulas (`constants`) and the smallest and largest number of each column (`box`,
`columns x 2`); its text has the formulas as `nalm.discover.formula_text` writes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from nalm._version import __version__
from nalm.discover import formula_text
from nalm.discover.formula_text import FormulaError
from nalm.discover.formula_values import values

FORMAT, VERSION = "nalm formula", 1
_ROWS_AT_ONCE = 100_000
_MOST_BITS = 1000


@dataclass(frozen=True)
class SavedFormula:
    """Formulas as they were saved.

    Attributes:
        names: the columns of the data that were fitted.
        targets: the columns that the formulas are for.
        expressions: a sympy expression per target, in symbols of these names.
        verdicts: exact or approximate, per target.
        box: the smallest and the largest number of each column, `columns x 2`.
    """

    names: list[str]
    targets: list[str]
    expressions: list[sp.Expr]
    verdicts: list[str]
    box: np.ndarray

    @property
    def needed(self) -> list[str]:
        """The columns that some formula mentions."""
        mentioned = set().union(*(expression.free_symbols for expression in self.expressions))
        return [name for name, symbol in zip(self.names, symbols_of(self.names)) if symbol in mentioned]

    def predict(self, columns: dict[str, np.ndarray], rows: int) -> np.ndarray:
        """The values, `rows x targets`; NaN where a formula has none.

        Args:
            columns: the numbers of the needed columns, by name, each of shape `rows`.
            rows: how many there are.
        """
        found = np.empty((rows, len(self.targets)))
        symbols = {name: sp.Symbol(name, real=True) for name in self.needed}
        for start in range(0, rows, _ROWS_AT_ONCE):  # so that steps in between need little memory
            part = slice(start, min(start + _ROWS_AT_ONCE, rows))
            at = {symbol: columns[name][part] for name, symbol in symbols.items()}
            for k, expression in enumerate(self.expressions):
                found[part, k] = values(expression, at, part.stop - start)
        return found

    def outside(self, columns: dict[str, np.ndarray], rows: int) -> dict[str, np.ndarray]:
        """For each needed column, which rows lie outside the data that were fitted."""
        found = {}
        for name in self.needed:
            low, high = self.box[self.names.index(name)]
            found[name] = (columns[name] < low) | (columns[name] > high)
        return found


def symbols_of(names: Sequence[str]) -> list[sp.Symbol]:
    """The symbols of columns, as the estimator makes them."""
    return [sp.Symbol(name, real=True) for name in names]


def save_formula(path: Path | str, regressor: Any, *, targets: Sequence[str] | None = None) -> list[str]:
    """Save what a fitted `ArithmeticRegressor` has found; return the targets that were saved.

    Args:
        path: the file to write, usually called something.safetensors.
        regressor: a fitted estimator.
        targets: the names of the targets; by default y, or y0, y1, ….
    """
    expressions = _as_list(regressor.expression_)
    verdicts = _as_list(regressor.verdict_)
    if targets is None:
        targets = ["y"] if len(expressions) == 1 else [f"y{k}" for k in range(len(expressions))]
    names = list(getattr(regressor, "feature_names_in_", ())) or [
        f"x{k}" for k in range(regressor.n_features_in_)
    ]
    found = [
        (name, expression, verdict)
        for name, expression, verdict in zip(targets, expressions, verdicts, strict=True)
        if expression is not None and verdict != "none"
    ]
    if not found:
        raise FormulaError("There is no formula to save.")
    _write(Path(path), [str(name) for name in names], found, regressor.box_)
    return [name for name, _, _ in found]


def load_formula(path: Path | str) -> SavedFormula:
    """Read a file that `save_formula` has written; anything else is refused in a sentence."""
    with open(path, "rb"):
        pass  # a file that is missing or locked is told by its own error
    try:
        with safe_open(path, framework="np") as file:
            about = file.metadata() or {}
            _check_format(path, about)
            return _loaded(json.loads(about["formula"]), file.get_tensor("constants"), file.get_tensor("box"))
    except FormulaError as error:
        raise FormulaError(f"{path} cannot be used. {error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise FormulaError(f"{path} is no formula saved by nalm, or is damaged.") from error


def _write(path: Path, names: list[str], found: list[tuple[str, Any, str]], box: np.ndarray) -> None:
    constants: list[sp.Float] = []
    symbols = symbols_of(names)
    targets = [
        {"name": name, "text": formula_text.written(expression, symbols, constants), "verdict": verdict}
        for name, expression, verdict in found
    ]
    about = {
        "format": FORMAT,
        "version": str(VERSION),
        "nalm": __version__,
        "formula": json.dumps({"columns": names, "targets": targets, "bits": [c._prec for c in constants]}),
        # For people who look into the file; it is not read again.
        "expression": "; ".join(f"{name} = {expression}" for name, expression, _ in found),
    }
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        numbers = {
            "constants": np.array([float(c) for c in constants], dtype=np.float64),
            "box": np.array(box.T, order="C"),
        }
        save_file(numbers, part, about)
        part.replace(path)  # so that a file is always whole
    finally:
        part.unlink(missing_ok=True)


def _check_format(path: Path | str, about: dict[str, str]) -> None:
    if about.get("format") != FORMAT:
        raise FormulaError("It is a safetensors file of something else than formulas.")
    if int(about["version"]) > VERSION:
        made = about.get("nalm", "a newer nalm")[:20]
        raise FormulaError(f"It was saved by nalm {made}, which is newer than this one, {__version__}.")


def _loaded(about: dict[str, Any], constants: np.ndarray, box: np.ndarray) -> SavedFormula:
    names = [_text(name) for name in about["columns"]]
    targets = [_text(target["name"]) for target in about["targets"]]
    if not targets or len(set(names)) != len(names) or len(set(targets)) != len(targets):
        raise FormulaError("Its columns or targets have no different names.")
    if box.shape != (len(names), 2) or constants.shape != (len(about["bits"]),):
        raise FormulaError("Its numbers do not have the right shape.")
    symbols, decimals = symbols_of(names), _decimals(constants, about["bits"])
    expressions = [formula_text.read(_text(target["text"]), symbols, decimals) for target in about["targets"]]
    return SavedFormula(names, targets, expressions, [_text(t["verdict"]) for t in about["targets"]], box)


def _decimals(values: np.ndarray, bits: list[Any]) -> list[sp.Float]:
    """Decimal numbers of sympy with the precision that they had, so that formulas print as they did."""
    if not all(isinstance(count, int) and 1 <= count <= _MOST_BITS for count in bits):
        raise FormulaError("The precision of its numbers is not known.")
    return [sp.Float(value, precision=count) for value, count in zip(values.tolist(), bits)]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FormulaError("A name in it is not text.")
    return value


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
