"""A person's messages, carried word for word by code: quoted, read back, and cut where they are too many.

Each message is quoted with `> ` before every line; a blank line parts them. So what was said can be read back exactly
by the next pass, and nothing in it can be taken for a heading of the summary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compactlab.markers import CARRIED, CUT, messages_cut
from compactlab.tokens import Meter
from compactlab.tools import asks_person
from compactlab.transcript import Message, Text

LONG = 400
"""Tokens from which a message is shortened to its ends before any other is dropped."""

_RULE = re.compile(
    r"\b(?:never|always|don't|do not|not|must|only|no|without|avoid|stop|keep|use|leave|at most|at least|under|rule|"
    r"from now on|nie|immer|niemals|nur|kein\w*|nicht|nunca|siempre|jamais|toujours|sempre)\b|不要|必须|禁止|しない",
    re.IGNORECASE,
)
RULE_LENGTH = 60
"""Tokens up to which a message with such a word counts as a standing rule: rules are short, stories are not."""
RESERVED = 20
"""Tokens for the heading and the line that says how many messages were cut."""

_DROPPED = re.compile(r"\[(\d+) messages? cut\]")


def spoken(messages: Sequence[Message]) -> list[str]:
    """A person's words among *messages*, in order: what they wrote, what they answered when a tool asked them, and
    what an earlier note carried of both.
    """
    asked = {call.id for message in messages for call in message.calls if asks_person(call)}
    words: list[str] = []
    for message in messages:
        words += carried_before(message) if message.synthetic else []
        words += [message.text] if message.by_person else []
        words += [result.text for result in message.results if result.call_id in asked and not result.is_error]
    return [text for text in words if text.strip()]


def quoted(words: Sequence[str]) -> str:
    r"""Write messages as one text block.

    >>> quoted(["yes", "two\nlines"])
    '[All user messages, word for word]\n> yes\n\n> two\n> lines'
    """
    return CARRIED + "\n" + "\n\n".join(_quote(text) for text in words)


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def carried_before(message: Message) -> list[str]:
    r"""Read back what `quoted` wrote into a note.

    >>> carried_before(Message("user", (Text(quoted(["yes", "two\n\nparts"])),)))
    ['yes', 'two\n\nparts']
    """
    texts = [
        b.text.removeprefix(CARRIED + "\n")
        for b in message.blocks
        if isinstance(b, Text) and b.text.startswith(CARRIED)
    ]
    quotes = [quote for text in texts for quote in text.split("\n\n") if quote.startswith(">")]
    return ["\n".join(line.removeprefix("> ") for line in quote.split("\n")) for quote in quotes]


def carried(words: Sequence[str], room: int, meter: Meter) -> list[str]:
    """Choose from messages, oldest first, what fits *room* tokens: long ones lose their middle, then whole ones go.

    Long messages go before short ones, old before new; short ones that read like a standing rule go last. What was cut
    says so.
    """
    dropped = sum(int(found[1]) for text in words if (found := _DROPPED.fullmatch(text)))
    texts = [text for text in words if not _DROPPED.fullmatch(text)]
    weights = _weights(texts, meter)
    if sum(weights) + RESERVED > room:
        texts = [_shortened(text, weight, meter) for text, weight in zip(texts, weights, strict=True)]
        weights = _weights(texts, meter)
    order = sorted(range(len(texts)), key=lambda i: (_standing(texts[i], weights[i]), weights[i] < RULE_LENGTH, i))
    excess = sum(weights) + RESERVED - room
    gone: set[int] = set()
    for i in order:
        if excess <= 0:
            break
        gone.add(i)
        excess -= weights[i]
    kept = [text for i, text in enumerate(texts) if i not in gone]
    dropped += len(gone)
    return [messages_cut(dropped), *kept] if dropped else kept


def _shortened(text: str, weight: int, meter: Meter) -> str:
    """A long message without its middle; one of many short lines is cut harder, since each line is quoted."""
    if weight <= LONG or CUT in text:
        return text
    share = LONG
    while share > 16:
        head = meter.truncated(text, share * 2 // 3)
        cut = f"{head} {CUT} {text[len(head) :][-len(head) // 2 :]}"
        if meter.text(_quote(cut)) <= LONG:
            return cut
        share //= 2
    return f"{meter.truncated(text, 16)} {CUT}"


def _weights(texts: Sequence[str], meter: Meter) -> list[int]:
    """What each message costs as it is quoted, with its line breaks."""
    return [meter.text(_quote(text)) + 2 for text in texts]


def _standing(text: str, weight: int) -> bool:
    return weight < RULE_LENGTH and _RULE.search(text) is not None
