"""`--json FILE`."""

import json

import pytest
from talk import only_line


@pytest.mark.parametrize("command", [("list",), ("list", "units"), ("show", "nalu"), ("doctor",)])
def test_json_file_has_the_same_data_and_the_table_still_appears(run, tmp_path, command):
    file = tmp_path / "result.json"
    with_file = run(*command, "--json", str(file))
    assert with_file == run(*command)
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(run(*command, "--json", "-")[1])


def test_json_file_in_a_missing_folder_is_a_fault_in_one_sentence(run, tmp_path):
    file = tmp_path / "missing" / "result.json"
    code, out, err = run("list", "--json", str(file))
    assert (code, out) == (1, "")
    assert str(file) in only_line(err)
