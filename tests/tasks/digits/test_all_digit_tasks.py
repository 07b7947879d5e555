"""What holds for every task on digits: names, stored data, seeds; in training no digit has a label."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from digit_batches import NOW, batch, built, errors_of, numbers_of, predictor, uniforms

from nalm.data import mnist
from nalm.errors import ArgumentError
from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.models.one import OneModel
from nalm.recipes import MSE, Adam
from nalm.tasks import (
    TASKS,
    MnistColour,
    MnistComparison,
    MnistIsolated,
    MnistParity,
    MnistSequential,
    MnistSeries,
)
from nalm.tasks.registry import task_kind

KINDS = (MnistSequential, MnistSeries, MnistIsolated, MnistColour, MnistParity, MnistComparison)
VARIANTS = [task for kind in KINDS for task in kind.variants()]
UNIT = {"mul": "nmu", "div": "nru", "add": "nau", "count": "nau", "count-even": "linear", "gt": "nsr"}
"""A unit for each operation."""


def name_of(task):
    return " ".join([task.name, *map(str, task.labels().values())])


def drawn(task):
    """The task with digits that need no files, in its quick form."""
    return replace(task.reduced(), digits="drawn")


every = pytest.mark.parametrize("task", VARIANTS, ids=name_of)
every_form = pytest.mark.parametrize(
    "task", [form for task in VARIANTS for form in (task, drawn(task))], ids=name_of
)


# -- names and stored data -----------------------------------------------------------------------


def test_there_are_six_by_name():
    names = [name for name in TASKS if name.startswith("mnist-")]
    assert names == [kind.name for kind in KINDS]
    assert all(task_kind(kind.name) is kind for kind in KINDS)


@every_form
def test_a_stored_task_is_built_again_from_its_labels_and_its_identity(task):
    stored = json.loads(json.dumps([task.labels(), task.identity()]))
    assert type(task).rebuild(*stored) == task


@every_form
def test_a_task_survives_pickling(task):
    again = pickle.loads(pickle.dumps(task))
    assert (again, hash(again), again.shape()) == (task, hash(task), task.shape())


@every
def test_the_usual_task_is_labelled_by_its_operation_alone(task):
    assert task.labels() == {"op": task.op}
    assert task.about()["labels"] == {"op": task.op}
    assert task.about()["op"] == task.op


@every
def test_what_is_not_usual_is_declared_in_the_labels(task):
    assert task.reduced().labels().items() >= {"op": task.op, "protocol": "quick"}.items()
    assert replace(task, digits="drawn").labels() == {"op": task.op, "digits": "drawn"}


@every
def test_the_quick_protocol_and_other_digits_are_other_runs(task):
    model = ModelSpec.parse(UNIT[task.op])
    forms = (task, task.reduced(), replace(task, digits="drawn"), drawn(task))
    assert len({Run(Case(model, form), 0).id for form in forms}) == len(forms)


@every
def test_the_data_are_identified_by_their_checksum(task):
    assert task.identity()["digits"] == mnist.CHECKSUM


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_operation_is_refused_in_a_sentence(kind):
    with pytest.raises(ArgumentError, match=f"`op` must be one of {', '.join(kind.ops)}, but got 'mull'"):
        kind("mull")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_data_set_is_refused_with_the_nearest(kind):
    with pytest.raises(ArgumentError, match=r"one of mnist, drawn, but got 'minst'\. Did you mean 'mnist'"):
        kind(digits="minst")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_protocol_is_refused_with_the_nearest(kind):
    with pytest.raises(ArgumentError, match=r"`protocol` must be one of paper, quick, .*mean 'quick'"):
        kind(protocol="quik")


WITHOUT_FILES = """
import socket
from pathlib import Path

def refuse(*a, **k):
    raise AssertionError("nothing may be read or fetched")

from nalm.data import mnist
mnist.load = refuse
socket.socket.connect = refuse

from nalm.experiment.bench import make_experiment, make_work
from nalm.tasks import TASKS

for name in TASKS:
    if name.startswith("mnist-"):
        for scale in ("paper", "quick"):
            made = make_experiment(name, seeds=1, scale=scale)
            work = make_work(made, None, 1)
            print(name, scale, len(made.cases) > 1, work.missing == len(made.cases), work.estimate(1) > 0)
"""


def test_tasks_recipes_and_plans_need_no_file_of_mnist(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FILES], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 12
    assert all(line.endswith("True True True") for line in lines)
    assert not list(tmp_path.rglob("mnist*"))


# -- seeds ---------------------------------------------------------------------------------------


def same(first, second):
    ours, theirs = (each if isinstance(each, tuple) else (each,) for each in (first, second))
    return all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


@every
@pytest.mark.parametrize("evaluating", [False, True])
def test_the_same_seed_gives_the_same_batch_and_another_seed_another(task, evaluating):
    task, split = drawn(task), "test" if evaluating else "train"
    draw = [batch(task, split, 64, seed, evaluating=evaluating) for seed in (0, 0, 1)]
    assert same(draw[0][0], draw[1][0])
    assert torch.equal(draw[0][1], draw[1][1])
    assert not torch.equal(draw[0][1], draw[2][1])


@every
def test_batches_have_the_precision_of_their_numbers(task):
    for dtype in (torch.float32, torch.float64):
        x, y = batch(drawn(task), n=64, dtype=dtype)
        images = x[0] if isinstance(x, tuple) else x
        assert images.dtype == y.dtype == dtype
        assert (images.min(), images.max()) == (0, 1)


# -- the network and what is trained -------------------------------------------------------------


@every_form
def test_the_network_fits_the_task(task):
    network = built(task, UNIT[task.op])
    models = OneModel(network, torch.float32, torch.device("cpu"))
    models.check_fit(task.input_shape, task.output_shape)
    of_unit = [name for name, _ in network.named_parameters() if name.startswith("unit.")]
    assert models.followed_names() == of_unit


def objective(task, network, change=lambda y: y):
    """The loss of one batch whose targets are changed, with the gradients of the network."""

    class Changed(type(task)):
        def batch(self, u, numbers):
            x, y = super().batch(u, numbers)
            return x, change(y)

    other = Changed(**vars(task))
    torch.manual_seed(0)  # for dropout
    numbers, u = numbers_of(task), uniforms(task, n=64)
    loss = other.objective(predictor(network), u, numbers, task.loss or MSE(), NOW)
    assert loss.shape == (1,)
    network.zero_grad()
    loss.sum().backward()
    named = {name: p.grad for name, p in network.named_parameters() if p.grad is not None}
    return loss.detach(), {name: gradient.clone() for name, gradient in named.items()}


WITH_LABELS = [task for task in VARIANTS if task.name not in ("mnist-series", "mnist-parity")]


@pytest.mark.parametrize("task", WITH_LABELS, ids=name_of)
def test_labels_of_single_digits_change_nothing_in_training(task):
    task = drawn(task)
    network = built(task, UNIT[task.op]).train()

    def hidden(y):
        return torch.cat([y[..., :1], torch.full_like(y[..., 1:], 7.0)], -1)

    loss, gradients = objective(task, network)
    other, others = objective(task, network, hidden)
    assert torch.equal(loss, other)
    assert gradients.keys() == others.keys()
    assert all(torch.equal(gradients[name], others[name]) for name in gradients)


@every
def test_results_are_trained_on_and_reach_the_unit_and_what_reads(task):
    task = drawn(task)
    network = built(task, UNIT[task.op]).train()
    loss, gradients = objective(task, network)
    other, _ = objective(task, network, lambda y: y + 1)
    assert float(loss) > 0
    assert not torch.equal(loss, other)
    moved = {name.partition(".")[0] for name, gradient in gradients.items() if gradient.any()}
    assert len(moved) == 2
    assert "unit" in moved


# -- recipes -------------------------------------------------------------------------------------


def recipe(task, model=None):
    return Case(ModelSpec.parse(model or UNIT[task.op]), task).recipe


@every
@pytest.mark.parametrize("protocol", ["paper", "quick"])
def test_all_are_trained_by_adam_in_the_loop_with_checkpoints(task, protocol):
    made = recipe(replace(task, protocol=protocol))
    quick_rates = {"mnist-series": 4e-3, "mnist-isolated": 2e-3}
    rate = quick_rates.get(task.name, 1e-3) if protocol == "quick" else 1e-3
    assert getattr(made.optimiser, "optimiser", made.optimiser) == Adam(rate)
    assert (made.by, made.trainer) == ("loop", "loop")
    assert made.iterations == replace(task, protocol=protocol).steps


@every
def test_the_quick_protocol_shows_fewer_images_and_has_all_penalties(task):
    paper, quick = recipe(task), recipe(task.reduced())
    images = [form.steps * form.images_per_step for form in (task, task.reduced())]
    assert images[1] < images[0] / 2
    assert [type(p) for p in quick.penalties] == [type(p) for p in paper.penalties]
    assert [p.strength for p in quick.penalties] == [p.strength for p in paper.penalties]
    assert Case(ModelSpec.parse(UNIT[task.op]), task.reduced()).timing.missed == ()


@every
def test_the_quick_protocol_is_evaluated_eight_times_or_more(task):
    quick = task.reduced()
    assert quick.steps // quick.log_interval >= 8
    assert task.log_interval == task.epoch()


def test_a_recipe_that_is_not_adams_is_refused_and_not_replaced_unsaid():
    """A row that says `second-order` must not hold runs that were trained by Adam."""
    with pytest.raises(ArgumentError, match="second-order"):
        make_experiment("mnist-sequential", ["nmu"], ["mul"], recipe="second-order")


@every
def test_seeds_of_both_scales_are_few(task):
    paper = 3 if task.name == "mnist-colour" else 10
    assert dict(task.usual_seeds) == {"quick": 3, "paper": paper}


@every
def test_every_model_of_the_papers_fits_its_task(task):
    able = [m for m in map(ModelSpec.parse, task.models) if m.can(task.recipe_op)]
    assert len(able) > 1
    for model in able:
        network = Case(model, task.reduced()).build()
        assert sum(p.numel() for p in network.parameters()) > 0
        assert recipe(task, str(model)).batch_size == task.batch_size


@every
def test_facets_are_measured(task):
    names = {f"test/{measure.name}": measure.shape for measure in task.measures}
    for facet in task.facets():
        shape = names[facet.curve]
        assert shape == () if facet.index is None else 0 <= facet.index < shape[0]
    labels = [tuple(facet.labels.items()) for facet in task.facets()]
    assert len(set(labels)) == len(labels) >= 1


@every
def test_errors_have_the_shapes_of_their_measures(task):
    task = drawn(task)
    found = errors_of(task, built(task, UNIT[task.op]), n=10)
    assert {name: error.shape for name, error in found.items()} == {m.name: m.shape for m in task.measures}
    assert task.measures[0].shape == ()


@every
def test_a_set_is_evaluated_in_whole_blocks(task):
    for form in (task, task.reduced()):
        for split in ("validation", "test"):
            assert form.samples(split) % form.block(split) == 0
