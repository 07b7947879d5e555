"""A task on ranges: a sum or a difference, of which the second term counts twice."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from nalm.tasks import RangeTask


@dataclass(frozen=True)
class Twice(RangeTask):
    """y = x1 op 2 x2 with `inputs` inputs."""

    op: str
    range: str = "1:2"
    inputs: int = 3

    name = "twice"
    ops = ("add", "sub")
    ranges = ("1:2",)

    def numbers(self, seed: int, split: str) -> dict[str, Any]:
        return {"sign": 1.0 if self.op == "add" else -1.0, **super().numbers(seed, split)}

    def batch(self, u: Tensor, numbers: Any) -> tuple[Tensor, Tensor]:
        x = self.draw(u, numbers)
        y = x[:, 0] + 2 * numbers["sign"].to(u.dtype)[:, None] * x[:, 1]
        return x.mT, y[..., None]

    def samples(self, split: str) -> int:
        return 800

    def threshold(self, split: str = "test", epsilon: float = 1e-5) -> float:
        return epsilon
