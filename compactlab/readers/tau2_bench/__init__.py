"""tau2-bench results: simulations in which the agent and the simulated customer both have tools.

Read are one file of all simulations (`{"info", "tasks", "simulations"}`), the folder layout (`results.json` beside
`simulations/ID.json`, any file of it), a bare list of simulations, and one a line. A simulation is a session as the
agent saw it: the policy is its system message, and the customer's own calls and their results are left out, as the
agent never saw them. Trials of one task share a cluster. `raw_data`, the provider's dump of each response, is not read;
ticks, the slices of voice runs, are counted as unknown. Where a context was cut to a budget only the number of messages
that were left out is recorded, so that it makes no compaction.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers._fields import array, mapping, objects, string
from compactlab.readers._sessions import transcript
from compactlab.readers.tau2_bench._seen import Seen
from compactlab.shapes.parts import json_text
from compactlab.transcript import Intake, Message, Origin, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from compactlab.readers import Source

NAME = "tau2_bench"
WHERE = "data/simulations/*.json or data/simulations/RUN/ of a checkout of tau2-bench"
FOLDER, INDEX = "simulations", "results.json"
_ENDED = {"termination_reason", "reward_info", "agent_cost", "user_cost"}


class _Beside(NamedTuple):
    """What stands beside simulations: the name of their run, its settings (empty if not recorded), where those are."""

    name: str
    info: dict[str, Any]
    path: Path


class _Run(NamedTuple):
    """A simulation as recorded, and where it stands."""

    simulation: dict[str, Any]
    path: Path
    where: str
    beside: _Beside


def sniff(source: Source) -> float:
    """Look for simulations: a task, how it ended, and messages or ticks; alone, in a list, or under `simulations`."""
    first = source.first
    if _is_results(first):
        return 0.97
    listed = source.document if isinstance(source.document, list) else source.values
    return 0.95 if any(_is_simulation(value) for value in listed[:3]) else 0.0


def _is_results(value: dict[str, Any]) -> bool:
    if any(_is_simulation(entry) for entry in array(value.get(FOLDER))[:3]):
        return True
    return "environment_info" in mapping(value.get("info")) and not {FOLDER, "simulation_index"}.isdisjoint(value)


def _is_simulation(value: object) -> bool:
    fields = mapping(value)
    held = isinstance(fields.get("messages"), list) or isinstance(fields.get("ticks"), list)
    return held and "task_id" in fields and not _ENDED.isdisjoint(fields)


def read(source: Source) -> Iterator[Transcript]:
    """Read each simulation of a file, or of the folder that a `results.json` belongs to.

    What is no simulation is counted with the last one. One that the index names and the folder lacks is a problem.
    """
    ids: Counter[str] = Counter()
    whole = _Whole(Counter(), [])
    held: Transcript | None = None
    for run in _runs(source, whole):
        session = _session(source, run, ids)
        if not session.messages:
            whole.unknown.update(session.intake.unknown)
            if not session.intake.records:
                whole.problems.append(f"simulation {session.id}: no messages in it")
            continue
        if held is not None:
            yield held
        held = session
    if held is not None:
        own = held.intake
        unknown, problems = Counter(own.unknown) + whole.unknown, (*own.problems, *whole.problems)
        yield replace(held, intake=replace(own, unknown=dict(unknown), problems=problems))
    elif whole.problems or whole.unknown["tick"]:
        why = whole.problems[0] if whole.problems else "only ticks of voice runs, which are not read"
        raise TranscriptError(f"{source.path}: {why}")


class _Whole(NamedTuple):
    """What was read past in a file as a whole."""

    unknown: Counter[str]
    problems: list[str]

    def accepts(self, value: object) -> bool:
        if _is_simulation(value):
            return True
        self.unknown["entry that is no simulation"] += 1
        return False


def _runs(source: Source, whole: _Whole) -> Iterator[_Run]:
    document, beside = source.document, _Beside(source.stem, {}, source.path)
    if document is None:
        lines = source.lines()
        accepted = (line for line in lines if whole.accepts(line.value))
        yield from (_Run(line.value, source.path, f"line {line.number}: messages[{{}}]", beside) for line in accepted)
        whole.problems.extend(lines.problems)
    elif isinstance(document, list):
        yield from _listed(source, document, beside, whole)
    elif _is_simulation(document):
        yield _Run(document, source.path, "messages[{}]", _beside_folder(source) or beside)
    else:
        beside = beside._replace(info=mapping(document.get("info")))
        yield from _listed(source, array(document.get(FOLDER)), beside, whole)
        if not document.get(FOLDER):
            yield from _of_folder(source, document, whole)


def _listed(source: Source, values: list[Any], beside: _Beside, whole: _Whole) -> Iterator[_Run]:
    name = FOLDER if source.first else ""
    for index, value in enumerate(values):
        if whole.accepts(value):
            yield _Run(value, source.path, f"{name}[{index}].messages[{{}}]", beside)


def _of_folder(source: Source, document: dict[str, Any], whole: _Whole) -> Iterator[_Run]:
    """The simulations that lie beside a file of results, one a file."""
    folder = source.path.parent / FOLDER
    beside = _Beside(folder.absolute().parent.name, mapping(document.get("info")), source.path)
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    for file in files:
        value = _document(source.beside(file))
        if _is_simulation(value):
            yield _Run(mapping(value), file, "messages[{}]", beside)
        else:
            whole.problems.append(f"{FOLDER}/{file.name}: no simulation")
    missing = {string(entry.get("id")) for entry in objects(document.get("simulation_index"))}
    missing -= {file.stem for file in files}
    whole.problems.extend(f"{FOLDER}/{name}.json: no such file" for name in sorted(missing))


def _beside_folder(source: Source) -> _Beside | None:
    """What a file of results says of a simulation that lies in the folder beside it; None if there is none."""
    folder = source.path.absolute().parent
    results = source.path.parent.parent / INDEX
    if folder.name != FOLDER or not results.is_file():
        return None
    document = _document(type(source)(results))
    return _Beside(folder.parent.name, mapping(mapping(document).get("info")), results)


def _document(source: Source) -> object:
    try:
        return source.document
    except TranscriptError:
        return None


def _session(source: Source, run: _Run, ids: Counter[str]) -> Transcript:
    simulation, beside = run.simulation, run.beside
    task = string(simulation.get("task_id")) or f"task-{json_text(simulation.get('task_id'))}"
    name = string(simulation.get("id")) or f"{task}-trial-{simulation.get('trial')}"
    ids[name] += 1
    seen = Seen()
    policy = _policy(run)
    wires = array(simulation.get("messages"))
    if policy:
        seen.messages.append(Message("system", (Text(policy),), source=0))
    for index, wire in enumerate(wires, bool(policy)):
        seen.add(wire, index)
    ticks = array(simulation.get("ticks"))
    seen.unknown["tick"] += len(ticks)
    own = Origin(str(run.path), run.where)
    return transcript(
        source,
        NAME,
        tuple(seen.messages),
        id=_named(type(source)(run.path).stem, name if ids[name] == 1 else f"{name}-{ids[name]}"),
        path=str(run.path),
        title=task,
        cluster=f"{beside.name}/{task}",
        usage=tuple(seen.usage),
        tools=_tools(mapping(beside.info.get("environment_info")).get("tool_defs")),
        origins=(Origin(str(beside.path), "the policy"), replace(own, first=1)) if policy else (own,),
        header=_header(simulation, beside.info),
        intake=Intake(len(wires) + len(ticks), dict(+seen.skipped), dict(+seen.unknown)),
    )


def _named(stem: str, own: str) -> str:
    return own if stem == own else f"{stem}/{own}"


def _policy(run: _Run) -> str:
    """The policy that the agent was given; empty if its messages begin with a system prompt, or there are none."""
    wires = array(run.simulation.get("messages"))
    if not wires or mapping(wires[0]).get("role") == "system":
        return ""
    environment = mapping(run.beside.info.get("environment_info"))
    return string(run.simulation.get("policy")) or string(environment.get("policy"))


def _tools(given: object) -> tuple[str | dict[str, Any], ...]:
    listed = list(mapping(given).values()) or array(given)
    return tuple(tool for tool in listed if isinstance(tool, str | dict))


def _header(simulation: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    names = ("task_id", "trial", "seed", "termination_reason", "agent_cost", "user_cost", "duration", "mode")
    fields: dict[str, Any] = {name: simulation.get(name) for name in names}
    fields["reward"] = mapping(simulation.get("reward_info")).get("reward")
    fields["model"] = mapping(info.get("agent_info")).get("llm")
    fields["user_model"] = mapping(info.get("user_info")).get("llm")
    fields["domain"] = mapping(info.get("environment_info")).get("domain_name")
    fields["version"] = info.get("git_commit")
    return {name: value for name, value in fields.items() if isinstance(value, str | int | float)}
