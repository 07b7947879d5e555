"""The result of `nalm.train`: what a trainer returned, judged by the thresholds of the tasks."""

from __future__ import annotations

from dataclasses import fields
from typing import Self

from nalm.evaluate.outcome import Outcome, classify
from nalm.trained import Trained


class TrainResult(Trained):
    """The runs of one call, in the order of their seeds. See `Trained` for its attributes."""

    @classmethod
    def of(cls, trained: Trained) -> Self:
        """The result of what a trainer returned."""
        return cls(**{field.name: getattr(trained, field.name) for field in fields(Trained)})

    def outcomes(self, threshold: float | None = None) -> list[Outcome]:
        """The outcome of each run, by its task's own thresholds or by the one given."""
        return classify(self, threshold)

    def success_rate(self, threshold: float | None = None) -> float:
        """The share of solved runs."""
        outcomes = self.outcomes(threshold)
        return sum(outcome is Outcome.SOLVED for outcome in outcomes) / len(outcomes)

    def solved_at(self, threshold: float | None = None) -> list[int | None]:
        """For each solved run, the first logged step with a test error below the threshold; else None."""
        steps: list[int | None] = []
        for run, outcome in enumerate(self.outcomes(threshold)):
            limit = self.tasks[run].threshold() if threshold is None else threshold
            if outcome is not Outcome.SOLVED or limit is None:
                steps.append(None)
                continue
            first = int((self.test[run] < limit).nonzero()[0, 0])
            steps.append(int(self.steps[first]))
        return steps
