"""Hermes' training files: ShareGPT turns in which calls, results and reasoning are marked by tags."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._fields import array, mapping, string
from compactlab.readers._lines import Lines
from compactlab.readers._seams import Story
from compactlab.readers._sessions import transcript
from compactlab.readers._turns import Row, Turns, decoded, header_of, own_id, row_of, rows, tools_of
from compactlab.readers.hermes._wires import is_made
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Intake, Origin, Reasoning, Role, Text, ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source

_LOOKED_AT = 20
_MARKS = ("<tool_call>", "<tool_response>")
_SAID = re.compile("<(think|tool_call)>")
_TOLD = re.compile("<(tool_response)>")
_TOOLS = re.compile("<(tools)>")


def sniff(source: Source) -> float:
    """Look for turns with marked calls or results, or for what the agent writes beside turns."""
    seen = [
        v for value in source.values[:_LOOKED_AT] for v in (value[:_LOOKED_AT] if isinstance(value, list) else [value])
    ]
    found = [row for value in seen if (row := row_of(value)) is not None]
    marked = any(_is_marked(turn) for row in found for turn in row.turns)
    own = any(isinstance(row.fields.get("completed"), bool) and "<think>" in _first_answer(row) for row in found)
    return 0.95 if (marked or own) and 2 * len(found) >= len(seen) else 0.0


def _is_marked(turn: dict[str, Any]) -> bool:
    speaker = string(turn.get("from"))
    return speaker in {"gpt", "tool", "assistant"} and any(mark in string(turn.get("value")) for mark in _MARKS)


def _first_answer(row: Row) -> str:
    return next((string(turn.get("value")) for turn in row.turns if turn.get("from") == "gpt"), "")


def read(source: Source) -> Iterator[Transcript]:
    """Read each conversation of a file; what was read past is told with the last one."""
    lines = source.lines() if source.document is None else Lines(())
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    index = 0
    for index, row in enumerate(rows(source, lines, unknown), 1):
        if held is not None:
            yield held
        held = _transcript(source, row, index - 1)
    if held is not None:
        told = lines.intake(unknown=unknown) if source.document is None else Intake(index, unknown=dict(unknown))
        merged = dict(Counter(told.unknown) + Counter(held.intake.unknown))
        yield replace(held, intake=replace(told, unknown=merged, repaired={**told.repaired, **held.intake.repaired}))


def _transcript(source: Source, row: Row, index: int) -> Transcript:
    built = _Marked()
    for turn in row.turns:
        built.add(turn)
    story = Story(is_made)
    story.begin(built.messages)
    number = row.fields.get("prompt_index")
    system = next((message.text for message in story.messages[:1] if message.role == "system"), "")
    listed = next((array(decoded(found.inner)) for found in _marks(system, _TOOLS)), [])
    return transcript(
        source,
        "hermes",
        tuple(story.messages),
        own_id=f"prompt-{number}" if type(number) is int else own_id(row, index),
        tools=tools_of(row) or tuple(tool for tool in listed if isinstance(tool, dict)),
        compactions=tuple(story.compactions),
        origins=(Origin(str(source.path), f"{row.where}{row.key}[{{}}]"),),
        intake=Intake(unknown=dict(built.unknown), repaired=dict(built.repaired)),
        header=header_of(row),
    )


class _Mark(NamedTuple):
    """A tag, what it holds, and where it starts and ends."""

    tag: str
    inner: str
    start: int
    end: int


class _Marked(Turns):
    """Turns whose text marks calls, results and reasoning."""

    def said(self, role: Role, given: object) -> tuple[Block, ...]:
        if role != "assistant" or not isinstance(given, str) or "<" not in given:
            return super().said(role, given)
        blocks: list[Block] = []
        at = 0
        for found in _marks(given, _SAID):
            blocks += _words(given[at : found.start])
            blocks += self._marked(found, given)
            at = found.end
        return (*blocks, *_words(given[at:]))

    def _marked(self, found: _Mark, given: str) -> list[Block]:
        if found.tag == "think":
            return [Reasoning(found.inner)] if found.inner.strip() else []
        call = decoded(found.inner)
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            self.repaired["call that is no JSON, kept as words"] += 1
            return [Text(given[found.start : found.end])]
        return [self.call(call["name"], call.get("arguments", call.get("parameters")))]

    def results(self, given: object) -> tuple[Block, ...]:
        marked = list(_marks(given, _TOLD)) if isinstance(given, str) else []
        return tuple(self._result(found.inner) for found in marked) if marked else super().results(given)

    def _result(self, inner: str) -> ToolResult:
        told = mapping(decoded(inner))
        content = told["content"] if "content" in told and "name" in told else inner
        text = content if isinstance(content, str) else json_text(content)
        return ToolResult(self.answered(string(told.get("name"))), (Text(text),) if text else ())


def _marks(text: str, opening: re.Pattern[str]) -> Iterator[_Mark]:
    """What stands between tags, without the line feeds inside them; a tag that nothing closes is text."""
    at = 0
    unclosed: set[str] = set()
    while found := opening.search(text, at):
        tag, at = found[1], found.end()
        end = -1 if tag in unclosed else text.find(f"</{tag}>", at)
        if end < 0:
            unclosed.add(tag)
            continue
        inner = text[at:end].removeprefix("\n").removesuffix("\n")
        at = end + len(tag) + 3
        yield _Mark(tag, inner, found.start(), at)


def _words(text: str) -> list[Block]:
    """What stands between marks, without the line feeds that part it from them."""
    kept = text.strip("\n")
    return [Text(kept)] if kept.strip() else []
