"""The outcome of a gate as GitHub shows it beside a job: annotations, and the Markdown as the summary of the job.

An annotation is a workflow command, a line on standard output such as `::error title=...::...`. The signs that end or
part such a line are escaped in what it says: `%`, carriage return and line feed, and in a property `:` and `,` too. Of
each kind GitHub shows ten a step, so there are no more; the last one then tells how many were left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from compactlab.gate.markdown import markdown
from compactlab.gate.outcome import Check, Gated
from compactlab.gate.wording import AROUND, VALUE, difference, headline, moved, visible, why

MOST = 10
"""Annotations of each kind."""
FACTS = 3
"""Lost facts that an annotation names."""

Level = Literal["error", "warning", "notice"]


def annotate(gated: Gated) -> list[str]:
    """Give the workflow commands for an outcome: errors first, at most ten of each kind, none that breaks its line."""
    deciding = [check for check in gated.checks if check.decides]
    failed = [check for check in deciding if check.verdict == "fail"]
    errors = [
        *(command("error", f"{f.kind}: {f.strategy}", f"{f.session} at {f.cut}: {f.reason}") for f in gated.faults),
        *(command("error", f"worse: {check.name}", "\n".join(_told(check))) for check in failed),
    ]
    unshown = [check for check in deciding if check.verdict == "inconclusive"]
    warned = [check for check in deciding if check.warning]
    warnings = [
        *(command("warning", f"not shown: {check.name}", "\n".join(_told(check))) for check in unshown),
        *(command("warning", f"let pass: {check.name}", check.warning) for check in warned),
    ]
    if gated.verdict == "inconclusive" and not warnings:
        warnings = [command("warning", "compactlab gate", "\n".join((headline(gated), *gated.notes)))]
    return [*_most("error", errors), *_most("warning", warnings), command("notice", "compactlab gate", headline(gated))]


def on_github(gated: Gated, environment: Mapping[str, str]) -> list[str]:
    """Append the Markdown to the job's summary and give the lines to print; nothing anywhere but in a GitHub workflow.

    That is where `GITHUB_ACTIONS` is `true`; the summary is the file that `GITHUB_STEP_SUMMARY` names. One that cannot
    be written is a warning among the lines, and changes no verdict.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return []
    lines = annotate(gated)
    if summary := environment.get("GITHUB_STEP_SUMMARY"):
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(markdown(gated) + "\n")
        except OSError as error:
            lines.append(command("warning", "compactlab gate", f"the summary cannot be written: {error.strerror}"))
    return lines


def command(level: Level, title: str, message: str) -> str:
    r"""Write one workflow command; lines of the message stay lines, all else that is unprintable is escaped.

    >>> command("error", "cull: a, b", "50 % lost\nsee message 3")
    '::error title=cull%3A a%2C b::50 %25 lost%0Asee message 3'
    """
    lines = [visible(line, 2 * AROUND) for line in message.split("\n")]
    data = "%0A".join(line.replace("%", "%25") for line in lines)
    return f"::{level} title={_property(visible(title, VALUE))}::{data}"


def _property(text: str) -> str:
    return text.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")


def _most(level: Level, lines: Sequence[str]) -> list[str]:
    if len(lines) <= MOST:
        return [*lines]
    more = command(level, "compactlab gate", f"{len(lines) - MOST + 1:,} more of this kind")
    return [*lines[: MOST - 1], more]


def _told(check: Check) -> Iterator[str]:
    """Why, by how much, and the first facts that were lost."""
    yield f"{why(check)} ({check.base:.3f} to {check.new:.3f}, {difference(check)}, margin {check.margin:g})"
    for fact in check.lost[:FACTS]:
        value, place = visible(fact.value, VALUE), visible(f"{fact.session} at {fact.cut}", VALUE)
        yield f"lost: {fact.family} {value} of {place}, message {fact.home}, needed by message {fact.used}"
    if len(check.lost) > FACTS:
        yield f"{moved(check.lost, check.gained)} in all"
