"""A person's messages, carried word for word by code: quoted, read back, and cut where they are too many.

Each message is quoted with `> ` before every line; a blank line parts them. So what was said can be read back exactly
by the next pass, and nothing in it can be taken for a heading of the summary. Standing rules and prohibitions stand in
a block of their own too: they hold on, whatever was said around them. Of a long message that must go its rules stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compactlab.markers import CARRIED, CUT, RULES, messages_cut
from compactlab.tokens import Meter
from compactlab.tools import asks_person
from compactlab.transcript import Block, Message, Text

LONG = 400
"""Tokens from which a message is shortened to its ends before any other is dropped."""

_RULE = re.compile(
    r"\b(?:never|always|don't|do not|not|must|only|no|without|avoid|stop|keep|use|leave|at most|at least|under|rule|"
    r"from now on|nie|immer|niemals|nur|kein\w*|nicht|nunca|siempre|jamais|toujours|sempre)\b|不要|必须|禁止|しない",
    re.IGNORECASE,
)
RULE_LENGTH = 60
"""Tokens up to which a message with such a word counts as a standing rule: rules are short, stories are not."""
_STANDING = re.compile(
    r"\b(?:never|always|from now on|at all times|under no circumstances|must(?: not|n't)?|no exceptions|nie|niemals"
    r"|immer|ab jetzt|nunca|siempre|jamais|toujours|sempre|mai)\b|(?:^|[.!;:] |\bplease )(?:do not|don't)\b"
    r"|不要|必须|禁止|绝不|しない|절대",
    re.IGNORECASE,
)
"""What makes a short sentence a standing rule wherever it stands; a narrower list than the one that decides on cuts."""
_SENTENCE = re.compile(r"[^\n.!?。！？]+(?:[.!?](?=\S)[^\n.!?。！？]*)*[.!?。！？]*")
MOST_RULES = 8
"""Sentences of one message that are kept as rules where the message itself must go."""
RESERVED = 20
"""Tokens for the heading and the line that says how many messages were cut."""

LONGEST_RULE = 280
"""Characters of the longest message, or sentence, that is a rule."""

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


def rules_among(words: Sequence[str], room: int, meter: Meter) -> str:
    r"""Write the standing rules among a person's messages as one text, sentence by sentence: the newest that fit.

    >>> rules_among(["Move it. Never touch prod.", "yes"], 100, Meter())
    '[Standing rules and prohibitions, word for word]\n- Never touch prod.'
    """
    found = dict.fromkeys(rule for text in words if CUT not in text for rule in _rules(text))
    kept: list[str] = []
    room -= RESERVED
    for rule in reversed(found):
        room -= meter.text(f"- {rule}\n")
        if room < 0:
            break
        kept.append(f"- {rule}")
    return "\n".join((RULES, *reversed(kept))) if kept else ""


def is_rule(text: str) -> bool:
    """Tell whether a sentence is a standing rule or prohibition: short, no question, and it says so.

    >>> is_rule("Never touch prod."), is_rule("I never saw that, did you?"), is_rule("keep it")
    (True, False, False)
    """
    return len(text) <= LONGEST_RULE and not text.rstrip().endswith("?") and _STANDING.search(text) is not None


def is_carried(block: Block) -> bool:
    """True of a block of an earlier note that code wrote: a person's messages, or the rules among them."""
    return isinstance(block, Text) and block.text.startswith((CARRIED + "\n", RULES + "\n"))


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def carried_before(message: Message) -> list[str]:
    r"""Read back what `quoted` wrote into a note.

    >>> carried_before(Message("user", (Text(quoted(["yes", "two\n\nparts"])),)))
    ['yes', 'two\n\nparts']
    """
    texts = [
        block.text.removeprefix(CARRIED + "\n")
        for block in message.blocks
        if isinstance(block, Text) and block.text.startswith(CARRIED)
    ]
    quotes = [quote for text in texts for quote in text.split("\n\n") if quote.startswith(">")]
    return ["\n".join(line.removeprefix("> ") for line in quote.split("\n")) for quote in quotes]


def carried(words: Sequence[str], room: int, meter: Meter) -> list[str]:
    """Choose from messages, oldest first, what fits *room* tokens: long ones lose their middle, then whole ones go.

    Long messages go before short ones, old before new; short ones that read like a standing rule go last, and what a
    long one says in a sentence of that kind stays where the rest goes. What was cut says so.
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
    while order and excess > 0:
        i = order.pop(0)
        excess -= weights[i]
        rules = _rules_of(texts[i])
        if rules and i not in gone and (weight := _weights([rules], meter)[0]) < weights[i]:
            texts[i], weights[i] = rules, weight
            excess += weight
            order.append(i)
        else:
            gone.add(i)
    kept = [text for i, text in enumerate(texts) if i not in gone]
    dropped += len(gone)
    return [messages_cut(dropped), *kept] if dropped else kept


def _rules_of(text: str) -> str:
    """The standing rules of a longer message, each a sentence, with marks of what was cut around them; or nothing."""
    rules = _rules(text)
    return f"{CUT} {f' {CUT} '.join(rules)} {CUT}" if rules and rules != [text.strip()] else ""


def _rules(text: str) -> list[str]:
    sentences = (sentence[0].strip() for sentence in _SENTENCE.finditer(text)) if _STANDING.search(text) else ()
    return [sentence for sentence in sentences if is_rule(sentence)][:MOST_RULES]


def _shortened(text: str, weight: int, meter: Meter) -> str:
    """A long message without its middle; one of many short lines is cut harder, since each line is quoted."""
    if weight <= LONG or CUT in text:
        return text
    share = LONG
    while share > 16:
        head = meter.truncated(text, share * 2 // 3)
        tail = text[len(head) :][-len(head) // 2 :]
        rules = _rules_of(text[len(head) : -len(tail)]) or CUT
        for middle in (rules, CUT):
            cut = f"{head} {middle} {tail}"
            if meter.text(_quote(cut)) <= LONG:
                return cut
        share //= 2
    return f"{meter.truncated(text, 16)} {CUT}"


def _weights(texts: Sequence[str], meter: Meter) -> list[int]:
    """What each message costs as it is quoted, with its line breaks."""
    return [meter.text(_quote(text)) + 2 for text in texts]


def _standing(text: str, weight: int) -> bool:
    return weight < RULE_LENGTH and _RULE.search(text) is not None
