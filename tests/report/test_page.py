"""The page as a file: self-contained, empty without runs, and text in the data stays text."""

import re
import weakref

import numpy as np
import pytest
import torch
from made_runs import CHOSEN, EVIL, STEPS, bare_record, fill, made_record

from nalm.errors import ArgumentError
from nalm.experiment.bench import make_experiment
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store, StoreError
from nalm.models import ModelSpec
from nalm.report import packing
from nalm.report.page import write_page
from nalm.tasks import SingleModule, Table


@pytest.fixture
def output(tmp_path):
    return tmp_path / "report.html"


def test_a_page_has_everything_in_one_file(store_path, output):
    assert write_page(store_path, output) == 60
    text = output.read_text()
    assert len(text) < 6e6
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", text)
    for title in (
        "Which unit is best?",
        "Units by operation",
        "single-module, 2 inputs, uniform ranges",
        "All results",
        "Single run",
        "Ledger",
        "Settings",
    ):
        assert title in text


def test_no_script_runs_but_the_pages_own(store_path, output):
    write_page(store_path, output)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', output.read_text())[1]
    assert "default-src 'none'" in policy
    assert "script-src 'nonce-" in policy


def test_a_store_that_is_not_there_gives_a_page_that_says_what_to_run(tmp_path, output):
    missing = tmp_path / "my runs.sqlite"
    assert write_page(missing, output) == 0
    text = output.read_text()
    assert "Nothing to show yet" in text
    assert "nalm bench single-module" in text
    assert "my runs.sqlite&#39;" in text  # quoted for a shell
    assert not missing.exists()


def test_an_empty_store_is_said_to_be_empty(tmp_path, output):
    Store(tmp_path / "s.sqlite").close()
    assert write_page(tmp_path / "s.sqlite", output) == 0
    assert "Nothing to show yet" in output.read_text()


def test_names_from_data_are_text(tmp_path, output):
    path = tmp_path / "<b>mine<b>.sqlite"
    fill(path, make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1), model=EVIL)
    write_page(path, output)
    text = output.read_text()
    assert "<img" not in text
    assert "<b>mine" not in text
    assert "&lt;/script&gt;&lt;img src=x" in text


def test_progress_is_told(store_path, output):
    told = []
    write_page(store_path, output, lambda done, total: told.append((done, total)))
    assert told[-1] == (60, 60)


def test_the_store_is_never_the_page(tmp_path):
    path = tmp_path / "s.sqlite"
    fill(path, make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1))
    before = path.read_bytes()
    with pytest.raises(ArgumentError, match="a file other than the store"):
        write_page(path, path)
    assert path.read_bytes() == before


def test_reporting_changes_nothing_in_the_store(tmp_path, output):
    path = tmp_path / "s.sqlite"
    path.touch()
    assert write_page(path, output) == 0
    assert path.read_bytes() == b""


def test_runs_that_no_threshold_can_judge_have_a_table_of_their_own(tmp_path, output):
    path = tmp_path / "s.sqlite"
    fill(path, make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=1))
    around_zero = Case(ModelSpec.parse("nru"), SingleModule("div", "-2:2=>-2:2"))
    with Store(path) as store:
        store.add([bare_record(Run(around_zero, seed), ideal_test=None) for seed in range(2)])
    assert write_page(path, output) == 3
    page = output.read_text()
    assert '2 more under <a href="#others">Other tasks</a>' in page
    error = f"{2 * np.geomspace(1.0, 1e-14, len(STEPS))[CHOSEN]:.3g}"
    assert f"[{error}, {error}]" in page.partition('id="others"')[2]


def test_runs_of_a_table_are_shown_without_any_others(tmp_path, output):
    path, rows = tmp_path / "s.sqlite", torch.rand(20, 2)
    table = Table(rows, rows.sum(1), label="<b>sums</b>")
    with Store(path) as store:
        store.add([bare_record(Run(Case(ModelSpec.parse("nau"), table), seed)) for seed in range(3)])
    assert write_page(path, output) == 3
    page = output.read_text()
    assert "&lt;b&gt;sums&lt;/b&gt;" in page
    assert "Nothing to show yet" not in page


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (8000, "15 of 60 runs are on this page: the lowest seeds of every row."),
        (1, "1 of 60 runs are on this page: the lowest seed of the first rows."),
    ],
)
def test_a_page_with_some_of_the_runs_says_so(store_path, output, monkeypatch, budget, said):
    monkeypatch.setattr(packing, "BUDGET", budget)
    write_page(store_path, output)
    assert said in output.read_text()


def test_the_runs_of_a_store_are_never_all_in_memory(store_path, output, monkeypatch):
    """Of a store of any size: a run is let go before the next is read, and weights are read of few."""
    alive, most, bulky = set(), [0], []
    monkeypatch.setattr(packing, "BUDGET", 8000)
    monkeypatch.setattr(packing, "TOGETHER", 5)
    read = Store.records

    def watched(self, *arguments, **options):
        for record in read(self, *arguments, **options):
            alive.add(record.id + str(id(record)))
            weakref.finalize(record, alive.discard, record.id + str(id(record)))
            most[0] = max(most[0], len(alive))
            bulky.append(bool(record.history))
            yield record

    monkeypatch.setattr(Store, "records", watched)
    assert write_page(store_path, output) == 60
    assert most[0] <= 15 + 2 * 5  # one of each row, and those that are being packed
    assert bulky.count(False) == 60
    assert bulky.count(True) == 15 + 15  # the first of every row to know its size, and those that are shown


def test_names_that_do_not_match_the_runs_are_damage_in_a_sentence(tmp_path, output):
    """The file as a whole is not gone through, which takes long: it is noticed all the same."""
    path = tmp_path / "s.sqlite"
    wanted = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=3)
    fill(path, wanted)
    name = next(wanted.runs()).id.encode()
    content = bytearray(path.read_bytes())
    (in_list,) = [m.start() for m in re.finditer(name, content) if not content.startswith(b"single", m.end())]
    content[in_list] = ord("x")
    path.write_bytes(content)
    with pytest.raises(StoreError, match="its list of names does not match its runs"):
        write_page(path, output)
    assert not output.exists()


@pytest.mark.parametrize("broken", ["weights", "buffer"])
def test_a_users_unit_cannot_take_the_page_down(tmp_path, output, monkeypatch, broken):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(BROKEN[broken])
    wanted = make_experiment("single-module", ["./mine.py:Mine"], ["add"], ["1:2"], seeds=1)
    (run,) = wanted.runs()
    parameters = {name: p.detach().numpy() for name, p in run.case.build().named_parameters()}
    history = {name: np.stack([p] * len(STEPS)) for name, p in parameters.items()}
    with Store(tmp_path / "s.sqlite") as store:
        held = {"chosen_parameters": parameters, "history": history, "history_steps": STEPS}
        store.add([bare_record(run, **held)])
    assert write_page(tmp_path / "s.sqlite", output) == 1


BROKEN = {
    "buffer": """
import torch
class Mine(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layer = torch.nn.Linear(inputs, outputs)
        self.register_buffer("b", torch.ones(1))
    def forward(self, x):
        return self.layer(x) * self.b
""",
    "weights": """
import nalm
class Mine(nalm.NAU):
    def weights(self):
        raise ValueError("no")
""",
}


def test_a_page_that_was_there_stays_if_the_store_cannot_be_read(tmp_path, output):
    output.write_text("before")
    (tmp_path / "s.sqlite").write_text("no store")
    with pytest.raises(StoreError):
        write_page(tmp_path / "s.sqlite", output)
    assert output.read_text() == "before"
    assert list(tmp_path.glob("*.part")) == []


def test_runs_from_before_times_and_histories_were_kept_are_shown(tmp_path, output):
    experiment = make_experiment("single-module", ["nmu"], None, ["1:2"], seeds=2)
    with Store(tmp_path / "s.sqlite") as store:
        old = {"history": {}, "history_steps": np.array([], dtype=np.int64), "computed_at": "", "machine": {}}
        store.add([made_record(run, solved=True, **old) for run in experiment.runs()])
    assert write_page(tmp_path / "s.sqlite", output) == 2
    assert "before times were noted" in output.read_text()
