"""Agents of an agent file: their stories, what stands in their context, and the compactions between the two."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import array, first_string, mapping, objects, string, strings
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers.letta._stored import Summary, answered, heard, spoken, summary_of, time_of
from compactlab.transcript import Intake, Message, Origin, RecordedCompaction, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

SLEEPTIME = ("sleeptime", "background", "voice_sleeptime")


class _Story(NamedTuple):
    """Messages of an agent, the place of the record that each was made of, and summaries with the places of theirs."""

    messages: list[Message]
    places: list[int]
    summaries: list[tuple[int, Summary]]
    skipped: Counter[str]
    unknown: Counter[str]


def read(source: Source, agents: list[dict[str, Any]], document: dict[str, Any]) -> Iterator[Transcript]:
    """Read the agents of a file one by one; agents of a group share the cluster of the one that leads it."""
    several = document.get("agents") is agents or len(agents) > 1 or "agents" in document
    schemas = {string(tool.get("id")): tool for tool in objects(document.get("tools")) if string(tool.get("id"))}
    leaders = _leaders(document)
    for number, agent in enumerate(agents):
        own = string(agent.get("id")) or (f"agent-{number}" if several else "")
        story = _story(agent)
        leader = leaders.get(own, own)
        where = f"agents[{number}].messages[{{}}]" if several else "messages[{}]"
        kind = string(agent.get("agent_type"))
        given = {"agent_type": "subconscious"} if _is_sleeptime(kind) else {}
        yield transcript(
            source,
            "letta",
            tuple(story.messages),
            own_id=own,
            cluster=session_id(source.stem, leader),
            title=string(agent.get("name")),
            tools=_tools(agent, schemas),
            compactions=tuple(_compactions(agent, story)),
            origins=(Origin(str(source.path), where),),
            intake=Intake(len(array(agent.get("messages"))), dict(story.skipped), dict(story.unknown)),
            header=_header(agent),
            **given,
        )


def _leaders(document: dict[str, Any]) -> dict[str, str]:
    """The agent that leads the group of each agent."""
    found: dict[str, str] = {}
    for group in objects(document.get("groups")):
        leader = string(mapping(group.get("manager_config")).get("manager_agent_id"))
        members = strings(group.get("agent_ids"))
        leader = leader or (members[0] if members else "")
        found |= dict.fromkeys(members, leader)
    return found


def _is_sleeptime(kind: str) -> bool:
    return kind.startswith(SLEEPTIME)


def _story(agent: dict[str, Any]) -> _Story:
    story = _Story([], [], [], Counter(), Counter())
    records = [mapping(record) for record in array(agent.get("messages"))]
    told = {string(r.get("tool_call_id")) for r in records if r.get("role") == "tool"}
    told |= {string(w.get("tool_call_id")) for r in records if r.get("role") == "tool" for w in _returns(r)}
    by_agent = _is_sleeptime(string(agent.get("agent_type")))
    for place, record in enumerate(records):
        summary = summary_of(record, place)
        if summary is not None:
            story.summaries.append((place, summary))
            continue
        for message in _messages(record, place, story, told=told, by_agent=by_agent):
            story.messages.append(message)
            story.places.append(place)
    return story


def _returns(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [*objects(record.get("tool_returns")), *objects(record.get("content"))]


def _messages(record: dict[str, Any], place: int, story: _Story, *, told: set[str], by_agent: bool) -> list[Message]:
    role = string(record.get("role"))
    if role == "approval":
        return _approval(record, place, story, told)
    if role == "assistant":
        return [spoken(record, place, story.skipped)]
    if role in {"tool", "function"}:
        return [answered(record, place)]
    if role in {"user", "system"}:
        found = list(heard(record, place, by_agent=by_agent or role == "system"))
        if role == "user":
            return found
        return [Message("system", tuple(b for m in found for b in m.blocks), place, timestamp=time_of(record))]
    story.unknown[f"message of role {role or 'unknown'}"] += 1
    return []


def _approval(record: dict[str, Any], place: int, story: _Story, told: set[str]) -> list[Message]:
    """A response that waits for a person's leave, or that leave, with the results of tools that ran at the person's."""
    if objects(record.get("tool_calls")):
        return [spoken(record, place, story.skipped)]
    ran = [wire for wire in objects(record.get("approvals")) if "tool_return" in wire]
    new = [wire for wire in ran if string(wire.get("tool_call_id")) not in told]
    if new:
        return [answered({**record, "content": [], "tool_returns": new}, place)]
    story.skipped["approval"] += 1
    return []


def _compactions(agent: dict[str, Any], story: _Story) -> Iterator[RecordedCompaction]:
    records = [mapping(record) for record in array(agent.get("messages"))]
    context = _context(agent, records)
    leading = _leading(story)
    for number, (place, summary) in enumerate(story.summaries):
        end = _end(records, place, summary)
        position = sum(other < end for other in story.places)
        last = number == len(story.summaries) - 1 and (context is None or place in context)
        kept = [i for i in range(leading, position) if _stayed(story, i, context, place)] if last else []
        yield summary.compaction(position, (*range(leading), summary.message, *kept))
    if context is not None and not story.summaries:
        kept = [i for i, place in enumerate(story.places) if place in context]
        if 0 < len(kept) < len(story.messages):
            yield RecordedCompaction(len(story.messages), after=tuple(kept))


def _stayed(story: _Story, index: int, context: set[int] | None, summary: int) -> bool:
    """Whether a message stayed in context: the file says so, or else it stands behind the summary."""
    place = story.places[index]
    return place > summary if context is None else place in context


def _leading(story: _Story) -> int:
    return next((i for i, message in enumerate(story.messages) if message.role != "system"), len(story.messages))


def _context(agent: dict[str, Any], records: list[dict[str, Any]]) -> set[int] | None:
    """Places of the records that stand in context now; None if the file does not say."""
    if isinstance(agent.get("in_context_message_ids"), list):
        names = set(strings(agent["in_context_message_ids"]))
        return {place for place, record in enumerate(records) if string(record.get("id")) in names} or None
    places = {place for place in array(agent.get("in_context_message_indices")) if type(place) is int}
    return places & set(range(len(records))) or None


def _end(records: list[dict[str, Any]], place: int, summary: Summary) -> int:
    """Where the story goes on behind a summary: the kept messages, which follow it, are older than it is."""
    written = _time(summary.message.timestamp)
    end = place + 1
    while written is not None and end < len(records):
        time = _time(time_of(records[end]))
        if time is None or time >= written:
            break
        end += 1
    return end


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _tools(agent: dict[str, Any], schemas: dict[str, dict[str, Any]]) -> tuple[str | dict[str, Any], ...]:
    listed = [schemas[name] for name in strings(agent.get("tool_ids")) if name in schemas]
    found: list[str | dict[str, Any]] = []
    for tool in listed or objects(agent.get("tools")):
        schema = mapping(tool.get("json_schema"))
        found += [schema] if schema else [string(tool.get("name"))] if string(tool.get("name")) else []
    return tuple(found)


def _header(agent: dict[str, Any]) -> dict[str, Any]:
    config = mapping(agent.get("llm_config"))
    told = {
        "model": first_string(config, "handle", "model") or string(agent.get("model")),
        "agent_type": string(agent.get("agent_type")),
        "context_window": config.get("context_window") if type(config.get("context_window")) is int else None,
        "version": string(agent.get("version")),
    }
    return {key: value for key, value in told.items() if value}
