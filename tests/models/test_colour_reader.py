"""The network that reads two digits from the two channels of an image."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.func import functional_call

from nalm.models.colour_reader import ColourReader, colour_classifier
from nalm.models.many import WITH_STATISTICS


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def images(n=4, dtype=None):
    return torch.rand(n, 2, 42, 42, dtype=dtype)


def test_the_classifier_is_that_of_figure_e3():
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in colour_classifier()]
    assert [size for size in sizes if size] == [608, 18_496, 524_416, 1_290]


def test_the_layers_give_the_shapes_of_figure_e3():
    x, shapes = torch.randn(4, 2, 21, 21), []
    for layer in colour_classifier():
        x = layer(x)
        shapes.append(tuple(x.shape[1:]))
    first, second, pooled = (32, 19, 19), (64, 17, 17), (64, 8, 8)
    rows = [(4096,), (128,), (128,), (128,), (10,)]
    assert shapes == [first, first, second, second, pooled, pooled, *rows]


def test_dropout_is_that_of_figure_e3():
    assert [layer.p for layer in colour_classifier() if isinstance(layer, nn.Dropout)] == [0.25, 0.5]


def test_there_are_two_transformers_and_one_classifier():
    localisation, classifier = 1_020 + 10_020 + 10_272 + 1_056, 608 + 18_496 + 524_416 + 1_290
    assert sum(p.numel() for p in ColourReader().parameters()) == 2 * localisation + classifier


def test_readings_are_one_number_per_digit():
    readings = ColourReader().eval()(images())
    assert readings.shape == (4, 2)
    assert readings.min() >= 0
    assert readings.max() <= 9


@pytest.mark.parametrize("digit", [0, 7, 9])
def test_a_certain_classifier_gives_the_digit(digit):
    reader = ColourReader(dtype=torch.float64).eval()
    with torch.no_grad():
        reader.classifier[-1].bias[digit] += 1000
    expected = torch.full((4, 2), float(digit), dtype=torch.float64)
    torch.testing.assert_close(reader(images(dtype=torch.float64)), expected)


def test_a_reading_is_the_mean_digit_of_what_its_transformer_sees():
    reader, seen = ColourReader().eval(), images()
    nn.init.normal_(reader.transformers[1].localisation.layers[-2].weight)
    readings = reader(seen)
    for digit, transformer in enumerate(reader.transformers):
        chances = reader.classifier(transformer(seen)).softmax(-1)
        torch.testing.assert_close(readings[:, digit], chances @ torch.arange(10.0))
    assert not torch.equal(readings[:, 0], readings[:, 1])


def test_both_digits_have_readings_alike_at_first():
    readings = ColourReader().eval()(images())
    torch.testing.assert_close(readings[:, 0], readings[:, 1])


def test_gradients_reach_every_parameter_after_the_first_step():
    reader, seen = ColourReader(), images()
    reader(seen).prod(-1).sum().backward()
    for transformer in reader.transformers:
        last = transformer.localisation.layers[-2]
        assert last.weight.grad.any()
        nn.init.normal_(last.weight, std=0.01)
    reader(seen).prod(-1).sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in reader.parameters())


def test_dropout_is_drawn_from_the_seeded_generator_in_training_only():
    reader, seen = ColourReader(), images()
    torch.manual_seed(3)
    drawn = reader(seen)
    assert not torch.equal(reader(seen), drawn)
    torch.manual_seed(3)
    assert torch.equal(reader(seen), drawn)
    reader.eval()
    assert torch.equal(reader(seen), reader(seen))


def test_all_parameters_can_be_drawn_again():
    reader = ColourReader()
    holders = [module for module in reader.modules() if list(module.parameters(recurse=False))]
    assert all(callable(module.reset_parameters) for module in holders)
    assert not any(isinstance(module, WITH_STATISTICS) for module in reader.modules())
    torch.manual_seed(5)
    for module in holders:
        module.reset_parameters()
    torch.manual_seed(5)
    torch.testing.assert_close(ColourReader().state_dict(), reader.state_dict(), atol=0, rtol=0)


def test_it_is_copied_pickled_and_converted():
    reader, seen = ColourReader().eval(), images()
    expected = reader(seen)
    given = {name: p.detach().clone() for name, p in reader.named_parameters()}
    for other in (copy.deepcopy(reader), pickle.loads(pickle.dumps(reader))):
        assert torch.equal(other(seen), expected)
    assert torch.equal(functional_call(ColourReader().eval(), given, (seen,)), expected)
    wide = reader.to(torch.float64)(seen.double())
    torch.testing.assert_close(wide.float(), expected, atol=1e-4, rtol=0)


def test_every_part_has_the_precision_and_the_device():
    reader = ColourReader(dtype=torch.float64, device="meta")
    parts = [*reader.parameters(), *reader.buffers()]
    assert {(p.dtype, p.device.type) for p in parts} == {(torch.float64, "meta")}
