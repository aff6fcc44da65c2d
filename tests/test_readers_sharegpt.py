"""ShareGPT conversations: every way in which their keys vary, calls and results, and chats that were cut into rows."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult


def turn(speaker, value):
    return {"from": speaker, "value": value}


CHAT = [turn("human", "Hi."), turn("gpt", "Hello.")]
ROLES = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
LOSS = [{"from": "human", "loss": None, "value": "Hi."}, {"from": "gpt", "loss": True, "value": "Hello."}]


def written(tmp_path, value, name="chats.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    assert sniff(path) == "sharegpt"
    return read(path)


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "value",
    [
        [{"id": "a", "conversations": CHAT}, {"id": "b", "conversations": CHAT}],
        [{"id": "a", "conversation": CHAT}, {"id": "b", "items": CHAT}],
        [{"id": "os_0", "conversations": LOSS}, {"id": "os_1", "conversations": LOSS}],
        [{"id": "a", "conversations": ROLES}, {"conversation_id": "b", "conversation": ROLES}],
        lines({"id": "a", "conversations": CHAT}, {"id": "b", "conversations": CHAT}),
        [{"id": "identity_0", "conversations": CHAT}, {"id": "identity_1", "conversations": LOSS}],
    ],
)
def test_all_the_keys_in_use_are_read(tmp_path, value):
    found = written(tmp_path, value)
    assert [[(m.role, m.text) for m in t.messages] for t in found] == [[("user", "Hi."), ("assistant", "Hello.")]] * 2
    assert len({t.id for t in found}) == 2


@pytest.mark.parametrize(
    ("speaker", "role"),
    [("user", "user"), ("chatgpt", "assistant"), ("bing", "assistant"), ("bard", "assistant"), ("System", "system")],
)
def test_every_name_of_a_speaker_has_a_role(tmp_path, speaker, role):
    [found] = written(tmp_path, [{"conversations": [turn(speaker, "x"), *CHAT]}])
    assert found.messages[0].role == role


def test_values_stay_as_they_are_and_empty_ones_are_messages(tmp_path):
    listed = [
        turn("gpt", '<div class="markdown">\n<p>A &amp; B</p>'),
        turn("gpt", ""),
        turn("human", "?"),
        turn("human", "!"),
    ]
    [found] = written(tmp_path, [{"conversations": listed}])
    assert [m.role for m in found.messages] == ["assistant", "assistant", "user", "user"]
    assert found.messages[0].text == listed[0]["value"]
    assert found.messages[1].blocks == ()


def test_the_system_prompt_beside_the_turns_comes_first_and_tools_are_decoded(tmp_path):
    tools = [{"name": "add", "parameters": {}}]
    row = {"id": "a", "system": "Be brief.", "tools": json.dumps(tools), "conversations": CHAT, "model": "m", "n": 1}
    [found] = written(tmp_path, [row])
    assert [m.role for m in found.messages] == ["system", "user", "assistant"]
    assert found.tools == tuple(tools)
    assert found.header == {"model": "m", "n": 1}
    assert found.place(found.messages[0]).endswith("chats.json: [0].system")
    assert found.place(found.messages[1]).endswith("chats.json: [0].conversations[0]")


def test_calls_and_results_are_paired_in_order(tmp_path):
    listed = [
        turn("human", "Add."),
        turn(
            "function_call", '[{"name": "add", "arguments": {"a": 1}}, {"name": "sub", "arguments": "{\\"a\\":  2}"}]'
        ),
        turn("observation", "3"),
        turn("tool", "4"),
        turn("observation", "nobody asked"),
    ]
    [found] = written(tmp_path, [{"conversations": listed}])
    assert found.messages[1].calls == (ToolCall("call_0", "add", '{"a": 1}'), ToolCall("call_1", "sub", '{"a":  2}'))
    assert [m.results[0] for m in found.messages[2:]] == [
        ToolResult("call_0", (Text("3"),)),
        ToolResult("call_1", (Text("4"),)),
        ToolResult("", (Text("nobody asked"),)),
    ]


def test_one_turn_may_answer_all_calls_that_wait(tmp_path):
    calls = '[{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]'
    listed = [turn("human", "Go."), turn("function_call", calls), turn("observation", '["x", {"y": 1}]')]
    [found] = written(tmp_path, [{"conversations": listed}])
    assert [(r.call_id, r.text) for r in found.messages[2].results] == [("call_0", "x"), ("call_1", '{"y": 1}')]


def test_a_call_that_nobody_waits_for_gets_no_result(tmp_path):
    call = turn("function_call", '{"name": "a", "arguments": {}}')
    listed = [turn("human", "Go."), call, turn("human", "Again."), call, turn("observation", "x")]
    [found] = written(tmp_path, [{"conversations": listed}])
    assert found.messages[4].results[0].call_id == "call_1"


def test_a_call_that_is_no_json_stays_as_words(tmp_path):
    [found] = written(tmp_path, [{"conversations": [*CHAT, turn("function_call", "{'name': 'a'}")]}])
    assert found.messages[2].blocks == (Text("{'name': 'a'}"),)
    assert found.intake.repaired == {"call that is no JSON, kept as words": 1}


def test_rows_into_which_one_chat_was_cut_are_one_session(tmp_path):
    more = [turn("gpt", "More."), turn("human", "Thanks.")]
    rows = [
        {"id": "QWJhYvA_0", "conversations": CHAT},
        {"id": "QWJhYvA_1", "conversations": more},
        {"id": "QWJhYvA_3", "conversations": more},
        {"id": "i6IyJda_0", "conversations": CHAT},
    ]
    found = written(tmp_path, rows)
    assert [t.id.removeprefix("chats/") for t in found] == ["QWJhYvA", "QWJhYvA_3", "i6IyJda_0"]
    assert [m.text for m in found[0].messages] == ["Hi.", "Hello.", "More.", "Thanks."]
    assert found[0].place(found[0].messages[2]).endswith("[1].conversations[0]")
    assert found[-1].intake.records == 4


@pytest.mark.parametrize(
    "names", [("identity_0", "identity_1"), ("webshop_0", "webshop_1"), ("Conversation_0", "Conversation_1")]
)
def test_numbered_rows_of_one_name_are_sessions_of_their_own(tmp_path, names):
    other = [turn("human", "Else."), turn("gpt", "So.")]
    rows = [{"id": name, "conversations": listed} for name, listed in zip(names, (CHAT, other), strict=True)]
    assert len(written(tmp_path, rows)) == 2


def test_rows_that_begin_alike_are_sessions_of_their_own(tmp_path):
    rows = [{"id": f"QWJhYvA_{n}", "conversations": CHAT} for n in range(2)]
    assert len(written(tmp_path, rows)) == 2


def test_unknown_speakers_and_other_rows_are_counted(tmp_path):
    rows = [{"conversations": [*CHAT, turn("narrator", "Night.")]}, {"note": 1}]
    [found] = written(tmp_path, lines(*rows))
    assert found.intake.unknown == {"turn of narrator": 1, "row without turns": 1}
    assert found.intake.records == 2


def test_lists_of_parts_are_read_with_their_pictures(tmp_path):
    parts = [{"type": "text", "text": "See."}, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    [found] = written(tmp_path, [{"conversations": [{"role": "user", "content": parts}, ROLES[1]]}])
    assert found.messages[0].blocks == (Text("See."), Image("image/png", url="https://example.org/a.png"))


@pytest.mark.parametrize(
    "value",
    [{"messages": ROLES, "conversations": CHAT}, {"items": ROLES}, {"conversations": []}, {"conversations": ["Hi."]}],
)
def test_other_rows_are_left_to_others(tmp_path, value):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    try:
        assert sniff(path) != "sharegpt"
    except ValueError:
        return


def test_the_chosen_answer_ends_a_chat_and_the_rejected_one_is_counted(tmp_path):
    row = {"conversations": CHAT[:1], "chosen": turn("gpt", "Good."), "rejected": turn("gpt", "Bad.")}
    [found] = written(tmp_path, [row])
    assert [(m.role, m.text) for m in found.messages] == [("user", "Hi."), ("assistant", "Good.")]
    assert found.intake.skipped == {"message of another branch": 1}


@pytest.mark.parametrize(
    ("said", "pictures", "expected"),
    [
        ("<image>\nWhat?", {"image": "a.png"}, ["a.png", "\nWhat?"]),
        ("<image>and<image>", {"images": ["a.png", {"path": "b.png"}]}, ["a.png", "and", "b.png"]),
        ("What?", {"images": ["a.png"]}, ["a.png", "What?"]),
        ("What is <image>?", {}, ["What is <image>?"]),
    ],
)
def test_pictures_beside_the_turns_stand_where_they_are_marked(tmp_path, said, pictures, expected):
    [found] = written(tmp_path, [{"conversations": [turn("human", said), CHAT[1]], **pictures}])
    shown = [block.url if isinstance(block, Image) else block.text for block in found.messages[0].blocks]
    assert shown == expected


def test_a_thought_in_front_of_a_call_is_reasoning(tmp_path):
    called = '<think>\nHm.\n</think>\n\n{"name": "ls", "arguments": {"p": 1}}'
    [found] = written(tmp_path, [{"conversations": [CHAT[0], turn("function_call", called), turn("observation", "a")]}])
    assert found.messages[1].blocks == (Reasoning("Hm."), ToolCall("call_0", "ls", '{"p": 1}'))
    assert found.messages[2].results[0].call_id == "call_0"
