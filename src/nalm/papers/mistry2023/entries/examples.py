"""Statements of the thesis's text that need no training: exact weights, worked examples, other thresholds."""

from __future__ import annotations

from nalm.papers.entry import Study
from nalm.papers.madsen2020.programs.printed_gradients import claims_of, computing
from nalm.papers.mistry2023.programs import (
    exact_mlp,
    other_thresholds,
    printed_gradients,
    redundant_inputs,
    run_times,
    worked_nalu,
)
from nalm.papers.shared.findings import measure

_ERROR, _VALUE, _SECONDS = measure("error"), measure("value", rising=None), measure("seconds per run")
_MACHINES = (
    "Machines differ: the thesis used one run per process on {}, ours is the machine of this result, with "
    "runs side by side. Extrapolated from 1,000 steps; the interval is the range of three timings."
)

ENTRIES = (
    Study(
        "mistry2023:fig1.4",
        "A network of one hidden unit that adds",
        "thesis, section 1.4.1.1",
        exact_mlp.compute_narrow,
        metrics=(_ERROR,),
        claims=exact_mlp.NARROW_CLAIMS,
        note="The text allows any positive w and any b; the pairs are ours. Errors are relative to the "
        "larger input where it is above 1.",
    ),
    Study(
        "mistry2023:fig1.5",
        "Networks of four hidden units that add and subtract",
        "thesis, section 1.4.1.1",
        exact_mlp.compute_wide,
        metrics=(_ERROR,),
        claims=exact_mlp.WIDE_CLAIMS,
        note="The weights are those of the text. Errors are relative to the larger input "
        "where it is above 1.",
    ),
    Study(
        "mistry2023:section3.3.1.1",
        "Other thresholds of success",
        "thesis, section 3.3.1.1",
        other_thresholds.compute,
        metrics=(measure("threshold", rising=None),),
        claims=other_thresholds.CLAIMS,
        note="The text gives no numbers: other values of epsilon, and the weights of a NALU in log space, "
        "are ours. Least and largest of the nine ranges; two inputs.",
    ),
    Study(
        "mistry2023:section5.9",
        "How units treat inputs that do not matter",
        "thesis, section 5.9",
        redundant_inputs.compute,
        metrics=(_VALUE,),
        claims=redundant_inputs.CLAIMS,
        note="Ten inputs, of which two matter; 256 settings, one per subset of the others. The points at "
        "which the gradient of the NRU is looked at are ours. Figure 5.16 has the trained Real NPUs.",
    ),
    Study(
        "mistry2023:appendixC.2",
        "Subtraction by a NALU, step by step",
        "thesis, appendix C.2",
        worked_nalu.compute,
        metrics=(_VALUE,),
        note="The example assumes epsilon 0; here it is 1e-300.",
    ),
    Study(
        "mistry2023:appendixE.1.2",
        "How long a run of the benchmark takes",
        "thesis, appendix E.1.2",
        run_times.computing(run_times.BENCHMARK),
        metrics=(_SECONDS,),
        formula=False,
        note="The thesis gives upper bounds for any model, 5 minutes and 4.5 hours. "
        + _MACHINES.format("16 cores of 2.4 GHz"),
    ),
    Study(
        "mistry2023:tableE.6",
        "How long a run of the division experiments takes",
        "thesis, appendix E.3.2",
        run_times.computing(run_times.DIVISION),
        metrics=(_SECONDS,),
        formula=False,
        note="Of the modified Real NPU. " + _MACHINES.format("cores of 1.2 to 2.0 GHz"),
    ),
    Study(
        "mistry2023:appendixH",
        "Printed gradients beside automatic differentiation",
        "thesis, equation 5.3 and appendix H",
        computing(printed_gradients.PAIRS),
        metrics=(measure("difference"),),
        claims=claims_of(printed_gradients.PAIRS),
        note="Largest difference relative to the largest gradient, in float64. The factors that A of H.4 "
        "leaves out are those that the sentence below it names. `Corrected` is ours: see the cause.",
    ),
)  # fmt: skip
