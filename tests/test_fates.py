"""Single facts followed: where each stood, which later message needed it, which strategy kept it."""

import json

import pytest
import runs
from histories import agent, call, user

from compactlab.harness.fates import fates
from compactlab.matching import VERDICTS, Matcher, Pattern
from compactlab.readers import read
from compactlab.report.table import families
from compactlab.transcript import Transcript

SESSIONS = [read(path)[0] for path in runs.TRANSCRIPTS[::4]]


@pytest.mark.parametrize("transcript", SESSIONS, ids=lambda transcript: transcript.id)
def test_each_fact_stands_where_its_story_says(transcript):
    found = fates(transcript, 0.55, ("none", "sliding_window"))
    assert found
    for story, kept in found:
        assert story.home < story.used
        assert transcript.messages[story.used].role == "assistant"
        assert story.home_text.strip("…") != ""
        assert kept["none"] in {"bound", "loose"}
        assert set(kept.values()) <= {"bound", "loose", "lost"}
    assert [story.used for story, _ in found] == sorted(story.used for story, _ in found)


def test_the_quoted_words_hold_the_value():
    for story, _ in fates(SESSIONS[0], 0.7, ("none",)):
        if story.family in {"path", "identifier", "hash"}:
            matcher = Matcher([Pattern((story.value, story.value.rpartition("/")[2]), exact=True, family="")])
            assert matcher.hits(story.home_text)


def test_a_session_that_is_too_short_has_none():
    transcript = SESSIONS[0]
    short = type(transcript)(transcript.id, transcript.format, transcript.messages[:2])
    assert fates(short, 0.5, ("none",)) == []


def test_the_run_tells_the_fate_of_every_needed_fact_and_its_scores_agree():
    results = runs.whole().results
    for strategy in runs.STRATEGIES:
        told = [fact for fact in results.needed if fact.strategy == strategy]
        for metric, counts in (
            ("needed_bound", lambda fact: fact.bound),
            ("needed_loose", lambda fact: fact.verdict == "kept"),
        ):
            rows = [r for r in results.records if r.strategy == strategy and not r.size_of and r.metric == metric]
            assert sum(r.n for r in rows) == len(told)
            assert sum(r.value for r in rows) == sum(map(counts, told))


def test_the_frame_of_facts_has_a_row_a_fact_and_strategy():
    frame = runs.whole().results.facts_frame()
    assert list(frame.columns[:6]) == ["session", "cut", "strategy", "budget", "verdict", "bound"]
    assert set(frame.verdict) <= set(VERDICTS)
    assert set(frame.verdict[frame.bound]) == {"kept"}
    assert frame.tenth.between(1, 10).all()
    assert (frame.age >= 0).all()
    assert set(frame.regain) == {"reobtainable", "irrecoverable"}
    assert frame.groupby("strategy").size().nunique() == 1


def test_what_a_strategy_lost_is_listed_with_those_first_that_nothing_brings_back():
    done = runs.command("report", runs.whole().results.folder, "--lost", "window", "--json")
    lost = json.loads(done.stdout)
    assert lost
    assert {fact["verdict"] for fact in lost} == {"lost"}
    assert [fact["regain"] for fact in lost] == sorted(fact["regain"] for fact in lost)
    text = runs.command("report", runs.whole().results.folder, "--lost", "sliding_window").stdout
    assert text.splitlines()[-1].startswith(f"sliding_window lost {len(lost)} of ")


def test_a_strategy_that_was_not_run_has_lost_nothing_to_tell():
    done = runs.command("report", runs.whole().results.folder, "--lost", "summary")
    assert (done.returncode, done.stdout) == (2, "")
    assert "of this run" in done.stderr


def test_the_families_are_columns_and_pool_to_the_headline():
    summary = runs.whole().summary
    section = families(summary)
    assert {"path", "number"} <= set(section.columns)
    assert [row[0] for row in section.rows] == [row.name for row in summary.rows]
    text = runs.command("report", runs.whole().results.folder, "--table", "families").stdout
    assert section.title in text
    assert section.legend[:60] in text


def test_a_credential_beside_a_fact_is_masked_where_the_fact_is_quoted():
    key = "sk-live_" + "9f8e7d6c5b4a3928" * 2
    told = agent(f"The relay listens on port 48213, its key is API_KEY={key} for now.")
    asked = agent(call("c", "bash", '{"command": "nc relay 48213"}'))
    talk = (user("Set it up."), told, *(agent(f"Step {n}.") for n in range(4)), user("Go on."), agent(), asked, agent())
    transcript = Transcript("masked", "compactlab", talk)
    found = [fate for share in (0.5, 0.7, 0.8) for fate in fates(transcript, share, ("none",))]
    assert any("48213" in fate.story.value for fate in found)
    assert all(key not in fate.story.home_text + fate.story.used_text for fate in found)
    assert any("API_KEY=***" in fate.story.home_text for fate in found)
