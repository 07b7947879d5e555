"""The rules of the grid world: squares, walls, time, and when there is a reward."""

import pytest
import torch

from nalm.tasks.grid_world import rules

UP, DOWN, LEFT, RIGHT, PASS = range(5)


def begun(agent, target, instruction):
    places = {"agent": torch.tensor(agent), "target": torch.tensor(target)}
    return {
        **places,
        "instruction": torch.tensor(instruction),
        "time": torch.tensor(0),
        "done": torch.tensor(False),
    }


def walked(state, actions, limit=20, reward="exact"):
    """The state after some actions, and the rewards for them."""
    rewards = []
    for action in actions:
        state, got = rules.step(state, torch.tensor(action), limit, reward)
        rewards.append(float(got))
    return state, rewards


@pytest.mark.parametrize(
    ("place", "action", "after"),
    [
        *((12, UP, 7), (12, DOWN, 17), (12, LEFT, 11), (12, RIGHT, 13), (12, PASS, 12)),
        *((0, UP, 0), (0, LEFT, 0), (24, DOWN, 24), (24, RIGHT, 24), (4, RIGHT, 4), (5, LEFT, 5)),
    ],
)
def test_an_action_moves_by_one_square_and_not_through_walls(place, action, after):
    assert rules.moved(torch.tensor(place), torch.tensor(action)) == after


def test_agent_and_target_start_on_any_two_different_squares():
    u = torch.linspace(0, 1, 200)
    agent, target = torch.meshgrid(u, u, indexing="ij")
    state = rules.start(agent, target, torch.full_like(agent, 5))
    pairs = set(zip(state["agent"].flatten().tolist(), state["target"].flatten().tolist()))
    assert len(pairs) == 25 * 24
    assert all(a != b for a, b in pairs)


def test_the_reward_is_for_arriving_at_that_time_and_no_other():
    for arrival, reward in ((2, 0), (3, 1), (4, 0)):
        waits = [PASS] * (arrival - 2)
        state, rewards = walked(begun(0, 2, 3), [*waits, RIGHT, RIGHT])
        assert sum(rewards) == reward
        assert bool(state["done"])
        assert rules.arrival(state) == arrival


def test_only_the_first_step_on_the_target_counts():
    state, rewards = walked(begun(0, 1, 3), [RIGHT, LEFT, RIGHT])
    assert sum(rewards) == 0
    assert state["time"] == 1


def test_a_graded_reward_falls_with_the_distance_in_time():
    for arrival, reward in ((2, 0.5), (4, 1), (6, 0.5), (8, 0), (9, 0)):
        waits = [PASS] * (arrival - 2)
        _, rewards = walked(begun(0, 2, 4), [*waits, RIGHT, RIGHT], reward="graded")
        assert sum(rewards) == reward


def test_an_episode_ends_at_the_limit():
    state, rewards = walked(begun(0, 24, 5), [PASS] * 7, limit=6)
    assert state["time"] == 6
    assert bool(state["done"])
    assert rules.arrival(state) == 0
    assert sum(rewards) == 0


def test_the_distance_is_that_of_the_shortest_way():
    assert rules.distance(torch.tensor(0), torch.tensor(24)) == 8
    assert rules.distance(torch.tensor(7), torch.tensor(6)) == 1
