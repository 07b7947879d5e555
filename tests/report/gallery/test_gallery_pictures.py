"""What the other pictures show: weights over time, success rates, digits, a path, an episode."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from made_digits import digit_record, digit_run, store_of
from PIL import Image

from nalm.experiment.compute import compute
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.papers.ledger import results_folder
from nalm.recipes import Recipe
from nalm.report.gallery import agent_episode, composed_path, digits_read, success_maps, weights_over_time
from nalm.report.gallery.gallery import KINDS
from nalm.report.gallery.picture import Drawn, Skipped, Studio, new_figure
from nalm.tasks import GridWorld, MnistIsolated
from nalm.training.train import train

DOCS = Path(__file__).parents[3] / "docs"


def test_the_documentation_shows_every_picture():
    shown = set(re.findall(r"\(images/gallery/(.*?)\)", (DOCS / "gallery.md").read_text(encoding="utf-8")))
    assert shown == {*(f"{name}.png" for kind in KINDS.values() for name in kind.makers), "episode.gif"}
    assert shown == {file.name for file in (DOCS / "images" / "gallery").iterdir()}


def test_weights_and_gates_of_all_seeds_are_followed():
    result = train("realnpu", weights_over_time.CASES["realnpu"], seeds=2, iterations=50, log_interval=10,
                   compiled=False)  # fmt: skip
    found = weights_over_time.followed("realnpu", result)
    assert list(found) == ["W[1]", "W[2]", "g[1]", "g[2]"]
    assert all(curves.shape == (2, 6) for curves in found.values())
    assert torch.equal(found["W[2]"], result.history["weight"][:, :, 0, 1])
    assert (found["g[1]"][:, 0] == 0.5).all()  # where gates begin


@pytest.mark.parametrize("op", success_maps.ENTRIES)
def test_success_rates_are_those_of_the_kept_results(op):
    name, (first, *_) = success_maps.ENTRIES[op]
    kept = json.loads((results_folder() / f"{first.replace(':', '-')}.json").read_text(encoding="utf-8"))
    rates = {
        (row, column): value for row, column, metric, value, *_ in kept["findings"] if metric == "success"
    }
    drawn = success_maps.draw(op, Studio())
    axis = drawn.figure.axes[0]
    shown = np.asarray(axis.images[0].get_array())
    units = [label.get_text() for label in axis.get_yticklabels()]
    columns = [label.get_text() for label in axis.get_xticklabels()]
    for (unit, column), value in rates.items():
        assert shown[units.index(unit), columns.index(column)] == value
    assert len(columns) == 9
    assert name in drawn.sentence
    assert first in drawn.source


def test_division_has_the_units_of_both_entries():
    units = {unit for unit, _ in success_maps.rates(success_maps.ENTRIES["div"][1])}
    assert {"NALU", "Real NPU", "NRU", "NMRU"} <= units


def test_a_result_that_is_not_kept_is_a_reason_to_leave_the_picture_out():
    with pytest.raises(Skipped, match="mistry2023:fig99"):
        success_maps.rates(["mistry2023:fig99"])


def test_the_path_computes_the_formula():
    path, formula, verdict = composed_path.found_path()
    assert (formula, verdict) == ("a*(a + b)/(c - d)", "exact")
    assert path[-1][3] == "y"
    assert len(path) == 4
    drawn = composed_path.draw(Studio())
    texts = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert all(any(f"step {step[0]}: {step[1]}" == text for text in texts) for step in path)


def test_an_agent_made_by_hand_arrives_in_time():
    pytest.importorskip("gymnasium")
    from nalm.environments.episodes import play
    from nalm.report.gallery.made_agent import MadeAgent

    for time in (8, 12, 25):
        assert [play(MadeAgent(), time, seed=seed).arrived for seed in range(6)] == [time] * 6


def test_an_episode_is_a_strip_and_an_animation_and_says_that_nothing_was_trained(tmp_path):
    pytest.importorskip("gymnasium")
    drawn = agent_episode.draw(Studio())
    assert "made by hand, not trained" in drawn.sentence
    assert f"arrives at t = {agent_episode.TIME}" in drawn.sentence
    assert drawn.save(tmp_path, "episode") == ["episode.png", "episode.gif"]
    with Image.open(tmp_path / "episode.gif") as shown:
        assert shown.n_frames > 1
    titles = [axis.get_title() for axis in drawn.figure.axes]
    assert titles == [f"t = {t}" for t in range(agent_episode.TIME + 1)]


def test_an_agent_of_a_store_is_the_one_that_acts(tmp_path):
    pytest.importorskip("gymnasium")
    recipe = Recipe(iterations=1, batch_size=2, by="loop")
    case = Case(ModelSpec.parse("nac"), GridWorld("instruct"), other_recipe=recipe)
    store = store_of(tmp_path / "agents.sqlite", compute(Chunk((Run(case, 0),))))
    drawn = agent_episode.draw(Studio(store))
    assert "a stored agent with nac, trained for 1 steps" in drawn.sentence
    assert drawn.source == "nalm episode --unit nac --op instruct --seed 0"


def test_digits_without_a_store_are_labelled_as_briefly_trained():
    drawn = digits_read.draw(Studio(), steps=1)
    assert "drawn digits, trained for only 1 steps" in drawn.sentence
    assert "test images are misread" in drawn.sentence
    labels = [axis.get_xlabel() for axis in drawn.figure.axes]
    assert sum("result" in label and "true" in label for label in labels) == 3


def test_digits_of_a_store_are_those_of_its_runs(tmp_path):
    task = MnistIsolated("div", digits="drawn").reduced()
    store = store_of(tmp_path / "runs.sqlite", [digit_record(digit_run("nru", task, seed=4))])
    drawn = digits_read.draw(Studio(store))
    assert drawn.sentence.startswith("nru on mnist-isolated, div")
    assert "seed 4" in drawn.sentence
    assert drawn.source == "nalm bench mnist-isolated --op div --units nru"


def test_a_small_drawing_of_lines_is_an_svg_too_and_equal_drawings_give_equal_files(tmp_path):
    def written(name):
        figure = new_figure(2, 2)
        figure.subplots().plot([1, 2])
        return Drawn(figure, "t", "s", "c", vector=True).save(tmp_path, name)

    assert written("a") == ["a.png", "a.svg"]
    written("b")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "<text" in (tmp_path / "a.svg").read_text(encoding="utf-8")
