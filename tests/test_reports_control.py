"""What users asked for, as cases: a word for one pass on what matters, a tool's own word on what it gave back."""

import json

import pytest
from conversations import memory, talk
from reports import METER, row, sketch

from compactlab.cli import main
from compactlab.compaction import Guard, compact
from compactlab.llm.prompts import DEFAULT
from compactlab.llm.scripted import Scripted
from compactlab.markers import CLEARED
from compactlab.memory.tools import dispatch, schemas
from compactlab.pins import pinned
from compactlab.readers import read, write
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript

FOCUS = "keep the ports, drop the talk about CSS"
KEY = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
SUMMARY = "<summary>" + "\n".join(f"{n}. Part {n}\nnone" for n in range(1, 10)) + "</summary>"


def asked(strategy, focus):
    """Compact a long talk by a strategy that asks a model; give what the model was sent, and the pass."""
    model = Scripted([SUMMARY] * 4)
    guard = Guard(METER, model=model, prompts=DEFAULT.focused(focus))
    return model.requests, compact(talk(40), strategy, guard=guard)


@row("K33-D3")
@pytest.mark.parametrize("strategy", ["summary", "sliding_reflect"])
def test_a_focus_reaches_the_model_and_the_receipt_and_is_no_message(strategy):
    requests, done = asked(strategy, FOCUS)
    assert requests
    assert all(FOCUS in request.prompt for request in requests)
    assert f"focus: {FOCUS}" in done.receipt.notes
    assert not any(FOCUS in message.text for message in done.messages)
    assert not any(FOCUS in message.text for request in requests for message in request.material)


def test_a_focus_goes_without_its_secrets_and_changes_the_version_of_the_prompts():
    requests, done = asked("summary", f"never lose {KEY}")
    assert all(KEY not in request.prompt for request in requests)
    assert KEY not in str(done.receipt)
    assert DEFAULT.focused("").version == DEFAULT.version != DEFAULT.focused(FOCUS).version


def test_a_strategy_that_asks_no_model_says_that_a_focus_plays_no_part():
    done = compact(talk(40), "sliding_window", guard=Guard(METER, prompts=DEFAULT.focused(FOCUS)))
    assert done.receipt.notes[-1] == f"focus: {FOCUS} (no model is asked: it plays no part)"
    plain = compact(talk(40), "sliding_window", guard=Guard(METER))
    assert (done.messages, plain.receipt.notes) == (plain.messages, done.receipt.notes[:-1])


def test_a_focus_is_in_the_journal_of_a_memory(tmp_path):
    there = memory(tmp_path)
    there.append(talk(200))
    done = there.compact("summary", focus=FOCUS)
    assert done.is_applied
    assert f"focus: {FOCUS}" in (tmp_path / done.path).read_text(encoding="utf-8")


def test_an_agent_may_say_what_matters(tmp_path):
    there = memory(tmp_path)
    there.append(talk(40))
    tool = next(one for one in schemas("anthropic") if one["name"] == "memory_compact")
    assert "focus" in tool["input_schema"]["properties"]
    assert f"focus: {FOCUS}" in dispatch(
        "memory_compact", {"strategy": "summary", "focus": FOCUS, "dry_run": True}, there
    )


def test_the_command_takes_a_focus(tmp_path, capsys):
    write(Transcript("long", "", tuple(talk(40))), tmp_path / "long.jsonl")
    assert main(["compact", str(tmp_path / "long.jsonl"), "--strategy", "summary", "--focus", FOCUS, "--json"]) == 0
    assert f"focus: {FOCUS}" in json.loads(capsys.readouterr().out)["notes"]


def marked(error=False):
    """Two searches, of which the tool said that the newest is worth nothing, and a last word of the agent."""
    words = [f"{name} " * 300 for name in ("found", "nothing")]
    return (
        Message("user", (Text("Look for it."),)),
        Message("assistant", (ToolCall("c1", "search", "{}"),)),
        Message("tool", (ToolResult("c1", (Text(words[0]),)),)),
        Message("assistant", (ToolCall("c2", "search", "{}"),)),
        Message("tool", (ToolResult("c2", (Text(words[1]),), is_error=error, useless=True),)),
        Message("assistant", (Text("I have it."),)),
    )


def cleared(messages):
    done = compact(messages, "microcompact", guard=Guard(METER))
    return [result.call_id for message in done.messages for result in message.results if result.text == CLEARED]


@row("K33-D7")
def test_a_result_that_its_tool_calls_useless_goes_at_once_whatever_its_age_and_tool():
    assert cleared(marked()) == ["c2"]


def test_the_word_of_a_tool_overrides_no_error_and_no_pin():
    assert cleared(marked(error=True)) == []
    assert cleared(pinned(marked(), ("index:4",))) == []
    assert cleared(marked()[:-1]) == []  # the agent has not seen it yet


def test_useless_results_take_no_place_of_those_that_stay():
    plain = sketch("U A[read:c1] T[c1]~400 A[read:c2] T[c2]~400 A'done'")
    done = compact((*plain[:3], *marked()[3:5], *plain[3:]), "microcompact(keep_recent=2)", guard=Guard(METER))
    assert [r.text == CLEARED for m in done.messages for r in m.results] == [False, True, False]


def test_the_word_of_a_tool_is_written_and_read(tmp_path):
    transcript = Transcript("s", "", marked())
    write(transcript, tmp_path / "s.jsonl")
    (found,) = read(tmp_path / "s.jsonl")
    assert [result.useless for message in found.messages for result in message.results] == [False, True]
    assert (tmp_path / "s.jsonl").read_text(encoding="utf-8").count("useless") == 1
