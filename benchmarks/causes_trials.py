"""The trials of benchmarks/causes.py: what differs, one change, and how both sides are measured."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import torch

from causes_tables import heim, sparsity
from nalm.experiment.bench import Experiment
from nalm.experiment.rows import judged_runs
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel, ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.mistry2023.programs import gold
from nalm.papers.mistry2023.programs.feature_scaling import VARIANTS
from nalm.papers.reproduce import StoreRunner
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.series import Series, label, single_module
from nalm.recipes import L0, Adam, Ramp, UnitPenalty
from nalm.units import NMU
from public_forms import (
    NearHalfSTGNMU,
    OtherScaling,
    ProductSTGNMU,
    PublicSTGNMU,
    XavierNACMul,
    public_gold_error,
    random_scales,
)
from trask_trials import TRIALS as TRASK
from trial import SEEDS, Cases, Pair, Trial, changed, more_seeds, other, rates, row

# Chapter 3: the NAU with 100 inputs, the G-NALU's gate, the NAC•.

NARROW = [label("-1.2:-1.1"), label("1.1:1.2")]
NAU_100 = row("mistry2023:fig3.7", "NAU", NARROW)
_FAILS = "the NAU with 100 inputs fails on U[-1.2,-1.1) and U[1.1,1.2)"


def nau_100(change: str, strength: float, steps: int) -> Trial:
    """Another strength of the penalty, and 50,000 steps with the window of table E.1."""
    window = Ramp(20e3, 35e3) if steps == 50_000 else Ramp(50e3, 75e3)
    penalties = (UnitPenalty(strength, window),)
    after = changed(NAU_100, lambda r: replace(r, penalties=penalties, iterations=steps))
    return Trial("mistry2023:fig3.7", _FAILS, change, rates(NAU_100, after))


def golden(number: int, op: str, claim: str) -> Trial:
    """The golden ratio in the gate of the G-NALU as well."""
    entry = f"mistry2023:fig3.{number}"
    after = {
        c: Series("G-NALU", "gnalu(golden_gate=true)").case(task) for c, task in single_module(op).items()
    }
    change = "the gate's logistic function has the golden ratio as base too, as in the thesis's scripts"
    return Trial(entry, claim, change, rates(row(entry, "G-NALU"), after))


NAC_MUL = row("mistry2023:fig3.4", "NAC•")
_TWO = "the NAC• has success on 2 ranges"


def nac_mul(change: str, after: Cases, *, threshold: float | None = None) -> Trial:
    """A change to the NAC• on all nine ranges."""
    return Trial("mistry2023:fig3.4", _TWO, change, rates(NAC_MUL, after, SEEDS, threshold))


def stricter(run: StoreRunner) -> dict[str, Pair]:
    """The NAC• judged by the threshold of epsilon 1e-5 and of epsilon 5e-6."""
    judged = run(Experiment("causes", tuple(NAC_MUL.values()), SEEDS), None)
    pairs = {}
    for column, case in NAC_MUL.items():
        limit = case.task.threshold("test", 5e-6)  # type: ignore[call-arg]
        errors = [float(each.record.test[each.record.chosen]) for each in judged[case]]
        solved = share([each.assessment.outcome == "solved" for each in judged[case]])
        pairs[column] = (solved, share([error < (limit or 0.0) for error in errors]))
    return pairs


# Chapter 4: the stgNMU.

STG = row("mistry2023:fig4.5", "stgNMU, λ=0.1")
_NOWHERE = "the stgNMU with λ = 0.1 is nowhere worse than the NMU (U[1.1,1.2))"


def stg(change: str, after: Cases) -> Trial:
    """A change to the stgNMU on all nine ranges."""
    return Trial("mistry2023:fig4.5", _NOWHERE, change, rates(STG, after))


def _mean_penalty(recipe):  # type: ignore[no-untyped-def]
    return replace(recipe, penalties=(L0(0.1 / 2),))


# Chapter 5: thresholds, and arithmetic near zero.


def fixed(entry: str, name: str, about: str, columns: Sequence[str] | None = None) -> Trial:
    """A row of an entry judged by a fixed error of 1e-5."""
    cases = row(entry, name, columns)
    change = "a run is solved below an error of 1e-5, as in public code, on every range"
    return Trial(entry, about, change, rates(cases, cases, SEEDS, 1e-5))


def printed_limit(entry: str, names: Sequence[str], about: str) -> Trial:
    """Near zero: the limit as the thesis prints it, ideal error plus float32's epsilon."""
    cases = {f"{name}, {c}": case for name in names for c, case in row(entry, name).items()}
    change = "the limit is the error of ideal weights plus float32's epsilon, and nothing more"

    def measure(run: StoreRunner) -> dict[str, Pair]:
        records = run.records(Experiment("causes", tuple(dict.fromkeys(cases.values())), SEEDS))
        return {
            c: (_solved(case, records[case]), share([_is_below(each) for each in records[case]]))
            for c, case in cases.items()
        }

    return Trial(entry, about, change, measure)


def _solved(case: Case, records: Sequence[Record]) -> Finding:
    return share([run.assessment.outcome == "solved" for run in judged_runs(case, records)])


def _is_below(record: Record) -> bool:
    limit = (record.ideal_test or 0.0) + torch.finfo(torch.float32).eps
    return bool(record.test[record.chosen] < limit)


def gold_errors(change: str, *, cancel: bool, double: bool) -> Trial:
    """Errors of an NMRU with ideal weights near zero, by other arithmetic."""

    def measure(run: StoreRunner) -> dict[str, Pair]:
        pairs = {}
        for name in ("reciprocal, 1 input", "reciprocal, 2 inputs", "division, 2 inputs"):
            for range_, task in gold.tasks(name).items():
                ours = gold.gold_errors("nmru(exact_evaluation=true)", task, SEEDS)
                public = [
                    public_gold_error(task, seed, cancel=cancel, double=double) for seed in range(SEEDS)
                ]
                pairs[gold.column(name, range_)] = (median(ours), median(public))
        return pairs

    about = "the NMRU's error of ideal weights grows as ranges come closer to zero"
    return Trial("mistry2023:fig5.12", about, change, measure)


# Chapter 6: feature scaling.

SOLVED = ("-2:2", "0.1:0.2", "1:2", "10:20")
"""The ranges on which ours solves behind min-max scaling."""
_SCALED = VARIANTS["min-max (reg on)"]
MIN_MAX = {label(name): _SCALED.case(name, 1) for name in SOLVED}


def scaling(change: str, kind: str) -> Trial:
    """Another min-max scaling."""
    after = {
        c: replace(case, task=OtherScaling("mul", name, scaling=kind))
        for (c, case), name in zip(MIN_MAX.items(), SOLVED)
    }
    return _min_max(change, after)


def scales(change: str, start: str) -> Trial:
    """Scales and shifts that start at random."""
    model = GivenModel(f"public:NMU, {start} scales", NMU, functools.partial(random_scales, start))
    return _min_max(change, {c: replace(case, model=model) for c, case in MIN_MAX.items()})


def _min_max(change: str, after: Cases) -> Trial:
    about = "no run behind min-max scaling reaches the threshold"
    return Trial("mistry2023:fig6.1", about, change, rates(MIN_MAX, after))


_STRUGGLES = "the NRU begins to struggle on U[0,1e-4)"
_WIDER = "inputs from U(0.1, 2.1), 2 u + 0.1 with u from U(0, 1), as a public program draws them"
_EACH = "statistics of each batch in training, those of the sample in evaluation"
_THREE_NORMALS = [label(name) for name in ("tn-minus-1", "tn-0", "tn-1")]
_CLIPS, _MIXED = "with any clip the Real NPU fails on U[-2,2)", [label("-2:2")]
CLIPPED = row("mistry2023:fig5.5", "clip GW", _MIXED)


def _passing(cases: Cases) -> Cases:
    """The same cases with a gradient that passes the clip of the gate."""
    model = ModelSpec.parse("realnpu(gate_gradient=straight-through)")
    return {c: replace(case, model=model, other_recipe=case.recipe) for c, case in cases.items()}


TRIALS: dict[str, Trial] = {
    "nau-100-strength": nau_100("penalty of strength 0.01 instead of 10", 0.01, 100_000),
    "nau-100-steps": nau_100("50,000 steps, penalty from 20,000 to 35,000 (tables 3.3, E.1)", 10, 50_000),
    "nau-100-both": nau_100("both: strength 0.01 and 50,000 steps", 0.01, 50_000),
    "golden-add": golden(2, "add", "the G-NALU has success on 4 of 9 ranges, and is the worst"),
    "golden-sub": golden(3, "sub", "the G-NALU is better than the NALU on no range"),
    "golden-mul": golden(4, "mul", "the G-NALU is better than the NALU on no range"),
    "golden-div": golden(5, "div", "the G-NALU has no success"),
    "nac-mul-xavier": nac_mul("raw weights start by Xavier's scheme", other(NAC_MUL, XavierNACMul)),
    "nac-mul-seeds": more_seeds("mistry2023:fig3.4", "NAC•", _TWO, [label("-2:-1"), label("1:2")]),
    "nac-mul-fixed": nac_mul("a run is solved below an error of 1e-5", NAC_MUL, threshold=1e-5),
    "nac-mul-strict": Trial("mistry2023:fig3.4", _TWO, "epsilon 5e-6 in the threshold", stricter),
    "stg-mean": stg("the penalty is a mean over gates, not a sum", changed(STG, _mean_penalty)),
    "stg-start": stg("means start from 0.5 + 0.01 N(0, 1)", other(STG, NearHalfSTGNMU)),
    "stg-product": stg("the product of z x, without + 1 - z", other(STG, ProductSTGNMU)),
    "stg-all": stg("all three, as in public code", other(STG, PublicSTGNMU, _mean_penalty)),
    "fixed-modified": fixed(
        "mistry2023:fig5.10",
        "Real NPU (mod)",
        "success 0.48, 0.08, 0.64 on truncated normals (section 5.7), 0.61 together (table 5.6)",
        _THREE_NORMALS,
    ),
    "fixed-printed-nmru": fixed(
        "mistry2023:fig5.6", "NMRU, as printed", "full success of the NMRU on U[-2,2)", [label("-2:2")]
    ),
    "clips-seeds": more_seeds("mistry2023:fig5.5", "clip GW", _CLIPS, _MIXED),
    "clips-fixed": fixed("mistry2023:fig5.5", "clip GW", _CLIPS, _MIXED),
    "clips-gradient": Trial(
        "mistry2023:fig5.5",
        _CLIPS,
        "the gradient passes the clip of the gate, as in the code of the unit's authors",
        rates(CLIPPED, _passing(CLIPPED)),
    ),
    "near-zero-seeds": more_seeds("mistry2023:fig5.13", "NRU", _STRUGGLES),
    "near-zero-limit-1": printed_limit("mistry2023:fig5.13", ["NRU", "NMRU"], _STRUGGLES),
    "near-zero-limit-2": printed_limit(
        "mistry2023:fig5.15",
        ["NMRU", "NMRU, reciprocal"],
        "the NMRU is better than on the reciprocal of two inputs for the larger ranges",
    ),
    "gold-double": gold_errors("targets in float64 of unrounded inputs", cancel=False, double=True),
    "gold-cancel": gold_errors("x * W + 1 - W from left to right", cancel=True, double=False),
    "gold-both": gold_errors("both, as in public code", cancel=True, double=True),
    "scaling-one-batch": scaling("statistics of one batch of 128", "one batch"),
    "scaling-each-batch": scaling(_EACH, "each batch"),
    "scaling-frozen": scaling("scales and shifts stay at 1 and 0", "frozen"),
    "scales-normal": scales("scales and shifts start from N(0, 1)", "normal"),
    "scales-uniform": scales("scales and shifts start from U(0, 1)", "uniform"),
    "scales-linear": scales("scales and shifts start as nn.Linear's", "linear"),
    "heim-nmu-range": heim("NMU", _WIDER, wider=True),
    "heim-nmu-5000": heim("NMU", "5,000 steps", iterations=5_000),
    "heim-nmu-10000": heim("NMU", "10,000 steps", iterations=10_000),
    "heim-nmu-rate": heim("NMU", "learning rate 1e-3", optimiser=Adam(1e-3)),
    "heim-dense-range": heim("Dense", _WIDER, wider=True),
    "heim-dense-5000": heim("Dense", "5,000 steps", iterations=5_000),
    "heim-dense-10000": heim("Dense", "10,000 steps", iterations=10_000),
    "heim-dense-rate": heim("Dense", "learning rate 1e-3", optimiser=Adam(1e-3)),
    "sparsity-cancel": sparsity("x * W + 1 - W from left to right", cancel=True, last=False),
    "sparsity-last": sparsity("weights of the last step, not of the chosen one", cancel=False, last=True),
    **TRASK,
}
"""The trials by name."""
