"""Family `error`: exceptions with the core of their message, failing tests, places in traces, error lines of logs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compactlab.facts.fact import Fact, fact
from compactlab.facts.lines import Look
from compactlab.facts.text import canonical

LONGEST_MESSAGE = 120

_EXCEPTION = re.compile(
    r"(?<![\w.])((?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Warning|Failure|Fault|Interrupt|Timeout))"
    r": ([^\n\ufffc]{3,400})"
)
_FAILED = re.compile(
    r"(?:^|\n)[^\n\w]{0,12}(?:FAILED|ERROR|FAIL:?|--- FAIL:) ([\w./-]{2,200}(?:::\w{1,120}){1,4}"
    r"(?:\[[^\]\n\ufffc]{1,80}\])?(?![\w\[:.])|Test\w{2,80}(?![\w/]))"
)
_LOG_LINE = re.compile(
    r"^[^\n]{0,60}?(?<![\w-])(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)(?![\w-])[\]:\s|-]{1,6}([^\n\ufffc]{8,400})",
    re.MULTILINE,
)
_COMPILER = re.compile(r"(?:^|(?<=[\s:]))(?:fatal )?error(?:\[\w{1,10}\]| [A-Z]{1,4}\d{2,5})?: ([^\n\ufffc]{8,400})")
_PYTHON_FRAME = re.compile(r"File \"([^\"\n\ufffc]{3,300})\", line (\d{1,6})")
_TEST_FRAME = re.compile(
    r"^(?:[^\n\w/.]{0,4}|[\d:TZ.-]{19,32} )([\w./-]{3,200}\.\w{1,4}:\d{1,6}): "
    r"(?:[A-Z]\w{0,60})?(?:Error|Exception|Failure|Warning)\b",
    re.MULTILINE,
)
_EXIT = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: code| status)?|return code|exit_code)[ :=]{1,3}(\d{1,3})(?![\w.])")
_VARYING = re.compile(r"\d|=")
_CLOSING = " \t.,;:-\"'`)]}|"
# Messages that say nothing of their own.
GUESSABLE_MESSAGES: frozenset[str] = frozenset(("none", "null", "error", "failed", "not found", "timeout", "message"))


def _message(text: str, message: str) -> Sequence[Fact]:
    value = core(text)
    vague = message.strip().lower() in GUESSABLE_MESSAGES or message.startswith("assert ")
    good = len(value) >= 12 and not vague and "{" not in value and "..." not in text
    return (fact("error", value),) if good else ()


def core(text: str) -> str:
    """Give the first *text* up to about 120 characters, cut at a blank, without marks at its end.

    >>> core("ValueError: no such meter.  ")
    'ValueError: no such meter'
    """
    text = canonical(text)
    if len(text) > LONGEST_MESSAGE:
        text = text[: LONGEST_MESSAGE + 1].rpartition(" ")[0]
    return text.rstrip(_CLOSING)


def _log_line(match: re.Match[str]) -> Sequence[Fact]:
    """The longest part of the message that does not change from line to line, of three words and more."""
    parts: list[list[str]] = [[]]
    for word in canonical(match[1]).split():
        parts.append([]) if _VARYING.search(word) else parts[-1].append(word)
    longest = max(parts, key=len)
    return _message(" ".join(longest), " ".join(longest)) if len(longest) > 2 else ()


def _exit(match: re.Match[str]) -> Sequence[Fact]:
    if match[1] in {"0", "1"}:
        return ()
    code = match[1]
    ways = (f"{word} {code}" for word in ("exit status", "exit", "return code", "exited with"))
    return (fact("error", f"exit code {code}", canonical(match[0]), *ways, exact=False, needs_anchor=True),)


_KINDS = ("Error:", "Exception:", "Warning:", "Failure:", "Fault:", "Interrupt:", "Timeout:")
# In what agents are told and say; paths and identifiers in them stay for the other families.
ERRORS = (
    Look(_EXCEPTION, lambda match: _message(f"{match[1]}: {match[2]}", match[2]), _KINDS),
    Look(_FAILED, lambda match: (fact("error", canonical(match[1])),), ("FAIL", "ERROR")),
    Look(
        _PYTHON_FRAME,
        lambda match: (fact("error", f"{match[1]}:{match[2]}", f'{match[1]}", line {match[2]}'),),
        ('File "',),
    ),
    Look(_TEST_FRAME, lambda match: (fact("error", match[1]),), ("Error", "Exception", "Failure", "Warning")),
    Look(_COMPILER, lambda match: _message(match[1], match[1]), ("error",)),
    Look(_EXIT, _exit, ("exit", "return code")),
)
# The lines of logs, in results only.
LOGS = (Look(_LOG_LINE, _log_line, ("ERROR", "FATAL", "CRITICAL", "SEVERE", "PANIC")),)
