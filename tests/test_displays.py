"""What notebooks show: whole, in pages, and with the texts of transcripts as data."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pandas as pd
import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st

import compactlab
from compactlab import displays
from compactlab.compaction import Guard
from compactlab.displays import _page as page
from compactlab.policy import policy
from compactlab.replay import Session, replay
from compactlab.report import Report
from compactlab.report.section import Section
from compactlab.transcript import Image, Message, Reasoning, RecordedCompaction, Text, ToolCall, ToolResult, Transcript

ETL = compactlab.read(runs.CHECKOUT / "fixtures" / "transcripts" / "subagent-etl.jsonl")[0]
TAGS = set("div style table thead tbody tr th td details summary ul li pre span i svg rect line polyline text".split())
ATTRIBUTES = set("class style title role tabindex open max value".split()) | {"aria-label"}
OF_DRAWINGS = set("x y x1 x2 y1 y2 width height fill stroke points viewbox preserveaspectratio".split()) | {
    "stroke-width",
    "stroke-dasharray",
    "text-anchor",
}


class Page(HTMLParser):
    """Reads HTML as a browser does: tags, attributes, and the words between them without the style."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open, self.words = [], set(), [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag not in {"rect", "line", "polyline"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in {"rect", "line", "polyline"}:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def shown(thing):
    """The page that an object shows of itself, checked to be whole and without anything that could run."""
    found = Page(thing._repr_html_())
    assert found.open == []
    assert set(found.tags) <= TAGS | {"progress"}
    assert found.attributes <= ATTRIBUTES | OF_DRAWINGS
    return found


def told(thing):
    """What an object writes where only text is shown."""
    written = []

    class Printer:
        text = staticmethod(written.append)

    thing._repr_pretty_(Printer, cycle=False)
    return "".join(written)


def test_a_transcript_shows_what_it_holds_and_every_message():
    found = shown(ETL)
    assert "136 messages" in found.text
    assert "117,925 tokens" in found.text
    assert found.tags.count("tr") == len(ETL.messages) + found.tags.count("thead")
    assert told(ETL) == "Transcript 'subagent-etl' (compactlab, subagent): 136 messages"


def test_recorded_compactions_are_told():
    messages = tuple(Message("user", (Text(f"line {i}"),)) for i in range(6))
    found = shown(Transcript("t", "f", messages, compactions=(RecordedCompaction(4, "auto", after=(0,)),)))
    assert "recorded compaction before message 4 (auto): 4 messages became 1" in found.text


def test_a_message_shows_its_blocks_in_order_and_cuts_long_ones():
    blocks = (
        Reasoning("think"),
        Text("x" * 7_000),
        ToolCall("c1", "grep", '{"pattern": "port"}'),
        ToolResult("c1", (Text("5433"),), is_error=True),
        Image("image/png", 20, 10),
        Reasoning(opaque="abc"),
    )
    found = shown(Message("assistant", blocks, pinned=True)).text
    order = ["think", "1,000 more characters", "call c1: grep", "port", "an error", "5433", "20 x 10", "[opaque]"]
    places = [found.index(words) for words in order]
    assert places == sorted(places)
    assert "assistant pinned" in found


def test_a_compaction_and_its_receipt_show_what_became_of_every_message():
    done = compactlab.compact(ETL.messages, "microcompact")
    for thing in done, done.receipt:
        found = shown(thing)
        assert "microcompact: applied" in found.text
        assert "117,925 → 36,715 tokens" in found.text
        wide = [int(width) for width in re.findall(r'width="(\d+)" height', thing._repr_html_())]
        assert sum(wide) == len(done.receipt.changes)
    assert told(done) == done.receipt.to_text()


def test_a_replay_shows_its_fires_and_turns():
    done = replay(Session(ETL), policy("microcompact@0.8+sliding_window@0.9"), 48_000, Guard())
    found = shown(done)
    assert f"{len(done.fires)} fires" in found.text
    assert done._repr_html_().count('stroke="#c2410c"') == len(done.fires) > 1
    assert found.tags.count("tr") == len(done.turns) + len(done.fires) + 2
    assert told(done).startswith("Replay of 'subagent-etl' under microcompact@0.8+sliding_window@0.9: window 48,000")


@pytest.mark.parametrize("window", [500, 4_000, 48_000])
def test_a_replay_that_ends_early_says_so(window):
    done = replay(Session(ETL), policy("none"), window, Guard())
    assert f"ended early: {done.overflow}" in shown(done).text


def test_a_run_and_its_report_show_the_main_table():
    report = Report(runs.short().results)
    for thing in report, report.results:
        found = shown(thing).text
        assert all(row.name in found for row in report.summary.rows)
        assert "how to read it" in found
        assert told(thing).startswith(f"{type(thing).__name__} {report.results.folder}: 3 sessions, cut at")


def test_a_run_of_replays_shows_its_policies(tmp_path):
    settings = compactlab.Settings(("cull", "sliding_window"), mode="replay", window=8_000, jobs=1)
    results = compactlab.run(runs.CHECKOUT / "fixtures" / "short", tmp_path / "run", settings)
    found = shown(results).text
    assert "1 session replayed under 2 policies: window 8000" in found
    assert all(name in found for name in ("cull", "sliding_window", "kept at 1"))


def test_every_table_of_a_report_shows_its_rows_and_what_is_said_under_it():
    sections = Report(runs.short().results).tables()
    assert len(sections) > 5
    for section in sections:
        found = shown(section)
        assert found.tags.count("tr") == len(section.rows) + 1
        assert section.title in found.text
        assert section.signature in found.text
        assert told(section).startswith(f"Section {section.title!r}: {len(section.rows)} rows")


@pytest.mark.parametrize(("rows", "pages"), [(0, 0), (1, 0), (100, 0), (101, 2), (250, 3)])
def test_long_tables_come_in_pages_of_which_the_first_is_open(rows, pages):
    frame = pd.DataFrame({"n": range(rows)})
    found = shown(displays.table(frame))
    assert found.tags.count("details") == pages
    assert found.tags.count("tr") == rows + max(pages, 1)
    assert displays.table(frame).markup.count("<details open>") == min(pages, 1)


def test_a_frame_is_shown_whole_with_its_index_and_without_endless_digits():
    frame = pd.DataFrame(
        {"share": [0.123456, None], "tokens": [1_234_567, 8], "kept": [True, False], "words": ["x" * 400, None]},
        index=pd.Index(["none", "bag"], name="strategy"),
    )
    found = shown(displays.table(frame, "Kept", "Of all."))
    for words in ("strategy", "0.12", "1,234,567", "yes", "no", "x" * 400, "Kept", "Of all."):
        assert words in found.text
    assert "nan" not in found.text.lower()
    assert 'class="cl-control"><td class="cl-name">bag' in displays.table(frame).markup


HOSTILE = [
    "</pre></div><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style><style>*{display:none}",
    "<!-- ",
    "\ud800 lone",
    "\u202e turned",
    "\x00\x1b[31m",
    "&lt;b&gt;",
    "'\"><svg onload=alert(1)>",
    "]]>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_transcripts_is_data(text):
    call = ToolCall(text, text, text)
    blocks = (Text(text), Reasoning(text), call, ToolResult(text, (Text(text),)), Image(text))
    said = tuple(Message(role, blocks, timestamp=text) for role in ("user", "assistant", "user", "assistant"))
    session = Transcript(text, text, said, title=text, agent_type=text)
    for thing in session, said[0], compactlab.compact(said, "microcompact"), displays.listing(said, text):
        shown(thing)
        thing._repr_html_().encode()
    named = "kept" if text.startswith("\ud800") else text  # pandas takes no lone surrogates for names
    frame = pd.DataFrame({named: [text]}, dtype=object, index=pd.Index([text], name=named, dtype=object))
    section = Section(text, (text, text + "1"), [(text, text)], text, (text + "1",), text)
    for table in section, displays.table(frame, text, text):
        shown(table)


@given(st.text(alphabet=st.characters()))
def test_escaped_text_is_read_back_as_the_words_that_it_is(text):
    read = Page(f"<div>{page.escaped(text)}</div>")
    assert read.tags == ["div"]
    lost = "\N{REPLACEMENT CHARACTER}"
    back = "".join(read.words)
    assert len(back) == len(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    assert all(a in (b, lost) for a, b in zip(back, text, strict=False) if ord(b) < 0xD800)


@given(st.lists(st.sampled_from(["kept", "edited", "dropped", "made"]), max_size=60))
def test_a_strip_has_a_place_for_every_message_and_joins_neighbours(fates):
    drawn = page.strip(fates)
    assert sum(int(width) for width in re.findall(r'width="(\d+)" height', drawn)) == len(fates)
    assert drawn.count("<rect") == sum(a != b for a, b in pairwise(fates)) + bool(fates)


def test_credentials_are_masked_also_where_they_stand_bare():
    bare = "sk-proj-Zk3v9QmT7xW2bN8cR5yL1pD6"
    said = (
        Message("user", (Text(f"API_KEY={bare}"),)),
        Message("assistant", (Text(f"I use {bare} now."), ToolCall("c", "bash", f'{{"command": "x {bare}"}}'))),
    )
    for thing in Transcript("t", "f", said), said[0], said[1], displays.listing(said):
        assert bare not in thing._repr_html_()
    assert bare not in told(said[0])


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="int: no display is known"):
        displays.html(3)


def test_a_long_session_says_how_many_messages_are_not_listed():
    said = tuple(Message("user", (Text(str(i)),)) for i in range(2_005))
    found = shown(Transcript("t", "f", said)).text
    assert "and 5 more messages" in found
    assert "2,005 messages" in found
