"""Todos with their states, and what a person asked for.

A todo list is what a call carries a list of items with a state each in, whatever the tool is called, or a list of
Markdown boxes in prose or in a file that is written. A later list of the same tool takes the place of the earlier one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from compactlab.statements.rules import IMPERATIVES, is_cancel, statement
from compactlab.statements.spoken import spoken_sentences
from compactlab.statements.statement import State, Statement
from compactlab.statements.wording import plain
from compactlab.tools import tool_name
from compactlab.transcript import ToolCall, readable

_LISTING = re.compile(r"todo|plan|task|checklist")
_CONTENT = ("content", "step", "title", "task", "subject", "text", "description", "name")
_STATE = ("status", "state", "done", "completed", "checked")
_DONE = frozenset({"done", "completed", "complete", "finished", "checked", "closed", "true"})
_GONE = frozenset({"cancelled", "canceled", "deleted", "removed"})
_BOX = re.compile(
    r"^[ \t]*(?:\w{1,20}: )?(?:[-*+]|\d{1,3}[.)])[ \t]+\[([ xX~-])\][ \t]+(\S[^\n]{2,300})$", re.MULTILINE
)
_NOUNS = frozenset(
    "number order name place state test work limit count let close open answer report cut look do".split()
)
"""Verbs that begin a plain statement too often to ask for anything: `Order 87990 is late`."""
_ASKS = re.compile(
    r"^(?:(?:and|but|so|also|then|ok|okay|well|yes|no|now|right|good|first|second|third|one more thing|please"
    r"|bitte|halm|again"
    r"|separately|while you're at it)\b[,:.]*\s+){0,3}(?:(?:can|could|would|will) you\b|(?:kannst|könntest"
    r"|würdest) du\b|please\b"
    r"|bitte\b|i (?:also |still |only )?(?:want|need) (?:you to|the\b|a\b|an\b|one\b|to know|to understand|to see)"
    r"|i(?:'d| would) like (?:you to|to know|to see|a\b|the\b)|"
    + "|".join(sorted(IMPERATIVES - _NOUNS))
    + r")\b|\bplease[.!]*$|请|請|ください"
)
_ASKS_POLITELY = re.compile(
    r"\b(?:can|could|would|will) you\b|\bplease\b|\b(?:kannst|könntest|würdest) du\b|\bbitte\b|请|請"
)
LEAST_WORDS = 3
"""Content words and numbers that a request must have: `go on, please` asks for nothing that could be forgotten."""


class Todo(NamedTuple):
    """One item of a list, as written, and whether it is open."""

    text: str
    state: State


def mine_requests(text: str) -> tuple[Statement, ...]:
    """What a person's text asks for, a sentence each, verbatim, without homes.

    >>> [s.text for s in mine_requests("Morning! Please write the tests for the parser. Nice weather.")]
    ['Please write the tests for the parser.']
    """
    return _requests(text)


@lru_cache(maxsize=4_096)
def _requests(text: str) -> tuple[Statement, ...]:
    found = []
    for sentence in spoken_sentences(text):
        said = plain(sentence.unquoted)
        is_question = said.endswith(("?", "？")) and not _ASKS_POLITELY.search(said)
        if len(said) < 600 and _ASKS.search(said) and not is_question and not is_cancel(said):
            made = statement("request", sentence.text, sentence.text)
            if len(made.objects) + len(made.numbers) >= LEAST_WORDS:
                found.append(made)
    return tuple(found)


def todo_list(call: ToolCall) -> tuple[Todo, ...]:
    """The items that a call sets a todo list to; empty for a call that sets none.

    >>> todo_list(ToolCall("1", "TodoWrite", '{"todos": [{"content": "Fix the parser", "status": "pending"}]}'))
    (Todo(text='Fix the parser', state='open'),)
    """
    if not _LISTING.search(tool_name(call.name)):
        return ()
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return ()
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    lists = [value for value in values if isinstance(value, list)]
    return tuple(todo for items in lists for item in items if isinstance(item, dict) for todo in _todo(item))


def _todo(item: dict[str, object]) -> Iterator[Todo]:
    text = next((value for key in _CONTENT if isinstance(value := item.get(key), str) and value.strip()), "")
    state = next((str(item[key]).casefold() for key in _STATE if key in item), "")
    if text and state not in _GONE:
        yield Todo(" ".join(text.split()), "done" if state in _DONE else "open")


def boxes(text: str) -> tuple[Todo, ...]:
    r"""The Markdown boxes of a text, ticked or open.

    >>> boxes("- [x] parser\n- [ ] write the docs")
    (Todo(text='parser', state='done'), Todo(text='write the docs', state='open'))
    """
    return tuple(Todo(" ".join(text.split()), "open" if mark == " " else "done") for mark, text in _BOX.findall(text))


def written_boxes(call: ToolCall) -> tuple[Todo, ...]:
    """The Markdown boxes of a file that a call writes."""
    return boxes(readable(call)) if tool_name(call.name) == "write" and "[" in call.arguments else ()


def todo_statement(todo: Todo) -> Statement:
    """Make a statement of an item."""
    made = statement("todo", todo.text, todo.text)
    return Statement("todo", todo.text, todo.text, objects=made.objects, numbers=made.numbers, state=todo.state)
