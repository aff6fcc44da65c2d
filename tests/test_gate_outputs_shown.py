"""What a gate writes as Markdown and as annotations for GitHub, whatever the texts in it are."""

import re
from html.parser import HTMLParser

import pytest
from gate_outcomes import BROKEN, FACT, HOSTILE, OUTCOMES, SAME, WORSE, every_outcome, gated, outcomes
from hypothesis import given, settings
from markdown_it import MarkdownIt
from msgspec.structs import replace

from compactlab.gate.annotations import MOST, annotate, command, on_github
from compactlab.gate.markdown import code, markdown
from compactlab.gate.wording import visible


def test_any_text_becomes_one_line_that_can_be_printed():
    for hostile in HOSTILE:
        shown = visible(hostile, 100)
        assert shown.isprintable()
        assert len(shown) <= 100 + len("… (5,000 characters)")
    assert visible("a\x00\ud83d\u202e", 100) == "a\\x00\\ud83d\\u202e"


# ---- Markdown

FRAME = {"h2", "h3", "p", "strong", "em", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "code", "details",
         "summary"}  # fmt: skip


class _Page(HTMLParser):
    """The tags of a page, those that are open at its end, and the words that stand in no code span."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.words, self.cells = [], [], [], 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, [name for name, _ in attrs if name != "style"]))
        self.open.append(tag)
        self.cells += tag == "td"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "code" not in self.open:
            self.words.append(data)


def rendered(outcome):
    return _Page(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown(outcome)))


@settings(max_examples=100)
@given(outcomes())
def test_no_text_gets_out_of_its_code_span(outcome):
    page = rendered(outcome)
    assert {tag for tag, _ in page.tags} <= FRAME
    assert all(not attributes for _, attributes in page.tags)
    assert page.open == []
    assert page.cells == 8 * len(outcome.checks)
    assert not re.search(r"@|#\d|https?:|www\.|javascript|GH-\d|[|`\\<>]", " ".join(page.words))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_code_span_holds_the_very_text(hostile):
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(f"| a |\n|--|\n| {code(hostile)} |")
    cell = re.search(r"<td>(.*)</td>", page, re.DOTALL)[1]
    shown = re.sub(r"</?(code|em)>", "", cell)
    plain = re.sub(r"&#(\d+);", lambda sign: chr(int(sign[1])), shown)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        plain = plain.replace(entity, sign)
    assert plain == (visible(hostile, 360) or "empty")


def test_the_verdict_stands_first_then_the_faults_then_what_failed():
    page = markdown(gated("fail", [SAME, WORSE], [BROKEN]))
    places = [page.index(part) for part in ("❌", "Worse than the baseline: 1 check of 2 failed and 1 fault.",
              "- **error**: `summary` on `garden` at `0.4`: `ValueError: no reply`", "microcompact(keep_recent=4)",
              "1 fact lost", "stood in message 12: `to port 5433 on`",
              "needed by message 40: `curl :5433/x`", "`cull`")]  # fmt: skip
    assert places == sorted(places)


@every_outcome
def test_each_outcome_says_what_it_is(outcome):
    first, _, second = markdown(outcome).split("\n")[:3]
    words = {"fail": ("❌", "Worse"), "pass": ("✅", "No worse"), "inconclusive": ("❔", "Not shown")}[outcome.verdict]
    assert words[0] in first
    assert second.startswith(f"**{words[1]}")


def test_a_fact_of_several_checks_is_listed_once():
    both = gated("fail", [WORSE, replace(WORSE, metric="bound")])
    assert markdown(both).count("- lost: ") == 1


@pytest.mark.parametrize("size", [1, 300])
def test_it_is_never_longer_than_github_takes_and_counts_what_it_left_out(size):
    lost = [FACT._replace(value=str(i), home_text="é|" * size, used_text="@" * size) for i in range(900)]
    many = [
        replace(WORSE, strategy=f"s{i}" + "x" * size, reason="y" * size, lost=tuple(lost[i::200])) for i in range(200)
    ]
    broken = [BROKEN._replace(session=f"n{i}" + "z" * size) for i in range(500)]
    page = markdown(gated("fail", many, broken, ["w" * 900] * 200))
    shown = page.count("- lost: ")
    assert 20_000 < len(page) <= 65_000
    assert f"{900 - shown:,} more facts moved and had no room here" in page
    assert f"{500 - page.count('- **error**')} more faults left out" in page
    assert _Page(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(page)).open == []


# ---- annotations


def read_back(line):
    """What GitHub reads from a workflow command: kind, title, message."""
    kind, title, data = re.fullmatch(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)", line).groups()
    for escape, sign in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        title = title.replace(escape, sign)
        data = data if sign in ":," else data.replace(escape, sign)
    return kind, title.replace("%25", "%"), data.replace("%25", "%")


@pytest.mark.parametrize("title", ["cull", "a:b, c%", "100%0A", "::x::"])
@pytest.mark.parametrize("message", ["plain", "two\nlines", "50 % of a::b, c", "%0A stays"])
def test_a_command_says_what_it_was_given(title, message):
    assert read_back(command("error", title, message)) == ("error", title, message)


@settings(max_examples=50)
@given(outcomes())
def test_annotations_are_single_lines_of_which_github_shows_all(outcome):
    found = [read_back(line)[0] for line in annotate(outcome)]
    assert all(found.count(kind) <= MOST for kind in ("error", "warning", "notice"))
    assert ("error" in found) == bool(outcome.faults or any(c.verdict == "fail" for c in outcome.checks))
    assert ("warning" in found) or outcome.verdict != "inconclusive"


def test_of_many_errors_the_last_says_how_many_more_there_are():
    lines = annotate(gated("fail", [WORSE] * 5, [BROKEN] * 12))
    assert [read_back(line)[0] for line in lines].count("error") == 10
    assert lines[9] == "::error title=compactlab gate::8 more of this kind"


def test_an_annotation_names_the_lost_facts():
    kind, title, message = read_back(annotate(OUTCOMES["worse"])[0])
    assert (kind, title) == ("error", "worse: microcompact(keep_recent=4) / all / irrecoverable")
    assert message.endswith("\nlost: number 5433 of garden at 0.55, message 12, needed by message 40")


def test_nothing_is_written_outside_of_a_github_workflow(tmp_path):
    summary = tmp_path / "summary.md"
    for said in (None, "", "false", "True"):
        environment = {"GITHUB_STEP_SUMMARY": str(summary)} | ({} if said is None else {"GITHUB_ACTIONS": said})
        assert on_github(OUTCOMES["worse"], environment) == []
    assert not summary.exists()


def test_in_a_github_workflow_the_markdown_is_added_to_the_summary_of_the_job(tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    lines = [on_github(OUTCOMES[name], environment) for name in ("worse", "passed")]
    assert lines == [annotate(OUTCOMES["worse"]), annotate(OUTCOMES["passed"])]
    pages = markdown(OUTCOMES["worse"]), markdown(OUTCOMES["passed"])
    assert summary.read_text(encoding="utf-8") == f"before\n{pages[0]}\n{pages[1]}\n"


def test_a_summary_that_cannot_be_written_is_a_warning(tmp_path):
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path)}
    last = on_github(OUTCOMES["passed"], environment)[-1]
    assert read_back(last)[2].startswith("the summary cannot be written: ")
