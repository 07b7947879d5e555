"""The results that are kept with the project, and the page that is made from them."""

import json
from pathlib import Path

import jsonschema
import pytest

from nalm.papers.entries import ENTRIES
from nalm.papers.ledger import file_name, kept_result, listing, results_folder
from nalm.papers.ledger_markdown import ledger_markdown, shares
from nalm.papers.published import published

ROOT = Path(__file__).parents[2]
RESULTS = [result for entry in ENTRIES if (result := kept_result(entry)) is not None]
CELLS = [(result, cell) for result in RESULTS for cell in result["cells"]]
SINGLE_MODULE = [
    *(f"mistry2023:fig3.{k}" for k in range(2, 9)),
    *(f"mistry2023:fig4.{k}" for k in range(4, 7)),
    *(f"mistry2023:fig5.{k}" for k in range(4, 17)),
]


def test_at_least_45_tables_and_figures_can_be_run():
    assert len(ENTRIES) >= 45


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
    assert (result["protocol"] == "paper") == (not result["reduced"])


def test_kept_results_were_made_with_the_published_numbers_of_today():
    known = {(n.entry, n.row, n.column): n.value for n in published().values() if n.metric == "success"}
    for result, cell in CELLS:
        where = (result["id"], cell["row"], cell["column"])
        if where in known and cell["metric"] == "success":
            assert cell["paper"] == known[where]


def test_what_differs_has_a_cause_or_an_open_question():
    silent = [
        (r["id"], c["row"], c["column"]) for r, c in CELLS if c["verdict"] == "differs" and not c["cause"]
    ]
    assert not silent


def test_what_cannot_be_compared_has_a_reason_and_nothing_else_has():
    assert all((cell["verdict"] == "not_comparable") == (cell["reason"] is not None) for _, cell in CELLS)


def test_what_is_unpublished_has_no_number_of_the_paper():
    assert all((cell["verdict"] == "unpublished") == (cell["paper"] is None) for _, cell in CELLS)


def test_success_rates_agree_and_few_cells_cannot_be_compared():
    found = shares(RESULTS)
    assert found["success_rates_agree_share"] >= 0.85
    assert found["not_comparable_share"] <= 0.20


def test_the_page_is_made_from_the_results():
    page = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    assert page == ledger_markdown(listing(), RESULTS), "run `python benchmarks/ledger.py`"


def test_the_list_counts_what_the_results_hold():
    for row in listing():
        result = kept_result(row["id"])
        assert row["cells"] == (len(result["cells"]) if result else 0)
        verdicts = ("agrees", "better", "differs", "unpublished", "not_comparable")
        assert sum(row[name] for name in verdicts) == row["cells"]
