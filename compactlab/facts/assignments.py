"""Family `setting`: a key and its value, where the value by itself would say nothing: `LOG_LEVEL=debug`, `retries: 3`.

Canonical form is `KEY=value`, for options `--option=value`; the forms are how configuration files, shells, JSON and
prose write the pair. Settings stand in environment assignments, in options of commands, and in lines of configuration:
stretches of `key = value` or `key: value` lines, not in source code. Values that the other families take by themselves
are theirs, and so are switches (true, none, 1): nobody can tell a remembered one from a guessed one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from compactlab.facts.fact import Fact, fact
from compactlab.facts.numbers import is_short
from compactlab.facts.sheet import Sheet
from compactlab.facts.text import FILLER
from compactlab.transcript import ToolCall

# Known without reading anything, or set the same in every project.
GUESSABLE_KEYS: frozenset[str] = frozenset(
    """path home pwd user shell lang lc_all term pythonpath ps1 ifs tz no_color ci debug editor pager version name type
    id title description status role content text message error note date time default value key path file url source
    command pattern query path limit offset old new timeout language author license from to subject re cc on off
    """.split()
)
GUESSABLE_VALUES: frozenset[str] = frozenset(
    """true false none null nil undefined yes no on off 0 1 -1 nan inf self cls str int float bool list dict set tuple
    object any bytes string number boolean array function void const let var type optional required todo tbd n/a
    value key name default auto""".split()
)
TYPES: frozenset[str] = frozenset(
    """str int float bool bytes list dict tuple set object Path Decimal date datetime string number boolean any
    void String Integer Boolean Float u8 u32 u64 i32 i64 usize f64 Any None""".split()
)
GUESSABLE_OPTIONS: frozenset[str] = frozenset(
    "--tb --color --format --output --oneline --pretty --stat --include --exclude --message --title --body --help"
    " --capture --verbose --maxfail --show-capture --log-cli-level --depth --max-count --seed --json --jq".split()
)

_VALUE = r"(?:\"[^\"\n\ufffc$`\\]{1,60}\"|'[^'\n\ufffc$`\\]{1,60}'|[\w.%+/^~-]{1,60}+(?::[\w.%+/-]{1,40}+){0,4})"
_ENVIRONMENT = re.compile(
    rf"(?<![\w$.{{(-])(?P<key>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{{4,24}})=(?P<value>{_VALUE})(?![\w({{\[.$=>])"
)
_OPTION = re.compile(
    rf"(?<![\w-])(?P<key>--[a-z][a-z0-9]+(?:-[a-z0-9]+)*)(?P<mark>=|[ ])(?P<value>{_VALUE})(?![\w({{\[=/.>:])"
)
_INI = re.compile(
    rf"^(?P<lead>[ \t]*[+-]?[ \t]*)(?P<key>[A-Za-z][\w.-]{{1,48}}+)[ \t]*=[ \t]*(?P<value>{_VALUE})[ \t]*"
    r"(?:[#;][^\n]*+)?$"
)
_YAML = re.compile(
    rf"^(?P<lead>[ \t]*(?:[+-][ \t]+)?)(?P<key>[A-Za-z][\w.-]{{1,48}}+):[ \t]+(?P<value>{_VALUE})[ \t]*(?:#[^\n]*+)?$"
)
_JSON = re.compile(
    rf"^(?P<lead>[ \t]*[+-]?[ \t]*)\"(?P<key>[A-Za-z][\w.-]{{1,48}}+)\":[ \t]*(?P<value>{_VALUE}),?[ \t]*$"
)
_KINDS = (_INI, _YAML, _JSON)
_SECTION = re.compile(r"^[ \t]*[+-]?[ \t]*\[{1,2}[\w.\" -]{1,80}\]{1,2}[ \t]*(?:#.*)?$")
_OTHER_CONFIGURATION = (
    re.compile(r"^[ \t]*[+-]?[ \t]*(?:[A-Za-z][\w.-]{0,48}[ \t]*=[ \t]*[^=(].*|[#;].*)?$"),
    re.compile(r"^[ \t]*(?:[+-][ \t]+)?(?:[A-Za-z\"][\w.\"-]{0,48}:(?:[ \t].*)?|#.*|- .*)?$"),
    re.compile(r"^[ \t]*[+-]?[ \t]*(?:\"[^\"\n]{1,80}\":.*|[{}\[\]],?|\"[^\"]*\",?)?$"),
)
_CODE = re.compile(
    r"[;{]\s*$|^\s*(?:def|class|import|from|return|if|for|fn|func|let|const|var|public|private)\b|\)\s*:?\s*$"
)
_LINE_LEAD = re.compile(rf"^[{FILLER}\s]*")
RECORDS = 5
"""Different values of one key in a block from which on they are records of data."""
LEAST_LINES = 3
"""Lines of one kind in a stretch before it is taken for configuration; a section header makes up for one."""


def mine_settings(sheet: Sheet) -> None:
    """Look for settings whose values no family has taken by themselves; the last of the families to read."""
    found = [_Candidate(match.start("key"), match, 0) for match in _ENVIRONMENT.finditer(sheet.whole)]
    found += [_Candidate(start + match.start("key"), match, start) for start, match in _configured(sheet)]
    values: dict[str, set[str]] = defaultdict(set)
    for one in found:
        values[one.key].add(one.value)
    for one in found:
        if len(values[one.key]) < RECORDS and _good(one.key, one.value) and _is_free(sheet, one):
            sheet.found.append((one.at, setting(one.key, one.value)))
    for match in _OPTION.finditer(sheet.whole) if sheet.spoken or isinstance(sheet.block, ToolCall) else ():
        one = _Candidate(match.start("key"), match, 0)
        if _is_option(one, match["mark"], spoken=sheet.spoken) and _is_free(sheet, one):
            forms = (f"{one.key} {one.value}", *(f"{one.key}={quote}{one.value}{quote}" for quote in "\"'"))
            sheet.found.append((one.at, fact("setting", f"{one.key}={one.value}", *forms)))


class _Candidate(NamedTuple):
    """A match, where its key stands in the sheet, and where the text begins that it was found in."""

    at: int
    match: re.Match[str]
    offset: int

    @property
    def key(self) -> str:
        return self.match["key"]

    @property
    def value(self) -> str:
        return self.match["value"].strip("\"'").strip().rstrip(".:")


def _is_option(one: _Candidate, mark: str, *, spoken: bool) -> bool:
    """An option takes the next word with it for certain only where that is a number, or where `=` says so."""
    if one.key in GUESSABLE_OPTIONS or not _telling(one.value):
        return False
    return one.value.isdigit() or (mark == "=" and not spoken)


def _good(key: str, value: str) -> bool:
    parts = key.lower().split(".")
    if key.lower() in GUESSABLE_KEYS or parts[0] in {"self", "this", "cls"} or FILLER in key:
        return False
    return _telling(value) and value.lower() != parts[-1]


def _telling(value: str) -> bool:
    if value.lower() in GUESSABLE_VALUES or not any(c.isalnum() for c in value) or len(value) > 60:
        return False
    return len(value) > 1 or value.isdigit()


def _is_free(sheet: Sheet, one: _Candidate) -> bool:
    """Tell whether no family took the value by itself; a number that needs an anchor does not stand by itself."""
    start, end = (one.offset + place for place in one.match.span("value"))
    if FILLER in sheet.whole[start:end]:
        return False
    bare = one.value.lstrip("-")
    return FILLER not in sheet.text[start:end] or (bare.replace(".", "", 1).isdigit() and is_short(bare))


def setting(key: str, value: str) -> Fact:
    """Give the fact that *key* has *value*, with the ways in which files, shells and prose write it.

    >>> setting("retries", "3").forms[:4]
    ('retries=3', 'retries = 3', 'retries: 3', '"retries": 3')
    """
    marks = ("=", " = ", ": ", ":")
    plain = [f"{key}{mark}{value}" for mark in marks[:3]] + [f'"{key}": {value}']
    quoted = [f"{key}{mark}{quote}{value}{quote}" for quote in "\"'" for mark in marks]
    spoken = [
        f'"{key}": "{value}"',
        f'"{key}":"{value}"',
        f"`{key}` = {value}",
        f"`{key}`: {value}",
        f"`{key}` is {value}",
    ]
    ticked = [
        f"{key} is {value}",
        f"`{key}`: `{value}`",
        f"`{key}` = `{value}`",
        f"{key} `{value}`",
        f"{key} to {value}",
    ]
    return fact("setting", *plain, *quoted, *spoken, *ticked)


def _configured(sheet: Sheet) -> Iterator[tuple[int, re.Match[str]]]:
    """Give the settings of the stretches of a text that are configuration, each with where its line begins."""
    text = sheet.whole
    if "=" not in text and ":" not in text:
        return
    start = 0
    lines: list[tuple[int, str]] = []
    for line in text.split("\n"):
        lead = _LINE_LEAD.match(line)
        skip = lead.end() if lead and FILLER in lead[0] else 0
        lines.append((start + skip, line[skip:]))
        start += len(line) + 1
    arguments = sheet.block.arguments if isinstance(sheet.block, ToolCall) else ""
    for kind, other in zip(_KINDS, _OTHER_CONFIGURATION, strict=True):
        for start, match in _stretches(lines, kind, other):
            if f'"{match["key"]}":' not in arguments:  # an argument of the call is no line of configuration
                yield start, match


def _stretches(
    lines: list[tuple[int, str]], kind: re.Pattern[str], other: re.Pattern[str]
) -> Iterator[tuple[int, re.Match[str]]]:
    found: list[tuple[int, re.Match[str]]] = []
    headers = 0
    for start, line in (*lines, (0, "(")):
        match = kind.match(line) if len(line) < 200 else None
        if match and not _CODE.search(line):
            found.append((start, match))
        elif kind is _INI and _SECTION.match(line):
            headers += 1
        elif len(line) >= 200 or not other.match(line) or _CODE.search(line):
            if len(found) + headers >= LEAST_LINES and not any(one[1]["value"] in TYPES for one in found):
                yield from (one for one in found if headers or _is_scalar(kind, one[1]))
            found, headers = [], 0


def _is_scalar(kind: re.Pattern[str], match: re.Match[str]) -> bool:
    """Without a section's header a line may be code: a bare word may be a variable or a type, `a="b"` an attribute."""
    value = match["value"]
    quoted = value[0] in "\"'"
    if kind is _INI:
        return (quoted and " = " in match[0]) or value.lstrip("-")[:1].isdigit()
    if kind is _JSON:
        return quoted or value.lstrip("-")[:1].isdigit()
    return quoted or not (value[0].isupper() and value.isalnum() and not value.isupper())
