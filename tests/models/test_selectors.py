"""Both recurrent selectors: lines of working, discrete choices, noise in training only."""

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.models import FrozenSelector, RecurrentSelector
from nalm.models.path import steps_of

A, B, C, D = range(4)
LINE = 4
ROW = torch.tensor([[2.0, 5.0, 3.0, 7.0]])
KINDS = (RecurrentSelector, FrozenSelector)


def learnable(*chosen, **options):
    """A selector of nau, nau and nmu whose steps choose these units with these rows of ones."""
    made = RecurrentSelector(4, 1, **options).eval()
    with torch.no_grad():
        for part in made.parts.values():
            part.weight.zero_()
        for t, (k, weights) in enumerate(chosen):
            made.logits[t, k] = 1
            row = made.parts[made.names_at(t)[k]].weight[0]
            for place, value in weights.items():
                row[place] = value
    return made


def frozen(*chosen):
    made = FrozenSelector(4, 1, steps=len(chosen)).eval()
    for t, (module, rows) in enumerate(chosen):
        made.read_(t, module, rows)
    return made


# -- what they compute ---------------------------------------------------------------------------


def test_sub_sub_of_table_7_5_keeps_minus_c_in_a_line():
    model = learnable((0, {C: -1}), (1, {A: 1, B: 1, LINE: 1}))
    assert model(ROW).tolist() == [[4.0]]
    assert str(nalm.explain(model, list("abcd"))) == "a + b - c"
    first, second = steps_of(model, "abcd")
    assert (first.unit, first.reads, first.writes, first.result) == ("nau", ("c",), "line1", "-c")
    assert (second.reads, second.expression, second.reads_lines) == (
        ("a", "b", "line1"), "a + b + line1", True,
    )  # fmt: skip


def test_units_that_are_shared_compute_the_same_of_the_inputs_in_every_step():
    model = learnable((0, {A: 1, B: 1, C: 1}), (0, {}))
    assert [step.result for step in steps_of(model, "abcd")] == ["a + b + c"] * 2


def test_every_step_may_have_its_own_units():
    model = learnable((2, {A: 1, B: 1}), (2, {C: 1, LINE: 1}), shared=False)
    assert list(model.parts) == ["t1m1", "t1m2", "t1m3", "t2m1", "t2m2", "t2m3"]
    assert model(ROW).tolist() == [[30.0]]


def test_a_step_that_is_not_read_and_units_that_are_not_selected_need_not_be_discrete():
    model = learnable((0, {A: 0.4}), (1, {B: 1, C: 1}))
    assert str(nalm.explain(model, list("abcd"))) == "b + c"
    with torch.no_grad():
        model.parts["m2"].weight[0, LINE] = 1
    assert "m1.W[0, 0] is 0.4" in str(nalm.explain(model, list("abcd")))


@pytest.mark.parametrize(
    ("steps", "value", "formula"),
    [
        ([("div", [A, B]), ("add", [C, LINE])], 3.1, "c + 1/(a*b)"),
        ([("div", [C, D]), ("mul", [A, B, D, LINE])], 10 / 3, "a*b/c"),
        ([("sub", [A, B]), ("div", [C, LINE])], -1 / 21, "1/(c*(-a - b))"),
        ([("mul", []), ("sub", [A, LINE])], -3, "-a - 1"),
        ([("add", []), ("div", [LINE])], 1 / 1.1920929e-07, "8388608.00000000"),
    ],
)
def test_frozen_modules_are_cumulative_and_what_is_masked_out_is_neutral(steps, value, formula):
    model = frozen(*steps)
    assert model(ROW).item() == pytest.approx(value, rel=1e-6)
    assert str(nalm.explain(model, list("abcd"))) == formula


def test_a_line_that_is_not_written_is_left_out_by_all_modules():
    model = frozen(("mul", [A, LINE, LINE + 1]), ("div", [B, LINE + 1]))
    assert model(ROW).item() == pytest.approx(0.2)
    assert FrozenSelector(4, 1, blank=0.0).blank == 0
    assert RecurrentSelector(4, 1).blank == 0


def test_the_path_through_frozen_modules():
    first, second = steps_of(frozen(("div", [A, B]), ("add", [C, LINE])), "abcd")
    assert (first.unit, first.expression) == ("div", "1/(a*b)")
    assert (second.unit, second.reads, second.result) == ("add", ("c", "line1"), "c + 1/(a*b)")


# -- how they begin ------------------------------------------------------------------------------


def test_the_mask_starts_as_printed_in_the_thesis():
    expected = torch.zeros(2, 6, 4)
    expected[1, 4] = 1
    assert torch.equal(FrozenSelector(4, 1).mask, expected)
    assert torch.equal(FrozenSelector(4, 1, batch_shape=(3,)).mask, expected.expand(3, -1, -1, -1))


@pytest.mark.parametrize("kind", KINDS)
def test_logits_start_equal_and_deterministic_selection_with_probability_27(kind):
    model = kind(4, 1)
    assert (model.logits == 0).all()
    assert torch.sigmoid(model.g_ml).tolist() == pytest.approx([0.2689, 0.2689], abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_logits_select_the_first(kind):
    assert kind(4, 1).weights()["choice"].tolist() == [[1] + [0] * (kind(4, 1).logits.shape[-1] - 1)] * 2


# -- noise ---------------------------------------------------------------------------------------


def results(model, count=40):
    return {round(model(ROW).item(), 5) for _ in range(count)}


@pytest.mark.parametrize("kind", KINDS)
def test_selection_is_drawn_in_training_and_certain_in_evaluation(kind):
    torch.manual_seed(0)
    model = kind(4, 1)
    assert len(results(model.train())) > 1
    assert len(results(model.eval())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_selection_in_training_is_certain_once_the_gate_is_open(kind):
    model = kind(4, 1).train()
    with torch.no_grad():
        model.g_ml.fill_(0.5)
    assert results(model) == results(model.eval())


@pytest.mark.parametrize("kind", KINDS)
def test_noise_comes_from_the_source_that_is_handed_in(kind):
    model = kind(4, 1).train()
    seen = []

    def source(shape, dtype, device):
        seen.append(tuple(shape))
        return torch.full(shape, 0.5, dtype=dtype)

    model.uniform_source = source
    assert len(results(model, 5)) == 1
    assert set(seen) == {tuple(model.logits.shape)}


@pytest.mark.parametrize("gradient", ["soft", "both"])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_that_is_learnt_has_a_gradient_in_training(kind, gradient):
    torch.manual_seed(0)
    model = kind(4, 1, gradient=gradient).train()
    with torch.no_grad():
        model.logits.add_(torch.rand_like(model.logits))
    sum(model(ROW + k / 7).sum() for k in range(9)).backward()
    assert all((p.grad != 0).any() for p in model.parameters())


# -- what they refuse ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_selector_has_one_output(kind):
    with pytest.raises(ArgumentError, match="`out_features` must be 1"):
        kind(4, 2)


@pytest.mark.parametrize(("option", "value"), [("steps", 0), ("gradient", "hard")])
@pytest.mark.parametrize("kind", KINDS)
def test_options_are_checked(kind, option, value):
    with pytest.raises(ArgumentError, match=f"`{option}`"):
        kind(4, 1, **{option: value})


def test_a_single_step_has_no_line_to_subtract_or_divide_with():
    assert FrozenSelector(4, 1, steps=1).ops == ("add", "mul", "reciprocal")


def test_a_path_is_that_of_one_model_with_a_name_per_input():
    with pytest.raises(ArgumentError, match="`model` must be"):
        steps_of(FrozenSelector(4, 1, batch_shape=(2,)), "abcd")
    with pytest.raises(ArgumentError, match="`names` must be 4 names"):
        steps_of(FrozenSelector(4, 1), "abc")
