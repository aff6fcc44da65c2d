"""An entry of the journal: a Markdown page on one pass, for people, that a program reads back.

Front matter (each value is JSON), what happened in words, the summary if one was made, then a table with one row for
each message. The last part of an entry's id is the digest of its page: an entry that was changed no longer has its own
id, and since each names the one before it, the id that a conversation holds answers for all of them.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from compactlab.errors import CompactlabError
from compactlab.receipt import Action
from compactlab.shapes.parts import json_text

FORMAT = 1
FOLDER = "journal/compactions"
Rests = Literal["", "git", "git, redacted", "local", "local, secret"]
_ID = "\0"
_DIGITS = 12
_HEADS = ("before", "after", "id", "role", "fate", "original", "digest", "digest after", "why")


class Row(NamedTuple):
    """What happened to one message: its place before and after, where its original rests, digests of its lines.

    `digest` is that of its line before the pass, empty for one that the pass made; `digest_after` that of its line
    behind it, where it is another.
    """

    before: int | None
    after: int | None
    id: str
    role: str
    fate: Action
    rests: Rests
    digest: str
    digest_after: str
    why: str


class Entry(NamedTuple):
    """An entry as it was read: what its front matter says, and its rows."""

    head: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def id(self) -> str:
        """Time and short id; the name of its files."""
        return str(self.head["id"])

    @property
    def conversation(self) -> str:
        """The id of the conversation that was compacted."""
        return str(self.head["conversation"])

    @property
    def previous(self) -> str:
        """The id of the entry before, empty for the first."""
        return str(self.head["previous"])

    @property
    def before(self) -> list[tuple[str, str]]:
        """Identity and digest of each message of the list before the pass, in order."""
        rows = sorted((row.before, row.id, row.digest) for row in self.rows if row.before is not None)
        return [(identity, digest) for _, identity, digest in rows]

    @property
    def after(self) -> list[tuple[str, str]]:
        """Identity and digest of each message of the list behind the pass, in order."""
        rows = sorted((row.after, row.id, row.digest_after or row.digest) for row in self.rows if row.after is not None)
        return [(identity, digest) for _, identity, digest in rows]

    @property
    def stored(self) -> list[Row]:
        """Rows of the messages whose originals were stored with it, in order."""
        return [row for row in self.rows if row.rests]


class EntryError(CompactlabError, ValueError):
    """A page of the journal is not what it was written as."""


def page(head: Mapping[str, Any], told: Sequence[str], summary: str, rows: Sequence[Row]) -> tuple[str, bytes]:
    """Write an entry; give its id and its bytes. `{id}` in *told* stands for the id."""
    fields = {"format": FORMAT, "id": _ID, **head, "rows": len(rows)}
    front = [f"{name}: {json_text(value)}".replace(json.dumps(_ID), f'"{_ID}"') for name, value in fields.items()]
    quoted = ["## Summary", "", *(f"> {line}".rstrip() for line in summary.splitlines()), ""] if summary else []
    words = [line.replace("{id}", _ID) for line in told]
    table = ["| " + " | ".join(_HEADS) + " |", "|" + "---|" * len(_HEADS), *map(_written, rows)]
    text = "\n".join(["---", *front, "---", "", *words, "", *quoted, "## Messages", "", *table, ""])
    identity = f"{str(head['time']).replace(':', '-')}-{_short(text.replace(_ID, ''))}"
    return identity, text.replace(_ID, identity).encode()


def path_of(identity: str) -> str:
    """Where an entry lies in the memory repository.

    >>> path_of("2026-11-30T10-00-00Z-5b1e77d0c4aa")
    'journal/compactions/2026-11-30T10-00-00Z-5b1e77d0c4aa.md'
    """
    return f"{FOLDER}/{identity}.md"


def read_page(data: bytes, identity: str) -> Entry:
    """Read the entry of that id; `EntryError` if it is not as it was written."""
    try:
        text = data.decode()
        if _short(text.replace(identity, "")) != identity.rpartition("-")[2]:
            raise EntryError(f"entry {identity} was changed after it was written")
        lines = text.split("\n")
        front = lines[1 : lines.index("---", 1)]
        head = {name: json.loads(value) for name, _, value in (line.partition(": ") for line in front)}
        if head["format"] != FORMAT or head["id"] != identity:
            raise EntryError(f"entry {identity} has format {head['format']!r}; expected {FORMAT}")
        rows = tuple(map(_read, lines[-1 - head["rows"] : -1]))
    except (UnicodeDecodeError, ValueError, KeyError, IndexError, TypeError) as error:
        if isinstance(error, EntryError):
            raise
        raise EntryError(f"entry {identity} cannot be read ({type(error).__name__})") from error
    return Entry(head, rows)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _written(row: Row) -> str:
    return "| " + " | ".join(_cells(row)) + " |"


def _cells(row: Row) -> Iterator[str]:
    for value in row:
        text = "" if value is None else str(value)
        yield html.escape(text, quote=False).replace("|", "&#124;").replace("\n", "&#10;")


def _read(line: str) -> Row:
    before, after, identity, role, fate, rests, digest, digest_after, why = map(html.unescape, line[2:-2].split(" | "))
    return Row(
        int(before) if before else None,
        int(after) if after else None,
        identity,
        role,
        fate,  # type: ignore[arg-type]  # the page is as it was written
        rests,  # type: ignore[arg-type]
        digest,
        digest_after,
        why,
    )
