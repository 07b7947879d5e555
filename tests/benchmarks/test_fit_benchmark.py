"""The benchmark of fits: its formulas, its judge, its tables and its summary, without fitting much."""

import json
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

pytest.importorskip("sklearn", reason="the benchmark needs scikit-learn")

import fit
import fit_formulas
import fit_judge
import fit_rivals
import fit_tables
from fit_report import figures, show, summary

NAMES = ["a", "b", "c", "unused1"]


def judged(law, found, ranges="a 1 5, b 1 5, c 1 5"):
    return fit_judge.judge(fit_tables.formula(law, ranges), found, NAMES)


def test_the_list_has_enough_of_every_family():
    families = Counter(fit_formulas.family(name) for name in fit_formulas.FORMULAS)
    assert sum(families.values()) >= 100
    assert families["radical"] >= 20
    assert families["rational"] >= 30
    assert set(families) == set(fit_formulas.FAMILIES)


@pytest.mark.parametrize("name", list(fit_formulas.FORMULAS)[::12])
def test_a_formula_is_itself_and_its_rows_are_numbers(name):
    x, y, names, fresh_x, fresh_y, far_x, far_y = fit_formulas.make(name, redundant=2, tests=50)
    assert x.shape == (200, len(names))
    assert fresh_x.shape == far_x.shape == (50, len(names))
    assert all(np.isfinite(part).all() for part in (x, y, fresh_y, far_y))
    assert fit_formulas.check(name, fit_formulas.FORMULAS[name].text, names)["exact"]


@pytest.mark.parametrize(
    ("law", "found"),
    [
        ("a*b", "2*a*b/2"),
        ("(a+b)*c", "a*c + b*c"),
        ("sqrt(a**2+b**2)", "((a - b)**2 + 2*a*b)**0.5"),
        ("1/(1/a+1/b)", "a*b/(a+b)"),
        ("a-b", "a - b + 1e-9*unused1"),
        ("pi*a", "3.14159265*a"),
    ],
)
def test_other_ways_to_write_a_formula_are_exact(law, found):
    assert judged(law, found)["exact"]


@pytest.mark.parametrize(
    ("law", "found"),
    [
        ("pi*a", "3.1416*a"),
        ("a*b+c", "1.001*a*b + 0.999*c"),
        ("a*b+c", "a*b + c + 1e-5*unused1"),
        ("a/(b+c)", "a/(1.002*b + c + 1e-4)"),
        ("sqrt(a**2-b**2/4)", "sqrt(1.003*a**2 - 0.2502*b**2)"),
    ],
)
def test_coefficients_right_to_three_digits_are_the_structure_but_not_exact(law, found):
    verdict = judged(law, found, "a 3 5, b 1 2, c 1 5")
    assert verdict["structure"]
    assert not verdict["exact"]


@pytest.mark.parametrize(
    ("law", "found"),
    [
        ("a*b", "a*b*c"),
        ("a*b", "a*b + 0.01*c"),
        ("a*b", "1.05*a*b"),
        ("a+b", "sqrt(a**2 + 2.001*a*b + b**2)"),
        ("sqrt(a**2+b**2)", "0.96*a + 0.4*b"),
        ("a*b", "sqrt(b - 6)"),
        ("a*b", "a*b/0"),
        ("a*b", "a*unknown"),
        ("a*b", "a*(b"),
    ],
)
def test_other_formulas_are_not_the_structure(law, found):
    assert not judged(law, found)["structure"]


def test_coefficients_right_to_ten_percent_are_the_skeleton():
    verdict = judged("a*b", "1.05*a*b")
    assert verdict["skeleton"]
    assert not verdict["structure"]


def test_errors_are_measured_fairly_where_terms_cancel():
    assert judged("a-b", "a - 1.0000005*b")["exact"]


def test_names_of_sympy_are_columns():
    law = fit_tables.formula("E*I+S/N", "E 1 2, I 1 2, S 1 2, N 1 2")
    assert fit_judge.judge(law, "I*E + S/N", list("EISN"))["exact"]


def test_tables_repeat_with_the_seed_and_have_the_noise_asked_for():
    first, second = (fit_formulas.make("feynman/I.12.1", seed=3, noise=0.1, redundant=3) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second))
    clean = fit_formulas.make("feynman/I.12.1", seed=3, redundant=3)
    assert np.array_equal(clean[0], first[0])
    assert np.std(first[1] - clean[1]) == pytest.approx(0.1 * np.std(clean[1]), rel=0.2)


def test_far_rows_keep_denominators_and_radicands_away_from_zero():
    far_x, far_y = fit_formulas.make("feynman/I.10.7")[5:]
    assert np.isfinite(far_y).all()
    assert np.ptp(far_x, axis=0).max() > 30


def test_gplearn_notation_is_read():
    assert fit_rivals._infix("add(mul(a, -0.5), sqrt(div(b, c)))") == "((a*(-0.5))+sqrt(abs((b/c))))"


def test_sparse_polynomials_find_a_sum():
    x, y, names, *_ = fit_formulas.make("physics/free_fall", redundant=5)
    found = fit_rivals.polynomial(x, y, names, 5.0, 0)
    assert fit_formulas.check("physics/free_fall", found.expression, names)["exact"]


def test_conditions_vary_one_thing_at_a_time_unless_crossed():
    star = fit.conditions([0.0, 0.01], [5, 0, 20], crossed=False)
    assert star == [(0.0, 5), (0.0, 0), (0.0, 20), (0.01, 5)]
    assert len(fit.conditions([0.0, 0.01], [5, 0, 20], crossed=True)) == 6


def test_formulas_are_chosen_by_number_name_or_family():
    def chosen(text):
        return fit.chosen(Namespace(list="", formulas=text))

    assert len(chosen("7")) == 7
    assert chosen("I.12.1,odds") == ["feynman/I.12.1", "statistics/odds_ratio"]
    assert all(fit_formulas.family(name) == "radical" for name in chosen("radical"))
    with pytest.raises(SystemExit, match="no formula"):
        chosen("nothing")


def row(**given):
    plain = {"tool": "nalm", "formula": "f", "noise": 0.0, "redundant": 5, "seed": 0, "seconds": 1.0}
    plain |= {"formulas": "", "version": "1", "family": "sum", "note": "", "wall": 1.0, "cpu": 1.0}
    return {**plain, "verdict": "", "expression": "a", "inside": 0.1, "outside": None, **given}


def test_figures_count_and_a_missing_error_is_infinite():
    made = figures(
        [row(structure=True, exact=True, verdict="exact"), row(verdict="exact", outside=1.0), row()]
    )
    assert (made["structure"], made["exact"], made["called_exact"], made["wrongly_exact"]) == (1, 1, 2, 1)
    assert made["outside"] == np.inf
    assert figures([row(expression=None)])["structure"] is None


def test_tables_fit_80_columns(capsys):
    show([row(structure=True), row(tool="polynomial"), row(tool="mlp", expression=None)])
    printed = capsys.readouterr().out
    assert "family" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert [entry["tool"] for entry in summary([row(), row(tool="mlp")])] == ["nalm", "mlp"]


def test_fits_that_are_kept_are_not_done_again(tmp_path, monkeypatch):
    store = tmp_path / "store.jsonl"
    jobs = [fit.Job("nalm", "f", 0.0, 5, seed, 1.0, "", "1") for seed in range(3)]
    store.write_text(json.dumps(row()) + "\n" + '{"tool": "nalm", "cut')
    asked = []

    def made(todo, processes):
        asked.extend(job.seed for job in todo)
        return iter([row(seed=job.seed) for job in todo])

    monkeypatch.setattr(fit, "_made", made)
    assert [r["seed"] for r in fit.run(jobs, store, 1)] == [0, 1, 2]
    assert asked == [1, 2]
    fit.run(jobs, store, 1)
    assert asked == [1, 2]


def test_another_list_of_the_same_interface_can_be_given(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "FORMULAS = {'one': 1}\ndef make(name, **options): ...\ndef check(name, found, names): ...\n"
    )
    assert list(fit.formulas(str(file)).FORMULAS) == ["one"]
    assert fit.family(fit.Job("nalm", "one", 0.0, 0, 0, 1.0, str(file))) == "all"
    with pytest.raises(SystemExit, match="not a Python file"):
        fit.formulas(str(tmp_path / "none.py"))


def test_what_takes_too_long_is_broken_off_whatever_it_catches():
    def endless():
        while True:
            try:
                sum(range(1000))
            except Exception:
                pytest.fail("it was caught")

    with pytest.raises(fit.TooLateError), fit.Within(0.05):
        endless()
