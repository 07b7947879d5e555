"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write JSON to FILE; with -, only JSON to standard output."),
]
Jobs = Annotated[int | None, typer.Option(help="Number of processes; by default one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster instead, as in tcp://host:8786."),
]
StoreFile = Annotated[Path, typer.Option("--store", metavar="FILE", help="The file that keeps the runs.")]
Device = Annotated[
    str, typer.Option(metavar="DEVICE", help="Where to train, as torch names it: cpu, cuda, cuda:1, mps.")
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Where the images are, such as the four files of MNIST; by default NALM_DATA."
    ),
]
DEFAULT_STORE = Path("nalm-runs.sqlite")
