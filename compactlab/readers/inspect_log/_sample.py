"""A sample as sessions: the conversation of its solver, those of its sub-agents, and the calls that summarised."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from compactlab.readers._fields import mapping, objects, string
from compactlab.readers._sessions import transcript
from compactlab.readers.inspect_log._calls import Call, Thread, items, threads, usage
from compactlab.readers.inspect_log._chat import Chat
from compactlab.readers.inspect_log._own import is_rest, own_keys
from compactlab.readers.inspect_log._story import Made, Node, Seam, Told
from compactlab.transcript import Intake, Message, Origin, RecordedCompaction, Transcript, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compactlab.readers import Source
    from compactlab.readers.inspect_log._log import Sample

NAME = "inspect_log"
_Kind = TypeVar("_Kind", RecordedCompaction, Usage)


def sessions(source: Source, sample: Sample, name: str) -> Iterator[Transcript]:
    """The session of a sample, whose id is *name*, and after it those that its events hold beside it."""
    yield from _Sample(source, sample, name).transcripts()


class _Sample:
    def __init__(self, source: Source, sample: Sample, name: str) -> None:
        self.source, self.sample, self.name = source, sample, name
        self.final = [wire for wire in objects(sample.value.get("messages")) if not is_rest(wire)]
        older = mapping(sample.value.get("transcript"))  # in 2024 events and attachments stood in here
        inputs = [e for e in objects(sample.value.get("events")) if e.get("event") == "input"]
        attached = mapping(older.get("content")) | mapping(sample.value.get("attachments"))
        self.chat = Chat(attached, self.final, (string(event.get("input")) for event in inputs))
        self.skipped: Counter[str] = Counter()
        self.found, self.spans = items(sample.value, self.skipped)

    def transcripts(self) -> Iterator[Transcript]:
        main, *others = threads(self.found, self.final, self.chat)
        told = self._told(main, self.final)
        yield self._main(main, told)
        for number, seam in enumerate(told.seams):
            if seam.summariser is not None:
                yield self._summary(seam.summariser, f"{self.name}/summary-{number}")
        for number, thread in enumerate(others):
            told = Told(self.chat)
            told.add(thread.items, ())
            yield self._agent(thread, told, number)

    @property
    def _cluster(self) -> str:
        """Epochs of one sample tell the same story anew."""
        return f"{self.source.stem}/{self.sample.value.get('id')}"

    def _told(self, main: Thread, final: list[dict[str, Any]]) -> Told:
        """The story of the solver: its final messages, and where they were compacted, what the calls were sent."""
        told = Told(self.chat)
        if main.compacts or not final:
            told.add(main.items, final)
        else:
            told.matched(main.items, final)
        return told

    def _main(self, main: Thread, told: Told) -> Transcript:
        value = self.sample.value
        rebuilt = main.compacts or not self.final
        where = f"{self.sample.where}messages[{{}}]" if not rebuilt else f"{self.sample.where}message {{}} of its calls"
        own = own_keys(value)
        made = self._transcript(told, self.name, where)
        self.skipped.update(told.skipped)
        calls = [item for item in self.found if isinstance(item, Call)]
        return replace(
            made,
            title=string(own.get("title")) or string(mapping(self.sample.log.get("eval")).get("task")),
            cluster=string(own.get("cluster")) or self._cluster,
            agent_type=string(own.get("agent_type")) or made.agent_type,
            tools=_tools(own.get("tools") or next((call.tools for call in calls if call.tools), [])),
            compactions=made.compactions or _recorded(own.get("compactions"), RecordedCompaction),
            usage=made.usage or _recorded(own.get("usage"), Usage),
            intake=Intake(len(self.final) + len(self.found), dict(+self.skipped), dict(+self.chat.unknown)),
            header=_header(value, self.sample.log),
        )

    def _agent(self, thread: Thread, told: Told, number: int) -> Transcript:
        calls = [item for item in thread.items if isinstance(item, Call)]
        where = f"{self.sample.where}message {{}} of the calls of agent {number}"
        made = self._transcript(told, f"{self.name}/agent-{number}", where)
        return replace(
            made,
            agent_type="subagent",
            cluster=self._cluster,
            title=self.spans.get(calls[0].span, "") if calls else "",
            tools=_tools(next((call.tools for call in calls if call.tools), [])),
            intake=Intake(len(thread.items), dict(+told.skipped)),
        )

    def _summary(self, call: Call, name: str) -> Transcript:
        """The call that made a summary: what it was asked, without the conversation before that, and its answer."""
        told = Told(self.chat)
        told.nodes = [*(Node(wire) for wire in call.input[-1:]), Node(call.output, call)]
        made = self._transcript(told, name, f"{self.sample.where}message {{}} of a call that summarised")
        asked = tuple(replace(m, synthetic=True) if m.role == "user" else m for m in made.messages)
        return replace(made, messages=asked, agent_type="subagent", cluster=self._cluster, intake=Intake(records=1))

    def _transcript(self, told: Told, name: str, where: str) -> Transcript:
        messages: list[Message] = []
        places: dict[int, int] = {}
        used: list[Usage] = []
        for source, node in enumerate(told.nodes):
            message = self.chat.message(node.wire, source)
            if message is None:
                continue
            if node.call is not None:
                counted = usage(len(messages), node.call.usage)
                used += [] if counted is None else [counted]
                message = replace(message, timestamp=message.timestamp or node.call.time)
            places[id(node)] = len(messages)
            messages.append(message)
        compactions = [self._compaction(seam, n, messages, places) for n, seam in enumerate(told.seams)]
        return transcript(
            self.source,
            NAME,
            tuple(messages),
            id=name,
            usage=tuple(used),
            compactions=tuple(compaction for compaction in compactions if compaction is not None),
            origins=(Origin(str(self.source.path), where),),
        )

    def _compaction(
        self, seam: Seam, number: int, messages: Sequence[Message], places: dict[int, int]
    ) -> RecordedCompaction | None:
        position = places.get(id(seam.following))
        if position is None:
            return None
        after: list[int | Message] = []
        for entry in seam.after:
            after += self._entry(entry, position, messages, places)
        made = [entry.text for entry in after if isinstance(entry, Message) and entry.role == "user"]
        fields = seam.event.fields
        return RecordedCompaction(
            position,
            trigger=seam.event.kind,
            tokens_before=_tokens(fields.get("tokens_before")),
            tokens_after=_tokens(fields.get("tokens_after")),
            after=tuple(after),
            summary="\n\n".join(made),
            summariser="" if seam.summariser is None else f"{self.name}/summary-{number}",
        )

    def _entry(
        self, entry: Node | Made, position: int, messages: Sequence[Message], places: dict[int, int]
    ) -> list[int | Message]:
        if isinstance(entry, Node):
            place = places.get(id(entry))
            return [] if place is None or place >= position else [place]
        message = self.chat.message(entry.wire, None)
        if message is None:
            return []
        place = None if entry.original is None else places.get(id(entry.original))
        source = None if place is None else messages[place].source
        return [replace(message, source=source, synthetic=message.synthetic or message.role == "user")]


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _tools(given: object) -> tuple[str | dict[str, Any], ...]:
    return tuple(tool for tool in given if isinstance(tool, str | dict)) if isinstance(given, list) else ()


def _recorded(given: object, kind: type[_Kind]) -> tuple[_Kind, ...]:
    """What was written under our own key."""
    try:
        return tuple(msgspec.convert(entry, kind) for entry in objects(given))
    except (msgspec.ValidationError, UnicodeEncodeError):
        return ()


def _header(value: dict[str, Any], log: dict[str, Any]) -> dict[str, Any]:
    spec = mapping(log.get("eval"))
    fields: dict[str, Any] = {name: spec.get(name) for name in ("task", "model", "solver", "created")}
    fields["version"] = mapping(spec.get("packages")).get("inspect_ai")
    fields["status"] = log.get("status")
    fields |= {"sample": value.get("id"), "epoch": value.get("epoch")}
    fields["error"] = mapping(value.get("error")).get("message")
    fields["limit"] = mapping(value.get("limit")).get("type")
    scores = mapping(value.get("scores")) or {"score": value.get("score")}
    fields |= {_score_name(name): mapping(score).get("value") for name, score in scores.items()}
    return {name: field for name, field in fields.items() if isinstance(field, str | int | float) and field != ""}


def _score_name(name: str) -> str:
    return name if name == "score" else f"score_{name}"
