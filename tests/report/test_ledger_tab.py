"""The ledger on a page: what is kept with the project, and only what differs where ours differ."""

import pytest

from nalm.papers import ledger
from nalm.report.ledger_tab import ledger_cells, ledger_text

CELL = {
    "row": "NMU",
    "column": "1:2",
    "kind": "number",
    "metric": "success",
    "paper": 0.5,
    "paper_low": None,
    "paper_high": None,
    "paper_n": 25,
    "ours": 0.25,
    "low": 0.1,
    "high": 0.4,
    "n": 25,
    "verdict": "agrees",
    "source": "printed",
    "p": 0.5,
    "weak": False,
    "detail": "",
    "counted": False,
    "reason": None,
    "cause": None,
}


@pytest.fixture
def kept(monkeypatch):
    """One table with a result of these cells."""

    def keep(*cells):
        result = {
            "id": "a:1",
            "source": "p. 1",
            "command": "c",
            "reduced": [],
            "note": "",
            "protocol": "paper",
        }
        result["cells"] = [{**CELL, **cell} for cell in cells]
        monkeypatch.setattr(
            ledger, "kept_result", lambda entry: result if entry == "mistry2023:fig3.4" else None
        )

    return keep


def test_only_what_differs_is_listed_with_its_cause(kept):
    kept({}, {"row": "NAU", "verdict": "differs", "cause": "why"}, {"verdict": "better"})
    (found,) = ledger_text()["differences"]
    assert (found["row"], found["paper"], found["ours"], found["cause"]) == (
        "NAU",
        "0.5",
        "0.25 [0.1, 0.4]",
        "why",
    )


def test_the_sentence_counts_verdicts(kept):
    kept({}, {}, {"verdict": "better"})
    assert "3 cells have a published number or claim: agrees 2, better 1." in ledger_text()["sentence"]


def test_verdicts_are_counted_by_source_and_rows_taken_together_apart(kept):
    pooled = {"column": "all columns together", "verdict": "differs", "p": 0.01}
    kept({"weak": True}, {"source": "sentence", "verdict": "differs"}, pooled)
    printed, sentence, together = ledger_text()["sources"]
    assert (printed["compared"], printed["agrees"], printed["agrees_weakly"]) == (1, 1, 1)
    assert (sentence["words"], sentence["differs"]) == ("sentences, a cell for each range that they name", 1)
    assert together["differs"] == 1


def test_a_count_shows_both_numbers(kept):
    kept(
        {
            "metric": None,
            "kind": "claim",
            "counted": True,
            "paper": 3.0,
            "ours": 0.0,
            "low": None,
            "high": None,
        }
    )
    (claim,) = ledger_cells()["ledger"]["mistry2023:fig3.4"]["cells"]
    assert (claim["paper"], claim["ours"]) == ("3", "0")


def test_without_results_it_says_so(kept, monkeypatch):
    monkeypatch.setattr(ledger, "kept_result", lambda entry: None)
    assert ledger_text()["sentence"] == "none has been run."
    assert ledger_cells()["ledger"] == {}


def test_cells_are_told_in_words(kept):
    kept(
        {"metric": None, "kind": "claim", "paper": 1, "ours": 0, "verdict": "differs", "cause": "why"},
        {"ours": None, "verdict": "not_comparable", "reason": "other_data"},
    )
    claim, missing = ledger_cells()["ledger"]["mistry2023:fig3.4"]["cells"]
    assert (claim["paper"], claim["ours"], claim["why"]) == ("it is so", "no", "why")
    assert (missing["ours"], missing["why"]) == ("-", "other data")
