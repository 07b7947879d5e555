"""Networks that read pictures of digits: the papers' layers, whichever way they are computed."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from nalm.models import digit_readers
from nalm.models.digit_readers import (
    READERS,
    ClassifierReader,
    ExampleReader,
    FirstConvolution,
    LargeConvolution,
    RegressionReader,
    SmallClassifierReader,
    SoftDigit,
)
from nalm.models.selection import softargmax

KINDS = (RegressionReader, ClassifierReader, SmallClassifierReader, ExampleReader)
CLASSIFIERS = (ClassifierReader, SmallClassifierReader)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def images(n=5, dtype=torch.float32):
    return torch.rand(n, 28, 28, dtype=dtype)


def standardised(seen):
    return (seen[:, None] - 0.1307) / 0.3081


# -- the first convolution -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [FirstConvolution, LargeConvolution])
@pytest.mark.parametrize(("channels", "size"), [(20, 5), (32, 3), (10, 15)])
@pytest.mark.parametrize("side", [28, 30])
def test_the_first_convolution_is_that_of_torch(kind, channels, size, side):
    ours = kind(channels, size).double()
    theirs = nn.Conv2d(1, channels, size).double()
    theirs.load_state_dict(ours.state_dict())
    first, second = (torch.rand(3, 1, side, side, dtype=torch.float64) for _ in range(2))
    second.copy_(first)
    upstream = torch.randn(3, channels, side - size + 1, side - size + 1, dtype=torch.float64)
    results = []
    for layer, seen in ((ours, first.requires_grad_()), (theirs, second.requires_grad_())):
        output = layer(seen)
        gradients = torch.autograd.grad((output * upstream).sum(), [seen, *layer.parameters()])
        results.append([output, *gradients])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [FirstConvolution, LargeConvolution])
def test_the_first_convolution_starts_like_that_of_torch(kind):
    torch.manual_seed(3)
    ours = kind(20, 5)
    torch.manual_seed(3)
    theirs = nn.Conv2d(1, 20, 5)
    assert torch.equal(ours.weight, theirs.weight)
    assert torch.equal(ours.bias, theirs.bias)


# -- the papers' networks ------------------------------------------------------------------------

SIZES = {
    ClassifierReader: [320, 18_496, 1_179_776, 1_290],  # thesis, figure E.1
    RegressionReader: [520, 25_050, 400_500, 501],  # thesis, figure E.4
    SmallClassifierReader: [520, 25_050, 102_528, 1_290],  # ours
    ExampleReader: [260, 5_020, 16_050, 510],  # PyTorch's example of 2018
}


@pytest.mark.parametrize("kind", KINDS)
def test_layers_have_the_sizes_of_the_papers(kind):
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in kind().layers]
    assert [size for size in sizes if size] == SIZES[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_readings_are_so_many_values_per_image(kind):
    reader = kind().eval()
    assert reader(images()).shape == (5, reader.values)
    assert reader.values == (10 if kind is ExampleReader else 1)


def by_the_book(reader, seen):
    """The layers as the papers have them: ReLU before the maximum is taken, without dropout."""
    linear = [layer for layer in reader.layers if isinstance(layer, nn.Linear)]
    first, second = (layer for layer in reader.layers if isinstance(layer, nn.Conv2d))
    x = functional.conv2d(standardised(seen), first.weight, first.bias).relu()
    if not isinstance(reader, ClassifierReader):
        x = functional.max_pool2d(x, 2)
    x = functional.max_pool2d(functional.conv2d(x, second.weight, second.bias).relu(), 2)
    return linear[1](linear[0](x.flatten(1)).relu())


@pytest.mark.parametrize("kind", KINDS)
def test_the_maximum_before_relu_is_relu_before_the_maximum(kind):
    reader, seen = kind().double().eval(), images(dtype=torch.float64)
    ours, theirs = reader.layers(standardised(seen)), by_the_book(reader, seen)
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)
    parameters = list(reader.layers.parameters())
    for a, b in zip(*(torch.autograd.grad(each.square().sum(), parameters) for each in (ours, theirs))):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-10)


def test_dropout_is_that_of_the_papers():
    found = {
        kind: [(type(m), m.p) for m in kind().layers if isinstance(m, (nn.Dropout, nn.Dropout2d))]
        for kind in KINDS
    }
    assert found == {
        RegressionReader: [],
        ClassifierReader: [(nn.Dropout, 0.25), (nn.Dropout, 0.5)],
        SmallClassifierReader: [],  # ours
        ExampleReader: [(nn.Dropout2d, 0.5), (nn.Dropout, 0.5)],
    }


@pytest.mark.parametrize("kind", [RegressionReader, ExampleReader])
def test_readings_are_what_the_layers_give(kind):
    reader, seen = kind().double().eval(), images(dtype=torch.float64)
    torch.testing.assert_close(reader(seen), by_the_book(reader, seen), rtol=1e-10, atol=1e-10)


def test_the_thesiss_classifier_reads_the_mean_of_the_digits():
    reader, seen = ClassifierReader().double().eval(), images(dtype=torch.float64)
    chances = by_the_book(reader, seen).softmax(-1)
    expected = (chances * torch.arange(10)).sum(-1, keepdim=True)
    torch.testing.assert_close(reader(seen), expected, rtol=1e-10, atol=1e-10)


def test_readers_of_one_number_have_names():
    assert {name: READERS[name] for name in ("regression", "classifier", "small-classifier")} == {
        "regression": RegressionReader,
        "classifier": ClassifierReader,
        "small-classifier": SmallClassifierReader,
    }
    assert {make().values for make in READERS.values()} == {1}


def test_the_temperature_of_a_small_classifier_is_learnt():
    logits = torch.rand(5, 10)
    layer = SoftDigit(0.5)
    torch.testing.assert_close(layer(logits), softargmax(logits, 0.5)[:, None] - 1)
    layer(logits).sum().backward()
    assert layer.sharpness.grad != 0


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_classifier_reads_digits_from_0_to_9(kind):
    reader = kind().eval()
    readings = reader(images())
    assert 0 <= readings.min() <= readings.max() <= 9
    for digit in (0, 4, 9):
        with torch.no_grad():
            reader.layers[-1].bias.zero_()[digit] += 1000
        torch.testing.assert_close(reader(images()), torch.full((5, 1), float(digit)))


# -- in parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [6, 7, 8, 20])
def test_in_evaluation_images_are_read_part_by_part_to_the_same_numbers(kind, n, monkeypatch):
    monkeypatch.setattr(digit_readers, "AT_ONCE", 7)
    reader, seen = kind().double().eval(), images(n, torch.float64)
    sizes = []
    reader.layers.register_forward_pre_hook(lambda layers, given: sizes.append(len(given[0])))
    whole = reader.read(seen)
    sizes.clear()
    torch.testing.assert_close(reader(seen), whole, rtol=1e-12, atol=1e-12)
    assert sum(sizes) == n
    assert max(sizes) <= 7


@pytest.mark.parametrize("kind", KINDS)
def test_in_training_all_images_are_read_at_once(kind, monkeypatch):
    monkeypatch.setattr(digit_readers, "AT_ONCE", 2)
    reader, sizes = kind().train(), []
    reader.layers.register_forward_pre_hook(lambda layers, given: sizes.append(len(given[0])))
    reader(images(5))
    assert sizes == [5]


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_learns_and_can_be_copied_and_drawn_again(kind):
    reader = kind()
    reader(images(8)).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in reader.parameters())
    assert torch.equal(copy.deepcopy(reader).eval()(images(2) * 0), reader.eval()(images(2) * 0))
    holders = [module for module in reader.modules() if list(module.parameters(recurse=False))]
    assert all(callable(module.reset_parameters) for module in holders)
