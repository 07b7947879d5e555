"""How long all reduced protocols on pictures of digits take together.

    python benchmarks/digits_budget.py [--json FILE] [--steps 20]

Every case that an entry of the ledger trains at the quick scale is counted once, however many entries share
it. Of each kind of run a few steps and one evaluation are timed, in one thread and by the time of the
processor; the best of several rounds counts, so that other work on the machine matters less. The rest is
arithmetic.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from nalm.engine.batch import Batch, Settings
from nalm.experiment.run import Case
from nalm.models.one import OneModel
from nalm.papers.entries import ENTRIES
from nalm.papers.scale import make_scale
from nalm.tasks.digits._base import DigitTask
from nalm.trained import RunGroup

CORES, ROUNDS = 2, 5


def reduced_cases() -> dict[Case, int]:
    """The cases on digits of all entries at the quick scale, with their largest numbers of seeds."""
    found: dict[Case, int] = defaultdict(int)
    scale = make_scale("quick")
    for entry in ENTRIES.values():
        for experiment in entry.experiments(scale):
            for case in experiment.cases:
                if isinstance(case.task, DigitTask):
                    found[case] = max(found[case], experiment.seeds)
    return dict(found)


def kinds(cases: dict[Case, int]) -> Iterator[tuple[str, list[Case]]]:
    """Cases by task and operation, which cost about the same."""
    by_name: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_name[f"{case.task.name} {case.task.op}"].append(case)
    yield from sorted(by_name.items())


def seconds_of(case: Case, steps: int) -> tuple[float, float]:
    """Processor seconds of a step and of an evaluation."""
    network = case.build()
    models = OneModel(network, torch.float32, torch.device("cpu"))
    settings = Settings(10 * steps, 10 * steps, torch.float32, torch.device("cpu"), False)
    batch = Batch(models, RunGroup(network, [case.task], [case.recipe], [0]), settings)
    batch.errors()  # once before: memory, and how convolutions are computed
    training = min(_seconds(lambda: batch.advance(0, steps)) for _ in range(ROUNDS))
    return training / steps, min(_seconds(batch.errors) for _ in range(2))


def _seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def minutes_of(case: Case, steps: int) -> float:
    """Minutes of one core for a run."""
    a_step, an_evaluation = seconds_of(case, steps)
    iterations = case.recipe.iterations
    evaluations = 1 + -(-iterations // case.task.log_interval)
    return (iterations * a_step + evaluations * an_evaluation) / 60


def main() -> None:
    """Time one case of each kind, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    cases = reduced_cases()
    rows: list[dict[str, Any]] = []
    for name, of_kind in kinds(cases):
        each = minutes_of(of_kind[-1], given.steps)
        runs = sum(cases[case] for case in of_kind)
        rows.append({"runs of": name, "runs": runs, "minutes each": each, "minutes": runs * each})
        print(f"{name:24} {runs:3} runs of {each:5.2f} minutes: {runs * each:6.1f}", file=sys.stderr)
    hours = sum(row["minutes"] for row in rows) / 60 / CORES
    print(f"{hours:.2f} hours on {CORES} cores", file=sys.stderr)
    if given.json:
        text = json.dumps({"rows": rows, "cores": CORES, "hours": hours}, indent=1) + "\n"
        sys.stdout.write(text) if given.json == "-" else Path(given.json).write_text(text)


if __name__ == "__main__":
    main()
