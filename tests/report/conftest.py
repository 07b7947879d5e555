"""A small store that several tests look at."""

import pytest
from made_runs import fill

from nalm.experiment.bench import make_experiment


@pytest.fixture(scope="session")
def store_path(tmp_path_factory):
    """NAU, NMU and NAC on three ranges, four seeds: the NAU always solves, the NAC for two of four seeds."""
    path = tmp_path_factory.mktemp("report") / "runs.sqlite"
    ranges = ["-2:2", "1:2", "10:20"]
    experiment = make_experiment("single-module", ["nau", "nac", "nmu"], None, ranges, seeds=4)
    fill(path, experiment, lambda run: run.case.model.name != "nac" or run.seed < 2)
    return path


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    """A headless browser."""
    from browser import started

    driver = started(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()
