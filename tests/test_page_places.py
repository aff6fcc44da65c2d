"""Where a quoted fact stands in a text: found as the run quoted it, whatever white space the text has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts.text import canonical
from compactlab.harness.fates import _around
from compactlab.report.page.places import place, units

BLANKS = st.text(" \n\t\r\u00a0\u2028", min_size=1, max_size=4)
WORDS = st.lists(st.text("abc.*+()[]\\^$|é😀ß", min_size=1, max_size=9), max_size=30)


@given(WORDS, WORDS, st.lists(BLANKS, min_size=70, max_size=70))
def test_a_value_is_found_where_the_run_quoted_it(before, after, blanks):
    value = "ORD-4711"
    text = "".join(word + blank for word, blank in zip([*before, value, *after], blanks, strict=False))
    whole = canonical(text)
    start = whole.index(value)
    found = place(text, _around(whole, start, start + len(value)), value)
    assert found is not None
    assert text[found.start : found.end] == value
    assert found.start == text.index(value)


@pytest.mark.parametrize(
    ("text", "quotation", "value", "expected"),
    [
        ("see src/check.py now", "see src/check.py now", "/app/src/check.py", "src/check.py"),
        ("run main( ) and main(x)", "run main( ) and main(x)", "main()", "main"),
        ("it cost 105.6 in all", "it cost 105.6 in all", "105.6 pounds", "105.6"),
        ("key [REDACTED:key] on port 5433", "key ******** on port 5433", "5433", "5433"),
        ("Port 5433", "port 5433", "5433", "5433"),
    ],
)
def test_another_form_of_a_value_is_marked_as_it_stands(text, quotation, value, expected):
    found = place(text, quotation, value)
    assert text[found.start : found.end] == expected


@pytest.mark.parametrize(("text", "quotation"), [("", "a b"), ("a c", "a b"), ("(((", "\\")])
def test_what_is_not_there_is_not_found(text, quotation):
    assert place(text, quotation, "b") is None


@given(st.text(st.characters()), st.text(st.characters()))
def test_places_count_as_javascript_does(before, after):
    raw = (before + after).encode("utf-16-le", "surrogatepass")
    at = 2 * units(before + after, len(before))
    assert raw[:at] == before.encode("utf-16-le", "surrogatepass")
