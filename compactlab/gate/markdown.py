"""The outcome of a gate as Markdown for a pull request: a comment on GitHub or GitLab, or the summary of a job.

The verdict, the faults and what did not simply pass stand open; what passed, which facts moved (where each stood, which
later turn needed it) and what was compared are folded. Whatever comes from transcripts, strategies or settings stands
in a code span that it cannot break out of; servers make no mention, reference or link of what stands there. At most
65,000 characters, under the 65,536 that GitHub takes: what has no room is counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from compactlab.gate.outcome import Check, FactChange, Fault, Gated, Verdict
from compactlab.gate.wording import (
    AROUND,
    VALUE,
    Changes,
    changes,
    counted,
    difference,
    headline,
    moved,
    ranked,
    said,
    visible,
    why,
)

MOST = 65_000
OPEN, FOLDED, TOLD = 9_000, 12_000, 8_000
"""Characters for each of: faults, open rows, their reasons; the rows that passed; what was compared."""
SIGNS: dict[Verdict, str] = {"pass": "✅", "fail": "❌", "inconclusive": "❔"}

_HEAD = """\
| verdict | strategy | agents | metric | baseline | run | difference | margin |
|:--|:--|:--|:--|--:|--:|:--|--:|
"""
_PUNCTUATION = re.compile(r"[!#$&*.:<>@\[\\\]^_`{|}~]")


def markdown(gated: Gated) -> str:
    """Write the outcome as Markdown, at most 65,000 characters of it."""
    checks = ranked(gated.checks)
    shown = [check for check in checks if check.decides and (check.verdict != "pass" or check.warning)]
    folded = [check for check in checks if check not in shown]
    parts = [
        f"## {SIGNS[gated.verdict]} compactlab gate\n",
        f"**{headline(gated)}**\n",
        _listed("### Faults\n\n", map(_fault, gated.faults), OPEN, "fault"),
        _listed(_HEAD, map(_row, shown), OPEN, "check"),
        _listed("", map(_reason, shown), OPEN, "reason"),
    ]
    passed = _listed(_HEAD, map(_row, folded), FOLDED, "check")
    ending = [
        _details(f"{counted(len(folded), 'check')} passed, or decided by those above", passed),
        _details("What was compared", _listed("", _told(gated), TOLD, "note")),
    ]
    room = MOST - sum(len(part) + 1 for part in (*parts, *ending))
    return "\n".join(part for part in (*parts, *_moved(changes(checks), room), *ending) if part)


def code(text: str, most: int = 3 * VALUE) -> str:
    """Put any text into a code span that stands in a paragraph, a list or a table, cut behind *most* characters.

    Where a backtick or a bar is in it, each sign that means something to Markdown is written by its number.

    >>> code("@all, see #12 <b>"), code("a|b"), code("")
    ('`@all, see #12 <b>`', '<code>a&#124;b</code>', '*empty*')
    """
    shown = visible(text, most)
    if not shown:
        return "*empty*"
    if "`" not in shown and "|" not in shown:
        return f"`{shown}`"
    return f"<code>{_PUNCTUATION.sub(lambda sign: f'&#{ord(sign[0])};', shown)}</code>"


def _listed(head: str, lines: Iterable[str], room: int, what: str) -> str:
    """Lines under a head as far as there is room, then how many more there are; nothing where there are none."""
    every = [f"{line}\n" for line in lines]
    if not every:
        return ""
    kept = _fitting(every, room)
    more = f"\n{counted(len(every) - kept, f'more {what}')} left out: no room.\n" if kept < len(every) else ""
    return head + "".join(every[:kept]) + more


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many of the lines have room."""
    used = 0
    for number, line in enumerate(lines):
        used += len(line)
        if used > room:
            return number
    return len(lines)


def _details(summary: str, inside: str) -> str:
    """Fold what is *inside*; *summary* is HTML."""
    return f"<details><summary>{summary}</summary>\n\n{inside}\n</details>\n" if inside else ""


def _fault(fault: Fault) -> str:
    where = f"{code(fault.strategy)} on {code(fault.session)} at {code(fault.cut)}"
    return f"- **{fault.kind}**: {where}: {code(fault.reason, AROUND)}"


def _row(check: Check) -> str:
    sign = "⚠️" if check.warning and check.verdict == "pass" else SIGNS[check.verdict] if check.decides else "➖"
    cells = (
        f"{sign} {said(check)}".replace(" ", "&nbsp;"),
        code(check.strategy),
        code(check.agent_type),
        check.metric,
        f"{check.base:.3f}",
        f"{check.new:.3f}",
        difference(check),
        f"{check.margin:g}",
    )
    return f"| {' | '.join(cells)} |"


def _reason(check: Check) -> str:
    return f"- {code(check.strategy)}, {code(check.agent_type)}, {check.metric}: {code(why(check), AROUND)}"


def _told(gated: Gated) -> Iterator[str]:
    yield f"- Run: {code(gated.signature, 3 * AROUND)}"
    yield f"- Baseline: {code(gated.baseline, 3 * AROUND)}"
    yield from (f"- {code(note, 3 * AROUND)}" for note in gated.notes)


def _moved(found: Iterable[Changes], room: int) -> Iterator[str]:
    """A folded list a strategy of the facts that moved, as long as there is room; at its end what had none."""
    left_out, room = 0, room - VALUE
    for one in found:
        lines = [*(_fact("lost", fact) for fact in one.lost), *(_fact("gained", fact) for fact in one.gained)]
        name = html.escape(visible(one.strategy, 3 * VALUE))
        summary = f"<code>{name}</code>: {moved(one.lost, one.gained)}"
        kept = _fitting(lines, room - len(_details(summary, " ")))
        left_out += len(lines) - kept
        if kept:
            yield (shown := _details(summary, "".join(lines[:kept])))
            room -= len(shown) + 1
    if left_out:
        yield f"{counted(left_out, 'more fact')} moved and had no room here; `--json` names them all.\n"


def _fact(how: str, fact: FactChange) -> str:
    place = f"{code(fact.session)} at {code(fact.cut)}, {fact.regain}"
    return (
        f"- {how}: {code(fact.value, VALUE)} ({fact.family}) in {place}\n"
        f"  - stood in message {fact.home}: {code(fact.home_text, AROUND)}\n"
        f"  - needed by message {fact.used}: {code(fact.used_text, AROUND)}\n"
    )
