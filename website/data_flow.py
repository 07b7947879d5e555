"""What a unit does with its inputs, as a small graph that is traced from its own code.

The unit is traced by torch.fx in evaluation mode, with so many inputs that its sums and products over inputs
are single operations. Changes of shape are left out, equal steps are joined, a few idioms are written as what
they mean (`idioms`), and chains of functions with one argument become one step. Nothing is drawn by hand, so
that a drawing cannot differ from the code.
"""

from __future__ import annotations

import math
import operator
import re
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from idioms import DOT, Step, combined
from nalm.units import Unit

INPUTS = 32
"""More inputs than units write out one by one, and a power of two, so that a product is halved evenly."""

_SAME = {
    "view", "t", "transpose", "unsqueeze", "squeeze", "detach", "expand", "clone", "contiguous", "slice",
    "select", "_to_copy", "_unsafe_view", "reshape", "split", "getitem", "alias", "scalar_tensor",
}  # fmt: skip
"""Operations that move numbers and do not change them."""
_ONE = {
    "abs": "|•|", "neg": "−(•)", "log": "ln(•)", "exp": "exp(•)", "sigmoid": "σ(•)", "tanh": "tanh(•)",
    "cos": "cos(•)", "sin": "sin(•)", "sign": "sign(•)", "reciprocal": "1/(•)", "_softmax": "softmax(•)",
    "sum": "Σ over pairs (•)",
}  # fmt: skip
"""Functions of one argument, which stands where the dot is."""
_TWO = {
    "add": ("+", ()), "mul": ("×", ()), "sub": ("a − b", ("a", "b")), "div": ("a ÷ b", ("a", "b")),
    "pow": ("v to the power w", ("v", "w")), "mm": ("Σ w·v", ("v", "w")), "bmm": ("Σ w·v", ("v", "w")),
    "cat": ("a and b", ("a", "b")),
}  # fmt: skip
"""Operations of two arguments, and the letters of these if their order matters."""
_WITH_NUMBER = {
    "add": "(•) + {}", "sub": "(•) − {}", "mul": "{} · (•)", "div": "(•)/{}", "rsub": "{} − (•)",
    "lt": "(•) < {}", "gt": "(•) > {}", "eq": "(•) = {}", "ne": "(•) ≠ {}", "pow": "(•)^{}",
}  # fmt: skip
"""Operations with a number, which stands where the braces are."""
_NEEDLESS = re.compile(rf"(?<![\wσ])\(([\w{DOT}]+)\)")
"""Brackets around a name that is not the argument of a function."""
_CLOSED = re.compile(r"\|[^|]*\||\w+\(.*\)")
"""A text that needs no brackets around it."""


def data_flow(kind: type[Unit]) -> list[Step]:
    """The steps from the inputs to the output of a unit with its default options, each after its sources."""
    output = Step("y", "output", [_traced(kind(INPUTS, 1).eval())])
    _join_chains(output)
    steps = ordered(output)
    for step in steps:
        step.text = _readable(step)
    return steps


def ordered(output: Step) -> list[Step]:
    """Every step that the output needs, once, after its sources."""
    found: dict[int, Step] = {}

    def visit(step: Step) -> None:
        for source in step.sources:
            if id(source) not in found:
                visit(source)
        found[id(step)] = step

    visit(output)
    return list(found.values())


def _traced(unit: Unit) -> Step:
    """The step that gives the output, with everything before it."""
    parameters = dict(unit.named_parameters())

    def apply(values: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.func.functional_call(unit, values, (x,))
        return result

    graph = make_fx(apply)(parameters, torch.ones(3, INPUTS)).graph
    given = iter([*(Step(name, "gate" if "gate" in name else "parameter") for name in parameters)])
    made: dict[Any, Step] = {}
    known: dict[tuple[Any, ...], Step] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            made[node] = next(given, Step("x", "input"))
        elif node.op == "call_function":
            made[node] = _step(node, made, known)
    (result,) = _flat(graph.output_node().args)
    return made[result]


def _step(node: Any, made: dict[Any, Step], known: dict[tuple[Any, ...], Step]) -> Step:
    """The step of an operation; equal operations on equal arguments are one step."""
    name = getattr(node.target, "overloadpacket", node.target).__name__
    arguments = _flat(node.args)
    sources = [made[each] for each in arguments if each in made]
    numbers = [each for each in arguments if isinstance(each, int | float) and not isinstance(each, bool)]
    if name in _SAME:
        return sources[0] if sources else Step(_written(numbers[0]), "number")
    if name == "mul" and _halves(node):  # a product over inputs multiplies halves, and halves of halves
        return (
            sources[0]
            if sources[0].text == "∏ over inputs"
            else _once(Step("∏ over inputs", "step", sources[:1]), known)
        )
    if name == "mul" and numbers == [1]:
        return sources[0]
    if name == "clamp":
        return _once(Step(_clip(*node.args[1:]), "step", sources), known)
    return _once(combined(name, _plain(name, sources, numbers)), known)


def _plain(name: str, sources: list[Step], numbers: list[float]) -> Step:
    """An operation as a step, before idioms are looked for."""
    if len(sources) == 2 and name in _TWO:
        text, letters = _TWO[name]
        return Step(text, "step", sources, letters)
    if name in _ONE:
        return Step(_ONE[name], "step", sources)
    if numbers and name in _WITH_NUMBER:
        return Step(_WITH_NUMBER[name].format(_written(numbers[0])), "step", sources)
    return Step(name, "step", sources)


def _once(step: Step, known: dict[tuple[Any, ...], Step]) -> Step:
    return known.setdefault((step.text, *map(id, step.sources)), step)


def _halves(node: Any) -> bool:
    """Whether both arguments are halves of one tensor."""
    targets = [getattr(each, "target", None) for each in node.args]
    parts = [each.args[0] for each, target in zip(node.args, targets) if target is operator.getitem]
    return len(parts) == 2 and parts[0] is parts[1]


def _clip(low: float | None = None, high: float | None = None) -> str:
    if low is None or high is None:
        return f"max({DOT}, {_written(low)})" if high is None else f"min({DOT}, {_written(high)})"
    return f"clip({DOT}, {_written(low)} to {_written(high)})"


def _written(number: Any) -> str:
    return "π" if number == math.pi else f"{number:.4g}".replace("e-0", "e-")


def _flat(arguments: Any) -> list[Any]:
    if isinstance(arguments, list | tuple):
        return [each for argument in arguments for each in _flat(argument)]
    return [arguments]


def _join_chains(output: Step) -> None:
    """Make one step of functions that follow each other with nothing else using what is between them."""
    steps = ordered(output)
    users = [id(source) for step in steps for source in step.sources]
    for step in steps:  # sources first, so that long chains join link by link
        if DOT not in step.text or len(step.sources) != 1:
            continue
        (before,) = step.sources
        if users.count(id(before)) == 1 and (DOT in before.text or before.letters):
            step.text, step.letters = _inserted(step.text, before.text), before.letters
            step.sources = before.sources


def _readable(step: Step) -> str:
    """The text with the argument's name instead of the dot, if it has one, and without needless brackets."""
    named = DOT in step.text and step.sources[0].kind != "step"
    text = step.text.replace(DOT, step.sources[0].text) if named else step.text
    return _NEEDLESS.sub(r"\1", text)


def _inserted(outer: str, inner: str) -> str:
    """The outer function of the inner one."""
    closed = outer.startswith(f"({DOT})") and _CLOSED.fullmatch(inner)
    return (outer.replace(f"({DOT})", DOT) if closed else outer).replace(DOT, inner)
