"""`constraint_sidecar`: another strategy compacts; what people ruled out or demanded rides along, word for word.

Follows the baseline of COMPINT as of December 2026, a benchmark of constraints, as far as its name says it: a
sidecar of constraints that is filled from the turns of users alone, beside the compacted history. No text of the
benchmark's own was at hand, so the words that make a sentence a constraint are ours. Nothing that a tool printed or the
agent said can enter, and no model takes part in the sidecar. On the next pass its lines are carried on.

A target is handed on to the base strategy, less what the sidecar weighs.

Leaves out: the benchmark's sessions, probes and other baselines.

Known faults:

- A rule that stands in a file, a policy or a system message of the middle is none: only people's turns are read.
- A rule that a person takes back stays beside the words that took it back.
- English words alone make a sentence a constraint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.history import anchor
from compactlab.peers import Peer
from compactlab.strategies import Compacted, Context, note
from compactlab.transcript import Message, Messages

HEADING = "[Constraints that people stated, word for word]"
_SENTENCE = re.compile(r"[^\n.!?;]+(?:[.!?;](?=\S)[^\n.!?;]*)*[.!?]*")
_WRAPPED = re.compile(r"(?<=[^\s.!?:;])\n(?=[^\W\d])")
"""A line's end inside a sentence."""
_CONSTRAINT = re.compile(
    r"\b(?:never|always|must(?:n't)?|don'?t|do not|may not|cannot|not allowed|forbidden|prohibited|required?|only"
    r"|unless|without|under no|at (?:most|least)|no (?:more|less|fewer|later|earlier)|avoid|make sure|be sure"
    r"|keep in mind|from now on|stop|instead of|no longer)\b",
    re.IGNORECASE,
)

VARIANTS = ("constraint_sidecar(base='summary')",)


@dataclass(frozen=True, repr=False)
class ConstraintSidecar(Peer):
    """Compact by `base`, and put up to `most` constraints of the messages that went behind the anchor."""

    base: str = "sliding_window"
    most: int = 50
    longest_chars: int = 400

    @property
    def uses_model(self) -> bool:  # type: ignore[override]  # true of the object, not of the class
        """True if the base does."""
        return catalog.strategy(self.base).uses_model

    def _check(self, name: str, default: object) -> None:
        if name != "base":
            super()._check(name, default)
        elif not isinstance(self.base, str):
            raise SpecError(f"base is {self.base!r}; expected the spec of a strategy")
        else:
            object.__setattr__(self, "base", repr(catalog.strategy(self.base)))

    def compact(self, messages: Messages, context: Context) -> Compacted:
        before = [message for message in messages if is_sidecar(message)]
        bare = tuple(message for message in messages if not is_sidecar(message))
        carried = [line.removeprefix("- ") for old in before for line in old.text.split("\n")[1:]]
        whole = self._sidecar([*carried, *constraints(bare, self.longest_chars)])
        room = None if context.target is None else max(0, context.target - context.meter.messages(whole))
        done = catalog.strategy(self.base).compact(bare, replace(context, target=room))
        if done.deferred is not None or tuple(done.messages) == bare:
            return done._replace(messages=messages)
        left = {message.source for message in done.messages}
        gone = tuple(message for message in bare if message.source not in left)
        sidecar = self._sidecar([*carried, *constraints(gone, self.longest_chars)])
        at = max(anchor(done.messages), default=-1) + 1
        kept = (*done.messages[:at], *sidecar, *done.messages[at:])
        lines = sidecar[0].text.count("\n") if sidecar else 0
        return done._replace(messages=kept, notes=(*done.notes, f"{lines} constraints ride along"))

    def _sidecar(self, lines: list[str]) -> Messages:
        """The note, the newest lines of too many; none where there is nothing to say."""
        once = list(dict.fromkeys(lines))
        once = once[max(0, len(once) - self.most) :]
        return (note("\n".join((HEADING, *(f"- {line}" for line in once)))),) if once else ()


def constraints(messages: Messages, longest: int = 400) -> list[str]:
    """The sentences of people that demand or rule out something, in order, each up to *longest* characters.

    >>> from compactlab.transcript import Text
    >>> constraints((Message("user", (Text("Move it. Never touch invoices_archive."),)),))
    ['Never touch invoices_archive.']
    """
    return [
        " ".join(sentence[0].split())[:longest]
        for message in messages
        if message.by_person
        for sentence in _SENTENCE.finditer(_WRAPPED.sub(" ", message.text))
        if _CONSTRAINT.search(sentence[0])
    ]


def is_sidecar(message: Message) -> bool:
    """True of the note that an earlier pass left."""
    return message.synthetic and message.text.startswith(HEADING)
