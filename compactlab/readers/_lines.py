"""JSON lines, read one by one in bounded memory, and the JSON that breaks the rules a little."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from compactlab.errors import TranscriptError
from compactlab.transcript import Intake

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

BOM = b"\xef\xbb\xbf"
PADDING = b"\0 \t\r\n"
PROBLEMS = 100
"""Faults of one file that are told one by one; the rest are counted."""
_JOINED_LINES, _JOINED_BYTES = 200, 4_000_000
_TRIES, _TRIED_BYTES = 1_000, 20_000_000
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_Pending = list[tuple[int, bytes]]


class Line(NamedTuple):
    """One JSON value of a file of JSON lines: its number (from 1), the value, and its bytes."""

    number: int
    value: Any
    raw: bytes


def read_json(raw: bytes) -> Any:  # noqa: ANN401  # JSON is any value
    r"""Read one JSON value, also with lone surrogates, NaN and bare control characters, or raise `TranscriptError`.

    >>> read_json(b'{"half": "\\ud83d"}')
    {'half': '\ud83d'}
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(raw, strict=False)
    except (ValueError, RecursionError) as error:
        raise TranscriptError(f"not JSON ({_reason(error)})") from error


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    if isinstance(error, RecursionError):
        return "nested too deep"
    return "bytes that are no UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


class Lines:
    r"""The values of a file of JSON lines, and, once they have been gone through, what was mended and read past.

    A cut last line is skipped quietly, a bad one before it is a problem. A record that was glued to a broken one, and
    one that lies over several lines because nobody escaped its line feeds, are recovered.

    >>> lines = Lines([b'{"a": 1}\r\n', b"oops\n", b'{"a": 2}\n', b'{"a"'])
    >>> [line.number for line in lines], lines.problems
    ([1, 3], ['line 2: not JSON (Expecting value at character 0)'])
    """

    def __init__(self, raw: Iterable[bytes]) -> None:
        self._raw = raw
        self.records = 0
        self.skipped: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()
        self.problems: list[str] = []

    def __iter__(self) -> Iterator[Line]:
        pending: _Pending = []
        for number, raw in self._numbered():
            try:
                value = msgspec.json.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                line = self._mended(number, raw)
            else:
                line = Line(number, value, raw)
            if line is None or (pending and not isinstance(line.value, dict | list)):
                pending.append((number, raw))
                line = self._joined(pending)
                if line is None:
                    if len(pending) > _JOINED_LINES or sum(len(held) for _, held in pending) > _JOINED_BYTES:
                        yield from self._given_up(pending)
                        pending = []
                    continue
            elif pending:
                yield from self._given_up(pending)
            pending = []
            self.records += 1
            yield line
        yield from self._given_up(pending, last=True)

    def intake(self, skipped: Mapping[str, int] | None = None, unknown: Mapping[str, int] | None = None) -> Intake:
        """What was read so far, with what the reader itself *skipped* and did not know, by kind."""
        more = len(self.problems) - PROBLEMS
        told = (*self.problems[:PROBLEMS], *([f"{more} more bad lines"] if more > 0 else ()))
        counted = +(self.skipped + Counter(skipped or {}))
        return Intake(self.records, dict(counted), dict(+Counter(unknown or {})), dict(+self.repaired), told)

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """Lines that are not empty, with their numbers; a fault of the file ends them, where something was read."""
        try:
            for number, line in enumerate(self._raw, 1):
                raw = line.removeprefix(BOM) if number == 1 else line
                if raw[:1] != b"{" or raw[-2:] != b"}\n":
                    raw = raw.strip(PADDING)
                if raw:
                    yield number, raw
        except TranscriptError as error:
            if not self.records:
                raise
            self.problems.append(str(error))

    def _mended(self, number: int, raw: bytes) -> Line | None:
        """A line that breaks the rules a little."""
        try:
            return Line(number, read_json(raw), raw)
        except TranscriptError:
            pass
        text = raw.decode(errors="replace").encode()
        if text == raw:
            return None
        try:
            value = read_json(text)
        except TranscriptError:
            return None
        self.problems.append(f"line {number}: bytes that are no UTF-8, replaced")
        self.repaired["bytes that are no UTF-8"] += 1
        return Line(number, value, text)

    def _joined(self, pending: _Pending) -> Line | None:
        """One record out of lines of which the first began it and the last may end it."""
        joined = _one_record(pending)
        if joined is not None:
            self.repaired["record over several lines"] += 1
        return joined

    def _given_up(self, pending: _Pending, *, last: bool = False) -> Iterator[Line]:
        """Report lines that are no JSON, and give the whole records that are in them."""
        for place, (number, raw) in enumerate(pending):
            found, broken = _recovered(number, raw)
            self.records += len(found)
            self.repaired["record glued to another"] += len(found)
            yield from found
            if found and broken:
                self.problems.append(f"line {number}: a broken record, and others beside it, which were read")
            elif not found and last and place == len(pending) - 1:
                self.skipped["last line cut off"] += 1
            elif not found:
                self.problems.append(f"line {number}: {_why(raw)}")


def _why(raw: bytes) -> str:
    try:
        read_json(raw)
    except TranscriptError as error:
        return str(error)
    return "a value that is no record"


def _one_record(pending: _Pending) -> Line | None:
    first, last = pending[0][1], pending[-1][1]
    if len(pending) < 2 or first[:1] != b"{" or last.rstrip(PADDING)[-1:] != b"}":
        return None
    raw = b"\n".join(raw.rstrip(PADDING) for _, raw in pending)
    try:
        return Line(pending[0][0], json.loads(raw, strict=False), raw)
    except (ValueError, RecursionError):
        return None


def _recovered(number: int, raw: bytes) -> tuple[list[Line], bool]:
    """The whole records of a broken line, those that it starts with and one that ends it; whether a part is left."""
    text = raw.decode(errors="surrogateescape").rstrip()
    found: list[Line] = []
    at = 0
    while text.startswith("{", at):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(Line(number, value, text[at:end].encode(errors="surrogateescape")))
        at = end + len(text[end:]) - len(text[end:].lstrip())
    if at == len(text):
        return found, False
    last = _at_the_end(number, text[at:].encode(errors="surrogateescape"))
    return ([*found, last] if last else found), True


def _at_the_end(number: int, raw: bytes) -> Line | None:
    """The record that starts somewhere in a line and ends with it, unless it is a value in one that was cut off."""
    tries = min(_TRIES, 1 + _TRIED_BYTES // len(raw))
    at = len(raw)
    for _ in range(tries):
        at = raw.rfind(b'{"', 1, at)
        if at < 0:
            return None
        try:
            value = msgspec.json.decode(raw[at:])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        return None if _awaits_value(raw[:at]) else Line(number, value, raw[at:])
    return None


def _awaits_value(start: bytes) -> bool:
    """Whether JSON that was cut off ends where a value may stand: not within a text, and behind a mark.

    >>> _awaits_value(b'{"a": '), _awaits_value(b'{"a": "b: '), _awaits_value(b'{"a": 1')
    (True, False, False)
    """
    return b'"' not in _STRING.sub(b"", start) and start.rstrip()[-1:] in {b":", b",", b"["}
