"""The files of one trajectory: what each refers to, and which one refers to it."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers import Source
from compactlab.readers._fields import mapping, objects, string

_REFERENCE = re.compile(rb'"(?:continued_trajectory_ref|trajectory_path)"\s*:\s*("(?:[^"\\]|\\.)*")')
_LONGEST_CHAIN = 1_000


class File(NamedTuple):
    """A file of trajectories, and the trajectory in it."""

    source: Source
    document: dict[str, Any]


def is_trajectory(value: object) -> bool:
    """Whether a value is a trajectory: of a version of ATIF, or, where none is named, steps of an agent."""
    fields = mapping(value)
    if not isinstance(fields.get("steps"), list):
        return False
    if string(fields.get("schema_version")).startswith("ATIF"):
        return True
    steps = objects(fields["steps"])
    return isinstance(fields.get("agent"), dict) and bool(steps) and {"step_id", "source"} <= steps[0].keys()


def loaded(source: Source) -> File | None:
    """The trajectory in a file; None if there is none or the file cannot be read."""
    try:
        document = source.document
    except TranscriptError:
        return None
    return File(source, mapping(document)) if is_trajectory(document) else None


def first_file(source: Source) -> File | None:
    """The file that a session begins with: the one that, over any number of others, refers to *source*."""
    path, seen = source.path, {source.path.name}
    while len(seen) < _LONGEST_CHAIN:
        name = _references(path.parent)[0].get(path.name)
        if name is None or name in seen:
            break
        seen.add(name)
        path = path.with_name(name)
    found = loaded(source if path == source.path else source.beside(path))
    return found or loaded(source)


def referred(path: Path, reference: str) -> Path | None:
    """The file that a reference in the file *path* means, if it lies in the same folder or under it; else None.

    Files are renamed together and copied out of containers: a name with the same beginning as that of *path*, and the
    bare name of an absolute path, are looked for too.
    """
    folder, name = path.parent, reference.replace("\\", "/").rpartition("/")[2]
    if not name or "\0" in reference or "://" in reference or name in {".", ".."}:
        return None
    stem = name.partition(".")[0]
    prefix = path.name[: max(path.name.rfind(stem), 0)]
    for candidate in (folder / reference, folder / name, folder / f"{prefix}{name}"):
        if _is_inside(candidate, folder):
            return candidate
    return None


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _references(folder: Path) -> tuple[dict[str, str], int]:
    """Which file of a folder refers to which, by name, and when the folder was changed."""
    try:
        return _read_references(str(folder), folder.stat().st_mtime_ns)
    except OSError:
        return {}, 0


@lru_cache(maxsize=8)
def _read_references(folder: str, changed: int) -> tuple[dict[str, str], int]:
    """Look through the files of a folder once, however many of them are read."""
    found: dict[str, str] = {}
    for path in sorted(Path(folder).iterdir()):
        if ".json" not in path.name or not path.is_file():
            continue
        try:
            data = Source(path).data
        except TranscriptError:
            continue
        for reference in _REFERENCE.findall(data):
            target = _target(path, reference)
            if target is not None and target.parent == path.parent and target.name != path.name:
                found.setdefault(target.name, path.name)
    return found, changed


def _target(path: Path, reference: bytes) -> Path | None:
    try:
        return referred(path, string(json.loads(reference, strict=False)))
    except ValueError:
        return None
