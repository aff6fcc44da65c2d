"""`cull`: old messages that hold nothing but a throwaway word go; everything else stays.

Follows the seed document's Cull and its closed list of twenty words. Where the seed's code loses load-bearing one-word
answers, this one does not: a short reply stays if the message before it asked something (`keep_answers`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from compactlab.errors import SpecError
from compactlab.history import units
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.transcript import Message, Messages, Reasoning, Text

TRIVIAL = frozenset(
    "ok,okay,thanks,ty,got it,sure,yes,no,thx,k,👍,🙏,done,yep,nope,right,cool,great,will do,on it".split(",")
)
_QUESTION_MARKS = ("?", "？", "؟", "¿")


@dataclass(frozen=True, repr=False)
class DropTrivial(Strategy):
    """Drop messages whose every text block is a trivial word, outside the newest `preserve_recent` units.

    Never system or tool messages, nor anything with a call, a result or a picture, nor what is not a word at all. A
    reply to a message that holds a question mark stays unless `keep_answers` is False. A token target plays no part.
    """

    preserve_recent: int = 10
    keep_answers: bool = True

    parameter_aliases: ClassVar[dict[str, str]] = {"min_messages": "preserve_recent"}

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")
        if not isinstance(self.keep_answers, bool):
            raise SpecError(f"keep_answers is {self.keep_answers!r}; expected True or False")

    def compact(self, messages: Messages, context: Context) -> Compacted:  # noqa: ARG002
        groups = [unit for unit in units(messages) if not messages[unit[0]].synthetic]
        recent = {i for unit in groups[max(0, len(groups) - self.preserve_recent) :] for i in unit}
        kept = [m for i, m in enumerate(messages) if i in recent or not self._goes(messages, i)]
        return Compacted(tuple(kept))

    def _goes(self, messages: Messages, position: int) -> bool:
        if not is_trivial(messages[position]):
            return False
        return not (self.keep_answers and _asked(messages, position))


def is_trivial(message: Message) -> bool:
    """True if a person or the agent said nothing but trivial words.

    >>> is_trivial(Message("user", (Text(" Thanks "),))), is_trivial(Message("user", (Text("ok, use port 5433"),)))
    (True, False)
    """
    if message.role not in {"user", "assistant"} or message.synthetic:
        return False
    said = [block for block in message.blocks if not isinstance(block, Reasoning)]
    return bool(said) and all(
        isinstance(block, Text) and block.text.strip().casefold().rstrip(".!") in TRIVIAL for block in said
    )


def _asked(messages: Messages, position: int) -> bool:
    """True if the words before a message, past results and what no one said, hold a question."""
    before = (messages[i] for i in range(position - 1, -1, -1))
    said = next((m.text for m in before if m.role != "tool" and not m.synthetic and m.text.strip()), "")
    return any(mark in said for mark in _QUESTION_MARKS)
