"""One way to get text from a model: usable replies, the scripted one, the one written by code, and the prompts."""

import pytest
import runs
from histories import agent, answering, call, calling, messages, result, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab import history
from compactlab.errors import CompactlabError
from compactlab.llm import Metered, ModelError, Reply, Request, asked
from compactlab.llm.extractive import LONGEST_LINE, Extractive
from compactlab.llm.prompts import (
    DEFAULT,
    REFLECT_SYSTEM,
    SECTIONS,
    SUMMARY_SYSTEM,
    VERSION,
    rendered,
)
from compactlab.llm.scripted import Scripted
from compactlab.readers import read
from compactlab.tokens import counter
from compactlab.transcript import Image, Message, Reasoning, Text, ToolResult, readable

ASKED = Request("reflect", "be brief", "what now", ())


def request(purpose, material, max_output=2_048):
    prompt = {"summary": DEFAULT.summary, "reflect": DEFAULT.reflect}[purpose](rendered(material))
    return Request(purpose, "", prompt, tuple(material), max_output)


def weigh(text):
    return counter("o200k_base")([text])[0]


# ---- asked


@pytest.mark.parametrize("reason", ["stop", "end_turn", "stop_sequence", ""])
def test_a_reply_with_words_is_taken_as_it_is(reason):
    assert asked(Scripted(Reply(" words\n", "m", finish_reason=reason)), ASKED) == " words\n"


UNUSABLE = [
    ("no model", None, "no model was given"),
    ("no words", Scripted(""), "scripted: the reply is blank (finish reason stop)"),
    ("blank words", Scripted(" \n\t"), "the reply is blank"),
    ("a refusal", Scripted(Reply("", "gate", finish_reason="content_filter")), "gate: "),
    ("cut off", Scripted(Reply("half", "m", finish_reason="length")), "m: the reply was cut off after 2,048 tokens"),
    ("a filter", Scripted(Reply("half", "m", finish_reason="content_filter")), "m: no usable reply (finish reason"),
    ("a call", Scripted(Reply("I look.", "m", finish_reason="tool_calls")), "(finish reason 'tool_calls')"),
    ("an error", Scripted(ModelError("over quota")), "over quota"),
    ("an empty script", Scripted(), "no reply was written"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "said"), [c[1:] for c in UNUSABLE], ids=[c[0] for c in UNUSABLE])
def test_a_reply_that_cannot_be_used_is_an_error_that_says_why(model, said):
    with pytest.raises(ModelError) as raised:
        asked(model, ASKED)
    assert said in str(raised.value)
    assert isinstance(raised.value, CompactlabError | RuntimeError)


# ---- scripted


def test_replies_come_in_order_the_last_again_and_again_and_requests_are_kept():
    model = Scripted("one", Reply("two", "other"))
    assert [model.reply(ASKED).text for _ in range(4)] == ["one", "two", "two", "two"]
    assert model.requests == [ASKED] * 4
    assert model.reply(ASKED).model == "other"


def test_an_error_in_the_script_is_raised_in_its_place_and_the_request_counts():
    model = Scripted("one", ValueError("two"), "three")
    assert model.reply(ASKED).text == "one"
    with pytest.raises(ValueError, match="two"):
        model.reply(ASKED)
    assert model.reply(ASKED).text == "three"
    assert len(model.requests) == 3


# ---- metered

USAGE = [
    ("a provider that counts both", Reply("abc", "m", input_tokens=90, output_tokens=9), 99),
    ("a provider that counts nothing", Reply("abc", "m"), 8 + 8 + 3),
    ("one that counts what it read", Reply("abc", "m", input_tokens=90), 93),
    ("one that counts what it wrote", Reply("abc", "m", output_tokens=9), 16 + 9),
]


@pytest.mark.parametrize(("reply", "tokens"), [c[1:] for c in USAGE], ids=[c[0] for c in USAGE])
def test_calls_and_tokens_are_counted_by_the_provider_or_by_weight(reply, tokens):
    model = Metered(Scripted(reply), len)
    assert model.reply(ASKED) is reply
    assert (model.name, model.calls, model.tokens) == ("scripted", 1, tokens)
    model.reply(ASKED)
    assert (model.calls, model.tokens) == (2, 2 * tokens)


def test_a_call_that_fails_costs_what_was_asked():
    model = Metered(Scripted(ModelError("no")), len)
    with pytest.raises(ModelError):
        model.reply(ASKED)
    assert (model.calls, model.tokens) == (1, 16)


# ---- prompts

RENDERED = [
    ("a person's words", user("Read a."), "[user] Read a."),
    ("the agent's words", agent("Done."), "[assistant] Done."),
    ("a system message", system("Be brief."), "[system] Be brief."),
    ("a note that no one said", user("<reminder>", synthetic=True), "[note] <reminder>"),
    ("a call", agent(call("c", "read", '{"path": "a"}')), '[assistant -> read] {"path": "a"}'),
    ("a picture", Message("user", (Image("image/png", 4, 4),)), "[user] (a picture, image/png)"),
    ("reasoning", agent(Reasoning("hm")), ""),
    ("words beside reasoning", agent(Reasoning("hm"), "So."), "[assistant] So."),
    ("no blocks", Message("user", ()), ""),
]


@pytest.mark.parametrize(("message", "text"), [c[1:] for c in RENDERED], ids=[c[0] for c in RENDERED])
def test_each_block_is_shown_with_its_origin(message, text):
    assert rendered([message]) == text


def test_a_result_is_shown_with_the_name_of_its_tool_and_as_a_tools_words():
    shown = rendered([calling("a"), answering("a"), Message("tool", (ToolResult("a", (Text("no"),), is_error=True),))])
    assert shown == "[assistant -> bash] {}\n[tool bash] fine\n[tool bash error] no"
    assert rendered([answering("unknown")]) == "[tool ] fine"


@settings(max_examples=100)
@given(messages())
def test_every_word_but_reasoning_is_shown_to_the_model(given_messages):
    for prompt in (DEFAULT.summary(rendered(given_messages)), DEFAULT.reflect(rendered(given_messages))):
        for message in given_messages:
            for block in message.blocks:
                assert isinstance(block, Reasoning | Image) or (getattr(block, "arguments", None) or "") in prompt
                assert not isinstance(block, Text | ToolResult) or block.text in prompt


def test_text_with_braces_is_no_part_of_the_template():
    assert "{sections} {0} {}" in DEFAULT.summary(rendered([user("{sections} {0} {}")]))


def test_the_summary_prompt_asks_for_nine_parts_in_order_and_for_both_tags():
    prompt = DEFAULT.summary(rendered([user("hello")]))
    places = [prompt.index(f"{n}. {title}\n") for n, title in enumerate(SECTIONS, 1)]
    assert len(SECTIONS) == 9
    assert places == sorted(places)
    assert "<analysis>" in prompt
    assert "<summary>" in prompt
    assert prompt.rstrip().endswith("[user] hello")
    assert all((SUMMARY_SYSTEM, REFLECT_SYSTEM, VERSION))


# ---- extractive

TALK = (
    system(),
    user("Please move the orders table to port 5433. Never touch invoices_archive."),
    agent("I will move it tomorrow, because the replica lags."),
    agent(call("a", "read", '{"path": "src/orders/refunds.py"}'), call("b", "edit", '{"file_path": "src/a.py"}')),
    Message("tool", (result("a", "total = 1204.50 in ord_9f8e7d"), ToolResult("b", (Text("E17: no file"),), True))),
    agent("The build failed, so I fixed line 118 instead."),
)


def parts_of(reply):
    _, _, inside = reply.text.partition("<summary>\n")
    parts, title = {}, ""
    for line in inside.removesuffix("\n</summary>").split("\n"):
        if line[:1].isdigit():
            title = line.partition(". ")[2]
            parts[title] = []
        else:
            parts[title].append(line)
    return parts


def test_it_fills_the_nine_sections_with_lines_of_the_material():
    parts = parts_of(Extractive().reply(request("summary", TALK)))
    assert tuple(parts) == SECTIONS
    assert "- Please move the orders table to port 5433." in parts["Primary request and intent"]
    assert "- src/orders/refunds.py (read)" in parts["Files and code sections"]
    assert "- src/a.py (edit)" in parts["Files and code sections"]
    assert parts["Errors and fixes"] == ["- E17: no file"]
    assert "- The build failed, so I fixed line 118 instead." in parts["Problem solving"]
    assert "- I will move it tomorrow, because the replica lags." in parts["Pending tasks"]
    assert parts["Current work"] == ["- The build failed, so I fixed line 118 instead."]
    assert all(lines for lines in parts.values())


def test_it_says_that_it_is_no_model():
    assert Extractive.name == "extractive"
    assert Extractive().reply(request("reflect", TALK)).model == "extractive"


@pytest.mark.parametrize("purpose", ["summary", "reflect"])
def test_of_nothing_it_makes_nothing(purpose):
    reply = Extractive().reply(request(purpose, ()))
    assert "none" in reply.text
    assert reply.finish_reason == "stop"


@settings(max_examples=100)
@given(messages(min_events=2, max_events=20), st.integers(20, 2_000))
def test_it_never_rewords_whatever_the_material(given_messages, most):
    source = " ".join(" ".join(readable(b).split()) for m in given_messages for b in m.blocks)
    reply = Extractive().reply(request("reflect", given_messages, most))
    assert weigh(reply.text) <= most + 1
    if reply.text != "none":
        for line in reply.text.split("\n- "):
            assert line.removeprefix("- ") in source
            assert len(line) <= LONGEST_LINE + 2


@pytest.mark.parametrize("most", [300, 1_000, 2_048, 6_000])
@pytest.mark.parametrize("path", runs.TRANSCRIPTS[::3], ids=lambda path: path.stem)
def test_of_a_recorded_session_every_line_of_its_reply_stands_in_it_and_fits(path, most):
    [transcript] = read(path)
    base = history.repair(transcript.messages).messages[:150]
    source = " ".join(" ".join(readable(b).split()) for m in base for b in m.blocks)
    reply = Extractive().reply(request("reflect", base, most))
    assert all(line.removeprefix("- ") in source for line in reply.text.split("\n"))
    assert weigh(reply.text) <= most
    summary = Extractive().reply(request("summary", base, most)).text
    assert tuple(parts_of(Reply(summary, ""))) == SECTIONS


@pytest.mark.parametrize("most", [300, 1_000, 2_048])
@pytest.mark.parametrize("path", runs.TRANSCRIPTS[::6], ids=lambda path: path.stem)
def test_its_summary_is_no_longer_than_it_was_asked_for(path, most):
    [transcript] = read(path)
    assert weigh(Extractive().reply(request("summary", transcript.messages[:150], most)).text) <= most


IN_ANOTHER_PROCESS = """
import hashlib, sys
sys.path.insert(0, "tests")
from test_llm import Extractive, TALK, request
text = "".join(Extractive().reply(request(purpose, TALK)).text for purpose in ("summary", "reflect"))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_same_material_gives_the_same_reply_in_every_process():
    assert len(runs.printed_in_two_processes(IN_ANOTHER_PROCESS)) == 1


@pytest.mark.parametrize("arguments", ["", "null", "[1]", "not json", '{"path": 7}', "[" * 3_000, '{"path": ""}'])
def test_arguments_that_hold_no_path_are_passed_over(arguments):
    reply = Extractive().reply(request("summary", (user(), agent(call("a", "read", arguments)))))
    assert parts_of(reply)["Files and code sections"] == ["none"]
