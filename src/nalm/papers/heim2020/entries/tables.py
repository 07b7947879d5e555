"""Heim et al. 2020: neural power units."""

from __future__ import annotations

from nalm.papers.entry import TrainedStudy
from nalm.papers.heim2020.programs import large, simple
from nalm.papers.shared.findings import measure

ENTRIES = (
    TrainedStudy(
        "heim2020:table1",
        "x + y, x y, x / y and sqrt(x) by one network",
        "Heim et al. 2020, table 1",
        simple.compute,
        simple.plan,
        metrics=(measure("test MAE", ""),),
        note=(
            "Median plus and minus the median absolute deviation of the mean absolute error on a grid, after"
            " the last step."
        ),
    ),
    TrainedStudy(
        "heim2020:table2",
        "Large scale arithmetic",
        "Heim et al. 2020, table 2",
        large.compute,
        large.plan,
        metrics=(measure("test error", ""),),
        note=(
            "Median plus and minus the median absolute deviation of the mean squared error after the last"
            " step. The authors kept the ten best of more runs by test error; none is left out here. Batches"
            " are the first 128 Sobol points with a fresh digital shift."
        ),
    ),
)
