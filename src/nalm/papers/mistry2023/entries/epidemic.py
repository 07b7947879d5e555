"""Thesis, appendix D.1: equations of an epidemic."""

from __future__ import annotations

from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import SUCCESS
from nalm.papers.mistry2023.programs import epidemic
from nalm.papers.shared.findings import measure

ENTRIES = (
    TrainedStudy(
        "mistry2023:appendixD.1",
        "SIR model: both terms within 1 %, with noise",
        "thesis, appendix D.1; primer, section 6.3",
        epidemic.compute,
        epidemic.plan,
        metrics=(SUCCESS, measure(epidemic.ERROR, "error")),
        main=2,
        note=(
            "The texts give no details and no numbers: the SIR model, its settings, the noise and the"
            " judgement are ours. One epidemic of 40 states; four products of powers. The error is the"
            " largest of the coefficients' and of what both terms leave unexplained, over states of every"
            " kind, not only those of the epidemic. The first two rows are trained by RMSProp as Heim et al."
            " do, without a penalty; the third finds equations by `nalm.find_dynamics`."
        ),
    ),
)
