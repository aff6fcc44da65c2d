"""What a pass hands to the journal: the lines of the conversation before and after it, each with its identity."""

from __future__ import annotations

from typing import Literal, NamedTuple

from compactlab.receipt import Receipt
from compactlab.transcript import Message

Originals = Literal["git", "local"]
"""Where the originals of a pass rest: in the commits of the memory repository, or beside them, out of git."""


class Kept(NamedTuple):
    """One message of a conversation: its identity, the exact bytes of its line without the newline, and what it says.

    An identity is given once, when a message is appended or made, and stays with it through all passes.
    """

    id: str
    line: bytes
    message: Message


class Pass(NamedTuple):
    """A compaction that is about to be applied to a conversation.

    `before` and `after` are its whole list, in order; a message that a pass edited keeps its identity and has another
    line; messages that were appended while the pass was planned stand at the end of both. The changes of the receipt
    name messages of `before` by `source`, their index there (not by `position`, which counts the turns as they were
    split). `time` is UTC, ISO 8601; `summary` is the text that the pass made, empty if none; `previous` is the id of
    the journal entry before, empty for the first.
    """

    conversation: str
    agent_type: str
    strategy: str
    time: str
    before: tuple[Kept, ...]
    after: tuple[Kept, ...]
    receipt: Receipt
    summary: str
    previous: str
