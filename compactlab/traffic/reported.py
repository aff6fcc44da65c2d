"""Operations on files as words tell them: `Created a.py`, `Files modified: a.py, b.py`, `c.py (read, edit)`.

A path and a verb of an operation belong together in one clause, the verb before the path rather than behind it; a
heading gives its verb to the list below it. What is denied, planned or asked for is no report. Verbs in the past tense
and labels alone count, so that `read a.py first` as an instruction does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from compactlab.facts.code import path_of

Told = Literal["created", "modified", "deleted", "read", "moved", "written"]
_LONGEST_LINE = 4_000


class Report(NamedTuple):
    """A path, as it is written, and what the text says was done to it; `written` is created or modified."""

    path: str
    op: Told


_VERBS: dict[Told, str] = {
    "created": r"created?(?<=d)|(?:newly )?added|generated|new (?:test |source )?files?(?=[^a-z]{0,4}:)",
    "written": r"wrote|(?:re)?written|saved",
    "modified": r"modified|edited|updated|changed|patched|rewrote|refactored|appended(?: to)?|extended|amended|fixed",
    "deleted": r"deleted|removed|erased",
    "moved": r"moved|renamed",
    "read": r"viewed|inspected|examined|opened|looked (?:at|into)|reviewed|consulted|have read|was read|were read"
    r"|files? read|read files?|read(?= [`\"'*]{0,3}[\w./~-]{0,200}[./]\w)",
}
_VERB = re.compile(
    "|".join(rf"(?P<{op}>(?<![\w-])(?:{words})(?![\w-]))" for op, words in _VERBS.items()), re.IGNORECASE
)
_LABELS: dict[str, Told] = {
    "read": "read",
    "view": "read",
    "write": "written",
    "create": "created",
    "new": "created",
    "edit": "modified",
    "modify": "modified",
    "update": "modified",
    "delete": "deleted",
    "remove": "deleted",
    "move": "moved",
    "rename": "moved",
    **{op: op for op in _VERBS},
}
_STEMS = (
    "creat add generat new writ wrote sav modif edit updat chang patch refactor append extend amend fix delet remov"
    " eras mov renam view inspect examin open look consult read"
).split()
_LABEL = re.compile(
    r"[`\"'*]{0,3}(?:[ \t]*\(((?:[a-z]{3,9}(?:[,/+&]| and)?[ ]?){1,5})\)"
    r"|:[ \t]{1,2}([a-z]{3,9})(?: last)?[ \t]*(?=$|[,.;(]))",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:not|never|no|none|nothing|without|un|cannot|can't|won't|didn't|don't|isn't|wasn't|hasn't|haven't|will|would"
    r"|should|shall|must|may|might|could|need(?:s|ed)? to|to be|going to|plan(?:s|ned)? to|todo|pending"
    r"|yet to|if|before|instead of|rather than|next|please)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:;|\.(?=\s|$)|\s[—–]\s|\s-\s|, (?:then|but)\b|\band then\b)")
_PATH = re.compile(r"(?<![\w./@~-])(?:~?/|\.{1,2}/)?[\w@+][\w.@+-]{0,200}(?:/[\w.@+~-]{1,200}){0,40}/?")
_PLACE = re.compile(r":\d")  # a line of a file, as in a log or a trace
_ITEM = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)]|[`/]|\|)")


def reported(text: str) -> tuple[Report, ...]:
    r"""Give what *text* says was done to files, in reading order; linear in its length.

    >>> reported("Created `src/a.py`; did not modify src/b.py.\nFiles read:\n- docs/c.md")
    (Report(path='src/a.py', op='created'), Report(path='docs/c.md', op='read'))
    """
    folded = text.lower()
    return tuple(_lines(text)) if any(stem in folded for stem in _STEMS) else ()


def _lines(text: str) -> Iterator[Report]:
    heading: Told | None = None
    for line in text.split("\n"):
        if not line.strip():
            continue
        if len(line) > _LONGEST_LINE or not _ITEM.match(line):
            heading = None
        found = list(_line(line, heading)) if len(line) <= _LONGEST_LINE else []
        yield from found
        if not found and len(line) < 120 and line.rstrip(" *_").endswith(":"):
            heading = _only_verb(line)


def _only_verb(line: str) -> Told | None:
    verbs = {op for _, _, op in _verbs(line)}
    return verbs.pop() if len(verbs) == 1 else None


def _line(line: str, heading: Told | None) -> Iterator[Report]:
    start = 0
    cuts = [(match.start(), match.end()) for match in _CLAUSE.finditer(line)]
    for end, after in (*cuts, (len(line), len(line))):
        yield from _clause(line[start:end], heading)
        start = after


def _clause(clause: str, heading: Told | None) -> Iterator[Report]:
    if "." not in clause and "/" not in clause:
        return
    verbs: list[tuple[int, int, Told]] | None = None
    for match in _PATH.finditer(clause):
        path = path_of(match[0])
        if path is None or _PLACE.match(clause, match.end()):
            continue
        labels = list(_labels(clause, match.end()))
        if labels:
            yield from (Report(path, op) for op in labels)
            continue
        verbs = _verbs(clause) if verbs is None else verbs
        told = _nearest(verbs, match.start(), match.end())
        told = heading if told is None and not verbs and not _UNDONE.search(clause) else told
        if told is not None:
            yield Report(path, told)


def _labels(clause: str, at: int) -> Iterator[Told]:
    match = _LABEL.match(clause, at)
    words = re.findall(r"[a-z]+", (match[1] or match[2]).lower()) if match else []
    known = [_LABELS[word] for word in words if word in _LABELS]
    yield from known if len(known) == len([word for word in words if word not in {"and", "last"}]) else ()


def _verbs(clause: str) -> list[tuple[int, int, Told]]:
    """Start, end and operation of the verbs of a clause that tell what was done."""
    found: list[tuple[int, int, Told]] = []
    for match in _VERB.finditer(clause):
        before = " ".join(clause[max(0, match.start() - 40) : match.start()].split()[-4:])
        op: Told = next(op for op in _VERBS if match[op] is not None)
        told_to = op == "read" and re.search(r"\bfirst\b", clause[match.end() :])
        if not _UNDONE.search(before) and not told_to:
            found.append((match.start(), match.end(), op))
    return found


def _nearest(verbs: list[tuple[int, int, Told]], start: int, end: int) -> Told | None:
    """The verb before a path that is nearest to it, or else the first one close behind it."""
    before = [op for _, stop, op in verbs if stop <= start]
    if before:
        return before[-1]
    return next((op for begin, _, op in verbs if 0 <= begin - end <= 30), None)
