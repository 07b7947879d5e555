"""Thesis, chapter 4: noise that helps the NMU, on a single module and on the arithmetic dataset."""

from __future__ import annotations

from nalm.papers.claims import Check, Claim, best, better, both, full, lower, none, not_better
from nalm.papers.entry import Grid
from nalm.papers.mistry2023.changes import gradient_noise, l0
from nalm.papers.shared.series import Series, label, single_module, table
from nalm.tasks import RANGE_SETS, ArithmeticDataset, RangeTask

_NMU = Series("NMU", "nmu")
_WEAK = (label("-2:-1"), label("-1.2:-1.1"))
_LAMBDAS = (0.01, 0.05, 0.1, 0.5, 1.0)
_ETAS = (0.01, 0.1, 1.0, 10.0)
_NOISES = ((0.01, 0.05), (0.1, 0.5), (1, 2), (1, 5), (5, 10), (10, 20))
NMU, SNMU = Series("NMU", "nau+nmu"), Series("sNMU", "nau+snmu")
ARITHMETIC: dict[str, RangeTask] = {
    label(name): ArithmeticDataset("mul", name) for name in RANGE_SETS["uniform"]
}
"""The arithmetic dataset on the nine ranges."""
QUICK = 0.02
"""Fraction of the five million steps that the quick protocol takes."""


def _stgnmu(value: float) -> Series:
    return Series(f"stgNMU, λ={value:g}", "stgnmu", l0(value))


def _noisy(eta: float) -> Series:
    return Series(f"NMU + grad noise, η={eta:g}", "nmu", gradient_noise(eta))


def _not_on_both(row: str) -> Check:
    """The row is better than the NMU on one of the two weak ranges at most."""
    return lambda f: not all(better(row, "NMU", [c])(f) for c in _WEAK)


ENTRIES = (
    Grid(
        "mistry2023:fig4.4",
        "Single module, multiplication: NMU and sNMU",
        "thesis, section 4.4",
        25,
        table((_NMU, Series("sNMU U[1,5]", "snmu")), single_module("mul")),
        claims=(
            Claim("sNMU U[1,5]", "is better than the NMU on two", better("sNMU U[1,5]", "NMU", _WEAK)),
        ),
    ),
    Grid(
        "mistry2023:fig4.5",
        "Single module, multiplication: stochastic gates",
        "thesis, section 4.4",
        25,
        table((_NMU, *map(_stgnmu, _LAMBDAS)), single_module("mul")),
        note="The thesis shows its values of λ in a picture only; these are ours.",
        claims=tuple(
            Claim(f"stgNMU, λ={value:g}", "is better than the NMU on its two weak ranges",
                  better(f"stgNMU, λ={value:g}", "NMU", _WEAK))
            if value <= 0.1
            else Claim(
                f"stgNMU, λ={value:g}", "does not improve on both", _not_on_both(f"stgNMU, λ={value:g}")
            )
            for value in _LAMBDAS
        ),
    ),
    Grid(
        "mistry2023:fig4.6",
        "Single module, multiplication: gradient noise",
        "thesis, section 4.4",
        25,
        table((_NMU, *map(_noisy, _ETAS)), single_module("mul")),
        note="The thesis shows its values of η in a picture only, but for 10; the others are ours.",
        claims=(
            *(
                Claim(
                    f"NMU + grad noise, η={eta:g}",
                    "is not better than the NMU",
                    not_better(f"NMU + grad noise, η={eta:g}", "NMU"),
                )
                for eta in _ETAS
            ),
            *(
                Claim(
                    f"NMU + grad noise, η={eta:g}",
                    "is slower than the NMU",
                    lower("solved at", "NMU", f"NMU + grad noise, η={eta:g}"),
                )
                for eta in _ETAS
            ),
            Claim(
                "NMU + grad noise, η=10",
                "is worse than the NMU on U[-0.2,-0.1)",
                better("NMU", "NMU + grad noise, η=10", [label("-0.2:-0.1")]),
            ),
        ),
    ),
    Grid(
        "mistry2023:fig4.7",
        "Arithmetic dataset, multiplication: kinds of noise",
        "thesis, section 4.5",
        20,
        table(
            (
                NMU,
                SNMU,
                Series("stgNMU", "nau+stgnmu", l0(0.05)),
                Series("NMU + grad noise", "nau+nmu", gradient_noise(0.01)),
            ),
            ARITHMETIC,
        ),
        note="λ = 0.05 of the stgNMU and η = 0.01 are ours: the thesis took the best of one layer.",
        quick_steps=QUICK,
        claims=(
            Claim("sNMU", "is faster than the NMU", lower("solved at", "sNMU", "NMU")),
            Claim("sNMU", "has a lower sparsity error than the NMU", lower("sparsity", "sNMU", "NMU")),
            Claim(
                "NMU, sNMU",
                "U[1.1,1.2) and U[-1.2,-1.1) stay unsolved",
                both(*(none(row, [label("1.1:1.2"), label("-1.2:-1.1")]) for row in ("NMU", "sNMU"))),
            ),
            Claim("sNMU", "fixes all failures on U[-2,2)", full("sNMU", [label("-2:2")])),
            Claim("stgNMU", "is worse than the NMU", better("NMU", "stgNMU")),
            Claim("NMU + grad noise", "is worse than the NMU", better("NMU", "NMU + grad noise")),
        ),
    ),
    Grid(
        "mistry2023:fig4.8",
        "Arithmetic dataset, multiplication: noise ranges of the sNMU",
        "thesis, section 4.5",
        20,
        table(
            (
                *(Series(f"U[{a:g},{b:g}]", f"nau+snmu(low={a};high={b})") for a, b in _NOISES),
                Series("U[1,1+1/sd(x)]", "nau+snmu(noise=batch)"),
            ),
            ARITHMETIC,
        ),
        quick_steps=QUICK,
        claims=(
            Claim("U[0.01,0.05]", "is worse than U[1,5]", better("U[1,5]", "U[0.01,0.05]")),
            Claim("U[0.1,0.5]", "is worse than U[1,5]", better("U[1,5]", "U[0.1,0.5]")),
            Claim("U[1,5]", "is the best", best(
                "U[1,5]", [*(f"U[{a:g},{b:g}]" for a, b in _NOISES), "U[1,1+1/sd(x)]"]
            )),
        ),
    ),
)  # fmt: skip
