"""The results that are kept with the project, and the page that is made from them."""

import json
from pathlib import Path

import jsonschema
import pytest

from nalm.papers.agreement import CHANCE
from nalm.papers.cell import is_rate
from nalm.papers.entries import ENTRIES
from nalm.papers.ledger import file_name, kept_result, listing, results_folder
from nalm.papers.ledger_counts import shares
from nalm.papers.ledger_markdown import ledger_markdown
from nalm.papers.reproduce import rejudged

ROOT = Path(__file__).parents[2]
RESULTS = [result for entry in ENTRIES if (result := kept_result(entry)) is not None]
CELLS = [(result, cell) for result in RESULTS for cell in result["cells"]]
SINGLE_MODULE = [
    *(f"mistry2023:fig3.{k}" for k in range(2, 9)),
    *(f"mistry2023:fig4.{k}" for k in range(4, 7)),
    *(f"mistry2023:fig5.{k}" for k in range(4, 17)),
]


def test_at_least_88_entries_of_which_75_have_a_result():
    assert len(ENTRIES) >= 88
    assert len(RESULTS) >= 75


@pytest.mark.parametrize(
    "entry",
    [*(f"trask2018:table{k}" for k in (1, 5, 6, 7, 8, 9)), *(f"madsen2020:table{k}" for k in (1, 2, 5, 6))],
)
def test_the_synthetic_tables_of_the_first_two_papers_have_results(entry):
    assert kept_result(entry) is not None


@pytest.mark.parametrize("entry", SINGLE_MODULE)
def test_single_module_figures_are_kept_by_the_full_protocol(entry):
    result = kept_result(entry)
    assert result is not None
    assert (result["protocol"], result["reduced"]) == ("paper", [])


def test_every_kept_file_belongs_to_an_entry():
    names = {f"{file_name(entry)}.json" for entry in ENTRIES}
    assert {file.name for file in results_folder().glob("*.json")} <= names


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result["id"])
def test_every_kept_result_is_what_the_command_writes(result):
    schema = json.loads((ROOT / "docs" / "schemas" / "reproduce.schema.json").read_text())
    jsonschema.validate(result, schema)
    assert result["command"].startswith(f"nalm reproduce {result['id']}")


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result["id"])
def test_kept_results_are_judged_by_the_rules_of_today(result):
    assert rejudged(ENTRIES[result["id"]], result) == result, "run `python benchmarks/ledger.py`"


def test_the_exact_test_contradicts_no_verdict():
    tested = [cell for _, cell in CELLS if is_rate(cell["metric"]) and cell["p"] is not None]
    assert len(tested) > 500
    assert all((cell["verdict"] == "agrees") == (cell["p"] >= CHANCE) for cell in tested)
    assert shares(RESULTS)["contradicted"] == 0


def test_a_count_is_judged_by_the_count():
    counted = [cell for _, cell in CELLS if cell["counted"] and cell["paper"] == int(cell["paper"])]
    assert len(counted) > 10
    assert all((cell["verdict"] == "agrees") == (cell["paper"] == cell["ours"]) for cell in counted)


def test_what_differs_has_a_cause_that_was_tried():
    silent = [
        (r["id"], c["row"], c["column"]) for r, c in CELLS if c["verdict"] == "differs" and not c["cause"]
    ]
    assert not silent


def test_what_cannot_be_compared_has_a_reason_and_nothing_else_has():
    assert all((cell["verdict"] == "not_comparable") == (cell["reason"] is not None) for _, cell in CELLS)


def test_what_is_unpublished_has_no_number_of_the_paper():
    assert all((cell["verdict"] == "unpublished") == (cell["paper"] is None) for _, cell in CELLS)


def test_few_cells_of_the_full_protocol_cannot_be_compared():
    # Most are of Trask et al. 2018, which does not state its data: only solutions can be compared. Cells of a
    # reduced protocol are never comparable, and grow in number with every image experiment that is run.
    full, quick = ([r for r in RESULTS if r["protocol"] == name] for name in ("paper", "quick"))
    assert shares(full)["not_comparable_share"] <= 0.25
    assert shares(quick)["not_comparable_share"] == 1


def test_every_published_cell_is_counted_under_one_source():
    found = shares(RESULTS)
    assert sum(counts["cells"] for counts in found["by_source"].values()) == found["published_cells"]


def test_the_page_is_made_from_the_results():
    page = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    assert page == ledger_markdown(listing(), RESULTS), "run `python benchmarks/ledger.py`"


def test_the_list_counts_what_the_results_hold():
    for row in listing():
        result = kept_result(row["id"])
        assert row["cells"] == (len(result["cells"]) if result else 0)
        verdicts = ("agrees", "better", "differs", "unpublished", "not_comparable")
        assert sum(row[name] for name in verdicts) == row["cells"]
