"""In which line of a TOML file each key stands: what the standard library's parser does not tell.

It reads texts that the parser took, and follows the grammar of TOML 1.0: tables, dotted and quoted keys, inline tables,
arrays over several lines, strings of all four kinds, comments.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import NamedTuple

Path = tuple[str, ...]
"""A key with the tables that it stands in, from the outermost."""

_TOKEN = re.compile(
    r'''(?P<text>"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"""|(?P<comment>\#[^\n]*)|(?P<end>\n)|(?P<sign>[\[\]{}=,.])|(?P<word>[^\s\[\]{}=,."'#]+)""",
    re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def lines(text: str) -> dict[Path, int]:
    r"""Give the line, from 1, in which each key and each table of a TOML text is named first.

    >>> found = lines('[a]\nb = 1\n[a."c.d"]\ne = { f = "= 2", g = [1,\n 2] }\n')
    >>> found["a", "b"], found["a", "c.d"], found["a", "c.d", "e", "g"]
    (2, 3, 4)
    """
    scan = _Scan(list(_tokens(text)))
    scan.document()
    return scan.found


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "comment":
            yield _Token(kind, match[0], line)
        line += match[0].count("\n")


class _Scan:
    """One pass over the tokens of a text."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0
        self.found: dict[Path, int] = {}

    @property
    def here(self) -> str:
        """What comes next: a sign as it is, else the kind of the token; empty at the end."""
        if self.at >= len(self.tokens):
            return ""
        token = self.tokens[self.at]
        return token.text if token.kind == "sign" else token.kind

    def document(self) -> None:
        """Read tables and their entries to the end."""
        table: Path = ()
        while self.here:
            if self.here == "[":
                self._skip("[")
                table = self._key(())
                self._skip("]")
            elif self.here in {"word", "text"}:
                self._entry(table)
            else:
                self.at += 1

    def _entry(self, table: Path) -> None:
        path = self._key(table)
        self._skip("=")
        self._value(path)

    def _key(self, path: Path) -> Path:
        """Read a key, dotted or not, and note where it and what it opens stand."""
        while self.here in {"word", "text"}:
            token = self.tokens[self.at]
            path = (*path, _plain(token))
            self.found.setdefault(path, token.line)
            self.at += 1
            self._skip(".")
        return path

    def _value(self, path: Path) -> None:
        if self.here == "{":
            self._inside("}", lambda: self._entry(path))
        elif self.here == "[":
            self._inside("]", lambda: self._value(path))
        else:
            while self.here in {"word", "text", "."}:
                self.at += 1

    def _inside(self, close: str, one: Callable[[], None]) -> None:
        self.at += 1
        while self.here not in {close, ""}:
            before = self.at
            self._skip(",", "end")
            if self.here not in {close, ""}:
                one()
            self.at += self.at == before
        self.at += 1

    def _skip(self, *signs: str) -> None:
        while self.here in signs:
            self.at += 1


def _plain(token: _Token) -> str:
    """The key that a token writes: itself, or what stands in its quotes."""
    return next(iter(tomllib.loads(f"{token.text} = 0"))) if token.kind == "text" else token.text
