"""The grid world for gymnasium: its checks pass, and its episodes are those of the batched rules."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

from nalm.environments import GRID_WORLD, GridWorldEnv
from nalm.errors import ArgumentError
from nalm.tasks.grid_world import rules
from nalm.tasks.grid_world.pictures import all_pictures, number


def made(**options):
    return gymnasium.make(f"nalm.environments:{GRID_WORLD}", **options)


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("reward", rules.REWARDS)
def test_it_passes_the_checks_of_gymnasium(reward):
    check_env(made(reward=reward, render_mode="rgb_array").unwrapped)


def test_what_it_renders_is_what_the_agent_sees():
    env = made(render_mode="rgb_array")
    seen, _ = env.reset(seed=3)
    assert env.render().shape == (56, 56, 3)
    assert np.array_equal(env.render(), seen["picture"])


@pytest.mark.parametrize("reward", rules.REWARDS)
def test_its_episodes_are_those_of_the_batched_rules(reward):
    """A hundred episodes played one by one, and all at once from the same squares with the same actions."""
    limit, episodes = 20, 100
    env = GridWorldEnv(limit=limit, reward=reward)
    actions = torch.randint(5, (limit, episodes), generator=torch.Generator().manual_seed(0))
    starts, one_by_one = [], []
    for k in range(episodes):
        env.reset(seed=k)
        starts.append(env.state)
        one_by_one.append(played(env, actions[:, k].tolist()))
    state = {name: torch.stack([each[name] for each in starts]) for name in starts[0]}
    for t in range(limit):
        state, rewards = rules.step(state, actions[t], limit, reward)
        for k, steps in enumerate(one_by_one):
            if t < len(steps):
                picture, got, arrived, timed_out = steps[t]
                assert torch.equal(picture, all_pictures()[number(state["agent"][k], state["target"][k])])
                assert got == float(rewards[k])
                assert (arrived or timed_out) == bool(state["done"][k])
                assert arrived == bool(rules.arrival(state)[k])
            else:
                assert rewards[k] == 0
    assert state["done"].all()
    lengths = {len(steps) for steps in one_by_one}
    assert len(lengths) > 5  # some arrive early, some late
    assert limit in lengths


def played(env, actions):
    """What each step of an episode gives, to its end."""
    steps = []
    for action in actions:
        seen, reward, arrived, timed_out, _ = env.step(action)
        steps.append((torch.from_numpy(seen["picture"]), reward, arrived, timed_out))
        if arrived or timed_out:
            break
    return steps


def test_the_instruction_is_drawn_or_given():
    env = made(limit=30)
    drawn = {int(env.reset(seed=seed)[0]["instruction"][0]) for seed in range(100)}
    assert drawn == set(range(5, 13))
    assert env.reset(options={"instruction": 25})[0]["instruction"] == 25


def test_wrong_arguments_are_refused_in_a_sentence():
    with pytest.raises(ArgumentError, match="instructions"):
        GridWorldEnv(instructions=(5, 25), limit=20)
    with pytest.raises(ArgumentError, match="Did you mean 'exact'"):
        GridWorldEnv(reward="exat")
    with pytest.raises(ArgumentError, match="a whole number from 1 to 20, but got 21"):
        GridWorldEnv().reset(options={"instruction": 21})
    with pytest.raises(ArgumentError, match="reset"):
        GridWorldEnv().step(0)
