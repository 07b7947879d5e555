"""Tables of text: at any width nothing is cut."""

import pytest

from nalm.report.text_table import Column, TextTable

COLUMNS = (Column("unit"), Column("range"), Column("success"), Column("weights", 2), Column("about", 1, True))
ROWS = [
    ("nmu", "1:2", "1.00 [0.87, 1.00]", "W=[[1 1]]", "It multiplies a selection of what comes in."),
    ("./long/path/mine.py:Mine", "-6:-2|2:6", "0.52 [0.34, 0.70]", "", "Own."),
]
TABLE = TextTable("title", COLUMNS, ROWS)


def words(text):
    return text.replace(";", " ").split()


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200, None])
def test_every_word_is_there_at_any_width(width):
    text = TABLE.text(width)
    assert "…" not in text
    for row in ROWS:
        assert all(word in words(text) for cell in row for word in words(cell))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width):
    assert max(map(len, TABLE.text(width).splitlines())) <= width


def test_without_a_width_every_row_is_a_line():
    assert TABLE.text().splitlines()[3:] == [
        "nmu                       1:2        1.00 [0.87, 1.00]  W=[[1 1]]  "
        "It multiplies a selection of what comes in.",
        "./long/path/mine.py:Mine  -6:-2|2:6  0.52 [0.34, 0.70]             Own.",
    ]


def test_prose_is_wrapped_before_a_column_moves():
    lines = TABLE.text(92).splitlines()
    assert lines[1].split() == ["unit", "range", "success", "weights", "about"]
    assert lines[4].split() == ["of", "what", "comes", "in."]


def test_the_least_important_column_moves_first_and_empty_cells_leave_no_line():
    assert TABLE.text(80).splitlines()[1:] == [
        "unit                      range      success            about",
        "-" * 80,
        "nmu                       1:2        1.00 [0.87, 1.00]  It multiplies a",
        "                                                        selection of what comes",
        "                                                        in.",
        "    weights: W=[[1 1]]",
        "./long/path/mine.py:Mine  -6:-2|2:6  0.52 [0.34, 0.70]  Own.",
    ]


def test_the_first_column_stays_however_narrow_it_is():
    assert TABLE.text(10).splitlines()[1] == "unit"


def test_lines_are_drawn_where_groups_end():
    table = TextTable("t", (Column("a"),), [("x",), ("y",)], {0})
    assert table.text().splitlines() == ["t", "a", "-", "x", "-", "y"]


def test_a_table_without_rows_has_its_headings():
    assert TextTable("none", COLUMNS, []).text(80).splitlines()[0] == "none"
