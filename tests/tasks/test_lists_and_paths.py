"""Lists and graphs: data against other programs, ideal weights on long lists and large graphs."""

import networkx
import pytest
import torch

import nalm
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.models.branch import ListReader, PathFinder
from nalm.tasks import Lists, ShortestPaths, Split
from nalm.tasks.lists import LENGTHS
from nalm.tasks.sampling import sample
from nalm.tasks.shortest_paths import SETS
from nalm.training.trainers import train_runs, trainer_of


def smallest() -> nalm.NSR:
    """True where the first value is smaller than the last."""
    unit = nalm.NSR(2, 1)
    unit.ideal_("lt", 0, 1)
    return unit


@pytest.mark.parametrize("split", [Split.TRAIN, *LENGTHS])
def test_minimum_and_count_are_those_of_python(split):
    for op in Lists.ops:
        x, y = sample(Lists(op), 0, split, 20)
        assert x.shape[1] == LENGTHS.get(split, 10)
        for elements, result in zip(x.tolist(), y[:, 0].tolist()):
            first = [element[0] for element in elements]
            assert result == (min(first) if op == "min" else first.count(elements[0][1]))


def test_long_lists_have_different_minima():
    _, y = sample(Lists("min"), 0, "length 1000", 100)
    assert len(set(y[:, 0].tolist())) > 10


def test_ideal_weights_find_the_minimum_of_a_thousand():
    reader = ListReader(smallest(), 1, starts_with_first=True)
    reader.reader.cell.unit.sums.weight.data = torch.eye(2)
    x, y = sample(Lists("min"), 0, "length 1000", 20, dtype=torch.float32)
    assert torch.allclose(reader(x), y, atol=1e-4)


def test_ideal_weights_count():
    unit = nalm.NSR(4, 1)
    unit.ideal_("eq", 0, 1)
    reader = ListReader(unit, 3, starts_with_first=False)
    reader.reader.cell.unit.sums.weight.data = torch.tensor([[0.0, 0, 1, 1], [0, 0, 0, 1]])
    x, y = sample(Lists("count"), 0, "length 100", 20, dtype=torch.float32)
    assert torch.equal(reader(x).round(), y)


@pytest.mark.parametrize("split", [Split.TRAIN, *SETS])
def test_distances_are_those_of_networkx(split):
    weights, distances = sample(ShortestPaths(), 3, split, 10)
    for matrix, found in zip(weights, distances):
        graph = networkx.from_numpy_array(matrix.numpy())
        expected = networkx.single_source_dijkstra_path_length(graph, 0)
        assert found.tolist() == [expected[node] for node in range(len(found))]


def test_graphs_are_symmetric_and_some_pairs_are_not_joined():
    weights, _ = sample(ShortestPaths(), 0, "test", 20)
    assert torch.equal(weights, weights.mT)
    assert (weights.diagonal(dim1=-2, dim2=-1) == 0).all()
    assert 0.2 < float((weights > 0).double().mean()) < 0.6
    assert float(weights.max()) == 10


def test_ideal_weights_find_all_paths_of_larger_graphs():
    network = PathFinder(smallest())
    network.offer.weight.data = torch.ones(1, 2)
    network.branch.sums.weight.data = torch.eye(2)
    weights, distances = sample(ShortestPaths(), 0, "test", 5, dtype=torch.float32)
    assert torch.allclose(network(weights), distances, atol=1e-3)


@pytest.mark.parametrize("task", [Lists("min"), Lists("count"), ShortestPaths()], ids=lambda task: task.name)
def test_networks_train_side_by_side_without_compiling(task):
    case = Case(ModelSpec.parse("nsr"), task)
    assert trainer_of(case.recipe).name == "eager"
    result = train_runs(
        case.build(), [task] * 2, [case.recipe] * 2, [0, 1], iterations=2, log_interval=2,
        initial=case.initial([0, 1]),
    )  # fmt: skip
    assert not result.compiled
    assert all(result.errors[facet.curve].shape == (2, 2) for facet in task.facets())
    assert not torch.equal(result.final_parameters[next(iter(result.final_parameters))][0],
                           result.final_parameters[next(iter(result.final_parameters))][1])  # fmt: skip


def test_a_stored_task_is_rebuilt():
    for task in (Lists("count"), ShortestPaths()):
        assert type(task).rebuild(task.labels(), task.identity()) == task


def test_a_discrete_network_rounds_comparison_and_weights_outside_training_only():
    unit = nalm.NSR(2, 1)
    for discrete in (False, True):
        reader = ListReader(unit, 1, starts_with_first=True, discrete=discrete)
        reader.reader.cell.unit.sums.weight.data = torch.tensor([[0.9, 0.01], [-0.01, 0.9]])
        x, _ = sample(Lists("min"), 0, Split.TRAIN, 20, dtype=torch.float32)
        assert not torch.equal(reader.train()(x), reader.train()(x).round())
        assert discrete == bool(torch.equal(reader.eval()(x), reader.eval()(x).round()))


def test_a_discrete_path_finder_rounds_its_offers():
    network = PathFinder(smallest(), discrete=True).eval()
    network.offer.weight.data = torch.full((1, 2), 0.8)
    network.branch.sums.weight.data = torch.tensor([[0.7, 0.2], [-0.3, 1.0]])
    weights, distances = sample(ShortestPaths(), 0, "test", 5, dtype=torch.float32)
    assert torch.equal(network(weights), distances)
