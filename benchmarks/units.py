"""Speed and memory of wide units, forward and backward, beside the obvious way, both in one run.

The obvious way is `torch.prod` of the whole block batch x out x in for products, and `nn.Linear` for the
NAU. `ms` is the best of several rounds, taken in turns. `extra_mib` is the peak of the process's memory
beyond inputs, outputs, parameters and their gradients, measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

import nalm

ROUNDS = 5
Forward = Callable[[Tensor], Tensor]


def nmu(unit: nn.Module) -> Forward:
    """The NMU by the whole block."""
    return lambda x: (unit.weight * x[:, None, :] + (1 - unit.weight)).prod(-1)


def snmu(unit: nn.Module) -> Forward:
    """The sNMU by two whole blocks."""

    def forward(x: Tensor) -> Tensor:
        noise, w = unit.draw_noise(x), unit.weight
        noisy = ((noise * x)[:, None, :] * w + (1 - w)).prod(-1)
        return noisy / (noise[:, None, :] * w + (1 - w)).prod(-1)

    return forward


def nru(unit: nn.Module) -> Forward:
    """The NRU by the whole block."""

    def forward(x: Tensor) -> Tensor:
        w, size = unit.weight, torch.tanh(1000 * unit.weight).square()
        return (x.sign()[:, None, :] * x.abs()[:, None, :] ** w * size + (1 - size)).prod(-1)

    return forward


def nmru(unit: nn.Module) -> Forward:
    """The NMRU by the whole block."""

    def forward(x: Tensor) -> Tensor:
        w, both = unit.weight, torch.cat([x, 1 / (x + unit.epsilon)], -1)
        size = (w * both.abs()[:, None, :] + (1 - w)).prod(-1)
        return size * torch.cos(nn.functional.linear((both < 0).to(x.dtype), torch.pi * w))

    return forward


def nau(unit: nn.Module) -> Forward:
    """The NAU as the linear layer that it is."""
    return lambda x: nn.functional.linear(x, unit.weight)


CASES = {
    "nau": (nalm.NAU, nau),
    "nmu": (nalm.NMU, nmu),
    "snmu": (nalm.SNMU, snmu),
    "nru": (nalm.NRU, nru),
    "nmru": (nalm.NMRU, nmru),
}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--units", default=",".join(CASES), help="comma list")
    parser.add_argument("--in", dest="inputs", type=int, default=512)
    parser.add_argument("--out", dest="outputs", type=int, default=512)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", help="file for the results; - for standard output")
    given = parser.parse_args()
    sizes = (given.inputs, given.outputs, given.batch)
    cases = []
    for name in given.units.split(","):
        cases.append(case(name, *sizes, given.rounds))
        print(line(cases[-1]), file=sys.stderr, flush=True)
    if given.json == "-":
        print(json.dumps({"cases": cases}))
    elif given.json:
        with open(given.json, "w") as file:
            json.dump({"cases": cases}, file, indent=1)


def case(name: str, inputs: int, outputs: int, batch: int, rounds: int) -> dict[str, Any]:
    """One unit beside its reference."""
    context = multiprocessing.get_context("spawn")

    def elsewhere(function: Callable[..., Any], *arguments: Any) -> Any:
        with context.Pool(1) as pool:
            return pool.apply(function, arguments)

    ms, reference_ms = elsewhere(times, name, inputs, outputs, batch, rounds)
    return {
        "unit": name,
        "in": inputs,
        "out": outputs,
        "batch": batch,
        "ms": ms,
        "reference_ms": reference_ms,
        "extra_mib": elsewhere(extra, name, False, inputs, outputs, batch),
        "reference_extra_mib": elsewhere(extra, name, True, inputs, outputs, batch),
    }


def make(name: str, inputs: int, outputs: int, batch: int) -> tuple[nn.Module, Forward, Tensor]:
    """The unit, its reference with the same parameters, and inputs that need a gradient."""
    torch.manual_seed(0)
    kind, reference = CASES[name]
    unit = kind(inputs, outputs)
    return unit, reference(unit), (torch.rand(batch, inputs) + 0.5).requires_grad_()


def step(forward: Forward, unit: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
    """Forward and backward: the output and all gradients."""
    y = forward(x)
    return (y.detach(), *torch.autograd.grad(y.sum(), [x, *unit.parameters()]))


def times(name: str, inputs: int, outputs: int, batch: int, rounds: int) -> tuple[float, float]:
    """Milliseconds of unit and reference, the best of rounds in turns."""
    unit, reference, x = make(name, inputs, outputs, batch)
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for which, forward in enumerate((unit, reference)):
            # A round of short steps would measure the machine's moods.
            repeats, began = 0, time.perf_counter()
            while repeats == 0 or time.perf_counter() - began < 0.05:
                step(forward, unit, x)
                repeats += 1
            best[which] = min(best[which], 1e3 * (time.perf_counter() - began) / repeats)
    return best[0], best[1]


def extra(name: str, reference: bool, inputs: int, outputs: int, batch: int) -> float:
    """MiB at the peak of one step, beyond what the result and the gradients need."""
    small = make(name, 32, 8, 8)
    step(small[1] if reference else small[0], small[0], small[2])  # loads what torch loads when first used
    unit, other, x = make(name, inputs, outputs, batch)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak counts from here
    before = _kib("VmRSS")
    results = step(other if reference else unit, unit, x)
    kept = sum(tensor.numel() * tensor.element_size() for tensor in results)
    return (_kib("VmHWM") - before) / 1024 - kept / 2**20


def _kib(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))


def line(case: dict[str, Any]) -> str:
    """A case for people."""
    return (
        f"{case['unit']:5} {case['ms']:8.2f} ms, reference {case['reference_ms']:8.2f} ms "
        f"({case['ms'] / case['reference_ms']:.2f}); extra {case['extra_mib']:6.1f} MiB, "
        f"reference {case['reference_extra_mib']:7.1f} MiB"
    )


if __name__ == "__main__":
    main()
