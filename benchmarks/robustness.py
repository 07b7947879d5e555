"""How robust training is: second-order and centred recipes on every range, the tables of docs/robustness.md.

Parts, each of which may be named to run it alone:

- arithmetic: (sum) op (sum) of 100 inputs, 20 seeds, second-order.
- hidden: the same for products with 10 hidden values.
- single-10, single-100: one unit with 10 and 100 inputs, all sets of ranges, 25 seeds, second-order;
  single-100-few: with 5 seeds.
- drawn: second-order steps from drawn starts alone, 10 inputs, without starts that are grown on the data.
- noise, noise-stack: targets disturbed by 1 %; solved means that the undisturbed targets outside the range
  are met.
- centred: the NAU with 10 inputs, published and centred.
- centred-stack: products of 100 inputs with a twentieth of the published steps: published, centred, and the
  correlation first (thesis, section 6.3), 10 seeds.

Runs are kept in a store, so that an interrupted benchmark resumes, but not those of `noise`, `noise-stack`
and `centred-stack`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

import nalm
from nalm.evaluate.intervals import success_interval
from nalm.experiment.bench import Experiment, do_work, make_experiment, make_work
from nalm.experiment.local import Local
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.recipes import Centred, LevenbergMarquardt, PCCThenMSE, Recipe
from nalm.recipes.steps import shorter
from nalm.second_order.solution import Found
from nalm.tasks import RANGE_SETS, ArithmeticDataset, RangeTask, SingleModule, Split
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs

PROCESSES = 2
SETS = ("uniform", "mixed-sign", "distributions")
UNITS = {"add": "nau", "sub": "nau", "mul": "nmu", "div": "nmru"}
Rows = list[dict[str, Any]]


def computed(experiment: Experiment, store: Path) -> Rows:
    """The rows of a benchmark, and how long what was not stored took."""
    with Store(store) as opened:
        result = do_work(make_work(experiment, opened, PROCESSES), opened, Local(PROCESSES))
    kept = ("model", "op", "inputs", "range", "runs", "success", "solved_at", "second_order")
    seconds = {"computed_runs": result["computed_runs"], "seconds": round(result["seconds"], 1)}
    return [{**{name: row[name] for name in kept}, **seconds} for row in result["rows"]]


def arithmetic(store: Path) -> Rows:
    """Sums, differences and products of two sums."""
    made = [
        make_experiment("arithmetic-dataset", None, [op], seeds=20, recipe="second-order")
        for op in ("mul", "add", "sub")
    ]
    return [row for experiment in made for row in computed(experiment, store)]


def hidden(store: Path) -> Rows:
    """Products with five times the hidden values that are needed."""
    made = make_experiment("arithmetic-dataset", None, ["mul"], seeds=20, recipe="second-order", hidden=10)
    return [{**row, "hidden": 10} for row in computed(made, store)]


def single(inputs: int, seeds: int, store: Path) -> Rows:
    """All units that the recipe is made for."""
    made = make_experiment(
        "single-module", None, None, SETS, inputs=inputs, seeds=seeds, recipe="second-order"
    )
    return computed(made, store)


def drawn(store: Path) -> Rows:
    """A sum, a product and a quotient with 10 inputs from drawn starts alone."""
    recipe = Recipe(optimiser=LevenbergMarquardt(starts=8, grow=False), clamps=(), iterations=100)
    cases = [
        replace(case, other_recipe=recipe)
        for op in ("add", "mul", "div")
        for case in make_experiment("single-module", [f"{UNITS[op]}@second-order"], [op], inputs=10).cases
    ]
    return computed(Experiment("single-module", tuple(cases), seeds=10), store)


def centred(store: Path) -> Rows:
    """The NAU, published and centred."""
    return computed(
        make_experiment("single-module", ["nau", "nau@centred"], ["add", "sub"], inputs=10), store
    )


def noise(store: Path) -> Rows:
    """Disturbed targets on U[1,2): single units with 10 inputs."""
    return _disturbed([(unit, SingleModule(op, "1:2", 10), 1000, 25) for op, unit in UNITS.items()])


def noise_stack(store: Path) -> Rows:
    """Disturbed targets on U[1,2): products of sums of 100 inputs, a minute per run."""
    return _disturbed([("nau+nmu", ArithmeticDataset("mul", "1:2"), 100_000, 20)])


def _disturbed(tasks: list[tuple[str, RangeTask, int, int]]) -> Rows:
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        return [_noisy(pool, *case) for case in tasks]


def _noisy(pool: Any, model: str, task: RangeTask, rows: int, seeds: int) -> dict[str, Any]:
    began = time.perf_counter()
    found = pool.starmap(
        _solved_with_noise, [(model, task, rows, seed) for seed in range(seeds)], chunksize=1
    )
    rate = success_interval(sum(solved for solved, _ in found), seeds)
    return {
        "model": model,
        "op": task.op,
        "inputs": task.inputs,
        "range": task.range,
        "rows": rows,
        "runs": seeds,
        "success": {"rate": rate.value, "low": rate.low, "high": rate.high},
        "found": {name: sum(f == name for _, f in found) for name in Found},
        "seconds": round(time.perf_counter() - began, 1),
    }


def _solved_with_noise(model: str, task: RangeTask, rows: int, seed: int) -> tuple[bool, str]:
    """Whether the undisturbed targets on the test range are met, and what the solver says of it."""
    torch.set_num_threads(1)
    built = ModelSpec.parse(model).build(task.inputs, 1, dtype=torch.float64)
    x, y = sample(task, seed, Split.TRAIN, rows)
    disturbance = torch.randn(y.shape, generator=torch.Generator().manual_seed(seed), dtype=y.dtype)
    solution = nalm.solve(built, x, y * (1 + 0.01 * disturbance), seed=seed)
    x, y = sample(task, seed, Split.TEST, 10_000)
    limit = task.threshold(Split.TEST)
    assert limit is not None
    with torch.no_grad():
        return bool((built.eval()(x) - y).square().mean() < limit), str(solution.found)


def centred_stack(store: Path) -> Rows:
    """Three first-order recipes on products of sums, with a twentieth of the published steps."""
    spec = ModelSpec.parse("nau+nmu")
    published = spec.make_recipe("mul", 100)
    recipes = {
        "published": published,
        "centred": replace(published, optimiser=Centred(published.optimiser)),
        "correlation first": replace(published, loss=PCCThenMSE()),
    }
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        parts = pool.starmap(_trained, [(name, shorter(r, 0.05)) for name, r in recipes.items()], chunksize=1)
    return [row for part in parts for row in part]


def _trained(name: str, recipe: Recipe, seeds: int = 10) -> Rows:
    model: nn.Module = ModelSpec.parse("nau+nmu").build(100, 1)
    ranges = RANGE_SETS["uniform"]
    tasks = [ArithmeticDataset("mul", name) for name in ranges for _ in range(seeds)]
    result = train_runs(model, tasks, [recipe] * len(tasks), list(range(seeds)) * len(ranges))
    solved = result.solved_at()
    rows = []
    for k, each in enumerate(ranges):
        steps = [step for step in solved[k * seeds : (k + 1) * seeds] if step is not None]
        rate = success_interval(len(steps), seeds)
        rows.append(
            {
                "recipe": name,
                "range": each,
                "runs": seeds,
                "iterations": recipe.iterations,
                "success": {"rate": rate.value, "low": rate.low, "high": rate.high},
                "solved_at": sum(steps) / len(steps) if steps else None,
                "seconds": round(result.seconds, 1),
            }
        )
    return rows


PARTS: dict[str, Callable[[Path], Rows]] = {
    "arithmetic": arithmetic,
    "hidden": hidden,
    "single-10": lambda store: single(10, 25, store),
    "single-100": lambda store: single(100, 25, store),
    "single-100-few": lambda store: single(100, 5, store),
    "drawn": drawn,
    "noise": noise,
    "noise-stack": noise_stack,
    "centred": centred,
    "centred-stack": centred_stack,
}


def main() -> None:
    """Run the parts and write their rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--store", type=Path, default=Path("robustness.sqlite"), help="where runs are kept")
    parser.add_argument("--json", metavar="FILE", default="-", help="- is standard output")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    found = {}
    for name in arguments.parts or PARTS:
        print(f"{name} …", file=sys.stderr)
        found[name] = PARTS[name](arguments.store)
    text = json.dumps(found, indent=1)
    if arguments.json == "-":
        print(text)
    else:
        Path(arguments.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
