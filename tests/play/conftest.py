"""A page that is served by the command, and a browser in front of it."""

import pytest
from made_runs import EVIL, fill, made_record
from start_play import start_play

from nalm.experiment import Run, Store
from nalm.experiment.bench import make_experiment


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """A page over a store of four runs, one of them with a hostile name."""
    folder = tmp_path_factory.mktemp("play")
    store = folder / "runs.sqlite"
    experiment = make_experiment("single-module", ["nmu"], ["mul"], ["1:2"], seeds=3)
    fill(store, experiment, lambda run: run.seed < 2)
    with Store(store) as held:
        run = Run(experiment.cases[0], 7)
        held.add([made_record(run, solved=True, model=EVIL)])
    made = start_play(folder, "--store", str(store))
    yield made
    if made.process.poll() is None:
        made.process.kill()
        made.process.communicate()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    from browser import started

    driver = started(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()
