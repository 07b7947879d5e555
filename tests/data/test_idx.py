"""IDX files as they are found, and the sentence that is said about a wrong one."""

import gzip
import struct

import numpy as np
import pytest

from nalm.data.idx import DataError, read_images, read_labels
from nalm.errors import NalmError

PIXELS = (np.arange(3 * 28 * 28) % 251).astype(np.uint8)
IMAGES = struct.pack(">4I", 0x0803, 3, 28, 28) + PIXELS.tobytes()
LABELS = struct.pack(">2I", 0x0801, 3) + bytes([7, 0, 9])


def written(tmp_path, content, name="digits"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["digits", "digits.gz"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["raw", "gzipped"])
def test_a_file_is_read_gzipped_or_not_whatever_its_name(name, packed, tmp_path):
    images = read_images(written(tmp_path, packed(IMAGES), name))
    np.testing.assert_array_equal(images, PIXELS.reshape(3, 28, 28))
    assert images.dtype == np.uint8
    labels = read_labels(written(tmp_path, packed(LABELS), name))
    np.testing.assert_array_equal(labels, [7, 0, 9])


def test_what_is_read_can_be_written_to(tmp_path):
    assert read_images(written(tmp_path, IMAGES)).flags.writeable


ZIPPED = gzip.compress(IMAGES)
SMALL = struct.pack(">4I", 0x0803, 1, 8, 9) + bytes(72)
WRONG = {
    "a gzip file cut off": (ZIPPED[:-20], "Expected a whole gzip file at {path}, but found a damaged one: "),
    "a damaged gzip file": (
        ZIPPED[:40] + bytes(20) + ZIPPED[60:],
        "Expected a whole gzip file at {path}, but found a damaged one: ",
    ),
    "labels": (
        LABELS,
        "Expected IDX images (magic number 00 00 08 03) in {path}, but found 00 00 08 01 at its beginning.",
    ),
    "a web page": (
        b"<html>Sign in</html>",
        "Expected IDX images (magic number 00 00 08 03) in {path}, but found 3c 68 74 6d at its beginning.",
    ),
    "nothing": (b"", "Expected IDX images with a heading of 16 bytes in {path}, but found 0 bytes."),
    "one byte": (b"\0", "Expected IDX images with a heading of 16 bytes in {path}, but found 1 byte."),
    "half a heading": (
        IMAGES[:10],
        "Expected IDX images with a heading of 16 bytes in {path}, but found 10 bytes.",
    ),
    "a file cut off": (
        IMAGES[:-1],
        "Expected 2,368 bytes (unzipped) for 3 images in {path}, but found a file cut off: 2,367 bytes.",
    ),
    "bytes at the end": (
        IMAGES + b"\0\0",
        "Expected 2,368 bytes (unzipped) for 3 images in {path}, "
        "but found a file with more at its end: 2,370 bytes.",
    ),
    "smaller images": (SMALL, "Expected images of 28 x 28 pixels in {path}, but found 8 x 9."),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_is_named_with_what_was_expected_and_what_was_found(kind, tmp_path):
    content, sentence = WRONG[kind]
    path = written(tmp_path, content)
    with pytest.raises(DataError) as raised:
        read_images(path)
    assert str(raised.value).startswith(sentence.format(path=path))
    assert str(raised.value).endswith(".")


def test_labels_are_checked_like_images(tmp_path):
    with pytest.raises(DataError, match=r"Expected IDX labels \(magic number 00 00 08 01\)"):
        read_labels(written(tmp_path, IMAGES))
    with pytest.raises(DataError, match=r"for 3 labels in .*, but found a file cut off: 10 bytes"):
        read_labels(written(tmp_path, LABELS[:-1]))


def test_a_heading_that_promises_too_much_takes_no_memory(tmp_path):
    endless = struct.pack(">4I", 0x0803, 2**32 - 1, 28, 28) + bytes(100)
    with pytest.raises(DataError, match="for 4,294,967,295 images"):
        read_images(written(tmp_path, endless))


@pytest.mark.parametrize("make", [lambda path: path / "gone", lambda path: path], ids=["missing", "a folder"])
def test_a_path_that_cannot_be_read_is_a_sentence(make, tmp_path):
    with pytest.raises(DataError, match=f"Expected a readable file at {make(tmp_path)}, but found: "):
        read_images(make(tmp_path))


def test_these_errors_are_caught_like_all_others_of_nalm():
    assert issubclass(DataError, NalmError)
