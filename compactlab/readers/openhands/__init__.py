"""OpenHands sessions: events of both architectures, in folders, lists and rows of evaluations, seen from 2024 to 2026.

One response of the model is one message, however many actions it is recorded as; observations are its results. What the
harness looked up and put into the prompt is synthetic, and so are its own words to the agent. Condensations are
recorded compactions. Changes of state are counted and passed over; `test_result`, screens and page trees are not read.
What an agent delegated is a session of its own.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers import Lines
from compactlab.readers._fields import first_string, mapping, objects
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers.openhands import _v0, _v1
from compactlab.readers.openhands._stores import Recording, is_event, is_state, listed, of_document, of_lines
from compactlab.transcript import Intake, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source
    from compactlab.readers.openhands._story import Built

NAME = "openhands"
WHERE = "~/.openhands/sessions/ID/events, ~/.openhands/conversations/ID/events, and output.jsonl of an evaluation"


def sniff(source: Source) -> float:
    """Look for actions with `args`, observations with `extras`, or events with `kind`, alone or in a list."""
    found = source.values[:3]
    if not found:
        return 0.0
    if is_state(found[0]):
        return 0.95
    return 0.95 if all(is_event(value) or _holds_events(value) for value in found) else 0.0


def _holds_events(value: object) -> bool:
    if listed(value):
        return True
    return isinstance(value, list) and bool(value) and all(listed(row) for row in value[:3])


def read(source: Source) -> Iterator[Transcript]:
    """Read the sessions of a file; any one file of a folder of events gives the session of the folder."""
    lines = Lines(()) if source.document is not None else source.lines()
    found = of_lines(source, lines) if source.document is None else of_document(source, source.document)
    seen: Counter[str] = Counter()
    empty = 0
    held: Transcript | None = None
    for recording in found:
        empty += not recording.events
        for told in _transcripts(source, recording):
            if held is not None:
                yield held
            seen[told.id] += 1
            held = told if seen[told.id] == 1 else replace(told, id=f"{told.id}-{seen[told.id]}")
    if held is not None:
        intake = held.intake
        more = lines.intake(intake.skipped | ({"row without events": empty} if empty else {}))
        intake = replace(intake, skipped=more.skipped, repaired=more.repaired, problems=more.problems)
        yield replace(held, intake=intake)


def _transcripts(source: Source, recording: Recording) -> Iterator[Transcript]:
    """The session of a recording, and those of the agents that it delegated to."""
    if any("kind" in event.value for event in recording.events[:3]):
        built = _v1.build(recording.events, recording.about.get("stats"))
    else:
        built = _v0.build(recording.events)
        metrics = mapping(recording.about.get("metrics"))
        built.story.count_responses(objects(metrics.get("token_usages")))
        built.story.count_all(metrics)
    yield from _of_built(source, recording, built, recording.name or source.stem)


def _of_built(source: Source, recording: Recording, built: Built, root: str) -> Iterator[Transcript]:
    story = built.story
    cluster = root if len(recording.origins) > 1 else session_id(source.stem, recording.name)
    skipped = story.skipped if built.name else story.skipped + Counter(recording.skipped)
    records = len(recording.events) if not built.name else len(story.messages)
    if story.messages:
        yield transcript(
            source,
            NAME,
            tuple(story.messages),
            id=f"{cluster}-{built.name}" if built.name else cluster,
            cluster=cluster,
            title="" if built.name else first_string(recording.about, "title"),
            tools=built.tools,
            compactions=tuple(story.compactions),
            usage=tuple(story.usage),
            origins=recording.origins,
            header=_header(recording.about, built),
            intake=Intake(records=records, skipped=dict(+skipped), unknown=dict(story.unknown)),
            **({"agent_type": "subagent"} if built.name else {}),
        )
    for child in built.children:
        yield from _of_built(source, recording, child, root)


def _header(about: dict[str, Any], built: Built) -> dict[str, Any]:
    metadata, agent = mapping(about.get("metadata")), mapping(about.get("agent"))
    model = first_string(mapping(metadata.get("llm_config")), "model") or first_string(metadata, "model_name")
    found = {
        **built.header,
        "model": model or first_string(mapping(agent.get("llm")), "model") or built.header.get("model"),
        "status": about.get("execution_status"),
        "resolved": about.get("resolved", mapping(about.get("report")).get("resolved")),
        "error": first_string(about, "error")[:200],
        "cost": mapping(about.get("metrics")).get("accumulated_cost"),
    }
    return {key: value for key, value in found.items() if isinstance(value, str | int | float) and value != ""}
