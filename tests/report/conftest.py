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


@pytest.fixture(scope="module")
def page_file(store_path, tmp_path_factory):
    from nalm.report.page import write_page

    output = tmp_path_factory.mktemp("page") / "report.html"
    write_page(store_path, output)
    return output


@pytest.fixture
def reader(chrome, page_file):
    from browser import Reader

    return Reader(chrome).opens(page_file)


@pytest.fixture
def phone(reader):
    reader.emulates("setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    yield reader
    reader.emulates("clearDeviceMetricsOverride")


@pytest.fixture
def dark(reader):
    reader.emulates("setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    yield reader
    reader.emulates("setEmulatedMedia", features=[])
