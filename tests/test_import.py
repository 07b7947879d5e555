"""`import nalm` costs little more than `import torch`, and has everything it promises."""

import json
import subprocess
import sys
import time

import pytest

import nalm

ALLOWED = 1.3
ROUNDS = 3
ATTEMPTS = 3
HEAVY = ("sympy", "scipy.optimize", "typer", "torch._inductor")


def run(code):
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def modules_after(module):
    return set(json.loads(run(f"import json, sys, {module}; print(json.dumps(list(sys.modules)))")))


def best_seconds(*modules):
    """The best time of importing each in a fresh process; they take turns, so that noise hits all."""
    seconds = {module: float("inf") for module in modules}
    for _ in range(ROUNDS):
        for module in modules:
            start = time.perf_counter()
            run(f"import {module}")
            seconds[module] = min(seconds[module], time.perf_counter() - start)
    return seconds


@pytest.fixture(scope="module")
def added():
    """The modules that nalm imports and torch alone does not."""
    return modules_after("nalm") - modules_after("torch")


def test_import_takes_at_most_a_third_more_than_torch():
    ratios = []
    for _ in range(ATTEMPTS):
        best = best_seconds("torch", "nalm")
        ratios.append(best["nalm"] / best["torch"])
        if ratios[-1] <= ALLOWED:
            return
    pytest.fail(f"import nalm takes {min(ratios):.2f} times as long as import torch, allowed is {ALLOWED}")


@pytest.mark.parametrize("heavy", HEAVY)
def test_import_leaves_what_is_heavy_for_later(added, heavy):
    assert not [module for module in added if module == heavy or module.startswith(heavy + ".")]


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
