"""Outcomes of shell commands: did it work, fail, get killed or run out of time; and what a test run came to.

A status is what the harness says of it: the error mark, an exit code in one of the phrases that harnesses put before
or behind the output, a signal. That a search found nothing is no failure. The state of a test run is read from the last
summary line of pytest, unittest, cargo, go, jest, vitest, mocha, ExUnit or TAP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from compactlab.facts.commands import simple_commands
from compactlab.facts.text import canonical
from compactlab.history import pair
from compactlab.tools import shell_command, tool_name
from compactlab.traffic.shell import CONDITIONS, steps
from compactlab.transcript import Message, ToolCall, ToolResult

Status = Literal["ok", "failed", "killed", "timeout"]
State = Literal["passed", "failed"]
BAD: tuple[Status, ...] = ("failed", "killed", "timeout")
_ENDS = 400
"""Characters at either end of a result in which harnesses put their words."""


class Outcome(NamedTuple):
    """A shell call and how it ended; `position` is the message of its result; `tests` the state of a test run in it."""

    command: str
    status: Status
    position: int
    call: ToolCall
    result: ToolResult
    tests: State | None = None


_CODE = re.compile(
    r"(?:^|\n)[\[(<\s]{0,3}(?:(?:the |shell )?(?:command|process|program)\b[^\n]{0,40}?)?"
    r"(?:exit(?:ed)?(?: with)?(?:[ _]?(?:code|status))?|return[ _]?code)[ :=>]{1,3}(-?\d{1,3})\b(?=[\s\].<)},]|$)"
    r"|\"exit_code\": ?(-?\d{1,3})\b",
    re.IGNORECASE,
)
_SCRIPT_CODE = re.compile(
    r"command failed with exit code (\d{1,3})\.?\s*\Z|^exit status (\d{1,3})\s*\Z", re.IGNORECASE | re.MULTILINE
)
_TIMEOUT = re.compile(
    r"(?:^|\n)[\[(<\s]{0,3}(?:error: )?(?:the )?(?:command|process|execution|shell|tool call)\b[^\n]{0,60}"
    r"\btimed[ -]?out\b|\btimed out after \d|<status>timeout|(?:^|\n)[\[(]timeout\b"
    r"|exceeded the (?:time|timeout) limit",
    re.IGNORECASE,
)
_KILLED = re.compile(
    r"(?:^|\n)[^\n]{0,80}?(?:\bKilled\b(?: {2,}[^\n]{0,200})?|\bOut of memory\b[^\n]{0,80}"
    r"|\b(?:received|by|with|got) (?:signal (?:9|15)|SIGKILL|SIGTERM)\b[^\n]{0,40}|Terminated)\s*(?=\n|\Z)"
)
_STOPPED = re.compile(
    r"(?:^|\n)\[?(?:Request|Command|Execution) (?:was )?(?:interrupted|aborted|cancell?ed)", re.IGNORECASE
)
_DECLINED = re.compile(
    r"doesn't want to (?:proceed|take this action)|(?:user|person) (?:declined|rejected|denied)", re.IGNORECASE
)
_ANSWERS = CONDITIONS | frozenset(("pgrep", "pidof", "ag"))


def status_of(call: ToolCall, result: ToolResult) -> Status:
    r"""Give how *call* ended by what its *result* says.

    >>> from compactlab.transcript import Text
    >>> call = ToolCall("1", "bash", '{"command": "make"}')
    >>> [status_of(call, ToolResult("1", (Text(t),))) for t in ("done", "no rule\n\n[exit status 2]", "Killed")]
    ['ok', 'failed', 'killed']
    """
    text = result.text
    ends = text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]}\n\n{text[-_ENDS:]}"
    code = _code(ends, is_error=result.is_error)
    if code == 124 or ((result.is_error or code) and _TIMEOUT.search(ends)) or _TIMEOUT.match(ends):
        return "timeout"
    if code in {137, 143, -9, -15, 9} or ((code != 0 or result.is_error) and _KILLED.search(ends[-_ENDS:])):
        return "killed"
    if result.is_error and _STOPPED.search(ends):
        return "killed"
    if code == 1 and _only_answers(call):
        return "ok"
    return "failed" if result.is_error or (code or 0) != 0 else "ok"


def _code(ends: str, *, is_error: bool) -> int | None:
    """The exit code that a harness tells: the last one behind the output, or the one before it."""
    found: int | None = None
    for match in _CODE.finditer(ends):
        first, last = ends[: match.start()].strip() == "", ends[match.end() :].strip(" \n]>)}.").count("\n") < 5
        if first or last:
            found = int(match[1] or match[2])
    script = _SCRIPT_CODE.search(ends) if found is None and is_error else None
    return int(script[1] or script[2]) if script else found


def _only_answers(call: ToolCall) -> bool:
    """Tell whether exit code 1 of the last command only says that nothing was found, or that things differ."""
    made = steps(shell_command(call))
    words = [word.text for word in made[-1].words] if made else []
    if words[:1] == ["git"]:
        return words[1:2] in (["grep"], ["diff"])
    return bool(words) and words[0].rpartition("/")[2] in _ANSWERS


_TESTS = re.compile(
    r"^[=\s]{0,80}(?P<pytest>(?:\d+ (?:failed|passed|skipped|error(?:s|ed)?|x?failed|xpassed|deselected|warnings?)"
    r"(?:, )?){1,8}) in [\d.]+ ?s"
    r"|^test result: (?P<cargo>ok|FAILED)\.|^(?P<go>ok|FAIL|--- FAIL:)[ \t]+\S+[ \t]+[\d.(]"
    r"|^[ \t]*Tests?:?[ \t]+(?P<jest>(?:\d+ (?:failed|passed|skipped|todo|total)[,| \t]{0,4}){1,5})"
    r"|^(?P<unittest>OK|FAILED)(?: \((?:failures|errors|skipped)=[^)\n]{1,60}\))?[ \t]*$"
    r"|^[ \t]*\d+ (?:doctests?, \d+ )?tests?, (?P<exunit>\d+) failures?"
    r"|^[ \t]*(?P<mocha>\d+) (?P<how>passing|failing)\b|^# (?P<tap>pass|fail) +(?P<count>\d+)",
    re.MULTILINE,
)
_FAILURES = re.compile(r"\b(\d+) (?:failed|errors?|errored)\b")


def state_of_tests(text: str) -> State | None:
    r"""Give the state that the last test summary in *text* tells, or None where it holds none.

    >>> state_of_tests("...\n2 failed, 41 passed in 3.20s\n"), state_of_tests("4 passed in 0.1s"), state_of_tests("ok")
    ('failed', 'passed', None)
    """
    state: State | None = None
    runner = ""
    for match in _TESTS.finditer(text):
        kind = next(name for name, value in match.groupdict().items() if value is not None)
        failed = _fails(kind, match)
        same = kind == runner and kind in {"cargo", "go", "mocha", "tap"}
        state = "failed" if failed or (same and state == "failed") else "passed"
        runner = kind
    return state


def _fails(kind: str, match: re.Match[str]) -> bool:
    if kind in {"pytest", "jest"}:
        counted = _FAILURES.search(match[kind])
        return counted is not None and int(counted[1]) > 0
    if kind == "exunit":
        return int(match["exunit"]) > 0
    if kind == "mocha":
        return match["how"] == "failing" and int(match["mocha"]) > 0
    if kind == "tap":
        return match["tap"] == "fail" and int(match["count"]) > 0
    return match[kind] not in {"ok", "OK"}


_WORDS_BAD = re.compile(
    r"\b(?:[1-9]\d{0,5}|some|several|one|two|three) (?:unit |e2e |integration )?(?:tests? )?(?:still )?"
    r"(?:fail(?:s|ed|ing|ures?)?|errors?)\b"
    r"|\btests? (?:run |suite )?(?:(?:is|are) )?(?:still |now )?"
    r"(?:fail(?:s|ed|ing)?|red)\b",
    re.IGNORECASE,
)
_WORDS_GOOD = re.compile(
    r"\b(?:\d{1,6}|all)(?: \d{1,6})? (?:unit |e2e |integration )?(?:tests? )?(?:now )?pass(?:e[sd]|ing)?\b"
    r"|\b(?:tests?|suite) (?:(?:is|are) )?(?:now )?(?:pass(?:e[sd]|ing)?|green)\b"
    r"|\b(?:0|no) (?:tests? )?fail(?:ed|ures?|ing)\b",
    re.IGNORECASE,
)


_SENTENCE = re.compile(r"\n|(?<=[.;])\s")


def words_on_tests(text: str) -> State | None:
    """Give the state of tests that *text* tells last, in words or in a summary line.

    >>> words_on_tests("2 failed, 185 passed at first. After the fix all tests pass."), words_on_tests("Testing.")
    ('passed', None)
    """
    state: State | None = None
    folded = text.lower()
    for line in _SENTENCE.split(text) if "pass" in folded or "fail" in folded or "test" in folded else ():
        if _WORDS_BAD.search(line):
            state = "failed"
        elif _WORDS_GOOD.search(line):
            state = "passed"
    return state


_RUNNERS = re.compile(
    r"(?<![\w./-])(?:pytest|py\.test|unittest|tox|nox|cargo (?:\+\S+ )?(?:test|nextest)|go test|mix test|jest|vitest"
    r"|mocha|ctest|rspec|phpunit|(?:npm|pnpm|yarn|bun|deno)(?: run)? (?:-\S+ )*test"
    r"|(?:make|just|gradle|\./gradlew|mvn) \S*test)"
)


def outcomes(messages: Sequence[Message]) -> tuple[Outcome, ...]:
    """Give every answered shell call of *messages* with its status, in the order of the results.

    A test run whose summary counts failures has failed, even where a pipe hid its exit code. A call that a person
    declined never ran and is left out.
    """
    return tuple(_outcomes(messages))


def _outcomes(messages: Sequence[Message]) -> Iterator[Outcome]:
    for at, place in sorted(pair(messages).call_of.items()):
        call, result = messages[place.message].blocks[place.block], messages[at.message].blocks[at.block]
        if not isinstance(call, ToolCall) or not isinstance(result, ToolResult):
            continue
        command = shell_command(call) if tool_name(call.name) == "bash" else ""
        if not command or messages[at.message].synthetic or _DECLINED.search(result.text[:_ENDS]):
            continue
        status, state = status_of(call, result), _state(command, result.text)
        shown: Status = "failed" if status == "ok" and state == "failed" else status
        yield Outcome(command, shown, at.message, call, result, state)


def _state(command: str, text: str) -> State | None:
    return state_of_tests(text) if _RUNNERS.search(command) or "make" in command else None


def names_of(command: str) -> tuple[str, ...]:
    """Give what a text may call a command: its simple commands in full, and the first words of the last of them.

    >>> names_of("cd web && npm run build 2>&1 | tail -5")
    ('npm run build',)
    """
    whole = [canonical(_REDIRECTION.sub("", text)) for text, piped in simple_commands(command) if not piped]
    named: list[str] = []
    for simple in whole:
        words = [word for word in _QUOTED.sub("", simple).split() if not _NO_NAME.match(word)]
        if len(words) > 1 and words[0] not in _SILENT:
            named += [simple] if 6 <= len(simple) <= 120 else []
            named.append(" ".join(words[:3]))
    return tuple(dict.fromkeys(name for name in named if 6 <= len(name) <= 120))


_QUOTED = re.compile(r"[\"'`].*+", re.DOTALL)
_REDIRECTION = re.compile(r"\s(?:\d|&)?>{1,2}&?\s?\S{1,200}")
_NO_NAME = re.compile(r"-|\w+=|\d*[<>]|[({})!|\\]")
_SILENT: frozenset[str] = frozenset(
    "cd ls echo printf cat head tail sed awk for do done if then fi export source set sleep mkdir rm cp mv".split()
)
