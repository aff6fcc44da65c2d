"""The statements of a history in order: what is said again is one, a later word takes an earlier one's place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.statements import cues
from compactlab.statements.decisions import mine_decisions
from compactlab.statements.rules import is_cancel, mine_rules, statement
from compactlab.statements.spoken import persons, spoken_sentences
from compactlab.statements.statement import Statement
from compactlab.statements.tasks import Todo, boxes, mine_requests, todo_list, todo_statement, written_boxes
from compactlab.statements.wording import plain
from compactlab.tools import tool_name
from compactlab.transcript import Block, Message, Text, ToolCall

ALIKE = 0.75
"""Share of common content words from which two demands of three words and more are on the same object."""
REMEMBERED = 1_024
"""Texts whose statements are remembered: each cut of a session reads those of the cuts before it again."""


class Ledger:
    """Collects statements block by block."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Statement] = {}
        self._by_stem: dict[str, dict[tuple[object, ...], None]] = {}
        self._lists: dict[str, list[tuple[object, ...]]] = {}

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that stand at the end, in order of first appearance."""
        return tuple(self._known.values())

    def read(self, messages: Sequence[Message]) -> None:
        """Take in all statements of *messages*."""
        spoken = dict(persons(messages))
        for message in messages:
            for block in message.blocks:
                if block in spoken:
                    self._person(block, spoken[block])
                elif message.role == "assistant" and isinstance(block, Text):
                    decided, todos = _by_agent(block.text)
                    self._take(block, decided)
                    self._list(block, f"boxes of {message.role}", todos)
                elif isinstance(block, ToolCall):
                    self._list(block, tool_name(block.name), todo_list(block))
                    self._list(block, f"boxes of {block.name}", written_boxes(block))

    def _person(self, block: Block, text: str) -> None:
        said = _by_person(text)
        for made in said.withdrawn:
            self._withdraw(block, made)
        for batch in (said.rules, said.decisions, said.requests):
            self._take(block, batch)
        self._list(block, "boxes of user", said.todos)

    def _take(self, block: Block, found: Iterable[Statement]) -> None:
        batch = list(found)
        for made in batch:
            by = [made]
            if made.kind == "decision":
                by += [other for other in batch if other.kind == "rejected" and other.sentence == made.sentence]
            self._put(block, made, [old for one in by for old in self._rivals(one) if _supersedes(one, old)])

    def _withdraw(self, block: Block, made: Statement) -> None:
        """A sentence that takes back or permits: the rules that it names stand no longer."""
        words = set(made.objects)
        gone = [
            old
            for old in self._rivals(made)
            if old.kind == "constraint"
            and len(old.objects) > 1
            and words >= set(old.objects)
            and block not in old.homes
        ]
        if gone:
            self._put(block, made, gone)

    def _rivals(self, made: Statement) -> list[Statement]:
        keys = dict.fromkeys(key for stem in made.objects for key in self._by_stem.get(stem, ()))
        return [self._known[key] for key in keys if key in self._known]

    def _put(self, block: Block, made: Statement, gone: Iterable[Statement] = ()) -> None:
        key = made.identity
        before = self._known.get(key)
        earlier = dict.fromkeys(before.earlier if before else ())
        for old in gone:
            if old.identity != key and old.identity in self._known:
                del self._known[old.identity]
                earlier |= dict.fromkeys((*old.earlier, replace(old, earlier=())))
        earlier = {old: None for old in earlier if old.identity != key}
        homes = (*before.homes, block) if before and block not in before.homes else before.homes if before else (block,)
        self._known[key] = replace(before or made, homes=homes, earlier=tuple(earlier))
        for stem in made.objects:
            self._by_stem.setdefault(stem, {})[key] = None

    def _list(self, block: Block, name: str, items: Sequence[Todo]) -> None:
        """Set the list *name* to *items*: those of before that are in it no longer go, a new state supersedes."""
        made = [todo for todo in map(todo_statement, items) if todo.objects or todo.numbers]
        if not made:
            return
        old = [self._known[key] for key in self._lists.get(name, ()) if key in self._known]
        stay = {todo.identity for todo in made}
        for todo in made:
            changed = [o for o in old if o.objects == todo.objects and o.numbers == todo.numbers]
            self._put(block, todo, changed)
        for gone in old:
            if gone.identity not in stay:
                self._known.pop(gone.identity, None)
        self._lists[name] = [todo.identity for todo in made]


class _Said(NamedTuple):
    """What a person's text holds, before it is known which of it is new."""

    withdrawn: tuple[Statement, ...]
    rules: tuple[Statement, ...]
    decisions: tuple[Statement, ...]
    requests: tuple[Statement, ...]
    todos: tuple[Todo, ...]


@lru_cache(maxsize=REMEMBERED)
def _by_agent(text: str) -> tuple[tuple[Statement, ...], tuple[Todo, ...]]:
    """What the agent decided in a text, and its boxes."""
    return tuple(mine_decisions(text)), tuple(boxes(text))


@lru_cache(maxsize=REMEMBERED)
def _by_person(text: str) -> _Said:
    withdrawn = [
        statement("decision", sentence.text, sentence.text)
        for sentence in spoken_sentences(text)
        if is_cancel(plain(sentence.unquoted)) or cues.PERMITS.search(plain(sentence.text))
    ]
    rules = tuple(mine_rules(text))
    ruled = {rule.sentence for rule in rules}
    requests = tuple(request for request in mine_requests(text) if request.sentence not in ruled)
    return _Said(tuple(withdrawn), rules, tuple(mine_decisions(text, by_person=True)), requests, tuple(boxes(text)))


def _supersedes(made: Statement, old: Statement) -> bool:
    """Tell whether a later statement takes the place of an earlier one: the same object, and something else of it."""
    if made.kind == "rejected":
        return old.kind == "decision" and (old.objects, old.numbers) == (made.objects, made.numbers)
    if made.kind != old.kind or made.kind not in {"constraint", "preference"}:
        return False
    ours, theirs = set(made.objects), set(old.objects)
    same = ours == theirs or (min(len(ours), len(theirs)) >= 3 and len(ours & theirs) >= ALIKE * len(ours | theirs))
    return same and made.identity != old.identity and (made.polarity != old.polarity or made.numbers != old.numbers)
