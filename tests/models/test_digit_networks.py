"""Networks that read digits and compute with what they read."""

import copy

import pytest
import torch
from torch import nn

import nalm
from nalm.models.baselines import SolvedAdd, SolvedMul
from nalm.models.digit_networks import ColourPair, DigitPair, DigitSequence, EvenCounter
from nalm.models.sequence_baselines import LSTM
from nalm.recipes import InputIdentity, StepState

NOW = StepState(torch.zeros(1), torch.zeros(1))


class Means(nn.Module):
    """Reads the mean brightness of rows of an image: as many as there are values."""

    def __init__(self, values=1):
        super().__init__()
        self.values, self.scale = values, nn.Parameter(torch.tensor(4.0))

    def forward(self, images):
        return self.scale * images[:, : self.values].mean(-1)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def shown(n=6, length=4):
    """Images, an index that shows some of them twice, and the sequences that it makes."""
    images = torch.rand(5, 28, 28)
    index = torch.randint(0, 5, (n, length))
    return images, index, images[index]


# -- sequences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "values", "results", "start"),
    [(nalm.NMU(2, 1), 1, 1, 1.0), (nalm.NAU(13, 10), 3, 10, 0.0), (LSTM(5, 2), 3, 2, 0.0)],
)
@pytest.mark.parametrize("training", [False, True])
def test_images_are_read_once_each_or_where_they_stand_with_the_same_results(
    unit, values, results, start, training
):
    network = DigitSequence(Means(values), unit, results, start=start).train(training)
    images, index, sequences = shown()
    picked, plain = network(images, index), network(sequences)
    assert plain.shape == (6, 4, results + values)
    torch.testing.assert_close(picked, plain)


def test_results_come_first_and_then_what_was_read():
    reader = Means()
    network = DigitSequence(reader, SolvedMul(), 1, start=1.0)
    _, _, sequences = shown()
    output = network(sequences)
    readings = torch.stack([reader(sequences[:, t]) for t in range(4)], 1)
    torch.testing.assert_close(output[..., 1:], readings)
    torch.testing.assert_close(output[..., :1], readings.cumprod(1))


def test_a_sum_starts_at_zero():
    reader = Means()
    output = DigitSequence(reader, SolvedAdd(), 1)(shown()[2])
    torch.testing.assert_close(output[..., 0], output[..., 1].cumsum(1))


def test_readings_may_be_left_out():
    images = shown()[2]
    with_them, without = (
        DigitSequence(Means(), SolvedAdd(), 1, shows_readings=shows)(images) for shows in (True, False)
    )
    assert without.shape == (6, 4, 1)
    assert torch.equal(with_them[..., :1], without)


@pytest.mark.parametrize("unit", [nalm.NMU(2, 1), nalm.NMU(5, 2)])
def test_what_was_seen_is_the_mean_of_all_inputs_of_the_unit(unit):
    values = unit.in_features - unit.out_features
    network, inputs = DigitSequence(Means(values), unit, unit.out_features, start=1.0), []
    unit.register_forward_pre_hook(lambda unit, given: inputs.append(given[0]))
    network(shown()[2])
    assert len(inputs) == 4
    torch.testing.assert_close(network.seen, torch.cat(inputs).mean(0))


def test_what_was_seen_has_gradients_for_the_reader():
    network = DigitSequence(Means(), nalm.NMU(2, 1), 1, start=1.0)
    network(shown()[2])
    value = InputIdentity()(network, NOW)
    (gradient,) = torch.autograd.grad(value.sum(), network.reader.scale)
    assert gradient != 0


def test_nothing_is_seen_in_evaluation_or_by_a_recurrent_network():
    network = DigitSequence(Means(), nalm.NMU(2, 1), 1, start=1.0)
    network(shown()[2])
    network.eval()(shown()[2])
    assert network.seen is None
    assert InputIdentity()(network, NOW) is None
    other = DigitSequence(Means(), LSTM(2, 1), 1)
    other(shown()[2])
    assert other.seen is None


def test_a_network_can_be_copied_after_a_batch_of_training():
    """Copies are made when a stuck run is given new weights."""
    network = DigitSequence(Means(), nalm.NMU(2, 1), 1, start=1.0)
    images = shown()[2]
    network(images)
    assert torch.equal(copy.deepcopy(network)(images), network(images))


def test_any_length_will_do():
    network = DigitSequence(Means(), nalm.NAU(2, 1), 1)
    for length in (1, 2, 30):
        assert network(torch.rand(3, length, 28, 28)).shape == (3, length, 2)


def test_a_recurrent_network_reads_digits_one_after_the_other():
    baseline = LSTM(4, 2, hidden_size=5)
    network = DigitSequence(Means(2), baseline, 2)
    sequences = shown()[2]
    readings = network.reader(sequences.flatten(0, 1)).unflatten(0, (6, 4))
    states, _ = baseline.network(readings)
    torch.testing.assert_close(network(sequences)[..., :2], baseline.output(states))


# -- pairs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("training", [True, False])
def test_a_pair_has_a_result_two_readings_and_the_result_of_whole_digits(training):
    network = DigitPair(Means(), SolvedMul()).train(training)
    pairs = torch.rand(6, 2, 28, 28)
    output = network(pairs)
    readings = torch.cat([network.reader(pairs[:, k]) for k in range(2)], 1)
    torch.testing.assert_close(output[:, 0], readings.prod(1))
    torch.testing.assert_close(output[:, 1:3], readings)
    torch.testing.assert_close(output[:, 3], (readings if training else readings.round()).prod(1))


def test_the_unit_is_applied_once_in_training():
    """A unit with noise would draw it twice."""
    network, calls = DigitPair(Means(), nalm.SNMU(2, 1)), []
    network.unit.register_forward_hook(lambda *call: calls.append(1))
    network(torch.rand(6, 2, 28, 28))
    assert len(calls) == 1


def test_both_forms_of_a_pair_are_the_same():
    network = DigitPair(Means(), nalm.NMU(2, 1))
    images, index, pairs = shown(length=2)
    torch.testing.assert_close(network(images, index), network(pairs))


def test_a_reader_of_colours_gives_both_readings_itself():
    class Corners(nn.Module):
        def forward(self, images):
            return images[:, :, 0, 0]

    images = torch.rand(4, 2, 42, 42)
    output = ColourPair(Corners(), SolvedMul())(images)
    first, second = images[:, 0, 0, 0], images[:, 1, 0, 0]
    torch.testing.assert_close(output[:, :3], torch.stack([first * second, first, second], 1))


@pytest.mark.parametrize(
    "make", [lambda unit: DigitPair(Means(), unit), lambda unit: DigitSequence(Means(), unit, 1)]
)
def test_gradients_reach_reader_and_unit(make):
    network = make(nalm.NAU(2, 1))
    network(shown(length=2)[2])[..., 0].sum().backward()
    assert network.reader.scale.grad != 0
    assert network.unit.weight.grad.any()


# -- even digits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "classes", "inside"), [(100, 6, 4_000), (56, 4, 810)])
def test_the_layers_before_the_unit_are_those_of_segui(side, classes, inside):
    network = EvenCounter(side, nalm.Linear(32, classes), 32)
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in network.layers]
    assert [size for size in sizes if size] == [10 * 226, 10 * 91, 32 * (inside + 1)]
    after = ((side - 14) // 2 - 2) // 2
    assert inside == 10 * after**2
    images = torch.rand(2, side, side)
    assert network(images).shape == (2, classes)
    torch.testing.assert_close(network(images), network.unit(network.layers(images[:, None])))
