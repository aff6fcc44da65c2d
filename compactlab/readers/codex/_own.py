"""Keys of our own beside items, which carry what the format has no place for; Codex itself passes over them.

`synthetic` tells of a user message whether a person said it; `new_response` parts an item from those of the response
before it; `joins` puts the blocks of an item into the message before it; `compactlab` is the whole message where none
of this is enough, and, empty, stands in the further items of such a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, mapping
from compactlab.readers._own_blocks import block_from
from compactlab.readers.codex._injected import is_synthetic
from compactlab.shapes.openai_items import read
from compactlab.shapes.parts import ROLES
from compactlab.transcript import Message

if TYPE_CHECKING:
    from compactlab.readers.codex._history import Place
    from compactlab.shapes.openai_responses import Assembly

WHOLE, NEW, JOINS, SYNTHETIC = "compactlab", "new_response", "joins", "synthetic"


def add(assembly: Assembly, wire: dict[str, Any], place: Place) -> None:
    """Take an item of Codex, with the keys of ours that it has; user messages that no person wrote are marked."""
    if wire.get(NEW) is True:
        assembly.close()
    whole = wire.get(WHOLE)
    if isinstance(whole, dict):
        _take_whole(assembly, whole, place)
    elif wire.get(JOINS) is not True or not _joined(assembly, wire):
        before = len(assembly.messages)
        assembly.add(wire, *place)
        _mark(assembly, before, wire.get(SYNTHETIC))


def _mark(assembly: Assembly, before: int, told: object) -> None:
    messages = assembly.messages
    if told is True and len(messages) == before:
        assembly.mark()
    for index in range(before, len(messages)):
        if messages[index].role == "user":
            synthetic = told if isinstance(told, bool) else messages[index].synthetic or is_synthetic(messages[index])
            messages[index] = replace(messages[index], synthetic=synthetic)


def _take_whole(assembly: Assembly, whole: dict[str, Any], place: Place) -> None:
    role = whole.get("role")
    if role not in ROLES:
        return
    blocks = tuple(block_from(part, "item") for part in array(whole.get("content")))
    message = Message(role, blocks, place.source, synthetic=mapping(whole).get(SYNTHETIC) is True)
    assembly.take(replace(message, timestamp=place.timestamp))


def _joined(assembly: Assembly, wire: dict[str, Any]) -> bool:
    item = read(wire)
    assembly.close()
    if item is None or not assembly.messages:
        return False
    last = assembly.messages[-1]
    assembly.messages[-1] = replace(last, blocks=(*last.blocks, *item.blocks))
    return True
