"""UGRNN and DNC: the equations at chosen weights, and what a memory must be able to do."""

import pytest
import torch

from nalm.errors import ArgumentError
from nalm.models.dnc import DNC
from nalm.models.sequence_baselines import DNCBaseline, UGRNNBaseline
from nalm.models.ugrnn import UGRNN


def test_an_open_update_gate_keeps_the_state_and_a_closed_one_replaces_it():
    network = UGRNN(1, 1)
    with torch.no_grad():
        network.both.weight.copy_(torch.tensor([[0.0, 0.0], [1.0, 0.0]]))
        for bias, expected in ((-100.0, [0.5, -0.25]), (100.0, [0.0, 0.0])):
            network.both.bias.copy_(torch.tensor([bias, 0.0]))
            states, last = network(torch.tensor([[[0.5], [-0.25]]]))
            assert torch.allclose(states[0, :, 0], torch.tensor(expected).tanh())
            assert torch.equal(last, states[:, -1])


def written_once(dnc, vector):
    """An interface that writes a vector to free memory and reads what was written by its content."""
    strong = torch.tensor([40.0])
    key = torch.tensor(vector)
    parts = [key, strong, key, strong, torch.full((dnc.width,), 40.0), key, -strong, strong, strong]
    return torch.cat([*parts, torch.tensor([-40.0, 40.0, -40.0])])[None]


def test_what_is_written_to_free_memory_can_be_read_by_its_content():
    dnc = DNC(1, 3, cells=4, width=2)
    memory = dnc._empty(torch.zeros(1, 1, 1))
    for vector in ([3.0, -1.0], [0.5, 2.0]):
        memory = dnc._turn(memory, written_once(dnc, vector))
        assert torch.allclose(memory.reading[0], torch.tensor(vector), atol=0.05)
    held = memory.rows[0][memory.rows[0].abs().sum(-1) > 0.1]
    assert torch.allclose(held, torch.tensor([[3.0, -1.0], [0.5, 2.0]]), atol=0.05)
    assert memory.usage.sum() == pytest.approx(1, abs=0.05)  # the last write counts from the next step on


def test_links_lead_to_what_was_written_next():
    dnc = DNC(1, 3, cells=4, width=2)
    memory = dnc._empty(torch.zeros(1, 1, 1))
    for vector in ([3.0, -1.0], [0.5, 2.0]):
        memory = dnc._turn(memory, written_once(dnc, vector))
    first, second = (int(memory.rows[0, :, k].argmax()) for k in (0, 1))
    assert memory.links[0, second, first] == pytest.approx(1, abs=0.05)
    assert memory.links.diagonal(dim1=1, dim2=2).eq(0).all()


@pytest.mark.parametrize("kind", [UGRNNBaseline, DNCBaseline])
def test_as_a_baseline_it_gives_an_output_per_step_and_trains(kind):
    torch.manual_seed(0)
    network = kind(5, 1, hidden_size=6)
    out = network(torch.randn(3, 7, 4))
    assert out.shape == (3, 7, 1)
    out.sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())
    with pytest.raises(ArgumentError, match="sequences"):
        network(torch.randn(3, 4))
