"""Files: written whole or not at all, and never over what is not an ordinary file."""

import os

import pytest

from nalm.errors import ArgumentError
from nalm.report.files import check_output, written_whole


def test_a_file_takes_its_place_at_the_end(tmp_path):
    file = tmp_path / "a"
    file.write_text("before")
    with written_whole(file) as part:
        part.write_text("after")
        assert file.read_text() == "before"
    assert file.read_text() == "after"
    assert list(tmp_path.iterdir()) == [file]


def test_what_was_there_stays_if_anything_goes_wrong(tmp_path):
    file = tmp_path / "a"
    file.write_text("before")
    with pytest.raises(UnicodeEncodeError), written_whole(file) as part:
        part.write_text("half", encoding="ascii") and part.write_text("\N{STAR OPERATOR}", encoding="ascii")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with written_whole(tmp_path / "link") as part:
        part.write_text("after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "after"


def test_folders_pipes_and_the_store_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    store = tmp_path / "s.sqlite"
    store.touch()
    (tmp_path / "link").symlink_to(store)
    for wrong in (tmp_path, tmp_path / "pipe", type(tmp_path)("-")):
        with pytest.raises(ArgumentError, match="name of a file"):
            check_output(wrong)
    for same in (store, tmp_path / "link", tmp_path / "." / "s.sqlite"):
        with pytest.raises(ArgumentError, match="a file other than the store"):
            check_output(same, store)
    with pytest.raises(FileNotFoundError):
        check_output(tmp_path / "missing" / "a")
    check_output(tmp_path / "new", store)
