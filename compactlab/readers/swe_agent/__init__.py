"""SWE-agent trajectories, seen from 0.2 to 1.1: `history` is the story, demonstrations and observations are synthetic.

The prompts beside the steps (`messages` in 1.0, `query` from 1.1 on) repeat the history of each step. They are read
only for what the history processors changed in it: each prompt that shows an old observation masked, where the one
before it did not, is a recorded compaction. Runs of several attempts are several sessions, as are other agents that
speak in the history. Tokens are recorded as totals only. Answers that the model was asked for again stand in no
history; they are counted. `submission`, `replay_config` (but for the model's name) and states are not read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import Lines, read_json
from compactlab.readers._agent_runs import agent_type_of_run, by_harness, run_message
from compactlab.readers._fields import count, mapping, objects, string
from compactlab.readers._sessions import transcript
from compactlab.readers.swe_agent._prompts import Prompts
from compactlab.shapes.call_ids import with_ids
from compactlab.transcript import Intake, Message, Messages, Origin, Reasoning, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from compactlab.readers import Source

NAME = "swe_agent"
WHERE = "trajectories/USER/RUN/INSTANCE/INSTANCE.traj of a checkout of SWE-agent"
_EXITS = ("Exit due to ", "Exiting due to ")


def sniff(source: Source) -> float:
    """Look for a `history` of roles beside a `trajectory` of steps, or of messages of named agents, or for attempts."""
    record = source.first
    first = [mapping(attempt) for attempt in (record, *objects(record.get("attempts"))[:1])]
    return max(_confidence(run) for run in first)


def _confidence(run: dict[str, Any]) -> float:
    history = objects(run.get("history"))[:3]
    if not history or not all(isinstance(item.get("role"), str) and "parts" not in item for item in history):
        return 0.0
    if isinstance(run.get("trajectory"), list):
        return 0.95
    return 0.9 if any("message_type" in item or "agent" in item for item in history) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the runs of a file: one, or each attempt at one, or one a line."""
    lines = source.lines() if source.document is None else Lines(())
    held: Transcript | None = None
    for run in _runs(source, lines):
        for found in _sessions(source, run):
            if held is not None:
                yield held
            held = found
    if held is not None:
        read_lines = lines.intake()
        yield held if source.document is not None else replace(held, intake=_joined(held.intake, read_lines))


def _joined(own: Intake, lines: Intake) -> Intake:
    """What was counted in a run, with what was read past in the lines of its file."""
    skipped = {**lines.skipped, **own.skipped}
    return replace(own, skipped=skipped, repaired=lines.repaired, problems=lines.problems)


class _Run(NamedTuple):
    """One run as it stands in the file: where, and what its id and that of its cluster have behind the file's name."""

    value: dict[str, Any]
    where: str = ""
    name: str = ""
    cluster: str = ""


def _runs(source: Source, lines: Lines) -> Iterator[_Run]:
    if source.document is not None:
        yield from _attempts(_Run(mapping(source.document)))
    seen: set[str] = set()
    for line in lines:
        value = mapping(line.value)
        name = string(value.get("environment"))
        name = name if name and name not in seen else f"{name}-{line.number}".strip("-")
        seen.add(name)
        yield from _attempts(_Run(value, f"line {line.number}: ", name, name))


def _attempts(run: _Run) -> Iterator[_Run]:
    """The attempts at a run; the history beside them repeats the best one, so it is read only where there are none."""
    attempts = run.value.get("attempts")
    listed = [(i, a) for i, a in enumerate(attempts) if isinstance(a, dict)] if isinstance(attempts, list) else []
    for index, attempt in listed:
        info = mapping(attempt.get("info")) | {"best_attempt": mapping(run.value.get("info")).get("best_attempt_idx")}
        where, name = f"{run.where}attempts[{index}].", f"{run.name}-attempt-{index}".strip("-")
        yield _Run(attempt | {"info": info}, where, name, run.cluster)
    if not listed:
        yield run


def _sessions(source: Source, run: _Run) -> Iterator[Transcript]:
    """The session of the agent that begins the history, and those of other agents that speak in it."""
    history = run.value.get("history")
    if not isinstance(history, list):
        raise TranscriptError(f"{source.path}: {run.where}history is no list")
    agents: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(history):
        wire = mapping(item)
        agents["" if wire.get("is_demo") else string(wire.get("agent"))].append(place)
    shown = agents.pop("", [])
    main = next(iter(agents), "")
    agents[main] = sorted((*shown, *agents[main]))
    for agent, places in agents.items():
        name = "-".join(part for part in (run.name, agent if agent != main else "") if part)
        found = _session(history, places, run, is_main=agent == main)
        messages: Messages = found.pop("messages")
        yield transcript(
            source,
            NAME,
            messages,
            id=f"{source.stem}/{name}" if name else source.stem,
            cluster=f"{source.stem}/{run.cluster}" if run.cluster else source.stem,
            agent_type=agent_type_of_run(messages) if agent == main else "subagent",
            origins=(Origin(str(source.path), f"{run.where}history[{{}}]"),),
            **found,
        )


def _session(history: list[Any], places: list[int], run: _Run, *, is_main: bool) -> dict[str, Any]:
    """Messages of one agent, the items at *places* of the history, and what else is told of it."""
    read: list[Message] = []
    wires: list[dict[str, Any]] = []
    unknown: dict[str, int] = defaultdict(int)
    for place in places:
        wire = mapping(history[place])
        message = run_message(wire, place)
        if message is None:
            unknown[f"role {wire.get('role')!r}"[:60] if wire else "no object"] += 1
            continue
        read.append(replace(message, synthetic=_by_client(wire)))
        wires.append(wire)
    shown = {message.source for message, wire in zip(read, wires, strict=True) if wire.get("is_demo")}
    messages = by_harness(with_ids(read), {place for place in shown if place is not None})
    intake = Intake(records=len(places), unknown=dict(unknown))
    if not is_main:
        return {"messages": messages, "intake": intake}
    steps = objects(run.value.get("trajectory"))
    messages, again = _with_reasoning(messages, steps)
    prompts = Prompts(messages, wires)
    for step in steps:
        prompts.add(step.get("query", step.get("messages")))
    skipped = {"answer that was asked for again": again} if again else {}
    info = mapping(run.value.get("info"))
    return {
        "messages": messages,
        "compactions": tuple(prompts.compactions),
        "usage": _usage(info),
        "header": _header(run.value, info),
        "intake": replace(intake, skipped=skipped),
    }


def _by_client(wire: Mapping[str, Any]) -> bool:
    """Whether the client wrote an answer itself, because it ended the run."""
    said = string(wire.get("content"))
    return wire.get("role") == "assistant" and not wire.get("action") and said.startswith(_EXITS)


def _with_reasoning(messages: Messages, steps: list[dict[str, Any]]) -> tuple[Messages, int]:
    """Give answers the reasoning that stands beside their steps, and count steps whose answer is in no message."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        if message.role == "assistant":
            waiting[message.text].append(place)
    given = list(messages)
    unheard = 0
    for step in steps:
        response = string(step.get("response"))
        if not waiting.get(response):
            unheard += "response" in step
            continue
        place = waiting[response].pop(0)
        thought = string(step.get("reasoning_content"))
        if thought and not any(isinstance(block, Reasoning) for block in given[place].blocks):
            given[place] = replace(given[place], blocks=(Reasoning(thought), *given[place].blocks))
    return tuple(given), unheard


def _usage(info: Mapping[str, Any]) -> tuple[Usage, ...]:
    stats = mapping(info.get("model_stats"))
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    return (Usage(None, sent or 0, received or 0),) if sent or received else ()


def _header(run: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Any]:
    stats = mapping(info.get("model_stats"))
    found = {
        "model": _model(run.get("replay_config")),
        "version": info.get("swe_agent_version"),
        "environment": run.get("environment"),
        "exit_status": info.get("exit_status"),
        "best_attempt": info.get("best_attempt"),
        "cost": stats.get("instance_cost"),
        "calls": stats.get("api_calls"),
    }
    return {key: value for key, value in found.items() if isinstance(value, str | int | float) and value != ""}


def _model(config: object) -> str:
    """The name of the model in the configuration for a replay, which is JSON in a text."""
    try:
        held = mapping(read_json(config.encode("utf-8", "surrogatepass")) if isinstance(config, str) else config)
    except TranscriptError:
        return ""
    return string(mapping(mapping(held.get("agent")).get("model")).get("name"))
