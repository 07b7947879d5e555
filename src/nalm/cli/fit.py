"""`nalm fit`: the formula behind a table of numbers."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nalm import interrupts
from nalm.cli.comma_lists import column_names
from nalm.cli.fit_progress import Search, shown_search
from nalm.cli.json_file import check_writable, write_json
from nalm.cli.options import Json
from nalm.cli.output import formula_width, print_paragraphs, print_table, say
from nalm.errors import ArgumentError, check_above_zero, check_positive
from nalm.report.files import check_output

if TYPE_CHECKING:
    from nalm.discover.fit_file import FileFit

_NO_FORMULA = 1
"""The exit code if some target has no formula."""


def fit(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A file of numbers: CSV, TSV or Parquet.")],
    target: Annotated[str, typer.Option(metavar="NAME[,NAME]", help="The column to find a formula for.")],
    features: Annotated[
        str | None, typer.Option(metavar="LIST", help="Columns that it may use; by default all others.")
    ] = None,
    max_seconds: Annotated[float, typer.Option(metavar="S", help="When to end at the latest.")] = 60.0,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="The same seed finds the same, unless time cuts the search off."),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="How many targets to search at the same time.")] = 1,
    json_file: Json = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the formula to a file for `nalm predict`.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw predicted against true: png, svg, pdf or html.")
    ] = None,
) -> None:
    """Find the formula that gives a column of a file from its other columns."""
    targets = column_names("target", target)
    assert targets is not None
    wanted = column_names("features", features)
    _check(max_seconds, seed, jobs)
    _check_files(data, json_file, save, plot)
    with interrupts.importing():
        from nalm.discover.fit_file import fit_file

    search = Search(max_seconds)
    try:
        with (
            interrupts.during(f"fitting {data}", interrupts.NOTHING_KEPT),
            shown_search(search),
            _no_warnings(),
        ):
            found = fit_file(
                data,
                targets,
                wanted,
                max_seconds=max_seconds,
                seed=seed,
                jobs=jobs,
                on_progress=search.report,
            )
    except KeyboardInterrupt:
        if search.best is not None:
            say(
                f"The best formula so far: {search.best.expression} (relative error {search.best.error:.1e})."
            )
        raise
    with _no_warnings():
        _write(found, save, plot)
    if not write_json(found.described(), json_file):
        _print(found)
    if not found.is_found:
        raise typer.Exit(_NO_FORMULA)


def _no_warnings() -> AbstractContextManager[object]:
    """What cannot be computed is told in notes, not by warnings with lines of source code."""
    return warnings.catch_warnings(action="ignore", category=RuntimeWarning)


def _check(max_seconds: float, seed: int | None, jobs: int) -> None:
    check_above_zero("max_seconds", max_seconds)
    check_positive("jobs", jobs)
    if seed is not None and not 0 <= seed < 2**32:
        raise ArgumentError("seed", "a whole number from 0 to 4294967295", repr(seed))


def _check_files(data: Path, json_file: str | None, save: Path | None, plot: Path | None) -> None:
    """Refuse files that cannot be written, before any work is done."""
    check_writable(json_file)
    written = {data.resolve(): "the data"}
    json_path = None if json_file is None or json_file == "-" else Path(json_file)
    for argument, path in (("json", json_path), ("save", save), ("plot", plot)):
        if path is None:
            continue
        if argument != "json":
            check_output(path, argument=argument)
        if (taken := written.setdefault(path.resolve(), f"that of --{argument}")) != f"that of --{argument}":
            raise ArgumentError(argument, f"a file other than {taken}", repr(str(path)))
    if plot is not None:
        from nalm.report.fit_plot import check_plot

        check_plot(plot)


def _write(found: FileFit, save: Path | None, plot: Path | None) -> None:
    if save is not None and _is_worth(found, save):
        _save(found, save)
    if plot is not None and _is_worth(found, plot):
        from nalm.report.fit_plot import draw_fit

        there = [k for k, one in enumerate(found.found) if one.expression is not None]
        names = [found.table.targets[k] for k in there]
        draw_fit(plot, names, found.table.y[:, there], found.predicted()[:, there])
        say(f"Plot written to {plot}.")


def _is_worth(found: FileFit, path: Path) -> bool:
    """Whether there is anything to write."""
    if any(one.expression is not None for one in found.found):
        return True
    say(f"{path} was not written, because there is no formula.")
    return False


def _save(found: FileFit, path: Path) -> None:
    targets = found.save(path)
    left = [one.target for one in found.found if one.target not in targets]
    without = f", without {', '.join(left)}, for which there is no formula" if left else ""
    say(f"Saved to {path}{without}.")


def _print(found: FileFit) -> None:
    from nalm.report.fit_tables import alternatives_table, formula_lines, paragraphs

    for line in formula_lines(found.found):
        print(line)
    for one in found.found:
        print()
        print_paragraphs(paragraphs(one, is_only=len(found.found) == 1))
        others = alternatives_table(one, formula_width())
        if others is not None:
            print()
            print_table(others, formula_width())
