"""Rows of trajectory data sets, as JSON, JSON lines, parquet and Arrow: SWE-smith, nebius, SWE-Gym, ADP, ToolBench.

Read are `messages` (a list or its JSON text), `trajectory` with `content` or `text`, the Agent Data Protocol's
`content`, ToolBench's `answer_generation`, and `conversations` of Harbor's export, in tables also of others. In a run
on a task all that a user says behind the task is the harness's: synthetic. Ids are those of the row. Patches and logs
of tests are not read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers._agent_runs import agent_type_of_run
from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._sessions import session_id
from compactlab.readers.trajectory_rows import _shapes, _tables
from compactlab.transcript import Intake, Origin, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Source

NAME = "trajectory_rows"
WHERE = "data sets of agent runs, downloaded or saved with datasets"
_LONGEST = 200


class Place(NamedTuple):
    """Where rows come from: the path to be told, and the name that leads their ids."""

    path: str
    stem: str


def sniff(source: Source) -> float:
    """Look for rows whose columns hold a trajectory, and which name the run that it is of."""
    if _tables.is_table(source):
        try:
            names = _tables.columns(source)
        except TranscriptError:
            return 0.0
        return 0.9 if names is None or not set(names).isdisjoint(_shapes.COLUMNS) else 0.0
    found = _sample(source)
    return min((_shapes.confidence(row) for row in found), default=0.0)


def _sample(source: Source) -> list[Any]:
    """Some of the first rows."""
    if source.document is None:
        return list(source.values[:3])
    return _rows_of(source.document)[:3]


def _rows_of(document: dict[str, Any] | list[Any]) -> list[Any]:
    """The rows of a document; a page of the Hugging Face server wraps each in an object of its own."""
    if isinstance(document, list):
        return document
    pages = objects(document.get("rows"))
    return [page.get("row") for page in pages] if pages and "features" in document else [document]


def read(source: Source) -> Iterator[Transcript]:
    """Read each row, one after the other; rows without a trajectory are counted."""
    place = Place(str(source.path), source.stem)
    if _tables.is_table(source):
        yield from of_rows(((f"row {index}: ", row) for index, row in enumerate(_tables.rows(source))), place)
        return
    if source.document is not None:
        values = _rows_of(source.document)
        several = len(values) > 1
        yield from of_rows(((f"row {index}: " if several else "", row) for index, row in enumerate(values)), place)
        return
    lines = source.lines()
    held: Transcript | None = None
    for transcript in of_rows(((f"line {line.number}: ", line.value) for line in lines), place):
        if held is not None:
            yield held
        held = transcript
    if held is not None:
        told = lines.intake(held.intake.skipped, held.intake.unknown)
        yield replace(held, intake=replace(told, records=held.intake.records))


def of_rows(rows: Iterable[tuple[str, Any]], place: Place) -> Iterator[Transcript]:
    """Make a transcript of each row that holds a trajectory; *rows* are values, each led by its place."""
    seen: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    held: Transcript | None = None
    for where, value in rows:
        found = _shapes.read(mapping(value))
        if found is None or not found.messages:
            passed["row without a trajectory"] += 1
            continue
        if held is not None:
            yield held
        held = _transcript(mapping(value), found, where, place)
        seen[held.id] += 1
        if seen[held.id] > 1:
            held = replace(held, id=f"{held.id}-{seen[held.id]}")
    if held is not None:
        yield replace(held, intake=replace(held.intake, unknown={**held.intake.unknown, **passed}))


def _transcript(row: dict[str, Any], found: _shapes.Read, where: str, place: Place) -> Transcript:
    own, run = first_string(row, *_shapes.IDS), first_string(row, "run_id")
    if found.trial:
        own, run = found.trial, first_string(row, "episode")
    name = session_id(place.stem, "-".join(part for part in (own, run) if part) or where.strip(": ").replace(" ", "-"))
    answer = mapping(row.get("answer_generation"))
    tools = (
        array(_shapes.decoded(row.get("tools"))) or array(row.get("available_apis")) or array(answer.get("function"))
    )
    return Transcript(
        id=name,
        format=NAME,
        messages=found.messages,
        path=place.path,
        title=string(row.get("title")),
        agent_type=agent_type_of_run(found.messages),
        cluster=session_id(place.stem, own) if own else name,
        tools=tuple(tool for tool in tools if isinstance(tool, str | dict)),
        origins=(Origin(place.path, f"{where}{found.where}"),),
        intake=Intake(records=len(found.messages), unknown=found.unknown),
        header=_header(row, answer),
    )


def _header(row: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Short values of other columns: the model, the outcome, the repository."""
    left_out = {*_shapes.IDS, "run_id", "title"}
    short = {key: value for key, value in row.items() if key not in left_out and _is_short(value)}
    told = {key: answer[key] for key in ("finish_type", "valid_data") if _is_short(answer.get(key))}
    return short | told


def _is_short(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and 0 < len(value) <= _LONGEST)
