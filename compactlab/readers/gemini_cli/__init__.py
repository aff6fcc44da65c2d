"""Gemini CLI sessions: one JSON object (2025) or JSON lines (2026), and the histories that `/chat save` writes.

A recorded response holds its calls with their results: it becomes a message, and one more for each result. Notes of the
screen (`info`, `warning`, `error`) and `resultDisplay` are not read. JSON lines may replace the whole list of messages
or, by a `$patch`, some of them: by one with a `<state_snapshot>`, or with masked outputs, which are recorded
compactions, or by a shorter one, which leaves a branch. A history is a list of contents of the Gemini API, also as
`history` or `contents` of an object. The system prompt is stored in none but the last.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import array, first_string, mapping
from compactlab.readers._sessions import transcript
from compactlab.readers.gemini_cli._contents import from_contents, is_content, system_text
from compactlab.readers.gemini_cli._replay import Replay
from compactlab.transcript import Intake, Message, Origin, Text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

NAME = "gemini_cli"
WHERE = "~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl, checkpoints in ~/.gemini/tmp/PROJECT"
_HISTORIES = ("history", "contents")
_GENERATIONS = 50


def sniff(source: Source) -> float:
    """Look for a session's id beside its project's hash, for records of JSON lines, or for contents with `parts`."""
    if isinstance(source.document, list):
        return 0.9 if _is_history(source.document) else 0.0
    if source.document is not None:
        if {"sessionId", "projectHash"} <= source.document.keys() or _is_recording(source.document):
            return 0.98
        return 0.92 if any(_is_history(source.document.get(key)) for key in _HISTORIES) else 0.0
    if any(isinstance(value, dict) and {"sessionId", "projectHash"} <= value.keys() for value in source.values):
        return 0.98
    return 0.9 if sum(_is_record(value) for value in source.values) > len(source.values) / 2 else 0.0


def _is_history(value: object) -> bool:
    held = array(value)
    return bool(held) and all(is_content(inner) for inner in held[:50])


def _is_recording(document: dict[str, Any]) -> bool:
    held = array(document.get("messages"))
    return "sessionId" in document and any(mapping(inner).get("type") == "gemini" for inner in held)


def _is_record(value: object) -> bool:
    fields = mapping(value)
    if isinstance(fields.get("$rewindTo"), str) or any(isinstance(fields.get(key), dict) for key in ("$set", "$patch")):
        return True
    return fields.get("type") in ("user", "gemini") and {"id", "timestamp", "content"} <= fields.keys()


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file; that of a `kind` subagent is in the cluster of the session that started it.

    A session of JSON lines went on from the object of the same name, which is read no more.
    """
    document: Any = source.document
    if document is None:
        yield _of_lines(source)
    elif isinstance(document, list) or not isinstance(document.get("messages"), list):
        yield _of_history(source, document)
    else:
        later = source.path.with_name(f"{source.path.name}l")
        if source.path.suffix == ".json" and later.is_file():
            source = source.beside(later)
            yield _of_lines(source)
        else:
            yield _of_document(source, document)


def _of_lines(source: Source) -> Transcript:
    lines = source.lines()
    replay = Replay()
    metadata: dict[str, Any] = {}
    for line in lines:
        value = mapping(line.value)
        given = replay.take(value, line.number - 1)
        metadata |= {key: inner for key, inner in given.items() if isinstance(inner, str)}
    replay.settle()
    intake = lines.intake(replay.skipped, replay.unknown)
    return _session(source, metadata, replay, intake, Origin(str(source.path), "line {}", base=1))


def _of_document(source: Source, document: dict[str, Any]) -> Transcript:
    replay = Replay()
    held = document["messages"]
    for index, value in enumerate(held):
        replay.message(mapping(value), index)
    replay.settle()
    intake = Intake(len(held), dict(+replay.skipped), dict(+replay.unknown))
    return _session(source, document, replay, intake, Origin(str(source.path), "messages[{}]"))


def _session(source: Source, metadata: dict[str, Any], replay: Replay, intake: Intake, origin: Origin) -> Transcript:
    name = first_string(metadata, "sessionId") or source.stem
    is_subagent = metadata.get("kind") == "subagent"
    return transcript(
        source,
        NAME,
        tuple(replay.messages),
        id=name,
        title=first_string(metadata, "summary"),
        agent_type="subagent" if is_subagent else "primary",
        cluster=_root(source.path, name) if is_subagent else name,
        compactions=tuple(replay.compactions),
        usage=tuple(replay.usage),
        origins=(origin,),
        header={"models": list(replay.models)} if replay.models else {},
        intake=intake,
    )


def _root(path: Path, name: str) -> str:
    """The id of the session at the root: each folder of subagents has the name of the one that started them."""
    chats = path.absolute().parent.parent
    if chats.name != "chats":
        return name
    started = {file.stem: file.parent.name for file in chats.glob("*/*.jsonl")} | {name: path.absolute().parent.name}
    for _ in range(_GENERATIONS):
        if name not in started:
            break
        name = started[name]
    return name


def _of_history(source: Source, document: Any) -> Transcript:  # noqa: ANN401  # JSON is any value
    """Read contents of the Gemini API; a `systemInstruction` beside them is recorded message 0."""
    key = "" if isinstance(document, list) else next((k for k in _HISTORIES if array(document.get(k))), "history")
    held = document if isinstance(document, list) else array(document.get(key))
    system = "" if isinstance(document, list) else system_text(document)
    made = from_contents(held, 1 if system else 0)
    path = str(source.path)
    list_origin = Origin(path, f"{key}[{{}}]" if key else "content {}")
    leading = (Message("system", (Text(system),), source=0),) if system else ()
    origins = (
        (Origin(path, "systemInstruction"), Origin(path, list_origin.where, first=1)) if system else (list_origin,)
    )
    intake = Intake(len(held), dict(+made.skipped), dict(+Counter(made.unknown)))
    return transcript(source, NAME, (*leading, *made.messages), origins=origins, intake=intake)
