"""`import nalm` waits for nothing, its units cost little more than torch, and it has all that it promises."""

import json
import subprocess
import sys
import time

import pytest

import nalm

ALLOWED = 1.3
ROUNDS = 3
ATTEMPTS = 3
TORCH, UNITS = "import torch", "import nalm; nalm.NMU"
HEAVY = ("sympy", "scipy.optimize", "typer", "torch._inductor")


def run(code):
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def modules_after(code):
    return set(json.loads(run(f"import json, sys; {code}; print(json.dumps(list(sys.modules)))")))


def best_seconds(*codes):
    """The best time of each in a fresh process; they take turns, so that noise hits all."""
    seconds = dict.fromkeys(codes, float("inf"))
    for _ in range(ROUNDS):
        for code in codes:
            start = time.perf_counter()
            run(code)
            seconds[code] = min(seconds[code], time.perf_counter() - start)
    return seconds


@pytest.fixture(scope="module")
def added():
    """The modules that the units need and torch alone does not."""
    return modules_after(UNITS) - modules_after(TORCH)


def test_units_take_at_most_a_third_more_than_torch():
    ratios = []
    for _ in range(ATTEMPTS):
        best = best_seconds(TORCH, UNITS)
        ratios.append(best[UNITS] / best[TORCH])
        if ratios[-1] <= ALLOWED:
            return
    pytest.fail(f"the units take {min(ratios):.2f} times as long as import torch, allowed is {ALLOWED}")


@pytest.mark.parametrize("heavy", HEAVY)
def test_units_leave_what_is_heavy_for_later(added, heavy):
    assert not [module for module in added if module == heavy or module.startswith(heavy + ".")]


def test_importing_the_package_alone_imports_nothing_heavy():
    loaded = modules_after("import nalm; nalm.__version__")
    assert not {"torch", "numpy", "sympy", "typer"} & loaded


@pytest.mark.parametrize("name", ["units", "tasks", "training.recipe", "helpers", "errors", "testing"])
def test_modules_are_attributes_of_the_package(name):
    assert run(f"import nalm; print(nalm.{name}.__name__)").strip() == f"nalm.{name}"


def test_every_promised_name_exists():
    assert [name for name in nalm.__all__ if not hasattr(nalm, name)] == []


def test_no_name_is_promised_twice():
    assert len(set(nalm.__all__)) == len(nalm.__all__)


def test_names_that_are_loaded_later_are_found_by_dir():
    assert set(nalm.__all__) == set(dir(nalm))


def test_a_star_import_gives_every_name():
    given = {}
    exec("from nalm import *", given)
    assert set(nalm.__all__) <= set(given)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'nalm' has no attribute 'NMUU'"):
        nalm.NMUU  # noqa: B018
