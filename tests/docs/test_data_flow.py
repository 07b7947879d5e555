"""The drawing of a unit is what its code computes."""

import itertools
import math
import re

import pytest
import torch

pytest.importorskip("latex2mathml", reason="needs the extra `docs`")

import nalm
from data_flow import INPUTS, data_flow
from drawing import drawing
from formulas import markdown
from idioms import DOT
from layers import GAP, spots_of
from nalm.units import UNITS

FUNCTIONS = {
    "exp": torch.exp, "ln": torch.log, "tanh": torch.tanh, "cos": torch.cos, "sign": torch.sign,
    "σ": torch.sigmoid, "softmax": lambda x: torch.softmax(x, -1),
    "max": lambda x, low: x.clamp(min=low), "min": lambda x, high: x.clamp(max=high),
    "clip": lambda x, ends: x.clamp(*ends),
    "abs": torch.abs,
}  # fmt: skip


def _python(text):
    """The text of a step as a Python expression, in which `arg` is the argument of a function."""
    if text == "∏ over inputs":
        return "arg.prod(-1, keepdim=True)"
    if text == "a and b":
        return "torch.cat([a, b], -1)"
    if text == "|x|, 1 if 0":
        return "torch.where(arg == 0, 1.0, arg.abs())"
    text = text.replace("−", "-").replace("v to the power w", "v ** w").replace("^", "**")
    text = text.replace("π", str(math.pi)).replace("Σ over pairs ", "").replace(" = 0", " == 0")
    text = text.replace("Σ w·v", "(w * v).sum(-1, keepdim=True)").replace(" · ", " * ").replace("·", "*")
    text = re.sub(r"\|(\w+|•)\|", r"abs(\1)", text)
    text = re.sub(r", (\S+) to (\S+)\)", r", (\1, \2))", text)
    return text.replace(DOT, "arg")


def _value(step, values, given):
    if step.kind in ("input", "parameter", "gate"):
        return given[step.text]
    sources = [values[id(source)] for source in step.sources]
    if step.kind == "output":
        return sources[0]
    if step.text in ("×", "+"):
        return sources[0] * sources[1] if step.text == "×" else sources[0] + sources[1]
    names = dict(zip(step.letters, sources)) or {"arg": sources[0], step.sources[0].text: sources[0]}
    found = eval(_python(step.text), {"torch": torch, **FUNCTIONS, **names})
    return found.to(torch.float64)


@pytest.mark.parametrize("name", UNITS)
def test_the_steps_of_a_drawing_give_what_the_unit_gives(name):
    """Every box is evaluated by its own text, whose numbers have four digits: what is drawn is computed."""
    torch.manual_seed(0)
    unit = UNITS[name](INPUTS, 1, dtype=torch.float64).eval()
    x = torch.empty(5, INPUTS, dtype=torch.float64).uniform_(-2, 2)
    given = {"x": x, **{name: p.detach() for name, p in unit.named_parameters()}}
    values = {}
    steps = data_flow(UNITS[name])
    for step in steps:
        values[id(step)] = _value(step, values, given)
    torch.testing.assert_close(values[id(steps[-1])].reshape(5, 1), unit(x).detach(), rtol=1e-3, atol=1e-12)


def test_the_gate_and_the_weights_of_a_nalu_are_told_apart():
    kinds = {step.text: step.kind for step in data_flow(nalm.NALU)}
    assert (kinds["gate"], kinds["w_hat"], kinds["x"], kinds["y"]) == ("gate", "parameter", "input", "output")


@pytest.mark.parametrize("name", UNITS)
def test_boxes_do_not_overlap(name):
    steps = data_flow(UNITS[name])
    for layer in spots_of(steps, {id(step): 8.0 * len(step.text) for step in steps}):
        for left, right in itertools.pairwise(layer):
            assert right.x - left.x >= (left.width + right.width) / 2 + GAP / 2


def test_a_drawing_says_the_same_in_words():
    assert "w·v + 1 − w from 1, 2; 4: ∏ over inputs from 3" in drawing(nalm.NMU)


def test_formulas_become_mathml_and_the_rest_stays():
    text = markdown("Before.\n\n.. math:: a_o = \\sum_i W_{o,i} x_i\n\nwith :math:`W` and `code`.")
    assert text.startswith("Before.\n\n<div")
    assert text.endswith("and `code`.")
    assert text.count("<math") == 2
