"""The section about digits: what its tables and figures say of runs that are known."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from made_digits import (
    COUNT,
    LARGER,
    PRODUCT,
    QUOTIENT,
    digit_record,
    digit_run,
    product_records,
    section_of,
    store_of,
)
from made_runs import EVIL, fill

from nalm.experiment.bench import make_experiment
from nalm.experiment.store import Store
from nalm.report.axes import Scale
from nalm.report.page import write_page
from nalm.tasks import MnistSequential

SVG_TEXT = re.compile(r"<[^>]*>")


def table_of(part):
    """The cells of a table as texts, by row and heading."""
    return {
        "".join(row["name"]): {
            heading: " ".join(filter(None, (cell.estimate, cell.interval, cell.below)))
            for heading, cell in zip(part["headings"], row["cells"])
        }
        for row in part["rows"]
    }


@pytest.fixture(scope="module")
def product():
    (part,) = section_of(product_records())
    return part


@pytest.fixture
def output(tmp_path):
    return tmp_path / "report.html"


# -- which runs ------------------------------------------------------------------------------------


def test_runs_on_digits_have_a_section_and_are_in_no_other(tmp_path, output):
    path = store_of(tmp_path / "s.sqlite", product_records())
    fill(path, make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1))
    assert write_page(path, output) == 8
    page = output.read_text()
    assert '7 more under <a href="#digits">Digits</a>' in page
    assert 'id="others"' not in page
    assert "mnist-sequential, mul, reduced protocol, digits=drawn" in page


def test_a_page_without_such_runs_has_no_trace_of_the_section(store_path, output):
    write_page(store_path, output)
    assert 'id="digits"' not in output.read_text()
    assert ".confusion" not in output.read_text()


def test_runs_on_digits_alone_make_a_page(tmp_path, output):
    assert write_page(store_of(tmp_path / "s.sqlite", product_records()), output) == 7
    assert "Nothing to show yet" not in output.read_text()
    assert "7 runs in" in output.read_text()


def test_tasks_and_numbers_of_steps_are_compared_apart():
    others = [digit_record(digit_run("nmu", PRODUCT, iterations=8)), digit_record(digit_run("nru", QUOTIENT))]
    parts = section_of([*others, *product_records()])
    assert [part["title"].replace(", reduced protocol, digits=drawn", "") for part in parts] == [
        f"mnist-sequential, mul, {PRODUCT.steps:,} steps",
        "mnist-sequential, mul, 8 steps",
        "mnist-isolated, div",
    ]


def test_another_recipe_is_another_row():
    plain = digit_run("nmu", PRODUCT)
    recipe = plain.case.recipe
    changed = digit_run("nmu", PRODUCT, other_recipe=type(recipe)(**{**vars(recipe), "batch_size": 7}))
    (part,) = section_of([digit_record(changed), digit_record(plain)])
    assert list(table_of(part)) == ["nmu", "nmu · batch_size=7"]


# -- tables ----------------------------------------------------------------------------------------


def test_runs_succeed_below_the_bound_that_the_reference_sets(product):
    """The bound of 1, 2 and 3 is 2 + 6.96 / sqrt(3) = 6.02."""
    rows = table_of(product)
    assert list(rows) == ["mul", "nmu", "lstm"]
    assert rows["nmu"]["length 2"] == "0.67 [0.21, 0.94] 2"
    assert rows["mul"]["length 20"] == "1.00 [0.44, 1.00] 2"
    assert rows["lstm"]["length 10"] == "0.00 [0.00, 0.79] 9e+09"
    assert [row["reference"] for row in product["rows"]] == [True, False, False]
    assert "below that of mul, whose arithmetic is solved" in product["meaning"]
    assert "one-sided 1 % t interval" in product["meaning"]


def test_only_some_lengths_have_a_column(product):
    lengths = [heading for heading in product["headings"] if heading.startswith("length")]
    assert lengths == ["length 1", "length 2", "length 5", "length 10", "length 20"]


@pytest.mark.parametrize("references", [0, 1])
def test_without_two_runs_of_the_reference_nothing_is_judged(references):
    (part,) = section_of(product_records(references))
    assert table_of(part)["nmu"]["length 2"] == "2"
    assert "Success is not judged" in part["meaning"]


def test_a_reference_with_other_steps_judges_nothing():
    alone = digit_record(digit_run("nmu", PRODUCT, iterations=8))
    assert "Success is not judged" in section_of([*product_records(), alone])[1]["meaning"]


def test_the_reduced_protocol_is_named(product):
    assert product["protocol"].startswith("This is the reduced protocol of --scale quick, not that of the")
    assert "instead of 1000" in product["protocol"]
    assert "Seeds 0 to 2, computed on 2026-01-02" in product["protocol"]
    (full,) = section_of([digit_record(digit_run("nmu", MnistSequential("mul", digits="drawn")))])
    assert "reduced" not in full["protocol"]
    (short,) = section_of(
        [digit_record(digit_run("nmu", MnistSequential("mul", digits="drawn"), iterations=40))]
    )
    assert "less than the protocol of the paper: epochs" in short["protocol"]


def test_digits_read_and_exact_weights(product):
    rows = table_of(product)
    assert rows["nmu"]["digits read, %"] == "91.0 90.0 to 92.0"
    assert [rows[model]["exact weights"] for model in ("mul", "nmu", "lstm")] == ["–", "2 of 3", "–"]


def test_tasks_without_lengths_show_accuracies():
    (part,) = section_of([digit_record(digit_run("nru", QUOTIENT, seed), 0.1 + seed / 5) for seed in (0, 1)])
    assert part["headings"][:3] == ["accuracy exact, %", "accuracy 5 decimals, %", "accuracy rounded, %"]
    assert "exact (the same floating-point number), 5 decimals (" in part["meaning"]
    assert table_of(part)["nru"]["accuracy rounded, %"] == "80.0 70.0 to 90.0"


def test_a_network_that_reads_no_digit_has_no_share_of_digits_read():
    (part,) = section_of([digit_record(digit_run(model, LARGER)) for model in ("mlp", "pair-cnn")])
    rows = table_of(part)
    assert [rows[model]["digits read, %"] for model in ("mlp", "pair-cnn")] == ["100.0", "–"]
    assert [matrix.label for matrix in part["matrices"]] == ["mlp"]


def test_errors_that_are_not_finite_are_said_to_be():
    (part,) = section_of([digit_record(digit_run("nmu", PRODUCT), np.nan)])
    assert table_of(part)["nmu"]["length 2"] == "not finite"
    assert part["lengths"] is None


# -- figures ---------------------------------------------------------------------------------------


def elements(figure, name):
    """The elements of a class in a drawing."""
    return [each for each in ElementTree.fromstring(figure.drawing).iter() if each.get("class") == name]


def test_a_line_per_model_shows_errors_in_units_of_the_bound(product):
    figure = product["lengths"]["figure"]
    assert [each["label"] for each in product["lengths"]["key"]] == ["mul", "nmu", "lstm"]
    assert len(elements(figure, "line")) == 3
    assert len(elements(figure, "area")) == 2  # a single run has no range
    assert len(elements(figure, "symbol")) == 3 * 20
    (bound,) = elements(figure, "bound")
    height = float(bound.get("points").split(",")[-1])
    lines = [[float(y) for y in re.findall(r",([\d.]+)", e.get("points"))] for e in elements(figure, "line")]
    assert [all(y > height for y in line) for line in lines] == [True, True, False]  # y grows downwards


def test_without_a_bound_errors_are_shown_as_they_are():
    (part,) = section_of([digit_record(digit_run("nau", COUNT, seed), 0.3) for seed in (0, 1)])
    figure = part["lengths"]["figure"]
    assert elements(figure, "bound") == []
    assert "mean absolute error" in SVG_TEXT.sub(" ", figure.drawing)
    assert "nau from 0.3 to 0.3" in figure.drawing


def test_paths_go_from_the_first_weights_to_the_last(product):
    (figure,) = product["paths"]
    assert figure.title == "nmu"
    starts, ends = ([(e.get("cx"), e.get("cy")) for e in elements(figure, name)] for name in ("start", "end"))
    assert len(set(starts)) == 1
    assert ends[0] == ends[1] != ends[2]
    (target,) = elements(figure, "target")
    x, y = map(float, re.match(r"M([\d.]+),([\d.]+)h", target.get("d")).groups())
    assert (x + 9, y) == tuple(map(float, ends[0]))
    assert "seed 2 at (1, 0.9)" in figure.drawing


def test_the_exact_weights_of_a_quotient_are_one_and_minus_one():
    (part,) = section_of([digit_record(digit_run("nru", QUOTIENT), weights=(1.0, -1.0))])
    assert "Exact would be (1, -1)" in part["paths"][0].drawing
    assert table_of(part)["nru"]["exact weights"] == "1 of 1"


def test_what_was_read_is_in_per_cent_of_each_digit(product):
    matrix = product["matrices"][1]
    assert (matrix.label, matrix.seed, matrix.accuracy) == ("nmu", 0, "90.0")
    digit, squares = matrix.rows[3]
    assert digit == 3
    assert [square.text for square in squares] == ["", "", "", "90", "10", "", "", "", "", ""]
    assert [square.right for square in squares] == [k == 3 for k in range(10)]


def test_digits_that_do_not_occur_have_no_row():
    table = np.diag([0.0] + [1 / 9] * 9)
    table[1, 2] = 1e-4
    run = digit_run("nmu", PRODUCT)
    record = digit_record(run)
    errors = {**record.errors, "test/digits": np.stack([table] * 3, -1)}
    (part,) = section_of([digit_record(run, errors=errors)])
    assert [digit for digit, _ in part["matrices"][0].rows] == list(range(1, 10))
    assert part["matrices"][0].rows[0][1][2].text == "<1"


def test_ticks_are_round_numbers():
    assert [text for _, text in Scale(-0.1, 1.1).ticks()] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert [text for _, text in Scale(0, 21).ticks()] == ["0", "5", "10", "15", "20"]
    assert [text for _, text in Scale(0.1, 1000, log=True).ticks()] == ["0.1", "1", "10", "100", "1,000"]
    assert [text for _, text in Scale(1e-6, 1e12, log=True).ticks()] == ["10⁻⁶", "0.01", "100", "10⁶", "10¹⁰"]
    assert Scale(1, 100, log=True).share(10) == 0.5


# -- safety ----------------------------------------------------------------------------------------


def test_names_of_models_are_text_in_drawings_too(tmp_path, output):
    runs = [digit_run("nmu", PRODUCT), digit_run("mlp", LARGER)]
    write_page(store_of(tmp_path / "s.sqlite", [digit_record(run, model=EVIL) for run in runs]), output)
    page = output.read_text()
    assert "<img src=x" not in page
    assert "&lt;/script&gt;&lt;img src=x" in page.partition('class="drawing"')[2].partition("</svg>")[0]


@pytest.mark.parametrize("broken", ["weights", "forward"])
def test_a_users_unit_cannot_take_the_page_down(tmp_path, output, monkeypatch, broken):
    monkeypatch.chdir(tmp_path)
    source = "import nalm\nclass Mine(nalm.NMU):\n    pass\n"
    (tmp_path / "mine.py").write_text(source)
    run = digit_run("./mine.py:Mine", PRODUCT)
    store_of(tmp_path / "s.sqlite", [digit_record(run)])
    kind = run.case.model.layers[0].kind
    monkeypatch.setattr(kind, broken, lambda *_: {}["no such key"], raising=True)
    assert write_page(tmp_path / "s.sqlite", output) == 1
    assert "./mine.py:Mine" in output.read_text().partition('id="digits"')[2]


def test_weights_are_read_of_few_runs(tmp_path, output, monkeypatch):
    """They are megabytes each: those of the lowest seed of up to three models of a table."""
    more = [digit_record(digit_run(model, PRODUCT, 5), 5e9) for model in ("snmu", "nac-mul")]
    path = store_of(tmp_path / "s.sqlite", [*product_records(), *more])
    read, found = Store.records, []

    def watched(self, *arguments, **options):
        for record in read(self, *arguments, **options):
            found.append(record)
            yield record

    monkeypatch.setattr(Store, "records", watched)
    write_page(path, output)
    chosen = [(record.model, record.seed) for record in found if record.chosen_parameters]
    assert chosen == [("mul", 0), ("nmu", 0), ("snmu", 5)]
    assert not any(record.final_parameters for record in found)
