"""What all composites have in common: they are units, and nothing is counted twice."""

import copy
import pickle

import composite_references as references
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import FrozenSelector, GatedPair, Hybrid, ModelSpec, RecurrentSelector
from nalm.models.composites import COMPOSITES
from nalm.testing import CHECKS, Subject
from nalm.units import UNITS, outer_units, units_of

REFERENCES = {
    "gated": references.gated("nau", "nmu"),
    "gated(units=nau|realnpu)": references.gated("nau", "realnpu"),
    "gated(units=inac|inac-mul)": references.gated("inac", "inac-mul"),
    "selector": references.selector("nau", "nau", "nmu"),
    "selector(units=nau|realnpu;steps=3;blank=1)": references.selector("nau", "realnpu", blank=1.0),
    "selector(units=inac|inac-mul;shared=false)": references.selector("inac", "inac-mul", shared=False),
    "frozen-selector": references.frozen_selector,
    "frozen-selector(steps=3)": references.frozen_selector,
    "hybrid": references.hybrid,
    "composer": references.composer,
    "composer(steps=2)": references.composer,
}
NAMES = list(REFERENCES)
ROWS = torch.rand(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.5


def built(name, batch_shape=(), seed=0):
    """A composite of four inputs with random weights, mask and logits, in float64."""
    outputs = 2 if name.startswith(("gated", "hybrid")) else 1
    made = ModelSpec.parse(name).build(4, outputs, batch_shape=batch_shape, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    made.reset_parameters(generator)
    with torch.no_grad():
        for key, value in made.named_parameters():
            if key in ("logits", "mask"):
                value.copy_(torch.rand(value.shape, generator=generator, dtype=torch.float64))
    return made.eval()


def one(model, k):
    """One of the models side by side, by its own constructor and state."""
    single = built(model_name(model))
    single.load_state_dict({name: value[k] for name, value in model.state_dict().items()})
    return single


def model_name(model):
    return next(n for n in NAMES if repr(built(n)) == repr(model).replace(", batch_shape=(3,)", ""))


def test_every_composite_has_a_reference():
    assert {name.partition("(")[0] for name in NAMES} == set(COMPOSITES)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_reference(name, seed):
    model = built(name, seed=seed)
    expected = REFERENCES[name](ROWS.numpy(), {k: v.detach().numpy() for k, v in model.named_parameters()})
    torch.testing.assert_close(model(ROWS), torch.from_numpy(expected), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_models_side_by_side_equal_single_ones(name):
    model = built(name, (3,))
    outputs = model(ROWS.expand(3, -1, -1))
    for k in range(3):
        single = one(model, k)
        torch.testing.assert_close(outputs[k], single(ROWS))
        torch.testing.assert_close(nalm.penalty(model)[k], nalm.penalty(single))
        torch.testing.assert_close(nalm.sparsity_error(model)[k], nalm.sparsity_error(single))
        assert str(nalm.explain(model)[k]) == str(nalm.explain(single))


@pytest.mark.parametrize("name", NAMES)
def test_copies_pickles_and_states_compute_the_same(name):
    model, other = built(name), built(name, seed=1)
    other.load_state_dict(model.state_dict())
    for same in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), other):
        assert torch.equal(same(ROWS), model(ROWS))


@pytest.mark.parametrize("name", NAMES)
def test_formulas_are_those_of_the_parts(name):
    model = built(name)
    found = nalm.explain(model, list("abcd"), tolerance=1e-9)
    assert found.expressions  # they were compared with the model
    nalm.snap_(model)
    assert nalm.explain(model, list("abcd")).readable


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("units", ["nau|nmu", "nau|realnpu"])
def test_gated_pairs_conform_like_any_unit(units, check):
    check(Subject(GatedPair, references.gated(*units.split("|")), options={"units": units}))


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "gated(units=nau|nmu)+gated(units=nau|nmu)",
        "selector(units=nau|nau|nmu;steps=2)",
        "selector(units=nau|realnpu;shared=false)",
        "frozen-selector(steps=2)",
        "hybrid",
        "gated@clipped(units=inac|inac-mul)",
    ],
)
def test_names_are_read_and_printed_back(text):
    spec = ModelSpec.parse(text)
    assert str(spec) == text
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.made_of_units


@pytest.mark.parametrize("units", ["nau", "nau|nmu|nau", "", "nau|nix", "nau|nsr", "nau|gated"])
def test_a_gated_pair_is_made_of_two_arithmetic_units(units):
    with pytest.raises(ArgumentError, match="`units` must be"):
        GatedPair(2, 1, units=units)


def test_composites_do_not_hide_units():
    assert not set(COMPOSITES) & set(UNITS)


# -- parts ---------------------------------------------------------------------------------------


def test_a_composite_is_one_layer_and_its_parts_are_units():
    stack = ModelSpec.parse("gated+gated").build(4, 1, hidden=5)
    assert [unit.name for unit in outer_units(stack)] == ["gated", "gated"]
    assert [unit.name for unit in units_of(stack)] == ["gated", "nau", "nmu"] * 2


def test_penalties_are_those_of_the_parts_once():
    pair = GatedPair(3, 2)
    assert float(pair.penalty()) == 0
    expected = pair.parts["m1"].penalty() + pair.parts["m2"].penalty()
    torch.testing.assert_close(nalm.penalty(pair), expected)


def test_projection_sparsity_and_snapping_cover_the_parts():
    pair = GatedPair(3, 2)
    with torch.no_grad():
        pair.parts["m2"].weight.fill_(1.7)
    assert float(nalm.sparsity_error(pair).detach()) == pytest.approx(0.7)
    assert float(pair.sparsity_error(gates=True).detach()) == pytest.approx(0.7)
    pair.project_()
    assert float(pair.parts["m2"].weight.detach().max()) == 1
    pair.snap_()
    assert float(nalm.sparsity_error(pair, gates=True).detach()) == 0


def test_new_weights_are_drawn_for_the_parts_too():
    first, second = (GatedPair(3, 2) for _ in range(2))
    for pair in (first, second):
        pair.reset_parameters(torch.Generator().manual_seed(4))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters()))


@pytest.mark.parametrize("kind", [GatedPair, RecurrentSelector, FrozenSelector, Hybrid])
def test_second_order_training_is_refused(kind):
    with pytest.raises(ArgumentError, match="which chooses between units"):
        nalm.solve(kind(2, 1), torch.rand(9, 2), torch.rand(9, 1))
    assert "second-order" not in kind.all_recipes()
