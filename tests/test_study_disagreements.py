"""Mined facts beside hand-made probes: what counts as a disagreement, and why, on histories that can be read."""

import pytest
import runs
from histories import agent, user

from compactlab.facts import mine
from compactlab.probes.hand import Probe
from compactlab.probes.mined import matcher_of
from compactlab.readers import survey
from compactlab.study import sessions_of
from compactlab.study.disagreements import REASONS, compared, quoted, sentence, table, to_markdown


@pytest.fixture(scope="module")
def found():
    return compared(sessions_of(survey(runs.short_transcripts()).transcripts))


def test_every_admitted_probe_is_kept_by_the_untouched_history_and_none_by_the_protected_set(found):
    assert found.asked > 0
    assert (found.kept_by_none, found.kept_by_null) == (found.asked, 0)


def test_the_cells_add_up_and_the_table_holds_those_that_differ(found):
    cells = found.cells
    assert sum(cells) == 6 * found.asked
    assert sum(one.cells for one in found.disagreements) == cells.probe_alone + cells.facts_alone
    assert {one.why for one in found.disagreements} <= set(REASONS)
    assert all(one.cells <= one.asked for one in found.disagreements)
    assert len(table(found)) == len(found.disagreements)


def test_what_kept_a_value_is_quoted(found):
    for one in found.disagreements:
        assert one.quote
        if one.kept_by == "facts":
            facts = mine((user(one.quote),))
            assert facts or one.facts


def test_the_page_says_the_counts_before_the_table(found):
    text = to_markdown(found)
    assert text.startswith(sentence(found))
    assert text.count("\n|") == 2 + len(found.disagreements)


def test_a_quotation_is_the_first_place_and_as_long_as_told():
    messages = (agent("Nothing here."), user("word " * 40 + "port 54330 " + "word " * 40), user("54330 again"))
    facts = mine(messages)
    matcher = matcher_of(facts)
    [index] = [i for i, fact in enumerate(facts) if fact.value == "54330"]
    text = quoted(messages, matcher, {index})
    assert "port 54330 word" in text
    assert len(text) < 100
    assert quoted((agent("Nothing."),), matcher, {index}) == ""


def test_a_probe_about_no_mined_fact_is_counted_apart():
    [session, *_] = sessions_of(survey(runs.short_transcripts()).transcripts)
    probes = (Probe("p", "What did they say?", "nothing that is a fact", (1,), 1),)
    alone = type(session)(session.transcript, session.facts, session.common, probes, session.others)
    cells = compared([alone]).cells
    assert cells.not_mined == sum(cells)
