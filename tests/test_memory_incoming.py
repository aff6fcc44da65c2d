"""What is appended: messages in anybody's shape become ours as they were recorded, and what is none is refused."""

import json

import pytest
from conversations import memory, said, talk

from compactlab.errors import TranscriptError
from compactlab.memory.incoming import given, parsed

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"'}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}

OPENAI = [
    {"role": "user", "content": "list it"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
]  # fmt: skip
ANTHROPIC = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}}]},
    {"role": "user", "content": [RESULT, {"type": "text", "text": "and?"}]},
]  # fmt: skip
OWN = '{"type": "message", "role": "user", "content": "half \\ud83d of it", "source": null, "synthetic": true}'


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        (json.dumps(OPENAI), "user assistant tool"),
        (json.dumps(OPENAI[0]), "user"),
        ("\n".join(map(json.dumps, OPENAI)) + "\n\n", "user assistant tool"),
        (json.dumps(OPENAI, indent=2), "user assistant tool"),
        (json.dumps(ANTHROPIC), "assistant tool user"),
        (OWN, "user"),
        (f"{OWN}\n{json.dumps(OPENAI[0])}\n", "user user"),
        (json.dumps([json.loads(OWN), *OPENAI]), "user user assistant tool"),
    ],
)
def test_messages_come_as_people_have_them(text, roles):
    messages = parsed(text.encode()).messages
    assert [message.role for message in messages] == roles.split()
    assert all(message.source == 0 for message in messages)


def test_arguments_of_a_call_stay_as_they_were_recorded():
    call = b'{"type":"tool_use","id":"c","name":"n","input":{"a":1.50,"b" :2}}'
    raw = b'{"type":"message","role":"assistant","content":[' + call + b"]}"
    [message] = parsed(raw).messages
    assert message.calls[0].arguments == '{"a":1.50,"b" :2}'
    assert parsed(json.dumps(OPENAI).encode()).messages[1].calls[0].arguments == '{"command": "ls"'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("hello", "not JSON"),
        ("[1, 2]", "message is 1; expected a message"),
        ('{"id": "m1", "object": "chat.completion"}', "no message (it has 'id', 'object')"),
        ('{"role": "king", "content": ""}', "role 'king'"),
        ('{"role": "user", "content": "a"}\n{"role": "us', "the last line breaks off"),
        ('{"role": "user", "content": "a"}\noops\n{"role": "user", "content": "a"}', "line 2: not JSON"),
        ('{"role": "user", "content": "a"}\n{"type": "session", "id": "b"}', "a session header stands among"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place_and_nothing_is_appended(tmp_path, text, told):
    there = memory(tmp_path)
    with pytest.raises(TranscriptError) as caught:
        there.append(text.encode())
    assert told in str(caught.value)
    assert not there.path.exists()


def test_from_python_our_messages_and_dictionaries_may_stand_side_by_side(tmp_path):
    there = memory(tmp_path)
    there.append([said("one"), *OPENAI, said("five", "assistant"), *ANTHROPIC])
    assert [
        message.role for message in there.messages
    ] == "user user assistant tool assistant assistant tool user".split()
    assert given([]) == ()


def test_a_message_that_has_no_time_gets_that_of_its_append(tmp_path):
    there = memory(tmp_path)
    there.append(b'{"type": "message", "role": "user", "content": "a", "ts": "2026-03-02T08:00:00Z"}')
    there.append(talk(1))
    assert there.messages[0].timestamp == "2026-03-02T08:00:00Z"
    assert there.messages[1].timestamp.endswith("Z")
