"""The task of the grid world: what is measured of episodes, and that its agents are runs like all others."""

from dataclasses import replace

import pytest
import torch

from nalm.errors import ArgumentError
from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.tasks import GridWorld, Split
from nalm.tasks.grid_world import rules
from nalm.tasks.grid_world.task import TESTED, TRAINED
from nalm.training.trainers import train_runs

INSTRUCT, COUNT = GridWorld("instruct"), GridWorld("count")


def numbers_of(task, split):
    held = {name: torch.tensor([float(value)]) for name, value in task.numbers(0, split).items()}
    return {**held, **task.constants(split)}


def drawn(task, split, n):
    u = torch.rand(1, task.draws_in(split), n, generator=torch.Generator().manual_seed(0))
    numbers = numbers_of(task, split)
    if split != Split.TRAIN:
        numbers["block"] = torch.zeros(1)
    return u, numbers


class Clockwork:
    """A policy that waits, then walks so as to arrive `late` steps too late; it sees numbers of pictures."""

    def __init__(self, task, late=0):
        self.task, self.late, self.time = task, late, 0

    def __call__(self, x):
        if isinstance(x, torch.Tensor):
            return torch.arange(625.0).reshape(1, 625, 1)  # what is seen is the number of the picture
        seen, told, memory = x
        agent, target = seen[..., 0].long() // 25, seen[..., 0].long() % 25
        left = told[..., 0] + self.late - memory[..., 0]
        down, right = target // 5 - agent // 5, target % 5 - agent % 5
        step = torch.where(down != 0, (down > 0).long(), 2 + (right > 0).long())
        action = torch.where(rules.distance(agent, target) < left, 4, step)
        scores = torch.nn.functional.one_hot(action, 5).float()
        after = memory.clone()
        after[..., 0] += 1
        return torch.cat([scores, torch.zeros_like(scores[..., :1]), after], -1)


def measured(task, split, policy):
    u, numbers = drawn(task, split, task.block(split))
    totals = task.totals(policy, u, numbers)
    return {m.name: total[0] / task.block(split) for m, total in zip(task.measures, totals)}


def test_a_policy_that_arrives_in_time_misses_nothing():
    for split in (Split.VALIDATION, Split.TEST):
        found = measured(INSTRUCT, split, Clockwork(INSTRUCT))
        assert found["missed"] == 0
        assert (found["missed_by_time"] == 0).all()


def test_a_policy_that_is_late_misses_everything_and_its_arrivals_say_when():
    found = measured(INSTRUCT, Split.TEST, Clockwork(INSTRUCT, late=2))
    assert (found["missed_by_time"][3:] == 1).all()
    for row, time in enumerate(TESTED):
        if time >= 8:  # it could always be followed
            assert found["arrivals"][row, time + 2] == pytest.approx(1)
    assert torch.allclose(found["arrivals"].sum(-1), torch.ones(len(TESTED)))


def test_validation_has_the_instructions_of_training_alone():
    found = measured(INSTRUCT, Split.VALIDATION, Clockwork(INSTRUCT))
    assert (found["arrivals"].sum(-1) > 0).tolist() == [time in TRAINED for time in TESTED]


def test_training_draws_every_instruction_from_5_to_12():
    u, numbers = drawn(INSTRUCT, Split.TRAIN, 500)
    told = INSTRUCT.start(u[:, :3], numbers)["instruction"]
    assert set(told.flatten().tolist()) == set(TRAINED)


@pytest.mark.parametrize(("task", "unit"), [(INSTRUCT, "none"), (INSTRUCT, "nac"), (COUNT, "nau")])
def test_looking_at_each_picture_once_changes_nothing(task, unit):
    """The loss with all 625 pictures seen beforehand is that of an agent that looks at each step."""
    torch.manual_seed(0)
    agent = task.network(ModelSpec.parse(unit).build(*task.unit_features))
    u, numbers = drawn(task, Split.TRAIN, 8)

    def predict(x):
        return agent(*(each[0] for each in (x if isinstance(x, tuple) else (x,))))[None]

    class Looks(GridWorld):
        def look(self, predict, numbers):
            return {"pictures": numbers["pictures"], "seen": torch.zeros(1, 625, 1)}

        def view(self, state):
            _, told = super().view(state)
            index = (state["agent"] * 25 + state["target"])[0]
            return predict(state["pictures"][index][None]), told

    losses = [t.objective(predict, u, numbers, None, None) for t in (task, Looks(task.op))]
    assert torch.allclose(*losses)


def test_the_loss_is_that_of_actor_and_critic():
    """Two steps of one episode, by hand: rewards 0 and 1; a third step, after its end, does not count."""
    likelihood = torch.tensor([-0.5, -0.25, -9.0]).reshape(3, 1, 1).requires_grad_()
    entropy, value = torch.tensor([1.0, 2.0, 9.0]), torch.tensor([0.5, 0.25, 9.0])
    alive, reward = torch.tensor([1.0, 1.0, 0.0]), torch.tensor([0.0, 1.0, 0.0])
    rest = [each.reshape(3, 1, 1) for each in (entropy, value, alive, reward)]
    loss = INSTRUCT._loss(likelihood, *rest)
    gain = -0.5 * 0.5 - 0.25 * 0.75 + 0.01 * 3
    assert loss.item() == pytest.approx(0.5 * (0.5**2 + 0.75**2) - gain)
    loss.sum().backward()
    assert likelihood.grad.flatten().tolist() == [-0.5, -0.75, 0]


def test_the_ideal_counter_counts_down():
    agent = COUNT.network(ModelSpec.parse("nau").build(*COUNT.unit_features))
    with torch.no_grad():
        agent.unit.weight.copy_(torch.tensor([[1.0, -1.0]]).reshape(agent.unit.weight.shape))
    seen, memory = torch.zeros(1, 64), torch.zeros(1, 1)
    for t in range(4):
        memory = agent(seen, torch.tensor([[17.0, float(t == 0)]]), memory)[:, 6:]
        assert memory.item() == 17 - (t + 1)


def small(task, steps):
    recipe = Case(ModelSpec.parse("nac"), task).recipe
    return replace(recipe, iterations=steps, batch_size=4)


def test_an_interrupted_agent_resumes_to_the_same_bits(tmp_path):
    case = Case(ModelSpec.parse("nac"), INSTRUCT)
    options = {"iterations": 4, "log_interval": 2, "initial": case.initial([0])}
    whole = train_runs(case.build(), [INSTRUCT], [small(INSTRUCT, 4)], [0], **options)

    class Stop(Exception):
        pass

    def stop(done):
        if done.done >= 2:
            raise Stop

    with pytest.raises(Stop):
        train_runs(
            case.build(),
            [INSTRUCT],
            [small(INSTRUCT, 4)],
            [0],
            **options,
            checkpoints=tmp_path,
            on_progress=stop,
        )
    assert list(tmp_path.iterdir())
    resumed = train_runs(case.build(), [INSTRUCT], [small(INSTRUCT, 4)], [0], **options, checkpoints=tmp_path)
    for name, parameter in whole.final_parameters.items():
        assert torch.equal(parameter, resumed.final_parameters[name])


def test_its_runs_are_stored_and_rebuilt():
    task = COUNT.reduced()
    case = Case(ModelSpec.parse("nau"), task, other_recipe=small(task, 1))
    (record,) = compute(Chunk((Run(case, 0),)))
    assert record.labels == {"op": "count", "protocol": "quick"}
    assert GridWorld.rebuild(record.labels, record.identity["task"]) == task
    assert record.errors["test/arrivals"].shape[:2] == (len(TESTED), 31)
    assert record.chosen_parameters["unit.weight"].size == 2


def test_wrong_arguments_are_refused_in_a_sentence():
    with pytest.raises(ArgumentError, match="Did you mean 'count'"):
        GridWorld("counts")
    with pytest.raises(ArgumentError, match="reward"):
        GridWorld("count", reward="high")
    with pytest.raises(ArgumentError, match="step by step"):
        Case(ModelSpec.parse("nau@second-order"), COUNT).recipe  # noqa: B018
