"""Patterns of a few operations that units are written in, as single steps that say what they mean."""

from __future__ import annotations

from dataclasses import dataclass, field

DOT = "•"
"""Stands for the argument in the text of a function with one argument."""
_REST = "1 − (•)"


@dataclass(eq=False)
class Step:
    """A box of a drawing.

    Attributes:
        text: what is written in it; for a function of one argument, a dot stands for the argument.
        kind: `input`, `parameter`, `gate`, `number`, `step` or `output`.
        sources: where its arguments come from.
        letters: how the text calls its arguments, if their order matters.
    """

    text: str
    kind: str
    sources: list[Step] = field(default_factory=list)
    letters: tuple[str, ...] = ()


def combined(name: str, step: Step) -> Step:
    """The step, or what it and its sources mean together."""
    if name == "add" and len(step.sources) == 2:
        return _mixed(step) or _selected(step) or step
    if name == "where":
        return _chosen(step)
    return step


def _selected(step: Step) -> Step | None:
    """w v + (1 - w): the value where the weight is 1, and 1 where it is 0."""
    for times, rest in (step.sources, step.sources[::-1]):
        if times.text == "×" and rest.text == _REST and rest.sources[0] in times.sources:
            weight = rest.sources[0]
            return Step("w·v + 1 − w", "step", [weight, _other(times, weight)], ("w", "v"))
    return None


def _mixed(step: Step) -> Step | None:
    """g a + (1 - g) b: one value where the gate is open, the other where it is closed."""
    for first, second in (step.sources, step.sources[::-1]):
        if first.text != "×" or second.text != "×":
            continue
        for gate in first.sources:
            rest = [each for each in second.sources if each.text == _REST and each.sources[0] is gate]
            if rest:
                sources = [gate, _other(first, gate), _other(second, rest[0])]
                return Step("g·a + (1 − g)·b", "step", sources, ("g", "a", "b"))
    return None


def _chosen(step: Step) -> Step:
    """A choice between two values; a number's size or sign if that is what it gives."""
    test, then, other = step.sources
    x = test.sources[0]
    if test.text == "(•) < 0" and then.text == "−(•)" and then.sources[0] is other is x:
        return Step("|•|", "step", [x])
    if test.text == "(•) = 0" and then is x and other.text == "sign(•)":
        return Step("sign(•)", "step", [x])
    if test.text == "(•) = 0" and then.kind == "number" and other.text == "|•|":
        return Step(f"|•|, {then.text} if 0", "step", [x])
    shown = [source for source in step.sources if source.kind != "number"]
    return Step("choose", "step", shown)


def _other(times: Step, one: Step) -> Step:
    """The other factor of a product; the same one for a square."""
    first, second = times.sources
    return second if first is one else first
