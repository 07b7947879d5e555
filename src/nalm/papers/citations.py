"""Citations by key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A publication."""

    key: str
    authors: str
    year: int
    title: str
    venue: str


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "trask2018",
            "A. Trask, F. Hill, S. Reed, J. Rae, C. Dyer, P. Blunsom",
            2018,
            "Neural Arithmetic Logic Units",
            "NeurIPS",
        ),
        Paper("madsen2020", "A. Madsen, A. R. Johansen", 2020, "Neural Arithmetic Units", "ICLR"),
        Paper(
            "fan2018",
            "F. Fan, W. Cong, G. Wang",
            2018,
            "Generalized backpropagation algorithm for training second-order neural networks",
            "International Journal for Numerical Methods in Biomedical Engineering",
        ),
        Paper(
            "rana2019",
            "A. Rana, A. Malhi, K. Främling",
            2019,
            "Exploring numerical calculations with CalcNet",
            "ICTAI",
        ),
        Paper("reimann2019", "J. N. Reimann, A. Schwung", 2019, "Neural Logic Rule Layers", "arXiv"),
        Paper("faber2020", "L. Faber, R. Wattenhofer", 2020, "Neural Status Registers", "arXiv"),
        Paper(
            "schloer2020",
            "D. Schlör, M. Ring, A. Hotho",
            2020,
            "iNALU: Improved Neural Arithmetic Logic Unit",
            "Frontiers in Artificial Intelligence",
        ),
        Paper("heim2020", "N. Heim, T. Pevný, V. Šmídl", 2020, "Neural Power Units", "NeurIPS"),
        Paper(
            "mistry2021",
            "B. Mistry, K. Farrahi, J. Hare",
            2021,
            "A Primer for Neural Arithmetic Logic Modules",
            "arXiv",
        ),
        Paper(
            "mistry2021division",
            "B. Mistry, K. Farrahi, J. Hare",
            2021,
            "Learning Division with Neural Arithmetic Logic Modules",
            "arXiv",
        ),
        Paper(
            "mistry2023",
            "B. Mistry",
            2023,
            "An Investigation into Neural Arithmetic Logic Modules",
            "PhD thesis, University of Southampton",
        ),
    )
}
"""Every paper by the key that units and reproductions cite."""
