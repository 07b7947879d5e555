"""Tables of numbers from anything that holds them."""

import numpy as np
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.tasks import Table
from nalm.tasks.tabular import check_finite, column_names, matrix


class Frame:
    """Like a DataFrame: numbers with column names."""

    columns = ("mass", "speed")

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    "values", [ROWS, np.array(ROWS), torch.tensor(ROWS), torch.tensor(ROWS).int(), Frame(ROWS)]
)
def test_anything_that_holds_numbers_is_a_matrix_in_float64(values):
    made = matrix("x", values)
    assert made.dtype == torch.float64
    assert made.tolist() == ROWS


def test_a_vector_is_one_column_of_targets_but_no_inputs():
    assert matrix("y", [1, 2]).tolist() == [[1], [2]]
    with pytest.raises(ArgumentError, match="`x` must be of shape n x in"):
        matrix("x", [1, 2])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([["a", "b"]], "a table of numbers"),
        ([[1, 2], [3]], "a table of numbers"),
        (None, "shape"),
        ({"a": 1}, "a table of numbers"),
        (np.array(ROWS) + 1j, "real numbers"),
        (torch.tensor(ROWS) + 1j, "real numbers"),
        (torch.empty(3, 2, device="meta"), "meta device"),
        (torch.tensor(ROWS).to_sparse(), "a dense tensor"),
    ],
)
def test_what_is_none_is_refused_in_a_sentence(values, words):
    with pytest.raises(ArgumentError, match=words):
        matrix("x", values)


def test_names_are_those_given_or_the_tables_own():
    assert column_names(Frame(ROWS)) == ["mass", "speed"]
    assert column_names(Frame(ROWS), ["a", "b"]) == ["a", "b"]
    assert column_names(ROWS) is None
    for wrong in ("ab", 3):
        with pytest.raises(ArgumentError, match="a list of names"):
            column_names(ROWS, wrong)


def test_a_number_that_is_not_finite_is_refused_with_its_row_and_column():
    table = torch.tensor(ROWS)
    table[1, 0] = torch.nan
    with pytest.raises(ArgumentError, match=r"`x` must be finite.*nan in row 1 in column mass"):
        check_finite("x", table, ["mass", "speed"])
    with pytest.raises(ArgumentError, match=r"nan in row 1\.$"):
        check_finite("y", table, None)


def test_a_table_takes_them_and_keeps_the_names():
    table = Table(Frame(ROWS), [1, 2, 3], validation=0.4)
    assert table.names == ["mass", "speed"]
    assert table.dtype == torch.float32
    assert Table(np.array(ROWS), [1, 2, 3], dtype=torch.float64).dtype == torch.float64
    with pytest.raises(ArgumentError, match="in column speed"):
        Table(Frame([[1, 2], [3, np.inf]]), [1, 2])
    with pytest.raises(ArgumentError, match="`test` must be a tuple"):
        Table(ROWS, [1, 2, 3], test=7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_training_takes_arrays_in_the_models_precision(dtype):
    x = np.random.default_rng(0).uniform(1, 2, (50, 2))
    unit = nalm.NAU(2, 1, dtype=dtype)
    result = nalm.train(unit, (x, x.sum(1)), iterations=20, log_interval=10, compiled=False)
    assert result.validation.isfinite().all()
    assert unit.weight.dtype == dtype
