"""Claude Code files: each turn once, its tokens once, what was sent in place of something else, what was attached."""

from functools import partial

import pytest
from claude_code_records import agent, answer, attachment, read_records, record, text, told, use, user

from compactlab.transcript import Image, Text, Usage


@pytest.fixture
def read_all(tmp_path):
    return partial(read_records, tmp_path)


def counts(made, fresh=3, created=100, cached=890):
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": cached,
        "output_tokens": made,
    }


def test_tokens_are_those_of_the_last_piece_of_a_response_and_never_summed(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("One."), usage=counts(1)),
        agent("a2", "a1", "m1", use("c1"), usage=counts(122)),
        answer("r1", "a2", "c1"),
        agent("a3", "r1", "m2", text("Done."), usage=counts(7, fresh=0, created=0)),
    )
    assert transcript.usage == (Usage(1, 993, 122, 890), Usage(3, 890, 7, 890))


TURNS = [
    user("u1", None, "Go"),
    agent("a1", "u1", "m1", text("\n\n")),
    agent("a2", "a1", "m1", use("c1")),
    answer("r1", "a2", "c1"),
    agent("a3", "r1", "m2", text("Done.")),
    user("u2", "a3", "Go"),
    agent("a4", "u2", "m3", text("Again.")),
]
STORY = [
    ("user", "Go"),
    ("assistant", "\n\n"),
    ("tool", ["c1"]),
    ("assistant", "Done."),
    ("user", "Go"),
    ("assistant", "Again."),
]


def copies(root):
    """The same turns under new uuids, as a resumed session of old wrote them, hung from *root*."""
    renamed = [dict(r, uuid=f"{r['uuid']}-2", parentUuid=r["parentUuid"] and f"{r['parentUuid']}-2") for r in TURNS]
    renamed[0]["parentUuid"] = root
    return renamed


@pytest.mark.parametrize("root", [None, "a4"], ids=["a tree of its own", "hung from the first"])
def test_turns_that_a_resumed_session_wrote_again_with_new_uuids_stand_once(read_all, root):
    [transcript] = read_all(*TURNS, *copies(root), user("u9", "a4-2", "Go"), agent("a9", "u9", "m9", text("Fine.")))
    assert told(transcript.messages) == [*STORY, ("user", "Go"), ("assistant", "Fine.")]
    left = transcript.intake.skipped
    assert left["turn written again"] + left.get("message of another branch", 0) == 7


def test_a_piece_that_only_the_first_writing_has_is_not_lost(read_all):
    once_more = [record for record in copies(None) if record["uuid"] != "a2-2"]
    once_more[2]["parentUuid"] = "a1-2"
    [transcript] = read_all(*TURNS, *once_more)
    assert [c.id for m in transcript.messages for c in m.calls] == ["c1"]


def test_equal_blank_pieces_of_one_response_both_stay(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("\n\n")),
        agent("a2", "a1", "m1", use("c1")),
        agent("a3", "a2", "m1", text("\n\n")),
    )
    assert [type(block).__name__ for block in transcript.messages[1].blocks] == ["Text", "ToolCall", "Text"]


def test_equal_words_before_one_response_are_no_copies(read_all):
    [transcript] = read_all(
        user("u1", None, "yes"),
        user("u2", "u1", "yes"),
        agent("a1", "u2", "m1", text("Good.")),
        user("u3", "a1", "yes"),
    )
    assert told(transcript.messages) == [("user", "yes"), ("user", "yes"), ("assistant", "Good."), ("user", "yes")]


def test_a_large_result_is_what_the_model_was_sent_of_it(read_all):
    sent = {"kind": "tool-result", "toolUseId": "c1", "replacement": "<persisted-output>start</persisted-output>"}
    [transcript] = read_all(
        *TURNS[:4], {"type": "content-replacement", "sessionId": "x", "replacements": [sent, 3, {"toolUseId": "c1"}]}
    )
    assert transcript.messages[2].results[0].content == (Text("<persisted-output>start</persisted-output>"),)
    assert transcript.intake.repaired == {"result as the model was sent it": 1}


@pytest.mark.parametrize(
    "says",
    [
        record("system", "s1", "a9", subtype="model_refusal_fallback", retractedMessageUuids=["a9"]),
        agent("a5", "a9", "m5", text("Other words."), supersedesUuids=["a9"]),
    ],
)
def test_a_message_that_was_taken_back_is_counted_only(read_all, says):
    end = user("u9", says["uuid"], "On")
    [transcript] = read_all(user("u1", None, "Go"), agent("a9", "u1", "m9", text("Partial.")), says, end)
    assert "Partial." not in [message.text for message in transcript.messages]
    assert transcript.intake.skipped["message taken back"] == 1


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
ATTACHED = [
    ("hook_additional_context", {"content": ["one", "two"]}, "one\ntwo"),
    ("hook_success", {"hookEvent": "SessionStart", "content": "Hooked."}, "Hooked."),
    ("hook_success", {"hookEvent": "PostToolUse", "content": "Not sent."}, None),
    ("hook_blocking_error", {"blockingError": {"blockingError": "No.", "command": "x"}}, "No."),
    ("nested_memory", {"content": {"path": "CLAUDE.md", "content": "Use tabs."}}, "Use tabs."),
    ("edited_text_file", {"filename": "/a", "snippet": "1 x"}, "1 x"),
    ("mcp_instructions_delta", {"addedBlocks": ["a", "b"]}, "a\nb"),
    ("task_reminder", {"content": []}, None),
    ("task_reminder", {"content": [{"id": "1", "subject": "s"}]}, '{"id": "1", "subject": "s"}'),
    ("total_tokens_reminder", {"text": "12 left"}, "12 left"),
    ("plan_mode", {"planFilePath": "/p"}, None),
    ("never_heard_of", {"content": "But it says so."}, "But it says so."),
]


@pytest.mark.parametrize(("kind", "fields", "expected"), ATTACHED)
def test_what_was_attached_is_a_synthetic_message_as_far_as_its_words_are_recorded(read_all, kind, fields, expected):
    [transcript] = read_all(
        user("u1", None, "Go"), attachment("t1", "u1", kind, **fields), agent("a1", "t1", "m1", text("Yes."))
    )
    middle = [(m.role, m.text, m.synthetic, m.source) for m in transcript.messages[1:-1]]
    assert middle == ([] if expected is None else [("user", expected, True, 1)])
    assert transcript.intake.skipped == ({f"attachment {kind}": 1} if expected is None else {})


def test_an_attachment_of_an_unknown_kind_without_words_is_counted_as_unknown(read_all):
    [transcript] = read_all(
        user("u1", None, "Go"), attachment("t1", "u1", "never_heard_of", n=1), user("u2", "t1", "On")
    )
    assert transcript.intake.unknown == {"attachment never_heard_of": 1}


def test_an_attached_picture_and_what_was_rendered_are_taken_as_they_are(read_all):
    picture = {"type": "image", "file": {"base64": PNG, "type": "image/png"}}
    rendered = [{"content": "<system-reminder>As sent.</system-reminder>"}]
    [transcript] = read_all(
        user("u1", None, "Go"),
        attachment("t1", "u1", "file", content=picture),
        attachment("t2", "t1", "plan_mode") | {"rendered": rendered},
        user("u2", "t2", "On"),
    )
    [image] = transcript.messages[1].blocks
    assert isinstance(image, Image)
    assert (image.width, image.height) == (1, 1)
    assert transcript.messages[2].text == "<system-reminder>As sent.</system-reminder>"


def test_what_was_attached_after_the_last_message_stands_and_what_hangs_elsewhere_does_not(read_all):
    start = [user("u1", None, "Go"), agent("a1", "u1", "m1", text("Yes.")), agent("a2", "u1", "m2", text("No."))]
    [after] = read_all(*start, attachment("t1", "a2", "date_change", newDate="Friday"))
    [elsewhere] = read_all(*start, attachment("t1", "a1", "date_change", newDate="Friday"))
    assert [m.text for m in after.messages] == ["Go", "No.", "Friday"]
    assert [m.text for m in elsewhere.messages] == ["Go", "No."]


@pytest.mark.parametrize(
    ("content", "by_person"),
    [
        ("<local-command-stdout>3 files</local-command-stdout>", False),
        ("<command-name>/review</command-name><command-args>only the tests</command-args>", True),
    ],
)
def test_the_output_of_a_local_command_is_in_the_context(read_all, content, by_person):
    shown = record("system", "s1", "u1", subtype="local_command", content=content)
    [transcript] = read_all(user("u1", None, "Go"), shown, agent("a1", "s1", "m1", text("Yes.")))
    assert [(m.text, m.by_person) for m in transcript.messages][1:2] == [(content, by_person)]


def test_a_message_without_a_uuid_keeps_its_place(read_all):
    lost = user("u2", "u1", "Second")
    del lost["uuid"], lost["parentUuid"]
    [transcript] = read_all(user("u1", None, "First"), lost, user("u3", "u2", "Third"))
    assert [m.text for m in transcript.messages] == ["First", "Second", "Third"]
    assert transcript.intake.repaired == {"message without uuid": 1}
