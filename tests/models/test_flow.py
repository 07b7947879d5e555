"""A unit inside an ODE solver: values against closed solutions, orders of convergence, gradients."""

import math

import pytest
import torch
from torch import nn

import nalm
from nalm.errors import ArgumentError
from nalm.models.flow import Flow


class Decay(nn.Module):
    """dx/dt = -k x, whose solution is x exp(-k t)."""

    def __init__(self, k=1.0):
        super().__init__()
        self.k = nn.Parameter(torch.tensor(k, dtype=torch.float64))

    def forward(self, x):
        return -self.k * x


def error(method, steps):
    flow = Flow(Decay(), 2.0, steps, method)
    return abs(flow(torch.ones(1, 1, dtype=torch.float64)).item() - math.exp(-2.0))


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("rk4", 4)])
def test_twice_the_steps_divide_the_error_by_two_to_the_order(method, order):
    assert math.log2(error(method, 40) / error(method, 80)) == pytest.approx(order, abs=0.1)


def test_gradients_pass_through_the_solver():
    x = torch.rand(3, 1, dtype=torch.float64) + 1
    assert torch.autograd.gradcheck(
        lambda k: _flow(k)(x), torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    )


def _flow(k):
    class Given(nn.Module):
        def forward(self, x):
            return -k * x

    return Flow(Given(), 1.0, 3)


def test_units_with_many_models_integrate_side_by_side():
    unit = nn.Sequential(nalm.RealNPU(3, 2, batch_shape=(4,)), nalm.NAU(2, 3, batch_shape=(4,)))
    x = torch.rand(4, 5, 3) + 0.1
    together = Flow(unit, 0.5, 2)(x)
    assert together.shape == (4, 5, 3)
    single = nn.Sequential(nalm.RealNPU(3, 2), nalm.NAU(2, 3))
    single.load_state_dict({name: p[2] for name, p in unit.state_dict().items()})
    torch.testing.assert_close(Flow(single, 0.5, 2)(x[2]), together[2])


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"interval": 0.0}, "interval"), ({"steps": 0}, "steps"), ({"method": "heun"}, "method")],
)
def test_wrong_arguments_are_refused_by_name(changed, named):
    with pytest.raises(ArgumentError, match=named):
        Flow(Decay(), **{"interval": 1.0, **changed})
