"""Units configured along a sequence: exact at chosen parameters, whatever the size of the numbers."""

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models.configured_sequence import ConfiguredNALU, ConfiguredNAU

INPUTS = 4
"""Three symbols and a number."""


def set_weight(network, value):
    """The same weights at every step: the first slot adds the number, the others stay empty."""
    step = network.network.step
    for linear in step.configure.values():
        torch.nn.init.zeros_(linear.weight)
    with torch.no_grad():
        weight = torch.zeros(network.slots, 1 + network.slots)
        weight[0, 0] = weight[0, 1] = value
        step.configure["weight"].bias.copy_(weight.flatten())


def sequence(numbers):
    steps = torch.zeros(1, len(numbers), INPUTS)
    steps[0, :, 0], steps[0, :, -1] = 1, torch.tensor(numbers)
    return steps


def test_clamped_weights_add_exactly_even_if_they_overshoot():
    network = ConfiguredNAU(INPUTS + 1, 1, hidden_size=5)
    set_weight(network, 1.7)
    out = network(sequence([12.0, 9000.0, 0.0, 7.0]))
    assert out[0, :, 0].tolist() == [12, 9012, 9012, 9019]


def test_gradients_pass_straight_through_the_clamp():
    network = ConfiguredNAU(INPUTS + 1, 1, hidden_size=5)
    set_weight(network, 1.7)
    network(sequence([2.0, 3.0]))[0, -1, 0].backward()
    assert network.network.step.configure["weight"].bias.grad[0] != 0


@pytest.mark.parametrize(("reach", "is_learnt"), [(1.0, False), (ConfiguredNAU.reach, True)])
def test_a_reach_lets_the_lstm_learn_from_large_numbers_and_see_nothing_that_grows(
    reach, is_learnt, monkeypatch
):
    monkeypatch.setattr(ConfiguredNAU, "reach", reach)
    network = ConfiguredNAU(INPUTS + 1, 1, hidden_size=5)
    set_weight(network, 1.0)
    shown = []
    network.network.step.lstm.register_forward_pre_hook(lambda _, inputs: shown.append(inputs[0]))
    steps = sequence([60.0, 0.0]).requires_grad_()
    network(steps)
    (slope,) = torch.autograd.grad(shown[1].sum(), steps)
    assert (slope[0, 0, -1].item() > 1e-3) == is_learnt
    network(sequence([6000.0, 0.0]))
    torch.testing.assert_close(shown[3], shown[1])


def test_a_configured_unit_is_unchanged_without_projection():
    torch.manual_seed(0)
    free = nalm.ConfiguredByLSTM("nau", 2, 3, 1)
    bound = nalm.ConfiguredByLSTM("nau", 2, 3, 1, projected=True)
    bound.load_state_dict(free.state_dict())
    with torch.no_grad():
        for linear in (free.configure["weight"], bound.configure["weight"]):
            linear.weight.zero_()
            linear.bias.copy_(torch.tensor([2.0, -3.0, 0.5]))
    control, numbers = torch.randn(1, 2), torch.tensor([[10.0, 1.0, 4.0]])
    assert free(control, numbers)[0].item() == 19
    assert bound(control, numbers)[0].item() == 11


@pytest.mark.parametrize("kind", [ConfiguredNALU, ConfiguredNAU])
def test_numbers_and_empty_slots_never_overflow_at_the_start(kind):
    for seed in range(10):
        torch.manual_seed(seed)
        out = kind(INPUTS + 1, 1)(sequence([99.0, 0.0, 57.0, 0.0]))
        assert out.shape == (1, 4, 1)
        assert out.isfinite().all()


def test_there_is_a_slot_for_every_output():
    with pytest.raises(ArgumentError, match="slots"):
        ConfiguredNAU(INPUTS + 2, 2, slots=1)
