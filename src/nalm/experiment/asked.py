"""Which variants of a task a model is benchmarked on: those asked for that the model can express."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nalm.errors import ArgumentError, check_choice
from nalm.models import ModelSpec
from nalm.tasks import RangeTask, Task, expand_ranges


@dataclass(frozen=True)
class Asked:
    """What a benchmark was asked for besides models and seeds; None means all that the papers have.

    Attributes:
        ops: operations.
        ranges: names of ranges or of sets of them, or `train=>test`.
        inputs: the number of inputs.
    """

    ops: Sequence[str] | None = None
    ranges: Sequence[str] | None = None
    inputs: int | None = None

    def tasks_for(self, kind: type[Task], model: ModelSpec, *, is_named: bool) -> list[Task]:
        """The variants of a task for a model; none if it can express none of them.

        Args:
            kind: the task.
            model: the model.
            is_named: whether the user named the model; if so, having no variant is an error.
        """
        if issubclass(kind, RangeTask):
            return self._on_ranges(kind, model, is_named)
        for name in ("ranges", "inputs"):
            if getattr(self, name) is not None:
                raise ArgumentError(name, f"left out: {kind.name} has none", repr(getattr(self, name)))
        made = self._by_label(kind)
        able = [task for task in made if task.recipe_op is None or model.can(task.recipe_op)]
        if not able and is_named:
            wanted = ", ".join(self.ops or kind.ops)
            expected = f"able to express an operation that was asked for ({wanted})"
            raise ArgumentError("units", expected, str(model))
        return able

    def _on_ranges(self, kind: type[RangeTask], model: ModelSpec, is_named: bool) -> list[Task]:
        asked = kind.ops if self.ops is None else kind.expand_ops(self.ops)
        able = [op for op in kind.ops if kind.is_offered_to(op, model)]
        wanted = [op for op in asked if kind.is_offered_to(op, model)]
        if not able:
            expected = f"able to express one of {', '.join(kind.ops)}, the operations of {kind.name}"
            raise ArgumentError("units", expected, str(model))
        if not wanted and is_named:
            can = f"one that {model} can express ({', '.join(able)})"
            raise ArgumentError("op", can, ", ".join(self.ops or ()))
        names = expand_ranges(self.ranges or kind.ranges)
        return [kind.of(op, name, self.inputs) for op in wanted for name in names]

    def _by_label(self, kind: type[Task]) -> list[Task]:
        """All variants, or those whose label `op` is one of `ops`."""
        made = kind.variants()
        if self.ops is None:
            return made
        known = list(dict.fromkeys(str(task.labels()["op"]) for task in made if "op" in task.labels()))
        for op in self.ops:
            check_choice("op", op, known)
        return [task for task in made if task.labels().get("op") in self.ops]
