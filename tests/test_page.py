"""The page of a run as a file: what stands in it, how it is kept from running anything, and what is left out of it."""

import json
import re
from html import unescape

import ahocorasick_rs
import pages
import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st
from pages import Parts, parsed

from compactlab.facts import FAMILIES
from compactlab.readers import read
from compactlab.report import Report
from compactlab.report.page import page
from compactlab.report.page.document import SCRIPTS, STYLES, digest, file, script_data
from compactlab.report.page.tables import number
from compactlab.report.table import main_table
from compactlab.results.origins import Found
from compactlab.transcript import Image, readable


def strings(value):
    """All strings of plain data, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in strings(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in strings(inner))


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner, max_size=3), max_leaves=8))
def test_data_comes_back_as_it_was_and_cannot_end_its_script(value):
    text = script_data("d", value)
    inside = text.removeprefix('<script type="application/json" id="d">').removesuffix("</script>")
    assert json.loads(inside) == value
    assert not set(inside) & set("<>&\u2028\u2029")
    inside.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-", None),
        ("", None),
        ("52 skipped", 52),
        (".98±.02", 0.98),
        ("-.01±.00", -0.01),
        ("−4%", -4),
        ("1,204.5", 1204.5),
        ("better", None),
        ("<.001", 0.001),
        ("<b>", None),
    ],
)
def test_a_cell_sorts_by_the_number_that_it_begins_with(text, expected):
    assert number(text) == expected


@pytest.mark.parametrize("path", [pages.short_page, pages.hostile_page, pages.replay_page])
def test_the_page_lets_in_nothing_but_its_own_style_and_script(path):
    parts = parsed(path())
    (policy,) = (a["content"] for t, a in parts.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    text = path().read_text(encoding="utf-8")
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert digest(inside) in policy
    loaded = [a.get(name, "") for _, a in parts.elements for name in ("src", "href", "srcset") if name in a]
    assert loaded
    assert all(address.startswith(("data:image/svg+xml;base64,", "#")) for address in loaded)
    assert not [a for _, a in parts.elements if any(name.startswith("on") or name == "style" for name in a)]


def test_no_script_of_the_page_writes_markup():
    code = "".join(map(file, SCRIPTS))
    assert len(code) > 10_000
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|srcdoc", code)
    assert "url(" not in "".join(map(file, STYLES))


def test_the_same_run_gives_the_same_page():
    report = Report(runs.short().results)
    found = pages.transcripts()
    assert page(report, found) == page(report, found) == pages.short_page().read_text(encoding="utf-8")


def test_the_page_holds_the_tables_sentences_and_signature():
    report = Report(runs.short().results)
    text = unescape(re.sub("<[^>]+>", "", pages.short_page().read_text(encoding="utf-8")))
    for section in (main_table(report.summary), *report.tables()):
        assert section.title in text or section.title == "Main"
        assert section.signature in text
        assert all(cell in text for row in section.rows for cell in row)
    assert report.sentences
    assert all(sentence in text for sentence in report.sentences)


def test_what_each_pass_left_can_be_had_from_the_page():
    data = parsed(pages.short_page()).data
    held = {fact.session: fact for fact in runs.short().results.needed}
    assert len(held) == len(runs.SHORT)
    sessions = [data[f"session-{i}"] for i in range(len(data["sessions-index"]))]
    assert [session["name"] for session in sessions] == sorted(runs.SHORT)
    for session in sessions:
        for cut in session["cuts"]:
            base = [i for first, last in cut["base"] for i in range(first, last + 1)]
            for done in cut["passes"]:
                kept = sum(last - first + 1 for kind, first, last in (e for e in done["left"] if e[0] == "k"))
                made = [entry[-1] for entry in done["left"] if entry[0] != "k"]
                tokens = [
                    session["messages"][base[i]][1] for e in done["left"] if e[0] == "k" for i in range(e[1], e[2] + 1)
                ]
                tokens += [session["messages"][number][1] for number in made]
                assert sum(tokens) == done["after"]
                assert kept <= len(base)
                assert len(done["needed"]) == len(cut["facts"])


def test_facts_are_marked_where_they_stand():
    data = parsed(pages.short_page()).data
    marked = 0
    for i in range(len(data["sessions-index"])):
        session = data[f"session-{i}"]
        for cut in session["cuts"]:
            base = [i for first, last in cut["base"] for i in range(first, last + 1)]
            for fact in cut["facts"]:
                value, home, used, home_mark, used_mark = fact[1], base[fact[6]], fact[7], fact[10], fact[11]
                for message, (block, start, end) in ((home, home_mark), (used, used_mark)):
                    text = session["texts"][session["messages"][message][4][block][2]]
                    shown = text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end].decode("utf-16-le")
                    marked += shown.casefold() == value.casefold()
                    assert 0 < len(shown) <= max(40, len(value))
    assert marked > 50


def test_a_session_that_is_not_found_is_told_of_without_its_messages():
    report = Report(runs.short().results)
    found = pages.transcripts()
    gone = runs.SHORT[0]
    less = Found({name: t for name, t in found.transcripts.items() if name != gone}, {gone: "its file is gone"})
    data = Parts(page(report, less)).data
    (session,) = (one for one in (data[f"session-{i}"] for i in range(3)) if one["name"] == gone)
    assert session["missing"] == "its file is gone"
    assert session["messages"] == []
    assert any(cut["facts"] for cut in session["cuts"])


def shared_words():
    """All that may stand in the data of a page that is shared, beside numbers and digests."""
    verdicts = {"text", "reasoning", "call", "result", "picture", "system", "user", "assistant", "tool", "k", "e", "m"}
    uses = {"action", "bulk", "text", "reobtainable", "irrecoverable", "", "applied", "skipped"}
    return verdicts | uses | set(FAMILIES) | set(runs.STRATEGIES) | {"0.4", "0.55", "0.7", "0.85"}


def test_a_shared_page_holds_a_closed_set_of_words_numbers_and_digests():
    data = parsed(pages.shared_page()).data
    assert len(data) == 1 + len(runs.SHORT)
    others = {text for text in strings(list(data.values())) if text not in shared_words()}
    kinds = "primary|subagent|subconscious"
    assert all(re.fullmatch(rf"[0-9a-f]{{8}}|({kinds})( [0-9a-f]{{6}})?|[blmx]+", text) for text in others), others


def test_a_shared_page_holds_no_text_of_a_transcript():
    path = pages.shared_page()
    text = unescape(path.read_text(encoding="utf-8"))
    text += "\n".join(strings(list(parsed(path).data.values())))
    own = "".join(map(file, (*STYLES, *SCRIPTS, "page.html", "sessions.html", "replays.html")))
    lines, secret = set(), set()
    for transcript in read(runs.short_transcripts()):
        secret |= {transcript.id, transcript.title, transcript.path, str(runs.scratch())}
        blocks = [block for message in transcript.messages for block in message.blocks if not isinstance(block, Image)]
        lines |= {line.strip() for block in blocks for line in readable(block).splitlines()}
    lines = {line for line in lines if len(line) >= 12 and line not in own} | secret
    assert len(lines) > 800
    assert [text[s:e] for _, s, e in ahocorasick_rs.AhoCorasick(sorted(lines)).find_matches_as_indexes(text)] == []
    values = {fact.value for fact in runs.short().results.needed if len(fact.value) > 5}
    assert len(values) > 20
    assert [value for value in values if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)] == []


def test_equal_texts_have_equal_digests_and_other_texts_others():
    shared, plain = parsed(pages.shared_page()).data, parsed(pages.short_page()).data
    names = {one["name"]: i for i, one in enumerate(plain["sessions-index"])}
    digests, texts = {}, {}
    for i in names.values():
        for one, other in zip(shared[f"session-{i}"]["messages"], plain[f"session-{i}"]["messages"], strict=True):
            for (_, _, length, found), (_, _, at) in zip(one[4], other[4], strict=True):
                text = plain[f"session-{i}"]["texts"][at]
                assert len(text) == length
                assert digests.setdefault(text, found) == found
                assert texts.setdefault(found, text) == text
    assert len(digests) > 100
