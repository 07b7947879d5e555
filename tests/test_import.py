"""`import nalm` costs little more than `import torch`, and has everything it promises."""

import json
import subprocess
import sys

import pytest

import nalm

HEAVY = ("sympy", "scipy.optimize", "typer", "torch._inductor")


def run(code):
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def modules_after(module):
    return set(json.loads(run(f"import json, sys, {module}; print(json.dumps(list(sys.modules)))")))


@pytest.fixture(scope="module")
def added():
    """The modules that nalm imports and torch alone does not."""
    return modules_after("nalm") - modules_after("torch")


def test_import_loads_nothing_but_torch_and_a_few_modules_of_its_own(added):
    """What it costs in seconds is measured by benchmarks/imports.py; what it loads does not vary."""
    assert {module.partition(".")[0] for module in added} == {"nalm"}
    assert len(added) < 70


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
