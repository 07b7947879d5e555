"""`nalm gallery`: pictures and a page by one command; wrong arguments are refused before any drawing."""

import html
import json
import os
import re

import pytest

QUICK = ("gallery", "--only", "success-add,composed-path")


def test_pictures_and_a_page_are_written(run, tmp_path):
    folder = tmp_path / "new" / "pictures"
    code, out, said = run(*QUICK, "-o", str(folder))
    assert (code, said) == (0, "")
    assert out == f"2 pictures: {folder / 'index.html'}\n"
    made = {file.name for file in folder.iterdir()}
    pictures = {"success-add.png", "success-add.svg", "composed-path.png", "composed-path.svg"}
    assert made == {*pictures, "index.html"}


def test_the_page_has_a_sentence_and_a_command_for_each_picture_and_fetches_nothing(run, tmp_path):
    code, out, _ = run(*QUICK, "-o", str(tmp_path), "--json", "-")
    assert code == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for picture in json.loads(out)["pictures"]:
        assert html.escape(picture["sentence"]).replace("&#x27;", "&#39;") in page
        assert picture["source"] in page
    assert page.count("<img") == 2
    assert not re.search(r"(src|href)=\"(https?:)?//|@import|<script", page)
    assert all(address.startswith("data:image/") for address in re.findall(r"<img src=\"([^\"]*)", page))
    assert "default-src 'none'" in page
    assert "width=device-width" in page


@pytest.mark.parametrize(
    ("only", "nearest"),
    [("loss-surface-nnu", "loss-surface-n"), ("sucess", "'success'"), ("weights,digit", "'digits'")],
)
def test_a_wrong_name_is_answered_with_the_nearest(run, tmp_path, only, nearest):
    code, out, said = run("gallery", "--only", only, "-o", str(tmp_path / "new"))
    assert (code, out) == (2, "")
    assert f"{only.split(',')[-1]!r}. Did you mean" in said
    assert nearest in said
    assert "loss-surfaces, weights, success, digits, path, episode" in said
    assert not (tmp_path / "new").exists()


def test_an_empty_item_of_the_list_is_refused(run, tmp_path):
    code, _, said = run("gallery", "--only", "weights,", "-o", str(tmp_path))
    assert code == 2
    assert "`only`" in said


def test_a_file_is_no_folder(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    code, _, said = run(*QUICK, "-o", str(file))
    assert code == 2
    assert "Argument `output` must be a folder" in said
    assert file.read_text() == "mine"


def test_a_folder_below_a_file_cannot_be_made(run, tmp_path):
    (tmp_path / "file").write_text("mine")
    code, _, said = run(*QUICK, "-o", str(tmp_path / "file" / "below"))
    assert code == 1
    assert said.startswith("Cannot use")
    assert "Traceback" not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(run, tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    code, _, said = run(*QUICK, "-o", str(folder))
    assert code == 2
    assert "a folder that can be written" in said


def test_a_store_that_is_not_there_is_named(run, tmp_path):
    code, _, said = run(*QUICK, "-o", str(tmp_path), "--store", str(tmp_path / "none.sqlite"))
    assert code == 1
    assert "none.sqlite does not exist" in said
    assert not (tmp_path / "index.html").exists()
