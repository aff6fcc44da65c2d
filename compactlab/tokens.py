"""The one weight function: what a block costs, in tokens of a named counter.

Text, calls (id, name, arguments), results, reasoning and pictures all weigh something; a message adds four tokens.
Opaque reasoning, and a signature without words, weigh a quarter token a byte; a picture its width times height over
750 (Anthropic's published rule), 1,600 tokens if its size is unknown. Special-token strings count as ordinary text.
Meter, marks, cuts, savings and reports all use this function and no other. Vocabularies lie inside the package
`toktok-rs`: no network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from compactlab.errors import UnknownName
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult

MESSAGE_OVERHEAD = 4
UNKNOWN_IMAGE = 1_600
PIXELS_PER_TOKEN = 750
DEFAULT_COUNTER = "o200k_base"
FEW = 64
"""Texts up to which each is counted by itself: starting a batch costs what a hundred short texts do."""
NEAR = 128
"""Characters around the end of the last token that fits, among which a cut is sought by counting."""
_TOKTOK = frozenset({"o200k_base", "cl100k_base", "o200k_harmony"})
_WHOLE = 1 << 62
_SEAM = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])|(?<=\n)(?=[A-Za-z])")
"""Where no token crosses, whatever stands before and after: at a word behind a word or behind a line's end."""

Count = Callable[[Sequence[str]], list[int]]


def counter_names() -> tuple[str, ...]:
    """Names that `counter` knows; `tiktoken:NAME` is any further encoding whose vocabulary tiktoken finds."""
    return ("o200k_base", "cl100k_base", "o200k_harmony", "chars/4", "tiktoken:NAME")


@lru_cache(maxsize=8)
def counter(name: str = DEFAULT_COUNTER) -> Count:
    """Give the function that counts a list of texts by the counter called *name*; `UnknownName` if there is none.

    >>> counter("o200k_base")(["hello world", ""])
    [2, 0]
    >>> counter("chars/4")(["hello world"])
    [3]
    """
    if name == "chars/4":
        return lambda texts: [-(-len(text) // 4) for text in texts]
    if name in _TOKTOK:
        return _by_toktok(name)
    if name.startswith("tiktoken:"):
        return _by_tiktoken(name.removeprefix("tiktoken:"))
    raise UnknownName(f"counter {name!r} is unknown; known are {', '.join(counter_names())}")


def _by_toktok(encoding: str) -> Count:
    import toktok

    def count(texts: Sequence[str]) -> list[int]:
        if len(texts) <= FEW:
            return [toktok.truncate(clean(text), _WHOLE, encoding)[1] for text in texts]
        return list(toktok.batch_count([clean(text) for text in texts], encoding))

    return count


def _by_tiktoken(encoding: str) -> Count:
    import tiktoken

    try:
        vocabulary = tiktoken.get_encoding(encoding)
    except (ValueError, OSError) as error:
        raise UnknownName(f"counter 'tiktoken:{encoding}': tiktoken cannot load it ({error})") from error

    def count(texts: Sequence[str]) -> list[int]:
        return [sum(len(vocabulary.encode_ordinary(part)) for part in _short(clean(text))) for text in texts]

    return count


def _short(text: str, limit: int = 500_000) -> Iterable[str]:
    """Cut a text where tiktoken's pattern engine would overflow on a long run; exact below the limit."""
    return (text[start : start + limit] for start in range(0, len(text), limit))


def truncated(text: str, tokens: int, counter_name: str = DEFAULT_COUNTER) -> str:
    """Cut *text* down to a start that weighs at most *tokens*, as long as bisection finds; itself if it fits.

    >>> truncated("hello wide world", 2)
    'hello wide'
    """
    if tokens <= 0:
        return ""
    if counter_name == "chars/4":
        return text[: 4 * tokens]
    if counter_name in _TOKTOK and clean(text) is text:
        return _cut_by_toktok(text, tokens, counter_name)
    count = counter(counter_name)
    if count([text])[0] <= tokens:
        return text
    return text[: _bisected(len(text), lambda end: count([text[:end]])[0] <= tokens)]


def _bisected(length: int, fits: Callable[[int], bool]) -> int:
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _cut_by_toktok(text: str, tokens: int, encoding: str) -> str:
    """Bisection that counts only near the end of the last token that fits, and from the last seam before it on.

    What ends well before that is known to fit, what ends well behind it not to.
    """
    import toktok

    fitting, total = toktok.truncate(text, tokens, encoding)
    if total <= tokens:
        return text
    first, last = len(fitting) - NEAR, len(fitting) + NEAR
    seam = max((found.start() for found in _SEAM.finditer(text, max(0, first - 2 * NEAR), max(0, first))), default=0)
    count = counter(encoding)
    room = tokens - count([text[:seam]])[0]
    end = _bisected(len(text), lambda at: at < first or (at <= last and count([text[seam:at]])[0] <= room))
    return text[:end] if end >= first else text[: _bisected(len(text), lambda at: count([text[:at]])[0] <= tokens)]


def clean(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes, by U+FFFD; other text comes back as it is."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Meter:
    """Weighs blocks and messages by one counter, each distinct block once; keep one for a whole run.

    >>> meter = Meter("o200k_base")
    >>> meter.message(Message("user", (Text("hello world"),)))
    6
    """

    def __init__(self, counter_name: str = DEFAULT_COUNTER) -> None:
        self.counter_name = counter_name
        self._count = counter(counter_name)
        self._known: dict[Block, int] = {}

    def block(self, block: Block) -> int:
        """Weight of one block in tokens."""
        weight = self._known.get(block)
        if weight is None:
            self._learn([block])
            weight = self._known[block]
        return weight

    def blocks(self, blocks: Iterable[Block]) -> None:
        """Learn the weights of many blocks in one batch."""
        known = self._known
        fresh = dict.fromkeys(block for block in blocks if block not in known)
        if fresh:
            self._learn(list(fresh))

    def message(self, message: Message) -> int:
        """Weight of a message: its blocks and the overhead of each model call that it stands for."""
        return sum(map(self.block, message.blocks)) + MESSAGE_OVERHEAD * _steps(message)

    def messages(self, messages: Iterable[Message]) -> int:
        """Weight of a list of messages; blocks not yet known are counted in one batch."""
        messages = tuple(messages)
        blocks = [block for message in messages for block in message.blocks]
        try:
            total = sum(map(self._known.__getitem__, blocks))
        except KeyError:
            self.blocks(blocks)
            total = sum(map(self._known.__getitem__, blocks))
        return total + MESSAGE_OVERHEAD * sum(map(_steps, messages))

    def by_kind(self, messages: Iterable[Message]) -> dict[str, int]:
        """Weights by kind of block (text, reasoning, call, result, image) and `overhead`; they sum to `messages`."""
        totals = dict.fromkeys(("text", "reasoning", "call", "result", "image", "overhead"), 0)
        messages = tuple(messages)
        self.messages(messages)
        for message in messages:
            totals["overhead"] += MESSAGE_OVERHEAD * _steps(message)
            for block in message.blocks:
                totals[_KINDS[type(block)]] += self.block(block)
        return totals

    def text(self, text: str) -> int:
        """Weight of bare text, not remembered."""
        return self._count([text])[0]

    def truncated(self, text: str, tokens: int) -> str:
        """Cut *text* down to at most *tokens* by this meter's counter."""
        return truncated(text, tokens, self.counter_name)

    def _learn(self, blocks: list[Block]) -> None:
        for block, tokens in zip(blocks, self._count([_countable(block) for block in blocks]), strict=True):
            self._known[block] = tokens + _uncountable(block)


_KINDS: dict[type[Block], str] = {
    Text: "text",
    Reasoning: "reasoning",
    ToolCall: "call",
    ToolResult: "result",
    Image: "image",
}


def _countable(block: Block) -> str:
    if isinstance(block, Text | Reasoning):
        return block.text
    if isinstance(block, ToolCall):
        return f"{block.id} {block.name} {block.arguments}"
    if isinstance(block, ToolResult):
        return f"{block.call_id} {block.text}"
    return ""


def _uncountable(block: Block) -> int:
    if isinstance(block, Image):
        return _pixels(block)
    if isinstance(block, ToolResult):
        return sum(_pixels(part) for part in block.content if isinstance(part, Image))
    if isinstance(block, Reasoning):
        unseen = block.opaque or ("" if block.text else block.signature) or ""
        return -(-len(unseen.encode("utf-8", "replace")) // 4)
    return 0


def _pixels(image: Image) -> int:
    if not image.width or not image.height:
        return UNKNOWN_IMAGE
    return max(1, round(image.width * image.height / PIXELS_PER_TOKEN))


def _steps(message: Message) -> int:
    """How many messages a provider is sent for this one: a whole turn in one message counts as its parts do."""
    if message.role == "tool" or ToolResult not in map(type, message.blocks):
        return 1
    return len(pieces(message))


def pieces(message: Message) -> list[tuple[Block, ...]]:
    """Cut the blocks of a message that holds calls beside their results into what was said and what came back.

    A run of results is a piece, and so is a run of other blocks; most messages are one piece.
    """
    cut: list[list[Block]] = []
    was_result: bool | None = None
    for block in message.blocks:
        is_result = isinstance(block, ToolResult)
        if is_result != was_result:
            cut.append([])
        cut[-1].append(block)
        was_result = is_result
    return [tuple(piece) for piece in cut] or [()]
