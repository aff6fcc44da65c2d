"""A person's messages, carried word for word by code: quoted, read back, and cut where they are too many.

Each message is quoted with `> ` before every line; a blank line parts them. So what was said can be read back exactly
by the next pass, and nothing in it can be taken for a heading of the summary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compactlab.tokens import Meter
from compactlab.transcript import Message, Text

TITLE = "[All user messages, word for word]"
CUT = "[… cut]"
LONG = 400
"""Tokens from which a message is shortened to its ends before any other is dropped."""

_RULE = re.compile(
    r"\b(never|always|don't|do not|must|only|no more than|at most|from now on|rule|nie|immer|niemals|nur)\b",
    re.IGNORECASE,
)
_DROPPED = re.compile(r"\[(\d+) messages? cut\]")


def quoted(words: Sequence[str]) -> str:
    r"""Write messages as one text block.

    >>> quoted(["yes", "two\nlines"])
    '[All user messages, word for word]\n> yes\n\n> two\n> lines'
    """
    return TITLE + "\n" + "\n\n".join("\n".join(f"> {line}" for line in text.split("\n")) for text in words)


def carried_before(message: Message) -> list[str]:
    r"""Read back what `quoted` wrote into a note.

    >>> carried_before(Message("user", (Text(quoted(["yes", "two\n\nparts"])),)))
    ['yes', 'two\n\nparts']
    """
    texts = [
        b.text.removeprefix(TITLE + "\n") for b in message.blocks if isinstance(b, Text) and b.text.startswith(TITLE)
    ]
    quotes = [quote for text in texts for quote in text.split("\n\n") if quote.startswith(">")]
    return ["\n".join(line.removeprefix("> ") for line in quote.split("\n")) for quote in quotes]


def carried(words: Sequence[str], room: int, meter: Meter) -> list[str]:
    """Choose from messages, oldest first, what fits *room* tokens: long ones lose their middle, then the oldest go.

    Messages that hold a standing rule go last. What was cut says so.
    """
    dropped = sum(int(found[1]) for text in words if (found := _DROPPED.fullmatch(text)))
    texts = [text for text in words if not _DROPPED.fullmatch(text)]
    weights = [meter.text(text) + 4 for text in texts]
    if sum(weights) > room:
        texts = [_shortened(text, weight, meter) for text, weight in zip(texts, weights, strict=True)]
        weights = [meter.text(text) + 4 for text in texts]
    order = sorted(range(len(texts)), key=lambda i: (_RULE.search(texts[i]) is not None, i))
    excess = sum(weights) - room
    gone: set[int] = set()
    for i in order:
        if excess <= 0:
            break
        gone.add(i)
        excess -= weights[i]
    kept = [text for i, text in enumerate(texts) if i not in gone]
    dropped += len(gone)
    return [f"[{dropped} message{'' if dropped == 1 else 's'} cut]", *kept] if dropped else kept


def _shortened(text: str, weight: int, meter: Meter) -> str:
    if weight <= LONG or CUT in text:
        return text
    head = meter.truncated(text, LONG * 2 // 3)
    tail = text[len(head) :][-len(head) // 2 :]
    return f"{head} {CUT} {tail}"
