"""The inventory of the papers' tables and figures, against the entries of the ledger."""

import re
from collections import Counter

from nalm.papers import PAPERS
from nalm.papers.contents import WHYS, contents
from nalm.papers.entries import ENTRIES

PAPERS_LISTED = {"trask2018", "madsen2020", "mistry2021", "mistry2023"}
PLACE = re.compile(r"(table|fig)[A-H]?\.?\d+(\.\d+)?")


def test_each_place_is_listed_once_under_a_known_paper():
    assert {content.paper for content in contents()} == PAPERS_LISTED <= set(PAPERS)
    assert max(Counter((content.paper, content.place) for content in contents()).values()) == 1
    for content in contents():
        assert PLACE.fullmatch(content.place), content
        assert content.about, content


def test_each_place_has_either_an_entry_or_a_reason():
    for content in contents():
        assert (content.entry is None) == bool(content.why), content
        assert not content.why or content.why in WHYS, content


def test_each_entry_named_exists():
    named = {content.entry for content in contents() if content.entry}
    assert named <= set(ENTRIES)


def test_each_entry_that_is_a_place_of_a_listed_paper_covers_it():
    covered = {f"{content.paper}:{content.place}": content.entry for content in contents()}
    for entry in ENTRIES:
        paper, _, place = entry.partition(":")
        if paper in PAPERS_LISTED and place.startswith(("table", "fig")):  # others are sections of the text
            assert covered.get(entry) == entry


def test_numbers_in_a_paper_have_no_gaps():
    # The numbers of a chapter start at 1, figures and tables apart: a gap is a place that was missed.
    numbers: dict[tuple[str, str], list[int]] = {}
    for content in contents():
        kind, number = re.fullmatch(r"(.*?)(\d+)", content.place).groups()
        numbers.setdefault((content.paper, kind), []).append(int(number))
    for series, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), series
