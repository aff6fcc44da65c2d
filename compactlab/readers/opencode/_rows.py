"""Sessions that lie in tables: the database of opencode, and dumps of its three tables as JSON."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers import Source, _archives
from compactlab.readers._fields import first_string, mapping, objects, string
from compactlab.readers.opencode._projected import projected
from compactlab.readers.opencode._records import Record, Session, in_order, of_row, record
from compactlab.transcript import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


_TABLES = ("session", "message", "part")
_WHOLE = "session_message"
_GENERATIONS = 100


def is_database(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether tables are those of opencode: with messages and their parts, or with whole messages, or with both."""
    if "session" not in tables:
        return False
    return _has_parts(tables) or {"session_id", "type", "data"} <= tables.get(_WHOLE, frozenset())


def _has_parts(tables: Mapping[str, frozenset[str]]) -> bool:
    return "session_id" in tables.get("message", ()) and "message_id" in tables.get("part", ())


def kind(document: object) -> str:
    """Which table a list of rows is a dump of; empty if none."""
    rows = document[:20] if isinstance(document, list) else []
    kinds = [_kind(mapping(row)) for row in rows]
    found = max(kinds, key=kinds.count, default="")
    return found if kinds.count(found) > len(kinds) / 2 else ""


def _kind(row: Mapping[str, Any]) -> str:
    name = string(row.get("id"))
    if {"message_id", "data"} <= row.keys():
        return "part"
    if {"session_id", "data"} <= row.keys() and (name.startswith("msg") or "time_created" in row):
        return "message"
    if {"project_id", "directory"} <= row.keys() and "title" in row:
        return "session"
    return ""


class _Parents(NamedTuple):
    """The sessions of a store by id, and the sessions that started them."""

    infos: dict[str, dict[str, Any]]

    def parent(self, name: str) -> str:
        return first_string(self.infos.get(name), "parentID", "parent_id")

    def root(self, name: str) -> str:
        for _ in range(_GENERATIONS):
            parent = self.parent(name)
            if not parent:
                break
            name = parent
        return name


def of_dumps(source: Source) -> Iterator[Session]:
    """All sessions of three dumps that lie in one folder, in the order of the sessions."""
    given = kind(source.document)
    sources = {name: source if name == given else _other(source, given, name) for name in _TABLES}
    problems: list[str] = []
    if sources["message"] is None or sources["part"] is None:
        missing = "message" if sources["message"] is None else "part"
        raise TranscriptError(f"{source.path}: a dump of table {given} without one of table {missing} beside it")
    infos = {string(row.get("id")): _fields(row, problems) for row in _rows(sources["session"])}
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for fields in _read(_rows(sources["part"]), sources["part"].path, problems):
        if fields:
            parts[string(fields.get("messageID"))].append(fields)
    sessions: dict[str, list[Record]] = {name: [] for name in infos}
    for index, fields in enumerate(_read(_rows(sources["message"]), sources["message"].path, problems)):
        held = parts.pop(string(fields.get("id")), [])
        sessions.setdefault(string(fields.get("sessionID")), []).append(_record(fields, held, index))
    if parts:
        problems.append(f"{sources['part'].path}: {sum(map(len, parts.values()))} parts of messages that are not there")
    origin = Origin(str(sources["message"].path), "row {}")
    ordered = ((name, in_order(records)) for name, records in sessions.items())
    yield from _sessions(ordered, _Parents(infos), origin, problems)


def _sessions(
    sessions: Iterable[tuple[str, Sequence[Record]]], parents: _Parents, origin: Origin, problems: list[str]
) -> Iterator[Session]:
    """Give the sessions that have messages; the problems are told with the first one."""
    for name, records in sessions:
        if records:
            info, parent = parents.infos.get(name, {}), parents.parent(name)
            yield Session(name, info, tuple(records), (origin,), parent, parents.root(name), tuple(problems))
            problems.clear()


def _record(fields: Mapping[str, Any], parts: list[dict[str, Any]], index: int) -> Record:
    return record(fields, sorted(parts, key=lambda part: string(part.get("id"))), index)


def _rows(source: Source | None) -> list[dict[str, Any]]:
    return [] if source is None else objects(source.document)


def _read(rows: Iterable[dict[str, Any]], path: Path, problems: list[str]) -> Iterator[dict[str, Any]]:
    """The fields of rows; a broken one is a problem, and an empty object, so that the others keep their number.

    Each row is emptied when it was read, so that no text is held twice.
    """
    for number, row in enumerate(rows):
        try:
            fields = of_row(row)
        except TranscriptError as error:
            problems.append(f"{path}: row {number}: data is {error}")
            fields = {}
        row.clear()
        yield fields


def _other(source: Source, given: str, wanted: str) -> Source | None:
    """The dump of another table: the file of the same name but for that of the table, else of the table's name."""
    folder, name = source.path.parent, source.path.name
    names = [name.replace(given, wanted), name.replace(given.title(), wanted.title())]
    names += [f"{stem}.json" for stem in (f"{wanted}s", wanted)]
    for path in dict.fromkeys(folder / other for other in names if other != name):
        other = Source(path, source.used)
        if path.is_file() and kind(other.document) == wanted:
            source.used.append(path)
            return other
    return None


def of_database(source: Source) -> Iterator[Session]:
    """All sessions of a database, one by one, in the order of their creation."""
    tables = source.tables
    order = ", ".join(column for column in ("time_created", "id") if column in tables["session"]) or "rowid"
    with _archives.database(source.path) as connection:
        rows = _archives.rows(connection, f"SELECT * FROM session ORDER BY {order}")  # noqa: S608  # our own words
        broken: list[str] = []
        infos = {string(row.get("id")): _fields(row, broken) for row in rows}
        parents = _Parents(infos)
        for name in infos:
            found = _of_session(connection, name, tables)
            problems = [*broken, *found.problems]
            broken = []
            origin = Origin(str(source.path), f"session {_escaped(name)}: message {{}}")
            yield from _sessions([(name, found.records)], parents, origin, problems)


def _escaped(name: str) -> str:
    return name.replace("{", "{{").replace("}", "}}")


class _Content(NamedTuple):
    records: list[Record]
    problems: list[str]


def _of_session(connection: Any, name: str, tables: Mapping[str, frozenset[str]]) -> _Content:  # noqa: ANN401  # a connection
    """The messages of one session, numbered in their order; broken rows are problems.

    Whole messages are read where there are no others: some versions kept both.
    """
    problems: list[str] = []
    records = _of_parts(connection, name, tables, problems) if _has_parts(tables) else []
    if not records and {"session_id", "type", "data"} <= tables.get(_WHOLE, frozenset()):
        rows = list(_archives.rows(connection, f"SELECT * FROM {_WHOLE} WHERE session_id = ?", (name,)))  # noqa: S608  # our own words
        rows.sort(key=lambda row: (_number(row.get("seq")), _number(row.get("time_created")), str(row.get("id"))))
        records = [projected(_fields(row, problems), index) for index, row in enumerate(rows)]
    return _Content(records, problems)


def _of_parts(
    connection: Any,  # noqa: ANN401  # a connection
    name: str,
    tables: Mapping[str, frozenset[str]],
    problems: list[str],
) -> list[Record]:
    rows = list(_archives.rows(connection, "SELECT * FROM message WHERE session_id = ?", (name,)))
    rows.sort(key=lambda row: (_number(row.get("time_created")), str(row.get("id"))))
    by_session = "session_id" in tables["part"]
    where = "session_id = ?" if by_session else "message_id IN (SELECT id FROM message WHERE session_id = ?)"
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in _archives.rows(connection, f"SELECT * FROM part WHERE {where}", (name,)):  # noqa: S608  # our own words
        fields = _fields(row, problems)
        parts[string(fields.get("messageID"))].append(fields)
    found = (
        _record(fields, parts.get(string(fields.get("id")), []), index)
        for index, fields in enumerate(_fields(row, problems) for row in rows)
    )
    return list(in_order(found))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _fields(row: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    try:
        return of_row(row)
    except TranscriptError as error:
        problems.append(f"row {mapping(row).get('id')}: data is {error}")
        return {}
