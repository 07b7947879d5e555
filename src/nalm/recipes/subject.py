"""What a recipe may act on inside a model. Units are subjects; recipes need to know no more about them."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn


class Subject(nn.Module):
    """A part of a model with weights and gates that may be penalised, and bounds that it must stay within."""

    name: ClassVar[str]
    in_features: int
    out_features: int

    def weights(self) -> dict[str, Tensor]:
        """The effective weights: what should end up discrete."""
        raise NotImplementedError(f"{type(self).__name__} must define `weights`")

    def gates(self) -> dict[str, Tensor]:
        """Gates that are parameters, not those computed from the input."""
        return {}

    @property
    def is_discretised(self) -> bool:
        """Whether its own penalty makes its weights discrete."""
        return True

    def penalty(self) -> Tensor:
        """The published penalty of each model, without strength."""
        raise NotImplementedError(f"{type(self).__name__} must define `penalty`")

    def project_(self) -> None:
        """Move the parameters back into the admissible set, in place. By default there are no bounds."""


def subjects_of(model: nn.Module, name: str | None = None) -> list[Subject]:
    """All subjects in a model, or those of this name, in the order of `model.modules()`."""
    found = (module for module in model.modules() if isinstance(module, Subject))
    return [part for part in found if name in (None, part.name)]
