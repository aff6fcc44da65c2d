"""Samples of a log, one by one, out of an archive, a JSON document, or the file of a single sample."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers import read_json
from compactlab.readers._archives import read_members
from compactlab.readers._fields import array, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

HEADERS = ("header.json", "_journal/start.json")
SAMPLE = re.compile(r"(?:^|/)samples/.+\.json$")
_SAMPLE_KEYS = {"id", "epoch", "input", "target", "messages"}


class Sample(NamedTuple):
    """A sample as recorded, where it stands in its file, and the log that it is of, without samples."""

    value: dict[str, Any]
    where: str
    log: dict[str, Any]


def is_archive(source: Source) -> bool:
    """Whether a zip archive holds a log, even one that died before its header was written."""
    return any(name in HEADERS or SAMPLE.search(name) for name in source.members)


def is_log(value: object) -> bool:
    """Whether a JSON object is a log: what was evaluated, how that ended, and its samples or its plan."""
    fields = mapping(value)
    named = {"task", "model", "run_id", "task_id", "created"} & mapping(fields.get("eval")).keys()
    return len(named) > 1 and not {"status", "samples", "plan"}.isdisjoint(fields)


def is_sample(value: object) -> bool:
    """Whether a JSON object is a single sample, as it lies in an archive."""
    return mapping(value).keys() >= _SAMPLE_KEYS and isinstance(mapping(value)["messages"], list)


def samples(source: Source, problems: list[str]) -> Iterator[Sample]:
    """The samples of a file, an archive's one member after the other; what cannot be read is added to *problems*."""
    if source.members:
        yield from _of_archive(source, problems)
        return
    document = mapping(source.document)
    if is_sample(document):
        yield Sample(document, "", {})
        return
    log = {name: value for name, value in document.items() if name != "samples"}
    for index, value in enumerate(array(document.get("samples"))):
        if isinstance(value, dict):
            yield Sample(value, f"samples[{index}].", log)
        else:
            problems.append(f"samples[{index}]: no object")


def _of_archive(source: Source, problems: list[str]) -> Iterator[Sample]:
    names = dict.fromkeys(source.members)
    header = next((name for name in HEADERS if name in names), None)
    log: dict[str, Any] = {}
    for _, value in _members(source, [] if header is None else [header], problems):
        log = mapping(value)
    log = {name: value for name, value in log.items() if name != "samples"}
    for name, value in _members(source, [name for name in names if SAMPLE.search(name)], problems):
        place = name.replace("{", "{{").replace("}", "}}")
        yield Sample(value, f"{place}: ", log)


def _members(source: Source, names: list[str], problems: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects in members of an archive; a broken member is a problem, and the next one is read."""
    waiting = deque(names)
    while waiting:
        try:
            for name, data in read_members(source.path, tuple(waiting)):
                waiting.popleft()
                value = _object(data)
                if value is None:
                    problems.append(f"{name}: no JSON object")
                else:
                    yield name, value
        except TranscriptError as error:
            problems.append(str(error).removeprefix(f"{source.path}: "))
            waiting.popleft()


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = read_json(data)
    except TranscriptError:
        return None
    return value if isinstance(value, dict) else None
