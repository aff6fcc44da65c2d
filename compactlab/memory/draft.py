"""What an entry says of a pass: its rows, its front matter, its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from textwrap import shorten
from typing import Any

from compactlab.memory.digests import Digests, of_list
from compactlab.memory.entry import Rests, Row
from compactlab.memory.losses import calls_lost, fates, reasons
from compactlab.memory.originals import Laid
from compactlab.memory.parts import Kept, Originals, Pass
from compactlab.memory.veil import Veil
from compactlab.receipt import Action


@dataclass(frozen=True)
class Draft:
    """An entry to be: *told* are the digests that the entry before gave the messages which it left."""

    done: Pass
    veil: Veil
    digests: Digests
    originals: Originals
    told: Mapping[str, str]

    @cached_property
    def veiled(self) -> dict[bytes, bytes]:
        """Lines without their secrets: of what a pass took away, and of what has no digest yet."""
        ones = (one for one in (*self.done.before, *self.done.after) if self._is_new(one) or self._is_gone(one))
        return {one.line: self.veil.line(one) for one in ones}

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One for each message, in the order of the list before; what was made stands where it came in."""
        return tuple(self._woven())

    @cached_property
    def laid(self) -> Laid:
        """The originals that are stored with it."""
        lines = {one.id: one.line for one in self.done.before}
        veiled = {name: self.veiled[line] for name, line in lines.items() if line in self.veiled}
        return Laid([row for row in self.rows if row.rests], lines, veiled)

    @cached_property
    def _fates(self) -> dict[str, Action]:
        return fates(self.done)

    @cached_property
    def _reasons(self) -> dict[str, str]:
        return {one: self.veil.text(why) for one, why in reasons(self.done).items()}

    @cached_property
    def _after(self) -> dict[str, tuple[int, Kept]]:
        return {one.id: (i, one) for i, one in enumerate(self.done.after)}

    def _woven(self) -> Iterator[Row]:
        rows = ((one.id, self._of(i, one)) for i, one in enumerate(self.done.before))
        passed: set[str] = set()
        for one in self.done.after:
            if one.id not in self._fates:
                yield self._made(one)
            while one.id in self._fates and one.id not in passed:
                identity, row = next(rows)
                passed.add(identity)
                yield row
        yield from (row for _, row in rows)

    def _of(self, before: int, one: Kept) -> Row:
        fate = self._fates[one.id]
        after, left = self._after.get(one.id, (None, one))
        rests = self._rests(one) if fate != "kept" else ""
        behind = self._digest(left) if fate == "edited" else ""
        why = self._reasons.get(one.id, "")
        return Row(before, after, one.id, one.message.role, fate, rests, self._digest(one), behind, why)

    def _made(self, one: Kept) -> Row:
        after = self._after[one.id][0]
        why = self._reasons.get(one.id, "")
        return Row(None, after, one.id, one.message.role, "made", "", "", self._digest(one), why)

    def _rests(self, one: Kept) -> Rests:
        is_secret = self.veiled[one.line] != one.line
        if self.originals == "local":
            return "local, secret" if is_secret else "local"
        return "git, redacted" if is_secret else "git"

    def _is_gone(self, one: Kept) -> bool:
        return self._fates.get(one.id, "made") in {"dropped", "edited"}

    def _is_new(self, one: Kept) -> bool:
        """Whether no entry gave it a digest: then a digest tells whether it holds a secret."""
        return not self.digests.fits(one.line, self.told.get(one.id, ""))

    def _digest(self, one: Kept) -> str:
        if not self._is_new(one):
            return self.told[one.id]
        return self.digests.of(one.line, is_secret=self.veiled[one.line] != one.line)

    @cached_property
    def head(self) -> dict[str, Any]:
        """Front matter, without the id."""
        done, receipt, rows = self.done, self.done.receipt, self.rows
        before = sorted((row.before, row.digest) for row in rows if row.before is not None)
        after = sorted((row.after, row.digest_after or row.digest) for row in rows if row.after is not None)
        touched = [row.before for row in rows if row.before is not None and row.fate != "kept"]
        return {
            "conversation": done.conversation,
            "agent_type": self.veil.text(done.agent_type),
            "strategy": self.veil.text(done.strategy),
            "time": done.time,
            "previous": done.previous,
            "messages_before": len(done.before),
            "messages_after": len(done.after),
            "tokens_before": receipt.tokens_before,
            "tokens_after": receipt.tokens_after,
            "counter": receipt.counter,
            "target": receipt.target,
            "touched": [min(touched), max(touched)] if touched else [],
            "fates": {fate: sum(row.fate == fate for row in rows) for fate in ("kept", "edited", "dropped", "made")},
            "calls_lost": {self.veil.text(name): n for name, n in sorted(calls_lost(done).items())},
            "model": self.veil.text(receipt.model),
            "model_calls": receipt.model_calls,
            "model_tokens": receipt.model_tokens,
            "fell_back": receipt.fell_back,
            "originals": self.originals,
            "originals_sha256": sha256(self.laid.in_git).hexdigest() if self.laid.in_git else "",
            "secret_lines": sum("redacted" in row.rests or "secret" in row.rests for row in rows),
            "list_before": of_list(digest for _, digest in before),
            "list_after": of_list(digest for _, digest in after),
        }

    @cached_property
    def words(self) -> list[str]:
        """What happened, for people."""
        return [f"# Compaction of {self.done.conversation}, {self.done.time}", "", *self._what(), "", *self._where()]

    def _what(self) -> Iterator[str]:
        head = self.head
        yield f"`{head['strategy']}` made room:"
        yield ""
        yield f"- messages: {head['messages_before']:,} before, {head['messages_after']:,} after"
        yield f"- tokens ({head['counter']}): {head['tokens_before']:,} before, {head['tokens_after']:,} after"
        counted = ", ".join(f"{count:,} {fate}" for fate, count in head["fates"].items() if count)
        span = head["touched"]
        where = f"; what changed stood at {span[0]} to {span[1]}" if span else ""
        yield f"- {counted}{where}"
        if head["calls_lost"]:
            names = ", ".join(f"{name} {count:,}" for name, count in head["calls_lost"].items())
            yield f"- calls that went, or whose results did: {names}"
        if head["model_calls"]:
            yield f"- asked {head['model']}: {head['model_calls']:,} calls, {head['model_tokens']:,} tokens"
        yield from (
            f"- note: {shorten(self.veil.text(note), 200, placeholder=' ...')}" for note in self.done.receipt.notes
        )

    def _where(self) -> Iterator[str]:
        count, secret = sum(bool(row.rests) for row in self.rows), self.head["secret_lines"]
        if not count:
            yield "Nothing left the list, so no originals were stored."
            return
        where = "`journal/originals/{id}.jsonl`" if self.originals == "git" else "`journal/local/` of one machine alone"
        yield f"The originals of {count:,} messages rest, byte for byte, in {where}."
        if secret and self.originals == "git":
            yield f"{secret:,} of them hold a secret: there redacted, whole only in `journal/local/` of one machine."
        yield "`compactlab memory restore {id}` brings the list back as it was."
