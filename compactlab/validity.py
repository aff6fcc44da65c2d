"""Which message lists a provider accepts, checked without a provider.

Three rule sets, each from what the vendors document or answer with status 400:

- `openai`: OpenAI's Chat Completions. Every call of an assistant message is answered by the tool messages directly
  after it, once; tool messages stand nowhere else. Reasoning does not travel.
- `anthropic`: Anthropic's Messages. Neighbours of one side are one turn on the wire, results travel in the user turn
  and stand before its words, calls stand at the end of theirs; system text is no message; no text block is blank.
- `strict`: `openai`, and what chat templates of open models add (Mistral's, Qwen's): people and agent take turns, and
  a system message stands only at the start. A step of calls and results belongs to the answer that follows it.

Lists are judged in split form (`history.split_turns`), which moves results into tool messages of their own: both
storage shapes get the same verdict. Positions are those of the list as given. Blank text inside a result is no fault:
a result may be empty on every wire.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from compactlab.errors import UnknownName
from compactlab.history import split_turns
from compactlab.plainness import SENDABLE_ID, is_plain
from compactlab.remembered import remembered
from compactlab.transcript import Block, Image, Message, Messages, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

RuleSet = Literal["openai", "anthropic", "strict"]
UNSENT: frozenset[type[Block]] = frozenset({Reasoning})
"""Blocks that say nothing by themselves."""
RESULTS: frozenset[type[Block]] = frozenset({ToolResult})


class Violation(NamedTuple):
    """A broken rule, the position of the message that breaks it, and what stands there."""

    rule: str
    position: int
    detail: str


def violations(messages: Sequence[Message], rules: RuleSet) -> tuple[Violation, ...]:
    """List what *messages* break of the rule set *rules*, ordered by position; linear in the number of blocks.

    Calls of the last assistant message that nothing answers yet are `open_call`, all other ones `unanswered_call`.

    >>> asked = Message("user", (Text("What is in it?"),))
    >>> called = Message("assistant", (ToolCall("c1", "read", "{}"),))
    >>> [v.rule for v in violations([asked, called], "openai")]
    ['open_call']
    >>> violations([asked, called, asked, called], "anthropic")[0]
    Violation(rule='unanswered_call', position=1, detail="call 'c1'")
    """
    if rules not in _REMEMBERED:
        raise UnknownName(f"rule set {rules!r} is unknown; known are {', '.join(_REMEMBERED)}")
    return _REMEMBERED[rules](messages)


def _violations(check: Callable[[Sequence[Message]], Iterator[Violation]], messages: Messages) -> tuple[Violation, ...]:
    split, origins = split_turns(messages)
    found = [v._replace(position=origins[v.position]) for v in check(split)]
    if all(message.role == "system" for message in messages):
        found.append(Violation("no_messages", 0, "nothing but system messages" if messages else "an empty list"))
    return tuple(sorted(found, key=lambda v: v.position))


def broken(messages: Sequence[Message], rule_sets: Iterable[RuleSet] = ("openai", "anthropic")) -> frozenset[str]:
    """Name the rules that *messages* break, each with its rule set.

    >>> sorted(broken([Message("assistant", (Text("Hello"),))]))
    ['anthropic:first_not_user']
    """
    wanted = tuple(rule_sets)
    if "strict" not in wanted and is_plain(messages):
        return frozenset()
    return frozenset(f"{rules}:{v.rule}" for rules in wanted for v in violations(messages, rules))


@dataclass(slots=True)
class _Step:
    """Positions of the messages with an agent's calls, and of those that its provider reads as the answer to them."""

    said: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)


def _openai(messages: Sequence[Message]) -> Iterator[Violation]:
    yield from _unpaired(messages, _steps(messages))
    for position, message in enumerate(messages):
        kinds = set(map(type, message.blocks))
        yield from _misplaced(message, position, kinds)
        if kinds <= UNSENT:
            yield Violation("empty_message", position, f"a message of role {message.role} without content")


def _steps(messages: Sequence[Message]) -> list[_Step]:
    """Part messages where one is not of role tool; of the parts without a call or an answer there is nothing to say."""
    steps: list[_Step] = []
    said: list[int] = []
    is_open = False
    for position, message in enumerate(messages):
        is_answer = message.role == "tool"
        if not is_answer:
            said, is_open = [position], False
        if (is_answer or ToolCall in map(type, message.blocks)) and not is_open:
            steps.append(_Step(said))
            is_open = True
        if is_answer:
            steps[-1].answers.append(position)
    return steps


def _anthropic(messages: Sequence[Message]) -> Iterator[Violation]:
    steps = _turns(messages)
    yield from _unpaired(messages, steps)
    for step in steps:
        yield from _late_results(messages, step)
        yield from _after_calls(messages, step)
    for position, message in enumerate(messages):
        kinds = set(map(type, message.blocks))
        yield from _misplaced(message, position, kinds)
        is_last_word = message.role == "assistant" and position == len(messages) - 1
        if kinds <= UNSENT and not is_last_word and not any(map(_travels, message.blocks)):
            yield Violation("empty_message", position, f"a message of role {message.role} without content")
        yield from _unsendable(message, position)
    yield from _late_system(messages)
    first = next((i for i, message in enumerate(messages) if message.role != "system"), None)
    if first is not None and messages[first].role == "assistant":
        yield Violation("first_not_user", first, "the first message is the agent's")


def _strict(messages: Sequence[Message]) -> Iterator[Violation]:
    yield from _openai(messages)
    yield from _late_system(messages)
    expected = "user"
    for position, message in enumerate(messages):
        if message.role == "user" or (message.role == "assistant" and not message.calls):
            if message.role != expected:
                yield Violation("not_alternating", position, f"role {message.role} where {expected} is due")
            expected = "assistant" if message.role == "user" else "user"


_REMEMBERED: dict[str, Callable[[Sequence[Message]], tuple[Violation, ...]]] = {
    rules: remembered(partial(_violations, check))
    for rules, check in (("openai", _openai), ("anthropic", _anthropic), ("strict", _strict))
}


def _turns(messages: Sequence[Message]) -> list[_Step]:
    """Join neighbours as the wire does: the agent's run of messages, then all up to its next one; system is outside."""
    steps: list[_Step] = []
    for position, message in enumerate(messages):
        if message.role == "system":
            continue
        if not steps or (message.role == "assistant" and steps[-1].answers):
            steps.append(_Step())
        (steps[-1].said if message.role == "assistant" else steps[-1].answers).append(position)
    return steps


def _unpaired(messages: Sequence[Message], steps: list[_Step]) -> Iterator[Violation]:
    """Compare calls and results of each step by id: as many results of an id as calls of it."""
    last = next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant"), -1)
    late = {result.call_id for message in messages[last + 1 :] for result in message.results}
    for step in steps:
        calls = [
            (p, block.id)
            for p in step.said
            if messages[p].role == "assistant"
            for block in messages[p].blocks
            if isinstance(block, ToolCall)
        ]
        results = [
            (p, block.call_id) for p in step.answers for block in messages[p].blocks if isinstance(block, ToolResult)
        ]
        if (not calls and not results) or _answered(calls, results):
            continue
        asked, given = Counter(i for _, i in calls), Counter(i for _, i in results)
        yield from _surplus(calls, results, asked)
        seen: Counter[str] = Counter()
        for position, call_id in calls:
            seen[call_id] += 1
            if seen[call_id] > given[call_id]:
                still_open = position == last and call_id not in late
                yield Violation("open_call" if still_open else "unanswered_call", position, f"call {call_id!r}")


def _answered(calls: list[tuple[int, str]], results: list[tuple[int, str]]) -> bool:
    """True of the common case: no id twice, and one result of each."""
    asked = {call_id for _, call_id in calls}
    return len(asked) == len(calls) == len(results) and asked == {call_id for _, call_id in results}


def _surplus(calls: list[tuple[int, str]], results: list[tuple[int, str]], asked: Counter[str]) -> Iterator[Violation]:
    named: set[str] = set()
    for position, call_id in calls:
        if call_id in named:
            yield Violation("doubled_call_id", position, f"call {call_id!r}")
        named.add(call_id)
    left = Counter(asked)
    for position, call_id in results:
        if not asked[call_id]:
            yield Violation("orphan_result", position, f"result of {call_id!r}")
        elif not left[call_id]:
            yield Violation("doubled_result", position, f"result of {call_id!r}")
        left[call_id] -= left[call_id] > 0


def _late_results(messages: Sequence[Message], step: _Step) -> Iterator[Violation]:
    said = False
    for position in step.answers:
        for block in messages[position].blocks:
            if isinstance(block, ToolResult) and said:
                yield Violation("late_result", position, f"result of {block.call_id!r} after words of its turn")
            said = said or isinstance(block, Text | Image)


def _after_calls(messages: Sequence[Message], step: _Step) -> Iterator[Violation]:
    sent = [(p, block) for p in step.said for block in messages[p].blocks if _travels(block)]
    if sent and isinstance(sent[-1][1], Reasoning):
        yield Violation("reasoning_last", sent[-1][0], "nothing follows the reasoning of a turn")
    called = False
    for position, block in sent:
        if called and isinstance(block, Text):
            yield Violation("words_after_call", position, "text after a call in one turn")
        called = called or isinstance(block, ToolCall)


def _travels(block: Block) -> bool:
    """True if Anthropic is sent the block: reasoning is, where it is signed or opaque."""
    return not isinstance(block, Reasoning) or block.signature is not None or block.opaque is not None


def _unsendable(message: Message, position: int) -> Iterator[Violation]:
    for block in message.blocks:
        if isinstance(block, Text):
            if not block.text or block.text.isspace():
                yield Violation("empty_text", position, "a text block without words")
            continue
        named = block.id if isinstance(block, ToolCall) else block.call_id if isinstance(block, ToolResult) else "-"
        if not SENDABLE_ID.fullmatch(named):
            yield Violation("malformed_id", position, f"id {named!r}; letters, digits, - and _ are allowed")


def _late_system(messages: Sequence[Message]) -> Iterator[Violation]:
    leading = True
    for position, message in enumerate(messages):
        leading = leading and message.role == "system"
        if message.role == "system" and not leading:
            yield Violation("late_system", position, "a system message after the start")


def _misplaced(message: Message, position: int, kinds: set[type[Block]]) -> Iterator[Violation]:
    if message.role == "assistant" or (kinds <= RESULTS if message.role == "tool" else ToolCall not in kinds):
        return
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield Violation("misplaced_block", position, f"a call in a message of role {message.role}")
        elif message.role == "tool" and not isinstance(block, ToolResult):
            yield Violation("misplaced_block", position, f"{type(block).__name__} in a message of role tool")
