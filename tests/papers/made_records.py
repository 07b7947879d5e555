"""Runs of a case whose errors were never measured, for tests of what is read from stored runs."""

from dataclasses import replace

import numpy as np

from nalm.experiment.run import Case
from nalm.experiment.store import Record


def made_record(case: Case, seed: int = 0, logs: int = 2, **changes: object) -> Record:
    """A run with the weights it has before training, and errors drawn by its seed."""
    stream = np.random.default_rng([seed, len(str(case.model)), case.recipe.iterations])
    held = {name: p[0].numpy() for name, p in (case.initial([seed]) or {}).items()}
    errors = {
        f"{split}/{measure.name}": stream.uniform(0, 1, (*measure.shape, logs))
        for split in case.task.splits[1:]
        for measure in case.task.measures
    }
    curve = stream.uniform(0, 1, logs)
    made = Record(
        id=f"{seed}", task=case.task.name, model=str(case.model), labels=case.task.labels(), seed=seed,
        iterations=case.recipe.iterations, identity=case.identity, machine={},
        steps=np.arange(logs), validation=curve, test=curve, chosen=logs - 1, diverged_at=-1,
        reinitialised=0, sparsity=None, sparsity_with_gates=None, ideal_validation=None, ideal_test=None,
        chosen_parameters=held, final_parameters=held, history_steps=np.zeros(0), history={},
        computed_at="", cost={}, errors=errors,
    )  # fmt: skip
    return replace(made, **changes)


class MadeRuns:
    """A store in which every run is there, as `made_record` makes them."""

    def records(self, experiment):
        return {case: [made_record(case, s) for s in range(experiment.seeds)] for case in experiment.cases}
