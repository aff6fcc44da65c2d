"""`compactlab inspect`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from typing import Any

import msgspec

from compactlab import history
from compactlab.cli.output import print_json, print_table, print_warnings
from compactlab.pressure import Marks, first_reached, pressure, weights_in_view
from compactlab.readers import survey
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

STEPS = 10


def main(options: Namespace) -> None:
    """Print what each transcript at a path holds."""
    reading = survey(options.path)
    print_warnings(reading.unread)
    meter = Meter(options.counter)
    found = [inspected(transcript, meter, options.window) for transcript in reading.transcripts]
    if options.json:
        print_json(found)
        return
    for facts in found:
        _print(facts)


def inspected(transcript: Transcript, meter: Meter, window: int) -> dict[str, Any]:
    """What there is to say about a transcript, as plain data; weights in tokens of the meter's counter."""
    messages = transcript.messages
    repaired = history.repair(messages)
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
        "marks": _marks(transcript, meter, window),
        "compactions": [msgspec.to_builtins(compaction) for compaction in transcript.compactions],
        "repairs": [f"{r.what} {r.call_id!r} at message {r.position}: {r.why}" for r in repaired.repairs],
        "not_understood": transcript.skipped,
        "problems": list(transcript.problems),
    }


def _curve(transcript: Transcript, meter: Meter, window: int) -> list[dict[str, Any]]:
    """Pressure of what stood in the context at every tenth of the messages."""
    total = len(transcript.messages)
    ends = sorted({max(1, round(total * step / STEPS)) for step in range(1, STEPS + 1)}) if total else []
    weights = weights_in_view(transcript, meter)
    return [
        {"messages": end, "tokens": weights[end - 1], "pressure": round(pressure(weights[end - 1], window), 3)}
        for end in ends
    ]


def _marks(transcript: Transcript, meter: Meter, window: int) -> dict[str, int | None]:
    """The message with which each mark is first reached."""
    weights = weights_in_view(transcript, meter)
    marks = Marks().of(transcript.agent_type).values
    return {f"{mark:.2f}": first_reached(weights, window, mark) for mark in marks}


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
    for compaction in facts["compactions"]:
        said = ", ".join(f"{name} {value}" for name, value in compaction.items() if name != "position")
        sys.stdout.write(f"  recorded compaction before message {compaction['position']:,}: {said}\n")
    for title, lines in (("repaired", facts["repairs"]), ("problem", facts["problems"])):
        for line in lines[:10]:
            sys.stdout.write(f"  {title}: {line}\n")
        if len(lines) > 10:
            sys.stdout.write(f"  {title}: {len(lines) - 10} more\n")
    if facts["not_understood"]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in facts["not_understood"].items())
        sys.stdout.write(f"  not taken as context: {kinds}\n")


def _bar(share: float, width: int = 30) -> str:
    return "█" * min(width, round(share * width)) + ("▶" if share > 1 else "")
