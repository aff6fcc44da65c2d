"""The line under every table and figure: what it names, for a run of each kind."""

import pools
import pytest
import runs
from msgspec.structs import replace

from compactlab.report import Report
from compactlab.signature import Counts, signature, signature_of

COUNTS = Counts(sessions=13, stories=9, facts=805)


def parts(manifest=pools.MANIFEST, counts=COUNTS, **changes):
    return signature_of(replace(manifest, **changes), counts).split(" · ")


def test_it_names_versions_corpus_counter_cuts_seed_and_how_much_there_was():
    assert parts() == [
        "compactlab 0.1.0",
        "scorer 1",
        "corpus 0123456789ab",
        "o200k_base (toktok-rs 0.3.0)",
        "cuts 0.4,0.7",
        "seed 7",
        "no model",
        "13 sessions",
        "9 stories",
        "805 facts",
    ]


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"mode": "replay", "cuts": ("window 64000",)}, "replayed, window 64000"),
        ({"mode": "recorded", "cuts": ()}, "cut where a harness compacted"),
        ({"cuts": ("window 200000",)}, "cuts window 200000"),
        ({"budgets": ("5", "10")}, "budgets 5,10 %"),
        ({"reader": "gpt-5-mini"}, "read by gpt-5-mini"),
        ({"judge": "claude-haiku"}, "judged by claude-haiku"),
        ({"replicates": 3}, "3 repetitions"),
    ],
)
def test_what_a_run_was_asked_for_is_named(changes, part):
    assert part in parts(**changes)
    assert part not in parts()
    assert ("no model" in parts(**changes)) == (not {"reader", "judge"} & changes.keys())


@pytest.mark.parametrize(
    ("mode", "part"), [("cuts", "52 cuts"), ("replay", "52 replays"), ("recorded", "52 recorded compactions")]
)
def test_what_was_counted_is_named_by_what_it_is(mode, part):
    assert part in parts(counts=COUNTS._replace(cases=52), mode=mode)


def test_facts_are_told_with_those_at_risk_and_further_parts_come_last():
    found = parts(counts=COUNTS._replace(at_risk=32_068, more=("tells 0.19 apart", "families path")))
    assert found[-3:] == ["805 facts needed of 32,068 at risk", "tells 0.19 apart", "families path"]


def test_who_wrote_is_named_and_code_that_writes_is_no_model():
    assert "text by gpt-5-mini" in parts(counts=COUNTS._replace(writers=("gpt-5-mini",)))
    [said] = [p for p in parts(counts=COUNTS._replace(writers=("extractive",))) if p.startswith("text by")]
    assert said == "text by extractive (written by code, no model)"


def test_the_line_of_a_run_counts_what_its_records_hold():
    summary = runs.whole().summary
    found = signature(summary).split(" · ")
    assert {"13 sessions", "9 stories", "52 cuts", f"tells {summary.detectable:.2f} apart"} <= set(found)
    assert f"{summary.needed} facts needed of {summary.at_risk:,} at risk" in found
    assert len(found) == len(set(found))


def test_every_table_of_a_report_carries_it():
    report = Report(runs.short().results)
    line = signature(report.summary)
    sections = report.tables()
    assert {section.signature for section in sections} == {line}
    assert report.markdown().count(f"`{line}`") == 1 + len(sections)
