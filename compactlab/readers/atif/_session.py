"""One session: its trajectory over all its files, and the sub-agents that it names or that lie embedded in it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, count, first_string, mapping, objects, string
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers.atif._files import File, is_trajectory, loaded, referred
from compactlab.readers.atif._story import Story, Teller, Told
from compactlab.transcript import Intake, Message, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers.atif._boundaries import Boundary

NAME = "atif"


class Session(Teller):
    """A trajectory that begins in the file *first*; *ids* are those that were given before it."""

    def __init__(self, first: File, ids: Counter[str]) -> None:
        self._first = first
        self._ids = ids
        self._id = self._unique(session_id(first.source.stem, _own_name(first.document)))
        self._children: dict[str, tuple[str, File, str]] = {}
        self._problems: list[str] = []

    def transcripts(self) -> Iterator[Transcript]:
        """The session itself, then its sub-agents, in the order in which they are named."""
        story = self._told(self._first, copies_known=False)
        waiting = self._called(story)
        yield self._transcript(self._id, self._first, story)
        done: set[str] = set()
        while waiting:
            key = waiting.pop(0)
            if key in done:
                continue
            done.add(key)
            name, file, agent = self._children[key]
            story = self._told(file, copies_known=True, agent=agent)
            waiting += self._called(story)
            child = self._transcript(name, file, story)
            yield replace(child, agent_type="subagent", cluster=self._id)

    def told(self, marked: Boundary, file: File) -> Told:
        """What the sub-agents that summarised said: the first wrote the summary, one that asks is handed over."""
        summary, summariser = "", ""
        exchanged: tuple[Message, ...] = ()
        for number, reference in enumerate(marked.references):
            key = self._child(reference, file)
            if key is None:
                continue
            name, child, _ = self._children[key]
            said = _own_messages(child)
            if number == 0:
                spoken = [message.text for message in said if message.role == "assistant"]
                summary, summariser = spoken[-1] if spoken else "", name
            if "question" in f"{reference.get('session_id')} {reference.get('trajectory_path')}".lower():
                exchanged = tuple(replace(m, source=None, synthetic=m.role == "user") for m in said)
        return Told(summary, summariser, exchanged)

    def _told(self, first: File, *, copies_known: bool, agent: str = "") -> Story:
        story = Story(agent)
        steps = objects(first.document.get("steps"))
        if not copies_known and _continues(first.document) and steps and steps[0].get("is_copied_context") is True:
            self._problems.append(f"{first.source.path.name}: the file that it continues is missing")
        for number, file in enumerate(self._chain(first)):
            story.add(file, self, copies_known=copies_known or number > 0)
        story.end()
        return story

    def _chain(self, first: File) -> Iterator[File]:
        """The files of a trajectory, each continued by the next."""
        file: File | None = first
        seen = {first.source.path}
        while file is not None:
            yield file
            reference = string(file.document.get("continued_trajectory_ref"))
            path = referred(file.source.path, reference) if reference else None
            following = None if path is None or path in seen else loaded(file.source.beside(path))
            if reference and following is None:
                self._problems.append(f"{file.source.path.name}: continues in {reference}, which is no trajectory here")
            if path is not None:
                seen.add(path)
            file = following

    def _called(self, story: Story) -> list[str]:
        """Keys of the sub-agents that a story names, and of those embedded in its files."""
        keys = [self._child(reference, file) for reference, file in story.references]
        for file in story.files:
            embedded = [value for value in array(file.document.get("subagent_trajectories")) if is_trajectory(value)]
            keys += [self._embedded(value, file) for value in embedded]
        keys += [self._beside(agent, file) for agent, file in story.others.items()]
        return [key for key in keys if key is not None]

    def _beside(self, agent: str, file: File) -> str:
        """The key of a sub-agent whose steps stand among those of the agent."""
        key = f"{file.source.path} {agent}"
        if key not in self._children:
            self._children[key] = (self._unique(f"{self._id}/{agent}"), file, agent)
        return key

    def _child(self, reference: dict[str, Any], file: File) -> str | None:
        """The key of the sub-agent that a reference in a file means; None, with a problem, if it is not there."""
        named, path = string(reference.get("trajectory_id")), string(reference.get("trajectory_path"))
        session = string(reference.get("session_id"))
        for value in objects(file.document.get("subagent_trajectories")):
            same = value.get("trajectory_id") == named if named else not path and value.get("session_id") == session
            if same and is_trajectory(value):
                return self._embedded(value, file)
        found = referred(file.source.path, path) if path else None
        if found is not None:
            key = str(found)
            child = None if key in self._children else loaded(file.source.beside(found))
            if child is not None:
                name = self._unique(session_id(child.source.stem, _own_name(child.document)))
                self._children[key] = (name, child, "")
            if key in self._children:
                return key
        problem = f"{file.source.path.name}: sub-agent {path or named or session} is not here"
        self._problems += [] if problem in self._problems else [problem]
        return None

    def _embedded(self, value: dict[str, Any], file: File) -> str:
        key = f"embedded {id(value)}"
        if key not in self._children:
            name = first_string(value, "trajectory_id", "session_id") or f"agent-{len(self._children)}"
            self._children[key] = (self._unique(f"{self._id}/{name}"), File(file.source, value), "")
        return key

    def _transcript(self, name: str, file: File, story: Story) -> Transcript:
        problems, self._problems = tuple(self._problems), []
        agent = mapping(file.document.get("agent"))
        steps = story.steps
        return transcript(
            file.source,
            NAME,
            tuple(story.messages),
            id=name,
            cluster=name,
            tools=tuple(tool for tool in array(agent.get("tool_definitions")) if isinstance(tool, str | dict)),
            compactions=tuple(story.compactions),
            usage=tuple(story.usage) or (() if story.agent else _totals(story.files[-1].document)),
            origins=tuple(story.origins),
            intake=Intake(
                len(story.messages) if story.agent else story.records,
                dict(+steps.skipped),
                dict(+steps.unknown),
                problems=problems,
            ),
            header=_header(file.document, story.files[-1].document),
        )

    def _unique(self, name: str) -> str:
        self._ids[name] += 1
        return name if self._ids[name] == 1 else f"{name}-{self._ids[name]}"


def _own_name(document: dict[str, Any]) -> str:
    return first_string(document, "session_id", "trajectory_id")


def _own_messages(file: File) -> list[Message]:
    """What a sub-agent heard and said beyond the steps that were copied into it."""
    story = Story()
    story.add(file, Teller(), copies_known=True)
    return story.messages


def _continues(document: dict[str, Any]) -> bool:
    extra = mapping(mapping(document.get("agent")).get("extra"))
    return bool(count(extra.get("continuation_index"))) or "-cont-" in string(document.get("session_id"))


def _totals(document: dict[str, Any]) -> tuple[Usage, ...]:
    """Counts of a whole trajectory, for those that record none of its responses."""
    totals = mapping(document.get("final_metrics"))
    sent, made = count(totals.get("total_prompt_tokens")), count(totals.get("total_completion_tokens"))
    if not sent and not made:
        return ()
    return (Usage(None, sent or 0, made or 0, count(totals.get("total_cached_tokens")) or 0),)


def _header(first: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    agent, totals = mapping(first.get("agent")), mapping(last.get("final_metrics"))
    fields = {"schema_version": first.get("schema_version"), "agent": agent.get("name")}
    fields |= {"version": agent.get("version"), "model": agent.get("model_name")}
    fields |= {name: totals.get(name) for name in ("total_cost_usd", "total_steps")}
    return {name: value for name, value in fields.items() if isinstance(value, str | int | float)}
