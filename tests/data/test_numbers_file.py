"""Files of numbers as people have them: read alike by pyarrow and without it."""

import sys

import numpy as np
import pytest

from nalm.data.columns import NoNumber
from nalm.data.numbers_file import open_numbers
from nalm.errors import ArgumentError, NalmError

NAN = np.nan


@pytest.fixture(params=["pyarrow", "plain"])
def reader(request, monkeypatch):
    """Both ways of reading text files."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")


@pytest.fixture
def written(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


FILES = {
    "commas": "a,b,y\n1,2.5,3\n4,5,9\n",
    "semicolons": "a;b;y\n1;2.5;3\n4;5;9\n",
    "tabs": "a\tb\ty\n1\t2.5\t3\n4\t5\t9\n",
    "decimal commas": "a;b;y\n1,0;2,5;3,0\n4,0;5,0;9\n",
    "decimal commas and tabs": "a\tb\ty\n1\t2,5\t3\n4\t5\t9\n",
    "blanks": "a b  y\n1 2.5 3\n  4   5 9 \n",
    "blanks and decimal commas": "a b y\n1,0 2,5 3,0\n4,0 5,0 9\n",
    "windows": "\ufeffa,b,y\r\n1,2.5,3\r\n4,5,9\r\n",
    "old macintosh": "a,b,y\r1,2.5,3\r4,5,9\r",
    "spaces and blank lines": " a , b , y\n\n1 , 2.5 , 3\n\n   \n4, 5 ,9",
    "blank lines in front": "\n  \na,b,y\n1,2.5,3\n4,5,9\n",
    "exponents and signs": "a,b,y\n1e0,25e-1,3\n4,+5,9\n",
    "quotes": '"a","b","y"\n"1","2.5","3"\n4,5,9\n',
}


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("kind", FILES)
def test_every_usual_way_to_write_a_table_is_read(kind, written):
    file = open_numbers(written(FILES[kind]))
    assert (file.names, file.has_heading) == (["a", "b", "y"], True)
    found = file.read(file.names)
    np.testing.assert_array_equal(found.values, [[1, 2.5, 3], [4, 5, 9]])
    assert (found.names, found.others) == (file.names, {})
    assert [[cell.strip() for cell in row][-1][0] for row in file.cells()] == ["3", "9"]


@pytest.mark.usefixtures("reader")
def test_columns_come_in_the_order_asked_for_and_no_others_are_read(written):
    found = open_numbers(written("a,b,y\n1,2,3\n4,5,9\n")).read(["y", "a"])
    np.testing.assert_array_equal(found.values, [[3, 1], [9, 4]])


@pytest.mark.usefixtures("reader")
def test_without_a_heading_columns_are_numbered_and_rows_begin_with_one(written):
    file = open_numbers(written("1,5;2,5\n3;oops\n"))
    assert (file.names, file.has_heading) == (["x0", "x1"], False)
    assert file.read(["x1"]).others == {"x1": NoNumber(2, "oops")}


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("cell", ["", " ", "NA", "nan", "NULL", "n/a", "#N/A", '""'])
def test_missing_numbers_are_nan_however_they_are_written(cell, written):
    found = open_numbers(written(f"a,b\n1,2\n3,{cell}\n5,6\n")).read(["a", "b"])
    np.testing.assert_array_equal(found.values, [[1, 2], [3, NAN], [5, 6]])


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("cell", ["steel", "12:30", "2024-01-31", "1_000", "1.2.3", "5 kg", "0x10", "true"])
def test_a_column_with_something_else_is_named_with_its_first_such_cell(cell, written):
    found = open_numbers(written(f"a,b\n1,2\n\n3,{cell}\n4,x\n")).read(["a", "b"])
    assert (found.names, found.others) == (["a"], {"b": NoNumber(3, cell)})
    np.testing.assert_array_equal(found.values, [[1], [3], [4]])


@pytest.mark.usefixtures("reader")
def test_the_row_is_right_far_below_the_first_block(written):
    rows = [f"{k},{k}" for k in range(300_000)]
    rows[250_000] = "1,oops"
    found = open_numbers(written("a,b\n" + "\n".join(rows))).read(["a", "b"])
    assert found.others == {"b": NoNumber(250_002, "oops")}
    assert found.values.shape == (300_000, 1)
    assert found.values.flags.f_contiguous


@pytest.mark.usefixtures("reader")
def test_a_text_column_may_hold_line_breaks(written):
    found = open_numbers(written('a,said,b\n1,"one\ntwo",2\n3,x,4\n')).read(["a", "b"])
    np.testing.assert_array_equal(found.values, [[1, 2], [3, 4]])


@pytest.mark.usefixtures("reader")
def test_a_heading_may_hold_units_commas_and_line_breaks(written):
    file = open_numbers(written('mass [kg],"v, fast","E\n(J)"\n1,2,3\n'))
    assert file.names == ["mass [kg]", "v, fast", "E\n(J)"]
    np.testing.assert_array_equal(file.read(file.names).values, [[1, 2, 3]])


@pytest.mark.usefixtures("reader")
def test_a_row_of_units_is_skipped_and_counted(written):
    file = open_numbers(written('a,"b\n(x)",y\n\nm,,"m\n/s"\n1,2,3\n\n4,5,oops\n'))
    found = file.read(file.names)
    np.testing.assert_array_equal(found.values, [[1, 2], [4, 5]])
    assert (file.first_row, found.others) == (3, {"y": NoNumber(4, "oops")})


WRONG = {
    "a,b,y\n1,2\n": "has 2 cells in row 2, but 3 in row 1",
    "a,b\n1,2\n\n  \n3,4\n5,6,7\n": "has 3 cells in row 4, but 2 in row 1",
    "a b\n1 2\n3 4\n" * 10 + "5 6 7\n": "has 3 cells in row 31, but 2 in row 1",
    "": "is empty",
    " \n\n": "is empty",
    "a,b,a,b\n1,2,3,4\n": "has columns with the same name: 'a', 'b'",
    b"a,b\n1,\xff\xfe\n3,4\n": "is not text in UTF-8. Save it in UTF-8",
    b"a,b\n" + b"1,2\n" * 9000 + b"1,\xf6\n": "is not text in UTF-8. Save it in UTF-8",
    b"\xff\xfea\x00,\x00b\x00": "is text in UTF-16. Save it in UTF-8",
    b"PK\x03\x04 and so on": "is a spreadsheet or zip archive. Save its table as CSV",
    b"\x1f\x8b and so on": "is a gzip archive",
    "# by A, B\n\n# 2024\na,b,y\n1,2,3\n4,5,6\n": "begins with '# by A, B'",
    "Run 7\na;b\n1;2\n4;5\n": "begins with 'Run 7', which is no heading of 2 columns",
    "# a b y\n1 2 3\n4 5 6\n": "begins with .* no heading of 3 columns.* write a name for each",
}


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("content", WRONG)
def test_what_is_no_table_is_refused_with_its_place(content, written):
    with pytest.raises(ArgumentError, match=f"^/.*data.csv {WRONG[content]}"):
        (file := open_numbers(written(content))).read(file.names)


def test_a_file_that_is_not_there_or_is_a_folder_is_a_sentence(tmp_path):
    for path, what in ((tmp_path / "gone.csv", "does not exist"), (tmp_path, "is a folder, not a file")):
        with pytest.raises(ArgumentError, match=f"^{path} {what}.$"):
            open_numbers(path)


@pytest.fixture
def parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def write(columns, name="data.parquet"):
        parquet.write_table(pyarrow.table(columns), tmp_path / name)
        return tmp_path / name

    return write


def test_parquet_gives_the_same_columns(parquet):
    columns = {"a": [1, None, 3], "b": [0.5, 1.5, 2.5], "who": ["x", "y", "z"], "is": [True, False, None]}
    file = open_numbers(parquet(columns))
    found = file.read(["b", "who", "a", "is"])
    assert (found.names, list(found.others)) == (["b", "a"], ["who", "is"])
    np.testing.assert_array_equal(found.values, [[0.5, 1], [1.5, NAN], [2.5, 3]])
    assert list(file.cells()) == [["1", "0.5", "x", "True"], ["", "1.5", "y", "False"], ["3", "2.5", "z", ""]]


def test_parquet_is_known_by_its_content_and_damage_is_a_sentence(parquet, written):
    whole = parquet({"a": [1.0, 2.0]}, "data.csv")
    assert open_numbers(whole).names == ["a"]
    with pytest.raises(ArgumentError, match=r"cut\.parquet cannot be read as Parquet"):
        open_numbers(written(whole.read_bytes()[:-20], "cut.parquet"))
    with pytest.raises(ArgumentError, match="is empty"):
        open_numbers(parquet({"a": []}))


def test_parquet_without_pyarrow_says_what_to_install(parquet, monkeypatch):
    path = parquet({"a": [1.0]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NalmError, match=r"pip install 'nalm\[fit\]'"):
        open_numbers(path)
