"""What a formula is searched in: oddities of a table are noted, or refused with their place."""

import numpy as np
import pytest

from nalm.data.fit_table import fit_table
from nalm.data.numbers_file import open_numbers
from nalm.errors import ArgumentError


@pytest.fixture
def table(tmp_path):
    def make(text, targets="y", features=None):
        path = tmp_path / "data.csv"
        path.write_text(text)
        asked = None if features is None else features.split(",")
        return fit_table(open_numbers(path), targets.split(","), asked)

    return make


def test_all_other_columns_are_features(table):
    found = table("a,y,b\n1,2,3\n4,5,6\n7,8,10\n")
    assert (found.features, found.targets, found.notes) == (["a", "b"], ["y"], [])
    np.testing.assert_array_equal(found.x, [[1, 3], [4, 6], [7, 10]])
    np.testing.assert_array_equal(found.y, [[2], [5], [8]])


def test_features_and_several_targets_are_chosen_by_name(table):
    found = table("a,y,b,z\n1,2,3,4\n4,5,6,7\n7,8,10,9\n", "z,y", "b")
    assert (found.features, found.targets) == (["b"], ["z", "y"])
    np.testing.assert_array_equal(found.y, [[4, 2], [7, 5], [9, 8]])


NOTED = {
    "text": (
        "a,who,y\n1,ann,2\n2,bob,3\n3,cy,5\n",
        "Column who was left out: it holds 'ann' in row 2, which is not a number.",
    ),
    "one bad cell": (
        "a,b,y\n1,1,2\n2,?,3\n3,3,5\n",
        "Column b was left out: it holds '?' in row 3, which is not a number.",
    ),
    "empty column": ("a,b,y\n1,,2\n2,,3\n3,,5\n", "Column b was left out: it is empty."),
    "one row with a missing number": (
        "a,y\n1,2\n2,\n3,5\n4,4\n",
        "1 of 4 rows was left out, where a number is missing in column y: row 3.",
    ),
    "missing numbers": (
        "a,b,y\n,1,2\n2,2,3\n3,,5\n4,4,5\n5,,5\n6,,7\n7,7,8\n8,8,9\n",
        "4 of 8 rows were left out, where a number is missing in columns a and b: rows 2, 4, 6 and others.",
    ),
    "percent": (
        "a,b,y\n1,27%,2\n2,3%,3\n3,1%,5\n",
        "Column b was left out: it holds '27%' in row 2, which is not a number. Write 27 or 0.27, "
        "without the percent sign.",
    ),
    "constant target": (
        "a,y\n1,7.5\n2,7.5\n3,7.5\n",
        "The target y is 7.5 in every row: there is nothing to explain.",
    ),
    "units below the heading": (
        "a,b,y\nm,s,m/s\n1,2,2\n2,2,3\n3,1,5\n",
        "Row 2 of data.csv was left out: it holds 'm', and no numbers.",
    ),
    "constant": (
        "a,g,y\n1,9.81,2\n2,9.81,3\n3,9.81,5\n",
        "Column g is 9.81 in every row: the rows cannot tell whether it matters.",
    ),
}


@pytest.mark.parametrize("kind", NOTED)
def test_what_is_left_out_is_noted(kind, table):
    text, note = NOTED[kind]
    found = table(text)
    assert found.notes == [note]
    assert np.isfinite(found.x).all()
    assert "a" in found.features


@pytest.mark.parametrize("cell", ["2.044", "2,044"])
def test_what_may_be_thousands_is_noted(cell, table):
    found = table(f"a;y\n14;{cell}\n2;146\n3;{cell}\n")
    assert found.y[:, 0].tolist() == [2.044, 146, 2.044]
    assert found.notes == [
        f"Column y: '{cell}' was read as the decimal number 2.044. If 2044 is meant, remove the "
        "separators of thousands from the file."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a;y\n1;2.044\n2;2.04\n3;3.144\n",  # a number with two decimals
        "a;y\n1;2.044\n2;0.123\n3;3.144\n",  # a leading zero
        "a;y\n1,5;2,044\n2;2,046\n3;3,144\n",  # decimal commas in another column
        "a;y\n1;2.044\n2;2044\n3;3.144\n",  # thousands without separator
        "a,y\n1,2.044\n2,2.046\n3,3.144\n",  # three decimals in every row
    ],
)
def test_decimals_beyond_doubt_are_not_noted(text, table):
    assert table(text).notes == []


def test_numbers_near_the_largest_are_no_reason_to_warn(table, recwarn):
    table("a,y\n1e308,1\n-1e308,2\n1e308,3\n")
    assert not recwarn.list


def test_a_missing_number_in_a_column_that_is_not_used_costs_no_row(table):
    found = table("a,b,y\n1,,2\n2,2,3\n3,,5\n", features="a")
    assert (len(found.x), found.notes) == (3, [])


def test_rows_are_known_by_their_numbers_in_the_file(table):
    whole, some = table("a,y\n1,2\n2,3\n3,5\n"), table("a,y\n1,2\n2,\n3,5\n4,4\n")
    assert [whole.row_in_file(k) for k in range(3)] == [2, 3, 4]
    assert [some.row_in_file(k) for k in range(3)] == [2, 4, 5]


def test_without_a_heading_columns_are_numbered_with_a_note(table):
    found = table("1,2\n2,4\n3,7\n", "x1")
    assert found.notes == ["data.csv has no heading: its columns are called x0 and x1."]


REFUSED = {
    "a target that is not there": ("a,energy\n1,2\n", "Energi", None, "target.*Did you mean 'energy'"),
    "a feature that is not there": ("mass,y\n1,2\n", "y", "mas", "features.*Did you mean 'mass'"),
    "no heading": ("1,2\n3,4\n", "y", None, "has no heading: its columns are called x0 and x1"),
    "a target among the features": ("a,y\n1,2\n", "y", "a,y", "columns other than the target, but got 'y'"),
    "a target twice": ("a,y\n1,2\n", "y,y", None, "`target` must be different columns, but got 'y' twice"),
    "a feature twice": ("a,y\n1,2\n", "y", "a,a", "`features` must be different columns"),
    "text as the target": ("a,y\n1,x\n", "y", None, "holds text in column y, such as 'x' in row 2"),
    "text as a feature": ("a,y\n1,1\nx,1\n", "y", "a", "has 'x' in row 3, column a, not a number"),
    "an empty target": ("a,y\n1,\n2,\n3,\n", "y", None, "has no number in column y"),
    "an infinite number": ("a,y\n1,2\n-inf,3\n4,5\n", "y", None, "has -inf in row 3, column a, not a finite"),
    "no row": ("a,y\n", "y", None, "only has a heading"),
    "one row": ("a,y\n1,2\n", "y", None, "has 1 row of numbers. At least 3"),
    "few whole rows": ("a,y\n1,2\n,3\n4,\n5,6\n", "y", None, "has 2 rows of numbers without missing"),
    "no column beside the target": ("y\n1\n2\n3\n", "y", None, "no column of numbers beside"),
    "nothing but text beside it": ("a,y\nx,1\nx,2\nx,3\n", "y", None, "no column of numbers beside"),
    "thousands in the target": ('a,y\n1,"2,044"\n', "y", None, "'2,044' in row 2.* Write 2044"),
    "another separator": ("a|y\n1|2\n", "y", None, "only this column. Separate columns by"),
    "nothing but text": ("a,y\nx,u\nx,v\n", "y", None, "holds text in column y"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_used_is_refused_with_its_place(kind, table):
    text, targets, features, sentence = REFUSED[kind]
    with pytest.raises(ArgumentError, match=sentence):
        table(text, targets, features)
