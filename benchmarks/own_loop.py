"""How often a stack learns (a + b) / c in a user's own loop, with the recipes that `nalm.attach` applies.

    python benchmarks/own_loop.py [--json FILE] [--stacks nau+nru,…] [--seeds 10] [--starts 64] [--steps 2000]

Each seed is one run of the loop of docs/own-loop.md: so many starts side by side, of which the best by its
loss in training is judged. Seeds are computed side by side too, which changes nothing but the time.
A seed is solved if the formula is (a + b)/c and the unsnapped model is off by less than 1 % on inputs ten
times as large as those it was trained on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import sympy
import torch
from torch import Tensor, nn

import nalm
from nalm.training.attach import one_of

STACKS = {"nau+nru": nalm.NRU, "nau+nmru": nalm.NMRU, "nau+realnpu": nalm.RealNPU}
RECIPES = {"nau+realnpu": "modified-zero"}
NAMES = ["a", "b", "c"]


def target(x: Tensor) -> Tensor:
    """(a + b) / c of the last dimension."""
    return (x[..., :1] + x[..., 1:2]) / x[..., 2:]


def train(stack: str, shape: tuple[int, int], steps: int, low: float, high: float) -> Any:
    """Train seeds x starts models; gives model and attachment."""
    torch.manual_seed(0)
    model = nn.Sequential(nalm.NAU(3, 2, batch_shape=shape), STACKS[stack](2, 1, batch_shape=shape))
    optimizer = torch.optim.Adam(model.parameters())
    schedule = nalm.attach(
        model, optimizer, iterations=steps, op="div", recipe=RECIPES.get(stack), strength=0.1
    )
    for _ in range(steps):
        x = torch.empty(shape[0], 1, 32, 3).uniform_(low, high)
        losses = (model(x.expand(*shape, -1, -1)) - target(x)).square().mean((-2, -1))
        optimizer.zero_grad()
        (losses + schedule.penalty(losses)).sum().backward()
        optimizer.step()
    return model.eval(), schedule


def judge(model: nn.Module, low: float, high: float) -> bool:
    """Whether a single model has learnt the formula."""
    far = torch.empty(1000, 3).uniform_(10 * low, 10 * high)
    off = float(((model(far) - target(far)) / target(far)).abs().max().detach())
    a, b, c = (sympy.Symbol(name, real=True) for name in NAMES)
    nalm.snap_(model)
    found = model[1].expression(model[0].expression(NAMES), idealised=True)[0]
    return off < 0.01 and sympy.simplify(found - (a + b) / c) == 0


def measure(stack: str, seeds: int, starts: int, steps: int, low: float, high: float) -> dict[str, Any]:
    """How many seeds are solved."""
    began = time.perf_counter()
    model, schedule = train(stack, (seeds, starts), steps, low, high)
    best = schedule.losses().argmin(-1)
    solved = [judge(one_of(model, (seed, int(start))), low, high) for seed, start in enumerate(best)]
    return {
        "stack": stack,
        "range": [low, high],
        "starts": starts,
        "steps": steps,
        "seeds": seeds,
        "solved": sum(solved),
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    """Measure all stacks and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--json", metavar="FILE", help="write JSON to FILE; - is standard output, JSON only")
    parser.add_argument("--stacks", default=",".join(STACKS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--starts", type=int, default=64)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--range", default="1:2", help="of the inputs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    low, high = map(float, options.range.split(":"))
    rows = []
    for stack in options.stacks.split(","):
        row = measure(stack, options.seeds, options.starts, options.steps, low, high)
        rows.append(row)
        talk = sys.stderr if options.json == "-" else sys.stdout
        print(f"{stack}: {row['solved']} of {row['seeds']} seeds solved, {row['seconds']} s", file=talk)
    text = json.dumps({"rows": rows}, indent=2)
    if options.json == "-":
        print(text)
    elif options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
