r"""Feature scaling around any model (thesis, section 6.1).

.. math::
    \hat X = \frac{X - c_x}{s_x} \odot w_{in} + b_{in}, \qquad
    \hat y = c_y + s_y (f(\hat X) \odot w_{out} + b_{out})

Min-max scaling (equation 6.1): :math:`c_x` is the mean of the training inputs, :math:`s_x` and :math:`s_y`
are half the span of inputs and targets, :math:`c_y = 0`; the scales w and shifts b are learnt. Z-scores
(equation 6.2): centres are means, sizes are standard deviations, and only f is learnt.

Deviations: equation 6.1 divides by the span of X without saying of which data; here it is that of the
training data, like all other statistics. The thesis does not give the initial scales and shifts; here they
are 1 and 0, so that the scaled data are at first unchanged.
"""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor, nn

from nalm.errors import ArgumentError


class Scaled(nn.Module):
    """A model between a scaling of its inputs and the reverse scaling of its outputs.

    Args:
        model: any module from `... x in` to `... x out`.
        x_centre: subtracted from the inputs, shape `in`.
        x_size: the inputs are then divided by it, shape `in`.
        y_centre: added to the outputs at the end, shape `out`.
        y_size: the outputs are multiplied by it before that, shape `out`.
        learnt: whether scales and shifts are learnt on both sides.

    The statistics are parameters that are not trained, so that each of several models side by side can have
    its own statistics.

    Example:
        >>> x = torch.tensor([[1.0, 4.0], [3.0, 8.0]])
        >>> model = Scaled.min_max(nalm.NMU(2, 1), x, x.prod(-1, keepdim=True))
        >>> model.x_size
        Parameter containing:
        tensor([1., 2.])
    """

    x_centre: Tensor
    x_size: Tensor
    y_centre: Tensor
    y_size: Tensor
    w_in: Tensor | None
    b_in: Tensor | None
    w_out: Tensor | None
    b_out: Tensor | None

    def __init__(
        self,
        model: nn.Module,
        x_centre: Tensor,
        x_size: Tensor,
        y_centre: Tensor,
        y_size: Tensor,
        *,
        learnt: bool,
    ) -> None:
        super().__init__()
        self.model = model
        given = {"x_centre": x_centre, "x_size": x_size, "y_centre": y_centre, "y_size": y_size}
        for name, value in given.items():
            self.register_parameter(name, nn.Parameter(value.detach().clone(), requires_grad=False))
        for side, size in (("in", x_size), ("out", y_size)):
            for name, value in (("w", torch.ones_like(size)), ("b", torch.zeros_like(size))):
                self.register_parameter(f"{name}_{side}", nn.Parameter(value) if learnt else None)

    @classmethod
    def min_max(cls, model: nn.Module, x: Tensor, y: Tensor) -> Self:
        """Min-max scaling with learnt scales and shifts, from training data `n x in` and `n x out`."""
        _check(x, y)
        return cls(model, x.mean(0), _half_span(x), torch.zeros_like(y[0]), _half_span(y), learnt=True)

    @classmethod
    def z_score(cls, model: nn.Module, x: Tensor, y: Tensor) -> Self:
        """Standardised inputs and targets, from training data `n x in` and `n x out`."""
        _check(x, y)
        return cls(model, x.mean(0), x.std(0), y.mean(0), y.std(0), learnt=False)

    def forward(self, input: Tensor) -> Tensor:
        """`... x in` to `... x out`."""
        scaled = _affine((input - self.x_centre) / self.x_size, self.w_in, self.b_in)
        result: Tensor = self.y_centre + self.y_size * _affine(self.model(scaled), self.w_out, self.b_out)
        return result

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Set scales to 1 and shifts to 0; the statistics and the model inside are left alone."""
        for scale, shift in ((self.w_in, self.b_in), (self.w_out, self.b_out)):
            if scale is not None and shift is not None:
                scale.fill_(1)
                shift.zero_()


def _affine(value: Tensor, scale: Tensor | None, shift: Tensor | None) -> Tensor:
    return value if scale is None or shift is None else value * scale + shift


def _half_span(values: Tensor) -> Tensor:
    return (values.amax(0) - values.amin(0)) / 2


def _check(x: Tensor, y: Tensor) -> None:
    """Refuse data with a constant column, which would be divided by zero."""
    for argument, values in (("x", x), ("y", y)):
        if not isinstance(values, Tensor):
            raise ArgumentError(argument, "a tensor of training data", type(values).__name__)
        if values.dim() != 2 or len(values) < 2 or len(values) != len(x):
            raise ArgumentError(
                argument, "rows of training data, two or more", f"shape {tuple(values.shape)}"
            )
        if not bool((_half_span(values) > 0).all()):
            raise ArgumentError(argument, "data without constant columns", "a constant column")
