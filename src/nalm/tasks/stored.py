"""A task that is not here: what a store knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nalm.tasks._base import Task


class StoredTask(Task):
    """A task of which only a stored run is known, because its package is not installed.

    Its runs can be listed and exported, but neither judged nor trained.

    Args:
        name: its name.
        labels: what tells its rows apart.
        identity: what determines its data.
    """

    def __init__(self, name: str, labels: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
        self.name = name  # type: ignore[misc]
        self._labels, self._identity = dict(labels), dict(identity)
        self.in_features = int(identity.get("inputs", 0))

    def identity(self) -> dict[str, Any]:
        """What was stored."""
        return self._identity

    def labels(self) -> dict[str, str | int]:
        """What was stored."""
        return self._labels
