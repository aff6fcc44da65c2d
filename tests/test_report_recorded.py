"""The tables of recorded compactions, from runs that are worked out by hand and from recorded files."""

import pytest
import recorded_sessions as told
from corpus_files import corpus_file
from pools import MANIFEST
from runs import scratch

from compactlab.readers import read
from compactlab.records import Block, Manifest, Record
from compactlab.report.recorded import BESIDE, COLUMNS, sections
from compactlab.results import Results, Writer
from compactlab.summary.pool import Pool
from compactlab.summary.recorded import harnesses

IN_PART = "about 9,000 tokens more were sent after it than are recorded: scored is the recorded part"
HEAD = {"agent_type": "primary", "index": 9}
NEEDED = {"family": "path", "use": "action", "home": "irrecoverable"}


def block(place, strategy, scores, size_of="", **head):
    session, cut = place
    base = HEAD | {"session": session, "cluster": session, "cut": cut, "strategy": strategy, "size_of": size_of}
    rows = [Record(**base, metric=m, value=v, n=n, **fields) for m, v, n, fields in scores]
    return Block((Record(**base, metric="outcome", n=len(rows), **{"outcome": "applied", **head}), *rows))


def cell(before, after, kept, needed, again=(0, 0)):
    """Give the scores of a row: its tokens, the needed facts that stand, and of those fetched again."""
    scores = [("tokens_before", before, 1, {}), ("tokens_after", after, 1, {})]
    scores += [(f"needed_{what}", kept, needed, NEEDED) for what in ("bound", "loose") if needed]
    return scores + ([("refetched_bound", *again, NEEDED)] if again[1] else [])


def pool(places, name):
    """Make a run of {(session, cut): (harness, {label: scores}, reason)}; a reason alone is that of a skipped place."""
    folder = scratch() / "recorded" / name
    writer = Writer(folder, Manifest(**{f: getattr(MANIFEST, f) for f in MANIFEST.__struct_fields__}), lambda _: "")
    for place, (harness, rows, reason) in places.items():
        told_of = [("harness", 1, 1, {"group": harness}), ("told_before", 5_000, 1, {})]
        if not rows:
            writer.write(block(place, "facts", told_of, outcome="skipped", reason=f"{place[1]}: {reason}: 2 of 3"))
            continue
        writer.write(block(place, "facts", told_of))
        for label, scores in rows.items():
            said = {"reason": reason} if label == "recorded" else {}
            writer.write(block(place, label.partition("<")[0], scores, label.partition("<")[2], **said))
        writer.write(block(place, "null", cell(1_000, 10, 0, 10)))
    writer.close()
    return Pool(Results(folder))


def place(kept, luck, ours, again=(0, 0), ours_again=0):
    """Give the rows of a place at which the harness left 100 of 1,000 tokens and an action needed 10 facts."""
    return {
        "none": cell(1_000, 1_000, 10, 10, (again[1], again[1])),
        "recorded": cell(1_000, 100, kept, 10, again),
        "random<recorded": cell(1_000, 100, luck, 10),
        "slide": cell(1_000, ours[0], ours[1], 10, (ours_again, again[1])),
        "clear": cell(1_000, 400, 9, 10, (ours_again, again[1])),
    }


def by_hand():
    return pool(
        {
            ("a", "recorded 1"): ("pi", place(4, 1, (100, 6), (0, 2), 1), ""),
            ("a", "recorded 2"): ("pi", place(6, 3, (95, 4)), ""),
            ("b", "recorded 1"): ("pi", place(8, 5, (80, 9)), IN_PART),
            ("b", "recorded 2"): ("pi", place(2, 1, (300, 9)), ""),
            ("b", "recorded 3"): ("pi", {}, "what it left is encrypted"),
            ("c", "recorded 1"): ("letta", {}, "what it left is not recorded"),
        },
        "hand",
    )


def test_a_harness_is_the_mean_over_its_sessions_of_the_mean_over_their_places():
    letta, pi, everything = harnesses(by_hand())
    assert (pi.name, pi.sessions, pi.stories, pi.found, pi.scored, pi.in_part) == ("pi", 2, 2, 5, 4, 1)
    assert pi.skipped == {"what it left is encrypted": 1}
    assert (pi.before, pi.after, pi.told_before, pi.told_after) == (1_000, 100, 5_000, None)
    assert pi.bound.mean == pytest.approx((0.5 + 0.5) / 2)  # a: .4 and .6; b: .8 and .2
    assert pi.whole.mean == pytest.approx(((4 / 12 + 0.6) / 2 + 0.5) / 2)
    assert pi.over_random.mean == pytest.approx(((0.3 + 0.3) / 2 + (0.3 + 0.1) / 2) / 2)
    assert (pi.needed, pi.again) == (40, 2)
    assert (letta.scored, letta.bound, letta.ours) == (0, None, ())
    assert (everything.name, everything.found, everything.scored) == ("all", 6, 4)


def test_ours_are_compared_where_they_met_the_size_and_at_their_own_where_they_never_do():
    pi = harnesses(by_hand())[1]
    none, slide, clear = pi.ours
    assert (none.name, none.met, none.own_size) == ("none", 0, True)
    assert (slide.met, slide.over, slide.under, slide.own_size, slide.places) == (3, 1, 1, False, 3)
    assert slide.difference.mean == pytest.approx(((0.2 - 0.2) / 2 + 0.1) / 2)
    assert slide.whole.mean == pytest.approx(((7 / 12 - 4 / 12 - 0.2) / 2 + 0.1) / 2)
    assert slide.difference.half is None
    assert (clear.met, clear.over, clear.own_size, clear.places) == (0, 4, True, 4)
    assert clear.difference.mean == pytest.approx(((0.5 + 0.3) / 2 + (0.1 + 0.7) / 2) / 2)


def test_the_tables_show_the_numbers_and_say_what_is_not_scored():
    first, second = sections(by_hand())
    assert first.columns == COLUMNS
    shown = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in first.rows}
    assert shown["pi"] | {"bound": ".50", "scored": "4*", "needed": "40", "over random": "+.25"} == shown["pi"]
    assert shown["letta"]["scored"] == "0"
    assert set(first.rows[0][4:9]) == {"-"}
    for said in ("* 1 of pi: more was sent", "Not scored: 1 of letta, what it left is not recorded.", "too kind"):
        assert said in first.legend
    assert "Not scored: 1 of pi, what it left is encrypted." in first.legend
    assert second.columns == BESIDE
    assert second.rows[:3] == [
        ("pi", "none", "1,000", "0", "4", "0", "(+.50)", "(+.52)", "2"),
        ("pi", "slide", "92", "3", "1", "1", "+.05*", "+.06*", "2"),
        ("pi", "clear", "400", "0", "4", "0", "(+.40)", "(+.40)", "2"),
    ]
    assert {row[0] for row in second.rows} == {"pi", "all"}


def test_five_stories_have_an_interval_and_four_have_none():
    places = {(s, "recorded 1"): ("pi", place(4 + i, 2, (100, 6)), "") for i, s in enumerate("abcde")}
    [five] = harnesses(pool(places, "five"))
    [four] = harnesses(pool(dict(list(places.items())[:4]), "four"))
    assert (five.bound.mean, five.bound.n) == (pytest.approx(0.6), 5)
    assert five.bound.half == pytest.approx(2.776 * (0.025 / 5) ** 0.5, abs=0.001)  # variance .1 / 4
    assert five.ours[1].difference.half == pytest.approx(five.bound.half)
    assert (four.bound.half, four.ours[1].difference.half) == (None, None)


def test_a_control_that_must_hold_more_than_the_harness_left_is_not_compared():
    rows = place(4, 2, (100, 6)) | {"random<recorded": cell(1_000, 150, 2, 10)}
    [pi] = harnesses(pool({("a", "recorded 1"): ("pi", rows, "")}, "floor"))
    assert pi.over_random is None


def test_where_a_harness_left_more_than_stood_there_is_no_size_to_meet():
    rows = place(4, 2, (100, 6)) | {"recorded": cell(1_000, 1_200, 10, 10)}
    [pi] = harnesses(pool({("a", "recorded 1"): ("pi", rows, "")}, "grown"))
    assert {(ours.met, ours.over, ours.places) for ours in pi.ours} == {(0, 0, 0)}
    assert sections(pool({("a", "recorded 1"): ("pi", rows, "")}, "grown"))[1].rows == []


def test_a_run_without_recorded_compactions_has_empty_tables():
    writer = Writer(scratch() / "recorded" / "empty", MANIFEST, lambda _: "")
    writer.close()
    assert [section.rows for section in sections(Pool(Results(writer.folder)))] == [[], []]


def test_a_session_that_a_real_harness_compacted_twice_is_a_row(tmp_path):
    transcripts = read(corpus_file("pi-mono/before-compaction.jsonl"))
    results = told.run(tmp_path / "run", transcripts, "none", "sliding_window", "summary")
    first, second = sections(Pool(results))
    [row] = [dict(zip(COLUMNS, row, strict=True)) for row in first.rows]
    assert (row["harness"], row["compactions"], row["scored"]) == ("pi", "2", "2")
    assert int(row["needed"]) > 10
    assert int(row["fetched again"]) > 5
    assert 0 < float(row["bound with those"]) < float(row["bound"]) < float(row["loose"]) <= 1
    assert [line[1] for line in second.rows] == ["none", "sliding_window", "summary (extractive)"]
    assert [line[3] for line in second.rows] == ["0", "2", "2"]
