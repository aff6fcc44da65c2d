"""`compactlab inspect`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from compactlab import history
from compactlab.cli.input import transcripts
from compactlab.cli.output import print_json, print_table
from compactlab.pressure import Marks, against_recorded, first_reached, pressure, weights_in_view
from compactlab.redaction import redacted
from compactlab.settings import Project, load
from compactlab.tokens import Meter
from compactlab.transcript import Message, Transcript

STEPS = 10
SHOWN = 10
FIGURES = ("tokens_before", "tokens_after")
IN_FULL = 10
"""More transcripts than this are told in one row each."""
DEFAULT = Marks()
WINDOW = 128_000
"""Tokens, where neither the command nor the settings name a window."""


def main(options: Namespace) -> None:
    """Print what each transcript at a path holds."""
    meter = Meter(options.counter)
    project = load(options.settings)
    read = transcripts(options, project)
    found = [inspected(t, meter, _window(options, project, t), project.marks) for t in read]
    if options.json:
        print_json(found)
    elif len(found) > IN_FULL:
        _print_rows(found)
    else:
        for facts in found:
            _print(facts)


def _window(options: Namespace, project: Project, transcript: Transcript) -> int:
    """The window that the command names, or the settings for the transcript's type, or a common one."""
    if options.window is not None:
        return int(options.window)
    return project.window(transcript.agent_type) or WINDOW


def inspected(transcript: Transcript, meter: Meter, window: int, marks: Marks = DEFAULT) -> dict[str, Any]:
    """What there is to say about a transcript, as plain data; weights in tokens of the meter's counter."""
    messages = transcript.messages
    repaired = history.repair(messages)
    recorded = against_recorded(transcript, meter)
    return {
        "id": transcript.id,
        "format": transcript.format,
        "path": transcript.path,
        "agent_type": transcript.agent_type,
        "messages": len(messages),
        "roles": dict(Counter(message.role for message in messages)),
        "units": len(history.units(repaired.messages)),
        "counter": meter.counter_name,
        "tokens": meter.messages(messages),
        "by_kind": meter.by_kind(messages),
        "window": window,
        "curve": _curve(transcript, meter, window),
        "marks": _marks(transcript, meter, window, marks),
        "recorded": None if recorded is None else recorded._asdict(),
        "compactions": [_compaction(transcript, index, meter) for index in range(len(transcript.compactions))],
        "repairs": [f"{r.what} {r.call_id!r} at message {r.position}: {r.why}" for r in repaired.repairs],
        "intake": msgspec.to_builtins(transcript.intake),
    }


def _compaction(transcript: Transcript, index: int, meter: Meter) -> dict[str, Any]:
    """A recorded compaction: its own figures, and how many messages and tokens of ours stood before and after it."""
    recorded = transcript.compactions[index]
    before, after = transcript.before(index), transcript.after(index)
    told = {name: getattr(recorded, name) for name in ("position", "trigger", "tokens_before", "tokens_after")}
    lists = {
        "messages_before": len(before),
        "messages_after": len(after),
        "weight_before": meter.messages(before),
        "weight_after": meter.messages(after),
    }
    made = sum(isinstance(entry, Message) for entry in recorded.after)
    return told | lists | {"made": made, "summary": redacted(recorded.summary), "summariser": recorded.summariser}


def _curve(transcript: Transcript, meter: Meter, window: int) -> list[dict[str, Any]]:
    """Pressure of what stood in the context at every tenth of the messages."""
    total = len(transcript.messages)
    ends = sorted({max(1, round(total * step / STEPS)) for step in range(1, STEPS + 1)}) if total else []
    weights = weights_in_view(transcript, meter)
    return [
        {"messages": end, "tokens": weights[end - 1], "pressure": round(pressure(weights[end - 1], window), 3)}
        for end in ends
    ]


def _marks(transcript: Transcript, meter: Meter, window: int, marks: Marks) -> dict[str, int | None]:
    """The message with which each mark is first reached."""
    weights = weights_in_view(transcript, meter)
    values = marks.of(transcript.agent_type).values
    return {f"{mark:.2f}": first_reached(weights, window, mark) for mark in values}


def _print(facts: dict[str, Any]) -> None:
    roles = ", ".join(f"{n:,} {role}" for role, n in facts["roles"].items())
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in facts["by_kind"].items() if n)
    sys.stdout.write(
        f"{facts['id']} ({facts['format']}, {facts['agent_type']})\n"
        f"  {facts['messages']:,} messages ({roles}) in {facts['units']:,} units\n"
        f"  {facts['tokens']:,} tokens by {facts['counter']}: {kinds}\n"
    )
    rows = [(p["messages"], f"{p['tokens']:,}", f"{p['pressure']:.2f}", _bar(p["pressure"])) for p in facts["curve"]]
    print_table(("messages", "tokens", "pressure", f"of {facts['window']:,}"), rows, ("messages", "tokens", "pressure"))
    for mark, at in facts["marks"].items():
        sys.stdout.write(f"  mark {mark}: {'never reached' if at is None else f'reached with message {at:,}'}\n")
    if facts["recorded"]:
        told = facts["recorded"]
        sys.stdout.write(
            f"  recorded input of {told['responses']:,} responses: {told['recorded']:,} tokens, by us {told['ours']:,};"
            f" ours/recorded {told['ratio']:.2f}\n"
        )
    for compaction in facts["compactions"]:
        sys.stdout.write(f"  recorded compaction {_told(compaction)}\n")
    for title, lines in (("repaired", facts["repairs"]), ("problem", facts["intake"].get("problems", ()))):
        for line in lines[:SHOWN]:
            sys.stdout.write(f"  {title}: {line}\n")
        if len(lines) > SHOWN:
            sys.stdout.write(f"  {title}: {len(lines) - SHOWN} more\n")
    _print_intake(facts["intake"])


def _told(compaction: dict[str, Any]) -> str:
    figures = [f"{compaction[name]:,} tokens {name[7:]}" for name in FIGURES if compaction[name] is not None]
    summary = f", a summary of {len(compaction['summary']):,} characters" if compaction["summary"] else ""
    return (
        f"before message {compaction['position']:,} ({compaction['trigger']}{''.join(f', {f}' for f in figures)}): "
        f"{compaction['messages_before']:,} messages of {compaction['weight_before']:,} tokens by us became "
        f"{compaction['messages_after']:,} of {compaction['weight_after']:,}{summary}"
    )


def _print_intake(intake: dict[str, Any]) -> None:
    sys.stdout.write(f"  {intake.get('records', 0):,} records read\n")
    for title, name in (("not taken as context", "skipped"), ("not understood", "unknown"), ("mended", "repaired")):
        if intake.get(name):
            kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(intake[name].items()))
            sys.stdout.write(f"  {title}: {kinds}\n")


def _print_rows(found: Sequence[dict[str, Any]]) -> None:
    """One row a transcript."""
    heads = ("session", "format", "agent type", "messages", "tokens", "ours/recorded", "compactions", "not understood")
    rows = [
        (
            facts["id"],
            facts["format"],
            facts["agent_type"],
            f"{facts['messages']:,}",
            f"{facts['tokens']:,}",
            f"{facts['recorded']['ratio']:.2f}" if facts["recorded"] else "",
            len(facts["compactions"]) or "",
            sum(facts["intake"].get("unknown", {}).values()) or "",
        )
        for facts in found
    ]
    print_table(heads, rows, heads[3:])
    sys.stdout.write(f"{len(found):,} transcripts\n")


def _bar(share: float, width: int = 30) -> str:
    return "█" * min(width, round(share * width)) + ("▶" if share > 1 else "")
