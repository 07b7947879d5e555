"""Images per second while training on digits: the loop with checkpoints against a bare PyTorch loop.

    python benchmarks/digits_speed.py [--json FILE] [--steps 30] [--rounds 5] [--digits mnist|drawn]

Both sides train the same network with Adam, on batches of the same size from the same images, in one thread;
the bare loop does nothing else. Sides take turns, and the best round of each counts. Then the same run is
trained alone, and twice at once in two processes: how much more do two cores get done than one?
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

import torch

from nalm.engine.batch import Batch, Settings
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.one import OneModel
from nalm.tasks import MnistIsolated, MnistSequential, MnistSeries, Split
from nalm.tasks.digits._base import DigitTask
from nalm.tasks.sampling import sample
from nalm.trained import RunGroup

CASES = {
    "sequential product, NMU": (MnistSequential, "mul", "nmu"),
    "counting, NAC": (MnistSeries, "count", "nac"),
    "isolated product, sNMU": (MnistIsolated, "mul", "snmu"),
}


def make(kind: type[DigitTask], op: str, model: str, digits: str) -> tuple[DigitTask, Case]:
    """The paper's protocol of a task, with a model."""
    task = kind(op, digits=digits)
    return task, Case(ModelSpec.parse(model), task)


def ours(task: DigitTask, case: Case, steps: int) -> Any:
    """A function that takes this many steps of the loop."""
    network = case.build()
    models = OneModel(network, torch.float32, torch.device("cpu"))
    settings = Settings(10_000, 10_000, torch.float32, torch.device("cpu"), False)
    batch = Batch(models, RunGroup(network, [task], [case.recipe], [0]), settings)
    return lambda: batch.advance(0, steps)


def bare(task: DigitTask, case: Case, steps: int) -> Any:
    """A function that takes this many steps of a bare loop on one batch."""
    network = case.build().train()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    x, y = sample(task, 0, Split.TRAIN, case.recipe.batch_size, dtype=torch.float32)
    target = task.trained_part(y[None])

    def run() -> None:
        for _ in range(steps):
            loss = (task.trained_part(network(x)[None]) - target).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    return run


def best_seconds(run: Any, rounds: int) -> float:
    """The shortest time of several rounds."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def compare(name: str, steps: int, rounds: int, digits: str) -> dict[str, Any]:
    """Images per second of both sides, in turns."""
    task, case = make(*CASES[name], digits)
    sides = {"ours": ours(task, case, steps), "bare": bare(task, case, steps)}
    for run in sides.values():
        run()
    found = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for side, run in sides.items():
            found[side] = min(found[side], best_seconds(run, 1))
    images = steps * task.images_per_step
    rates = {side: images / seconds for side, seconds in found.items()}
    return {"case": name, **rates, "ratio": rates["ours"] / rates["bare"]}


def work(steps: int, digits: str, ready: Any, start: Any, out: Any) -> None:
    """In a process of its own: train when told to, and say how long it took."""
    torch.set_num_threads(1)
    task, case = make(*CASES["sequential product, NMU"], digits)
    run = ours(task, case, steps)
    run()
    ready.release()
    start.wait()
    began = time.perf_counter()
    run()
    out.put(time.perf_counter() - began)


def together(processes: int, steps: int, digits: str) -> float:
    """Run-steps per second of so many runs at once, each in a process."""
    context = multiprocessing.get_context("spawn")
    ready, start, out = context.Semaphore(0), context.Event(), context.Queue()
    started = [
        context.Process(target=work, args=(steps, digits, ready, start, out)) for _ in range(processes)
    ]
    for process in started:
        process.start()
    for _ in started:
        ready.acquire()
    start.set()
    slowest = max(out.get() for _ in started)
    for process in started:
        process.join()
    return processes * steps / slowest


def main() -> None:
    """Compare, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--digits", default="mnist")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = [compare(name, given.steps, given.rounds, given.digits) for name in CASES]
    one = max(together(1, 3 * given.steps, given.digits) for _ in range(3))
    two = max(together(2, 3 * given.steps, given.digits) for _ in range(3))
    found = {"rows": rows, "steps_per_second": {"one": one, "two": two, "ratio": two / one}}
    if given.json == "-":
        json.dump(found, sys.stdout, indent=1)
        return
    if given.json:
        Path(given.json).write_text(json.dumps(found, indent=1) + "\n")
    for row in rows:
        print(f"{row['case']:26} {row['ours']:8,.0f} images/s, bare {row['bare']:8,.0f}: {row['ratio']:.2f}")
    print(f"one run {one:.1f} steps/s, two at once {two:.1f}: {two / one:.2f}")


if __name__ == "__main__":
    main()
