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
        Paper("heim2020", "N. Heim, T. Pevný, V. Šmídl", 2020, "Neural Power Units", "NeurIPS"),
        Paper(
            "mistry2021",
            "B. Mistry, K. Farrahi, J. Hare",
            2021,
            "A Primer for Neural Arithmetic Logic Modules",
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
