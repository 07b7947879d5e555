"""Tasks whose variants differ in the fields of a dataclass, such as an operation and a kind of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from nalm.errors import check_choice
from nalm.tasks._base import Task


@dataclass(frozen=True)
class FieldTask(Task):
    """Base of tasks that are described by their fields alone.

    Attributes:
        op: the operation.
    """

    op: str

    stack_recipe = "published"
    usual_seeds: ClassVar[Mapping[str, int]] = {"quick": 10, "paper": 10}
    shared: ClassVar[tuple[str, ...]] = ()
    """Fields that all runs of a program have in common; the others are `numbers` of a run."""

    def __post_init__(self) -> None:
        check_choice("op", self.op, self.ops)

    @property
    def recipe_op(self) -> str | None:
        """None: any model may try any operation, also one that no single unit of it can express."""
        return None

    def shape(self) -> Hashable:
        """The fields that runs share."""
        return (type(self), *(getattr(self, name) for name in self.shared))

    def identity(self) -> dict[str, Any]:
        """The operation, and the fields that are not defaults, so that fields added later rename no run."""
        return {"name": self.name, "op": self.op, **self._unusual()}

    def labels(self) -> dict[str, str | int]:
        """The operation, and the fields that are not defaults; one that is only true or false by its name."""
        told = {name: name if value is True else value for name, value in self._unusual().items()}
        return {"op": self.op, **told}

    def _unusual(self) -> dict[str, Any]:
        held = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, usual) in held.items() if name != "op" and value != usual}

    def about(self) -> dict[str, Any]:
        """Labels and operation."""
        return {**super().about(), "op": self.op}

    @classmethod
    def rebuild(cls, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> Self:
        """The task of a stored run, from its identity."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in identity.items() if name in known})

    @classmethod
    def variants(cls) -> list[Task]:
        """One for each operation."""
        return [cls(op) for op in cls.ops]
