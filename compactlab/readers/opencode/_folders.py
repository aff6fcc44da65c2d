"""The folders of JSON files in which opencode kept its sessions before version 1.2.

`session/PROJECT/SESSION.json`, `message/SESSION/MESSAGE.json` and `part/MESSAGE/PART.json`; before 0.6 the first was
`info/SESSION.json`, and parts lay in `part/SESSION/MESSAGE/PART.json`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers import Source, read_json
from compactlab.readers._fields import first_string, mapping, string
from compactlab.readers.opencode._records import Record, Session, in_order, record
from compactlab.transcript import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_GENERATIONS = 100
_NAME = re.compile(r"\w[\w.-]{0,199}")


def kind(document: Mapping[str, Any]) -> str:
    """Which of the three files a document is: `session`, `message` or `part`; empty if none."""
    name = string(document.get("id"))
    if not name:
        return ""
    session, message = (isinstance(document.get(key), str) for key in ("sessionID", "messageID"))
    if session and message and isinstance(document.get("type"), str):
        return "part"
    if session and isinstance(document.get("role"), str) and isinstance(document.get("time"), dict):
        return "message"
    described = {"directory", "projectID", "version", "parentID"} & document.keys()
    is_session = isinstance(document.get("time"), dict) and isinstance(document.get("title"), str)
    return "session" if is_session and described else ""


def of_folders(source: Source) -> Iterator[Session]:
    """The session that a file belongs to."""
    document = mapping(source.document)
    name = _plain(first_string(document, "id" if kind(document) == "session" else "sessionID"))
    store = _store(source.path, name)
    if store is None:
        raise TranscriptError(f"{source.path}: no folder message/{name or 'SESSION'} in a folder above it")
    reader = _Reader(source, [])
    info = reader.session(store, name)
    records, origins = reader.messages(store, name)
    parent = first_string(info, "parentID")
    yield Session(name, info, records, origins, parent, _root(store, name, info), tuple(reader.problems))


def _plain(name: str) -> str:
    """The name, if it is no more than a name: it is looked for in folders."""
    return name if _NAME.fullmatch(name) else ""


def _store(path: Path, name: str) -> Path | None:
    """The folder above a file in which the messages of its session lie."""
    return next(
        (p for p in (*path.parents[:5], *path.absolute().parents[:5]) if name and (p / "message" / name).is_dir()), None
    )


def _session_file(store: Path, name: str) -> Path | None:
    if not name:
        return None
    candidates = (store / "info" / f"{name}.json", store / "session" / "info" / f"{name}.json")
    found = next((path for path in candidates if path.is_file()), None)
    return found or next(iter(sorted(store.glob(f"session/*/{name}.json"))), None)


def _root(store: Path, name: str, info: dict[str, Any]) -> str:
    """The id of the session that started all: the parents' files are looked at, but not taken up."""
    for _ in range(_GENERATIONS):
        parent = _plain(first_string(info, "parentID"))
        if not parent:
            break
        name = parent
        path = _session_file(store, name)
        if path is None:
            break
        try:
            info = mapping(read_json(Source(path).data))
        except TranscriptError:
            break
    return name


class _Reader(NamedTuple):
    """Reads the files of one session, and takes them up; a broken one is a problem."""

    source: Source
    problems: list[str]

    def session(self, store: Path, name: str) -> dict[str, Any]:
        path = _session_file(store, name)
        return {} if path is None else self._object(path)

    def messages(self, store: Path, name: str) -> tuple[tuple[Record, ...], tuple[Origin, ...]]:
        """The messages of a session in their order, and the file of each."""
        paths = _files(store / "message" / name)
        found = []
        for place, path in enumerate(paths):
            fields = {"id": path.stem, **self._object(path)}
            found.append(record(fields, self._parts(store, name, string(fields.get("id"))), place))
        ordered = in_order(found)
        origins = tuple(Origin(str(paths[held.source]), "message", first=i) for i, held in enumerate(ordered))
        return tuple(held._replace(source=i) for i, held in enumerate(ordered)), origins

    def _parts(self, store: Path, session: str, message: str) -> list[dict[str, Any]]:
        plain = _plain(message)
        folders = (store / "part" / plain, store / "part" / session / plain) if plain else ()
        return [{"id": path.stem, **self._object(path)} for folder in folders for path in _files(folder)]

    def _object(self, path: Path) -> dict[str, Any]:
        file = self.source if path == self.source.path else self.source.beside(path)
        try:
            return mapping(read_json(file.data))
        except TranscriptError as error:
            self.problems.append(str(error) if str(path) in str(error) else f"{path}: {error}")
            return {}


def _files(folder: Path) -> list[Path]:
    """The JSON files of a folder by name; none if there is no such folder."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())
    except OSError:
        return []
