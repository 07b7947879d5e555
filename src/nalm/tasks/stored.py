"""A task of which only the contents of a store are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nalm.tasks._base import Task


class StoredTask(Task):
    """The task of a stored run whose data are not available: a table, or a task that is not installed.

    Args:
        name: the name that its runs are stored under.
        labels: what distinguishes it from others of its name.
        identity: what determined its data.
        stack_recipe: see `Task`.
    """

    def __init__(
        self,
        name: str,
        labels: Mapping[str, Any],
        identity: Mapping[str, Any],
        *,
        stack_recipe: str = Task.stack_recipe,
    ) -> None:
        self.name, self.stack_recipe = name, stack_recipe  # type: ignore[misc]
        self._labels, self._identity = dict(labels), dict(identity)
        self.in_features, self.out_features = identity.get("inputs", 1), identity.get("outputs", 1)

    def identity(self) -> dict[str, Any]:
        """The stored identity."""
        return self._identity

    def labels(self) -> dict[str, str | int]:
        """The stored labels."""
        return self._labels
