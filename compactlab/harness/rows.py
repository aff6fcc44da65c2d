"""The rows of a session at one cut, and what a pass left, as a run keeps both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from compactlab.answering import Answer
from compactlab.compaction import Compaction
from compactlab.harness.cuts import Cut
from compactlab.llm import ModelError, Pending
from compactlab.metrics import Score
from compactlab.receipt import Receipt
from compactlab.records import Block, Key, Record
from compactlab.redaction import known_in, redacted, redacted_messages
from compactlab.transcript import Message, Messages, Transcript


class Rows(NamedTuple):
    """Makes blocks of records for one session at one cut; `made_by` says by which sources each label was made."""

    transcript: Transcript
    cut: Cut
    made_by: dict[tuple[str, str], str]

    def block(self, key: Key, scores: Iterable[Score], outcome: str, reason: str = "", **head: Any) -> Block:  # noqa: ANN401  # the fields of Record
        """The outcome first, then a row a score; *head* are further fields of the first row, `draws` of all."""
        row = self._row(key, head.pop("draws", 1))
        records = [row(**score._asdict()) for score in scores]
        made_by = self.made_by[key.strategy, key.size_of]
        first = row("outcome", n=len(records), outcome=outcome, reason=reason, made_by=made_by, **head)
        return Block((first, *records))

    def of_pass(self, key: Key, scores: Iterable[Score], receipt: Receipt) -> Block:
        """The block of a pass: its outcome, by which model, and what was amiss with that."""
        said = receipt.reason or (redacted("; ".join(receipt.notes)) if receipt.model else "")
        return self.block(key, scores, receipt.outcome, said, model=receipt.model, fell_back=receipt.fell_back)

    def of_failure(self, key: Key, receipt: Receipt) -> Block:
        """The block of a pass that failed: its error, told once, and not again for each control of its size."""
        if key.size_of:
            return self.block(key, [], "skipped", "the pass whose size it was to have failed")
        return self.block(key, [], "failed", receipt.reason, model=receipt.model)

    def unanswered(self, key: Key, error: ModelError) -> Block:
        """The block of a case that lacks a reply: it is told of, and not written."""
        budget = f" at {key.budget} %" if key.budget else ""
        again = f", repetition {key.replicate}" if key.replicate else ""
        case = f"{key.session} at {key.cut}, {key.size_of or key.strategy}{budget}{again}"
        block = self.block(key, [], "failed", f"{case}: {error}")
        return msgspec.structs.replace(block, lacks="pending" if isinstance(error, Pending) else "missing")

    def _row(self, key: Key, draws: int) -> Callable[..., Record]:
        transcript = self.transcript

        def row(metric: str, **fields: Any) -> Record:  # noqa: ANN401  # the fields of Record
            return Record(
                session=key.session,
                agent_type=transcript.agent_type,
                cluster=transcript.story,
                cut=key.cut,
                index=self.cut.before,
                strategy=key.strategy,
                metric=metric,
                size_of=key.size_of,
                budget=key.budget,
                replicate=key.replicate,
                draws=draws,
                **fields,
            )

        return row


def told(answers: Iterable[Answer]) -> dict[str, Any]:
    """The answers of a reader as a run keeps them; nothing where there are none."""
    plain = [msgspec.to_builtins(answer) for answer in answers]
    return {"answers": plain} if plain else {}


def left_by(compaction: Compaction, base: Messages) -> dict[str, Any]:
    """What a pass left, to be had again from the base: runs of kept positions, and messages that it edited or made.

    Those are kept without secrets.
    """
    position = {id(message): i for i, message in enumerate(base)}
    known = known_in(base) if any(id(message) not in position for message in compaction.messages) else {}
    entries: list[list[int] | dict[str, Any]] = []
    for message in compaction.messages:
        at = position.get(id(message))
        if at is None:
            entries += map(_plain, redacted_messages([message], known))
        elif entries and isinstance(entries[-1], list) and entries[-1][1] == at - 1:
            entries[-1][1] = at
        else:
            entries.append([at, at])
    receipt: Receipt = compaction.receipt
    return {"outcome": receipt.outcome, "restored": list(receipt.restored), "messages": entries}


def _plain(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(message)
    return plain
