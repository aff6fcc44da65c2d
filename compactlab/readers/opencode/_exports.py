"""`opencode export`: one object of the session and its messages; the server's answer is the list of messages alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import first_string, mapping, objects
from compactlab.readers.opencode._records import Session, record
from compactlab.transcript import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source


def is_export(document: object) -> bool:
    """Whether a document holds a session and messages with parts."""
    fields = mapping(document)
    return isinstance(fields.get("info"), dict) and is_list(fields.get("messages"))


def is_list(document: object) -> bool:
    """Whether a list holds messages with parts, most of it."""
    held = document[:50] if isinstance(document, list) else []
    return sum(_is_message(value) for value in held) > len(held) / 2


def _is_message(value: object) -> bool:
    fields = mapping(value)
    info = mapping(fields.get("info"))
    return isinstance(fields.get("parts"), list) and "role" in info and bool({"sessionID", "time", "id"} & info.keys())


def of_export(source: Source) -> Iterator[Session]:
    """The session of an export."""
    document: Any = source.document
    where = "message {}" if isinstance(document, list) else "messages[{}]"
    info = mapping(mapping(document).get("info"))
    wires: Any = document if isinstance(document, list) else mapping(document).get("messages")
    held = wires if isinstance(wires, list) else []
    records = tuple(
        record(mapping(mapping(wire).get("info")), objects(mapping(wire).get("parts")), index)
        for index, wire in enumerate(held)
    )
    first = mapping(mapping(held[0]).get("info")) if held else {}
    name = first_string(info, "id") or first_string(first, "sessionID")
    parent = first_string(info, "parentID", "parent_id")
    yield Session(name, info, records, (Origin(str(source.path), where),), parent)
