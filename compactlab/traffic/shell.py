r"""What a shell script does, step by step: the words of each simple command, where its output goes, whether it ran.

The grammar is the POSIX shell's as far as agents write it: quotes, here-documents, redirections, lists, pipes, groups.
Nothing is expanded: a word with a variable, a substitution or a pattern in it is not literal. What cannot be read (a
quote that never closes, a function) ends the reading, so that nothing is guessed.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import NamedTuple

LONGEST_SCRIPT = 200_000
CONDITIONS: frozenset[str] = frozenset("[ [[ test grep egrep rg which command diff cmp type ! false read".split())
_OPENING = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_CLOSING: frozenset[str] = frozenset(("fi", "done", "esac", "}"))
_PREFIXES: frozenset[str] = frozenset("then do else elif ! time sudo command exec nohup builtin".split())

_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]{1,60})'|\"([^\"\n]{1,60})\"|(\w{1,60}))")
_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t]|\\\n)++)|(?P<newline>\n)|(?P<comment>(?<![^\s;&|(])#[^\n]*+)"
    r"|(?P<redirect>(?:\d|&)?(?:>>|>\||>&|>|<<<|<<-?|<&|<))|(?P<operator>&&|\|\||;;|\|&|[;&|()])"
    r"|(?P<single>\$?'[^']*+')|\"(?P<double>(?:[^\"\\]|\\.)*+)\""
    r"|(?P<opaque>\$\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)|\$\{[^}\n]*+\}|\$[\w?#@*!$-]|\$\w++|`[^`]*+`)"
    r"|\\(?P<escaped>.)|(?P<bare>[^\s'\"`$\\<>|&;()]++)",
    re.DOTALL,
)
_UNQUOTE = re.compile(r"\\([\"\\$`\n])")
_PATTERN = re.compile(r"[*?]|\[.+\]|\{[^}]*(?:,|\.\.)[^}]*\}|\{\}")
_ASSIGNMENT = re.compile(r"\w+=")


class Word(NamedTuple):
    """One word, its quotes removed; `literal` if the shell would not change it."""

    text: str
    literal: bool


class Output(NamedTuple):
    """Where a step's output goes: a file, added to if `adds`."""

    target: Word
    adds: bool


class Step(NamedTuple):
    """A simple command: its words (leading assignments left out), its outputs, the text it is fed.

    `directory` is what the `cd`s before it in the script lead to, "" for where the script began, None if unknown.
    `certain` is False where only a condition lets it run; `piped` where it reads from a pipe.
    """

    words: tuple[Word, ...]
    outputs: tuple[Output, ...] = ()
    body: str | None = None
    directory: str | None = ""
    certain: bool = True
    piped: bool = False


@lru_cache(maxsize=4_096)
def steps(script: str) -> tuple[Step, ...]:
    """Give the simple commands of *script* in the order in which they stand; linear in its length.

    >>> [[w.text for w in s.words] for s in steps("cd src && cat 'a b.py' | head -3 > out.txt")]
    [['cd', 'src'], ['cat', 'a b.py'], ['head', '-3']]
    """
    if len(script) > LONGEST_SCRIPT:
        return ()
    shown, bodies = _without_bodies(script)
    reader = _Reader(bodies)
    at = 0
    while at < len(shown) and not reader.stopped:
        match = _TOKEN.match(shown, at)
        if match is None:
            return tuple(reader.made)
        reader.take(match)
        at = match.end()
    reader.end_step()
    return tuple(reader.made)


def _without_bodies(script: str) -> tuple[str, list[str]]:
    """Take the bodies of here-documents out; what stands for one in the script is its number."""
    if "<<" not in script:
        return script, []
    kept: list[str] = []
    bodies: list[str] = []
    waiting: list[tuple[str, bool, list[str]]] = []
    for line in script.split("\n"):
        if waiting:
            end, dedent, body = waiting[0]
            if (line.lstrip("\t") if dedent else line).rstrip(" ") == end:
                bodies.append("\n".join(body) + "\n" if body else "")
                waiting.pop(0)
            else:
                body.append(line.lstrip("\t") if dedent else line)
            continue
        count = len(bodies)
        found = _HEREDOC.finditer(line) if "<<<" not in line else ()
        waiting += [(match[2] or match[3] or match[4], bool(match[1]), []) for match in found]
        kept.append(_HEREDOC.sub(_Numbered(count), line) if waiting else line)
    bodies += ["\n".join(body) for _, _, body in waiting]
    return "\n".join(kept), bodies


class _Numbered:
    """Writes numbers, from one on, where here-documents begin."""

    def __init__(self, first: int) -> None:
        self._next = first

    def __call__(self, _match: re.Match[str]) -> str:
        self._next += 1
        return f"<<{self._next - 1}"


class _Reader:
    """Takes tokens and makes steps of them."""

    def __init__(self, bodies: list[str]) -> None:
        self.made: list[Step] = []
        self.stopped = False
        self._bodies = bodies
        self._frames: list[str] = []
        self._homes: list[str | None] = []
        self._directory: str | None = ""
        self._chain_is_certain = True
        self._piped = False
        self._fresh()

    def _fresh(self) -> None:
        self._words: list[Word] = []
        self._outputs: list[Output] = []
        self._body: str | None = None
        self._parts: list[Word] = []
        self._redirect = ""

    def take(self, match: re.Match[str]) -> None:
        kind = match.lastgroup or ""
        if kind in {"blank", "comment"}:
            self._end_word()
        elif kind == "redirect":
            self._end_word()
            self._redirect = match[0]
        elif kind in {"newline", "operator"}:
            self._end_word()
            self._operator(match[0])
        else:
            self._parts.append(_part(kind, match[0] if kind in {"single", "opaque"} else match[kind]))

    def _end_word(self) -> None:
        if not self._parts:
            return
        word = Word("".join(part.text for part in self._parts), all(part.literal for part in self._parts))
        plain = len(self._parts) == 1
        self._parts = []
        redirect, self._redirect = self._redirect, ""
        if redirect:
            self._redirected(redirect, word)
        elif not self._words and plain and self._reserved(word.text):
            pass
        elif self._words or not _ASSIGNMENT.match(word.text):
            self._words.append(word)

    def _redirected(self, redirect: str, word: Word) -> None:
        if redirect.startswith("<<") and redirect != "<<<":
            number = int(word.text) if word.text.isdigit() else len(self._bodies)
            self._body = self._bodies[number] if number < len(self._bodies) else None
        elif ">" in redirect and redirect[0] != "2" and not _is_no_file(redirect, word.text):
            self._outputs.append(Output(word, adds=">>" in redirect))

    def _reserved(self, word: str) -> bool:
        """Open and close frames; words before a command say nothing of their own."""
        if word in _OPENING:
            self._frames.append(_OPENING[word])
            return word != "for"
        if word in _CLOSING:
            if self._frames and self._frames[-1] == word:
                self._frames.pop()
            return True
        return word in _PREFIXES

    def _operator(self, operator: str) -> None:
        program = self._words[0].text if self._words else ""
        if operator == "(" and self._words:
            self.stopped = True  # a function: what stands in it does not run here
            self._fresh()
            return
        self.end_step()
        self._piped = operator in {"|", "|&"}
        if operator == "(":
            self._homes.append(self._directory)
        elif operator == ")":
            self._directory = self._homes.pop() if self._homes else None
        if operator in {";", "\n", "&", ";;"}:
            self._chain_is_certain = True
        elif operator == "||" or (operator == "&&" and program in CONDITIONS):
            self._chain_is_certain = False

    def end_step(self) -> None:
        self._end_word()
        words, certain = tuple(self._words), self._chain_is_certain and all(frame == "}" for frame in self._frames)
        if words or self._outputs:
            outputs = tuple(self._outputs)
            self.made.append(Step(words, outputs, self._body, self._directory, certain, self._piped))
        if words and words[0].text in {"cd", "pushd"}:
            self._directory = _moved(self._directory, words[1:])
        self._fresh()


def _is_no_file(redirect: str, target: str) -> bool:
    return target.startswith("/dev/") or (redirect.endswith(">&") and (target.isdigit() or target == "-"))


def _part(kind: str, text: str) -> Word:
    if kind == "single":
        return Word(text.lstrip("$")[1:-1], not text.startswith("$"))
    if kind == "double":
        return Word(_UNQUOTE.sub(r"\1", text), re.search(r"(?<!\\)[$`]", text) is None)
    if kind == "bare":
        return Word(text, _PATTERN.search(text) is None)
    return Word(text, kind == "escaped")


def _moved(directory: str | None, words: tuple[Word, ...]) -> str | None:
    """Where a `cd` with these words leads from *directory*."""
    if len(words) != 1 or not words[0].literal or words[0].text.startswith(("-", "~")):
        return None
    target = words[0].text
    if target.startswith("/"):
        return posixpath.normpath(target)
    return None if directory is None else posixpath.normpath(posixpath.join(directory, target))
