"""ShareGPT conversations: turns with `from` and `value`, in a JSON list or JSON lines, with all the keys in use.

Read are `conversations`, `conversation` and `items`, turns with `from`/`value` or `role`/`content` (AgentInstruct, with
its `loss`), a `system` beside them and `tools` as JSON text. A `function_call` turn holds `{"name", "arguments"}` and
becomes a call, or several; `observation` and `tool` turns are the results, paired in order, as nothing else pairs them.
Pictures beside the turns stand where the turns say `<image>`, or else in the first turn of a person. Of two answers to
choose from, the `chosen` one ends the chat.
Values stay as they are, HTML or not, and empty ones are messages without words. Long chats were cut into rows with the
ids `XXXXXXX_0`, `XXXXXXX_1`: rows that follow each other so are one session. Calls inside text are not looked for.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import first_string, mapping, string
from compactlab.readers._lines import Lines
from compactlab.readers._sessions import transcript
from compactlab.readers._turns import ROLES, Row, Turns, header_of, own_id, row_of, rows, tools_of
from compactlab.transcript import Intake, Message, Origin, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

NAME = "sharegpt"
WHERE = "data sets of chats, as JSON or JSON lines"
MARK = "<image>"
_LOOKED_AT = 20
_PIECE = re.compile(  # ids of chats are seven or many characters without sense; a word and a number count sessions
    r"(?:(?=.[^_]*[A-Z])|(?=[^_]{7}_)(?=[^_]*\d)|(?=[^_]{20})(?=[^_]*\d))(?P<chat>.{7,})_(?P<number>\d{1,6})"
)


def sniff(source: Source) -> float:
    """Look for rows with turns that say who speaks, under one of the keys in use."""
    seen = [
        row
        for value in source.values[:_LOOKED_AT]
        for row in (value[:_LOOKED_AT] if isinstance(value, list) else [value])
    ]
    known = sum(row_of(row) is not None for row in seen)
    return 0.9 if known and 2 * known >= len(seen) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read each conversation of a file, one after the other; what was read past is told with the last one."""
    lines = source.lines() if source.document is None else Lines(())
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    count = 0
    for index, pieces in enumerate(_joined(rows(source, lines, unknown))):
        if held is not None:
            yield held
        held = _transcript(source, pieces, index)
        count += len(pieces)
    if held is not None:
        told = lines.intake(unknown=unknown) if source.document is None else Intake(count, unknown=dict(unknown))
        merged = dict(Counter(told.unknown) + Counter(held.intake.unknown))
        skipped = {**told.skipped, **held.intake.skipped}
        repaired = {**told.repaired, **held.intake.repaired}
        yield replace(held, intake=replace(told, skipped=skipped, unknown=merged, repaired=repaired))


def _joined(found: Iterator[Row]) -> Iterator[list[Row]]:
    """Put the rows together into which one chat was cut."""
    pieces: list[Row] = []
    for row in found:
        if pieces and not _follows(pieces[-1], row):
            yield pieces
            pieces = []
        pieces.append(row)
    if pieces:
        yield pieces


def _follows(before: Row, row: Row) -> bool:
    one, two = _PIECE.fullmatch(string(before.fields.get("id"))), _PIECE.fullmatch(string(row.fields.get("id")))
    if one is None or two is None or "loss" in row.turns[0] or row.turns[0] == before.turns[0]:
        return False
    return one["chat"] == two["chat"] and int(two["number"]) == int(one["number"]) + 1


def _transcript(source: Source, pieces: list[Row], index: int) -> Transcript:
    first = pieces[0]
    system = string(first.fields.get("system"))
    built = Turns()
    origins: list[Origin] = []
    if system:
        built.messages.append(Message("system", (Text(system),), source=0))
        origins.append(Origin(str(source.path), f"{first.where}system"))
        built.source = 1
    for piece in pieces:
        origins.append(Origin(str(source.path), f"{piece.where}{piece.key}[{{}}]", first=built.source))
        for turn in _pictured(piece):
            built.add(turn)
    left = _choose(built, pieces[-1], origins, str(source.path))
    own = own_id(first, index)
    piece_of = _PIECE.fullmatch(own)
    return transcript(
        source,
        NAME,
        tuple(built.messages),
        own_id=piece_of["chat"] if piece_of and len(pieces) > 1 else own,
        tools=tools_of(first),
        origins=tuple(origins),
        intake=Intake(skipped=left, unknown=dict(built.unknown), repaired=dict(built.repaired)),
        header=header_of(first),
    )


def _choose(built: Turns, row: Row, origins: list[Origin], path: str) -> dict[str, int]:
    """Go on with the answer of a row that was chosen; the one that was rejected is of another branch."""
    chosen, rejected = (_answer(row.fields.get(name)) for name in ("chosen", "rejected"))
    if chosen:
        origins.append(Origin(path, f"{row.where}chosen", first=built.source))
        built.add(chosen)
    return {"message of another branch": 1} if rejected else {}


def _answer(given: object) -> dict[str, Any]:
    turn = mapping(given)
    if isinstance(given, str) and given:
        return {"from": "gpt", "value": given}
    return turn if isinstance(turn.get("from", turn.get("role")), str) else {}


def _pictured(row: Row) -> Iterator[dict[str, Any]]:
    """The turns of a row, with the pictures beside them at their places."""
    pictures = deque(_pictures(row.fields))
    if not pictures:
        yield from row.turns
        return
    marks = sum(string(turn.get("value", turn.get("content"))).count(MARK) for turn in row.turns)
    unplaced = [pictures.pop() for _ in range(len(pictures) - marks)][::-1]
    for turn in row.turns:
        said = turn.get("value", turn.get("content"))
        by_person = ROLES.get((string(turn.get("from")) or string(turn.get("role"))).lower()) == "user"
        if not isinstance(said, str) or not (MARK in said or (unplaced and by_person)):
            yield turn
            continue
        parts = list(unplaced) if by_person else []
        unplaced = [] if by_person else unplaced
        for number, words in enumerate(said.split(MARK)):
            parts += [pictures.popleft()] if number and pictures else []
            parts += [{"type": "text", "text": words}] if words.strip() else []
        yield {**turn, "value": parts}


def _pictures(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = fields.get("images") or fields.get("image")
    for given in listed if isinstance(listed, list) else [listed]:
        link = given if isinstance(given, str) else first_string(given, "url", "path")
        if link or given:
            yield {"type": "image_url", "image_url": {"url": link} if link else None}
