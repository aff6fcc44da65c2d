"""Sessions and messages of opencode as all of its stores give them, whatever they are kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from compactlab.errors import TranscriptError
from compactlab.readers import read_json
from compactlab.readers._fields import count, first_string, mapping, string, strings
from compactlab.readers.opencode._parts import Part, part, usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compactlab.transcript import Origin, Usage


class Record(NamedTuple):
    """One message: its number in its store, its links, and its parts. `created` is in milliseconds.

    A record of role `compaction` has no parts but the summary, what was kept of the context as text, and why.
    """

    source: int
    id: str
    role: str
    parent: str
    created: int | None
    parts: tuple[Part, ...]
    model: str = ""
    usage: Usage | None = None
    is_summary: bool = False
    failed: bool = False
    system: str = ""
    summary: str = ""
    recent: str = ""
    trigger: str = ""


class Session(NamedTuple):
    """A session with its messages in their order, where they stand, and the session that started it, if one did.

    `cluster` is the id of the session at the root; `problems` are faults that were read past.
    """

    id: str
    info: dict[str, Any]
    records: tuple[Record, ...]
    origins: tuple[Origin, ...]
    parent: str = ""
    cluster: str = ""
    problems: tuple[str, ...] = ()


def record(info: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], source: int) -> Record:
    """Make a record of a message and its parts; *source* is its number in its store."""
    summary, error = info.get("summary"), info.get("error")
    return Record(
        source,
        string(info.get("id")),
        string(info.get("role")),
        string(info.get("parentID")),
        count(mapping(info.get("time")).get("created")),
        tuple(part(wire) for wire in parts),
        model=first_string(info, "modelID") or first_string(mapping(info.get("model")), "modelID"),
        usage=usage(info.get("tokens")),
        is_summary=summary is True and info.get("role") == "assistant",
        failed=bool(error),
        system="\n".join(strings(info.get("system"))),
    )


def in_order(records: Iterable[Record]) -> tuple[Record, ...]:
    """Put messages in their order: by the time of their creation and their id, by the id alone if a time is missing."""
    held = list(records)
    timed = all(found.created is not None for found in held)
    return tuple(sorted(held, key=lambda found: (found.created or 0 if timed else 0, found.id, found.source)))


def of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row: those in its `data`, which is JSON text or an object, with the ids that stand beside it.

    Raises `TranscriptError` for `data` that is no JSON.

    >>> of_row({"id": "prt_1", "message_id": "msg_1", "data": '{"type": "text"}'})
    {'type': 'text', 'id': 'prt_1', 'messageID': 'msg_1'}
    """
    fields = dict(decoded(row["data"])) if "data" in row else {}
    mapping(fields.get("state")).pop("metadata", None)
    for column, value in row.items():
        name = _FIELDS.get(column, column)
        if value is None or column == "data" or column.startswith("time_"):
            continue
        fields[name] = decoded(value, value) if name in _JSON else value
    if "time" not in fields and count(row.get("time_created")) is not None:
        fields["time"] = {"created": row["time_created"], "updated": row.get("time_updated")}
    return fields


_FIELDS = {"session_id": "sessionID", "message_id": "messageID", "parent_id": "parentID", "call_id": "callID"}
_JSON = {"revert", "tokens", "state", "model", "error", "path", "cache", "time"}


def decoded(value: object, otherwise: object = None) -> Any:  # noqa: ANN401  # JSON is any value
    """An object that is kept as one or as JSON text; *otherwise*, if given, where the text is no JSON."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if not isinstance(value, str):
        return mapping(value) if otherwise is None else value
    try:
        found = _json(value)
    except TranscriptError:
        if otherwise is None:
            raise
        return otherwise
    return mapping(found) if otherwise is None else found


def _json(text: str) -> Any:  # noqa: ANN401  # JSON is any value
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return read_json(text.encode("utf-8", "surrogatepass"))
