"""Files beside a session's own: the session it continues, those it copied, its agents and summarisers.

Of each only a piece is looked at to find out whether it is wanted; a large folder is not read.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers import read_json
from compactlab.readers._fields import mapping, objects, string
from compactlab.readers._files import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from compactlab.transcript import RecordedCompaction

SIBLINGS = 1_000
TAIL_BYTES = 131_072
_SUMMARY = re.compile(r"<summary>(.*)</summary>", re.DOTALL)
_FORKED = re.compile(
    r"a(compact|session_memory|extract_memor|prompt_suggestion|auto_?dream|dream|away_summary|magic_docs)"
)


class Summariser(NamedTuple):
    """The recorded call that wrote a summary: the id of its transcript, and what it said."""

    id: str
    text: str


def is_subconscious(agent: str) -> bool:
    """Whether an agent worked for the harness and not for the agent that it came from.

    >>> is_subconscious("acompact-e1f845"), is_subconscious("a2898e3")
    (True, False)
    """
    return _FORKED.match(agent) is not None


def tail(path: Path) -> list[dict[str, Any]]:
    """The records within the last 131,072 bytes of a file; none if it cannot be read or is compressed."""
    try:
        with path.open("rb") as file:
            start = max(0, path.stat().st_size - TAIL_BYTES)
            file.seek(start)
            lines = file.read(TAIL_BYTES + 1).split(b"\n")
    except OSError:
        return []
    values = (_value(line) for line in (lines[1:] if start else lines))
    return [value for value in values if isinstance(value, dict)]


def _value(line: bytes) -> object:
    try:
        return read_json(line.strip(b"\0 \t\r\n"))
    except TranscriptError:
        return None


def _siblings(source: Source, pattern: str = "*.jsonl") -> Iterator[Path]:
    """Files in the folder of a source, itself left out, the first 1,000 by name."""
    return (path for path in _listed(source.path.parent, pattern) if path.name != source.path.name)


def _listed(folder: Path, pattern: str) -> Iterator[Path]:
    try:
        return islice(sorted(folder.glob(pattern)), SIBLINGS)
    except OSError:
        return iter(())


def earlier(source: Source, leaves: Iterable[str], before: str) -> tuple[Path, str] | None:
    """Find the session that this one continues: the file that ends with one of *leaves*, and which.

    Of several it is the one that was written last *before* that time.
    """
    wanted = set(leaves)
    found: list[tuple[str, Path, str]] = []
    for path in _siblings(source) if wanted else ():
        records = tail(path)
        leaf = next((string(r.get("uuid")) for r in reversed(records) if string(r.get("uuid")) in wanted), "")
        times = [string(record.get("timestamp")) for record in records]
        if leaf and (not before or max(times) <= before):
            found.append((max(times), path, leaf))
    return max(found)[1:] if found else None


def copied(source: Source, sessions: Iterable[str], uuids: Iterable[str]) -> list[Path]:
    """The files of earlier *sessions* of which every message was copied: their last one is among *uuids*.

    A file that also holds sidechains is none of them: those were not copied.
    """
    held = set(uuids)
    found: list[Path] = []
    for session in sessions:
        path = source.path.parent / f"{Path(session).name}.jsonl"
        if path.name == source.path.name or not path.is_file():
            continue
        said = [record for record in tail(path) if record.get("type") in ("user", "assistant")]
        if said and string(said[-1].get("uuid")) in held and b'"isSidechain":true' not in Source(path).data:
            found.append(path)
    return found


def summarisers(source: Source, session: str) -> list[Summariser]:
    """The recorded calls of the summariser of a session, in its own folder or, flattened, beside its file."""
    folder = source.path.parent / source.stem / "subagents"
    paths = [*_listed(folder, "agent-acompact-*.jsonl"), *_siblings(source, "*agent-acompact-*.jsonl")]
    return [found for path in paths if (found := _summariser(path, session)) is not None]


def _summariser(path: Path, session: str) -> Summariser | None:
    for record in reversed(tail(path)):
        if record.get("type") != "assistant" or record.get("sessionId") != session:
            continue
        content = mapping(record.get("message")).get("content")
        text = "\n".join(string(part.get("text")) for part in objects(content)).strip()
        if text:
            return Summariser(f"{session}-agent-{string(record.get('agentId'))}", text)
    return None


def matched(compactions: Sequence[RecordedCompaction], known: Sequence[Summariser]) -> list[str]:
    """For each compaction the id of the summariser whose words its summary holds; empty if there is none."""
    free = list(known)
    ids: list[str] = []
    for compaction in compactions:
        place = next(
            (i for i, s in enumerate(free) if compaction.summary and _core(s.text) in compaction.summary), None
        )
        ids.append(compaction.summariser if place is None else free.pop(place).id)
    return ids


def _core(text: str) -> str:
    found = _SUMMARY.search(text)
    return (found.group(1) if found else text).strip()


def agent(source: Source, name: str) -> dict[str, str]:
    """Kind and task of the agent of a sidechain file, from the `.meta.json` beside it."""
    path = source.path.with_name(f"agent-{Path(name).name}.meta.json")
    if not source.path.name.startswith("agent-") or not path.is_file():
        return {}
    given = mapping(source.beside(path).document)
    return {"agent": string(given.get("agentType")), "title": string(given.get("description"))}


def cluster(source: Source, session: str) -> str:
    """The story of a sidechain file: that of its session, which began in another one if the session is a fork."""
    name = f"{Path(session).name}.jsonl"
    for path in (*source.path.parents[2:3], source.path.parent):
        if (path / name).is_file() and path / name != source.path:
            values = [mapping(value) for value in Source(path / name).values]
            main = (string(value.get("sessionId")) for value in values if value.get("isSidechain") is False)
            return next((found for found in main if found), session)
    return session
