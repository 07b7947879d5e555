"""Figures and tables of the thesis that illustrate an equation: surfaces, curves and worked examples."""

from __future__ import annotations

from nalm.papers.agreement import Reason
from nalm.papers.entry import Study, TrainedStudy
from nalm.papers.metrics import SUCCESS, TEST_ERROR
from nalm.papers.mistry2023.programs import (
    bases,
    batch_noise,
    gold,
    learnt_scales,
    nmu_landscape,
    penalties,
    relevance,
    selection,
    starts,
)
from nalm.papers.shared import stacks
from nalm.papers.shared.findings import measure

_VALUE = measure("value")
_LOSS = measure("loss")

ENTRIES = (
    Study(
        "mistry2023:fig2.11",
        "Penalties of NAU, NMU and iNALU, and the ramp of their strength",
        "thesis, section 2.3.3",
        penalties.compute,
        metrics=(_VALUE,),
        claims=penalties.CLAIMS,
        draw=penalties.draw,
    ),
    Study(
        "mistry2023:fig2.12",
        "The weight of NALU and G-NALU over its raw weights",
        "thesis, section 2.3.4",
        bases.compute,
        metrics=(_VALUE,),
        claims=bases.CLAIMS,
        draw=bases.draw,
        note="The axes are not in the text: here both raw weights go from -10 to 10.",
    ),
    Study(
        "mistry2023:fig2.13",
        "Loss surface of a NAC+ followed by a NAC• with epsilon 0.1",
        "thesis, section 2.3.5",
        stacks.computing({"ε = 0.1": stacks.NAC_STACKS["ε = 0.1"]}),
        metrics=(_LOSS,),
        claims=tuple(claim for claim in stacks.NAC_CLAIMS if claim.row == "ε = 0.1"),
        draw=stacks.drawing(width=5.4),
        note="The second panel of madsen2020:fig2.",
    ),
    TrainedStudy(
        "mistry2023:fig2.14",
        "Gradient of NaiveNPU and NPU where the first of two inputs is to be selected",
        "thesis, section 2.3.5",
        relevance.compute,
        relevance.plan,
        metrics=(_VALUE,),
        claims=relevance.CLAIMS,
        draw=relevance.draw,
        note="The inputs are not in the thesis: here x1 from U(0, 2) and x2 from U(0, 0.05). A gradient "
        "below 0.1 is taken for none. Gates are trained by the published recipe for products.",
    ),
    Study(
        "mistry2023:fig4.1",
        "Loss of an NMU for -2 x -1.8 over its weights",
        "thesis, section 4.1",
        nmu_landscape.compute,
        metrics=(_VALUE,),
        claims=nmu_landscape.CLAIMS,
        draw=nmu_landscape.draw,
        note="Both minima are points of one hyperbola along which the loss is 0.",
    ),
    TrainedStudy(
        "mistry2023:fig4.3",
        "Which starting weights of NMU and sNMU converge where",
        "thesis, section 4.2",
        starts.compute,
        starts.plan,
        metrics=(SUCCESS,),
        claims=starts.CLAIMS,
        draw=starts.draw,
        note="The text multiplies -2 by -1.8, the caption -2.1 by -1.8: both are here. "
        "The rates are printed in the picture only.",
    ),
    Study(
        "mistry2023:fig4.9",
        "The sNMU's noise by the deviation of the batch",
        "thesis, section 4.5",
        batch_noise.compute,
        metrics=(measure("noise"),),
        claims=batch_noise.CLAIMS,
        draw=batch_noise.draw,
    ),
    Study(
        "mistry2023:fig5.12",
        "Test errors of ideal weights close to zero",
        "thesis, section 5.8.1",
        gold.compute,
        metrics=(TEST_ERROR,),
        claims=gold.CLAIMS,
        draw=gold.draw,
    ),
    Study(
        "mistry2023:fig5.18",
        "Loss surfaces of a NAU followed by a unit that can divide",
        "thesis, section 5.11",
        stacks.computing(stacks.NAU_STACKS),
        metrics=(_LOSS,),
        claims=stacks.NAU_CLAIMS,
        draw=stacks.drawing(),
        note="Exploding is a loss above the target close to w1 = 0; not exploding is one nowhere above twice "
        "the target, which is the target's size with the wrong sign.",
    ),
    TrainedStudy(
        "mistry2023:table6.1",
        "What an NMU between learnt scales learns",
        "thesis, section 6.1",
        learnt_scales.compute,
        learnt_scales.plan,
        metrics=(_VALUE,),
        claims=learnt_scales.CLAIMS,
        draw=learnt_scales.draw,
        incomparable=Reason.DATA,
        note="The batch behind the table is not given; other data leads to other scales.",
    ),
    Study(
        "mistry2023:table6.2",
        "Outputs and errors of right and wrong weights of two layers",
        "thesis, section 6.2",
        selection.compute,
        metrics=(_VALUE,),
        claims=selection.CLAIMS,
        draw=selection.draw,
    ),
)
