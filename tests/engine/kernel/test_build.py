"""Libraries in the cache: which compiler makes them, and what happens to damaged ones."""

import os
import shutil
import time

import pytest

from nalm.engine import cache
from nalm.engine.kernel import build as module
from nalm.engine.kernel.build import BuildError, build, cpp_compiler

SOURCE = """
extern "C" void repeat(long models, long times, void** given, void** kept) {
  for (long m = 0; m < models; ++m) ((float*)kept[0])[m] = ((float*)given[0])[m] + times;
}
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def forgetful():
    """The compiler is looked for again in each test, and after it."""
    cpp_compiler.cache_clear()
    yield
    cpp_compiler.cache_clear()


def works(library):
    import torch

    return library.repeat([torch.zeros(3)], [], 2)[0].tolist() == [2.0, 2.0, 2.0]


def test_a_program_is_compiled_once(folder, monkeypatch):
    assert works(build(SOURCE))
    monkeypatch.setattr(module, "_compiled", None)
    assert works(build(SOURCE))
    assert [path.suffix for path in folder.iterdir()] == [".so"], "nothing else is left"


DAMAGES = {
    "cut off": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: path.write_bytes(b""),
    "something else": lambda path: path.write_text("no library"),
    "one byte": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_library_is_never_loaded_but_compiled_again(folder, damage):
    """To load one that was cut off would end the process with a bus error."""
    build(SOURCE)
    (path,) = folder.glob("*.so")
    copy = path.with_name("copy")
    shutil.copy(path, copy)  # the one that is loaded must stay whole
    copy.replace(path)
    damage(path)
    assert works(build(SOURCE))


def test_what_a_killed_process_left_is_removed_after_a_while(folder):
    old, young = folder / "building-old", folder / "building-young"
    for left in (old, young):
        left.mkdir()
    os.utime(old, (time.time() - 7200,) * 2)
    build(SOURCE)
    assert not old.exists()
    assert young.exists()


@pytest.mark.parametrize("wanted", ["g++ -g0", "no-such-compiler", ""])
def test_the_users_compiler_may_have_arguments_and_a_wrong_one_is_passed_over(wanted, folder, monkeypatch):
    monkeypatch.setenv("CXX", wanted)
    found = cpp_compiler()
    assert found is not None
    assert found[1:] == (("-g0",) if "-g0" in wanted else ())
    assert works(build(SOURCE))


def test_a_compiler_that_makes_nothing_is_an_error(folder, monkeypatch):
    monkeypatch.setenv("CXX", shutil.which("true"))
    with pytest.raises(BuildError):
        build(SOURCE)


def test_an_error_of_the_compiler_is_told_in_one_line(folder):
    with pytest.raises(BuildError, match="error: ") as told:
        build("this is no program")
    assert "\n" not in str(told.value)
