"""Quotients of digits: whole weights found by trying, then a reader.

    python benchmarks/digits_quotients.py [--json FILE] [--seeds 0 1 2] [--steps 5000] [--loss squared]

A quotient says nothing of powers: readings raised to a power and weights divided by it give the same results.
A unit whose weights are learnt beside the reader stays somewhere in that valley. A unit with two inputs has
few pairs of whole weights, though. A reader is trained behind an NRU with each of them for a short while.
Then its readings are rounded to whole digits, and the pair is kept whose quotients of these are right most
often on validation images: a reading that falls where digits rise has a small error, but its whole digits
give wrong quotients. The reader of that pair is trained on to the end of the reduced protocol. Only
quotients are looked at, and neither images nor pairs of the test before the end.

Readers are trained on the logarithm of the quotient: the squared error of the quotient itself is that of the
few pairs with a large one, and digits that are seldom divided by one are learnt last, or as another digit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.digit_networks import DigitPair
from nalm.tasks import MnistIsolated, Split
from nalm.tasks.sampling import sample

Loss = Callable[[Tensor, Tensor], Tensor]
WHOLE = tuple(itertools.product((1.0, -1.0), repeat=2))
BATCH = MnistIsolated.quick_batch_size
_LEAST = 1e-3
"""Below every quotient of digits, the least of which is 1/9; results below zero have no logarithm."""
LOSSES: dict[str, Loss] = {
    "logarithm": lambda said, true: (said.clamp_min(_LEAST).log() - true.log()).square().mean(),
    "squared": lambda said, true: (said - true).square().mean(),
}


class Behind:
    """A reader that is trained behind an NRU whose weights do not change.

    Args:
        task: quotients of digits.
        seed: of its first weights and its batches; it chooses the fold.
        weights: of the unit.
        steps: of training in all: the rate falls to zero in the second half of them.
        loss: of what the network says and the target.
    """

    def __init__(
        self, task: MnistIsolated, seed: int, weights: tuple[float, ...], steps: int, loss: Loss
    ) -> None:
        torch.manual_seed(seed)
        self.task, self.seed, self.steps, self.loss, self.done = task, seed, steps, loss, 0
        network = Case(ModelSpec.parse("nru"), task).build()
        assert isinstance(network, DigitPair)
        self.network, self.weights = network, weights
        with torch.no_grad():
            network.unit.weight.copy_(torch.tensor([weights]))
        self.optimiser = torch.optim.Adam(network.reader.parameters(), lr=task.quick_learning_rate)

    def train(self, until: int) -> None:
        """Train up to a step."""
        self.network.train()
        for step in range(self.done, until):
            rate = self.task.quick_learning_rate * min(1.0, 2 * (1 - step / self.steps))
            self.optimiser.param_groups[0]["lr"] = rate
            x, y = sample(self.task, self.seed, Split.TRAIN, BATCH, step, torch.float32)
            loss = self.loss(self.network(*x)[:, 0], y[:, 0])
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        self.done = until

    @torch.no_grad()
    def outputs(self, split: str) -> tuple[Tensor, Tensor]:
        """What the network says, and the targets."""
        rows = self.task.samples(split)
        x, y = sample(self.task, self.seed, split, rows, dtype=torch.float32)
        return self.network.eval()(*x), y

    def validation(self) -> dict[str, float]:
        """On training pairs shown by held-out images: the error, and the share right with whole digits."""
        outputs, y = self.outputs(Split.VALIDATION)
        error = float((outputs[:, 0] - y[:, 0]).square().mean())
        return {"error": error, "whole digits": _share_equal(outputs[:, 3], y[:, 3], 5)}

    def accuracies(self) -> dict[str, float]:
        """Shares of what is right on unseen pairs: digits, and results with whole digits and rounded."""
        outputs, y = self.outputs(Split.TEST)
        same_digit = outputs[:, 1:3].round().clamp(0, 9) == y[:, 1:3]
        return {
            "digits": float(same_digit.double().mean()),
            "whole digits": _share_equal(outputs[:, 3], y[:, 3], 5),
            "5 decimals": _share_equal(outputs[:, 0], y[:, 0], 5),
            "rounded": _share_equal(outputs[:, 0], y[:, 0], 0),
        }


def _share_equal(ours: Tensor, theirs: Tensor, decimals: int) -> float:
    a, b = (each.double().round(decimals=decimals) for each in (ours, theirs))
    return float((a == b).double().mean())


def run(seed: int, steps: int, trial: int, loss: str) -> dict[str, Any]:
    """Try every pair of whole weights, train on with the best, and measure."""
    task = MnistIsolated("div").reduced()
    tried = [Behind(task, seed, weights, steps, LOSSES[loss]) for weights in WHOLE]
    for each in tried:
        each.train(trial)
    after = [each.validation() for each in tried]
    best = max(zip(tried, after), key=lambda pair: pair[1]["whole digits"])[0]
    best.train(steps)
    return {
        "seed": seed,
        "loss": loss,
        "validation after trial": {str(each.weights): told for each, told in zip(tried, after)},
        "weights": best.weights,
        "steps": steps + (len(tried) - 1) * trial,
        "validation": best.validation(),
        **best.accuracies(),
    }


def main() -> None:
    """Run all seeds, and print a line for each, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=MnistIsolated("div").reduced().steps)
    parser.add_argument("--trial", type=int, default=600)
    parser.add_argument("--loss", choices=LOSSES, default="logarithm")
    given = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    for seed in given.seeds:
        found.append(run(seed, given.steps, given.trial, given.loss))
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    if given.json:
        text = json.dumps(found, indent=1) + "\n"
        sys.stdout.write(text) if given.json == "-" else Path(given.json).write_text(text)


if __name__ == "__main__":
    main()
