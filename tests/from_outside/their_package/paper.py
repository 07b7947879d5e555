"""A paper with one table."""

from nalm.experiment.run import Case
from nalm.models import ModelSpec
from nalm.papers.entry import Grid, Place
from their_package.task import Twice


def places() -> list[Place]:
    return [Place("Blend", op, (Case(ModelSpec.parse("blend"), Twice(op), 200),)) for op in Twice.ops]


ENTRIES = (Grid("their2025:table1", "Success on sums that count twice", "table 1", 2, places),)
