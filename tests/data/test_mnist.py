"""MNIST: where its files are looked for, what is checked, and what is said where there are none."""

import gzip
import hashlib
import os
import struct
import sys
from types import SimpleNamespace

import pytest
import torch

from nalm.data import DataError, checksum_of, download, load_digits, mnist

NAMES = [file.name for file in mnist.FILES]
CONTENTS = dict(
    zip(
        NAMES,
        [
            struct.pack(">4I", 0x0803, 2, 28, 28) + bytes([1] * 784 + [2] * 784),
            struct.pack(">2I", 0x0801, 2) + bytes([5, 6]),
            struct.pack(">4I", 0x0803, 1, 28, 28) + bytes([3] * 784),
            struct.pack(">2I", 0x0801, 1) + bytes([7]),
        ],
    )
)
"""Three pictures in the place of 70,000."""


def md5(content):
    return hashlib.md5(content).hexdigest()


def put(folder, names=NAMES, ending=".gz"):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        content = CONTENTS[name]
        (folder / f"{name}{ending}").write_bytes(gzip.compress(content) if ending else content)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """The checksums of the small files, no NALM_DATA, an empty cache, and a network that must not be used."""
    monkeypatch.setattr(mnist, "FILES", [mnist.File(name, md5(CONTENTS[name])) for name in NAMES])
    monkeypatch.delenv("NALM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    network(monkeypatch, lambda url: pytest.fail(f"{url} was asked for"))
    return tmp_path


def network(monkeypatch, answer):
    """Make pooch write what `answer` returns for an address, and list the addresses that are asked for."""
    asked = []

    def retrieve(url, output_file, pooch):
        asked.append(url)
        with open(output_file, "wb") as file:
            file.write(answer(url))

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(HTTPDownloader=lambda **settings: retrieve))
    return asked


def served(url):
    return gzip.compress(CONTENTS[url.rpartition("/")[2].removesuffix(".gz")])


def cache(tmp_path):
    return tmp_path / "cache" / "nalm" / "mnist"


def check(sets):
    assert sets.train.images.shape == (2, 28, 28)
    assert sets.train.images.dtype == torch.uint8
    assert sets.train.images[:, 0, 0].tolist() == [1, 2]
    assert sets.train.labels.tolist() == [5, 6]
    assert sets.test.images.unique().tolist() == [3]
    assert sets.test.labels.tolist() == [7]
    assert sets.test.labels.dtype == torch.int64


class TestInTheFolderThatTheUserNames:
    @pytest.mark.parametrize("ending", ["", ".gz"], ids=["raw", "gzipped"])
    @pytest.mark.parametrize("inside", ["", "mnist"], ids=["itself", "subfolder"])
    def test_they_are_found_in_it_or_its_subfolder(self, ending, inside, small, monkeypatch):
        put(small / inside, ending=ending)
        monkeypatch.setenv("NALM_DATA", str(small))
        check(load_digits())

    def test_a_relative_folder_and_a_home_are_understood(self, small, monkeypatch):
        put(small / "here")
        monkeypatch.chdir(small)
        monkeypatch.setenv("NALM_DATA", "here")
        check(load_digits())
        monkeypatch.setenv("HOME", str(small))
        monkeypatch.setenv("NALM_DATA", "~/here")
        check(load_digits())

    def test_they_are_read_once_per_process_and_folder(self, small, monkeypatch):
        for name in ("one", "two"):
            put(small / name)
        monkeypatch.setenv("NALM_DATA", str(small / "one"))
        first = load_digits()
        assert load_digits() is first
        monkeypatch.setenv("NALM_DATA", str(small / "two"))
        assert load_digits() is not first

    @pytest.mark.parametrize("kind", ["missing", "a file"])
    def test_a_folder_that_is_not_there_is_named(self, kind, small, monkeypatch):
        folder = small / "absent"
        if kind == "a file":
            folder.touch()
        monkeypatch.setenv("NALM_DATA", str(folder))
        with pytest.raises(DataError, match=f"NALM_DATA to name .* but there is no folder {folder}"):
            load_digits()

    def test_missing_files_are_named_and_never_downloaded(self, small, monkeypatch):
        put(cache(small))
        put(small / "some", NAMES[:3])
        monkeypatch.setenv("NALM_DATA", str(small / "some"))
        with pytest.raises(
            DataError, match=f"in {small / 'some'}, .* but did not find t10k-labels-idx1-ubyte[.]$"
        ):
            load_digits()

    def test_an_error_is_not_remembered(self, small, monkeypatch):
        monkeypatch.setenv("NALM_DATA", str(small))
        with pytest.raises(DataError, match="did not find " + ", ".join(NAMES)):
            load_digits()
        put(small)
        check(load_digits())

    def test_a_wrong_file_is_named_with_both_checksums(self, small, monkeypatch):
        put(small)
        wrong = small / "t10k-labels-idx1-ubyte.gz"
        other = CONTENTS["t10k-labels-idx1-ubyte"][:-1] + b"\x08"
        wrong.write_bytes(gzip.compress(other))
        monkeypatch.setenv("NALM_DATA", str(small))
        expected = md5(CONTENTS["t10k-labels-idx1-ubyte"])
        with pytest.raises(DataError) as raised:
            load_digits()
        text = f"Expected a file with the MD5 {expected} (unzipped) at {wrong}, but found {md5(other)}."
        assert str(raised.value) == text


class TestInTheCache:
    def test_they_are_found(self, small):
        put(cache(small))
        check(load_digits())

    def test_an_empty_setting_is_none(self, small, monkeypatch):
        monkeypatch.setenv("NALM_DATA", "")
        put(cache(small))
        check(load_digits())

    def test_a_wrong_file_is_named_and_not_replaced(self, small):
        put(cache(small))
        wrong = cache(small) / NAMES[0]
        wrong.write_bytes(b"mine")
        with pytest.raises(DataError, match=f"at {wrong}, but found {md5(b'mine')}"):
            load_digits()
        assert wrong.read_bytes() == b"mine"


class TestDownloaded:
    def test_they_are_put_into_the_cache(self, small, monkeypatch):
        asked = network(monkeypatch, served)
        check(load_digits())
        assert asked == [f"{download.MIRRORS[0]}{name}.gz" for name in NAMES]
        assert sorted(os.listdir(cache(small))) == sorted(f"{name}.gz" for name in NAMES)

    def test_only_what_is_missing_is_fetched(self, small, monkeypatch):
        put(cache(small), NAMES[:2], ending="")
        asked = network(monkeypatch, served)
        check(load_digits())
        assert [url.rpartition("/")[2] for url in asked] == [f"{name}.gz" for name in NAMES[2:]]

    def test_the_second_mirror_is_asked_if_the_first_fails_or_gives_another_file(self, small, monkeypatch):
        def answer(url):
            if not url.startswith(download.MIRRORS[0]):
                return served(url)
            if "labels" in url:
                raise ConnectionError("no route")
            return b"<html>Sign in</html>"

        asked = network(monkeypatch, answer)
        check(load_digits())
        assert len(asked) == 8

    def test_without_a_network_it_is_said_what_to_put_where(self, small, monkeypatch):
        def answer(url):
            raise ConnectionError(f"no route to {url}\nand more lines")

        put(cache(small), NAMES[:2])
        network(monkeypatch, answer)
        with pytest.raises(DataError) as raised:
            load_digits()
        text = str(raised.value)
        last = f"{download.MIRRORS[1]}{NAMES[2]}.gz"
        assert text.startswith(
            f"MNIST could not be downloaded: no route to {last}; without a download, put {NAMES[2]} (MD5"
        )
        assert all(name in text and md5(CONTENTS[name]) in text for name in NAMES[2:])
        assert not any(name in text for name in NAMES[:2])
        assert "NALM_DATA" in text
        assert str(cache(small)) in text
        assert "more lines" not in text

    def test_a_wrong_file_from_all_mirrors_is_not_kept(self, small, monkeypatch):
        network(monkeypatch, lambda url: b"<html>Sign in</html>")
        with pytest.raises(
            DataError, match=f"at {download.MIRRORS[1]}{NAMES[0]}.gz, but found [0-9a-f]{{32}}; without"
        ):
            load_digits()
        assert os.listdir(cache(small)) == []

    def test_what_is_interrupted_leaves_nothing(self, small, monkeypatch):
        def answer(url):
            raise KeyboardInterrupt

        network(monkeypatch, answer)
        with pytest.raises(KeyboardInterrupt):
            load_digits()
        assert os.listdir(cache(small)) == []

    def test_a_cache_that_cannot_be_written_is_a_sentence(self, small, monkeypatch):
        network(monkeypatch, served)
        (small / "cache").touch()
        with pytest.raises(DataError, match=r"MNIST could not be downloaded: .*cache"):
            load_digits()

    def test_without_pooch_it_is_said_how_to_install_it(self, small, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(
            DataError,
            match=r"needs the package pooch \(pip install 'nalm\[data\]'\); without a download, put ",
        ):
            load_digits()

    def test_pooch_has_what_is_used_of_it(self):
        pytest.importorskip("pooch", reason="pooch, of the extra `data`, is not installed")
        assert callable(download._retriever())


def test_the_checksum_is_known_without_files(monkeypatch, tmp_path):
    monkeypatch.setenv("NALM_DATA", str(tmp_path / "absent"))
    assert checksum_of("mnist") == "88040df0a2b03ee0"


@pytest.mark.skipif(not os.environ.get("NALM_DATA"), reason="NALM_DATA does not name a folder with MNIST")
def test_the_real_files_are_mnist():
    sets = load_digits("mnist")
    assert sets.checksum == checksum_of("mnist")
    assert sets.train.images.shape == (60_000, 28, 28)
    assert sets.test.images.shape == (10_000, 28, 28)
    assert sets.train.labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert sets.test.labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert sets.train.labels.bincount().tolist() == [
        5923,
        6742,
        5958,
        6131,
        5842,
        5421,
        5918,
        6265,
        5851,
        5949,
    ]
    assert sets.train.images.float().mean() / 255 == pytest.approx(0.1307, abs=1e-4)
