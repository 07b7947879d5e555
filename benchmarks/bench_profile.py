"""Where the time of `make bench` goes, per unit: tracing, compiling, training, evaluating, storing.

    python benchmarks/bench_profile.py             # 5 seeds of every unit, with an empty compile cache
    python benchmarks/bench_profile.py --seeds 25  # the whole of it, on one core

One process computes the chunks of each unit one after the other. Seconds of one core.
"""

from __future__ import annotations

import argparse
import functools
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import FULL

PARTS = ("trace", "compile", "compare", "train", "evaluate", "store")


class Clock:
    """Seconds spent inside functions, by the name of a part; time inside an inner part counts there only."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inside: list[str] = []
        self._since = 0.0

    def _switch(self) -> None:
        now = time.perf_counter()
        if self._inside:
            self.seconds[self._inside[-1]] += now - self._since
        self._since = now

    def timed(self, owner: Any, name: str, part: str) -> None:
        """Count the time inside a function of a module or class as this part."""
        function: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            self._switch()
            self._inside.append(part)
            try:
                return function(*args, **kwargs)
            finally:
                self._switch()
                self._inside.pop()

        setattr(owner, name, counted)


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--units", default=FULL)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        rows = {unit: profile(unit, given.seeds, Path(folder)) for unit in given.units.split(",")}
    rows["all"] = {key: sum(row[key] for row in rows.values()) for key in (*PARTS, "runs")}
    print(f"{'unit':18}{'runs':>6}" + "".join(f"{part:>10}" for part in PARTS) + "     us per run and step")
    for unit, row in rows.items():
        share = row["train"] / (row["runs"] * 50_000) * 1e6
        print(
            f"{unit:18}{row['runs']:6.0f}"
            + "".join(f"{row[part]:10.2f}" for part in PARTS)
            + f"{share:14.2f}"
        )


def profile(unit: str, seeds: int, folder: Path) -> dict[str, float]:
    """Seconds of each part, and the number of runs."""
    from nalm.experiment.bench import make_experiment
    from nalm.experiment.compute import compute
    from nalm.experiment.plan import make_plan
    from nalm.experiment.store import Store

    clock = _clock()
    clock.seconds.clear()
    chunks = make_plan(make_experiment("single-module", [unit], seeds=seeds).runs(), 1)
    with Store(folder / f"{unit}.sqlite") as store:
        for chunk in chunks:
            store.add(compute(chunk))
    return {**{part: clock.seconds[part] for part in PARTS}, "runs": sum(len(c.runs) for c in chunks)}


@functools.cache
def _clock() -> Clock:
    """The clock, with all parts timed."""
    from nalm.engine.batch import Batch
    from nalm.engine.kernel import kernel
    from nalm.engine.program import Program
    from nalm.experiment.store import Store

    clock = Clock()
    clock.timed(kernel.Kernel, "__init__", "trace")
    clock.timed(kernel, "build", "compile")
    clock.timed(Program, "_compile_by_torch", "compile")
    clock.timed(Program, "_compare", "compare")
    clock.timed(Batch, "advance", "train")
    clock.timed(Batch, "_evaluate", "evaluate")
    clock.timed(Store, "add", "store")
    return clock


if __name__ == "__main__":
    main()
