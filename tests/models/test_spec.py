"""Models by name: what the text says is what is built."""

import pytest
import torch
from torch import nn

import nalm
from nalm.models import ModelSpec
from nalm.units import UNITS

CANONICAL = [
    "nmu",
    "nac-mul",
    "nau+nmu",
    "nalu(shared=false)",
    "realnpu(gate_gradient=straight-through;epsilon=1e-06)",
    "nac-mul(epsilon=0.001)+nmu",
    "nmu@arithmetic",
    "nau+nmu@arithmetic",
]


# -- parse and str -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", CANONICAL)
def test_text_survives_parse_and_str(text):
    assert str(ModelSpec.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *CANONICAL,
        *UNITS,
        "realnpu(gate_gradient=straight-through;epsilon=1e-6)",
        "nau@arithmetic+nmu",
        pytest.param("nalu@arithmetic(shared=false)"),
        pytest.param("nac-mul(epsilon=1e+2)"),
    ],
)
def test_str_parses_to_the_same_spec(text):
    spec = ModelSpec.parse(text)
    assert ModelSpec.parse(str(spec)) == spec


def test_units_are_in_the_order_of_the_layers():
    assert ModelSpec.parse("nau+nmu").units == (nalm.NAU, nalm.NMU)


def test_options_belong_to_their_layer_and_have_the_type_of_the_default():
    spec = ModelSpec.parse("nalu(shared=false;epsilon=1e-3)+nmu+realnpu(gate_gradient=clip)")
    assert spec.options == ((("shared", False), ("epsilon", 0.001)), (), (("gate_gradient", "clip"),))


def test_recipe_and_options_are_read_together():
    spec = ModelSpec.parse("nalu@arithmetic(shared=false)")
    assert spec.recipe == "arithmetic"
    assert spec.options == ((("shared", False),),)


def test_no_recipe_means_the_usual_one():
    assert ModelSpec.parse("nmu").recipe is None


@pytest.mark.parametrize("text", [" nau + nmu ", "nau()+nmu()"])
def test_spaces_and_empty_options_do_not_matter(text):
    assert ModelSpec.parse(text) == ModelSpec.parse("nau+nmu")


def test_true_and_false_may_be_written_in_any_case():
    assert ModelSpec.parse("nalu(shared=False)") == ModelSpec.parse("nalu(shared=false)")


def test_equal_specs_have_equal_hashes():
    assert len({ModelSpec.parse(text) for text in ("nau+nmu", " nau+nmu", "nau()+nmu")}) == 1


# -- build ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNITS)
def test_a_single_name_builds_the_unit_itself(name):
    model = ModelSpec.parse(name).build(3, 2)
    assert type(model) is UNITS[name]
    assert (model.in_features, model.out_features, model.batch_shape) == (3, 2, ())


def test_a_stack_has_hidden_values_between_its_layers():
    model = ModelSpec.parse("nau+nau+nmu").build(4, 1, hidden=3)
    assert type(model) is nn.Sequential
    assert [(type(m), m.in_features, m.out_features) for m in model] == [
        (nalm.NAU, 4, 3),
        (nalm.NAU, 3, 3),
        (nalm.NMU, 3, 1),
    ]


def test_two_hidden_values_are_usual():
    assert ModelSpec.parse("nau+nmu").build(4, 1)[0].out_features == 2


def test_every_layer_has_the_batch_shape():
    model = ModelSpec.parse("nau+nmu").build(4, 1, batch_shape=(2, 5))
    assert all(layer.batch_shape == (2, 5) for layer in model)
    assert model(torch.ones(2, 5, 7, 4)).shape == (2, 5, 7, 1)


def test_every_layer_has_the_precision_and_the_device():
    model = ModelSpec.parse("nau+nmu").build(2, 1, dtype=torch.float64, device="meta")
    assert all((p.dtype, p.device.type) == (torch.float64, "meta") for p in model.parameters())


def test_options_reach_the_units():
    model = ModelSpec.parse("nalu(shared=false)+realnpu(gate_gradient=straight-through;epsilon=1e-6)").build(
        2, 1
    )
    assert not model[0].shared
    assert (model[1].gate_gradient, model[1].epsilon) == ("straight-through", 1e-6)


def test_each_build_is_a_new_model():
    spec = ModelSpec.parse("nmu")
    assert spec.build(2, 1) is not spec.build(2, 1)


@pytest.mark.parametrize("hidden", [0, -1, 1.5])
def test_a_hidden_size_that_is_not_positive_is_refused(hidden):
    with pytest.raises(nalm.ArgumentError, match="`hidden` must be a positive whole number"):
        ModelSpec.parse("nau+nmu").build(2, 1, hidden=hidden)


# -- recipes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [2, 10])
def test_a_single_unit_has_its_published_recipe(inputs):
    assert ModelSpec.parse("nmu").make_recipe("mul", inputs) == nalm.NMU.recipe("mul", inputs=inputs)


def test_a_stack_has_the_arithmetic_recipe_of_its_last_unit():
    assert ModelSpec.parse("nau+nmu").make_recipe("mul", 100) == nalm.NMU.recipe("mul", "arithmetic")
    assert ModelSpec.parse("nau+nau").make_recipe("add", 100) == nalm.NAU.recipe("add", "arithmetic")


def test_a_stack_whose_last_unit_has_no_arithmetic_recipe_has_the_published_one():
    made = ModelSpec.parse("nau+realnpu").make_recipe("div", 100)
    assert made == nalm.RealNPU.recipe("div", inputs=100)


@pytest.mark.parametrize(
    ("text", "name"), [("nmu@arithmetic", "arithmetic"), ("nau+nmu@published", "published")]
)
def test_a_named_recipe_is_taken(text, name):
    assert ModelSpec.parse(text).make_recipe("mul", 2) == nalm.NMU.recipe("mul", name, inputs=2)


def test_an_operation_that_the_last_unit_has_not_is_refused():
    with pytest.raises(nalm.ArgumentError, match="`op` must be one that nmu can express"):
        ModelSpec.parse("nmu").make_recipe("add", 2)


# -- wrong texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "close"), [("nmuu", "nmu"), ("nau+realnpx", "realnpu"), ("NALU", "nalu")])
def test_an_unknown_unit_is_refused_with_the_nearest(text, close):
    with pytest.raises(nalm.ArgumentError, match=f"`unit` must be one of .* Did you mean '{close}'"):
        ModelSpec.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nalu(share=false)", "one of shared, epsilon, but got 'share'. Did you mean 'shared'"),
        ("nalu(shared)", "option=value, but got 'shared'"),
        ("nmu(epsilon=1)", "one of clamp, penalised, input_variance, but got 'epsilon'"),
        ("nmu(in_features=3)", "one of clamp, penalised, input_variance, but got 'in_features'"),
    ],
)
def test_an_unknown_option_is_refused_with_those_there_are(text, message):
    with pytest.raises(nalm.ArgumentError, match=f"`option` must be {message}"):
        ModelSpec.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nalu(shared=maybe)", "`shared` must be true or false, but got 'maybe'"),
        ("nalu(shared=1)", "`shared` must be true or false, but got '1'"),
        ("realnpu(epsilon=small)", "`epsilon` must be of type float, but got 'small'"),
        ("realnpu(epsilon=)", "`epsilon` must be of type float, but got ''"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(text, message):
    with pytest.raises(nalm.ArgumentError, match=message):
        ModelSpec.parse(text)


def test_a_value_that_the_unit_does_not_know_is_refused_when_built():
    spec = ModelSpec.parse("realnpu(gate_gradient=clipped)")
    with pytest.raises(nalm.ArgumentError, match=r"`gate_gradient` .* Did you mean 'clip'"):
        spec.build(2, 1)


@pytest.mark.parametrize(
    "text", ["", "+", "nau+", "+nmu", "nau++nmu", "nmu(", "nmu)", "nmu()()", "nmu@", "nau nmu", "nau,nmu"]
)
def test_bad_syntax_is_refused_with_the_right_one(text):
    with pytest.raises(nalm.ArgumentError, match=r"`unit` must be name\[@recipe\]"):
        ModelSpec.parse(text)


def test_an_unknown_recipe_is_refused_with_the_nearest():
    with pytest.raises(nalm.ArgumentError, match=r"`recipe` .* 'arithmetik'\. Did you mean 'arithmetic'"):
        ModelSpec.parse("nau+nmu@arithmetik")


def test_a_recipe_that_the_last_unit_has_not_is_refused():
    with pytest.raises(
        nalm.ArgumentError,
        match="must be one of published, modified, modified-zero, second-order, but got 'arithmetic'",
    ):
        ModelSpec.parse("realnpu@arithmetic")


@pytest.mark.parametrize(
    "text", ["gnalu(shared=false;golden_gate=true)", "gnalu(shared=false,golden_gate=true)"]
)
def test_options_are_separated_by_semicolons_or_commas(text):
    assert ModelSpec.parse(text).options == ((("shared", False), ("golden_gate", True)),)


def test_a_recipe_may_follow_the_options():
    assert ModelSpec.parse("realnpu(relevance=false)@modified") == ModelSpec.parse(
        "realnpu@modified(relevance=false)"
    )
