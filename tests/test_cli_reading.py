"""How commands read and write files: formats, agent types, limits, what `inspect` and `convert` say."""

import json

import pytest
import runs

from compactlab.readers import read, writable
from compactlab.tokens import Meter

CHAT = {
    "id": "chat-1",
    "messages": [
        {"role": "user", "content": "What is in a.txt?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "forty-two"},
    ],
    "response": {
        "choices": [{"message": {"role": "assistant", "content": "Forty-two."}}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 5},
    },
}


@pytest.fixture
def chat(tmp_path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    return file


def test_inspect_holds_our_weights_against_the_recorded_counts(said, chat):
    code, out, _ = said("inspect", chat)
    assert code == 0
    ours = Meter().messages(read(chat)[0].messages[:-1])
    assert f"recorded input of 1 responses: 40 tokens, by us {ours}; ours/recorded {ours / 40:.2f}" in out
    recorded = json.loads(said("inspect", chat, "--json")[1])[0]["recorded"]
    assert recorded == {"responses": 1, "ours": ours, "recorded": 40, "ratio": ours / 40}


def test_inspect_tells_what_was_not_understood_and_what_was_mended(said, tmp_path):
    lines = [json.dumps({"role": "user", "content": "Hi"}), '{"note": 1}', '{"role": "user", "content": "a', 'b"}']
    (tmp_path / "x.jsonl").write_text("\n".join([lines[0], *lines, lines[0]]) + "\n", encoding="utf-8")
    code, out, _ = said("inspect", tmp_path / "x.jsonl")
    assert code == 0
    assert "5 records read" in out
    assert "not understood: 1 line without messages" in out
    assert "mended: 1 record over several lines" in out


def test_inspect_gives_many_transcripts_one_row_each(said, tmp_path):
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(CHAT | {"id": f"chat-{n}"}) + "\n" for n in range(12)))
    code, out, _ = said("inspect", tmp_path / "many.jsonl")
    assert code == 0
    assert out.rstrip().endswith("12 transcripts")
    assert out.count("openai_chat") == 12
    assert f"{Meter().messages(read(tmp_path / 'many.jsonl')[0].messages[:-1]) / 40:.2f}" in out
    assert said("inspect", tmp_path / "many.jsonl", "--limit", 3)[1].count("openai_chat") == 3
    assert said("inspect", tmp_path / "many.jsonl", "--limit", 0)[0] == 2


def test_the_agent_type_is_given_by_option_or_by_the_settings(said, chat, tmp_path):
    settings = tmp_path / "compactlab.toml"
    settings.write_text('[agent_types]\n"chat*" = "subconscious"\n')
    assert "(openai_chat, subagent)" in said("inspect", chat)[1]
    assert "(openai_chat, subconscious)" in said("inspect", chat, "--settings", settings)[1]
    assert "(openai_chat, critic)" in said("inspect", chat, "--settings", settings, "--type", "critic")[1]
    run = ("run", runs.short_transcripts(), "--cut", "0.5", "--strategies", "none", "--jobs", 1, "--out")
    assert said(*run, tmp_path / "run", "--type", "critic", "--limit", 1)[0] == 0


@pytest.mark.parametrize("table", ['[agent_types]\n"a*" = 3\n', '[agent_types]\n"a*" = ""\n', "agent_types = 3\n"])
def test_a_bad_table_of_agent_types_is_an_error_with_its_line(said, chat, tmp_path, table):
    settings = tmp_path / "compactlab.toml"
    settings.write_text(table)
    code, _, err = said("inspect", chat, "--settings", settings)
    assert code == 2
    assert "compactlab.toml: line" in err


def test_compact_writes_the_format_that_it_read(said, chat, tmp_path):
    out = tmp_path / "out.json"
    assert said("compact", chat, "--strategy", "none", "-o", out)[0] == 0
    [written] = read(out)
    assert (written.format, written.messages) == ("openai_chat", read(chat)[0].messages)
    assert said("compact", chat, "--strategy", "none", "-o", out, "--to", "anthropic_messages")[0] == 0
    assert read(out)[0].format == "anthropic_messages"


def test_convert_writes_reads_back_and_says_that_nothing_was_lost(said, tmp_path):
    source = runs.short_transcripts() / "primary-move.jsonl"
    code, out, _ = said("convert", source, "--to", "openai_chat", "-o", tmp_path / "x.json")
    assert code == 0
    n = sum(len(message.blocks) for message in read(source)[0].messages)
    assert out.splitlines()[-1] == f"read back: all {n} blocks are equal"


def test_convert_says_what_the_other_format_cannot_hold(said, tmp_path):
    head = {"type": "session", "id": "x", "title": "", "agent_type": "primary", "tools": []}
    note = {"type": "message", "role": "user", "content": "A reminder.", "synthetic": True}
    (tmp_path / "x.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(note)}\n")
    code, out, _ = said("convert", tmp_path / "x.jsonl", "--to", "openai_chat", "-o", tmp_path / "y.json")
    assert code == 0
    assert out.splitlines()[-1] == (
        "read back: openai_chat cannot hold everything; of 1 blocks it lost the mark of synthetic text of 1"
    )


def test_convert_refuses_a_format_that_can_only_be_read(said, chat, tmp_path):
    code, _, err = said("convert", chat, "--to", "gemini_cli", "-o", tmp_path / "y.json")
    assert code == 2
    assert "can be read but not written; expected one of anthropic_messages" in err


@pytest.mark.parametrize("name", writable())
def test_every_format_that_can_be_written_takes_a_folder_of_sessions(said, tmp_path, name):
    code, out, err = said("convert", runs.short_transcripts(), "--to", name, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "read back: " in out
    texts = [[message.text for message in t.messages if message.text] for t in read(runs.short_transcripts())]
    assert [[m.text for m in t.messages if m.text] for t in read(tmp_path / "out", name)] == texts


def test_list_readers_tells_where_files_lie_and_what_can_be_written(said):
    rows = {row["name"]: row for row in json.loads(said("list", "readers", "--json")[1])}
    assert "~/.claude/projects" in rows["claude_code"]["where"]
    assert {name for name, row in rows.items() if row["written"]} == set(writable())
    assert all(row["what"] for row in rows.values())
