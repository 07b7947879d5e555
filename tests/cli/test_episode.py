"""`nalm episode`: a stored agent acts, and what it does is written as an animated picture."""

import pytest
from PIL import Image

from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store
from nalm.models import ModelSpec
from nalm.recipes import Recipe
from nalm.tasks import GridWorld


@pytest.fixture
def store(tmp_path):
    """A store with an agent that has taken one step of training."""
    recipe = Recipe(iterations=1, batch_size=2, by="loop")
    case = Case(ModelSpec.parse("nac"), GridWorld("instruct"), other_recipe=recipe)
    path = tmp_path / "agents.sqlite"
    with Store(path) as made:
        made.add(compute(Chunk((Run(case, 0),))))
    return path


def test_an_episode_is_written(run, store, tmp_path):
    file = tmp_path / "episode.gif"
    code, _, said = run("episode", "--time", "9", "--store", str(store), "-o", str(file))
    assert code == 0, said
    assert "Told 9, the agent" in said
    with Image.open(file) as shown:
        assert shown.format == "GIF"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(["--unit", "nau"], "'nau'"), (["--seed", "7"], "7"), (["--time", "0"], "a whole number from 1 to")],
)
def test_an_agent_that_is_not_there_is_refused_in_a_sentence(run, store, tmp_path, options, sentence):
    code, _, said = run("episode", *options, "--store", str(store), "-o", str(tmp_path / "episode.gif"))
    assert code == 2
    assert sentence in said


def test_another_kind_of_file_is_refused(run, store, tmp_path):
    file = tmp_path / "episode.txt"
    code, _, said = run("episode", "--store", str(store), "-o", str(file))
    assert (code, file.exists()) == (2, False)
    assert "ends with .gif" in said
