"""Trask et al. 2018, section 4.3, appendix D: number words to numbers, tables 3 and 11, figure 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Check, Claim, Findings, Key
from nalm.papers.entry import Measured, Records, TrainedStudy
from nalm.papers.figures import COLOURS, MARKERS, row_of_panels
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import exact, measure
from nalm.papers.trask2018.programs import inside_language as inside
from nalm.papers.trask2018.programs.language import (
    BEST,
    MEDIAN,
    TEST,
    TRAIN,
    LanguageRow,
    LanguageTable,
    table,
)
from nalm.tasks import Language

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LSTM, _NAC, _NALU = "LSTM", "LSTM + NAC", "LSTM + NALU"
_ROWS = (
    LanguageRow(_LSTM, "linear", "summed"),
    LanguageRow(_NAC, "nac"),
    LanguageRow(_NALU, "nalu"),
    LanguageRow("LSTM, results summed", "linear"),
    LanguageRow("LSTM + NALU, states summed", "nalu", "summed"),
    LanguageRow("LSTM + NAC•", "nac-mul"),
    LanguageRow("LSTM + NAU", "nau"),
    LanguageRow("LSTM + NMU", "nmu"),
    LanguageRow("LSTM + RealNPU", "realnpu"),
    LanguageRow("LSTM + iNALU", "inalu"),
)
_FINAL, _SUMMED = "LSTM w/ final state", "LSTM w/ summed states"
PREDICTION = "prediction"
_INSIDE = "inside"
_FAR, _NEAR = 15.0, 5.0
"""Errors above which a model has not learnt, and below which a prediction is a sensible estimate."""

NOTE = (
    "The paper says neither the loss, the numbers of the split, the size of the embedding nor what NAC and "
    "NALU see. Ours: the mean absolute error; 0 to 999, which are 1000 numbers like the paper's 169 + 200 + "
    "631, divided by a fixed draw with the numbers of figure 3 in the test set; an embedding as large as the "
    "state; the unit sees each state of the LSTM and its results are summed, as figure 3 suggests, except in "
    "the row 'states summed'. For a linear layer both are the same but for its bias. As in the paper, the "
    "error of the best of all sizes, rates and seeds by validation is shown; the column marked median has "
    "the median over the seeds of its size and rate. Rows without a published number are ours."
)
BOUNDED = (
    "The printed training error of LSTM + NAC, 80.0, cannot be reached by this network: a state of an LSTM "
    "is below 1 and a weight of a NAC is below 1, so that 32 states, summed over at most five words, stay "
    "below 160, and no larger number can be predicted; the least training error is that of min(y, 160)."
)


def column_of(place: int, word: str) -> str:
    """The column of a word of a sentence, counted from 1."""
    return f"{place}. {word}"


def _value(f: Findings, row: str, column: str, metric: str = BEST) -> float:
    """A finding; infinite if it has no value."""
    found = f.get((row, column, metric))
    return float("inf") if found is None or found.value is None else found.value


def _overfits(row: str) -> Check:
    def check(f: Findings) -> Answer:
        train, test = (_value(f, row, column) for column in (TRAIN, TEST))
        return Answer(train < 1 and test > _FAR, detail=f"train {train:.3g}, test {test:.3g}")

    return check


def _poor(row: str) -> Check:
    def check(f: Findings) -> Answer:
        train, test = (_value(f, row, column) for column in (TRAIN, TEST))
        return Answer(min(train, test) > _FAR, detail=f"train {train:.3g}, test {test:.3g}")

    return check


def _lower(row: str, others: tuple[str, ...], factor: float = 1.0, metric: str = BEST) -> Check:
    """The test error of a row is lower than that of each other, by a factor."""

    def check(f: Findings) -> Answer:
        ours, theirs = _value(f, row, TEST, metric), [_value(f, other, TEST, metric) for other in others]
        told = f"{ours:.3g} against {', '.join(f'{each:.3g}' for each in theirs)}"
        return Answer(factor * ours < min(theirs), detail=told)

    return check


_TABLE3 = LanguageTable("trask2018:table3", _ROWS)
_TABLE11 = LanguageTable(
    "trask2018:table11", (LanguageRow(_FINAL, "linear", "final"), LanguageRow(_SUMMED, "linear", "summed"))
)
_FIGURE3 = LanguageTable("trask2018:fig3", (LanguageRow(_NALU, "nalu"),))
_METRICS = (measure(BEST), measure(MEDIAN, "median"))


# -- figure 3: word by word, path by path ----------------------------------------------------------


def _look_inside(scale: Scale, records: Records) -> Measured:
    """Predictions after each word, and the test error of the parts of the NALU."""
    chosen = _FIGURE3.chosen(scale, records)
    found: dict[Key, Finding] = {}
    data: dict[str, Any] = {}
    for best in chosen:
        task = best.case.task
        assert isinstance(task, Language)
        network = inside.network_of(best.case, best.run)
        words, errors = inside.by_word(network), inside.ablations(network, task)
        for sentence, parts in words.items():
            for k, word in enumerate(sentence.split()):
                found[sentence, column_of(k + 1, word), PREDICTION] = exact(parts.result[k])
        found |= {(_INSIDE, name, BEST): exact(error) for name, error in errors.items()}
        found |= {(_INSIDE, name, PREDICTION): exact(v) for name, v in inside.habits(network, task).items()}
        found |= table([best])
        data = {"words": words, "errors": errors}
    measured = _FIGURE3.measured(Findings(found), scale, records, chosen)
    return Measured(measured.findings, measured.reduced, data, measured.partial, measured.runs)


def _sensible(f: Findings) -> Answer:
    """Whether the prediction after each word of the first three sentences is the number said so far."""
    said = {
        inside.SENTENCES[0]: {1: 3, 2: 300, 4: 330, 5: 334},
        inside.SENTENCES[1]: {1: 7, 2: 700, 4: 702},
        inside.SENTENCES[2]: {1: 80, 2: 88},
    }
    off = [
        abs(_value(f, sentence, column_of(k, sentence.split()[k - 1]), PREDICTION) - number)
        for sentence, numbers in said.items()
        for k, number in numbers.items()
    ]
    return Answer(max(off) <= _NEAR, detail=f"largest error {max(off):.3g}")


def _adds_what_was_never_trained(f: Findings) -> Answer:
    said = _value(f, inside.SENTENCES[3], column_of(4, "eighty"), PREDICTION)
    return Answer(abs(said - 107) <= _NEAR, detail=f"{said:.4g} instead of 107")


def _is_no_arithmetic(f: Findings) -> Answer:
    """Whether the error becomes large with whole weights, and with the sum alone."""
    whole, rounded, added = (_value(f, _INSIDE, name) for name in (inside.WHOLE, inside.ROUNDED, inside.SUM))
    told = f"as trained {whole:.3g}, with weights of -1, 0, 1 {rounded:.3g}, by the sum alone {added:.3g}"
    return Answer(min(rounded, added) > max(_FAR, whole), detail=told)


def _draw(measured: Measured, figure: Figure) -> None:
    """Predictions by word, gate and paths by word, and the error with one part changed."""
    words, errors = (measured.data or {}).get("words", {}), (measured.data or {}).get("errors", {})
    said, paths, bars = row_of_panels(figure, 3, 4.6)
    for k, (sentence, parts) in enumerate(words.items()):
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        said.plot(range(1, len(parts.result) + 1), parts.result, label=sentence, **style)
        paths.plot(range(1, len(parts.gate) + 1), parts.gate[:, -1], **style)
    said.set(title="Prediction after each word", xlabel="word", yscale="symlog")
    said.legend(fontsize=7)
    paths.set(title="Gate: 1 is the sum, 0 the product", xlabel="word", ylim=(-0.05, 1.05))
    bars.bar(range(len(errors)), list(errors.values()), color=COLOURS[0])
    bars.set_xticks(range(len(errors)), list(errors), rotation=20, fontsize=7)
    bars.set(title="Test error with one part changed", ylabel="MAE", yscale="symlog")
    figure.set_layout_engine("constrained", rect=(0, 0.06, 1, 0.94))


ENTRIES = (
    TrainedStudy(
        _TABLE3.entry,
        "Number words to numbers: the layer behind an LSTM",
        "section 4.3",
        _TABLE3.compute,
        _TABLE3.plan,
        metrics=_METRICS,
        main=2,
        in_parts=True,
        claims=(
            Claim(_LSTM, "overfits the training numbers and generalises poorly", _overfits(_LSTM), (_LSTM,)),
            Claim(_NAC, "performs poorly on training and test numbers", _poor(_NAC), (_NAC,)),
            Claim(
                _NALU,
                "generalises best by a wide margin",
                _lower(_NALU, (_LSTM, _NAC), 10),
                (_NALU, _LSTM, _NAC),
            ),
            Claim(
                "LSTM + NAC•",
                "the multiplier is what matters: better than the sum",
                _lower("LSTM + NAC•", (_NAC,), 2),
                ("LSTM + NAC•", _NAC),
            ),
        ),
        note=f"{NOTE} {BOUNDED}",
    ),
    TrainedStudy(
        _FIGURE3.entry,
        "What an LSTM + NALU predicts after each word, and by which path",
        "section 4.3; doubted in the Primer, section 7.1",
        _look_inside,
        _FIGURE3.plan,
        metrics=(measure(PREDICTION, rising=None), measure(BEST), measure(MEDIAN, "median")),
        in_parts=True,
        draw=_draw,
        claims=(
            Claim(_NALU, "tracks the number said so far", _sensible),
            Claim(
                _NALU,
                "adds in 'twenty seven and eighty', which was never trained on",
                _adds_what_was_never_trained,
            ),
            Claim("Primer, 7.1", "the arithmetic of the NALU may not be used", _is_no_arithmetic),
        ),
        note=(
            f"{NOTE} The row inside has the test error of the best run with one part of the NALU changed, "
            "and what an arithmetic unit would show: a gate of 0 or 1, weights of -1, 0, 1, few inputs."
        ),
    ),
    TrainedStudy(
        _TABLE11.entry,
        "Number words to numbers: how the LSTM's states are combined",
        "appendix D",
        _TABLE11.compute,
        _TABLE11.plan,
        metrics=_METRICS,
        main=2,
        in_parts=True,
        claims=(Claim(_SUMMED, "generalises slightly better", _lower(_SUMMED, (_FINAL,))),),
        note=NOTE,
    ),
)
