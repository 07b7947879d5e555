"""From a table to its formula: `nalm.ArithmeticRegressor` beside what people would use instead.

    python benchmarks/fit.py                                     # all of it: several hours on two cores
    python benchmarks/fit.py --tools nalm --noise 0 --redundant 5 --formulas radical
    python benchmarks/fit.py --tools nalm operon --formulas 20 --json fit.json

Every tool gets the same tables of 200 rows: with 5 columns that do not matter, without noise and with noise
of 0.1 % and 1 % of the target's deviation; and without noise, with 0 and 20 such columns. Counted is how
often the structure of the formula was found, and how often all its constants to 1e-6 (`fit_judge.py`). Errors
are root mean squares as a part of the target's deviation, on fresh rows in the range and eight times outside.

Fits that are done are kept in a file (`--store`), so that a run that was interrupted goes on where it was. A
tool whose version has changed is fitted again.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import sympy as sp

import fit_formulas
from fit_report import show, summary
from fit_rivals import MODULES, RIVALS, Fitted, Tool, missing
from fit_store import keeping, kept

Row = dict[str, Any]
ROWS = 200
GRACE = 4
"""A fit is broken off after so many times the seconds it was given, and half a minute."""


def nalm(x: np.ndarray, y: np.ndarray, names: list[str], seconds: float, seed: int) -> Fitted:
    """Ours."""
    import nalm as package

    model = package.ArithmeticRegressor(max_seconds=seconds, random_state=seed, n_jobs=1).fit(x, y)
    own = {sp.Symbol(f"x{k}", real=True): sp.Symbol(name, real=True) for k, name in enumerate(names)}
    expression = sp.sympify(model.expression_).xreplace(own) if model.expression_ is not None else None
    return Fitted(model.predict, sp.sstr(expression, full_prec=True), str(model.verdict_))


TOOLS: dict[str, Tool] = {"nalm": nalm, **RIVALS}
IMPORTS = {"nalm": ("nalm.discover.regressor",), **MODULES}


@dataclass(frozen=True)
class Job:
    """One fit: a tool, a table, and the seconds it may take."""

    tool: str
    formula: str
    noise: float
    redundant: int
    seed: int
    seconds: float
    formulas: str = ""
    version: str = ""


class TooLateError(BaseException):
    """A fit that took many times what it was given; no `except Exception` of a tool holds it."""


@functools.cache
def formulas(file: str) -> ModuleType:
    """The list of formulas: ours, or a file with `FORMULAS`, `make`, `check` and maybe `family` like ours."""
    if not file:
        return fit_formulas
    spec = importlib.util.spec_from_file_location(Path(file).stem + "_list", file)
    if spec is None or spec.loader is None or not Path(file).exists():
        raise SystemExit(f"--list: {file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def family(job: Job) -> str:
    """Kind of the job's formula, if the list tells."""
    known = formulas(job.formulas)
    return known.family(job.formula) if hasattr(known, "family") else "all"


@functools.cache
def version(tool: str) -> str:
    """What a tool is now: of ours, a digest of the search's sources; of others, the package's version."""
    if tool == "nalm":
        (folder,) = importlib.util.find_spec("nalm").submodule_search_locations
        files = sorted((Path(folder) / "discover").rglob("*.py"))
        return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    package = {"operon": "pyoperon", "gplearn": "gplearn"}.get(tool, "scikit-learn")
    return importlib.metadata.version(package)


def done(job: Job) -> Row:
    """Fit one table and judge what was found."""
    module = formulas(job.formulas)
    options = {"rows": ROWS, "seed": job.seed, "noise": job.noise, "redundant": job.redundant}
    x, y, names, fresh_x, fresh_y, far_x, far_y = module.make(job.formula, **options)
    row: Row = {**asdict(job), "family": family(job), "note": ""}
    for name in IMPORTS[job.tool]:
        importlib.import_module(name)
    began, used = time.perf_counter(), time.process_time()
    try:
        with Within(GRACE * job.seconds + 30), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = TOOLS[job.tool](x, y, names, job.seconds, job.seed)
    except (Exception, TooLateError) as error:
        fitted = Fitted(lambda rows: np.full(len(rows), np.nan))
        row["note"] = f"{type(error).__name__}: {error}"
    row |= {"wall": time.perf_counter() - began, "cpu": time.process_time() - used}
    row |= {"verdict": fitted.verdict, "expression": fitted.expression}
    row |= {"inside": off(fitted, fresh_x, fresh_y), "outside": off(fitted, far_x, far_y)}
    if fitted.expression is not None:
        judged = module.check(job.formula, fitted.expression, names)
        row |= {key: judged[key] for key in ("exact", "structure", "skeleton") if key in judged}
        row["note"] = row["note"] or judged.get("note", "")
    return row


def off(fitted: Fitted, x: np.ndarray, y: np.ndarray) -> float | None:
    """Root mean square error as a part of the targets' deviation; None where there is no number."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        error = float(np.sqrt(np.mean((fitted.predict(x) - y) ** 2)) / np.std(y))
    return error if np.isfinite(error) else None


class Within:
    """Breaks off what takes more than some seconds of the processor; waiting for it does not count."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGPROF, self._late)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _late(self, *_: object) -> None:
        raise TooLateError(f"broken off after {self.seconds:g} s")


def conditions(noise: list[float], redundant: list[int], crossed: bool) -> list[tuple[float, int]]:
    """Each noise with the first number of columns and each number with the first noise; or all pairs."""
    pairs = [(n, r) for n in noise for r in redundant]
    return pairs if crossed else [(n, r) for n, r in pairs if n == noise[0] or r == redundant[0]]


def chosen(given: argparse.Namespace) -> list[str]:
    """Names of formulas: all, a number of them, spread over the list, or those that a word is part of."""
    module, wanted = formulas(given.list), given.formulas
    names = list(module.FORMULAS)
    if wanted == "all":
        return names
    if wanted.isdigit():
        return [names[k] for k in np.unique(np.linspace(0, len(names) - 1, int(wanted)).astype(int))]
    words = wanted.split(",")
    kinds = {name: module.family(name) if hasattr(module, "family") else "" for name in names}
    picked = [name for name in names if kinds[name] in words or any(word in name for word in words)]
    if not picked:
        raise SystemExit(f"--formulas: no formula or family has {wanted!r} in its name")
    return picked


def planned(given: argparse.Namespace) -> list[Job]:
    """Every fit of a run, formula by formula."""
    pairs = conditions(given.noise, given.redundant, given.crossed)
    return [
        Job(tool, name, noise, redundant, seed, given.seconds, given.list, version(tool))
        for noise, redundant in pairs
        for seed in range(given.seeds)
        for name in chosen(given)
        for tool in given.tools
    ]


def job_of(row: Row) -> Job:
    """The job that a row is the result of."""
    return Job(**{key: row[key] for key in Job.__dataclass_fields__})


def run(jobs: list[Job], store: Path, processes: int) -> list[Row]:
    """All fits: those that are kept, and the others, each written down as it ends."""
    rows = {job_of(row): row for row in kept(store)}
    todo = [job for job in jobs if job not in rows]
    if len(todo) < len(jobs):
        print(f"{len(jobs) - len(todo)} of {len(jobs)} fits are in {store} already", file=sys.stderr)
    for count, row in enumerate(keeping(_made(todo, processes), store), 1):
        rows[job_of(row)] = row
        print(f"{count} of {len(todo)}: {_line(row)}", file=sys.stderr, flush=True)
    return [rows[job] for job in jobs]


def _made(jobs: list[Job], processes: int) -> Iterator[Row]:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for the processes that begin now
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(done, job) for job in jobs]):
            yield future.result()


def _line(row: Row) -> str:
    found = "exact" if row.get("exact") else "structure" if row.get("structure") else row["note"] or "-"
    return (
        f"{row['tool']} {row['formula']}, noise {row['noise']:g}, {row['redundant']} redundant: "
        f"{found}, {row['wall']:.1f} s"
    )


def arguments(given: Iterable[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS), metavar="TOOL")
    parser.add_argument("--formulas", default="all", help="how many, or parts of names or families: a,b,c")
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.001, 0.01])
    parser.add_argument("--redundant", nargs="+", type=int, default=[5, 0, 20])
    parser.add_argument("--crossed", action="store_true", help="every noise with every number of columns")
    parser.add_argument("--seconds", type=float, default=30.0, help="that a fit may take")
    parser.add_argument("--seeds", type=int, default=1, help="tables of every formula and condition")
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with one thread")
    parser.add_argument("--list", default="", metavar="FILE.py", help="another list of formulas")
    parser.add_argument("--store", default="fit-store.jsonl", metavar="FILE", help="where fits are kept")
    parser.add_argument("--json", metavar="FILE", help="write all figures; - is standard output")
    asked = parser.parse_args(None if given is None else list(given))
    if needed := missing(asked.tools):
        parser.error(f"run `pip install {' '.join(needed)}`, or leave these tools out with --tools")
    return asked


def main() -> None:
    """Fit, and print the tables."""
    asked = arguments()
    rows = run(planned(asked), Path(asked.store), asked.jobs)
    result = {"command": " ".join(sys.argv), "summary": summary(rows), "rows": rows}
    if asked.json == "-":
        print(json.dumps(result))
        return
    show(rows)
    if asked.json:
        Path(asked.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
