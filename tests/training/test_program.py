"""Programs: where they are kept, and what happens where that is not possible."""

import os

from nalm.training import program


def test_programs_are_kept_in_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program.compiler()
    assert program.cache_folder() == tmp_path / "nalm" / "programs"
    assert "TORCHINDUCTOR_CACHE_DIR" not in os.environ


def test_a_setting_of_the_users_own_is_obeyed_and_left_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    program.compiler()
    assert program.cache_folder() == tmp_path
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path)


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_one(tmp_path):
    file = tmp_path / "a-file"
    file.touch()
    wanted = file / "programs"
    assert not program.is_writable(wanted)
    used = program._working_folder(wanted)
    assert used != wanted
    assert program.is_writable(used)
