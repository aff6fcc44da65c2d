"""The heat map of what was kept: what stands in it is what the pass did, from a transcript and from a run's folder."""

from collections import Counter

import figures
import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st

from compactlab.compaction import compact
from compactlab.errors import SpecError
from compactlab.harness import Settings, run
from compactlab.harness.fates import fates
from compactlab.plots import histories, kept
from compactlab.plots.histories import History, Row
from compactlab.readers import read
from compactlab.tokens import Meter

SPECS = ("none", "microcompact(keep_recent=1)", "sliding_window(preserve_recent=4)", "ladder(cull, sliding_window)")


@pytest.fixture(scope="module")
def transcript():
    (found,) = read(runs.short_transcripts() / "subagent-etl.jsonl")
    return found


@pytest.fixture(scope="module")
def folder():
    return run(runs.short_transcripts(), runs.scratch() / "plots-kept", Settings(strategies=SPECS, jobs=1))


def test_a_row_says_what_became_of_each_message_and_of_each_needed_fact(transcript):
    history = histories.of_transcript(transcript, 0.7, SPECS)
    cut = int(history.name.rsplit(" ", 1)[1])
    base = transcript.messages[:cut]
    assert history.weights == tuple(Meter().message(message) for message in base)
    assert history.roles == tuple(message.role for message in base)
    found = fates(transcript, 0.7, SPECS)
    for row, spec in zip(history.rows, SPECS, strict=True):
        receipt = compact(base, spec).receipt
        assert (row.name, row.note) == (receipt.strategy, "" if receipt.outcome == "applied" else receipt.outcome)
        counts = Counter(row.actions)
        assert counts == {a: receipt.count(a) for a in counts}
        assert len(row.actions) == len(base)
        assert len(row.made) == receipt.count("made")
        told = sum(map(Counter, row.facts.values()), Counter())
        assert told == Counter(fate.kept[receipt.strategy] for fate in found)
        assert set(row.facts) == {fate.story.home for fate in found}
    assert "edited" in history.rows[1].actions
    assert history.rows[2].made


def test_a_run_tells_the_same_as_its_transcript(transcript, folder):
    told = histories.of_run(folder, transcript.id, "0.7")
    whole = histories.of_transcript(transcript, 0.7, SPECS)
    assert [row.name for row in told.rows] == [row.name for row in whole.rows]
    for one, other in zip(told.rows, whole.rows, strict=True):
        assert one.actions == other.actions
        assert [place for place, _ in one.made] == [place for place, _ in other.made]
        assert one.note == other.note
    assert set(told.weights) == {1}


def test_by_default_the_cut_that_needed_most_is_shown(folder):
    counts = Counter((fact.session, fact.cut) for fact in folder.needed if fact.strategy == "none")
    shown = histories.of_run(folder)
    needed = sum(sum(of.values()) for of in shown.rows[0].facts.values())
    assert needed == max(counts.values())
    assert figures.title(kept.figure(shown, "signed")).endswith(f"{needed} facts needed later")


def test_what_a_run_does_not_hold_is_refused(folder, transcript):
    for place in (("nobody", ""), ("", "0.99"), (transcript.id, "0.99")):
        with pytest.raises(SpecError, match="expected one of the run"):
            histories.of_run(folder, *place)
    with pytest.raises(SpecError, match="expected a session that can be cut"):
        histories.of_transcript(type(transcript)("t", "", transcript.messages[:2]), 0.4, ["none"])


def test_bars_are_as_wide_as_what_they_stand_for():
    rows = (Row("cull", ("kept", "dropped", "edited", "kept"), ((2, 500),), {1: {"lost": 2}, 3: {"bound": 1}}),)
    figure = kept.figure(History("h", (1_000, 2_000, 3_000, 4_000), ("user", "tool", "tool", "assistant"), rows), "s")
    (axes,) = figure.axes
    spans = {
        (round(path.vertices[:, 0].min(), 6), round(path.vertices[:, 0].max(), 6))
        for collection in axes.collections
        for path in collection.get_paths()
    }
    assert {(0, 1), (6, 10), (3, 6), (3, 3.5)} <= spans
    assert axes.get_yticklabels()[1].get_text() == "cull\n1 of 3 facts"
    middles = {tuple(point) for c in axes.collections for point in c.get_offsets().tolist() if point != [0, 0]}
    assert {x for x, _ in middles} == {2.0, 8.0}
    legend = figures.legend(figure)
    assert "needed fact: lost" in legend
    assert "needed fact: kept, but not bound" not in legend


@pytest.mark.parametrize("width", [4.6, 6, 10])
@pytest.mark.parametrize("number", [0, 1, 3, 12])
def test_nothing_lies_outside_of_the_figure_or_covers_anything(transcript, width, number):
    history = histories.of_transcript(transcript, 0.7, SPECS)
    rows = tuple(
        history.rows[i % 4]._replace(name=f"sliding_window(preserve_recent={i}, kv_target=None)") for i in range(number)
    )
    assert figures.faults(kept.figure(history._replace(rows=rows), "signed " * 40, width)) == []


@given(st.lists(st.integers(0, 40), unique=True).map(sorted), st.booleans())
def test_bars_cover_the_messages_they_are_for_and_no_others(places, joined):
    edges = [0.0]
    for i in range(41):
        edges.append(edges[-1] + 1 + i % 3)
    spans = kept._spans(edges, places, joined=joined)
    inside = [
        i
        for i in range(41)
        if any(start <= edges[i] and edges[i + 1] <= start + width + 1e-9 for start, width in spans)
    ]
    assert inside == places
    assert sum(width for _, width in spans) == pytest.approx(sum(edges[i + 1] - edges[i] for i in places))
    assert len(spans) <= len(places)


ENTRIES = st.lists(
    st.fixed_dictionaries(
        {}, optional={"source": st.one_of(st.none(), st.integers(0, 60)), "synthetic": st.booleans()}
    ),
    max_size=8,
)


@given(ENTRIES, st.integers(0, 30), st.integers(0, 12), st.booleans())
def test_edited_messages_are_placed_in_order_within_their_gap(entries, start, size, is_ours):
    gap = range(start, start + size)
    found = histories._edited(entries, gap, is_ours=is_ours)
    placed = [place for place in found if place is not None]
    assert len(found) == len(entries)
    assert placed == sorted(set(placed))
    assert all(place in gap for place in placed)


def test_facts_whose_place_is_not_known_are_counted_and_no_mark_is_explained_for_them():
    row = Row("cull", ("kept", "dropped"), (), {histories.NOWHERE: {"bound": 2, "lost": 1}})
    figure = kept.figure(History("a session", (1, 1), ("", ""), (row,)), "signed")
    (axes,) = figure.axes
    assert "3 facts needed later" in figures.title(figure)
    assert "2 of 3 facts" in axes.get_yticklabels()[1].get_text()
    assert not any("needed fact" in words for words in figures.legend(figure))
    assert "where its facts stood is not known" in " ".join(axes.get_xlabel().split())
