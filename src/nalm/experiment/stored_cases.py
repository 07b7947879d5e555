"""Everything in a store, case by case: runs that differ only in their seed are judged together.

A store may hold millions of runs: each curve is judged as it is read and then dropped, and only the run's
name, seed and assessment are kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from nalm.errors import NalmError
from nalm.evaluate.judged import assess
from nalm.evaluate.outcome import limits
from nalm.evaluate.summary import Assessment
from nalm.experiment.other_cases import OtherCases
from nalm.experiment.rebuild import is_given, spec_of, task_of
from nalm.experiment.rows import summary_row
from nalm.experiment.run import Case, make_identity
from nalm.experiment.store import Record
from nalm.recipes import LevenbergMarquardt, Recipe
from nalm.recipes.plain import Plain, in_words, leaves, with_defaults
from nalm.recipes.steps import STEP_NAMES
from nalm.tasks import RangeTask

WEIGHTS = ("chosen_parameters", "final_parameters", "history")
"""Columns that cases do not need: most of a store's size."""
NO_COST: dict[str, Any] = {}


class StoredRun(NamedTuple):
    """What is kept in memory of every run of a store.

    Attributes:
        id: its name in the store, which has the rest.
        seed: its seed.
        assessment: what became of it.
        threshold: the test error below which it is solved.
        cost: the cost of second-order training; empty for other runs.
    """

    id: str
    seed: int
    assessment: Assessment
    threshold: float
    cost: dict[str, Any]


Versions = tuple[tuple[str, Any], ...]
"""The versions that computed a run, as pairs of name and value."""


@dataclass(frozen=True)
class StoredCase:
    """The stored runs of a model on a task.

    Attributes:
        task: the task.
        model: the model as it was written on the command line.
        runs: the runs in the order of their seeds.
        variant: how the runs differ from what the model's text means today, such as `hidden=10`; empty for
            the model's own recipe and steps.
        identity: what, together with the seed, determines the numbers of a run.
        iterations: the number of steps.
        machines: the number of runs by the versions that computed them.
        times: when the first and the last of its runs were computed, in ISO 8601; empty if not recorded.
        untimed: the number of runs without a recorded time.
    """

    task: RangeTask
    model: str
    runs: tuple[StoredRun, ...]
    variant: tuple[str, ...]
    identity: dict[str, Any]
    iterations: int
    machines: Counter[Versions]
    times: tuple[str, ...]
    untimed: int

    @property
    def trainer(self) -> str:
        """The trainer of its runs."""
        recipe = self.identity["recipe"]
        second_order = recipe.get("optimiser", {}).get("kind") == LevenbergMarquardt.__name__
        return recipe.get("by") or ("second-order" if second_order else "engine")

    def row(self) -> dict[str, Any]:
        """The measures of the case, as in a benchmark's JSON."""
        return summary_row(
            self.task,
            self.iterations,
            [run.assessment for run in self.runs],
            [run.threshold for run in self.runs],
            [run.cost for run in self.runs],
        )


def stored_cases(records: Iterable[Record], others: OtherCases | None = None) -> list[StoredCase]:
    """The cases of synthetic tasks, in the order of their first runs.

    Records are dropped one by one, so that a store of any size can be read.

    Args:
        records: runs in any order; their `WEIGHTS` are not needed.
        others: collects the runs of all other tasks, and those without a threshold.
    """
    others = OtherCases() if others is None else others
    groups: dict[tuple[str, str], _Group | None] = {}
    texts = _Texts()
    for record in records:
        key = (record.model, texts.of(record.identity))
        if key not in groups:
            task = task_of(record)
            groups[key] = _Group(record, task) if isinstance(task, RangeTask) else None
        group = groups[key]
        if group is None or not group.add(record):
            others.add(record)
    return [group.case() for group in groups.values() if group is not None and group.runs]


class _Texts:
    """Identities as texts; an object that many runs share is serialised once."""

    MOST = 10_000

    def __init__(self) -> None:
        self._known: dict[int, tuple[dict[str, Any], str]] = {}

    def of(self, identity: dict[str, Any]) -> str:
        """The text of an identity; equal identities have equal texts."""
        held = self._known.get(id(identity))
        if held is None:
            if len(self._known) == self.MOST:
                self._known.clear()
            # The object is kept too: while it lives, no other object has its id.
            held = self._known[id(identity)] = identity, json.dumps(identity, sort_keys=True)
        return held[1]


class _Group:
    """Collects the runs of a case."""

    def __init__(self, first: Record, task: RangeTask) -> None:
        self.first = first
        self.task = task
        self.below = limits(self.task)
        self.runs: list[StoredRun] = []
        self.machine, self.of_machine = first.machine, 0
        self.machines: Counter[Versions] = Counter()
        self.times: tuple[str, ...] = ()
        self.untimed = 0

    def add(self, record: Record) -> bool:
        """Add a run and return True, if it can be judged."""
        below = self.below or limits(self.task, record.ideal_test, record.ideal_validation)
        if below is None:
            return False
        assessment = assess(record, below)
        self.runs.append(StoredRun(record.id, record.seed, assessment, below.test, record.cost or NO_COST))
        if record.machine is not self.machine:
            self._count_machine()
            self.machine = record.machine
        self.of_machine += 1
        time = record.computed_at
        if not time:
            self.untimed += 1
        elif not self.times or not self.times[0] <= time <= self.times[1]:
            both = (*self.times, time)
            self.times = (min(both), max(both))
        return True

    def _count_machine(self) -> None:
        """Count the latest runs of one machine at once: most runs of a store share one."""
        if self.of_machine:
            self.machines[_versions(self.machine, self.first.identity)] += self.of_machine
        self.of_machine = 0

    def case(self) -> StoredCase:
        """The case of all runs added."""
        self._count_machine()
        first = self.first
        return StoredCase(
            task=self.task,
            model=first.model,
            runs=tuple(sorted(self.runs, key=lambda run: run.seed)),
            variant=differences(first.identity, _usual(first)),
            identity=first.identity,
            iterations=first.iterations,
            machines=self.machines,
            times=self.times,
            untimed=self.untimed,
        )


def _versions(machine: dict[str, Any], identity: dict[str, Any]) -> Versions:
    about = {"nalm": "before 0.5", **machine, "numerics_version": identity["numerics_version"]}
    names = ("nalm", "numerics_version", "torch", "cpu_capability", "compiled")
    return tuple((name, about.get(name, "unknown")) for name in names)


def _usual(record: Record) -> dict[str, Any]:
    """The identity that the record's model and task have today.

    If it is not known, because the model's file is gone or it has no recipe for the operation, the default
    recipe without a source is taken: then everything special about the run is listed.
    """
    spec, task = spec_of(record.model), task_of(record)
    if is_given(record):
        return record.identity  # a paper's own network has a single set-up
    if spec is not None:
        with contextlib.suppress(NalmError):
            return Case(spec, task).identity
    layers = [{k: v for k, v in layer.items() if k != "source"} for layer in record.identity["layers"]]
    return make_identity(task, layers, Recipe())


def variant_of(record: Record) -> tuple[str, ...]:
    """How a run differs from what its model's text means today; empty for its own recipe and steps."""
    text = json.dumps(record.identity, sort_keys=True)
    if (record.model, text) not in _VARIANTS:
        _VARIANTS[record.model, text] = differences(record.identity, _usual(record))
    return _VARIANTS[record.model, text]


_VARIANTS: dict[tuple[str, str], tuple[str, ...]] = {}


def differences(identity: dict[str, Any], usual: dict[str, Any]) -> tuple[str, ...]:
    """Where an identity differs from the usual one, as short texts such as `optimiser.learning_rate=0.01`."""
    ours, theirs = _leaves(identity), _leaves(usual)
    texts: dict[str, str] = {}
    for path in [*ours, *(p for p in theirs if p not in ours)]:
        kind, text = ours.get(path, ("", ""))
        # The parts of something of another kind are already listed with it.
        if kind != theirs.get(path, ("",))[0] and not any(path.startswith(f"{above}.") for above in texts):
            texts[path] = f"{path}={text}" if path in ours else f"no {path}"
    if scaled := _scaled_steps(ours, theirs):
        told = tuple(text for path, text in texts.items() if path not in scaled)
        return (*told, "schedules scaled")
    return tuple(texts.values())


def _scaled_steps(ours: _Leaves, theirs: _Leaves) -> set[str]:
    """Paths of the recipe's steps, if fewer iterations shortened all of them in proportion; else empty."""
    steps = {path for path in ours if path in theirs and path.rpartition(".")[2] in STEP_NAMES}
    steps &= {path for path in steps if _is_number(ours[path][1]) and _is_number(theirs[path][1])}
    if not steps or "iterations" not in ours.keys() & theirs.keys():
        return set()
    part = float(ours["iterations"][1]) / float(theirs["iterations"][1])
    pairs = [(float(ours[path][1]), float(theirs[path][1])) for path in steps]
    return steps if part < 1 and all(math.isclose(a, b * part, rel_tol=1e-9) for a, b in pairs) else set()


def _is_number(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return math.isfinite(float(text))
    return False


_Leaves = dict[str, tuple[str, str]]
"""By path: the kind, which must be equal for parts to be compared, and the whole as text."""


def _leaves(identity: dict[str, Any]) -> _Leaves:
    found: _Leaves = {}
    for name, value in identity.items():
        if name == "recipe":
            found |= _recipe_leaves(json.dumps(value))
        elif name == "task":
            found |= {part: _as_text(held) for part, held in value.items() if part != "source"}
            if "source" in value:
                found["task.source"] = (_short_hash(value["source"]),) * 2
        elif name == "layers":
            for k, layer in enumerate(value):
                texts = {f"layer {k + 1}.{key}": _layer_text(key, part) for key, part in layer.items()}
                found |= {path: (text, text) for path, text in texts.items()}
        else:
            found[name] = _as_text(value)
    return found


def _as_text(value: Any) -> tuple[str, str]:
    text = json.dumps(value, sort_keys=True)
    return text, text


def _layer_text(key: str, part: Any) -> str:
    return _short_hash(part) if key == "source" else json.dumps(part, sort_keys=True)


def _short_hash(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:8]


@functools.lru_cache(maxsize=1024)
def _recipe_leaves(text: str) -> _Leaves:
    """The parts of a recipe, defaults included."""
    whole = with_defaults(json.loads(text))
    return {path: (_kind(part), in_words(part)) for path, part in leaves(whole) if not isinstance(part, list)}


def _kind(part: Plain) -> str:
    return str(part["kind"]) if isinstance(part, dict) else in_words(part)
