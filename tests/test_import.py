"""`import nalm` waits for nothing, its units cost little more than torch, and it has all that it promises."""

import json
import subprocess
import sys

import pytest

import nalm

TORCH, UNITS = "import torch", "import nalm; nalm.NMU"
HEAVY = ("sympy", "scipy.optimize", "typer", "torch._inductor")


def run(code):
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def modules_after(code):
    return set(json.loads(run(f"import json, sys; {code}; print(json.dumps(list(sys.modules)))")))


@pytest.fixture(scope="module")
def added():
    """The modules that the units need and torch alone does not."""
    return modules_after(UNITS) - modules_after(TORCH)


def test_import_loads_nothing_but_torch_and_a_few_modules_of_its_own(added):
    """What it costs in seconds is measured by benchmarks/imports.py; what it loads does not vary."""
    assert {module.partition(".")[0] for module in added} == {"nalm"}
    assert len(added) < 70


@pytest.mark.parametrize("heavy", HEAVY)
def test_units_leave_what_is_heavy_for_later(added, heavy):
    assert not [module for module in added if module == heavy or module.startswith(heavy + ".")]


def test_importing_the_package_alone_imports_nothing_heavy():
    loaded = modules_after("import nalm; nalm.__version__")
    assert not {"torch", "numpy", "sympy", "typer"} & loaded


@pytest.mark.parametrize("name", ["units", "tasks", "training", "recipes", "errors", "testing"])
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


@pytest.mark.parametrize(
    "module",
    ["recipes.recipe", "models.many", "recipes.penalties", "second_order.flat", "tasks", "symbolic"],
)
def test_any_module_can_be_imported_first(module):
    assert run(f"import nalm.{module} as m; print(m.__name__)").strip() == f"nalm.{module}"
