"""What a gate prints: faults first, then a table, what moved, the facts by name, and the verdict with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from compactlab.cli.output import console
from compactlab.gate.checks import ALL
from compactlab.gate.outcome import Check, Fault, Gated, Verdict
from compactlab.gate.wording import AROUND, VALUE, changes, headline, ranked, visible

if TYPE_CHECKING:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

FIRST = 10
"""So many facts, and so many faults, are named; --json has all."""
STYLES: dict[Verdict, str] = {"pass": "green", "fail": "bold red", "inconclusive": "yellow"}
MARKS: dict[Verdict, str] = {"pass": "pass", "fail": "FAIL", "inconclusive": "not shown"}


class _Row(NamedTuple):
    """A line of the table: a strategy on all sessions, or on those of one type of agent."""

    strategy: str
    agent_type: str
    checks: tuple[Check, ...]


def print_gated(gated: Gated, code: int, *, accepted: bool = False) -> None:
    """Print the outcome; *code* is what the command exits with, *accepted* says that it becomes the baseline."""
    out = console()
    for part in (_faults(gated.faults), _checks(gated.checks), _reasons(gated.checks), _facts(gated.checks)):
        for line in (printed := [*part]):
            out.print(line)
        if printed:
            out.print()
    for note in gated.notes:
        out.print(f"note: {note}", markup=False)
    out.print(f"baseline: {gated.baseline}", style="dim", markup=False)
    out.print(gated.signature, style="dim", markup=False)
    for said in [_verdict(gated, code)] if not accepted else _accepted(gated):
        out.print(said, style=STYLES[gated.verdict] if not accepted else "bold", markup=False)


def _table(headings: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in headings:
        table.add_column(name, overflow="fold")
    return table


def _faults(faults: Sequence[Fault]) -> Iterator[Text | Table]:
    from rich.text import Text

    if faults:
        table = _table(("fault", "strategy", "session", "cut", "why"))
        for fault in faults[:FIRST]:
            table.add_row(Text(fault.kind, style="bold red"), *(Text(visible(part, AROUND)) for part in fault[1:]))
        yield table
        yield from _more(len(faults) - FIRST, "faults")


def _checks(checks: Sequence[Check]) -> Iterator[Text | Table]:
    """A row a strategy, with a column a metric; a type of agent has a row where something moved on its sessions."""
    from rich.text import Text

    metrics = list(dict.fromkeys(check.metric for check in checks))
    table = _table(("strategy", "sessions\n(stories)", *metrics))
    for row in _rows(checks):
        by_metric = {check.metric: check for check in row.checks}
        name = Text(row.strategy if row.agent_type == ALL else f"  {row.agent_type}")
        some = row.checks[0]
        of = Text(f"{some.sessions} ({some.stories})")
        table.add_row(name, of, *(_cell(by_metric.get(metric)) for metric in metrics))
    yield table


def _rows(checks: Iterable[Check]) -> Iterator[_Row]:
    grouped: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        grouped.setdefault((check.strategy, check.agent_type), []).append(check)
    for (strategy, agent_type), found in grouped.items():
        if agent_type == ALL or any(map(_moved, found)):
            yield _Row(strategy, agent_type, tuple(found))


def _moved(check: Check) -> bool:
    return bool(check.difference or check.lost or check.gained)


def _cell(check: Check | None) -> Text:
    """The value with what it moved by, and the verdict."""
    from rich.text import Text

    if check is None:
        return Text("-", style="dim")
    interval = "" if check.exact or check.low is None else f" [{check.low:+.3f}, {check.high:+.3f}]"
    moved = f" {check.difference:+.3f}{interval}" if _moved(check) or interval else ""
    word = MARKS[check.verdict] if check.decides else "told only"
    style = STYLES[check.verdict] if check.decides and (moved or check.verdict != "pass") else "dim"
    return Text(f"{check.new:.3f}{moved} ") + Text(word, style=style)


def _reasons(checks: Sequence[Check]) -> Iterator[Padding]:
    """Why each check that decides did not pass, what is warned of, and what moved; the worst first."""
    from rich.text import Text

    whole = {(check.strategy, check.metric): check.verdict for check in checks if check.agent_type == ALL}
    for check in ranked(check for check in checks if check.decides and (check.verdict != "pass" or _moved(check))):
        if check.agent_type != ALL and check.verdict == whole[check.strategy, check.metric]:
            continue
        warned = check.verdict == "pass" and bool(check.warning)
        of = "" if check.agent_type == ALL else f" ({check.agent_type})"
        why = check.warning if warned else check.reason
        word = Text("warning" if warned else MARKS[check.verdict], style="yellow" if warned else STYLES[check.verdict])
        said = Text(f"  {visible(check.strategy, VALUE)}{of}, {check.metric}: {why}", style="default not bold")
        yield _hanging(word + said, 0)


def _facts(checks: Sequence[Check]) -> Iterator[Padding | Text]:
    """The facts that were lost, by strategy, then those that were gained, the first ten of each by name."""
    from rich.text import Text

    found = changes(checks)
    for how, style in (("lost", "red"), ("gained", "green")):
        facts = [(one.strategy, fact) for one in found for fact in getattr(one, how)]
        for strategy in dict.fromkeys(strategy for strategy, _ in facts[:FIRST]):
            yield Text(f"{how} by {visible(strategy, VALUE)}", style=f"bold {style}")
            for fact in (fact for by, fact in facts[:FIRST] if by == strategy):
                place = f"{visible(fact.session, VALUE)} at {fact.cut}, {fact.family}, {fact.regain}"
                value = Text(visible(fact.value, VALUE), style=style)
                yield _hanging(value + Text(f"  {place}", style="default"), 2)
                yield _hanging(Text(f"stood in message {fact.home}: {visible(fact.home_text, AROUND)}", "dim"), 6)
                yield _hanging(Text(f"needed by message {fact.used}: {visible(fact.used_text, AROUND)}", "dim"), 6)
        yield from _more(len(facts) - FIRST, f"facts {how}")


def _hanging(text: Text, indent: int) -> Padding:
    """A text that keeps its indent where it is folded."""
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, indent))


def _more(number: int, what: str) -> Iterator[Text]:
    from rich.text import Text

    if number > 0:
        yield Text(f"and {number:,} {what} more: --json has all", style="dim")


def _verdict(gated: Gated, code: int) -> str:
    """The verdict in a sentence, and what to do."""
    todo = {
        "pass": "",
        "fail": " If that is meant, the same command with --update-baseline accepts it.",
        "inconclusive": " Measure more stories or more replicates; --inconclusive pass or fail decides it for you.",
    }[gated.verdict]
    if gated.faults:
        todo = " No margin excuses faults: mend them."
    return f"{gated.verdict.upper()} (exit {code}): {headline(gated)}{todo}"


def _accepted(gated: Gated) -> Iterator[str]:
    """What becomes the measure of all later runs, though the old baseline would not have let it pass."""
    worse = [check for check in gated.checks if check.decides and check.verdict == "fail" and check.agent_type == ALL]
    yield from (f"accepted: {check.strategy}, {check.metric}: {check.reason}" for check in worse)
    yield from (
        f"accepted: {fault.kind} of {fault.strategy} on {fault.session} at {fault.cut}" for fault in gated.faults
    )
    if not worse and not gated.faults:
        yield "nothing became worse"
