"""Files of numbers as people have them, and what is said where they hold something else."""

import numpy as np
import pytest

from nalm.errors import ArgumentError
from nalm.tasks import Split, Table, read_csv

FILES = {
    "commas": "a,b,y\n1,2,3\n4,5,9\n",
    "semicolons": "a;b;y\n1;2;3\n4;5;9\n",
    "tabs": "a\tb\ty\n1\t2\t3\n4\t5\t9\n",
    "decimal commas": "a;b;y\n1,0;2,0;3,0\n4,0;5,0;9,0\n",
    "windows": "\ufeffa,b,y\r\n1,2,3\r\n4,5,9\r\n",
    "spaces and blank lines": " a , b , y\n\n1 , 2 , 3\n\n4, 5 ,9",
    "exponents": "a,b,y\n1e0,20e-1,3\n4,+5,9\n",
}


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("kind", FILES)
def test_every_usual_way_to_write_a_table_is_read(kind, tmp_path):
    file = read_csv(written(tmp_path, FILES[kind]))
    assert file.names == ["a", "b", "y"]
    np.testing.assert_array_equal(file.values, [[1, 2, 3], [4, 5, 9]])


def test_without_a_heading_columns_are_numbered(tmp_path):
    assert read_csv(written(tmp_path, "1,2,3\n4,5,9\n")).names == ["x0", "x1", "x2"]


WRONG = {
    "a,b,y\n1,2\n": "has 2 cells in row 2, but 3 in row 1",
    "a,b,y\n1,2,3\n1,?,3\n": "has '\\?' in row 3, column b, not a number",
    "a,b,y\n1,,3\n": "has nothing in row 2, column b",
    "": "is empty",
    "a,b,y\n": "only has a heading",
    "a,a,y\n1,2,3\n": "columns with the same name: 'a'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_table_of_numbers_is_named_with_its_place(text, tmp_path):
    with pytest.raises(ArgumentError, match=WRONG[text]):
        read_csv(written(tmp_path, text))


@pytest.mark.parametrize("make", [lambda path: path / "gone.csv", lambda path: path])
def test_a_file_that_cannot_be_read_is_a_sentence(make, tmp_path):
    with pytest.raises(ArgumentError, match=r"does not exist|is a folder"):
        read_csv(make(tmp_path))


def test_bytes_that_are_no_text_are_a_sentence(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(bytes(range(128, 256)))
    with pytest.raises(ArgumentError, match="is not text in UTF-8"):
        read_csv(path)


ROWS = "a,y,b\n" + "\n".join(f"{k},{k + 2 * k},{2 * k}" for k in range(1, 11))


def test_a_table_takes_its_target_from_any_column(tmp_path):
    table = Table.from_csv(written(tmp_path, ROWS), "y")
    assert table.names == ["a", "b"]
    assert table.label == "data.csv: y"
    x, y = table.rows[Split.TRAIN]
    np.testing.assert_array_equal(x.sum(1).numpy(), y[:, 0].numpy())
    assert Table.from_csv(written(tmp_path, ROWS)).names == ["a", "y"]  # the last column, unless one is named


def test_a_second_file_is_what_is_tested_on_whatever_the_order_of_its_columns(tmp_path):
    other = written(tmp_path, "b,a,y\n200,100,300\n400,100,500", "far.csv")
    table = Table.from_csv(written(tmp_path, ROWS), "y", test=other)
    np.testing.assert_array_equal(table.rows[Split.TEST][0].numpy(), [[100, 200], [100, 400]])
    with pytest.raises(ArgumentError, match="which has no column 'y'"):
        Table.from_csv(written(tmp_path, ROWS), "y", test=written(tmp_path, "a,b\n1,2", "short.csv"))


def test_a_target_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArgumentError, match="Did you mean 'y'"):
        Table.from_csv(written(tmp_path, ROWS), "Y")
    with pytest.raises(ArgumentError, match="has one column"):
        Table.from_csv(written(tmp_path, "y\n1\n2"))
