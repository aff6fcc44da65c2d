"""Rows of trajectory data sets, in JSON, JSON lines, parquet and Arrow."""

import json
import subprocess
import sys
from datetime import date

import pytest
from test_corpus import CORPUS

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff, stream
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult

NAME = "trajectory_rows"
CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
TEXTS = [
    {"role": "system", "content": "Solve tasks."},
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": "<function=bash>ls</function>"},
    {"role": "user", "content": "OBSERVATION:\na.py"},
]
TOOLS = [
    *TEXTS[:2],
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "a.py", "tool_call_id": "c1", "name": "bash"},
]
NEBIUS = [
    {"role": "system", "text": None, "system_prompt": "Solve tasks.", "mask": False, "cutoff_date": "01.01.2023"},
    {"role": "user", "text": "Fix it.", "system_prompt": None, "mask": False, "cutoff_date": None},
    {"role": "ai", "text": "ls", "system_prompt": None, "mask": True, "cutoff_date": None},
    {"role": "user", "text": "a.py", "system_prompt": None, "mask": False, "cutoff_date": None},
]


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def one(tmp_path, row):
    path = tmp_path / "data.json"
    path.write_text(json.dumps([row]))
    assert sniff(path) == NAME
    [transcript] = read(path)
    return transcript


@pytest.mark.parametrize("kept", [TEXTS, json.dumps(TEXTS)])
def test_messages_are_a_list_or_its_text_and_observations_synthetic(tmp_path, kept):
    row = {
        "messages": kept,
        "instance_id": "i-1",
        "resolved": True,
        "model": "claude",
        "traj_id": "t-1",
        "patch": "x" * 999,
    }
    found = one(tmp_path, row)
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "user"]
    assert [m.synthetic for m in found.messages] == [False, False, False, True]
    assert found.header == {"resolved": True, "model": "claude"}
    assert (found.id, found.agent_type) == ("data/t-1", "subagent")
    assert found.place(found.messages[3]).endswith("messages[3]")


def test_messages_in_the_form_of_swe_agent_have_lists_of_answered_calls(tmp_path):
    demo = {"role": "user", "content": "A demonstration.", "is_demo": True}
    answer = {"role": "tool", "content": [{"type": "text", "text": "a.py"}], "tool_call_ids": ["c1"]}
    found = one(tmp_path, {"messages": [demo, *TOOLS[1:3], answer], "instance_id": "i-1"})
    assert [m.text for m in found.messages if m.by_person] == ["Fix it."]
    assert found.messages[3].results == (ToolResult("c1", (Text("a.py"),)),)


@pytest.mark.parametrize("column", ["messages", "trajectory"])
def test_rows_with_tools_keep_calls_results_and_schemas(tmp_path, column):
    row = {"trajectory_id": "t-1", "instance_id": "i-1", column: TOOLS, "tools": json.dumps([{"type": "function"}])}
    found = one(tmp_path, row)
    assert found.messages[2].blocks == (ToolCall("c1", "bash", '{"command": "ls"}'),)
    assert found.messages[3].results[0].call_id == "c1"
    assert found.tools == ({"type": "function"},)


def test_turns_of_nebius_have_text_and_a_prompt_of_their_own(tmp_path):
    found = one(tmp_path, {"instance_id": "i-1", "model_name": "m", "target": False, "trajectory": NEBIUS})
    assert [(m.role, m.text, m.synthetic) for m in found.messages] == [
        ("system", "Solve tasks.", False),
        ("user", "Fix it.", False),
        ("assistant", "ls", False),
        ("user", "a.py", True),
    ]
    assert found.header == {"model_name": "m", "target": False}


def test_the_agent_data_protocol_is_actions_and_observations(tmp_path):
    content = [
        {"class_": "text_observation", "content": "Fix it.", "source": "user", "name": None},
        {
            "class_": "code_action",
            "language": "bash",
            "content": "ls",
            "description": "Look.",
            "reasoning_content": "Hm.",
        },
        {"class_": "text_observation", "content": "a.py", "source": "environment"},
        {"class_": "api_action", "function": "search", "kwargs": {"q": "x"}, "tool_call_id": "c7", "description": None},
        {"class_": "text_observation", "content": "found", "source": "environment", "tool_call_id": "c7"},
        {"class_": "api_action", "function": "goto", "kwargs": {}},
        {
            "class_": "web_observation",
            "url": "https://x",
            "axtree": "[1] link",
            "html": None,
            "image_observation": None,
        },
        {"class_": "image_observation", "content": "https://example.org/a.png", "source": "user"},
        {"class_": "message_action", "content": "Done.", "description": None},
        {"class_": "dream"},
    ]
    found = one(tmp_path, {"id": "adp-1", "schema_version": "1.2.0", "content": content, "available_apis": ["search"]})
    assert [
        m.role for m in found.messages
    ] == "user assistant tool assistant tool assistant tool user assistant".split()
    assert found.messages[1].blocks == (Reasoning("Hm."), Text("Look."), ToolCall("call_0", "bash", '{"code": "ls"}'))
    assert [r.call_id for m in found.messages for r in m.results] == ["call_0", "c7", "call_1"]
    assert found.messages[6].results[0].text == "https://x\n[1] link"
    assert isinstance(found.messages[7].blocks[0], Image)
    assert found.intake.unknown == {"dream": 1}
    assert found.tools == ("search",)


def test_words_of_an_environment_that_nothing_was_asked_of_are_synthetic_behind_the_task(tmp_path):
    told = [{"class_": "text_observation", "content": text, "source": "environment"} for text in ("Task.", "Note.")]
    found = one(tmp_path, {"id": "adp-1", "content": [*told, {"class_": "message_action", "content": "Yes."}]})
    assert [(m.role, m.synthetic) for m in found.messages[:2]] == [("user", False), ("user", True)]


def test_an_answer_of_toolbench_is_its_longest_list(tmp_path):
    said = {"role": "assistant", "content": "", "function_call": {"name": "search", "arguments": '{"q": 1}'}}
    full = [*TEXTS[:2], said, {"role": "function", "name": "search", "content": "found"}]
    answer = {"valid_data": True, "final_answer": "x", "finish_type": "give_answer", "query": "Fix it."}
    answer |= {"train_messages": [full[:3], full], "function": [{"name": "search"}], "chain": []}
    path = tmp_path / "10_DFS.json"
    path.write_text(json.dumps({"win": True, "tree": {}, "answer_generation": answer}))
    assert sniff(path) == NAME
    [found] = read(path)
    assert found.messages[2].calls == (ToolCall("call_0", "search", '{"q": 1}'),)
    assert found.messages[3].results[0].call_id == "call_0"
    assert found.place(found.messages[3]).endswith("answer_generation.train_messages[1][3]")
    assert found.tools == ({"name": "search"},)


def test_rows_of_one_instance_have_ids_of_their_own_and_share_a_cluster(tmp_path):
    rows = [{"instance_id": "i-1", "run_id": run, "messages": TEXTS} for run in ("a", "b", "b")]
    found = read(lines(tmp_path / "d.jsonl", rows))
    assert [t.id for t in found] == ["d/i-1-a", "d/i-1-b", "d/i-1-b-2"]
    assert {t.cluster for t in found} == {"d/i-1"}
    assert found[1].place(found[1].messages[0]).endswith("line 2: messages[0]")


def test_rows_without_a_trajectory_and_unknown_roles_are_counted(tmp_path):
    rows = [{"instance_id": "i-1", "messages": [*TEXTS, {"role": "ghost", "content": "x"}]}, {"a": 1}, 7, []]
    [found] = read(lines(tmp_path / "d.jsonl", rows), NAME)
    assert found.intake.unknown == {"role 'ghost'": 1, "row without a trajectory": 3}


def test_a_page_of_the_server_wraps_its_rows(tmp_path):
    rows = [{"row_idx": 0, "row": {"instance_id": "i-1", "messages": TEXTS}, "truncated_cells": []}]
    path = tmp_path / "page.json"
    path.write_text(json.dumps({"features": [], "rows": rows}))
    assert (sniff(path), len(read(path)[0].messages)) == (NAME, 4)


@pytest.mark.parametrize(
    ("value", "reader"),
    [
        ({"messages": TEXTS}, "openai_chat"),
        ({"messages": TEXTS, "id": "s-1"}, "openai_chat"),
        ({"messages": TEXTS, "instance_id": "i", "response": {"choices": []}}, "openai_chat"),
        (
            {"messages": TEXTS, "trajectory_format": "mini-swe-agent-1", "info": {}, "instance_id": "i"},
            "mini_swe_agent",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}], "run_id": "r"},
            "anthropic_messages",
        ),
    ],
)
def test_what_other_readers_know_is_theirs(tmp_path, value, reader):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert sniff(path) == reader


def table(rows):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.Table.from_pylist(rows)


def saved(path, rows):
    """Rows as parquet, as an Arrow file, and as the Arrow stream that `datasets` saves."""
    held = table(rows)
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(held, path, row_group_size=3)
        return path
    from pyarrow import ipc

    new = ipc.new_file if path.stem == "file" else ipc.new_stream
    with new(str(path), held.schema) as writer:
        writer.write_table(held, max_chunksize=3)
    return path


ROWS = [{"traj_id": f"t-{n}", "messages": TOOLS, "resolved": n % 2 == 0, "eval_logs": "x"} for n in range(40)]


@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_tables_are_read_without_the_nulls_that_they_put_in(tmp_path, name):
    path = saved(tmp_path / name, ROWS)
    assert sniff(path) == NAME
    found = read(path)
    assert [t.id for t in found] == [f"{path.stem}/t-{n}" for n in range(40)]
    assert found[7].messages[2].blocks == (ToolCall("c1", "bash", '{"command": "ls"}'),)
    assert found[7].messages[3].blocks == (ToolResult("c1", (Text("a.py"),)),)
    assert found[7].header == {"resolved": False}
    assert found[7].place(found[7].messages[3]).endswith("row 7: messages[3]")


def test_a_table_is_read_some_rows_at_a_time(tmp_path):
    rows = stream(saved(tmp_path / "a.parquet", ROWS), limit=2)
    assert [t.id for t in rows] == ["a/t-0", "a/t-1"]


def test_a_table_may_be_compressed_as_a_file(tmp_path):
    import gzip

    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress(saved(tmp_path / "a.parquet", ROWS[:2]).read_bytes()))
    assert [t.id for t in read(packed)] == ["a/t-0", "a/t-1"]


def test_columns_that_the_table_kept_by_field_and_plain_conversations_are_read(tmp_path):
    by_field = {"role": [m["role"] for m in TEXTS], "content": [m["content"] for m in TEXTS]}
    [found] = read(saved(tmp_path / "a.parquet", [{"instance_id": "i", "messages": by_field}]))
    assert [m.role for m in found.messages] == ["system", "user", "assistant", "user"]
    said = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    [found] = read(saved(tmp_path / "b.parquet", [{"id": "i", "conversations": said}]))
    assert [(m.role, m.text) for m in found.messages] == [("user", "Hi"), ("assistant", "Hello")]


def test_values_that_json_does_not_have_become_text(tmp_path):
    said = [{"role": "user", "content": b"\x89PNG"}]
    [found] = read(saved(tmp_path / "a.parquet", [{"instance_id": "i", "messages": said, "made": date(2025, 4, 30)}]))
    assert found.messages[0].text == "[4 bytes]"
    assert found.header == {"made": "2025-04-30"}


def test_a_table_of_other_things_is_nobodys(tmp_path):
    with pytest.raises(TranscriptError, match="no reader knows this file; it is a parquet file"):
        sniff(saved(tmp_path / "a.parquet", [{"price": 3}]))


@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_a_table_that_breaks_off_is_one_clean_error(tmp_path, name):
    path = saved(tmp_path / name, ROWS)
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(TranscriptError) as caught:
        read(path, NAME)
    assert "malformed" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_pyarrow_the_error_names_the_extra(tmp_path):
    path = saved(tmp_path / "a.parquet", ROWS[:1])
    code = "import sys; sys.modules['pyarrow'] = None; from compactlab.readers import read; read(sys.argv[1])"
    ended = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert "pip install 'compactlab[data]'" in ended.stderr.splitlines()[-1]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of transcripts here")
@pytest.mark.parametrize(
    ("path", "counts"),
    [("swe-agent/ft_xml_example.jsonl", [75, 89, 45]), ("hf-nebius-swe-agent/sample_raw.json", [13, 29, 11, 17, 33])],
)
def test_real_rows_are_read_whole(path, counts):
    found = read(CORPUS / path)
    assert [len(t.messages) for t in found] == counts
    assert all(sum(m.by_person for m in t.messages) == 1 for t in found)
    assert {t.format for t in found} == {NAME}
