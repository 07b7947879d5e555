"""Plots of fits: readable files for any names and any number of rows."""

import numpy as np
import pytest

from nalm.errors import ArgumentError
from nalm.report.fit_plot import check_plot, draw_fit

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("name", ["energy", "price [$]", "a_$x$_<b>", "Größe"])
def test_names_are_drawn_as_they_are(name, tmp_path):
    path = tmp_path / "plot.html"
    draw_fit(path, [name], np.arange(9.0)[:, None], np.arange(9.0)[:, None])
    assert path.read_text(encoding="utf-8").count("<svg") == 1


def test_many_rows_and_targets_make_a_small_file(tmp_path):
    true = np.random.default_rng(0).uniform(1, 2, (200_000, 2))
    draw_fit(tmp_path / "plot.svg", ["a", "b"], true, true)
    assert (tmp_path / "plot.svg").stat().st_size < 5e6


def test_constant_targets_and_rows_without_value_are_no_fault(tmp_path):
    draw_fit(tmp_path / "plot.png", ["y"], np.ones((3, 1)), np.array([[1.0], [np.nan], [np.inf]]))
    assert (tmp_path / "plot.png").stat().st_size > 0


@pytest.mark.parametrize("name", ["plot.gif", "plot"])
def test_other_endings_are_refused(name, tmp_path):
    with pytest.raises(ArgumentError, match="one of png, svg, pdf, html"):
        check_plot(tmp_path / name)
