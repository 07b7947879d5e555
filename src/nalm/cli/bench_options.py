"""The options of `nalm bench` that no other command has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

TaskName = Annotated[
    str,
    typer.Argument(metavar="TASK", help="A name from `nalm list tasks`, or a file of numbers: data.csv."),
]
Target = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of a file: the column to learn; by default the last.")
]
TestFile = Annotated[
    Path | None,
    typer.Option("--test", metavar="FILE", help="Of a file: rows to test on, such as from another range."),
]
Ops = Annotated[
    str | None, typer.Option(metavar="LIST", help="Operations; by default all that a unit can express.")
]
Units = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="name[@recipe][(option=value;…)], a stack nau+nmu, a file ./mine.py:MyUnit; by default all.",
    ),
]
Ranges = Annotated[
    str | None,
    typer.Option(metavar="LIST", help="Names from `nalm list ranges`, sets of them, or train=>test."),
]
Inputs = Annotated[int | None, typer.Option(help="Number of inputs; by default that of the papers.")]
Seeds = Annotated[
    int | None, typer.Option(help="Number of seeds, counted from 0; by default 25, for images 10.")
]
Hidden = Annotated[int, typer.Option(help="Number of values between the units of a stack.")]
Iterations = Annotated[int | None, typer.Option(help="Number of steps; by default that of the recipe.")]
ScheduleName = Annotated[
    str,
    typer.Option(
        metavar="scaled|published",
        help="With fewer steps than the recipe's: shorten its schedules too (scaled), or cut them off.",
    ),
]
RecipeName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Recipe for units that do not name one; without --units, for all units that have it. "
        "second-order: solve instead of train.",
    ),
]
ScaleName = Annotated[
    str,
    typer.Option(
        metavar="quick|paper", help="quick: 5 seeds unless --seeds is given; for images 3, and few epochs."
    ),
]
Threshold = Annotated[
    float | None, typer.Option(help="Error below which a run counts as solved; by default the task's.")
]
Published = Annotated[
    bool | None,
    typer.Option(
        "--published/--no-published",
        help="Also print the papers' numbers for the same tasks; by default if a unit is your own.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Compute stored runs again.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print the plan and an estimate.")]
