"""`nalm predict`: what a saved formula gives for the rows of a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nalm import interrupts
from nalm.cli.comma_lists import column_names
from nalm.cli.output import say, say_all
from nalm.errors import ArgumentError
from nalm.report.files import check_output, written_whole


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by `nalm fit --save`.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A file of numbers: CSV, TSV or Parquet.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; by default standard output."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME[,NAME]", help="What to call the prediction; by default predicted_TARGET."),
    ] = None,
) -> None:
    """Write the columns of a file and what a saved formula gives for each row, as CSV."""
    names = column_names("column", column)
    output = None if output is not None and str(output) == "-" else output
    if output is not None:
        check_output(output)
        if output.suffix == ".parquet":
            raise ArgumentError("output", "a file for text, such as predicted.csv", repr(str(output)))
        if output.resolve() in (data.resolve(), model.resolve()):
            raise ArgumentError("output", "a new file, not one that is read", repr(str(output)))
    with interrupts.importing():
        from nalm.data.numbers_file import open_numbers
        from nalm.discover.predict_file import check_columns, predict_file, write_predictions
        from nalm.discover.saved import load_formula

    with interrupts.during(f"predicting {data}", interrupts.NOTHING_KEPT):
        formula, file = load_formula(model), open_numbers(data)
        names = names or [f"predicted_{target}" for target in formula.targets]
        check_columns(names, formula, file)
        predicted = predict_file(formula, file)
        if output is None:
            write_predictions(sys.stdout, file, names, predicted)
        else:
            with written_whole(output) as part, part.open("w", newline="", encoding="utf-8") as out:
                write_predictions(out, file, names, predicted)
    say_all(predicted.notes)
    if output is not None:
        say(f"{len(predicted.values):,} rows written to {output}.")
