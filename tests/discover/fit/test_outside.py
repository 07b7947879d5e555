"""How a formula behaves outside its rows is told in sentences."""

import numpy as np
import sympy as sp

from nalm.discover.fit.formula import Formula
from nalm.discover.fit.outside import outside_notes

NAMES = ["a", "b"]
A, B = SYMBOLS = tuple(sp.Symbol(name, real=True) for name in NAMES)
LOW, HIGH = np.array([1.0, 2.0]), np.array([3.0, 5.0])


def notes(expression, low=LOW, high=HIGH):
    return outside_notes(Formula(expression, SYMBOLS), low, high, NAMES)


def test_the_box_names_the_columns_that_are_read():
    assert notes(A**2) == ["Rows were seen for a from 1 to 3."]
    assert notes(A * B) == ["Rows were seen for a from 1 to 3, b from 2 to 5."]


def test_a_constant_has_no_box():
    assert notes(sp.Float(2.5, 15)) == []


def test_a_pole_near_the_box_is_told():
    (_, note) = notes(1 / (A - 4))
    assert "denominator a - 4" in note
    assert "pole" in note


def test_a_pole_among_the_rows_is_told():
    (_, note) = notes(1 / (A - 2))
    assert "denominator a - 2 changes its sign among the rows" in note


def test_a_root_that_ends_near_the_box_is_told():
    (_, note) = notes(sp.sqrt(4 - A))
    assert "radicand 4 - a" in note
    assert "no value" in note


def test_a_root_in_the_denominator_is_a_pole():
    (_, note) = notes(B / sp.sqrt(4 - A))
    assert "denominator 4 - a" in note


def test_nothing_is_told_of_what_stays_far_from_zero():
    assert len(notes(1 / (A + B))) == 1
    assert len(notes(sp.sqrt(A**2 + B**2 + 1))) == 1
    assert len(notes(1 / (A - 100))) == 1


def test_columns_that_are_positive_are_not_expected_to_change_their_sign():
    assert len(notes(B / A)) == 1
    assert len(notes(sp.sqrt(A * B + A))) == 1


def test_every_pole_is_told():
    assert len(notes(1 / (A - 4) + sp.sqrt(6 - B))) == 3


def test_notes_are_the_same_each_time():
    expression = 1 / (A - 4) + sp.sqrt(6 - B)
    assert notes(expression) == notes(expression)


def test_columns_of_both_signs_are_handled():
    low, high = np.array([-2.0, -5.0]), np.array([2.0, -1.0])
    assert any("a + 1 changes its sign among" in note for note in notes(B / (A + 1), low, high))
    assert len(notes(A / (1 - B), low, high)) == 1
