"""The task of number words: its sets, its recipe, and a few steps of training."""

import pytest
import torch

from nalm.errors import ArgumentError
from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.recipes import Adam, Falling
from nalm.tasks import TASKS, Language, Split
from nalm.tasks.language.task import QUICK_STEPS, SEEN, STEPS
from nalm.tasks.language.words import VOCABULARY, words_of
from nalm.tasks.sampling import sample
from nalm.training.trainers import train_runs


def said(vectors):
    """The words of a sentence of one-hot vectors."""
    return [VOCABULARY[int(row.argmax())] for row in vectors if row.sum() > 0]


def test_it_is_a_task_by_name():
    assert TASKS["language"] is Language
    assert [task.op for task in Language.variants()] == ["outputs", "summed", "final"]


@pytest.mark.parametrize(("split", "size"), [("train", 169), ("validation", 200), ("test", 631), (SEEN, 169)])
def test_a_batch_is_a_whole_set_of_sentences_with_their_values(split, size):
    task = Language()
    assert task.samples(split) == task.block(split) == size
    sentences, values = sample(task, 4, split, size)
    assert values.shape == (size, 1)
    assert all(said(each) == words_of(int(value)) for each, value in zip(sentences, values))


def test_training_numbers_are_also_a_set_to_evaluate_on():
    task = Language()
    assert task.split_numbers(SEEN) == task.split_numbers(Split.TRAIN)
    assert task.tests[0] == Split.TEST


def test_the_recipe_takes_the_whole_training_set_at_once():
    full, quick = (Case(ModelSpec.parse("nalu"), task) for task in (Language(), Language().reduced()))
    assert full.recipe.batch_size == quick.recipe.batch_size == 169
    assert (full.recipe.iterations, quick.recipe.iterations) == (STEPS, QUICK_STEPS)
    assert isinstance(full.recipe.optimiser, Adam)
    assert isinstance(quick.recipe.optimiser, Falling)
    slower = Language().with_rate(full.recipe, 1e-3)
    assert slower.optimiser.learning_rate == 1e-3
    with pytest.raises(ArgumentError, match="step by step"):
        _ = Case(ModelSpec.parse("nau@second-order"), Language()).recipe


@pytest.mark.parametrize(("field", "value"), [("op", "mean"), ("size", 24), ("protocol", "slow")])
def test_what_is_not_offered_is_refused(field, value):
    with pytest.raises(ArgumentError, match=field):
        Language(**{field: value})


@pytest.mark.parametrize("unit", ["linear", "nalu", "nau", "nmu", "realnpu", "inalu"])
def test_several_seeds_train_side_by_side_as_they_do_alone(unit):
    case = Case(ModelSpec.parse(unit), Language(size=16), iterations=2)

    def trained(seeds):
        return train_runs(
            case.build(), [case.task] * len(seeds), [case.recipe] * len(seeds), seeds,
            log_interval=2, initial=case.initial(seeds), compiled=False,
        )  # fmt: skip

    both, second = trained([0, 1]), trained([1])
    assert both.errors[f"{SEEN}/mae"].shape == (2, 2)
    torch.testing.assert_close(both.validation[1:], second.validation)
    torch.testing.assert_close(both.test[1:], second.test)


def test_the_task_of_a_stored_run_is_rebuilt():
    task = Language("final", 16, draw=3).reduced()
    assert Language.rebuild(task.labels(), task.identity()) == task
