"""Letta agent files of both versions: parts, events, results, and what is in context."""

import json
import os
from pathlib import Path

import pytest
import runs

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS", runs.CHECKOUT.parent / "shared" / "transcripts"))
REAL = CORPUS / "letta" / "lettabot-builder.af"
HIDDEN = (
    "Note: prior messages have been hidden from view due to conversation memory constraints.\n"
    "The following is a summary of the previous messages:\n "
)


def stored(number, role, *content, **more):
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    time = f"2026-02-12T10:00:{number:02}+00:00"
    return {"type": "message", "id": f"message-{number}", "role": role, "content": parts, "created_at": time} | more


def packed(kind, message=None, **more):
    return json.dumps({"type": kind, "message": message, "time": "2026-02-12 10:00:00 AM UTC+0000"} | more)


CALL = {"id": "c1", "type": "function", "function": {"name": "send_message", "arguments": '{"message":  "Hi"}'}}
OK = '{\n  "status": "OK",\n  "message": "None",\n  "time": "t"\n}'
SYSTEM = stored(0, "system", "You are Sam.")


def agent(messages, **more):
    told = {"name": "sam", "agent_type": "letta_v1_agent", "llm_config": {"handle": "m", "context_window": 9}}
    return told | {"messages": messages, "in_context_message_ids": [m["id"] for m in messages]} | more


def written(tmp_path, *agents, **more):
    path = tmp_path / "sam.af"
    path.write_text(json.dumps({"agents": list(agents), "groups": [], "blocks": [], "tools": [], **more}))
    assert sniff(path) == "letta"
    return read(path)


def test_the_parts_of_a_response_are_one_message_in_their_order(tmp_path):
    content = [
        {"type": "reasoning", "reasoning": "Hm.", "is_native": True, "signature": "s"},
        {"type": "redacted_reasoning", "data": "xyz"},
        {"type": "summarized_reasoning", "summary": [{"index": 0, "text": "So."}], "encrypted_content": "abc"},
        {"type": "omitted_reasoning", "signature": None},
        "Now.",
        {"type": "tool_call", "id": "c0", "name": "look", "input": {"a": 1}},
    ]
    calls = [CALL, {"id": "c0", "function": {"name": "look", "arguments": "{}"}}]
    [found] = written(tmp_path, agent([SYSTEM, stored(1, "assistant", *content, tool_calls=calls)]))
    assert found.messages[1].blocks == (
        Reasoning("Hm.", signature="s"),
        Reasoning(opaque="xyz"),
        Reasoning("So.", opaque="abc"),
        Text("Now."),
        ToolCall("c0", "look", '{"a": 1}'),
        ToolCall("c1", "send_message", '{"message":  "Hi"}'),
    )
    assert found.intake.skipped == {"reasoning that was left out": 1}
    assert found.messages[1].timestamp == "2026-02-12T10:00:01+00:00"


@pytest.mark.parametrize(
    ("text", "seen", "synthetic"),
    [
        (packed("user_message", "Hi, I am Zoë."), "Hi, I am Zoë.", False),
        (packed("user_message", "Hi.", location="Paris"), packed("user_message", "Hi.", location="Paris"), False),
        (packed("heartbeat"), packed("heartbeat"), True),
        (packed("login", last_login="Never"), packed("login", last_login="Never"), True),
        (packed("system_alert", "The tool is gone."), packed("system_alert", "The tool is gone."), True),
        ("Plain words.", "Plain words.", False),
        ('{"type": "mine", broken', '{"type": "mine", broken', False),
        ("<system-reminder>x</system-reminder>", "<system-reminder>x</system-reminder>", True),
    ],
)
def test_a_persons_words_come_out_of_their_wrapping_and_events_stay_as_sent(tmp_path, text, seen, synthetic):
    [found] = written(tmp_path, agent([SYSTEM, stored(1, "user", text)]))
    assert [(m.text, m.synthetic) for m in found.messages[1:]] == [(seen, synthetic)]


def test_a_message_of_reminders_and_words_is_parted(tmp_path):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhAQABAAAAACw="}}
    [found] = written(
        tmp_path, agent([SYSTEM, stored(1, "user", "<system-reminder>x</system-reminder>", "Hi.", picture)])
    )
    assert [(m.synthetic, len(m.blocks), m.source) for m in found.messages[1:]] == [(True, 1, 1), (False, 2, 1)]
    assert isinstance(found.messages[2].blocks[1], Image)


@pytest.mark.parametrize(
    ("record", "results"),
    [
        (stored(1, "tool", OK, tool_call_id="c1"), [ToolResult("c1", (Text(OK),))]),
        (
            stored(1, "tool", OK.replace("OK", "Failed"), tool_call_id="c1"),
            [ToolResult("c1", (Text(OK.replace("OK", "Failed")),), is_error=True)],
        ),
        (
            stored(
                1,
                "tool",
                "x",
                tool_call_id="c1",
                tool_returns=[{"tool_call_id": "c1", "status": "error", "func_response": "y"}],
            ),
            [ToolResult("c1", (Text("x"),), is_error=True)],
        ),
        (
            stored(1, "tool", tool_returns=[{"tool_call_id": "c1", "status": "success", "func_response": "y"}]),
            [ToolResult("c1", (Text("y"),))],
        ),
        (
            stored(
                1, "tool", tool_returns=[{"tool_call_id": n, "status": "success", "func_response": n} for n in "ab"]
            ),
            [ToolResult("a", (Text("a"),)), ToolResult("b", (Text("b"),))],
        ),
        (
            stored(1, "tool", {"type": "tool_return", "tool_call_id": "c1", "content": "x", "is_error": True}),
            [ToolResult("c1", (Text("x"),), is_error=True)],
        ),
    ],
)
def test_results_stay_as_the_model_saw_them(tmp_path, record, results):
    [found] = written(tmp_path, agent([SYSTEM, record]))
    assert [m.role for m in found.messages] == ["system", "tool"]
    assert list(found.messages[1].results) == results


def test_approvals_are_calls_and_results_or_nothing_that_was_sent(tmp_path):
    asked = stored(1, "approval", tool_calls=[CALL])
    given = stored(2, "approval", approve=True, approvals=[{"type": "approval", "approve": True, "tool_call_id": "c1"}])
    ran = stored(
        3, "approval", approvals=[{"type": "tool", "tool_call_id": "c2", "tool_return": "x", "status": "success"}]
    )
    [found] = written(tmp_path, agent([SYSTEM, asked, given, ran, stored(4, "robot", "?")]))
    assert [m.role for m in found.messages] == ["system", "assistant", "tool"]
    assert found.messages[2].results == (ToolResult("c2", (Text("x"),)),)
    assert found.intake.skipped == {"approval": 1}
    assert found.intake.unknown == {"message of role robot": 1}


def test_results_that_a_tool_message_repeats_stand_once(tmp_path):
    ran = stored(
        1, "approval", approvals=[{"type": "tool", "tool_call_id": "c2", "tool_return": "x", "status": "success"}]
    )
    told = stored(2, "tool", tool_returns=[{"tool_call_id": "c2", "status": "success", "func_response": "x"}])
    [found] = written(tmp_path, agent([SYSTEM, ran, told]))
    assert [m.role for m in found.messages] == ["system", "tool"]


def test_sleeptime_agents_are_subconscious_and_in_the_cluster_of_their_leader(tmp_path):
    quiet = agent([stored(1, "user", "Review it.")], id="agent-1", agent_type="sleeptime_agent")
    group = {"agent_ids": ["agent-1"], "manager_config": {"manager_type": "sleeptime", "manager_agent_id": "agent-0"}}
    main, side = written(tmp_path, agent([SYSTEM, stored(2, "user", "Hi.")], id="agent-0"), quiet, groups=[group])
    assert (side.agent_type, side.messages[0].synthetic) == ("subconscious", True)
    assert main.cluster == side.cluster == main.id == "sam/agent-0"


def test_tools_are_those_of_the_agent(tmp_path):
    tools = [{"id": f"tool-{n}", "json_schema": {"name": f"t{n}"}} for n in range(2)]
    [found] = written(tmp_path, agent([SYSTEM], tool_ids=["tool-1"]), tools=tools)
    assert found.tools == ({"name": "t1"},)
    assert found.header == {"model": "m", "agent_type": "letta_v1_agent", "context_window": 9}


def alert(number, **stats):
    return stored(number, "user", packed("system_alert", f"{HIDDEN}They met.", compaction_stats=stats))


@pytest.mark.parametrize("role", ["user", "summary"])
def test_a_summary_in_front_of_older_messages_is_a_compaction_behind_them(tmp_path, role):
    summary = alert(7, trigger="post_step", context_tokens_before=90, context_tokens_after=9) | {"role": role}
    kept = [stored(5, "user", "Five."), stored(6, "assistant", "Six.")]
    [found] = written(tmp_path, agent([SYSTEM, summary, *kept, stored(8, "user", "Eight.")]))
    [compaction] = found.compactions
    assert [m.text for m in found.messages] == ["You are Sam.", "Five.", "Six.", "Eight."]
    assert (compaction.position, compaction.trigger, compaction.summary) == (3, "post_step", "They met.")
    assert (compaction.tokens_before, compaction.tokens_after) == (90, 9)
    assert [e if isinstance(e, int) else e.role for e in compaction.after] == [0, "user", 1, 2]
    assert [m.text for m in found.view(4)][2:] == ["Five.", "Six.", "Eight."]


def test_of_an_archive_the_ids_tell_what_stayed_in_context(tmp_path):
    listed = [SYSTEM, *(stored(n, "user", f"{n}.") for n in range(1, 5)), alert(5), stored(6, "user", "6.")]
    names = ["message-0", "message-5", "message-4", "message-6"]
    [found] = written(tmp_path, agent(listed, in_context_message_ids=names))
    [compaction] = found.compactions
    assert compaction.position == 5
    assert [e if isinstance(e, int) else "made" for e in compaction.after] == [0, "made", 4]
    assert [m.text for m in found.view(6)][2:] == ["4.", "6."]


def test_two_summaries_are_two_compactions(tmp_path):
    listed = [SYSTEM, stored(1, "user", "1."), alert(2), stored(3, "user", "3."), alert(4), stored(5, "user", "5.")]
    [found] = written(tmp_path, agent(listed, in_context_message_ids=["message-0", "message-4", "message-5"]))
    assert [c.position for c in found.compactions] == [2, 3]
    assert [len(c.after) for c in found.compactions] == [2, 2]


def test_messages_that_are_hidden_without_a_summary_are_a_compaction_at_the_end(tmp_path):
    listed = [SYSTEM, stored(1, "user", "1."), stored(2, "user", "2.")]
    [found] = written(tmp_path, agent(listed, in_context_message_ids=["message-0", "message-2"]))
    assert [(c.position, c.after, c.summary) for c in found.compactions] == [(3, (0, 2), "")]


def test_the_first_version_holds_one_agent_and_names_places(tmp_path):
    boot = "Bootup sequence complete. Persona activated. Testing messaging functionality."
    path = tmp_path / "sam.af"
    listed = [SYSTEM, stored(1, "assistant", boot, tool_calls=[CALL]), alert(2), stored(3, "user", "3.")]
    told = {"agent_type": "memgpt_agent", "version": "0.6", "name": "sam", "in_context_message_indices": [0, 2, 3]}
    path.write_text(json.dumps({**told, "messages": listed, "tools": [{"name": "t", "json_schema": {"name": "t"}}]}))
    assert sniff(path) == "letta"
    [found] = read(path)
    assert [m.synthetic for m in found.messages] == [False, True, False]
    assert [(c.position, len(c.after)) for c in found.compactions] == [(2, 2)]
    assert (found.id, found.tools, found.header["version"]) == ("sam", ({"name": "t"},), "0.6")
    assert found.place(found.messages[2]).endswith("sam.af: messages[3]")


@pytest.mark.skipif(not REAL.exists(), reason="no COMPACTLAB_CORPUS and no folder of transcripts here")
def test_the_tail_that_a_real_server_kept_is_as_long_as_it_says():
    main, side = read(REAL)
    given = json.loads(REAL.read_text())["agents"][1]["messages"][1]["content"][0]["text"]
    stats = json.loads(given)["compaction_stats"]
    assert len(side.after(0)) == stats["messages_count_after"]
    assert (side.compactions[0].tokens_before, side.agent_type) == (stats["context_tokens_before"], "subconscious")
    assert [m.by_person for m in main.messages] == [False, False, True, False]
