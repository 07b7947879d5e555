"""`nalm report`."""

import pytest


def test_report_of_a_store_that_is_not_there_writes_a_page_and_says_what_to_do(run, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run("report", "--store", str(tmp_path / "none.sqlite"), "-o", str(page))
    assert code == 0
    assert "none.sqlite does not exist" in err
    assert str(page) in out
    assert "Nothing to show yet" in page.read_text()


@pytest.mark.parametrize(("output", "code"), [(".", 2), ("-", 2), ("missing/report.html", 1)])
def test_report_that_cannot_be_written_is_one_sentence(run, tmp_path, monkeypatch, output, code):
    monkeypatch.chdir(tmp_path)
    ended, out, err = run("report", "-o", output)
    assert (ended, out) == (code, "")
    assert err.count("\n") == 1
