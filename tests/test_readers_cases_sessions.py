"""What only some formats do: two channels, roles of their own, stores, many sessions a file, one session over files."""

import json
import sqlite3

import claude_code_records as claude
import codex_records as codex
import inspect_logs
import opencode_records as opencode
import pytest
from fuzz_bases import bases
from fuzz_records import SIMULATIONS, TAU2
from fuzz_sessions import AT, TRAJ
from stories import Call, Did, Got, Said
from story_compacted import COMPACTED
from story_forms import DATABASE, FORMS, LINES
from test_readers_cases_compactions import KEPT, write

from compactlab.readers import read
from compactlab.transcript import Text


def texts(messages):
    return [message.text or [result.text for result in message.results] for message in messages]


def test_case_16_what_codex_writes_to_both_channels_counts_once(tmp_path):
    told = [codex.meta(), codex.event("user_message", message="Go"), codex.user("Go"), codex.call("c1")]
    told += [
        codex.counted(100),
        codex.counted(100),
        codex.output("c1", "seen"),
        codex.event("agent_reasoning", text="Hm."),
    ]
    told += [codex.thought(), codex.event("agent_message", message="Done."), codex.agent("Done."), codex.counted(230)]
    [transcript] = read(write(tmp_path, {"rollout-1.jsonl": told}))
    assert texts(transcript.messages) == ["Go", [], ["seen"], "Done."]
    assert [usage.position for usage in transcript.usage] == [1, 3]


OLDER = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": '{"n": 1'}},
    {"role": "function", "name": "ls", "content": "one"},
    {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": '{"n": 2}'}},
    {"role": "function", "name": "ls", "content": "two"},
    {"role": "assistant", "content": "Done.", "function_call": None},
]
HOLDERS = {
    "list": lambda wires: wires,
    "body": lambda wires: {"messages": wires},
    "row": lambda wires: {"instance_id": "i1", "messages": wires},
    "text of a row": lambda wires: {"instance_id": "i1", "messages": json.dumps(wires)},
    "tau": lambda wires: [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": wires}],
    "request log": lambda wires: {
        "request": {"messages": wires[:-1]},
        "response": {"choices": [{"message": wires[-1]}]},
    },
    "toolbench": lambda wires: {"answer_generation": {"query": "?", "train_messages": [wires]}},
    "swe agent": lambda wires: {"trajectory": [], "info": {}, "history": [w | {"agent": "main"} for w in wires]},
    "mini": lambda wires: {"info": {}, "messages": wires, "trajectory_format": "mini-swe-agent-1.1"},
    "hermes": lambda wires: {"session_id": "s1", "platform": "cli", "messages": wires},
}


@pytest.mark.parametrize("name", HOLDERS)
def test_case_18_the_older_call_without_an_id_is_paired_in_order(tmp_path, name):
    [transcript] = read(write(tmp_path, {"x.json": json.dumps(HOLDERS[name](OLDER)).encode()}))
    calls = {call.id: call.arguments for message in transcript.messages for call in message.calls}
    results = {result.call_id: result.text for message in transcript.messages for result in message.results}
    assert list(calls.values()) == ['{"n": 1', '{"n": 2}']
    assert list(results.values()) == ["one", "two"]
    assert list(calls) == list(results)


def langchain(wires):
    return [{"type": {"user": "human", "assistant": "ai"}[w["role"]], "content": w["content"]} for w in wires]


DEVELOPER = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi."}]
DEVELOPED = HOLDERS | {
    "responses": lambda wires: [{"type": "message", **wire} for wire in wires],
    "telemetry": lambda wires: {
        "name": "chat m",
        "context": {"trace_id": "t", "span_id": "s"},
        "events": [],
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(wires)},
    },
    "langchain": lambda wires: {
        "values": {"messages": [{"type": "chat", **wires[0]}, *langchain(wires[1:])]},
        "next": [],
        "checkpoint": {"thread_id": "t"},
    },
    "sharegpt": lambda wires: [{"conversations": [{"from": w["role"], "value": w["content"]} for w in wires]}],
}


@pytest.mark.parametrize("name", DEVELOPED)
def test_case_19_a_developer_speaks_as_the_system(tmp_path, name):
    told = [*DEVELOPER, {"role": "assistant", "content": "Yes."}]
    [transcript] = read(write(tmp_path, {"x.json": json.dumps(DEVELOPED[name](told)).encode()}))
    assert [(m.role, m.text) for m in transcript.messages][:2] == [("system", "Be brief."), ("user", "Hi.")]


def test_case_19_a_developer_of_codex_speaks_as_the_system(tmp_path):
    told = [codex.meta(), codex.said("developer", "Be brief."), codex.user("Hi."), codex.agent("Yes.")]
    [transcript] = read(write(tmp_path, {"rollout-1.jsonl": told}))
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant"]


def test_case_20_what_the_customer_did_with_own_tools_the_agent_never_saw(tmp_path):
    [transcript] = read(write(tmp_path, {"x.json": json.dumps(SIMULATIONS).encode()}))
    assert [call.id for message in transcript.messages for call in message.calls] == ["c1"]
    assert [result.call_id for message in transcript.messages for result in message.results] == ["c1"]
    assert sum(transcript.intake.skipped.values()) == 2
    assert transcript.intake.records == len(TAU2)


@pytest.mark.parametrize("zstd", [False, True], ids=["deflate", "zstd"])
def test_case_21_an_archive_without_a_header_is_read_and_attachments_are_put_in_their_place(tmp_path, zstd):
    long = "Find the flag in the long text. " * 9
    wires = [inspect_logs.asked("attachment://a1"), inspect_logs.said("I look at attachment://a1", "c1")]
    wires += [inspect_logs.heard("c1", [{"type": "image", "image": "attachment://a2"}])]
    held = inspect_logs.sample(wires, attachments={"a1": long, "a2": inspect_logs.DATA_URL})
    members = {"_journal/start.json": {"version": 2, "eval": inspect_logs.SPEC}, "samples/15_epoch_1.json": held}
    [transcript] = read(inspect_logs.archive(tmp_path / "x.eval", members, zstd=zstd))
    assert transcript.messages[0].blocks == (Text(long),)
    assert transcript.messages[2].results[0].content[0].data == inspect_logs.PNG
    assert "attachment://" not in repr(transcript.messages[::2])


def test_case_22_a_list_that_replaces_all_and_a_rewind_are_followed_in_one_file(tmp_path):
    [plain] = read(write(tmp_path / "a", COMPACTED["gemini"]()))
    records = COMPACTED["gemini"]()["session-1.jsonl"]
    wrong = {"id": "u9", "timestamp": AT, "type": "user", "content": "Wrong"}
    more = b"".join(json.dumps(record).encode() + b"\n" for record in (wrong, {"$rewindTo": "u9"}))
    [rewound] = read(write(tmp_path / "b", {"session-1.jsonl": records + more}))
    assert rewound.messages == plain.messages
    assert rewound.compactions == plain.compactions
    assert rewound.intake.skipped["message of another branch"] == 1


def test_case_23_a_database_of_opencode_has_json_in_a_column_a_reverted_tail_and_cleared_outputs(tmp_path):
    told = [
        opencode.user(1, "Look."),
        opencode.agent(2, opencode.cleared("c1", "a long output", at=3)),
        opencode.user(3, "On."),
        opencode.agent(4, "Done."),
        opencode.user(5, "Wrong."),
        opencode.agent(6, "Bad."),
    ]
    info = opencode.session(revert={"messageID": "msg_005"})
    [transcript] = read(opencode.database(tmp_path / "opencode.db", [(info, told)]))
    assert texts(transcript.messages) == ["Look.", [], ["a long output"], "On.", "Done."]
    assert transcript.intake.skipped["message of another branch"] == 2
    assert ["a long output"] not in texts(transcript.view(5))
    assert [bool(message.results) for message in transcript.view(5)].count(True) == 1


def test_case_24_what_pi_kept_is_the_same_by_index_and_by_id(tmp_path):
    [by_index] = read(write(tmp_path / "a", {"s.jsonl": KEPT["pi by index"]()}))
    [by_id] = read(write(tmp_path / "b", {"s.jsonl": KEPT["pi by id"]()}))
    assert by_index.messages == by_id.messages
    assert by_index.view(4) == by_id.view(4)
    assert by_index.compactions[0].after[1:] == (2,)


def test_case_25_entries_of_one_id_are_one_message(tmp_path):
    call = {"name": "f", "arguments": "{}", "tool_call_id": "c1"}
    told = [("m1", "user_message", {"content": "Look."}), ("m2", "reasoning_message", {"reasoning": "Hm."})]
    told += [("m2", "assistant_message", {"content": "Now."}), ("m2", "tool_call_message", {"tool_call": call})]
    told += [("m3", "tool_return_message", {"tool_return": "x", "status": "success", "tool_call_id": "c1"})]
    entries = [{"id": name, "date": AT, "message_type": kind, "otid": kind} | more for name, kind, more in told]
    [transcript] = read(write(tmp_path, {"x.json": json.dumps(entries).encode()}))
    assert [(message.role, len(message.blocks)) for message in transcript.messages] == [
        ("user", 1),
        ("assistant", 3),
        ("tool", 1),
    ]


@pytest.mark.parametrize("name", [name for name, form in FORMS.items() if form.kind == DATABASE])
def test_case_26_columns_and_tables_that_nobody_knows_change_nothing(tmp_path, name):
    turns = (Said("user", "Look."), Did((Call("c1"),)), Got("c1", "seen"), Said("assistant", "Done."))
    path = write(tmp_path, {"x.db": FORMS[name].file(turns)})
    [before] = read(path)
    base = sqlite3.connect(path)
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        base.execute(f'ALTER TABLE "{table}" ADD COLUMN future TEXT DEFAULT \'{{"role": "user"}}\'')
    base.execute("CREATE TABLE later (id, data)")
    base.commit()
    base.close()
    assert read(path) == [before]


SEVERAL = {
    name: FORMS[name]
    for name in ("own", "openai lines", "anthropic lines", "rows", "rows of trajectories", "openhands rows", "sharegpt")
}
LISTED = {
    "tau": lambda one, two: [*one, *two],
    "tau2": lambda one, two: one | {"simulations": [*one["simulations"], *two["simulations"]]},
    "inspect": lambda one, two: one | {"samples": [*one["samples"], {**two["samples"][0], "epoch": 2}]},
    "letta": lambda one, two: one | {"agents": [*one["agents"], {**two["agents"][0], "id": "agent-1"}]},
    "memorybank": lambda one, two: one | {"Bo": two["Ada"]},
    "who and when": lambda one, two: [one, two],
    "openai body": lambda one, two: [one, two],
    "atif": lambda one, two: [one, two | {"session_id": "s2"}],
    "opencode export": lambda one, two: [one, two],
}


def _two(name):
    """Two stories in one file of the form of that name."""
    acted = [Did((Call("c1"),)), Got("c1", "seen")] if "calls" in FORMS[name].holds else []
    stories = [(Said("user", f"Look at {which}."), *acted, Said("assistant", f"Done {which}.")) for which in "AB"]
    one, two = (FORMS[name].file(story) for story in stories)
    if FORMS[name].kind == LINES:
        return one + two
    return json.dumps(LISTED[name](json.loads(one), json.loads(two))).encode()


@pytest.mark.parametrize("name", [*SEVERAL, *[name for name in LISTED if name != "opencode export"]])
def test_case_27_each_session_of_a_file_is_given_with_an_id_of_its_own(tmp_path, name):
    found = read(write(tmp_path, {"x.json": _two(name)}))
    said = [[text for text in texts(transcript.messages) if isinstance(text, str)] for transcript in found]
    assert [[text for text in told if text] for told in said] == [
        ["Look at A.", "Done A."],
        ["Look at B.", "Done B."],
    ]
    assert len({transcript.id for transcript in found}) == 2
    assert all(place.startswith(str(tmp_path)) for t in found for place in map(t.place, t.messages))


@pytest.mark.parametrize("name", [name for name, base in bases().items() if len(base.files) > 1])
def test_case_28_a_session_over_several_files_is_given_once_by_its_folder(tmp_path, name):
    path = write(tmp_path, bases()[name].files)
    assert [t.messages for t in read(tmp_path)] == [t.messages for t in read(path)]


def test_case_28_agents_in_files_of_their_own_share_the_cluster_of_their_session(tmp_path):
    own = [claude.user("x1", None, "Task", isSidechain=True, agentId="a1")]
    own += [claude.agent("x2", "x1", "m9", claude.text("Found."), isSidechain=True, agentId="a1")]
    told = [claude.user("u1", None, "Go"), claude.agent("a1", "u1", "m1", claude.text("Done."))]
    name = claude.SESSION
    write(tmp_path, {f"{name}.jsonl": told, f"{name}/subagents/agent-a1.jsonl": own})
    main, agent = sorted(read(tmp_path), key=lambda transcript: transcript.agent_type)
    assert (main.agent_type, agent.agent_type) == ("primary", "subagent")
    assert main.cluster == agent.cluster
    assert texts(agent.messages) == ["Task", "Found."]


def test_case_29_the_history_is_read_and_no_prompt_again_and_a_demonstration_is_nobodys_word(tmp_path):
    [transcript] = read(write(tmp_path, {"x.traj": json.dumps(TRAJ).encode()}))
    assert len(transcript.messages) == len(TRAJ["history"])
    assert [m.text for m in transcript.messages if m.by_person] == ["Move the table to port 5433."]
    assert [m.synthetic for m in transcript.messages if m.text == "A demonstration."] == [True]


def test_case_30_what_an_exit_says_is_no_message(tmp_path):
    base = bases()["mini swe agent"]
    [transcript] = read(write(tmp_path, base.files))
    assert [message.role for message in transcript.messages] == ["system", "user", "assistant", "tool"]
    assert "diff" not in repr(transcript.messages)
    assert transcript.header["exit_status"] == "Submitted"
