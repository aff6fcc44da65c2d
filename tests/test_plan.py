"""Plans: what would happen to each message and why, before anything has; applying does just that."""

import json

import pytest
import runs
from histories import agent, messages, system, user
from hostile import hostile, of_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab import catalog
from compactlab.cli import main
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError, UnknownName
from compactlab.llm.extractive import Extractive
from compactlab.plan import plan
from compactlab.readers import read
from compactlab.tokens import Meter

GUARD = Guard(Meter("chars/4"), model=Extractive())
LINE = "some words that weigh something " * 10
TALK = (
    system(),
    user("Move the orders table."),
    *(m for i in range(20) for m in (agent(f"{i} {LINE}"), user(f"u{i}"))),
)
any_strategy = st.sampled_from(catalog.names("strategies")).flatmap(of_catalog)


@settings(max_examples=300)
@given(messages(max_events=20), any_strategy | hostile(), st.none() | st.integers(1, 3_000))
def test_applying_a_plan_gives_just_what_compacting_gives(given_messages, strategy, target):
    planned = plan(given_messages, strategy, target=target, guard=GUARD)
    done = compact(given_messages, strategy, target=target, guard=GUARD)
    assert planned.apply(given_messages) == done.messages
    assert planned.receipt == done.receipt
    assert planned.apply(list(given_messages)) == done.messages


@settings(max_examples=100)
@given(messages(min_events=2), any_strategy)
def test_planning_changes_nothing_and_a_plan_applies_again_and_again(given_messages, strategy):
    handed = list(given_messages)
    planned = plan(handed, strategy, guard=GUARD)
    assert all(after is before for after, before in zip(handed, given_messages, strict=True))
    assert planned.messages == given_messages
    assert planned.apply(given_messages) == planned.apply(given_messages)


OTHERS = [
    ("one more", (*TALK, user("and?"))),
    ("one less", TALK[:-1]),
    ("none", ()),
    ("another order", TALK[::-1]),
    ("other words", (*TALK[:-1], user("other"))),
    ("a pin more", (*TALK[:-1], replace(TALK[-1], pinned=True))),
    ("another source", (*TALK[:-1], replace(TALK[-1], source=99))),
]


@pytest.mark.parametrize("other", [c[1] for c in OTHERS], ids=[c[0] for c in OTHERS])
def test_a_plan_refuses_messages_that_it_was_not_made_for(other):
    planned = plan(TALK, "sliding_window", guard=GUARD)
    with pytest.raises(SpecError, match="was made for 42 other messages; make a new one"):
        planned.apply(other)


def test_a_plan_says_of_every_message_what_and_why():
    receipt = plan(TALK, "sliding_window(preserve_recent=4)", guard=GUARD).receipt
    assert [(c.position, c.action) for c in receipt.changes if c.position is not None] == [
        (i, "kept" if i < 2 or i >= 38 else "dropped") for i in range(42)
    ]
    assert all(c.why for c in receipt.changes)
    assert {c.why for c in receipt.changes if c.action == "dropped"} == {"by sliding_window(preserve_recent=4)"}
    assert [c.role for c in receipt.changes if c.action == "made"] == ["user"]


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [("defer", "deferred"), ("none", "skipped"), ("hostile:Hostile(ending='ValueError')", "failed")],
)
def test_a_plan_that_does_nothing_gives_the_very_messages_back(spec, outcome):
    planned = plan(TALK, spec, guard=GUARD)
    assert planned.receipt.outcome == outcome
    assert planned.apply(TALK) == TALK


def test_a_plan_of_an_unknown_strategy_is_an_error_at_once():
    with pytest.raises(UnknownName, match="did you mean 'cull'"):
        plan(TALK, "culll")


# ---- compact --dry-run

MOVE = runs.FIXTURES / "primary-move.jsonl"


def test_a_dry_run_writes_nothing_and_says_what_would_happen_to_each_message_and_why(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["compact", str(MOVE), "--strategy", "window", "--pin", "30"]
    files = ["-o", str(tmp_path / "out.jsonl"), "--receipt", str(tmp_path / "receipt.json")]
    assert main([*arguments, *files, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    assert main([*arguments, *files]) == 0
    assert said == "would be: " + capsys.readouterr().out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.jsonl", "receipt.json"]
    assert "sliding_window: applied" in said
    for line in ("kept     the anchor", "dropped  by sliding_window", "kept     pinned", "made     written by"):
        assert line in said


def test_the_lines_of_a_dry_run_name_every_message_once(capsys):
    assert main(["compact", str(MOVE), "--strategy", "microcompact", "--dry-run"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.split("\n") if line.startswith("  ") and "->" not in line]
    spans = [row[0].split("-") for row in rows if row[0] != "new"]
    named = [i for span in spans for i in range(int(span[0]), int(span[-1]) + 1)]
    [transcript] = read(MOVE)
    assert named == list(range(len(transcript.messages)))
    assert {row[1] for row in rows} == {"kept", "edited"}


def test_a_dry_run_as_json_is_the_receipt_that_the_real_one_writes(capsys, tmp_path):
    receipt = tmp_path / "receipt.json"
    arguments = ["compact", str(MOVE), "--strategy", "ladder", "--target", "6000", "--receipt", str(receipt)]
    assert main([*arguments, "--dry-run", "--json"]) == 0
    would_be = json.loads(capsys.readouterr().out)
    assert not receipt.exists()
    assert main(arguments) == 0
    assert would_be == json.loads(receipt.read_text(encoding="utf-8"))
    assert would_be["target"] == 6_000
    assert len([c for c in would_be["changes"] if c["position"] is not None]) == len(read(MOVE)[0].messages)


def test_what_is_written_is_what_the_plan_says(tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert main(["compact", str(MOVE), "--strategy", "summary", "-o", str(out)]) == 0
    capsys.readouterr()
    [before], [after] = read(MOVE), read(out)
    planned = plan(before.messages, "summary", guard=Guard(model=Extractive()))
    assert after.messages == planned.apply(before.messages)


@pytest.mark.parametrize("target", ["0", "-5"])
def test_a_target_is_above_zero(capsys, target):
    assert main(["compact", str(MOVE), "--strategy", "window", "--target", target, "--dry-run"]) == 2
    assert "expected a number of tokens above 0" in capsys.readouterr().err
