"""Artifact operations: which file was created, modified, deleted, read or moved, as the tool traffic has it.

Exact, from calls whose results are no errors. Paths are seen from the working directory that the calls themselves tell.
A file is created where it was not seen to exist before: by a call on it, in a listing, in what any tool printed.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import ahocorasick_rs

from compactlab.history import pair
from compactlab.tokens import clean
from compactlab.tools import path_argument, shell_command, tool_name
from compactlab.traffic.effects import Effect, effects
from compactlab.traffic.outcomes import status_of
from compactlab.traffic.shell import Step, steps
from compactlab.transcript import Message, ToolCall, ToolResult

Kind = Literal["created", "modified", "deleted", "read", "moved"]
KINDS: tuple[Kind, ...] = ("created", "modified", "deleted", "read", "moved")
WRITES: frozenset[Kind] = frozenset(("created", "modified", "moved"))
ALWAYS: dict[str, Kind] = {  # what needs no look at whether the file was there
    "read": "read",
    "delete": "deleted",
    "move": "moved",
    "arrive": "moved",
    "edit": "modified",
    "add": "created",
}


class Operation(NamedTuple):
    """What was done to a path; `position` is the message of the call, `call` the call itself."""

    path: str
    op: Kind
    position: int
    call: ToolCall


_REFUSED = re.compile(
    r"\A\s*(?:<tool_use_error>|error\b|no (?:replacement|match|change)|file (?:has not been read|does not exist)"
    r"|file not found|invalid `|cannot |could not |failed to |string to replace not found|old_string not found)",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"No such file|cannot (?:remove|stat|move|create|open|access|touch)|Permission denied|Is a directory|not found"
)
_MADE = re.compile(
    r"\A[^\n]{0,200}\b(?:created (?:successfully|file)|new file|file created|created new)\b", re.IGNORECASE
)
_CHANGED = re.compile(r"\A[^\n]{0,300}\b(?:updated|overwr\w+|modified)\b", re.IGNORECASE)
_HOME = re.compile(r"(?i)\bworking directory[^\n/]{0,20}(/[\w./@+-]{1,200})")
_TOKEN_EDGE = re.compile(r"[\w.~@+/-]*\Z")
_LONGEST_LINE = 300


class Paths:
    """Brings paths to one form: absolute where the working directory of the calls is known, no `./`, no `..`.

    The directory is the one under which most relative paths of the calls stand as absolute ones, a directory that a
    tool or a prompt names, or else the one that most calls change to.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        calls = dict.fromkeys(call for message in messages for call in message.calls)
        self.home = _home(messages, tuple(calls))

    def of(self, path: str, directory: str | None = "") -> str | None:
        """Give the one form of *path*, written where *directory* is the working directory; None if that is unknown."""
        if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", path):
            return posixpath.normpath(path)
        if directory is None or not path:
            return None
        return posixpath.normpath(posixpath.join(self.home, directory, path))


def _home(messages: Sequence[Message], calls: tuple[ToolCall, ...]) -> str:
    written = {effect.path for call in calls for effect in effects(call) if effect.directory == ""}
    written |= {path_argument(call) for call in calls} - {""}
    absolute: dict[str, list[str]] = defaultdict(list)
    for path in written:
        end = posixpath.normpath(path) if path.startswith("/") else "/"
        for _ in range(4):
            absolute[posixpath.basename(end)].append(end)
            end = posixpath.dirname(end)
    votes: Counter[str] = Counter()
    for path in written:
        short = "" if path.startswith("/") else posixpath.normpath(path)
        ends = absolute.get(posixpath.basename(short), ()) if "/" in short else ()
        votes.update(end[: -len(short) - 1] for end in dict.fromkeys(ends) if end.endswith(f"/{short}"))
    for message in messages:
        said = "" if message.role == "assistant" else message.text[:20_000]
        ends_of = [said, *(result.text[-600:] for result in message.results)]
        votes.update({found: 2 for text in ends_of for found in _HOME.findall(text)})
    if not votes:
        changes = (step.directory for call in calls for step in _steps(call)[1:2])
        votes.update(directory for directory in changes if directory and directory.startswith("/"))
    return min(votes, key=lambda path: (-votes[path], len(path), path)) if votes else ""


def _steps(call: ToolCall) -> tuple[Step, ...]:
    return steps(shell_command(call)) if tool_name(call.name) == "bash" else ()


def operations(messages: Sequence[Message]) -> tuple[Operation, ...]:
    """Give what the calls of *messages* did to files, in the order of the calls.

    Only calls whose results are there and are no errors count; a file is `created` by the write that first made it.

    >>> from compactlab.transcript import Text
    >>> made = Message("assistant", (ToolCall("1", "write", '{"path": "a.py", "content": "x = 1"}'),))
    >>> [(o.path, o.op) for o in operations([made, Message("tool", (ToolResult("1", (Text("ok"),)),))])]
    [('a.py', 'created')]
    """
    return Traffic(messages).operations


class _Answered(NamedTuple):
    """A call, its result, and the messages in which they stand."""

    call: ToolCall
    result: ToolResult
    position: int
    heard: int


class Traffic:
    """The calls of *messages* on files: `operations`, what failed calls would have done, the form of paths."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.paths = Paths(messages)
        self._answered = tuple(_answered(messages))
        self.failed: dict[ToolCall, tuple[tuple[str, Kind], ...]] = {}

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        seen = _Seen(self.paths, self._answered)
        made: list[Operation] = []
        exists: dict[str, bool] = {}
        last = ""
        for answered in self._answered:
            for effect in effects(answered.call):
                path = self.paths.of(effect.path or last, effect.directory)
                if path is None:
                    continue
                known = exists.get(path)
                known = seen.before(path, answered.position) if known is None else known
                op = _kind(effect, answered.result, exists=known)
                if _failed(answered, path):
                    exists[path] = True
                    self.failed[answered.call] = (*self.failed.get(answered.call, ()), *([(path, op)] if op else []))
                    continue
                exists[path] = effect.verb not in {"delete", "clear", "move"}
                last = effect.path or last
                made += [Operation(path, op, answered.position, answered.call)] if op else []
        return tuple(made)


def _answered(messages: Sequence[Message]) -> Iterator[_Answered]:
    for at, place in sorted(pair(messages).call_of.items(), key=lambda found: (found[1], found[0])):
        call, result = messages[place.message].blocks[place.block], messages[at.message].blocks[at.block]
        if isinstance(call, ToolCall) and isinstance(result, ToolResult):
            yield _Answered(call, result, place.message, at.message)


def _kind(effect: Effect, result: ToolResult, *, exists: bool) -> Kind | None:
    if effect.verb in ALWAYS:
        return ALWAYS[effect.verb]
    if effect.verb == "clear":
        return "deleted" if exists else None
    if effect.verb == "make":
        return None if exists else "created"
    if _MADE.search(result.text):
        return "created"
    return "modified" if exists or _CHANGED.search(result.text) else "created"


def _failed(answered: _Answered, path: str) -> bool:
    """Tell whether the result says that the call, or its part on *path*, did not work."""
    result = answered.result
    if result.is_error and status_of(answered.call, result) != "ok":
        return True
    text = result.text
    is_shell = tool_name(answered.call.name) == "bash"
    if status_of(answered.call, result) != "ok" or (not is_shell and _REFUSED.search(text)):
        return True
    if not is_shell or _FAULT.search(text) is None:
        return False
    name = posixpath.basename(path)
    return any(name in line and _FAULT.search(line) for line in text.splitlines() if len(line) < _LONGEST_LINE)


class _Seen:
    """Since when listings show the paths that calls write to."""

    def __init__(self, paths: Paths, answered: Sequence[_Answered]) -> None:
        self._paths = paths
        self._first: dict[str, int] = {}
        self._wanted: dict[str, set[str]] = defaultdict(set)
        for found in answered:
            for effect in effects(found.call):
                path = None if effect.verb in ALWAYS else paths.of(effect.path, effect.directory)
                if path:
                    self._wanted[posixpath.basename(path)].add(path)
        names = [name for name in self._wanted if name]
        if names:
            automaton = ahocorasick_rs.AhoCorasick([clean(name) for name in names])
            for found in answered:
                places = _places(found.call)
                if places:
                    self._read(found, [self._paths.of(*place) for place in places], names, automaton)

    def before(self, path: str, position: int) -> bool:
        """Tell whether a result before the message at *position* listed *path*."""
        return self._first.get(path, position) < position

    def _read(
        self, found: _Answered, folders: list[str | None], names: list[str], automaton: ahocorasick_rs.AhoCorasick
    ) -> None:
        text = clean(found.result.text)
        for index, start, end in automaton.find_matches_as_indexes(text, overlapping=True):
            lead = _TOKEN_EDGE.search(text, max(0, start - 200), start)
            token = (lead[0] if lead else "") + names[index]
            if (text[end : end + 1] or " ") not in " \t\n:*\r" or (
                lead and text[: lead.start()][-1:] not in {"", *" \t\n"}
            ):
                continue
            for path in self._wanted[names[index]]:
                if path not in self._first and self._is(path, token, folders):
                    self._first[path] = found.heard

    def _is(self, path: str, token: str, folders: list[str | None]) -> bool:
        if token.startswith("/"):
            return posixpath.normpath(token) == path
        return any(
            folder is not None and posixpath.normpath(posixpath.join(folder, token)) == path for folder in folders
        )


_LISTERS: frozenset[str] = frozenset("ls find tree git wc grep rg du stat md5sum sha256sum".split())


def _places(call: ToolCall) -> list[tuple[str, str | None]]:
    """The folders that a listing call looks into, each with the directory it is seen from; none for other calls."""
    if tool_name(call.name) in {"list_dir", "glob", "grep"}:
        return [(path_argument(call) or ".", ""), (".", "")]
    places: list[tuple[str, str | None]] = []
    for step in _steps(call):
        if step.words and step.words[0].text in _LISTERS:
            named = [word.text for word in step.words[1:] if word.literal and not word.text.startswith("-")]
            places += [(name, step.directory) for name in (".", *named[:20])]
    return places
