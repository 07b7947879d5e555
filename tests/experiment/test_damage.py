"""Damage on the disk: numbers stay the same, or a sentence says what is damaged; nothing else."""

import numpy as np
import pytest
from made_runs import bare_record, fill
from test_store import change, make_older

from nalm.cli import main
from nalm.errors import NalmError
from nalm.experiment.bench import make_experiment, make_work
from nalm.experiment.check import check_store
from nalm.experiment.describe import Filter, described_runs
from nalm.experiment.rows import evaluate
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Store, StoreError
from nalm.models import ModelSpec
from nalm.report.page import write_page
from nalm.tasks import SingleModule

WANTED = make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=3, iterations=2000)


@pytest.fixture
def path(tmp_path):
    fill(tmp_path / "runs.sqlite", WANTED)
    return tmp_path / "runs.sqlite"


def described(path):
    return described_runs(path, Filter())


def exported(path):
    return described_runs(path, Filter(), formulas=False)


def benched(path):
    with Store(path) as store:
        work = make_work(WANTED, store, 1)
        return work.missing, list(evaluate(WANTED, store))


def reported(path):
    """What the page is made of."""
    return everything(path, without=["final_parameters"])


def everything(path, without=()):
    with Store(path, read_only=True) as store:
        records = store.records(without=without)
        return [{name: _plain(value) for name, value in vars(record).items()} for record in records]


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


COMMANDS = (described, exported, benched, reported, everything)


def outcome(command, path):
    try:
        return command(path)
    except NalmError as error:
        return error


STEP = 61
"""Of all bytes, how many are passed over between two that are changed; prime, so that every kind is met."""


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_a_changed_byte_changes_no_number_and_raises_nothing_but_sentences(path, tmp_path, mask):
    content = path.read_bytes()
    expected = [command(path) for command in COMMANDS]
    noticed = 0
    for place in range(mask % STEP, len(content), STEP):
        changed = bytearray(content)
        changed[place] ^= mask
        copy = tmp_path / "copy.sqlite"
        found = []
        for command in COMMANDS:
            copy.write_bytes(changed)
            found.append(outcome(command, copy))
        for command, ours, theirs in zip(COMMANDS, found, expected):
            assert isinstance(ours, StoreError) or ours == theirs, (place, command.__name__)
        copy.write_bytes(changed)
        check = outcome(check_store, copy)
        if any(isinstance(each, NalmError) for each in found):
            noticed += 1
            assert isinstance(check, NalmError) or not check.is_whole, place
    assert noticed > 0.4 * len(content) / STEP  # half of so small a store is empty


def test_the_page_and_the_commands_say_which_run_is_damaged(path, tmp_path, capsys):
    change(path, "UPDATE runs SET history = zeroblob(length(history)) WHERE seed = 1")
    name = list(WANTED.runs())[1].id
    said = f"Run {name} (nmu, mul, inputs=2, 1:2, seed 1) is damaged: history."
    with pytest.raises(StoreError, match="seed 1"):
        write_page(path, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()
    assert run(capsys, "export", "--format", "csv", "-o", str(tmp_path / "a.csv"), "--store", str(path)) == (
        1,
        "",
        f"{path}: {said} `nalm runs --check --store {path}` lists all damage and says how to repair it.\n",
    )
    code, out, err = run(capsys, "runs", "--check", "--store", str(path))
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        f"{path}: 2 of 3 runs are intact.",
        said,
        "With --repair, damaged runs are removed, and the command that made them computes them again.",
    ]


def run(capsys, *arguments):
    """A command in this process: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return end.value.code, *capsys.readouterr()


def test_a_whole_store_is_said_to_be_whole_and_is_left_alone(path, capsys):
    before = path.read_bytes()
    assert run(capsys, "runs", "--check", "--store", str(path)) == (
        0,
        f"{path}: 3 of 3 runs are intact.\n",
        "",
    )
    assert path.read_bytes() == before
    assert run(capsys, "runs", "--repair", "--store", str(path))[0] == 0
    assert len(everything(path)) == 3


def test_damage_that_a_command_does_not_read_does_not_stop_it(path):
    expected = benched(path)
    change(path, "UPDATE runs SET history = x'00'")
    assert benched(path) == expected


def test_a_damaged_run_is_refused_before_anything_is_computed(path):
    change(path, "UPDATE runs SET test = zeroblob(length(test)) WHERE seed = 1")
    with Store(path) as store, pytest.raises(StoreError, match=r"Run .* seed 1\) is damaged: curve"):
        make_work(WANTED, store, 1)


def test_repair_takes_damaged_runs_out_and_they_are_computed_again(path, capsys):
    change(path, "UPDATE runs SET test = zeroblob(length(test)) WHERE seed = 1")
    assert isinstance(outcome(benched, path), StoreError)
    code, out, _ = run(capsys, "runs", "--repair", "--store", str(path))
    assert (code, out.splitlines()[-1]) == (
        0,
        "Damaged runs were removed; the command that made them computes them again.",
    )
    with Store(path) as store:
        assert [run.seed for chunk in make_work(WANTED, store, 1).chunks for run in chunk.runs] == [1]
    assert check_store(path).is_whole


def test_a_damaged_run_that_is_computed_afresh_is_whole(path):
    expected = everything(path)
    change(path, "UPDATE runs SET test = x'00', seed = 7 WHERE seed = 1")
    fill(path, WANTED)
    assert everything(path) == expected


@pytest.mark.parametrize("where", ["index", "row"])
def test_a_name_that_is_damaged_is_noticed_and_repaired(path, where):
    """Where the list of names and the runs disagree, a run could be lost, or be computed a second time."""
    name = list(WANTED.runs())[1].id.encode()
    content = bytearray(path.read_bytes())
    places = [k for k in range(len(content)) if content.startswith(name, k)]
    assert len(places) == 2
    inside = [
        content[k - 40 : k].count(b"single-module") or content[k:].startswith(name + b"single")
        for k in places
    ]
    content[places[inside.index(where == "row")]] = ord("x")
    path.write_bytes(content)
    for command in COMMANDS:
        assert "is damaged" in str(outcome(command, path))
    check = check_store(path, repair=True)
    assert check.repaired
    assert len(check.damaged) == (where == "row")
    assert len(everything(path)) == 3 - (where == "row")


def test_what_cannot_be_repaired_is_said_and_left_alone(path, capsys):
    content = bytearray(path.read_bytes())
    content[4096 + 100 : 4096 * 3] = bytes(4096 * 2 - 100)
    path.write_bytes(content)
    code, out, err = run(capsys, "runs", "--repair", "--store", str(path))
    assert (code, err) == (1, "")
    assert "It cannot be repaired" in out


def test_a_table_that_is_gone_is_not_an_empty_store(path):
    change(path, "ALTER TABLE runs RENAME TO rums")
    for command in COMMANDS:
        assert isinstance(outcome(command, path), StoreError)


def test_a_column_that_is_gone_is_not_an_older_store(path):
    change(path, "ALTER TABLE runs RENAME COLUMN cost TO cast")
    for command in COMMANDS:
        assert "column cost is missing" in str(outcome(command, path))


def test_text_for_the_terminal_is_made_harmless(path, capsys):
    change(path, "UPDATE runs SET model = 'nmu' || char(27) || '[31m' || char(10) WHERE seed = 0")
    code, out, _ = run(capsys, "runs", "--check", "--store", str(path))
    assert code == 1
    assert "(nmu?[31m?, mul, inputs=2, 1:2, seed 0)" in out


def test_a_store_without_checksums_is_said_to_be_one(path, capsys):
    make_older(path, 4)
    code, out, _ = run(capsys, "runs", "--check", "--store", str(path))
    assert code == 0
    assert "3 of 3 runs are intact" in out
    assert "It has no checksums" in out


def test_what_is_checked_is_the_whole_store(path, capsys):
    code, _, err = run(capsys, "runs", "--check", "--unit", "nmu", "--store", str(path))
    assert (code, err) == (
        2,
        "Argument `check` must be given without --unit, --op, --range and --seed, but got one of them.\n",
    )
    assert run(capsys, "runs", "--check", "--store", str(path) + "x")[0] == 1


def test_a_store_without_runs_and_what_is_no_store_are_said(tmp_path, capsys):
    (tmp_path / "empty.sqlite").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.sqlite").write_text("hello")
    said = {
        "empty.sqlite": (0, "no runs are stored."),
        "folder": (1, "cannot be opened or created."),
        "text.sqlite": (1, "is not a store of nalm"),
    }
    for name, (expected, text) in said.items():
        code, out, err = run(capsys, "runs", "--check", "--store", str(tmp_path / name))
        assert (code, text in out + err) == (expected, True), out + err


def test_progress_is_told(path):
    told = []
    check_store(path, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_identity_that_is_not_what_an_older_run_is_named_by_is_noticed(tmp_path):
    made = Run(Case(ModelSpec.parse("nmu"), SingleModule("mul")), 0)
    path = tmp_path / "older.sqlite"
    with Store(path) as store:
        store.add([bare_record(made)])
    make_older(path, 4)
    with Store(path, read_only=True) as store:
        assert [found.id for found in store.records()] == [made.id]
    change(path, """UPDATE runs SET identity = replace(identity, '"layers"', '"lawers"')""")
    with Store(path, read_only=True) as store, pytest.raises(StoreError, match="is damaged: curve, identity"):
        list(store.records())
