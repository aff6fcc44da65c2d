"""Changes of a value that calls make: an old and a new wording of a line, or a new row of a table for an old key.

Two lines tell a change of one slot if they hold the same key with another value, or if they are the same words but for
one value of the same kind (a number, a date, a time of day). Lines of source code count only where a constant changes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from compactlab.facts.text import FILLER, without_line_numbers
from compactlab.matching import is_content
from compactlab.tools import decoded, path_argument, shell_command, tool_name
from compactlab.traffic.artifacts import Paths
from compactlab.traffic.effects import of_step
from compactlab.traffic.shell import Step, steps
from compactlab.transcript import ToolCall, ToolResult

Kind = Literal["number", "date", "time", "name"]


class Change(NamedTuple):
    """A value that took another's place: in which scope (a file, or "" for talk), of which slot, near which words.

    An empty `new` says that the slot has a value no more, or one that cannot be told.
    """

    scope: str
    key: str
    old: str
    new: str
    words: frozenset[str]


class Written(NamedTuple):
    """A text that a call puts in place of another one, or below what is there (old is None)."""

    path: str
    old: str | None
    new: str


_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
DATE = rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}} {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?)"
TIME = r"(?:\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?Z?)?)"
NUMBER = r"(?:[£$€]?-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[£$€]?-?\d+(?:\.\d+)?)(?: ?%)?"
_VALUE = re.compile(rf"(?<![\w.:/#-])(?:(?P<date>{DATE})|(?P<time>{TIME})|(?P<number>{NUMBER}))(?![\w/-]|[.:,]\d)")
_SETTING = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:export[ \t]+|(?:const|let|var)[ \t]+)?"
    r"[\"'`*]{0,3}(?P<key>[A-Za-z][\w.-]{1,60})[\"'`*]{0,3}"
    r"[ \t]*(?P<mark>[:=])[ \t]*(?P<value>\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|[\w.%+/:@-]{1,60})"
    r"[ \t]*[,;]?[ \t]*(?:[#;/][^\n]{0,200})?$"
)
_SOURCE_CODE = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|ex|exs|php|swift|scala|sh|bash|css|html?|heex|vue|svelte|sql)$"
)
_DOCUMENT = re.compile(r"\.(?:md|mdx|rst|txt|adoc|html)$")
_SAMPLE = re.compile(r"[:=] *[\"'`]|[,;{][ \t]*$")
_SED = re.compile(
    r"(?:^|[;}\s/])s(?P<mark>[/|#,@])(?P<old>(?:\\.|(?!(?P=mark))[^\\\n]){1,400})(?P=mark)(?P<new>(?:\\.|(?!(?P=mark))[^\\\n]){0,400})(?P=mark)"
)
_ESCAPED = re.compile(r"\\([^nt])")
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 2_000
_LONGEST_LINE = 600


def written(call: ToolCall, paths: Paths) -> tuple[Written, ...]:
    """Give the texts that *call* writes into files: edits with what they replace, whole files, what a shell adds."""
    arguments = decoded(call)
    if tool_name(call.name) == "bash":
        return tuple(made for step in steps(shell_command(call)) if step.certain for made in _of_step(step, paths))
    path = paths.of(path_argument(call)) if path_argument(call) else None
    if path is None:
        return ()
    edits: list[Any] = arguments["edits"] if isinstance(arguments.get("edits"), list) else [arguments]
    found: list[Written] = []
    for edit in edits:
        old, new = (
            _text(edit, names) for names in (("old_string", "old_str", "old"), ("new_string", "new_str", "new"))
        )
        if old and new is not None:
            found.append(Written(path, old, new))
    whole = _text(arguments, ("content", "file_text"))
    return tuple(found) if found or whole is None else (Written(path, "", whole),)


def read_whole(call: ToolCall, answer: ToolResult, paths: Paths) -> Written | None:
    """Give the file that *answer* shows from its first line to its last; None where a part or nothing was read."""
    if tool_name(call.name) == "bash":
        made = steps(shell_command(call))
        words = made[0].words if len(made) == 1 and made[0].certain else ()
        named = words[1].text if len(words) == 2 and words[0].text == "cat" and words[1].literal else ""
        path = paths.of(named, made[0].directory) if named else None
    elif tool_name(call.name) == "read" and not any(isinstance(value, int | list) for value in decoded(call).values()):
        path = paths.of(path_argument(call))
    else:
        return None
    text = without_line_numbers(answer.text).replace(FILLER, "")
    return Written(path, "", text) if path and text else None


def _text(arguments: object, names: tuple[str, ...]) -> str | None:
    if not isinstance(arguments, dict):
        return None
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)


def _of_step(step: Step, paths: Paths) -> Iterator[Written]:
    program = step.words[0].text if step.words else ""
    targets = [(e, path) for e in of_step(step) if (path := paths.of(e.path, e.directory))]
    if program == "sed":
        for effect, path in targets:
            if effect.verb == "edit":
                yield from _replaced(step, path)
        return
    text = step.body if step.body is not None else _printed(step)
    for effect, path in targets:
        if effect.verb in {"append", "write"} and text:
            yield Written(path, None if effect.verb == "append" else "", text)


def _replaced(step: Step, path: str) -> Iterator[Written]:
    for word in step.words[1:]:
        if word.literal and len(word.text) < _LONGEST:
            for match in _SED.finditer(word.text):
                old, new = (_ESCAPED.sub(r"\1", match[name]).strip("^$") for name in ("old", "new"))
                yield Written(path, old, new)


def _printed(step: Step) -> str:
    """What `printf` or `echo` with literal words prints."""
    words = [word.text for word in step.words]
    if not all(word.literal for word in step.words) or words[:1] not in (["printf"], ["echo"]):
        return ""
    if words[0] == "echo":
        return " ".join(word for word in words[1:] if word not in {"-e", "-n"})
    return words[1].replace("\\n", "\n").replace("\\t", "\t") if len(words) == 2 and "%" not in words[1] else ""


def changes_between(path: str, old: str, new: str) -> Iterator[Change]:
    """Give the changes of one value each that *new* makes to *old*: the same key, or the same words around a value."""
    before, after = old.split("\n"), new.split("\n")
    had, has = set(before), set(after)
    gone, come = [line for line in before if line not in has], [line for line in after if line not in had]
    yield from _settings(path, gone, come)
    if _SOURCE_CODE.search(path):
        return
    aligned = len(before) == len(after) and len(gone) == len(come) <= 20
    for at, line in enumerate(gone):
        made = _reworded(path, line, come[at]) if aligned else None
        if made is not None:
            yield made
        elif len(line) < _LONGEST_LINE and _VALUE.search(line):
            yield Change(path, _skeleton(line), "", "", frozenset())


def _settings(path: str, gone: list[str], come: list[str]) -> Iterator[Change]:
    held: dict[str, list[str]] = {}
    for line in gone:
        if match := _setting(path, line):
            held.setdefault(match["key"], []).append(match["value"].strip("\"'"))
    for line in come if held else ():
        match = _setting(path, line)
        olds = held.pop(match["key"], []) if match else []
        if match is None or len(olds) != 1 or (_SOURCE_CODE.search(path) and not match["key"].isupper()):
            continue
        value = match["value"].strip("\"'")
        if value != olds[0] and any(c.isalnum() for c in value):
            yield Change(path, match["key"], olds[0], value, words_of(match["key"]))
    yield from (Change(path, key, "", "", frozenset()) for key in held)


def _setting(path: str, line: str) -> re.Match[str] | None:
    """A line that is a setting; in a document none that looks like a sample of code."""
    if len(line) >= _LONGEST_LINE or (_DOCUMENT.search(path) and _SAMPLE.search(line)):
        return None
    return _SETTING.match(line)


def settings_in(text: str) -> Iterator[tuple[str, str]]:
    r"""Give the key and the value of the lines of *text* that are a setting and nothing else.

    >>> list(settings_in("retries = 3\n- `mode`: fast  # or slow\nsee: the note"))
    [('retries', '3'), ('mode', 'fast')]
    """
    for line in text.split("\n"):
        match = _SETTING.match(line) if len(line) < _LONGEST_LINE else None
        if match and any(c.isalnum() for c in match["value"]):
            yield match["key"], match["value"].strip("\"'")


def _reworded(path: str, old: str, new: str) -> Change | None:
    """The change of one value in a line whose other words stay, at least three of them and half of all."""
    if max(len(old), len(new)) > _LONGEST_LINE or _SETTING.match(old):
        return None
    firsts, seconds = values_in(old), values_in(new)
    if len(firsts) != len(seconds) or not firsts or _VALUE.sub("\0", old) != _VALUE.sub("\0", new):
        return None
    differ = [(one, other) for one, other in zip(firsts, seconds, strict=True) if one.text != other.text]
    if len(differ) != 1 or differ[0][0].kind != differ[0][1].kind:
        return None
    (one, other) = differ[0]
    words = words_of(f"{new[max(0, other.start - 60) : other.start]} {new[other.end : other.end + 60]}")
    rest = _WORD.findall(_VALUE.sub(" ", new))
    if len(rest) < 3 or not words:
        return None
    return Change(path, _skeleton(new), one.text, other.text, words)


def _skeleton(line: str) -> str:
    """A line without its values."""
    return " ".join(_VALUE.sub("#", line).split())[:120]


class Value(NamedTuple):
    """A number, date or time of day in a text."""

    text: str
    kind: Kind
    start: int
    end: int


def values_in(text: str) -> list[Value]:
    """Give the values of *text* in order.

    >>> [(v.text, v.kind) for v in values_in("from 12 May at 09:30, 4,300 pounds for PX-5")]
    [('12 May', 'date'), ('09:30', 'time'), ('4,300', 'number')]
    """
    return [Value(m[0], _kind(m), m.start(), m.end()) for m in _VALUE.finditer(text)]


def _kind(match: re.Match[str]) -> Kind:
    return "date" if match["date"] else "time" if match["time"] else "number"


def rows_in(text: str) -> dict[str, str]:
    r"""Give the second cell by the first one of the rows between tabs; a key of several rows there is no slot.

    >>> rows_in("cap\t9,500\t32\ncap height\t2 m\nC21\tRowan")
    {'cap': '9,500', 'cap height': '2 m'}
    """
    cells = [line.split("\t") for line in text.split("\n") if "\t" in line and len(line) < _LONGEST_LINE]
    keys = [row[0].strip() for row in cells]
    count = Counter(keys)
    return {
        key: row[1].strip()
        for key, row in zip(keys, cells, strict=True)
        if count[key] == 1 and words_of(key) and len(key) < 60 and row[1].strip()
    }


def words_of(text: str) -> frozenset[str]:
    """Give the content words of a key or a stretch of text, folded; those joined by `_` or capitals apart.

    >>> sorted(words_of("db_busyTimeout of the 3 sites"))
    ['busy', 'sites', 'timeout']
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return frozenset(word for word in _WORD.findall(parted.lower()) if is_content(word))
