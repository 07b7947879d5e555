"""How fast the engine trains: the same work three ways in one run.

1. The usual way: one seed a process, eager PyTorch, the textbook loop without logging.
2. Batched eager: the engine's own step for all runs at once, not compiled.
3. The engine: compiled.

All three keep both cores busy: two processes at a time. Every figure is microseconds of one core per run and
step (the time of the slower process over its own runs and steps), the best of several rounds. `ratio` is
usual / engine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nalm.engine.batch import Batch, Settings
from nalm.models import ModelSpec
from nalm.models.many import Models
from nalm.tasks import ArithmeticDataset, SingleModule, Task
from nalm.training.trainers import train_runs

Forward = Callable[[Tensor], Tensor]
Penalty = Callable[[], Tensor] | None
Clamp = Callable[[], Any] | None

PROCESSES = 2
ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """What is trained."""

    unit: str
    inputs: int
    runs: int
    steps: int

    @property
    def spec(self) -> ModelSpec:
        """The model."""
        return ModelSpec.parse(self.unit)

    @property
    def op(self) -> str:
        """The operation that is learnt: the first that the last unit can express."""
        return self.spec.units[-1].ops[0]

    def task(self) -> Task:
        """The task."""
        if len(self.spec.units) > 1:
            return ArithmeticDataset(self.op, inputs=self.inputs)
        return SingleModule(self.op, inputs=self.inputs)

    def model(self) -> nn.Module:
        """A fresh model."""
        return self.spec.build(self.inputs, 1)


CASES = (
    Case("nmu", 2, 2048, 1000),
    Case("nau", 2, 2048, 1000),
    Case("nalu", 2, 2048, 1000),
    Case("realnpu", 2, 2048, 1000),
    Case("nmu", 10, 512, 1000),
    Case("nau+nmu", 100, 64, 2000),
)
GROWTH = (25, 100, 225, 1000, 2500, 5000, 10_000)


# -- 1. the usual way: what anyone would write with bare PyTorch ---------------------------------


def _textbook_nau() -> tuple[list[Tensor], Forward, Penalty, Clamp]:
    w = torch.empty(1, 2).uniform_(-0.5, 0.5).requires_grad_()
    return (
        [w],
        lambda x: F.linear(x, w),
        lambda: torch.min(w.abs(), (1 - w.abs()).abs()).mean(),
        lambda: w.clamp_(-1, 1),
    )


def _textbook_nmu(inputs: int) -> tuple[list[Tensor], Forward, Penalty, Clamp]:
    w = torch.empty(1, inputs).uniform_(0.25, 0.75).requires_grad_()
    return (
        [w],
        lambda x: (w * x[:, None] + 1 - w).prod(-1),
        lambda: torch.min(w.abs(), (1 - w).abs()).mean(),
        lambda: w.clamp_(0, 1),
    )


def _textbook_nalu() -> tuple[list[Tensor], Forward, Penalty, Clamp]:
    w_hat, m_hat, g = (torch.empty(1, 2).uniform_(-1, 1).requires_grad_() for _ in range(3))

    def forward(x: Tensor) -> Tensor:
        w = torch.tanh(w_hat) * torch.sigmoid(m_hat)
        gate = torch.sigmoid(F.linear(x, g))
        return gate * F.linear(x, w) + (1 - gate) * torch.exp(F.linear(torch.log(x.abs() + 1e-7), w))

    return [w_hat, m_hat, g], forward, None, None


def _textbook_real_npu() -> tuple[list[Tensor], Forward, Penalty, Clamp]:
    w = torch.empty(1, 2).uniform_(-1.4, 1.4).requires_grad_()
    g = torch.full((2,), 0.5, requires_grad=True)

    def forward(x: Tensor) -> Tensor:
        gate = g.clamp(0, 1)
        r = gate * (x.abs() + 1.19e-7) + (1 - gate)
        k = torch.where(x < 0, torch.pi, 0.0) * gate
        return torch.exp(F.linear(torch.log(r), w)) * torch.cos(F.linear(k, w))

    return [w, g], forward, lambda: 1e-7 * (w.abs().sum() + g.abs().sum()), None


def _textbook_stack(inputs: int) -> tuple[list[Tensor], Forward, Penalty, Clamp]:
    a = torch.empty(2, inputs).uniform_(-0.24, 0.24).requires_grad_()
    (m,), multiply, penalty, clamp = _textbook_nmu(2)

    def both() -> None:
        a.clamp_(-1, 1)
        clamp()

    return (
        [a, m],
        lambda x: multiply(F.linear(x, a)),
        lambda: torch.min(a.abs(), (1 - a.abs()).abs()).mean() + penalty(),
        both,
    )


def _textbook(case: Case) -> tuple[list[Tensor], Forward, Penalty, Clamp]:
    if case.unit == "nmu":
        return _textbook_nmu(case.inputs)
    if case.unit == "nau+nmu":
        return _textbook_stack(case.inputs)
    return {"nau": _textbook_nau, "nalu": _textbook_nalu, "realnpu": _textbook_real_npu}[case.unit]()


def usual(case: Case, steps: int = 2000) -> float:
    """Microseconds per step of the textbook loop for one seed."""
    torch.manual_seed(0)
    parameters, forward, penalty, clamp = _textbook(case)
    rate = case.spec.make_recipe(case.op, case.inputs).optimiser.learning_rate
    optimiser = torch.optim.Adam(parameters, lr=rate)
    target = _target(case)

    def loop(count: int) -> None:
        for _ in range(count):
            x = torch.empty(128, case.inputs).uniform_(1.0, 2.0)
            loss = F.mse_loss(forward(x), target(x))
            if penalty is not None:
                loss = loss + penalty()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if clamp is not None:
                with torch.no_grad():
                    clamp()

    loop(200)
    return _best(lambda: loop(steps)) / steps * 1e6


def _target(case: Case) -> Forward:
    task = case.task()
    if isinstance(task, ArithmeticDataset):
        first, second = torch.as_tensor(task.subsets(0), dtype=torch.float32)
        return lambda x: ((x @ first) * (x @ second))[:, None]
    operation = {"add": torch.add, "mul": torch.mul}[case.op]
    return lambda x: operation(x[:, :1], x[:, 1:2])


# -- 2. and 3. the engine's step, eager and compiled ---------------------------------------------


def batched(case: Case) -> float:
    """Microseconds per run and step of the engine's step, eagerly."""
    share = case.runs // PROCESSES
    return _step_seconds(case, share, max(5, case.steps // 50), compiled=False) / share * 1e6


def engine(case: Case) -> float:
    """Microseconds per run and step of the engine's step, compiled."""
    share = case.runs // PROCESSES
    return _step_seconds(case, share, case.steps, compiled=True) / share * 1e6


def _step_seconds(case: Case, runs: int, steps: int, compiled: bool) -> float:
    """Seconds per step of all runs side by side."""
    task, recipe = case.task(), case.spec.make_recipe(case.op, case.inputs)
    device, dtype = torch.device("cpu"), torch.float32
    settings = Settings(iterations=steps, log_interval=steps, dtype=dtype, device=device, compiled=compiled)
    models = Models(case.model(), dtype, device)
    batch = Batch(models, [task] * runs, [recipe] * runs, list(range(runs)), settings, None)
    batch.advance(0, 5)
    return _best(lambda: batch.advance(0, steps)) / steps


def growth(runs: int) -> dict[str, Any]:
    """Time and peak memory of a whole training of so many runs, evaluations included, in a fresh process."""
    case = Case("nmu", 2, runs, 1000)
    recipe = case.spec.make_recipe(case.op, 2)
    task = case.task()

    def run(steps: int) -> float:
        began = time.perf_counter()
        train_runs(
            case.model(), [task] * runs, [recipe] * runs, list(range(runs)),
            iterations=steps, log_interval=steps,
        )  # fmt: skip
        return time.perf_counter() - began

    run(1)
    seconds = min(run(case.steps) for _ in range(ROUNDS))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"runs": runs, "engine_us": seconds / (runs * case.steps) * 1e6, "peak_mib": peak}


def _best(work: Callable[[], None]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def _one_thread() -> None:
    torch.set_num_threads(1)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure(cases: tuple[Case, ...], sizes: tuple[int, ...]) -> dict[str, Any]:
    """All figures."""
    _one_thread()
    context = multiprocessing.get_context("spawn")
    rows = []
    with context.Pool(PROCESSES, initializer=_one_thread) as pool:
        for case in cases:
            row: dict[str, Any] = {"unit": case.unit, "inputs": case.inputs, "runs": case.runs}
            for way in (usual, batched, engine):
                row[f"{way.__name__}_us"] = max(pool.map(way, [case] * PROCESSES, chunksize=1))
            row["ratio"] = row["usual_us"] / row["engine_us"]
            rows.append(row)
            _say(
                f"{case.unit:8} {case.inputs:4} inputs: usual {row['usual_us']:7.1f} us, batched "
                f"{row['batched_us']:7.2f} us, engine {row['engine_us']:7.3f} us, ratio {row['ratio']:6.0f}"
            )
    grown = []
    for size in sizes:
        with context.Pool(1, initializer=_one_thread) as pool:
            grown.append(pool.apply(growth, (size,)))
        _say(f"{size:6} runs: {grown[-1]['engine_us']:6.3f} us, peak {grown[-1]['peak_mib']:6.0f} MiB")
    return {"cases": rows, "growth": grown}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE; - is standard output")
    parser.add_argument("--only", metavar="UNIT", help="measure the cases of this unit only, without growth")
    arguments = parser.parse_args()
    chosen = tuple(case for case in CASES if arguments.only in (None, case.unit))
    if not chosen:
        parser.error(
            f"--only must be one of {', '.join({c.unit for c in CASES})}, but got {arguments.only!r}"
        )
    figures = measure(chosen, GROWTH if arguments.only is None else ())
    text = json.dumps(figures, indent=2)
    if arguments.json == "-":
        print(text)
    elif arguments.json:
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
