"""Units inside larger networks: each has the shapes and units it says, and learns what it is shown."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

import nalm

FOLDER = Path(__file__).parents[1] / "examples"
NAMES = ("nalu_between_gru_and_dense", "residual_nac_in_unet", "nac_before_lstm")
FILES = {name: FOLDER / f"{name}.py" for name in NAMES}


def load(name):
    spec = importlib.util.spec_from_file_location(name, FILES[name])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def units(model):
    return [type(part) for part in model.modules() if isinstance(part, nalm.Unit)]


def test_every_pattern_is_listed_and_no_script_is_forgotten():
    """The other scripts begin with a cell; tests/test_example_scripts.py runs them."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in text for name in FILES)
    others = {path.stem for path in FOLDER.glob("*.py") if not path.read_text("utf-8").startswith("# %%")}
    assert others == set(FILES)


def test_a_nalu_lies_between_the_gru_and_the_dense_layer():
    example = load("nalu_between_gru_and_dense")
    model = example.PathPredictor(hidden=4)
    assert units(model) == [nalm.NALU]
    assert model(torch.rand(3, 10, 2)).shape == (3, 2)


def test_the_skip_connections_of_the_u_net_pass_a_nac():
    example = load("residual_nac_in_unet")
    model = example.CountingUNet(channels=2)
    assert units(model) == [nalm.NAC, nalm.NAC]
    images, density = example.cells(3, 5, torch.Generator().manual_seed(0))
    assert model(images).shape == density.shape
    assert torch.equal(density.sum((1, 2, 3)), density.sum((1, 2, 3)).round())


def test_a_nac_reads_each_frame_before_the_lstm():
    example = load("nac_before_lstm")
    model = example.VideoClassifier()
    assert units(model) == [nalm.NAC]
    frames, label = example.videos(5, torch.Generator().manual_seed(0))
    assert model(frames).shape == (5, len(example.CLASSES))
    assert label.max() < len(example.CLASSES)
    assert (frames.sum((-2, -1)) == 1).all()


@pytest.mark.parametrize("name", ["nalu_between_gru_and_dense", "residual_nac_in_unet"])
def test_training_lowers_the_error_by_half(name):
    before, after = load(name).train(steps=60)
    assert after < before / 2


def test_training_classifies_more_videos():
    before, after = load("nac_before_lstm").train(steps=150)
    assert after > before + 0.2
