"""Pictures of the section about digits: what a network saw, read and computed is what the page shows."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest
import torch
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

from nalm.data import download
from nalm.report.digits import pictures
from nalm.report.digits.images import png
from nalm.report.digits.pictures import network_of, pictures_of
from nalm.report.page import write_page
from nalm.tasks import MnistColour, MnistParity, MnistSequential, MnistSeries
from nalm.tasks.digits.pools import pool, shown


@pytest.fixture(scope="module")
def product():
    (part,) = section_of(product_records())
    return part


def pixels(address):
    """The bytes of an image that is part of a page."""
    content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    width, height, _, kind = struct.unpack(">IIBB", content[16:26])
    length = struct.unpack(">I", content[33:37])[0]
    rows = np.frombuffer(zlib.decompress(content[41 : 41 + length]), np.uint8).reshape(height, -1)
    return rows[:, 1:].reshape((height, width, 3) if kind == 2 else (height, width))


def test_an_image_of_a_page_is_that_image():
    grey, colour = np.arange(12, dtype=np.uint8).reshape(3, 4), np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert (pixels(png(grey)) == grey).all()
    assert (pixels(png(colour)) == colour).all()


def test_pictures_show_what_the_network_read_and_computed(product):
    assert [each["label"] for each in product["pictures"]] == ["mul", "nmu", "lstm"]
    shows = product["pictures"][0]["pictures"]
    ((*tiles,),) = shows.samples
    assert len(tiles) == 8
    run = digit_run("mul", PRODUCT)
    network = network_of(run.case, digit_record(run))
    images = torch.stack([torch.tensor(pixels(tile.image)) for tile in tiles])
    out = network(shown(images, torch.float32)[None])[0].detach()
    assert [tile.read for tile in tiles] == [pictures.value(read) for read in out[:, 1]]
    assert [tile.result for tile in tiles] == [pictures.value(result) for result in out[:, 0]]
    digits = [int(tile.digit) for tile in tiles]
    assert [tile.true for tile in tiles] == [pictures.value(p) for p in np.cumprod(digits)]


def test_misread_images_are_those_of_the_test_set(product):
    shows = product["pictures"][0]["pictures"]
    assert re.match(r"\d+ of the first 450 test images are misread", shows.about)  # drawn, without zeros
    assert all(tile.wrong and tile.true == tile.digit and not tile.result for tile in shows.misread)
    held = pool("drawn", "test", zeros=False)
    first = pixels(shows.misread[0].image)
    (k,) = [k for k, image in enumerate(held.images.numpy()) if (image == first).all()]
    assert int(held.labels[k]) == int(shows.misread[0].digit)


@pytest.mark.parametrize(
    ("task", "model"),
    [
        (QUOTIENT, "nru"),
        (COUNT, "nau"),
        (MnistSeries("add", digits="drawn").reduced(), "gru"),
        (MnistColour("mul", digits="drawn").reduced(), "nmu"),
        (MnistParity(digits="drawn").reduced(), "nac"),
        (LARGER, "pair-cnn"),
    ],
)
def test_every_task_has_pictures(task, model):
    run = digit_run(model, task)
    shows = pictures_of(run.case, digit_record(run))
    tiles = [tile for sample in shows.samples for tile in sample]
    assert 3 <= len(tiles) <= 8
    assert all(pixels(tile.image).any() for tile in tiles)
    assert all(tile.result and tile.true for tile in (sample[-1] for sample in shows.samples))
    assert bool(shows.misread) == (model != "pair-cnn")


def test_a_model_with_sizes_has_pictures_when_it_comes_from_a_store(tmp_path):
    output = tmp_path / "report.html"
    run = digit_run("mlp(hidden=4x4)", QUOTIENT)
    write_page(store_of(tmp_path / "s.sqlite", [digit_record(run, 0.5)]), output)
    assert 'class="tiles"' in output.read_text()


def test_a_network_of_other_sizes_has_no_pictures():
    record = digit_record(digit_run("nmu", PRODUCT), chosen_parameters={"unit.weight": np.ones((1, 2))})
    (part,) = section_of([record])
    assert part["pictures"] == []


def test_without_the_images_there_are_no_pictures_and_nothing_is_downloaded(monkeypatch, tmp_path):
    monkeypatch.delenv("NALM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(download, "fetch", lambda *_: pytest.fail("a download"))
    record = digit_record(digit_run("nmu", MnistSequential("mul").reduced()))
    (part,) = section_of([record])
    assert part["pictures"] == []
    assert "a report downloads nothing" in part["no_pictures"]
    monkeypatch.setenv("NALM_DATA", str(tmp_path / "nowhere"))
    assert "there is no folder" in section_of([record])[0]["no_pictures"]
