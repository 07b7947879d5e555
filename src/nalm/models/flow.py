r"""A unit as the right-hand side of differential equations: states now to states one interval later.

.. math:: \dot x = f(x), \qquad \text{Euler: } x \leftarrow x + h f(x)

`rk4` is the classical Runge-Kutta method of fourth order. Everything is differentiable, so that the unit
learns through the solver (Heim et al. 2020, section 4.1, after Chen et al. 2018).
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from nalm.errors import check_above_zero, check_choice, check_positive


class Flow(nn.Module):
    """Integrates a unit over an interval of time.

    Args:
        unit: from states `... x states` to their rates of change, of the same shape.
        interval: the length of the interval.
        steps: the number of steps in it.
        method: "rk4" or "euler".

    Example:
        >>> decay = nn.Linear(1, 1, bias=False)
        >>> _ = nn.init.constant_(decay.weight, -1.0)
        >>> Flow(decay, interval=1.0, steps=4)(torch.ones(1, 1))
        tensor([[0.3679]], grad_fn=<...>)
    """

    def __init__(self, unit: nn.Module, interval: float, steps: int = 1, method: str = "rk4") -> None:
        super().__init__()
        self.unit = unit
        self.interval = check_above_zero("interval", interval)
        self.steps = check_positive("steps", steps)
        self.method = check_choice("method", method, METHODS)

    def forward(self, states: Tensor) -> Tensor:
        """States one interval later, of the same shape."""
        for _ in range(self.steps):
            states = METHODS[self.method](self.unit, states, self.interval / self.steps)
        return states

    def extra_repr(self) -> str:
        """Interval, steps and method."""
        return f"interval={self.interval:g}, steps={self.steps}, method={self.method!r}"


def euler(unit: nn.Module, x: Tensor, step: float) -> Tensor:
    """One step of Euler's method."""
    moved: Tensor = x + step * unit(x)
    return moved


def runge_kutta(unit: nn.Module, x: Tensor, step: float) -> Tensor:
    """One step of the classical Runge-Kutta method."""
    first = unit(x)
    second = unit(x + 0.5 * step * first)
    third = unit(x + 0.5 * step * second)
    fourth = unit(x + step * third)
    moved: Tensor = x + step / 6 * (first + 2 * second + 2 * third + fourth)
    return moved


METHODS: dict[str, Callable[[nn.Module, Tensor, float], Tensor]] = {"euler": euler, "rk4": runge_kutta}
