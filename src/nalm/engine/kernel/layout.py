"""How a program is laid out on a processor: vectors, tiles of samples, blocks of models, memory."""

from __future__ import annotations

from dataclasses import dataclass

from nalm.engine.kernel.schedule import Schedule
from nalm.engine.kernel.unsupported import Unsupported

_STACKED_FEATURES, _STACKED_SAMPLES = 256, 1024
"""Up to these sizes arrays are on the stack, which is faster; larger ones might not fit there."""


@dataclass(frozen=True)
class Layout:
    """Sizes that the C++ is written for.

    Attributes:
        lanes: the numbers in a vector.
        together: how many vectors of samples are computed side by side.
        block: how many models take their steps side by side.
        samples: the samples of a step.
        features: the length of the long axis of features; 1 without one.
    """

    lanes: int
    together: int
    block: int
    samples: int
    features: int

    @classmethod
    def of(cls, schedule: Schedule, samples: int, features: int | None, register: int) -> Layout:
        """The layout for a processor whose registers hold this many single-precision numbers."""
        lanes = register
        while samples % lanes:
            lanes //= 2
        if lanes < 4:
            raise Unsupported(f"{samples} samples, which fill no vectors")
        featured = any(level.featured.expressions for stage in schedule.samples for level in stage.levels)
        return cls(lanes, _together(samples // lanes, featured), register, samples, features or 1)

    @property
    def copies(self) -> range:
        """The vectors that are computed side by side."""
        return range(self.together)

    @property
    def tile(self) -> int:
        """The samples that are computed side by side."""
        return self.lanes * self.together

    @property
    def memory(self) -> str:
        """How arrays are declared."""
        large = self.features > _STACKED_FEATURES or self.samples > _STACKED_SAMPLES
        return "ALIGNED static thread_local" if large else "ALIGNED"


def _together(vectors: int, featured: bool) -> int:
    """How many vectors of samples are computed side by side, so that one does not wait for the other.

    In a loop over features, four share each weight that is read. Without one, two are as fast as four.
    """
    return next(count for count in ((4, 2, 1) if featured else (2, 1)) if vectors % count == 0)
