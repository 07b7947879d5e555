"""The tables on which nothing may be called exact, and their judge."""

import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import fit_hard_tables
import fit_honesty
from fit_hard_tables import KINDS, Table, law

A, B = sp.symbols("x0 x1", real=True)


def given(**options):
    rng = np.random.default_rng(0)
    x, fresh = rng.uniform(1, 5, (30, 2)), rng.uniform(1, 5, (50, 2))
    real = law("a*b")
    return Table(x, real(x), fresh, real, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_of_numbers_and_repeat(kind):
    for seed in range(15):
        table, again = (fit_hard_tables.table(kind, seed) for _ in range(2))
        assert np.array_equal(table.x, again.x)
        assert np.array_equal(table.y, again.y)
        assert np.isfinite(table.x).all()
        assert np.isfinite(table.y).all()
        assert table.law is None or np.isfinite(table.law(table.fresh)).all()


@pytest.mark.parametrize("kind", fit_hard_tables.RIGHT)
def test_rows_of_kinds_that_should_be_exact_are_those_of_the_law(kind):
    for seed in range(10):
        table = fit_hard_tables.table(kind, seed)
        assert np.allclose(table.law(table.x.astype(float)), table.y, rtol=2 * table.precision)


def test_the_law_is_right():
    assert fit_honesty.fault(given(), A * B) == ""


def test_a_formula_that_misses_a_row_is_wrong():
    table = given()
    table.y[3] += 1e-4
    assert "contradicts" in fit_honesty.fault(table, A * B)
    table.half_unit = 1e-3
    assert fit_honesty.fault(table, A * B) == ""


def test_a_formula_that_meets_the_rows_of_copied_columns_but_is_not_the_law_is_wrong():
    table = given()
    table.x[:, 1] = table.x[:, 0]
    table.y = table.law(table.x)
    assert fit_honesty.fault(table, A * B) == ""
    assert "fresh" in fit_honesty.fault(table, A**2)


def test_without_a_law_exact_is_wrong_and_where_it_is_no_number_too():
    table = given()
    assert "contradicts" in fit_honesty.fault(table, sp.sqrt(-A) * B)
    table.law = None
    assert "no law" in fit_honesty.fault(table, A * B)


def test_the_summary_tells_both_sides():
    rows = [
        {"kind": "clean", "verdict": "exact", "wrong": "", "seconds": 1.0},
        {"kind": "clean", "verdict": "approximate", "wrong": "", "seconds": 1.0},
        {"kind": "noise", "verdict": "exact", "wrong": "it is", "seconds": 1.0},
    ]
    counts = fit_honesty.summary(rows)
    assert counts["noise"]["wrong"] == 1
    assert fit_honesty.last_word(counts).startswith("1 wrongly called exact of 3 tables")
    assert "1 of 2 that should be exact are" in fit_honesty.last_word(counts)
