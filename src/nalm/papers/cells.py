"""The cells of a result: every number and claim of an entry, the paper's and ours, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nalm.evaluate.intervals import NOTHING, Interval
from nalm.papers.agreement import (
    APART,
    COMPARED,
    Agreement,
    Finding,
    Reason,
    Verdict,
    compare,
    compare_rates,
)
from nalm.papers.causes import cause_of
from nalm.papers.cell import FORMULA, SENTENCE, TOGETHER, Cell, is_rate
from nalm.papers.claims import Answer, pool
from nalm.papers.entry import Entry, Grid, Measured, Study, rows_of
from nalm.papers.metrics import Metric
from nalm.papers.published import Published
from nalm.papers.registry import published_of


def cells_of(entry: Entry, measured: Measured, *, claims: bool) -> list[Cell]:
    """The cells of an entry: numbers, rows of rates taken together, and claims.

    Args:
        entry: the entry.
        measured: what was measured for it.
        claims: whether to judge all claims; else those that are about the measured rows alone.
    """
    numbers = list(_numbers(entry, measured))
    judged = _claims(entry, measured, every=claims and not measured.partial)
    return [*numbers, *_together(entry, numbers), *judged]


def _numbers(entry: Entry, measured: Measured) -> Iterator[Cell]:
    """Cells of the main metrics, and of the others where the paper has a number."""
    found, published = measured.findings, published_of(entry.id)
    for row, column in rows_of(found):
        for place, metric in enumerate(entry.metrics):
            theirs = published.get((row, column, metric.name))
            if (row, column, metric.name) in found and (place < entry.main or theirs is not None):
                yield _number(entry, row, column, metric, theirs, measured)


def _number(
    entry: Entry, row: str, column: str, metric: Metric, theirs: Published | None, measured: Measured
) -> Cell:
    ours = measured.findings[row, column, metric.name]
    paper = theirs.interval() if theirs is not None else NOTHING
    if entry.lends_spread:
        paper = _with_spread(paper, ours)
    reason = _reason(entry, row, column, theirs, measured)
    if theirs is None:
        verdict = Verdict(Agreement.UNPUBLISHED)
    elif reason is not None:
        verdict = Verdict(Agreement.NOT_COMPARABLE)
    else:
        verdict = _verdict(paper, theirs, ours, metric)
    return _cell(
        entry,
        row,
        _named(column, metric),
        kind=theirs.kind if theirs is not None else "number",
        source=None if theirs is None else _source(entry, theirs.source),
        metric=metric.name,
        paper=paper,
        paper_n=theirs.n if theirs is not None else None,
        ours=ours,
        verdict=verdict,
        reason=reason,
    )


def _reason(
    entry: Entry, row: str, column: str, theirs: Published | None, measured: Measured
) -> Reason | None:
    """Why a number cannot be compared with the paper's, if it cannot."""
    if not measured.comparable:
        return Reason.PROTOCOL
    if theirs is not None and entry.same_data is not None and not entry.same_data(theirs):
        return Reason.DATA
    if theirs is not None and _too_few_solved(entry, theirs, measured.findings[row, column, theirs.metric]):
        return Reason.PROTOCOL
    return entry.reason(row, column)


def _too_few_solved(entry: Entry, theirs: Published, ours: Finding) -> bool:
    """Whether fewer seeds than the paper's left one success or none, of which no spread can be measured."""
    fewer = theirs.n is not None and ours.n < theirs.n
    return isinstance(entry, Grid) and not is_rate(theirs.metric) and fewer and ours.low is None


def _with_spread(paper: Interval, ours: Finding) -> Interval:
    """A published mean with the width of our interval."""
    if paper.value is None or ours.low is None or ours.high is None:
        return paper
    half = (ours.high - ours.low) / 2
    return Interval(paper.value, paper.value - half, paper.value + half)


def _verdict(paper: Interval, theirs: Published, ours: Finding, metric: Metric) -> Verdict:
    """Rates of a known number of seeds are compared by the exact test, other numbers by their intervals."""
    if is_rate(metric.name) and theirs.n is not None:
        verdict = compare_rates(Finding(paper.value, paper.low, paper.high, theirs.n), ours)
    else:
        verdict = compare(paper, ours, rising=metric.rising)
    return _of_kind(verdict, theirs.kind)


def _of_kind(verdict: Verdict, kind: str) -> Verdict:
    """A sentence is true or not: a success that it denies is not better than it, but contradicts it."""
    if kind == "claim" and verdict.agreement is Agreement.BETTER:
        return replace(verdict, agreement=Agreement.DIFFERS)
    return verdict


def _named(column: str, metric: Metric) -> str:
    return f"{column}: {metric.label}" if metric.label else column


def _source(entry: Entry, source: str) -> str:
    return FORMULA if isinstance(entry, Study) and entry.formula else source


def _together(entry: Entry, cells: Sequence[Cell]) -> Iterator[Cell]:
    """A cell for every row with several published rates: all their runs taken together."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if is_rate(cell["metric"]) and cell["verdict"] in COMPARED and cell["paper_n"]:
            groups.setdefault((cell["row"], cell["metric"], cell["source"]), []).append(cell)
    metrics = {metric.name: metric for metric in entry.metrics}
    for (row, metric, source), held in groups.items():
        # Columns with more seeds than others would weigh more on one side than on the other.
        if len(held) < 2 or len({cell["n"] / cell["paper_n"] for cell in held}) > 1:
            continue
        theirs = pool([Finding(cell["paper"], None, None, cell["paper_n"]) for cell in held])
        ours = pool([Finding(cell["ours"], None, None, cell["n"]) for cell in held])
        yield _cell(
            entry,
            row,
            _named(TOGETHER, metrics[metric]),
            kind=held[0]["kind"],
            source=source,
            metric=metric,
            paper=Interval(theirs.value, theirs.low, theirs.high),
            paper_n=theirs.n,
            ours=ours,
            verdict=_of_kind(compare_rates(theirs, ours), held[0]["kind"]),
            reason=None,
        )


def _claims(entry: Entry, measured: Measured, *, every: bool) -> Iterator[Cell]:
    """The paper's claims as cells: a number that the claim names, otherwise 1 for true and 0 for false."""
    seeds = max((finding.n for finding in measured.findings.values()), default=0)
    rows = {row for row, _, _ in measured.findings}
    for claim in (each for each in entry.claims if every or each.is_about(rows)):
        answer = claim.answer(measured.findings)
        agreement = Agreement.AGREES if answer.holds else Agreement.DIFFERS
        yield _cell(
            entry,
            claim.row,
            claim.text,
            kind="claim",
            source=_source(entry, SENTENCE),
            metric=None,
            paper=Interval(1.0 if answer.paper is None else answer.paper, None, None),
            paper_n=None,
            ours=Finding(_claimed(answer), None, None, seeds),
            verdict=Verdict(
                agreement if measured.comparable else Agreement.NOT_COMPARABLE, answer.p, answer.weak
            ),
            reason=None if measured.comparable else Reason.PROTOCOL,
            detail=answer.detail,
            counted=answer.paper is not None,
        )


def _claimed(answer: Answer) -> float:
    return float(answer.holds) if answer.ours is None else answer.ours


def _cell(
    entry: Entry,
    row: str,
    column: str,
    *,
    kind: str,
    source: str | None,
    metric: str | None,
    paper: Interval,
    paper_n: int | None,
    ours: Finding,
    verdict: Verdict,
    reason: Reason | None,
    detail: str = "",
    counted: bool = False,
) -> Cell:
    agreement = verdict.agreement
    return {
        "row": row,
        "column": column,
        "kind": kind,
        "source": source,
        "metric": metric,
        "paper": paper.value,
        "paper_low": paper.low,
        "paper_high": paper.high,
        "paper_n": paper_n,
        "ours": ours.value,
        "low": ours.low,
        "high": ours.high,
        "n": ours.n,
        "verdict": str(agreement),
        "p": verdict.p,
        "weak": verdict.weak,
        "detail": detail,
        "counted": counted,
        "reason": str(reason) if agreement is Agreement.NOT_COMPARABLE else None,
        "cause": _cause(entry, row, column, verdict, detail) if agreement in APART else None,
    }


def _cause(entry: Entry, row: str, column: str, verdict: Verdict, detail: str) -> str | None:
    """The cause that is known; where none is written and the runs are too few to tell, what the test says."""
    written = cause_of(entry.id, row, column)
    if written is None and verdict.weak:
        chance = "" if verdict.p is None else f"; p = {verdict.p:.2g}"
        return f"This could be chance: {detail}{chance}."
    return written
