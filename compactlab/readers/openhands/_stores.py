"""Where the events of OpenHands lie: one file each in a folder, a list, JSON lines, or rows of an evaluation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers._fields import first_string, mapping
from compactlab.readers.openhands import _v0, _v1
from compactlab.readers.openhands._story import Event
from compactlab.transcript import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from compactlab.readers import Lines, Source

_PAGES = ("history", "trajectory", "events", "items")
"""Keys under which lists of events stand in rows, downloads and answers of the server."""
_CACHED = re.compile(r"\d+-\d+")
_V1_NAME = re.compile(r"event[-_]\d+")


class Recording(NamedTuple):
    """The events of one session in their order, where they stand, and the record that holds them or tells of them."""

    events: list[Event]
    origins: tuple[Origin, ...]
    about: dict[str, Any]
    skipped: dict[str, int]
    name: str = ""


def is_event(value: object) -> bool:
    """Whether a value is one event, or one action with its observation."""
    pair = value if isinstance(value, list) and len(value) == 2 else [value]
    return all(_v0.is_event(part) for part in pair) or _v1.is_event(value)


def listed(value: object) -> list[Any]:
    """The events that a list or an object holds; none, if it holds anything else."""
    held = [value] if isinstance(value, list) else [mapping(value).get(key) for key in _PAGES]
    for events in held:
        if isinstance(events, list) and events and all(is_event(event) for event in events[:3]):
            return events
    return []


def is_state(value: object) -> bool:
    """Whether a value is the state of a conversation, which lies beside its events."""
    state = mapping(value)
    agent = mapping(state.get("agent"))
    return ("llm" in agent or "kind" in agent) and "id" in state and isinstance(state.get("workspace"), dict)


def of_document(source: Source, document: Any) -> Iterator[Recording]:  # noqa: ANN401  # JSON is any value
    """The recordings of a document: of the folder that it is part of, of its events, or of its rows."""
    cached = source.path.parent.parent / "events"
    if isinstance(document, list) and _CACHED.fullmatch(source.path.stem) and _numbered(cached):
        yield _first_folder(source, cached, document)
    elif isinstance(document, dict) and (is_state(document) or is_event(document)):
        yield _folder(source, document)
    elif isinstance(document, list) and listed(document):
        yield _recording(source, document, "event {}", {})
    elif isinstance(document, list):
        for number, row in enumerate(document):
            yield _row(source, row, f"row {number}: ")
    else:
        yield _row(source, document, "")


def of_lines(source: Source, lines: Lines) -> Iterator[Recording]:
    """The recordings of JSON lines: one a row, or one of all lines, if each is an event."""
    events: list[Event] = []
    skipped: dict[str, int] = {}
    for line in lines:
        if is_event(line.value):
            events += _flat(line.number - 1, line.value, skipped)
        else:
            yield _row(source, line.value, f"line {line.number}: ")
    if events:
        yield Recording(events, (Origin(str(source.path), "line {}", base=1),), {}, skipped)


def _row(source: Source, row: object, where: str) -> Recording:
    key = next((key for key in _PAGES if isinstance(mapping(row).get(key), list)), "history")
    events = mapping(row).get(key)
    about = mapping(row)
    name = first_string(about, "instance_id", "task_id", "id", "question_id")
    number = about.get("question_id", about.get("instance_id"))
    name = name or (str(number) if isinstance(number, int) else "")
    told = _recording(source, events if isinstance(events, list) else [], f"{where}{key}[{{}}]", about)
    return told._replace(name=name)


def _recording(source: Source, values: list[Any], where: str, about: dict[str, Any]) -> Recording:
    skipped: dict[str, int] = {}
    events = [event for number, value in enumerate(values) for event in _flat(number, value, skipped)]
    return Recording(events, (Origin(str(source.path), where),), about, skipped)


def _flat(number: int, value: object, skipped: dict[str, int]) -> Iterable[Event]:
    """One event, or the two of a pair."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict):
            yield Event(number, part)
        else:
            skipped["no object"] = skipped.get("no object", 0) + 1


def _folder(source: Source, document: dict[str, Any]) -> Recording:
    """The events that lie beside a file, in the order of their numbers, and what tells of them."""
    folder = source.path.parent
    if is_state(document):
        files = sorted((folder / "events").glob("event*.json"))
        return _of_files(source, files, document, document)._replace(name=folder.name)
    if not _v1.is_event(document):
        return _first_folder(source, folder, document)
    files = sorted(path for path in folder.glob("event*.json") if _V1_NAME.match(path.name))
    about = _beside(source, folder.parent / "base_state.json")
    return _of_files(source, files, document, about)


def _first_folder(source: Source, folder: Path, document: Any) -> Recording:  # noqa: ANN401  # JSON is any value
    """The events of a folder of the first architecture; its cache, which repeats them, is not read."""
    for cached in (folder.parent / "event_cache").glob("*.json"):
        source.beside(cached)
    return _of_files(source, _numbered(folder), document, _beside(source, folder.parent / "metadata.json"))


def _numbered(folder: Path) -> list[Path]:
    return sorted(
        (path for path in folder.glob("*.json") if path.stem.isdecimal()), key=lambda path: int(path.stem[:30])
    )


def _of_files(source: Source, files: list[Path], document: Any, about: dict[str, Any]) -> Recording:  # noqa: ANN401  # JSON is any value
    """The events of files, each one; *document* is what the file holds that is being read."""
    if isinstance(document, dict) and source.path not in files and not is_state(document):
        files = [source.path]
    events: list[Event] = []
    skipped: dict[str, int] = {}
    for number, path in enumerate(files):
        value = document if path == source.path else source.beside(path).document
        if is_event(value):
            events += _flat(number, value, skipped)
        else:
            skipped["file that is no event"] = skipped.get("file that is no event", 0) + 1
    origins = tuple(Origin(str(path), "event", first=number) for number, path in enumerate(files))
    return Recording(events, origins, about, skipped, files[0].parent.parent.name if len(files) > 1 else "")


def _beside(source: Source, path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return mapping(source.beside(path).document)
    except TranscriptError:
        return {}
