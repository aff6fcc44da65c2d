"""Messages, blocks and transcripts: what their views give, and that they are values."""

import json

import msgspec
import pytest
from histories import THOUGHTS, agent, answering, call, calling, messages, result, system, user
from hypothesis import given

from compactlab.transcript import (
    Block,
    Image,
    Message,
    Origin,
    Reasoning,
    RecordedCompaction,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
    readable,
)

PICTURE = Image("image/png", 4, 4)
TEN = (system(), *(user(f"message {i}", source=i) for i in range(1, 10)))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (user("hi"), True),
        (user(""), True),
        (user("hi", synthetic=True), False),
        (Message("user", (PICTURE,)), True),
        (Message("user", ()), False),
        (Message("user", (result("a"),)), False),
        (Message("user", (result("a"), Text("hi"))), True),
        (agent("hi"), False),
        (system("hi"), False),
        (answering("a"), False),
    ],
)
def test_a_person_wrote_user_messages_that_hold_words_or_a_picture(message, expected):
    assert message.by_person is expected


def test_views_of_a_message_keep_the_order_of_its_blocks():
    message = agent(Reasoning("hm"), "one", call("a"), result("a", "back"), call("b"), "two", PICTURE)
    assert message.calls == (call("a"), call("b"))
    assert message.results == (result("a", "back"),)
    assert message.text == "one\ntwo"
    assert Message("assistant", ()).text == ""


def test_the_text_of_a_result_leaves_pictures_out():
    assert ToolResult("a", (Text("one"), PICTURE, Text("two"))).text == "one\ntwo"
    assert ToolResult("a", (PICTURE,)).text == ""


@pytest.mark.parametrize(
    "value",
    [Text("a"), Reasoning("a"), call("a"), result("a"), PICTURE, user(), Transcript("t", "chat", (user(),))],
    ids=lambda value: type(value).__name__,
)
def test_values_cannot_be_changed(value):
    with pytest.raises(AttributeError):
        setattr(value, value.__struct_fields__[0], "other")


def test_blocks_and_messages_compare_and_hash_by_value():
    assert len({user("a"), user("a"), user("b"), agent("a"), user("a", pinned=True)}) == 4
    assert len({Text("a"), Reasoning("a"), Text("a")}) == 2


@given(messages())
def test_messages_without_surrogates_survive_json(history):
    try:
        written = msgspec.json.encode(history)
    except UnicodeEncodeError:
        return
    assert msgspec.json.decode(written, type=tuple[Message, ...]) == history


@pytest.mark.parametrize("block", [Text("broken \ud83d"), Reasoning(opaque="\udc00")])
def test_msgspec_refuses_lone_surrogates_as_the_readers_expect(block):
    with pytest.raises(UnicodeEncodeError):
        msgspec.json.encode(block)


READABLE = [
    (Text("as it is\x00"), "as it is\x00"),
    (Reasoning("thought", signature="s"), "thought"),
    (Reasoning(opaque="gAAA"), ""),
    (PICTURE, ""),
    (ToolResult("c1", (Text("one"), PICTURE, Text("two"))), "one\ntwo"),
    (ToolCall("c1", "bash", '{"command": "ls -la"}'), "bash\ncommand: ls -la"),
    (ToolCall("c1", "write", r'{"text": "a\nb\t\"c\" \u8acb"}'), 'write\ntext: a\nb\t"c" 請'),
    (ToolCall("c1", "edit", '{"edits": [{"old": "a", "new": "b"}]}'), "edit\nold: a\nnew: b"),
    (
        ToolCall("c1", "run", '{"args": ["-n", 5, true, null, 1.50]}'),
        "run\nargs: -n\nargs: 5\nargs: true\nargs: null\nargs: 1.5",
    ),
    (ToolCall("c1", "bash", "{}"), "bash\n"),
    (ToolCall("c1", "bash", ""), "bash\n"),
    (ToolCall("c1", "bash", "[1, 2]"), "bash\n1\n2"),
    (ToolCall("c1", "bash", '"ls"'), "bash\nls"),
    (ToolCall("c1", "bash", '{"command": "ls'), 'bash\n{"command": "ls'),
    (ToolCall("c1", "bash", "ls -la"), "bash\nls -la"),
    (ToolCall("c1", "bash", '{"a": "\\ud83d"}'), "bash\na: \ud83d"),
    (ToolCall("c1", "bash", "9" * 5_000), "bash\n" + "9" * 5_000),
]


@pytest.mark.parametrize(("block", "expected"), READABLE, ids=[repr(block)[:50] for block, _ in READABLE])
def test_a_block_is_read_as_decoded_words(block, expected):
    assert readable(block) == expected


@pytest.mark.parametrize("depth", [100, 700, 100_000])
def test_arguments_nested_however_deep_are_read(depth):
    arguments = "[" * depth + '"deep"' + "]" * depth
    assert "deep" in readable(ToolCall("c1", "bash", arguments))


def test_a_result_that_a_harness_wrapped_in_json_is_read_without_its_escapes():
    wrapped = ToolResult("c", (Text('{"output": "port\\t5433\\nhost db-3", "metadata": {"exit_code": 0}}'),))
    assert readable(wrapped) == "output: port\t5433\nhost db-3\nexit_code: 0"
    assert readable(ToolResult("c", (Text('{"port": 5433}'),))) == '{"port": 5433}'
    assert readable(ToolResult("c", (Text('{"cut \\n'),))) == '{"cut \\n'


@given(messages())
def test_every_block_can_be_read(history):
    assert all(isinstance(readable(block), str) for message in history for block in message.blocks)


def test_the_blocks_are_the_five_that_are_documented():
    assert {kind.__name__ for kind in Block.__args__} == {"Text", "Reasoning", "ToolCall", "ToolResult", "Image"}
    assert THOUGHTS


MADE = user("A summary.", synthetic=True)
VIEWS = [
    ("no compaction", (), 4, (0, 1, 2, 3)),
    ("nothing before the start", (), 0, ()),
    ("before the compaction", (RecordedCompaction(5),), 4, (0, 1, 2, 3)),
    ("at the compaction", (RecordedCompaction(5, after=(0,)),), 5, (0,)),
    ("after the compaction", (RecordedCompaction(5, after=(0,)),), 8, (0, 5, 6, 7)),
    ("kept messages", (RecordedCompaction(5, after=(3, 4)),), 7, (3, 4, 5, 6)),
    ("in the order of the compaction", (RecordedCompaction(5, after=(4, 2)),), 6, (4, 2, 5)),
    ("a message that it made", (RecordedCompaction(5, after=(0, MADE, 4)),), 6, (0, MADE, 4, 5)),
    ("the latest of two", (RecordedCompaction(3), RecordedCompaction(6, after=(4,))), 8, (4, 6, 7)),
    ("between two", (RecordedCompaction(3), RecordedCompaction(6)), 5, (3, 4)),
    ("two at one place", (RecordedCompaction(3, after=(1,)), RecordedCompaction(3, after=(2,))), 4, (2, 3)),
]


@pytest.mark.parametrize(("compactions", "position", "expected"), [c[1:] for c in VIEWS], ids=[c[0] for c in VIEWS])
def test_an_agent_sees_what_its_last_compaction_left(compactions, position, expected):
    transcript = Transcript("t", "chat", TEN, compactions=compactions)
    assert transcript.entries(position) == expected
    assert transcript.view(position) == tuple(TEN[entry] if isinstance(entry, int) else entry for entry in expected)


def test_each_recorded_compaction_has_its_lists_before_and_after():
    first, second = RecordedCompaction(3, after=(0, MADE)), RecordedCompaction(6, after=(MADE, 5))
    transcript = Transcript("t", "chat", TEN, compactions=(first, second))
    assert (transcript.before(0), transcript.after(0)) == (TEN[:3], (TEN[0], MADE))
    assert (transcript.before(1), transcript.after(1)) == ((TEN[0], MADE, *TEN[3:6]), (MADE, TEN[5]))


PLACES = [
    ((Origin("a.jsonl", "line {}", base=1),), 4, "a.jsonl: line 5"),
    ((Origin("a.json", "system"), Origin("a.json", "messages[{}]", first=1)), 0, "a.json: system"),
    ((Origin("a.json", "system"), Origin("a.json", "messages[{}]", first=1)), 3, "a.json: messages[2]"),
    ((Origin("a.json"), Origin("b.json", first=7)), 7, "b.json: message 0"),
    ((), 4, "whole.json"),
    ((Origin("a.json"),), None, ""),
]


@pytest.mark.parametrize(("origins", "source", "place"), PLACES)
def test_every_message_can_say_where_it_was_recorded(origins, source, place):
    message = Message("user", (Text("Hi"),), source=source)
    assert Transcript("t", "chat", (message,), path="whole.json", origins=origins).place(message) == place


def test_a_transcript_survives_json_and_omits_its_defaults():
    transcript = Transcript("t", "chat", (user(), calling("a"), answering("a")), cluster="story")
    written = msgspec.json.encode(transcript)
    assert msgspec.json.decode(written, type=Transcript) == transcript
    assert set(json.loads(written)) == {"id", "format", "messages", "cluster"}


def test_transcripts_do_not_share_their_mutable_defaults():
    one, other = Transcript("a", "chat", ()), Transcript("b", "chat", ())
    assert one.header is not other.header
    assert one.agent_type == "primary"
