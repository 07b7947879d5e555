import pytest
import torch
from torch import nn

from nalm.errors import ArgumentError
from nalm.streams import Purpose, counters, key, uniform
from nalm.tasks import Split, Table


def rows(n=50, inputs=3, outputs=2, offset=0):
    """Inputs and targets in which every row is recognisable."""
    x = torch.arange(offset, offset + n, dtype=torch.float32)[:, None] + torch.arange(inputs) / 10
    return x, 2 * x[:, :1] + torch.arange(outputs)


def batch(table, split, n=None, seeds=(0,)):
    seeds = torch.tensor(seeds, dtype=torch.int32)
    n = table.samples(split) if n is None else n
    u = uniform(key(seeds, Purpose.DATA, 0), counters(table.draws, n))
    numbers = {k: torch.tensor([v] * len(seeds)) for k, v in table.numbers(0, split).items()}
    if split != Split.TRAIN:
        numbers["block"] = torch.zeros(len(seeds), dtype=torch.int32)
    return table.batch(u, {**numbers, **table.constants(split)})


def test_every_row_is_either_for_training_or_for_validation():
    x, y = rows()
    table = Table(x, y)
    for k, whole in enumerate((x, y)):
        split = torch.cat([table.rows[Split.TRAIN][k], table.rows[Split.VALIDATION][k]])
        assert torch.equal(split.sort(0).values, whole)


@pytest.mark.parametrize(
    ("n", "validation", "kept"), [(50, 0.2, 10), (50, 0.5, 25), (10, 0.01, 1), (2, 0.2, 1), (7, 0.2, 1)]
)
def test_the_part_kept_for_validation_is_rounded_and_at_least_one_row(n, validation, kept):
    table = Table(*rows(n), validation=validation)
    assert table.samples(Split.VALIDATION) == kept
    assert table.samples(Split.TRAIN) == n - kept


def test_the_split_is_a_fixed_shuffle():
    x, y = rows()
    first, second = Table(x, y), Table(x, y)
    assert torch.equal(first.rows[Split.TRAIN][0], second.rows[Split.TRAIN][0])
    assert not torch.equal(first.rows[Split.VALIDATION][0], x[:10])


def test_sizes_are_those_of_the_data():
    table = Table(*rows(inputs=4, outputs=3))
    assert (table.in_features, table.out_features, table.draws) == (4, 3, 1)


def test_targets_without_a_second_axis_are_one_output():
    x, y = rows(outputs=1)
    table = Table(x, y[:, 0])
    assert table.out_features == 1
    assert torch.equal(table.rows[Split.TRAIN][1], Table(x, y).rows[Split.TRAIN][1])


@pytest.mark.parametrize("split", [Split.VALIDATION, Split.TEST])
def test_evaluation_takes_all_rows_in_order(split):
    table = Table(*rows(), test=rows(17, offset=1000))
    x, y = batch(table, split, seeds=(0, 1))
    assert table.block(split) == table.samples(split)
    for k in range(2):
        assert torch.equal(x[k], table.rows[split][0])
        assert torch.equal(y[k], table.rows[split][1])


def test_without_test_data_the_test_is_that_of_validation():
    table = Table(*rows())
    assert table.rows[Split.TEST] is table.rows[Split.VALIDATION]


def test_given_test_data_are_used_as_they_are():
    test = rows(5, offset=1000)
    table = Table(*rows(), test=test)
    assert torch.equal(table.rows[Split.TEST][0], test[0])
    assert torch.equal(table.rows[Split.TEST][1], test[1])


@pytest.mark.parametrize("n", [40, 128, 2000])
def test_training_draws_training_rows_only_with_their_targets(n):
    table = Table(*rows())
    x, y = batch(table, Split.TRAIN, n, seeds=(0, 1, 2))
    assert x.shape == (3, n, 3)
    assert y.shape == (3, n, 2)
    assert torch.isin(x[..., 0], table.rows[Split.TRAIN][0][:, 0]).all()
    assert torch.equal(y, 2 * x[..., :1] + torch.arange(2))


def test_training_draws_every_row_about_equally_often():
    table = Table(*rows())
    x, _ = batch(table, Split.TRAIN, 40_000)
    _, counts = x[0, :, 0].unique(return_counts=True)
    assert len(counts) == 40
    assert ((counts - 1000).abs() < 5 * 1000**0.5).all()


def test_a_training_batch_as_large_as_the_table_is_drawn_too():
    table = Table(*rows())
    x, _ = batch(table, Split.TRAIN, 40)
    assert len(x[0, :, 0].unique()) < 40


def test_every_seed_draws_its_own_rows():
    x, _ = batch(Table(*rows()), Split.TRAIN, 100, seeds=(0, 1))
    assert not torch.equal(x[0], x[1])


@pytest.mark.parametrize("n", [3, 40, 1000, 65_537])
def test_the_largest_number_below_one_draws_the_last_row(n):
    table = Table(*rows(n + 1), validation=0.5 / (n + 1))
    u = torch.full((1, 1, 1), 1 - 2**-24)
    x, _ = table.batch(u, {"drawn": torch.ones(1), **table.constants(Split.TRAIN)})
    assert torch.equal(x[0, 0], table.rows[Split.TRAIN][0][-1])


def test_tables_do_not_share_programs():
    x, y = rows()
    assert Table(x, y).shape() != Table(x, y).shape()


def test_nobody_knows_the_solution_of_a_table():
    table = Table(*rows())
    assert table.threshold() is None
    with pytest.raises(ArgumentError, match="`task` must be one whose solution is known, but got table"):
        table.ideal_(nn.Identity())


X, Y = rows()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": "numbers", "y": Y}, "`x` must be a table of numbers, but got str"),
        ({"x": X, "y": Y * 1j}, "`y` must be real numbers, but got torch.complex64"),
        ({"x": X[:, 0], "y": Y}, "`x` must be of shape n x in, but got shape (50,)"),
        ({"x": X, "y": Y[:-1]}, "`y` must be of shape 50 or 50 x out, but got shape (49, 2)"),
        ({"x": X, "y": Y[..., None]}, "`y` must be of shape 50 or 50 x out"),
        ({"x": X, "y": Y, "validation": 0.0}, "`validation` must be between 0 and 1, but got 0.0"),
        ({"x": X, "y": Y, "validation": 1.0}, "`validation` must be between 0 and 1, but got 1.0"),
        ({"x": X[:1], "y": Y[:1]}, "`x` must be two rows or more, but got 1"),
        ({"x": X[:0], "y": Y[:0]}, "`x` must be two rows or more, but got 0"),
        ({"x": X, "y": Y, "test": (X, Y[:1])}, "`y` must be of shape 50 or 50 x out"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments, message):
    with pytest.raises(ArgumentError) as error:
        Table(**arguments)
    assert message in str(error.value)


@pytest.mark.parametrize("test", [(X[:, :2], Y), (X, Y[:, :1]), (X[:0], Y[:0])])
def test_test_data_that_do_not_fit_the_table_are_refused_at_once(test):
    with pytest.raises(ArgumentError):
        Table(X, Y, test=test)


def test_a_validation_part_that_leaves_no_training_rows_is_named_as_the_cause():
    with pytest.raises(ArgumentError, match="`validation`"):
        Table(X[:10], Y[:10], validation=0.99)
