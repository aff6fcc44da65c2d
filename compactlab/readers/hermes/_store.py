"""Hermes' store: sessions that go on from each other, rows that were archived, and the seams between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers import _archives
from compactlab.readers._fields import array, count, first_string, mapping, string
from compactlab.readers._seams import Story, same
from compactlab.readers._sessions import session_id, transcript
from compactlab.readers._turns import decoded
from compactlab.readers.hermes._wires import Wire, is_made, is_summary, messages
from compactlab.transcript import Intake, Message, Origin, Text, Transcript, Usage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from compactlab.readers import Source

_RESETS = {"session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"}
_HEADS = 64
_COUNTERS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
Fields = dict[str, Any]


def sniff(source: Source) -> float:
    """Look for the two tables of the store."""
    tables = source.tables
    spoken, held = tables.get("messages", frozenset()), tables.get("sessions", frozenset())
    is_store = {"session_id", "role", "content"} <= spoken and "tool_calls" in spoken and "id" in held
    return 0.95 if is_store and held & {"parent_session_id", "started_at", "source"} else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the stories of a store, one by one."""
    with _archives.database(source.path) as connection:
        store = _Store(source, connection)
        for chain in store.chains():
            yield store.transcript(chain)


class _Rows(NamedTuple):
    """Messages of a session in order, and, for each, whether its row was archived by a compaction."""

    messages: list[Message]
    archived: list[bool]


class _Store:
    """The sessions of a store, and where the rows of their messages are."""

    def __init__(self, source: Source, connection: sqlite3.Connection) -> None:
        self._source = source
        self._connection = connection
        self._places: dict[str, list[int]] = defaultdict(list)
        for row in _archives.rows(connection, "SELECT rowid AS place, session_id FROM messages ORDER BY rowid"):
            self._places[str(row["session_id"])].append(row["place"])
        listed = _archives.rows(connection, "SELECT * FROM sessions ORDER BY rowid")
        self._sessions: dict[str, Fields] = {str(row["id"]): _as_text(row) for row in listed}
        for name in self._places:
            self._sessions.setdefault(name, {"id": name})
        self._prompts: dict[str, str] = {}
        if {"hash", "prompt"} <= source.tables.get("system_prompts", frozenset()):
            found = _archives.rows(connection, "SELECT hash, prompt FROM system_prompts")
            self._prompts = {str(row["hash"]): string(row["prompt"]) for row in found}

    def chains(self) -> Iterator[list[str]]:
        """Names of the sessions of each story, in order; those that go on from one stand behind it."""
        following: dict[str, list[str]] = defaultdict(list)
        for name, session in self._sessions.items():
            if self._kind(name) == "continuation":
                following[str(session["parent_session_id"])].append(name)
        next_one = {name: min(children, key=self._preference) for name, children in following.items()}
        inner = set(next_one.values())
        seen: set[str] = set()
        for name in (*(n for n in self._sessions if n not in inner), *inner):  # the rest stand in a circle
            chain: list[str] = []
            at: str | None = name
            while at is not None and at not in seen:
                seen.add(at)
                chain.append(at)
                at = next_one.get(at)
            if chain:
                yield chain

    def _preference(self, name: str) -> tuple[int, float]:
        """Of several continuations the one that went on itself comes first, then one that is open, then the latest."""
        session = self._sessions[name]
        rank = 0 if session.get("end_reason") == "compression" else 1 if session.get("ended_at") is None else 2
        started = session.get("started_at")
        return rank, -started if isinstance(started, int | float) else 0.0

    def _kind(self, name: str) -> str:
        """What a session is to its parent: continuation, branch, subagent or reset; empty if it has none."""
        session = self._sessions[name]
        above = str(session.get("parent_session_id") or "")
        parent = self._sessions.get(above) if above else None
        config = mapping(decoded(session.get("model_config")))
        if parent is None or above == name:
            return "subagent" if config.get("_delegate_from") else ""
        reason = parent.get("end_reason")
        marked = {key for key in ("_branched_from", "_delegate_from", "_reset_from") if config.get(key) == above}
        if "_delegate_from" in marked or session.get("source") in {"tool", "subagent"}:
            return "subagent"
        if "_branched_from" in marked or reason == "branched":
            return "branch"
        if "_reset_from" in marked or reason in _RESETS:
            return "reset"
        return "continuation" if reason == "compression" else "subagent"

    def _root(self, name: str) -> str:
        """The session that a story began with, or that called for it or was branched."""
        seen = {name}
        while self._kind(name) in {"continuation", "branch", "subagent"}:
            above = str(self._sessions[name].get("parent_session_id") or "")
            if above in seen or above not in self._sessions:
                break
            seen.add(above)
            name = above
        return name

    def transcript(self, chain: Sequence[str]) -> Transcript:
        """Put the sessions of a story together."""
        story = Story(is_made)
        skipped: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        repaired: Counter[str] = Counter()
        for name in chain:
            rows = self._rows(name, skipped, unknown, repaired)
            _tell(story, rows)
        if story.copies:
            skipped["copy of a message"] += story.copies
        sessions = [self._sessions[name] for name in chain]
        path = str(self._source.path)
        return transcript(
            self._source,
            "hermes",
            tuple(story.messages),
            own_id=chain[0],
            cluster=session_id(self._source.stem, self._root(chain[0])),
            title=next((t for s in reversed(sessions) if (t := string(s.get("title")))), ""),
            agent_type="subagent" if self._kind(chain[0]) == "subagent" else "primary",
            tools=tuple(name for name in array(decoded(sessions[-1].get("tool_names"))) if isinstance(name, str)),
            compactions=tuple(story.compactions),
            usage=_usage(sessions),
            origins=(
                Origin(path, f"system prompt of session {_plain(chain[0])}"),
                Origin(path, "messages row {}", 1, 1),
            ),
            intake=Intake(sum(len(self._places[n]) for n in chain), dict(skipped), dict(unknown), dict(repaired)),
            header=_header(sessions),
        )

    def _rows(self, name: str, skipped: Counter[str], unknown: Counter[str], repaired: Counter[str]) -> _Rows:
        wires: list[Wire] = []
        archived: dict[int, bool] = {}
        for place in self._places[name]:
            stored = next(_archives.rows(self._connection, "SELECT * FROM messages WHERE rowid = ?", (place,)), {})
            row = _as_text(stored)
            if row.get("active", 1) == 0 and row.get("compacted", 0) != 1:
                skipped["message of another branch"] += 1
                continue
            archived[place] = row.get("active", 1) == 0
            wires.append(Wire(row, place))
        found = messages(wires, unknown, repaired)
        prompt = self._prompt(name)
        flags = [archived[message.source or 0] for message in found]
        if prompt:
            found.insert(0, Message("system", (Text(prompt),), source=0))
            flags.insert(0, bool(flags) and flags[0])
        return _Rows(found, flags)

    def _prompt(self, name: str) -> str:
        session = self._sessions[name]
        return string(session.get("system_prompt")) or self._prompts.get(str(session.get("system_prompt_hash")), "")


def _as_text(row: Fields) -> Fields:
    """A row in which text that was stored as bytes is text."""
    return {key: value.decode(errors="replace") if isinstance(value, bytes) else value for key, value in row.items()}


def _plain(name: str) -> str:
    """A name in which no brace stands for a number."""
    return name.replace("{", "{{").replace("}", "}}")


def _tell(story: Story, rows: _Rows) -> None:
    """Go on with the rows of a session: one list, or several if a compaction archived rows and wrote new ones."""
    at = 0
    while at < len(rows.messages):
        end = _next_list(rows, at, resumed=bool(story.messages))
        listed = rows.messages[at:end]
        if at and rows.messages[0].role == "system" and listed[0].role != "system":
            listed = [rows.messages[0], *listed]  # the prompt stands in no row, and in front of every list
        story.resume(listed)
        at = end


def _next_list(rows: _Rows, at: int, *, resumed: bool) -> int:
    """Where the next list begins behind the one that begins at *at*; one that resumes another has a summary itself."""
    own = resumed
    for place in range(at + 1, len(rows.messages)):
        before = rows.archived[place - 1]
        if before and not rows.archived[place]:
            return place
        if not is_summary(rows.messages[place]) or is_summary(rows.messages[place - 1]):
            continue
        if own:
            own = False
        elif before:
            return place - _copied_head(rows.messages, at, place)
    return len(rows.messages)


def _copied_head(listed: Sequence[Message], at: int, summary: int) -> int:
    """How many messages in front of a summary are copies of the head of the list that begins at *at*."""
    start = at + 1 if listed[at].role == "system" else at
    for length in range(min(_HEADS, (summary - start) // 2), 0, -1):
        if all(same(listed[start + i], listed[summary - length + i]) for i in range(length)):
            return length
    return 0


def _usage(sessions: Sequence[Fields]) -> tuple[Usage, ...]:
    fresh, read, written, made, thought = (sum(count(s.get(key)) or 0 for s in sessions) for key in _COUNTERS)
    return (Usage(None, fresh + read + written, made, read, thought),) if fresh + read + written + made else ()


def _header(sessions: Sequence[Fields]) -> dict[str, Any]:
    last = sessions[-1]
    told = {key: first_string(last, key) for key in ("model", "source", "end_reason")}
    return {key: value for key, value in told.items() if value}
