"""Published numbers: what every row of every `published.csv` must say."""

import pytest

from nalm.errors import ArgumentError
from nalm.papers.citations import PAPERS
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import Study
from nalm.papers.published import SOURCES, published, read_numbers

HEADER = "entry,row,column,metric,kind,value,low,high,n,threshold,locator"
OTHERS = ("heim2020", "schloer2020")


def test_every_number_has_a_source_of_the_list_and_claims_are_sentences():
    numbers = list(published().values())
    assert {number.source for number in numbers} == set(SOURCES)
    for number in numbers:
        assert (number.source == "sentence") == (number.kind == "claim"), number


def test_only_numbers_of_other_papers_are_other_and_their_locators_name_the_paper():
    for number in published().values():
        key = number.locator.partition(": ")[0]
        elsewhere = key in PAPERS and not number.entry.startswith(f"{key}:")
        assert (number.source == "other") == (number.entry.startswith(OTHERS) or elsewhere), number
        assert ("digitised" in number.locator) <= (number.source == "digitised"), number


def test_printed_numbers_have_an_interval_unless_they_are_rates_or_exact():
    for number in published().values():
        exact = number.n is not None and ("success" in number.metric or "digits of" in number.locator)
        exact = exact or isinstance(ENTRIES.get(number.entry), Study)  # ticks, counts and formulas
        assert number.source != "printed" or number.low is not None or exact, number


@pytest.mark.parametrize(("column", "cell"), [("", ""), (",source", ","), (",source", ",print")])
def test_a_row_without_a_valid_source_is_refused(column, cell):
    text = f"{HEADER}{column}\np:t,NMU,mul,success,number,1,,,,,table 1{cell}"
    with pytest.raises(ArgumentError, match="`source` must be one of printed, digitised, other, sentence"):
        list(read_numbers(text))
