"""What oh-my-pi adds to the files of pi: its own entries, roles and marks."""

import pytest
from test_readers_pi import HEADER, WRAPPED, call, entry, one, said, shown, tree, write

from compactlab.errors import TranscriptError
from compactlab.readers import sniff
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall

TITLE = {"type": "title", "v": 1, "title": "Tides", "source": "auto", "updatedAt": "2026-01-01T00:00:00Z", "pad": "  "}
BOOKKEEPING = [
    {"type": "model_change", "model": "p/m1", "role": "default"},
    {"type": "service_tier_change", "serviceTier": None},
    {"type": "mode_change", "mode": "plan"},
    {"type": "model_usage", "purpose": "title", "model": "m0", "usage": {"input": 3, "output": 1}},
    {"type": "credential_pin", "provider": "p", "hash": "00"},
    {"type": "ttsr_injection", "injectedRules": ["r"]},
    {"type": "mcp_tool_selection", "selectedToolNames": []},
    {"type": "archive", "targetId": "e0", "archived": True},
]


def test_a_file_that_starts_with_the_slot_of_its_title_is_recognised_and_named_by_it(tmp_path):
    records = [TITLE, *tree(*BOOKKEEPING, entry("user", "When is high water?"), said("At six."))]
    transcript = one(tmp_path, records)
    assert transcript.title == "Tides"
    assert shown(transcript.messages) == [("user", "When is high water?"), ("assistant", "At six.")]
    assert [usage.position for usage in transcript.usage] == []
    assert transcript.intake.unknown == {}
    assert sum(transcript.intake.skipped.values()) == len(BOOKKEEPING) + 2


@pytest.mark.parametrize(
    ("header", "entries", "title"),
    [
        ({"title": "First"}, [], "First"),
        ({"title": "First"}, [{"type": "title_change", "title": "Then", "source": "user"}], "Then"),
    ],
)
def test_the_title_stands_in_the_header_and_in_each_change_of_it(tmp_path, header, entries, title):
    transcript = one(tmp_path, tree(entry("user", "Hi"), *entries, said("Hello."), header=HEADER | header))
    assert transcript.title == title


def test_an_agent_that_another_one_started_has_its_system_prompt_and_tools(tmp_path):
    init = {"type": "session_init", "systemPrompt": ["You scout.", "Be short."], "task": "Look", "tools": ["read"]}
    transcript = one(tmp_path, tree(init, entry("user", "Look"), said("Seen.")))
    assert transcript.messages[0].role == "system"
    assert transcript.messages[0].blocks == (Text("You scout."), Text("Be short."))
    assert (transcript.agent_type, transcript.tools) == ("subagent", ("read",))


def test_a_system_prompt_in_one_text_stays_in_front_when_the_rest_is_compacted(tmp_path):
    init = {"type": "session_init", "systemPrompt": "You scout.", "tools": ["read"]}
    compaction = {"type": "compaction", "summary": "Seen.", "firstKeptEntryId": "e2", "tokensBefore": 900}
    more = {"tokensAfter": 70, "fromExtension": True, "method": "soft"}
    transcript = one(tmp_path, tree(init, entry("user", "Look"), said("Seen."), compaction | more, entry("user", "On")))
    [found] = transcript.compactions
    assert (found.position, found.trigger, found.tokens_before, found.tokens_after) == (3, "hook", 900, 70)
    assert [e if isinstance(e, int) else e.text for e in found.after] == [0, WRAPPED.format("Seen."), 2]


def test_a_reset_leaves_an_empty_context_and_the_whole_story(tmp_path):
    records = tree(entry("user", "One"), said("1"), {"type": "reset_boundary"}, entry("user", "Two"), said("2"))
    transcript = one(tmp_path, records)
    assert [message.text for message in transcript.messages] == ["One", "1", "Two", "2"]
    [found] = transcript.compactions
    assert (found.position, found.trigger, found.after, found.summary) == (2, "clear", (), "")
    assert [message.text for message in transcript.view(4)] == ["Two", "2"]


def test_a_reset_before_anything_was_said_is_none(tmp_path):
    transcript = one(tmp_path, tree({"type": "reset_boundary"}, entry("user", "One"), said("1")))
    assert transcript.compactions == ()
    assert transcript.intake.skipped["compaction with nothing before it"] == 1


@pytest.mark.parametrize(
    ("message", "read"),
    [
        ({"role": "developer", "content": "Stay in /w."}, Message("system", (Text("Stay in /w."),))),
        (
            {"role": "fileMention", "files": [{"path": "a.md", "content": "alpha", "lineCount": 1}]},
            Message("user", (Text('<file path="a.md">\nalpha\n</file>'),), synthetic=True),
        ),
        (
            {
                "role": "fileMention",
                "files": [
                    {"path": "b.png", "image": {"type": "image", "mimeType": "image/png", "data": "blob:sha256:ab"}}
                ],
            },
            Message(
                "user",
                (Text('<file path="b.png">\n\n</file>'), Image("image/png", digest="sha256:ab")),
                synthetic=True,
            ),
        ),
        (
            {"role": "pythonExecution", "code": "1 + 1", "output": "2", "exitCode": 0},
            Message("user", (Text("Ran Python:\n```python\n1 + 1\n```\nOutput:\n```\n2\n```"),), synthetic=True),
        ),
        (
            {"role": "assistant", "content": [{"type": "redactedThinking", "data": "x9"}, call("c1")]},
            Message("assistant", (Reasoning(opaque="x9"), ToolCall("c1", "read", "{}"))),
        ),
    ],
)
def test_roles_and_parts_that_only_oh_my_pi_has(tmp_path, message, read):
    transcript = one(tmp_path, tree(entry("user", "Hi"), {"type": "message", "message": message}))
    found = transcript.messages[1]
    assert (found.role, found.blocks, found.synthetic) == (read.role, read.blocks, read.synthetic)
    assert transcript.intake.unknown == {}


@pytest.mark.parametrize("message", [{"role": "fileMention", "files": "a.md"}, {"role": "fileMention"}])
def test_a_mention_without_files_is_counted(tmp_path, message):
    transcript = one(tmp_path, tree(entry("user", "Hi"), {"type": "message", "message": message}, said("Hello.")))
    assert len(transcript.messages) == 2
    assert transcript.intake.skipped["mention of files without files"] == 1


def test_a_title_alone_is_no_session(tmp_path):
    path = write(tmp_path / "t.jsonl", [TITLE, {"type": "note", "text": "x"}])
    with pytest.raises(TranscriptError, match="no reader knows"):
        sniff(path)


def test_a_response_in_the_same_words_is_a_copy_only_if_nothing_was_heard_between(tmp_path):
    usage = {"input": 12, "output": 7}
    records = tree(
        entry("user", "Once"), said("Done.", usage=usage), entry("user", "Again"), said("Done.", usage=usage)
    )
    transcript = one(tmp_path, [*records, {"id": "e4", "parentId": "e3", **said("Done.", usage=usage)}])
    assert [message.synthetic for message in transcript.messages] == [False, False, False, False, True]
    assert [counted.position for counted in transcript.usage] == [1, 3]
