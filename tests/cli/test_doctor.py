"""`nalm doctor`."""

import json

import nalm
from nalm.cli.facts import machine_facts

FACTS = {
    "nalm", "numerics_version", "python", "torch", "cpu", "cpu_capability", "cores", "compiler", "mode",
    "cache", "cache_writable",
}  # fmt: skip


def test_doctor_prints_every_fact(run):
    code, out, _ = run("doctor")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(machine_facts())


def test_doctor_json_has_the_facts(run):
    code, out, err = run("doctor", "--json", "-")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert set(facts) == FACTS
    assert facts["nalm"] == nalm.__version__
    assert facts["mode"] == ("compiled" if facts["compiler"] else "eager")


def test_doctor_talks_of_what_is_missing_on_standard_error(run, monkeypatch):
    poor = {**machine_facts(), "compiler": None, "mode": "eager", "cache_writable": False}
    monkeypatch.setattr("nalm.cli.doctor.machine_facts", lambda: poor)
    code, out, err = run("doctor")
    assert code == 0
    assert len(out.splitlines()) == len(poor)
    assert "No C++ compiler" in err
    assert "cannot be written" in err
