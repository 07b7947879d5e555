"""Pictures of the grid world: every state has one of its own."""

import torch

from nalm.tasks.grid_world.pictures import all_pictures, as_input, number, picture

RED, GREY = torch.tensor([255, 0, 0]), torch.tensor([160, 160, 160])


def test_a_picture_shows_agent_and_target():
    shown = picture(0, 24)
    assert shown.shape == (56, 56, 3)
    assert torch.equal(shown[5, 5], GREY.byte())
    assert torch.equal(shown[50, 50], RED.byte())
    assert (shown == GREY.byte()).all(-1).sum() == 100
    assert (shown == RED.byte()).all(-1).sum() == 100


def test_states_are_told_apart():
    different = {bytes(each.numpy()) for each in all_pictures()}
    assert len(different) == 25 * 24 + 25  # an agent on the target hides it


def test_a_state_has_its_number():
    agent, target = torch.tensor([3, 17]), torch.tensor([9, 2])
    shown = all_pictures()[number(agent, target)]
    assert torch.equal(shown[1], picture(17, 2))


def test_a_network_takes_channels_first_from_0_to_1():
    taken = as_input(all_pictures()[:2])
    assert taken.shape == (2, 3, 56, 56)
    assert taken.max() == 160 / 255 or taken.max() == 1
