"""Contents of the Gemini API, as Gemini CLI saves them: parts, missing ids, signatures, system instruction."""

import json

import pytest

from compactlab.readers import read, sniff
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult


def content(role, *parts):
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def call(name, given=None, **args):
    return {"functionCall": {"name": name, "args": args, **({"id": given} if given else {})}}


def response(name, output, given=None):
    return {"functionResponse": {"name": name, "response": {"output": output}, **({"id": given} if given else {})}}


def one(tmp_path, document):
    path = tmp_path / "checkpoint-x.json"
    path.write_text(json.dumps(document))
    assert sniff(path) == "gemini_cli"
    [transcript] = read(path)
    return transcript


HISTORY = [
    content("user", "<session_context>x"),
    content("model", "Got it. Thanks for the context!"),
    content("user", "hi"),
]


@pytest.mark.parametrize("document", [HISTORY, {"history": HISTORY, "authType": "a"}, {"contents": HISTORY}])
def test_a_history_in_all_its_wrappings(tmp_path, document):
    transcript = one(tmp_path, document)
    assert [(m.role, m.synthetic) for m in transcript.messages] == [
        ("user", True),
        ("assistant", True),
        ("user", False),
    ]
    assert [m.source for m in transcript.messages] == [0, 1, 2]


def test_a_system_instruction_is_message_zero(tmp_path):
    system = {"parts": [{"text": "Be brief."}]}
    transcript = one(tmp_path, {"systemInstruction": system, "contents": [content("user", "hi")]})
    assert [(m.role, m.text, m.source) for m in transcript.messages] == [("system", "Be brief.", 0), ("user", "hi", 1)]
    assert transcript.place(transcript.messages[1]).endswith("contents[0]")


def test_missing_ids_are_paired_by_name_and_order(tmp_path):
    transcript = one(
        tmp_path,
        [
            content("user", "go"),
            content("model", call("a", n=1), call("b"), call("a", n=2)),
            content("user", response("b", "B"), response("a", "A1"), response("a", "A2")),
            content("model", call("c", "own")),
            content("function", response("c", "C", "own"), response("lost", "L", "orphan")),
        ],
    )
    assert [c.id for c in transcript.messages[1].calls] == ["call_0", "call_1", "call_2"]
    assert [(r.call_id, r.text) for r in transcript.messages[2].results] == [
        ("call_1", "B"),
        ("call_0", "A1"),
        ("call_2", "A2"),
    ]
    assert transcript.messages[4].role == "tool"
    assert [r.call_id for r in transcript.messages[4].results] == ["own", "orphan"]


def test_thoughts_and_signatures_travel_on(tmp_path):
    transcript = one(
        tmp_path,
        [
            content("user", "go"),
            content("model", {"text": "hm", "thought": True, "thoughtSignature": "s1"}, "said"),
            content("model", {**call("a", "c1"), "thoughtSignature": "s2"}),
        ],
    )
    assert transcript.messages[1].blocks == (Reasoning("hm", "s1"), Text("said"))
    assert transcript.messages[2].blocks == (Reasoning(opaque="s2"), ToolCall("c1", "a", "{}"))


def test_results_and_words_of_one_content_are_two_messages(tmp_path):
    transcript = one(
        tmp_path, [content("model", call("a", "c1")), content("user", response("a", "x", "c1"), "and now")]
    )
    assert [(m.role, m.source) for m in transcript.messages] == [("assistant", 0), ("tool", 1), ("user", 1)]


@pytest.mark.parametrize(
    ("part", "block"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": "!"}}, "image/png"),
        ({"fileData": {"mimeType": "image/png", "fileUri": "https://x.org/a.png"}}, "image/png"),
        ({"fileData": {"mimeType": "text/csv", "fileUri": "gs://a"}}, Text("[text/csv: gs://a]")),
        (
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            Text('{"executableCode": {"language": "PYTHON", "code": "1"}}'),
        ),
    ],
)
def test_other_parts(tmp_path, part, block):
    found = one(tmp_path, [content("user", part)]).messages[0].blocks[0]
    assert found.media_type == block if isinstance(found, Image) else found == block


def test_a_response_with_pictures_of_its_own(tmp_path):
    given = response("a", "x", "c1")
    given["functionResponse"]["parts"] = [{"inlineData": {"mimeType": "image/gif", "data": "R0lGODlhAQABAAAAACw="}}]
    transcript = one(tmp_path, [content("model", call("a", "c1")), content("user", given)])
    result = transcript.messages[1].results[0]
    assert isinstance(result, ToolResult)
    assert [type(part) for part in result.content] == [Text, Image]


def test_parts_with_a_type_are_another_format(tmp_path):
    path = tmp_path / "ui.json"
    path.write_text(json.dumps([{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]))
    with pytest.raises(ValueError, match="no reader knows"):
        sniff(path)
