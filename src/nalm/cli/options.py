"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write JSON to FILE; - is standard output, JSON only."),
]
Jobs = Annotated[int | None, typer.Option(help="Processes; by default one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster, as in tcp://host:8786, not here."),
]
StoreFile = Annotated[Path, typer.Option("--store", metavar="FILE", help="Where runs are kept.")]
DEFAULT_STORE = Path("nalm-runs.sqlite")
