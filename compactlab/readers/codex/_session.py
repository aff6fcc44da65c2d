"""From the records of a file to a transcript: which kind each is, who the session is, what it is told about."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import array, first_string, mapping, string
from compactlab.readers._sessions import transcript
from compactlab.readers._times import iso
from compactlab.readers._usage import openai_usage
from compactlab.readers.codex._bases import bases, meta_of
from compactlab.readers.codex._copies import fresh
from compactlab.readers.codex._history import Place
from compactlab.readers.codex._rollout import Rollout
from compactlab.readers.codex._tokens import NO_RESPONSE
from compactlab.shapes.call_ids import with_ids
from compactlab.shapes.openai_items import kind_of
from compactlab.transcript import Intake, Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from compactlab.readers import Line, Lines, Source
    from compactlab.readers.codex._bases import Base
    from compactlab.transcript import Transcript, Usage

OWN = "compactlab"
_BOOKKEEPING = frozenset({"world_state", "inter_agent_communication_metadata", "rollout_reference"})
_SUBCONSCIOUS = ("memory", "guardian", "auto_review")
Wire = dict[str, Any]


class Session:
    """A session that is read from one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.rollout = Rollout()
        self.metas: list[Wire] = []
        self.models: dict[str, None] = {}
        self.usage: Usage | None = None
        self.spare: list[tuple[Wire, int]] = []
        self.origins: list[Origin] = []
        self.first = 0

    def of_lines(self) -> Transcript:
        """Read JSON lines, of whichever version."""
        lines = self.source.lines()
        skipped, unknown = self.rollout.assembly.skipped, self.rollout.assembly.unknown
        found, missing = bases(self.source)
        if missing:
            lines.problems.append(f"what came before, in rollout {missing}, is not there")
        for line in fresh(self._begun(found, lines) if found else lines, skipped):
            if isinstance(line.value, dict):
                self._take(line.value, line.number - 1)
            else:
                unknown["no object"] += 1
        return self._made(lambda: lines.intake(skipped, unknown), "line {}", 1)

    def _begun(self, found: Sequence[Base], lines: Lines) -> Iterator[Line]:
        """The lines of other rollouts in which this session began, and its own behind them.

        A rollout of the same session is told with this one; another session is told once more, on its own.
        """
        own = meta_of(self.source)
        sizes = [base.size for base in found]
        self.first = sum(sizes)
        self.meta(own, Place(self.first))
        first = 0
        for base, size in zip(found, sizes, strict=True):
            if first_string(base.meta, "id") == first_string(own, "id"):
                self.source.beside(base.source.path)
            else:
                self.metas.append(base.meta)
            self.origins.append(Origin(str(base.source.path), "line {}", first, base=1))
            for line in base.lines(first, self.rollout.assembly.skipped):
                lines.records += 1
                yield line
            first += size
        yield from (line._replace(number=first + line.number) for line in islice(lines, 1, None))

    def of_document(self, session: Wire, items: Sequence[Wire], title: str) -> Transcript:
        """Read the oldest version: the session and its items in one object."""
        self.meta(session, Place(0))
        self.rollout.title = title
        for index, item in enumerate(items):
            self.rollout.item(item, Place(index, iso(item.get("timestamp"))))
        assembly = self.rollout.assembly
        return self._made(
            lambda: Intake(len(items) + 1, dict(assembly.skipped), dict(assembly.unknown)), "items[{}]", 0
        )

    def _take(self, record: Wire, source: int) -> None:
        kind, payload = string(record.get("type")), record.get("payload")
        place = Place(source, iso(record.get("timestamp")))
        if kind in _TAKES and isinstance(payload, dict):
            _TAKES[kind](self, payload, place)
        elif kind in _BOOKKEEPING or kind in _TAKES:
            self.rollout.assembly.skipped[kind if kind in _BOOKKEEPING else f"{kind} without payload"] += 1
        elif kind.startswith(("thread.", "turn.", "item.")):
            self._thread(kind, record, place)
        elif isinstance(record.get("msg"), dict):
            self._event(record["msg"], place)
        else:
            self._flat(record, place)

    def _flat(self, record: Wire, place: Place) -> None:
        """Take a line of a version that had no payloads."""
        if kind_of(record):
            self.rollout.item(record, place)
        elif isinstance(record.get("record_type"), str):
            self.rollout.assembly.skipped[f"record_type {record['record_type']}"] += 1
        elif isinstance(record.get("id"), str) and ("timestamp" in record or "instructions" in record):
            self.meta(record, place._replace(timestamp=None))
        elif isinstance(record.get("prompt"), str):
            self.rollout.event({"type": "user_message", "message": record["prompt"]}, place)
        else:
            self.rollout.assembly.unknown["record without type"] += 1

    def _event(self, event: Wire, place: Place) -> None:
        if event.get("type") == "session_configured":
            self.meta({"id": first_string(event, "session_id"), "model": event.get("model")}, place)
        else:
            self.rollout.event(event, place)

    def meta(self, meta: Wire, place: Place) -> None:
        self.metas.append(meta)
        self._model(meta)
        if len(self.metas) > 1:
            self.rollout.assembly.skipped["session_meta of another session"] += 1
            return
        base = meta.get("base_instructions")
        self.rollout.prompt(base.get("text") if isinstance(base, dict) else base, place)
        self.rollout.instruct(meta.get("instructions"), place)

    def turn(self, context: Wire, place: Place) -> None:
        self._model(context)
        self.rollout.prompt(context.get("base_instructions"), place)
        self.rollout.assembly.skipped["turn_context"] += 1

    def _model(self, told: Wire) -> None:
        if string(told.get("model")):
            self.models[told["model"]] = None

    def communication(self, told: Wire, place: Place) -> None:
        """Take what another agent sent to this one."""
        text, opaque = told.get("content"), told.get("encrypted_content")
        hidden = {"type": "encrypted_content", "encrypted_content": opaque}
        content = [{"type": "input_text", "text": text}] if text or opaque is None else [hidden]
        self.rollout.item({"type": "agent_message", "content": content}, place)

    def counted(self, told: Wire, place: Place) -> None:
        """Keep a count that stands beside the events, and is read where there are no such."""
        del place
        counts = {"last_token_usage": told.get("usage"), "total_token_usage": told.get("thread_token_usage")}
        self.spare.append((counts, len(self.rollout.assembly.responses)))
        self.rollout.assembly.skipped["token_usage_record"] += 1

    def _thread(self, kind: str, record: Wire, place: Place) -> None:
        item = mapping(record.get("item"))
        if kind == "thread.started":
            self.metas.append({"id": record.get("thread_id")})
        elif kind.startswith("item.") and item:
            self.rollout.thread_item(item, place, ended=kind == "item.completed")
        else:
            self.rollout.assembly.close()
            self.usage = openai_usage(None, record.get("usage")) or self.usage
            self.rollout.assembly.skipped[kind] += 1

    def _made(self, intake: Callable[[], Intake], where: str, base: int) -> Transcript:
        self.rollout.end()
        history = self.rollout.history
        assembly = history.assembly
        meta = self.metas[0] if self.metas else {}
        compactions = history.compactions
        usage = history.tokens.usages(assembly.responses)
        if self.spare and not usage:
            for counts, responses in self.spare:
                history.tokens.take(counts, responses)
            usage = history.tokens.usages(assembly.responses)
        assembly.skipped[NO_RESPONSE] += history.tokens.dropped
        own = string(meta.get("originator")) == OWN
        session = first_string(meta, "id", "session_id")
        told = {"cluster": _root(self.metas) or self.source.stem, **_agent_type(meta)}
        return transcript(
            self.source,
            "codex",
            tuple(assembly.messages) if own else with_ids(assembly.messages),
            session,
            title=self.rollout.title,
            tools=tuple(tool for tool in array(meta.get("dynamic_tools")) if isinstance(tool, str | dict)),
            compactions=compactions,
            usage=usage or (() if self.usage is None else (self.usage,)),
            origins=(*self.origins, Origin(str(self.source.path), where, self.first, base)),
            intake=intake(),
            header=self._header(meta),
            **told,
        )

    def _header(self, meta: Wire) -> dict[str, Any]:
        named = {"version": meta.get("cli_version"), "originator": meta.get("originator"), "cwd": meta.get("cwd")}
        told = {key: value for key, value in named.items() if isinstance(value, str) and value}
        return told | ({"models": list(self.models)} if self.models else {})


_TAKES: dict[str, Callable[[Session, Wire, Place], None]] = {
    "session_meta": Session.meta,
    "response_item": lambda session, item, place: session.rollout.item(item, place),
    "event_msg": lambda session, event, place: session.rollout.event(event, place),
    "compacted": lambda session, record, place: session.rollout.compacted(record, place),
    "turn_context": Session.turn,
    "inter_agent_communication": Session.communication,
    "token_usage_record": Session.counted,
}


def _parent(meta: Wire) -> str:
    spawned = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return first_string(meta, "forked_from_id", "parent_thread_id") or first_string(spawned, "parent_thread_id")


def _root(metas: Sequence[Wire]) -> str:
    """Id of the session from which the others came, as far back as the file tells."""
    parents = {first_string(meta, "id", "session_id"): _parent(meta) for meta in metas}
    seen: set[str] = set()
    at = first_string(metas[0], "id", "session_id") if metas else ""
    while parents.get(at) and at not in seen:
        seen.add(at)
        at = parents[at]
    return at


def _agent_type(meta: Wire) -> dict[str, str]:
    """The agent type, where the session tells how it was started."""
    source = meta.get("source")
    child = mapping(source).get("subagent") or mapping(source).get("internal")
    if child or meta.get("thread_source") == "subagent":
        name = child if isinstance(child, str) else first_string(child, "other")
        return {"agent_type": "subconscious" if name.startswith(_SUBCONSCIOUS) else "subagent"}
    return {"agent_type": "primary"} if isinstance(source, str) and source else {}
