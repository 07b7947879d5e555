"""The thirteen models of table 7.3: what they are made of and how they are trained."""

import pytest
import torch

from nalm.papers.mistry2023.composition_setups import composition_setups
from nalm.recipes import SGD, Discretise, UnitPenalty
from nalm.recipes.schedules import Ramp
from nalm.units import outer_units, units_of

SETUPS = composition_setups()
ROWS = list(SETUPS)


def test_there_are_thirteen_rows_in_the_order_of_the_table():
    assert len(ROWS) == 13
    assert (ROWS[0], ROWS[3], ROWS[8], ROWS[-1]) == (
        "MLP (6L;16HU)",
        "4L Stacked [iNAC,iMNAC, iNAC, iMNAC]",
        "2L Stacked Gated [NAU;NMU]",
        "Recurrent Input with Frozen NALMs",
    )


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_the_numbers_of_table_7_2(row):
    recipe = SETUPS[row].recipe
    assert recipe.optimiser == SGD(1e-3)
    assert (recipe.iterations, recipe.batch_size) == (200_000, 128)
    assert all(penalty.schedule == Ramp(100e3, 150e3) for penalty in recipe.penalties)
    assert all(penalty.strength == 10 for penalty in recipe.penalties if isinstance(penalty, UnitPenalty))


@pytest.mark.parametrize("row", ROWS)
def test_every_row_takes_four_inputs_to_one_output(row):
    assert SETUPS[row].build()(torch.rand(7, 4) + 1).shape == (7, 1)


@pytest.mark.parametrize("row", [row for row in ROWS if "Real NPU" in row])
def test_the_real_npu_is_the_modified_one_with_strength_5_for_its_gates(row):
    recipe = SETUPS[row].recipe
    found = {p.of: (p.strength, p.values) for p in recipe.penalties if isinstance(p, Discretise)}
    assert found == {"W": (10.0, "-1,1"), "gates": (5.0, "0,1")}
    assert [(part.parameter, part.scheme) for part in recipe.initialise] == [("weight", "nau")]
    assert len(recipe.clamps) == 3


@pytest.mark.parametrize("row", [row for row in ROWS if "iNAC" in row])
def test_inac_and_imnac_keep_their_own_penalty_and_clip_but_are_not_reinitialised(row):
    recipe = SETUPS[row].recipe
    assert {penalty.unit for penalty in recipe.penalties} == {"inac", "inac-mul"}
    assert recipe.clip_value is not None
    assert recipe.reinitialise is None


@pytest.mark.parametrize(
    ("row", "layers", "hidden"),
    [
        ("Quadratic (2L;5HU)", 2, 5),
        ("Quadratic (2L; 2HU)", 2, 2),
        ("4L Stacked [NAU,NMU,NAU,NMU]", 4, 5),
        ("2L Stacked Gated [NAU;Real NPU]", 2, 5),
    ],
)
def test_layers_and_values_between_them(row, layers, hidden):
    units = outer_units(SETUPS[row].build())
    assert len(units) == layers
    assert {unit.out_features for unit in units[:-1]} == {hidden}


def test_the_mlp_has_six_layers_of_weights():
    weights = [p.shape for p in SETUPS[ROWS[0]].build().parameters() if p.dim() == 2]
    assert weights == [(16, 4), *[(16, 16)] * 4, (1, 16)]


@pytest.mark.parametrize("row", [row for row in ROWS if "NALMs" not in row and row != ROWS[0]])
def test_the_recipe_knows_exactly_the_units_of_the_model(row):
    names = {unit.name for unit in units_of(SETUPS[row].build())} - {"gated", "selector"}
    assert names == set(SETUPS[row].units)
