"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
from pathlib import Path

import pytest
import torch

import nalm

ROOT = Path(nalm.__file__).parent
MODULES = [
    ".".join(("nalm", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for file in sorted(ROOT.rglob("*.py"))
    if ">>>" in file.read_text(encoding="utf-8")
]


def test_there_are_examples():
    assert "nalm.units.nmu" in MODULES


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_they_say(module):
    torch.manual_seed(0)
    names = {"nalm": nalm, "torch": torch}
    done = doctest.testmod(importlib.import_module(module), extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert done.attempted > 0
    assert done.failed == 0
