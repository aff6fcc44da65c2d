"""tau-bench results: a JSON list of runs, each a customer's conversation with a tool-calling agent.

Read are the lists that `run.py` writes (`{"task_id", "reward", "info", "traj", "trial"}`), one run alone, and one run a
line. A run is a session: the policy is its system message, the reward stands in its header. Trials of one task share a
cluster, for they tell the same story anew. Where the agent acts in plain text (ReAct), what the tools gave back stands
in user messages; those are synthetic. The few-shot displays are one text a conversation, no message lists: not read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import mapping, string
from compactlab.readers._sessions import transcript
from compactlab.shapes.openai_chat import ROLES, from_wire
from compactlab.transcript import Intake, Message, Messages, Origin, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

NAME = "tau_bench"
WHERE = "results/*.json of a checkout of tau-bench"
OBSERVATION = "API output: "


def sniff(source: Source) -> float:
    """Look for runs: objects with a task and its trajectory, a list of messages under `traj`."""
    return 0.97 if any(_is_run(value) for value in _listed(source.values[:1])) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read each run of a file; what is no run is counted with the last one."""
    ids: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    lines = None if source.document is not None else source.lines()
    for run in _runs(source.document) if lines is None else (_Run(v.value, f"line {v.number}: ") for v in lines):
        if not _is_run(run.value):
            unknown["entry without a trajectory"] += 1
            continue
        if held is not None:
            yield held
        held = _session(source, run, ids)
    if held is not None:
        whole = Intake() if lines is None else lines.intake()
        yield replace(held, intake=_joined(held.intake, whole, unknown))


class _Run(NamedTuple):
    """A run as recorded, and where it stands in the file."""

    value: Any
    where: str


def _listed(values: tuple[Any, ...]) -> list[Any]:
    """What a file starts with: the entries of its list, or its objects."""
    first = values[0] if values else None
    return first[:3] if isinstance(first, list) else list(values)


def _is_run(value: object) -> bool:
    fields = mapping(value)
    return isinstance(fields.get("traj"), list) and not {"task_id", "reward", "trial"}.isdisjoint(fields)


def _runs(document: object) -> Iterator[_Run]:
    if not isinstance(document, list):
        yield _Run(document, "")
        return
    for index, value in enumerate(document):
        yield _Run(value, f"[{index}].")


def _session(source: Source, run: _Run, ids: Counter[str]) -> Transcript:
    unknown: Counter[str] = Counter()
    messages = _messages(run.value["traj"], unknown)
    task = f"task-{run.value.get('task_id')}"
    name = f"{task}-trial-{run.value.get('trial')}"
    ids[name] += 1
    return transcript(
        source,
        NAME,
        messages,
        name if ids[name] == 1 else f"{name}-{ids[name]}",
        cluster=f"{source.stem}/{task}",
        title=task,
        header=_header(run.value),
        origins=(Origin(str(source.path), f"{run.where}traj[{{}}]"),),
        intake=Intake(records=len(run.value["traj"]), unknown=dict(unknown)),
    )


def _messages(wires: list[Any], unknown: Counter[str]) -> Messages:
    """The messages of a trajectory; those of unknown roles are counted and passed over."""
    kept = [index for index, wire in enumerate(wires) if string(mapping(wire).get("role")) in ROLES]
    if len(kept) == len(wires):
        return tuple(_observed(message) for message in from_wire(wires))
    for index in {*range(len(wires))}.difference(kept):
        unknown[f"message of role {mapping(wires[index]).get('role')!r}"[:80]] += 1
    read = from_wire([wires[index] for index in kept])
    return tuple(_observed(replace(message, source=kept[message.source or 0])) for message in read)


def _observed(message: Message) -> Message:
    if message.role == "user" and message.text.startswith(OBSERVATION):
        return replace(message, synthetic=True)
    return message


def _header(run: dict[str, Any]) -> dict[str, Any]:
    info = mapping(run.get("info"))
    fields = {name: run.get(name) for name in ("task_id", "trial", "reward")}
    fields |= {name: info.get(name) for name in ("source", "user_cost", "error")}
    return {name: value for name, value in fields.items() if isinstance(value, str | int | float)}


def _joined(own: Intake, whole: Intake, unknown: Counter[str]) -> Intake:
    """What was read of the last run, and of the file as a whole."""
    return Intake(
        own.records + sum(unknown.values()),
        whole.skipped,
        dict(Counter(own.unknown) + unknown),
        whole.repaired,
        whole.problems,
    )
