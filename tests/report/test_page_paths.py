"""Runs of compositions: which formula was found, whether it is the target, and the path to it."""

import json
from dataclasses import replace

import pytest
from made_runs import bare_record, fetch_from, fill, made_record, searched_record
from test_packing import unpacked

from nalm.experiment.bench import make_experiment
from nalm.experiment.stored_cases import stored_cases
from nalm.models.path import PathStep
from nalm.report import page_paths
from nalm.report.packing import pack_runs
from nalm.report.page import write_page
from nalm.report.page_data import Page
from nalm.report.page_paths import LONGEST, NO_FORMULA, finding, packed_path

RIGHT = (("add", 0, 1), ("mul", 2, 4))
SAME = (("mul", 0, 2), ("mul", 1, 2), ("add", 4, 5))
WRONG = (("add", 0, 1), ("add", 2, 4))
GATED = "gated(units=nau|nmu)+gated(units=nau|nmu)"


def runs_of(model="composer", op="add-mul", seeds=1, **options):
    return list(make_experiment("composition", [model], [op], None, seeds=seeds, **options).runs())


def searched(*found, **changes):
    """One run of a composer per list of steps."""
    return [searched_record(run, *steps, **changes) for run, steps in zip(runs_of(seeds=len(found)), found)]


def page_of(records):
    """The rows of a page, and the header of its runs."""
    page = Page(stored_cases(records))
    details = pack_runs([row.case for row in page.rows], fetch_from(records))
    return page.program_data(details.shown, details.findings)["rows"], unpacked(details.text)[0]


def test_the_formula_is_compared_with_the_target_by_symbols():
    verdicts = [finding(record) for record in searched(RIGHT, SAME, WRONG)]
    assert [(found.formula, found.equal) for found in verdicts] == [
        ("c*(a + b)", True),
        ("c*(a + b)", True),
        ("a + b + c", False),
    ]


def test_a_path_has_units_what_they_read_and_what_they_write():
    (record,) = searched(RIGHT)
    assert finding(record).path == (
        (1, "nau", ("a", "b"), "line1", "a + b", ""),
        (2, "nmu", ("c", 0), "y", "c*line1", "c*(a + b)"),
    )


def test_what_cannot_be_read_has_no_verdict_and_a_path_with_decimal_numbers():
    (run,) = runs_of(GATED)
    found = finding(made_record(run, solved=False))
    assert (found.formula, found.equal) == (NO_FORMULA, None)
    assert found.text.startswith("not readable")
    assert [step[3] for step in found.path] == ["o1", "o2", "y"]
    assert found.path[-1][2] == (0, 1)


def test_a_run_that_diverged_has_neither_formula_nor_path():
    (record,) = searched(RIGHT, diverged_at=0)
    found = finding(record)
    assert (found.text, found.formula, found.equal, found.path) == (None, NO_FORMULA, None, None)


def test_a_long_path_is_left_out(monkeypatch):
    monkeypatch.setattr(page_paths, "MOST_STEPS", 2)
    assert [finding(record).path is None for record in searched(RIGHT, SAME)] == [False, True]


def test_a_name_of_several_layers_is_that_of_the_layer_before():
    def layer(step, reads, writes):
        return PathStep(step, 1, "nau", reads, writes, "+".join(reads), "a" * (LONGEST + 1))

    path = packed_path([layer(1, ("a",), "o1"), layer(2, ("o1",), "o1"), layer(3, ("o1",), "y")])
    assert [step[2] for step in path] == [("a",), (0,), (1,)]
    assert {len(step[5]) for step in path} == {LONGEST}


def test_rows_count_what_was_found_and_equal_paths_are_shared():
    rows, header = page_of(searched(RIGHT, RIGHT, SAME, RIGHT, WRONG))
    assert (rows[0]["target"], rows[0]["names"]) == ("c*(a + b)", ["a", "b", "c", "d"])
    assert (rows[0]["equal"], rows[0]["read"], rows[0]["formulas"]) == (4, 5, 2)
    assert rows[0]["found"] == [("c*(a + b)", 4), ("a + b + c", 1)]
    assert len(header["paths"]) == 3
    assert list(header["verdicts"].values()) == [[True, 0], [True, 0], [True, 1], [True, 0], [False, 2]]


def test_runs_with_equal_parameters_are_read_once(monkeypatch):
    read = []
    monkeypatch.setattr(page_paths, "finding", lambda record: read.append(record.seed) or finding(record))
    page_of(searched(RIGHT, RIGHT, WRONG))
    assert read == [0, 2]


def test_a_run_more_takes_little_room():
    sizes = [len(json.dumps(page_of(searched(*[RIGHT] * n))[1])) for n in (10, 20)]
    assert sizes[1] - sizes[0] < 10 * 80


def test_other_tasks_have_nothing_of_it(store_path, tmp_path):
    record = made_record(
        next(make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1).runs()), solved=True
    )
    rows, header = page_of([record])
    assert not {"target", "names", "equal", "found"} & set(rows[0])
    assert not {"verdicts", "paths"} & set(header)
    write_page(store_path, tmp_path / "report.html")
    assert "pathDrawing" not in (tmp_path / "report.html").read_text()


def test_both_kinds_of_tasks_are_on_one_page():
    plain = [
        made_record(run, solved=True)
        for run in make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=2).runs()
    ]
    rows, header = page_of([*plain, *searched(WRONG)])
    assert [row.get("equal") for row in rows] == [None, 0]
    assert list(header["verdicts"]) == ["2"]


def test_a_search_is_not_counted_in_steps():
    (record,) = searched(RIGHT)
    trained = bare_record(runs_of("frozen-selector", iterations=100)[0], solved=False)
    page = Page(stored_cases([record, trained]))
    parts = page.text_data()["sections"][0]["parts"]
    assert [part["budget"] for part in parts] == ["100 steps", "by search"]


def test_expressions_come_in_the_order_of_the_thesis_and_by_number():
    named = [bare_record(runs_of(op=op)[0]) for op in ("sub-add", "add-mul", "add-add")]
    sampled = [bare_record(runs_of(op=f"2-step-{k}")[0]) for k in (10, 9)]
    (section,) = Page(stored_cases([*named, *sampled])).program_data([1] * 5)["sections"]
    assert section["ops"] == ["add-add", "add-mul", "sub-add", "2-step-9", "2-step-10"]


@pytest.mark.parametrize(("number", "columns"), [(24, 24), (25, 1)])
def test_many_expressions_share_a_column_of_the_summary(number, columns):
    runs = make_experiment("composition", ["composer"], [f"2-step:{number}"], None, seeds=1).runs()
    page = Page(stored_cases([bare_record(run) for run in runs]))
    (part,) = page.text_data()["sections"][0]["parts"]
    assert len(part["ops"]) == columns
    assert part["ops"][-1] == ("2-step-23" if columns > 1 else "all 25 operations")
    assert part["units"][0]["cells"][0]["rate"] == "1.000"


def test_a_unit_of_an_unknown_file_has_no_path():
    (record,) = searched(RIGHT)
    layers = [{**record.identity["layers"][0], "source": "gone"}]
    changed = replace(record, identity={**record.identity, "layers": layers})
    assert finding(changed).path is None
    assert finding(changed).equal is None


def test_the_page_is_written(tmp_path):
    fill(tmp_path / "s.sqlite", make_experiment("composition", [GATED], ["add-mul"], None, seeds=1))
    assert write_page(tmp_path / "s.sqlite", tmp_path / "report.html") == 1
    assert "pathDrawing" in (tmp_path / "report.html").read_text()
