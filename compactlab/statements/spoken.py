"""What a person says in their own words: without what they paste, quote or relay.

A rule that stands in a pasted log, in a code block or in somebody else's mail binds nobody. So fenced blocks, quoted
lines, tagged blocks, lines of logs and what stands under "the log says:" are left out, line breaks inside sentences are
undone, and in a relayed talk (`[turn 4] Ann: … / She: …`) only the first speaker counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compactlab.statements.wording import sentences
from compactlab.tools import asks_person
from compactlab.transcript import Message, Text, ToolResult

_FENCE = re.compile(r"^[ \t]{0,8}(`{3,}|~{3,})[^\n]*\n", re.MULTILINE)
_TAG = re.compile(r"<([A-Za-z][\w-]{1,40})(?:\s[^<>\n]{0,200})?>")
_LOG_LINE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL"
    r"|CRITICAL)\b"
    r"[\]:]?\s|Traceback \(|File \"|at [\w.$<>]+\(|\w*(?:Error|Exception): |npm ERR|[$#%] \w|>>> |\+\+\+ |--- |@@ "
    r"|[\w.-]+@[\w.-]+[:~$])"
)
_QUOTED_LINE = re.compile(r"\s{0,3}>|\s{4,}\S|\t")
_INTRODUCES = re.compile(
    r"\b(?:logs?|output|pasted?|traceback|stack ?trace|trace|console|transcript|printed|prints|e-?mail|mail|wrote"
    r"|writes|says|said|quote|reads|schreibt|schrieb|sagt|ausgabe|protokoll)\b[^\n:]{0,40}:\s*\Z",
    re.IGNORECASE,
)
_WRAP = re.compile(r"(?<=[^\n]{45})(?<!:)\n[ \t]{0,8}(?=[^\W_])(?!\d{1,3}[.)]\s|[A-Z]{1,2}[.)]\s)")
_ADDRESS = re.compile(r"^[ \t]*\[[^\]\n]{1,90}\][ \t]*(?:[A-Z]\w{0,30}:[ \t])?", re.MULTILINE)
_REPLY = re.compile(r"(?:^|[ \t\n])/[ \t](?:[A-Z]\w{0,30}):[ \t]")
_QUOTES = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\"\n]{1,400}[“”\"]|«[^»\n]{1,400}»|`[^`\n]{1,200}`|「[^」\n]{1,400}」"
    r"|(?<!\w)['‘][^'’\n]{2,200}(?:['’]\w[^'’\n]{0,200}){0,4}['’](?!\w)"
)


def own_words(text: str) -> str:
    r"""Give *text* without what is pasted or quoted by lines, sentences on one line each paragraph.

    >>> own_words("Look at this log:\n12:00:01 never touch prod\n\nFix it,\n> never do that\nplease.")
    'Look at this log:\n\nFix it,\nplease.\n'
    """
    kept = "\n".join(_kept_lines(_without_tags(_without_fences(text)).split("\n")))
    return _relayed(_WRAP.sub(" ", kept))


def quotes(text: str) -> list[tuple[int, int]]:
    """Where words in quotation marks or back quotes stand.

    >>> [("forget 'never use X', don't ask"[a:b]) for a, b in quotes("forget 'never use X', don't ask")]
    ["'never use X'"]
    """
    return [match.span() for match in _QUOTES.finditer(text)]


class Sentence(NamedTuple):
    """A sentence in its own words, and the same with what is quoted in it masked, of the same length."""

    text: str
    unquoted: str


def spoken_sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a person's own words, white space collapsed."""
    words = " \n".join(" ".join(line.split()) for line in own_words(text).split("\n"))
    masked = words
    for start, end in quotes(words):
        masked = masked[:start] + "·" * (end - start) + masked[end:]
    for start, end in sentences(masked):
        yield Sentence(words[start:end], masked[start:end])


def persons(messages: Sequence[Message]) -> Iterator[tuple[Text | ToolResult, str]]:
    """The blocks in which a person speaks, with their text, in order: messages, and answers that a tool asked for.

    System messages that came later and are real speak for a person too; the leading ones are the agent's standing
    orders, which every strategy keeps.
    """
    asked: set[str] = set()
    leading = True
    for message in messages:
        leading = leading and message.role == "system"
        asked |= {call.id for call in message.calls if asks_person(call)}
        speaks = message.by_person or (message.role == "system" and not message.synthetic and not leading)
        for block in message.blocks:
            if (isinstance(block, Text) and speaks) or (
                isinstance(block, ToolResult) and block.call_id in asked and not block.is_error
            ):
                yield block, block.text


def _without_fences(text: str) -> str:
    parts: list[str] = []
    done = 0
    opened = ""
    for match in _FENCE.finditer(text + "\n"):
        if opened and match[1].startswith(opened):
            done, opened = match.end(), ""
        elif not opened:
            parts.append(text[done : match.start()])
            opened = match[1]
    return "".join(parts) + ("" if opened else text[done:])


def _without_tags(text: str) -> str:
    """Blocks like `<log>…</log>` left out; a tag that is never closed stands for itself."""
    parts: list[str] = []
    done = 0
    open_for_good: set[str] = set()
    for match in _TAG.finditer(text):
        if match.start() < done or match[1] in open_for_good:
            continue
        close = f"</{match[1]}>"
        end = text.find(close, match.end())
        if end < 0:
            open_for_good.add(match[1])
        else:
            parts += (text[done : match.start()], "\n")
            done = end + len(close)
    return "".join((*parts, text[done:]))


def _kept_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are no paste: not marked as a quotation, not of a log, not below a line that announces one."""
    start = 0
    announced = False
    for end in (*(i for i, line in enumerate(lines) if not line.strip()), len(lines)):
        paragraph = lines[start:end]
        logs = sum(_LOG_LINE.match(line) is not None for line in paragraph)
        if paragraph and not announced:
            is_log = 3 * logs >= len(paragraph)
            for line in paragraph:
                if not announced and not _QUOTED_LINE.match(line) and not _LOG_LINE.match(line):
                    announced = _INTRODUCES.search(line) is not None
                    if not is_log or announced:
                        yield line
            announced = _INTRODUCES.search(paragraph[-1]) is not None
        elif paragraph:
            announced = False
        yield ""
        start = end + 1


def _relayed(text: str) -> str:
    """Who is addressed left out, and from a relayed talk what the other one answered."""
    parts = _ADDRESS.split(text)
    return "\n".join(_REPLY.split(part, maxsplit=1)[0] for part in parts) if len(parts) > 1 else text
