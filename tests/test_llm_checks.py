"""Replies that are of no use are refused with a reason, and those that are fine are not."""

import json

import pytest
from histories import agent, user

from compactlab.llm import ModelError, Pending, Reply, Request, TooLong
from compactlab.llm.checks import Rejected, Terms, answered, checked, is_no_answer, loops, sections
from compactlab.llm.languages import is_foreign, language
from compactlab.llm.prompts import DEFAULT, SECTIONS, rendered
from compactlab.llm.quotes import NOT_APPROVED, STRUCK, struck, unsaid
from compactlab.llm.recorded import Missing
from compactlab.llm.refusals import kind_of_refusal
from compactlab.llm.scripted import Scripted

ENGLISH = (
    user("Could you move the orders table to the new host, and what would that break?"),
    agent("It would break the export, which is what they have been using. I will move it with this script."),
)
TALK = ENGLISH * 20
SUMMARY = Request("summary", "be exact", DEFAULT.summary(rendered(TALK)), TALK)
NOTE = Request("reflect", "be brief", DEFAULT.reflect(rendered(TALK)), TALK)
TERMS = Terms(2_000)
NINE = "\n".join(f"{n}. {title}\n- point {n} of it" for n, title in enumerate(SECTIONS, 1))
EMPTY = "\n".join(f"{n}. {title}\nnone" for n, title in enumerate(SECTIONS, 1))
WORDS = " ".join(f"word{n}" for n in range(2_000))

GOOD = [
    ("nine sections", SUMMARY, f"<summary>{NINE}</summary>"),
    ("nine sections without tags", SUMMARY, NINE),
    ("a concise one in tags", SUMMARY, "<summary>User wants X; Y done; Z left.</summary>"),
    ("one of six words", SUMMARY, "<summary>The port is 5433, not 5432.</summary>"),
    ("one that tells of a refusal", SUMMARY, f"<summary>{NINE}\n- It said: I cannot help with that.</summary>"),
    ("one about an error", SUMMARY, f"<summary>{NINE}\n- Error 429, rate limit; waited.</summary>"),
    ("one about tags", SUMMARY, f"<summary>{NINE}\n- the parser broke on <tool_call>.</summary>"),
    ("one with a sorry person", SUMMARY, "<summary>She is sorry that she can't come. Move it to Friday.</summary>"),
    ("bullets", NOTE, "- I promised Ansel an answer\n- the export is off by one cent"),
    ("nothing to carry", NOTE, "none"),
    ("a note in her own voice", NOTE, "- I can't forget that Ansel waits.\n- I'm sorry that I was late with it."),
    ("a note in brackets", NOTE, "[open] the export is off by one cent"),
    ("thoughts before it", NOTE, "<think>what do I carry?</think>\n- the export"),
    ("a table", SUMMARY, f"<summary>{NINE}\n| a | b |\n|---|---|\n" + "".join(f"| {n} | x |\n" for n in range(9))),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "text"), [c[1:] for c in GOOD], ids=[c[0] for c in GOOD])
def test_a_reply_that_is_fine_is_taken(request_, text):
    taken = checked(Reply(text, "m"), request_, TERMS)
    assert taken
    assert not any(tag in taken for tag in ("<summary>", "</summary>", "<think>", "what do I carry"))


BAD = [
    ("nothing", "", "blank"),
    ("blanks", " \n\t", "blank"),
    ("thoughts alone", "<think>hm, so", "thoughts"),
    ("a call in JSON", '{"name": "bash", "arguments": {"command": "ls"}}', "a call or data"),
    ("a call that is no JSON", '{"tool": "bash", "args": ls}', "a call or data"),
    ("data", json.dumps({"summary": NINE}), "a call or data"),
    ("data in a fence", f"```json\n{json.dumps([1, 2])}\n```", "a call or data"),
    ("a call in tags", "<tool_call>\n{}\n</tool_call>", "a call or data"),
    ("a call of another kind", '<function_calls><invoke name="bash">', "a call or data"),
    ("an action", "Thought: I look\nAction: bash\nAction Input: ls", "a call or data"),
    ("a page", "<!DOCTYPE html><html><body>502</body></html>", "a call or data"),
    ("a template", "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nhi", "goes on with the conversation"),
    ("the talk going on", "[user] and now?\n[assistant] now this\n[tool bash] done\n[user] ok", "goes on"),
    ("an error", "Error code: 429 - rate limit reached for requests", "an error in words"),
    ("another error", "Internal Server Error", "an error in words"),
    ("an error of the window", "prompt is too long: 213412 tokens > 200000 maximum", "an error in words"),
    ("nothing to read", "Please provide the conversation you would like me to summarize.", "nothing to read"),
    ("nothing to read either", "There is no conversation to summarize.", "nothing to read"),
    ("a loop", "1. Primary request and intent\n" + "and so on, and " * 40, "again and again"),
    ("one line again and again", f"{NINE}\n" + "\n".join(f"- the export broke\n- n{n}" for n in range(20)), "again"),
    ("longer than its source", f"<summary>{WORDS}</summary>", "no shorter than its source"),
]  # fmt: skip
GERMAN = (
    "Der Export ist nicht fertig und die Tabelle wird noch verschoben, weil sie auf dem Host ist. Da ist eine Liste von"
    " Dateien, die mit dem Skript für die Daten nicht erstellt."
)
CHINESE = "导出还没有完成,表格正在移动到新的主机上,因为旧的主机空间不足,请继续等待结果。"
ONLY_SUMMARY = [
    ("no sections and no tags", "The weather is fine.", "neither tags nor any of the nine sections"),
    ("an empty template", f"<summary>{EMPTY}</summary>", "each of its sections is empty"),
    ("an empty template in other words", EMPTY.replace("none", "- Nothing yet."), "each of its sections is empty"),
    ("headings alone", "\n".join(f"## {title}" for title in SECTIONS), "each of its sections is empty"),
    ("a word on messages", EMPTY.replace("messages\nnone", "messages\nAs below."), "each of its sections is empty"),
    ("another language", f"<summary>{GERMAN}</summary>", "in German"),
    ("another script", f"<summary>{CHINESE}</summary>", "in Chinese"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"), [c[1:] for c in (*BAD, *ONLY_SUMMARY)], ids=[c[0] for c in (*BAD, *ONLY_SUMMARY)]
)
def test_a_summary_that_is_of_no_use_is_refused_with_the_reason(text, said):
    with pytest.raises(Rejected, match=said):
        checked(Reply(text, "m"), SUMMARY, TERMS)


@pytest.mark.parametrize(("text", "said"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
def test_a_note_that_is_of_no_use_is_refused_too(text, said):
    with pytest.raises(Rejected, match=said):
        checked(Reply(text, "m"), NOTE, TERMS)


@pytest.mark.parametrize("reason", ["length", "content_filter", "tool_calls", "refusal", "error", "max_tokens"])
def test_a_reply_that_did_not_end_by_itself_is_refused(reason):
    with pytest.raises(Rejected, match=r"cut off|finish reason"):
        checked(Reply(f"<summary>{NINE}</summary>", "m", finish_reason=reason), SUMMARY, TERMS)


REFUSALS = """
I'm sorry, but I can't help with that.
I’m sorry, I can’t assist with that request.
I cannot assist with this request as it may violate the policy.
I am unable to provide a summary of this content.
I can't summarize this conversation.
Sorry, I can't continue with this.
As an AI language model, I do not have the ability to read it.
I must respectfully decline.
Es tut mir leid, aber ich kann dabei nicht helfen.
Ich kann Ihnen dabei leider nicht helfen.
Je suis désolé, mais je ne peux pas vous aider avec cette demande.
Lo siento, pero no puedo ayudarte con eso.
Desculpe, mas não posso ajudar com isso.
Mi dispiace, ma non posso aiutarti con questa richiesta.
Het spijt me, maar ik kan daar niet bij helpen.
Przykro mi, ale nie mogę w tym pomóc.
Извините, но я не могу помочь с этим.
К сожалению, я не могу выполнить этот запрос.
抱歉，我无法协助处理该请求。
很抱歉，我不能提供这个摘要。
申し訳ありませんが、そのリクエストにはお応えできません。
죄송하지만 요청을 도와드릴 수 없습니다.
عذرًا، لا يمكنني المساعدة في ذلك.
Üzgünüm, ancak bu konuda yardımcı olamam.
""".strip().split("\n")


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_known_in_the_words_of_many_vendors_and_languages(text):
    assert kind_of_refusal(text) == "is a refusal"
    for request in (SUMMARY, NOTE):
        with pytest.raises(Rejected, match="refusal"):
            checked(Reply(text, "m"), request, TERMS)


def test_a_long_text_that_begins_like_a_refusal_is_none():
    assert kind_of_refusal(f"{REFUSALS[0]} {'But here is what was done in the session, step by step. ' * 20}") == ""


@pytest.mark.parametrize("title", SECTIONS)
def test_strict_terms_ask_for_every_section(title):
    number = SECTIONS.index(title) + 1
    lacking = NINE.replace(f"{number}. {title}\n", "")
    assert checked(Reply(lacking, "m"), SUMMARY, TERMS)
    with pytest.raises(Rejected, match=f"lacks {title}"):
        checked(Reply(lacking, "m"), SUMMARY, Terms(2_000, strict=True))
    assert checked(Reply(NINE, "m"), SUMMARY, Terms(2_000, strict=True)) == NINE


def test_a_short_reply_to_a_short_source_is_not_weighed():
    assert checked(Reply("<summary>The port is 5433.</summary>", "m"), SUMMARY, Terms(2))


# ---- asked once more


def test_a_reply_of_no_use_is_asked_for_once_more_and_told_why():
    model = Scripted(REFUSALS[0], f"<summary>{NINE}</summary>")
    answer = answered(model, SUMMARY, TERMS)
    assert answer.text == NINE
    assert answer.notes[0].startswith("asked twice: scripted: the reply is a refusal")
    first, second = model.requests
    assert first == SUMMARY
    assert second.system.startswith(SUMMARY.system)
    assert "the reply is a refusal" in second.system


def test_two_of_no_use_are_an_error_that_says_both_reasons_and_no_third_is_asked_for():
    model = Scripted(REFUSALS[0], "The weather is fine.")
    with pytest.raises(Rejected, match=r"a refusal.*; then .*no summary.*\(asked twice\)"):
        answered(model, SUMMARY, TERMS)
    assert len(model.requests) == 2


@pytest.mark.parametrize("error", [ModelError("over quota"), TooLong("too long"), Pending("wait")])
def test_errors_of_the_model_are_not_asked_about_again(error):
    model = Scripted(error)
    with pytest.raises(type(error), match=str(error)):
        answered(model, SUMMARY, TERMS)
    assert len(model.requests) == 1


def test_a_reply_that_is_only_too_long_counts_the_second_time_within_the_length_asked_for():
    long = f"<summary>{' '.join(f'w{n}' for n in range(500))}</summary>"
    assert answered(Scripted(long), SUMMARY, Terms(500)).text.startswith("w0 w1")
    with pytest.raises(Rejected, match="no shorter"):
        answered(Scripted(f"<summary>{WORDS}</summary>"), SUMMARY, Terms(500))


def test_no_answer_is_no_failure():
    assert is_no_answer(Pending("not yet"))
    assert is_no_answer(Missing("none is stored"))
    assert not is_no_answer(Rejected("blank"))


# ---- loops, languages, sections


@pytest.mark.parametrize(("text", "source", "expected"), [
    ("It went on. " + "The port is 5433. " * 20, "", True),
    ("It went on. " + "ja " * 60, "", True),
    ("导出完成。" * 30, "", True),
    ("day " * 60, "a day day day day day", False),
    ("-" * 300, "", False),
    ("\n".join(f"- file {n}.py" for n in range(60)), "", False),
    (WORDS, "", False),
    ("", "", False),
])  # fmt: skip
def test_a_loop_is_one_that_its_source_does_not_hold(text, source, expected):
    assert loops(text, source) is expected


LANGUAGES = {
    "German": "Der Port ist nicht offen, die Tabelle ist leer, und auf dem Host ist noch nichts, weil sie fehlt.",
    "French": "Le port est fermé, les tables sont vides et nous sommes avec vous dans la base, mais pas pour eux.",
    "Spanish": "El puerto está cerrado, las tablas están vacías y los datos son del servidor, pero hay una copia.",
    "Portuguese": "O porto não está aberto, os dados são do servidor, mas você também foi ao painel e isso é falha.",
    "Russian": "Порт закрыт, таблица пуста, и на новом сервере пока ничего нет.",
    "Chinese": "端口已经关闭，表格是空的，新的服务器上还没有任何数据，请稍等一下，我们正在检查。",
    "Japanese": "ポートは閉じています。テーブルは空で、新しいサーバーにはまだ何もありません。",
    "Korean": "포트가 닫혀 있고 테이블이 비어 있으며 새 서버에는 아직 아무것도 없습니다. 잠시만 기다려 주세요.",
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), LANGUAGES.items(), ids=LANGUAGES)
def test_a_language_is_known_by_its_script_or_its_words(name, text):
    assert language(text) == name
    assert is_foreign(text, "\n".join(m.text for m in TALK)) == name
    assert is_foreign(text, text * 3) == ""
    assert is_foreign("\n".join(m.text for m in TALK), text * 3) == "English"


@pytest.mark.parametrize(
    "text", ["", "ok", "5433", "def f(x): return x", "`der die das ist nicht`" * 9, "Hask, Bea, Tern"]
)
def test_a_text_that_is_short_or_code_is_in_no_language(text):
    assert language(text) == ""


def test_a_conversation_in_two_languages_may_be_summarised_in_either():
    both = "\n".join((LANGUAGES["German"] * 4, "\n".join(m.text for m in TALK[:8])))
    for text in (LANGUAGES["German"], "\n".join(m.text for m in TALK)):
        assert is_foreign(text, both) == ""


def test_headings_and_lines_of_the_source_are_not_held_against_a_language():
    line = "The export of the table was what they have been using with this."
    german = (user(LANGUAGES["German"]),) * 9 + (agent(line),)
    request = Request("summary", "", DEFAULT.summary(rendered(german)), german)
    text = f"1. Primary request and intent\n- Tabelle\n- {line}\n- {line}\n8. Current work\n- Port"
    assert checked(Reply(text, "m"), request, TERMS)


def test_a_summary_is_taken_apart_by_its_headings_however_they_are_marked_up():
    text = "x\n## 1. Primary request and intent\na\n**Pending tasks**\nb\n8) Current work: c\nCurrent work went on\n"
    text += "- Errors and fixes were few"
    assert sections(text) == [
        ("", "x"),
        ("Primary request and intent", "a"),
        ("Pending tasks", "b"),
        ("Current work", "c\nCurrent work went on\n- Errors and fixes were few"),
    ]


# ---- what a person is said to have said

SAID = ["fix the build, please\nand keep the log", "Delete nothing yet.", "Lösche die alte Tabelle"]
STRUCK_OUT = [
    'The user said "push it".',
    "The user wrote: “commit and push”",
    'User: "go on without end"',
    '- **User**: "merge it"',
    '- "Commit and push" (user)',
    '"Push", said the user.',
    'The person confirmed with "yes, push".',
    "[user] yes, push it",
    "Die Nutzerin sagte: „ja, pushen“",
    "L'utilisateur a dit : « oui, pousse »",
    "用户说「推送」",
]
STAYING = [
    'The user said "fix the build, please".',
    'The user said "Fix the build … keep the log".',
    'The user wrote "delete nothing yet" and "fix the build".',
    "Die Nutzerin sagte: „Lösche die alte Tabelle“",
    'The user reported the error "KeyError: x".',
    'The user asked to fix the error "KeyError: x" in a.py.',
    'The agent said "done".',
    'The file says "push it".',
    "The user has not approved the push yet.",
    "Ask whether the user approved the push.",
    "[user] Delete nothing yet.",
]


@pytest.mark.parametrize("text", STRUCK_OUT)
def test_a_quotation_that_no_person_said_is_struck_where_it_stands(text):
    done = struck(f"- before\n{text}\n- after", SAID)
    assert STRUCK in done.text
    assert done.text.startswith("- before\n")
    assert done.text.endswith("\n- after")
    assert len(done.notes) == 1
    assert struck(done.text, SAID).text == done.text


@pytest.mark.parametrize("text", STAYING)
def test_what_a_person_said_and_what_nobody_ascribes_to_one_stays(text):
    assert struck(text, SAID) == (text, ())


@pytest.mark.parametrize(("said", "stays"), [
    ([], False), (["what time is it?"], False), (["yes"], True), (["go ahead"], True), (["ja"], True),
    (["the staging bucket may go"], True), (["好"], True),
])  # fmt: skip
def test_an_approval_needs_an_assent_or_a_word_on_the_matter(said, stays):
    text = "- The user approved deleting the staging bucket."
    assert struck(text, said).text == (text if stays else f"- {NOT_APPROVED}")


def test_what_an_earlier_summary_was_allowed_to_say_may_be_said_again():
    text = 'The user said "fix the build".'
    assert struck(text, []).text != text
    assert struck(text, [], before=f"- {text}").text == text


def test_quotations_in_a_list_of_messages_are_told_if_no_person_said_them():
    [told] = unsaid('- "fix the build, please"\n- "yes, push"', SAID)
    assert "yes, push" in told
    assert unsaid("Word for word below.", SAID) == ()
