"""The page on the strategies tells the truth: its names, parameters, outcomes and controls, and its examples.

Run as a script, `python tests/test_docs_strategies.py` makes the examples anew.
"""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from msgspec.structs import replace

from compactlab import catalog
from compactlab.compaction import Guard
from compactlab.harness.labels import CONTROLS
from compactlab.llm.scripted import Scripted
from compactlab.plan import plan
from compactlab.readers import read
from compactlab.receipt import OUTCOMES
from compactlab.transcript import ToolCall

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "strategies.md"
WIDTH = 96
LONGEST_RUN = 3

SUMMARY = """<analysis>Two quotes, one bed, seven rules.</analysis>
<summary>
1. Primary request and intent
- Bea's father moves in at 9 Tern Street; keep the plan, the numbers and the rules.
2. Key technical concepts
none
3. Files and code sections
- inbox/rooms-and-report.md, inbox/removals-quotes.txt (read); memory/people.md, memory/threads.md (written)
4. Errors and fixes
none
5. Problem solving
- dining room, with the door widened; bed: small double, 120 cm, £415; mover: Hask
6. All user messages
Word for word below.
7. Pending tasks
- the move, Sat 3 October, 09:00; the piano
8. Current work
- the removal quotes
9. Optional next step
- answer about the piano
</summary>"""
THREADS = "- I promised Bea that I never suggest a home.\n- Hask holds his price until Tue 15 September.\n- The piano."

# What each example runs on: a spec, a recorded session, which of its messages, a target, and the model's reply.
EXAMPLES = {
    "none": ("none", "primary-move", range(34), None, ""),
    "microcompact": ("microcompact(keep_recent=1)", "primary-move", range(34), None, ""),
    "cull": ("cull(preserve_recent=4)", "primary-garden", range(179, 191), None, ""),
    "sliding_window": ("sliding_window(preserve_recent=6)", "primary-move", range(34), None, ""),
    "sliding_reflect": ("sliding_reflect(preserve_recent=6)", "primary-move", range(34), None, THREADS),
    "summary": ("summary(preserve_recent=6)", "primary-move", range(34), None, SUMMARY),
    "defer": ("defer(reason='the piano is the last thing to settle')", "primary-move", range(34), None, ""),
    "key_value": ("key_value(kv_target=6, preserve_recent=6)", "primary-move", range(34), None, ""),
    "ladder": ("ladder", "primary-move", range(34), 2_000, ""),
}


def example(name):
    """Write what one strategy makes of some messages of a recorded session: kept lines, lines that went, lines made."""
    spec, session, positions, target, reply = EXAMPLES[name]
    [transcript] = read(ROOT / "fixtures" / "transcripts" / f"{session}.jsonl")
    messages = tuple(replace(transcript.messages[i], source=i) for i in positions)
    planned = plan(messages, spec, target=target, guard=Guard(model=Scripted(reply) if reply else None))
    receipt = planned.receipt
    aim = f", target {target:,}" if target else ""
    said = f" ({receipt.reason})" if receipt.reason else ""
    head = [
        f"{spec} on messages {positions[0]}-{positions[-1]} of {session}{aim}",
        f"{receipt.outcome}{said}: {receipt.tokens_before:,} -> {receipt.tokens_after:,} tokens",
        *(f"note: {note}" for note in receipt.notes),
    ]
    return "\n".join(_cut(line) for line in (*head, "", *_shortened(_lines(messages, planned.apply(messages)))))


def _lines(before, after):
    """A line a block, as a difference shows it: ` ` stayed, `-` went, `+` came."""
    left = {message.source: message for message in after if message.source is not None}
    made = [message for message in after if message.source is None]
    found = []
    for message in before:
        now = left.get(message.source)
        at = after.index(now) if now else len(after)
        while made and after.index(made[0]) < at and now:
            found += _shown("+", made.pop(0))
        if now == message:
            found += _shown(" ", message)
        else:
            found += _shown("-", message) + (_shown("+", now) if now else [])
    return found


def _shown(mark, message):
    role = "note" if message.synthetic else message.role
    texts = [f"{b.name} {b.arguments}" if isinstance(b, ToolCall) else _words(b) for b in message.blocks]
    lines = [line for text in texts for line in (text.split("\n") if role == "note" else [" ".join(text.split())])]
    return [f"{mark} {role if n == 0 or role != 'note' else '':9}  {line}" for n, line in enumerate(lines)]


def _words(block):
    return getattr(block, "text", "") or "(a picture)"


def _shortened(lines):
    """Long runs of lines that stayed, or went, as their first ones and a count."""
    runs = []
    for line in lines:
        if runs and runs[-1][0][0] == line[0]:
            runs[-1].append(line)
        else:
            runs.append([line])
    for run in runs:
        most = 30 if run[0][0] == "+" else LONGEST_RUN
        yield from run[:most]
        if len(run) > most:
            yield f"{run[0][0]} {'':9}  (and {len(run) - most} more)"


def _cut(line):
    return (line if len(line) <= WIDTH else f"{line[: WIDTH - 2].rstrip()} …").rstrip()


def with_examples(page):
    """The page with every example as it is today."""
    for name in EXAMPLES:
        block = f"<!-- example {name} -->\n```diff\n{example(name)}\n```\n<!-- /example -->"
        page = re.sub(rf"<!-- example {name} -->.*?<!-- /example -->", lambda _, b=block: b, page, flags=re.DOTALL)
    return page


# ---- the tests


def text():
    return PAGE.read_text(encoding="utf-8")


def section(title):
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text(), re.MULTILINE | re.DOTALL)
    assert found, f"the page has no section {title!r}"
    return found[1]


def rows(title):
    """First cells of a section's tables, without headings, and the other cells beside them."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section(title).split("\n") if "|" in line
    ]
    return {row[0].strip("`*"): row[1:] for row in cells if not re.fullmatch(r":?-+:?", row[0])}


def test_every_strategy_of_the_catalog_has_a_section_and_an_example():
    titles = {title.strip("`") for title in re.findall(r"^## (`\w+`)$", text(), re.MULTILINE)}
    assert titles == set(catalog.names("strategies")) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_what_the_strategy_does_today(name):
    shown = re.search(
        rf"<!-- example {name} -->\n```diff\n(.*?)\n```\n<!-- /example -->", section(f"`{name}`"), re.DOTALL
    )
    assert shown[1] == example(name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_shows_what_it_is_meant_to_show(name):
    lines = example(name).split("\n")
    expected = {"none": "skipped", "defer": "deferred"}.get(name, "applied")
    assert lines[1].startswith(expected)
    marks = {line[0] for line in lines[lines.index("") + 1 :]}
    assert " " in marks
    assert ("-" in marks) == (expected == "applied")
    assert all(len(line) <= WIDTH for line in lines)


@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_parameters_and_defaults_are_those_of_the_class(name):
    body = section(f"`{name}`")
    own = fields(catalog.strategy_class(name))
    shown = {cells[0]: cells[1] for cells in re.findall(r"^\| `(\w+)` \| `(.*?)` \|", body, re.MULTILINE)}
    if name == "ladder":
        assert shown == {"steps": "microcompact, cull, sliding_window"}
    else:
        assert shown == {field.name: repr(field.default) for field in own if field.name != "tools"} | (
            {"tools": "the seven"} if name == "microcompact" else {}
        )


@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_a_section_says_what_it_keeps_what_it_loses_and_when_to_use_it(name):
    body = section(f"`{name}`")
    for label in ("Seed", "Keeps", "Loses", "Use it"):
        assert re.search(rf"(^|\. )\*\*{label}:?\*\* ", body, re.MULTILINE), label


@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_every_other_name_stands_in_its_section(name):
    module, cls = catalog.load("strategies", name), catalog.strategy_class(name)
    for alias in (*getattr(module, "ALIASES", ()), *cls.parameter_aliases):
        assert f"`{alias}" in section(f"`{name}`"), alias


def test_the_table_of_outcomes_is_that_of_the_guard():
    assert set(OUTCOMES) <= set(rows("What comes out"))


def test_the_table_of_controls_is_that_of_the_harness():
    assert set(CONTROLS) == set(rows("Controls")) - {"control"}


def test_specs_on_the_page_can_be_read():
    specs = re.findall(r"`(\w+\([^`]*\))`", text())
    assert specs
    for spec in specs:
        assert catalog.strategy(spec).name in spec


if __name__ == "__main__":
    PAGE.write_text(with_examples(text()), encoding="utf-8")
