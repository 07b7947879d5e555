"""The recipe of chapter 7 of the thesis: the same for all its architectures.

Table 7.2: gradient descent with learning rate 1e-3 for 200,000 steps with batches of 128; the penalty grows
from step 100,000 to 150,000, with strength 10 for the weights of units and 5 for the gates of the Real NPU.

Deviations: the table does not say which penalty a unit has, nor what becomes of the other parts of a unit's
own training. NAU, NMU, iNAC and iMNAC keep their published penalties (for the last two, equation 2.10). The
Real NPU is the modified one of section 5.4: its initial weights, its bounds, and distances of weights from
{-1, 1} and gates from {0, 1} as penalties; the L1 penalty of its recipe there is left out, because table 7.2
does not list it and it could move a weight by at most 2e-5 in 200,000 steps. iNAC and iMNAC keep the clip of
gradients to [-0.1, 0.1], which section 2.2.2 lists with their equations (training without it was not tried);
they are not reinitialised, and their penalty does not wait for a small loss. The gates of
gated pairs and the logits of selectors have no penalty: the table names none, and section 7.3 reports partial
gates. The thesis does not say how quadratic layers start. They are drawn like torch's linear layer, and so is
the MLP; with our unit's own Xavier weights nearly all of these networks diverge within 2,000 steps.
"""

from __future__ import annotations

from collections.abc import Collection

from nalm.recipes import SGD, Bound, ClipValue, Discretise, Initialise, Project, Ramp, Recipe, UnitPenalty
from nalm.recipes.clamps import Clamp
from nalm.recipes.penalties import Penalty

WINDOW = Ramp(100e3, 150e3)
WEIGHTS, GATES = 10.0, 5.0
CLIP = 0.1
_OWN_PENALTY = ("nau", "nmu", "inac", "inac-mul")
_REAL_NPU, _QUADRATIC = "realnpu", "quadratic"


def composition_recipe(units: Collection[str], *, clipped: bool = False) -> Recipe:
    """The recipe of table 7.2 for a model made of these units.

    Args:
        units: names of the units; parts of the recipe for units that a model has not do nothing.
        clipped: whether gradients are clipped, as those of iNAC and iMNAC are.
    """
    penalties: list[Penalty] = [
        UnitPenalty(WEIGHTS, WINDOW, unit=name) for name in _OWN_PENALTY if name in units
    ]
    clamps: list[Clamp] = [Project()]
    initialise: list[Initialise] = []
    if _REAL_NPU in units:
        penalties += [
            Discretise(WEIGHTS, WINDOW, values="-1,1", of="W", unit=_REAL_NPU),
            Discretise(GATES, WINDOW, values="0,1", of="gates", unit=_REAL_NPU),
        ]
        clamps += [Bound("weight", -1.0, 1.0, unit=_REAL_NPU), Bound("gate", 0.0, 1.0, unit=_REAL_NPU)]
        initialise = [Initialise("weight", "nau", unit=_REAL_NPU)]
    if _QUADRATIC in units:
        initialise += [Initialise(name, "torch", unit=_QUADRATIC) for name in "uvwbcd"]
    return Recipe(
        penalties=tuple(penalties),
        clip_value=ClipValue(CLIP) if clipped else None,
        optimiser=SGD(1e-3),
        clamps=tuple(clamps),
        initialise=tuple(initialise),
        iterations=200_000,
        batch_size=128,
    )
