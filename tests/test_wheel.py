"""The wheel: what is installed from it works without the repository."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import nalm

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the source distribution and with the wheel that is made from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The folder of the installed package; a wheel is installed by unpacking it."""
    folder = tmp_path_factory.mktemp("site-packages")
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="module")
def command(installed, tmp_path_factory):
    """Runs the command of the installed package in an empty folder."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "nalm", *arguments],
            capture_output=True, text=True, cwd=elsewhere, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout, elsewhere

    return run


def test_it_is_the_installed_package_that_runs(command, installed):
    facts = json.loads(command("doctor", "--json", "-")[0])
    assert facts["nalm"] == nalm.__version__
    code = "import nalm; print(nalm.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert Path(done.stdout.strip()).is_relative_to(installed)


def test_it_has_the_ledger_and_its_results(command):
    entries = json.loads(command("reproduce", "--list", "--json", "-")[0])["entries"]
    kept = {file.stem for file in (ROOT / "benchmarks" / "results").glob("*.json")}
    assert {entry["id"].replace(":", "-") for entry in entries if entry["cells"]} == kept


def test_it_trains_reports_and_draws(command):
    rows, folder = command(
        *("bench", "single-module", "--units", "nmu", "--op", "mul", "--ranges", "1:2"),
        *("--seeds", "2", "--iterations", "100", "--json", "-"),
    )
    assert json.loads(rows)["rows"][0]["runs"] == 2
    command("report", "-o", "report.html")
    assert "NMU" in (folder / "report.html").read_text(encoding="utf-8")
    command("reproduce", "mistry2023:fig4.1", "--figures", str(folder))
    assert list(folder.glob("*.png"))


def test_the_source_distribution_has_what_the_wheel_is_made_of(built):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/nalm/__init__.py", "constraints.txt"} <= names
    assert any(name.startswith("benchmarks/results/") for name in names)
    assert not any(name.startswith((".venv", "site/")) for name in names)
