"""A cap on what a run may spend, held over all its processes by a small file to which each call is appended.

A call is held in the file with the most that it may need before it is sent, and ends with what the provider says that
it took. So calls that run at the same time cannot pass the cap together, but for what the provider counts beyond our
own count of the request. A call whose end was never written, since its process was killed, counts in full; a try that
timed out or broke off counts with what it sent, since it may be billed.
"""

from __future__ import annotations

import atexit
import math
import os
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, NamedTuple

import msgspec

from compactlab.errors import SpecError
from compactlab.llm import ModelError, NotAsked
from compactlab.llm.locks import locked
from compactlab.llm.prices import Given, price_of, prices


class Spent(NamedTuple):
    """What the calls that ended took; `money` is None where the price of one of them is not known."""

    calls: int
    tokens: int
    money: float | None


class Use(NamedTuple):
    """Tokens of one call: read, out of the provider's cache among them, written."""

    read: int
    cached: int
    written: int


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of the file; the last line of a call counts."""

    call: str
    state: Literal["held", "done", "failed"]
    model: str
    tokens: int
    money: float | None = None


def _own_file() -> Path:
    path = Path(tempfile.gettempdir()) / f"compactlab-spending-{uuid.uuid4().hex}.jsonl"
    atexit.register(_remove, path, os.getpid())
    return path


def _remove(path: Path, process: int) -> None:
    if os.getpid() == process:
        path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Cap:
    """At most so many tokens, and so much money, for all calls that are written into the file *path*.

    None is no limit; then the file only counts. Without a path the sum is that of the objects made of this one by
    copying or pickling, and goes with the process. Money is in *currency*; a model without a price in it cannot be
    asked under a limit of money. `prices` win over the table of prices.
    """

    tokens: int | None = None
    money: float | None = None
    path: str | Path = field(default_factory=_own_file)
    prices: Given = field(default_factory=dict)
    currency: str = "USD"

    def __post_init__(self) -> None:
        for name in ("tokens", "money"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise SpecError(f"cap: {name} is {value!r}; expected a number of 0 or more")
        prices(self.prices)

    def spent(self) -> Spent:
        """Calls that ended with a reply, and the tokens and money of all that ended."""
        with self._file() as file:
            entries = [entry for entry in _entries(file.read()) if entry.state != "held"]
        calls = sum(entry.state == "done" for entry in entries)
        return Spent(calls, sum(entry.tokens for entry in entries), _sum(entries))

    def hold(self, model: str, most: Use) -> str:
        """Keep room for a call that takes *most*, and give its id; `NotAsked` where there is no room."""
        held = Entry(uuid.uuid4().hex[:16], "held", model, most.read + most.written, self.worth(model, most))
        with self._file() as file:
            self._room(held, _entries(file.read()))
            _append(file, held)
        return held.call

    def end(self, call: str, model: str, use: Use, *, replied: bool) -> None:
        """Write what a call took in the end."""
        state: Literal["done", "failed"] = "done" if replied else "failed"
        with self._file() as file:
            _append(file, Entry(call, state, model, use.read + use.written, self.worth(model, use)))

    def worth(self, model: str, use: Use) -> float | None:
        """What the tokens of a call cost; None where the price is not known in this cap's currency."""
        if not any(use):
            return 0.0
        price = price_of(model, prices(self.prices))
        return price.of(*use) if price is not None and price.currency == self.currency else None

    def _room(self, held: Entry, entries: list[Entry]) -> None:
        """Raise `NotAsked` where a call does not fit in what the others leave."""
        taken = sum(entry.tokens for entry in entries)
        if self.tokens is not None and taken + held.tokens > self.tokens:
            raise NotAsked(
                f"{held.model}: not asked, since the cap of {self.tokens:,} tokens would be passed:"
                f" {taken:,} are spent or held, this call may need {held.tokens:,}"
            )
        if self.money is None:
            return
        paid, more = _sum(entries), held.money
        if paid is None or more is None:
            whose = held.model if more is None else "an earlier call"
            raise NotAsked(
                f"{held.model}: not asked, since there is a cap of {self.money:g} {self.currency}"
                f" and no price in {self.currency} is known for {whose}"
            )
        if paid + more > self.money:
            raise NotAsked(
                f"{held.model}: not asked, since the cap of {self.money:g} {self.currency} would be passed:"
                f" {paid:.4f} are spent or held, this call may need {more:.4f}"
            )

    @contextmanager
    def _file(self) -> Iterator[IO[bytes]]:
        """The file from its beginning, for this process and thread alone."""
        try:
            with locked(Path(self.path)) as file:
                file.seek(0)
                yield file
        except OSError as error:
            raise ModelError(f"{self.path}: cannot be used to count what is spent ({error.strerror})") from error


class Tally:
    """What stands in the file *path* of a cap, added up from look to look: each reads only what came since the last."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._end = 0
        self._spent = Spent(0, 0, 0.0)

    def spent(self) -> Spent:
        """What `Cap.spent` says of the same file, money but for its last digits; nothing where there is no file yet."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._end)
                fresh = file.read()
        except FileNotFoundError:
            return self._spent
        whole = fresh[: fresh.rfind(b"\n") + 1]  # a line that is being written is read the next time
        self._end += len(whole)
        for entry in _lines(whole):
            if entry.state != "held":
                self._add(entry)
        return self._spent

    def _add(self, entry: Entry) -> None:
        calls, tokens, money = self._spent
        money = None if money is None or entry.money is None else money + entry.money
        self._spent = Spent(calls + (entry.state == "done"), tokens + entry.tokens, money)


def _entries(content: bytes) -> list[Entry]:
    """The last word of each call."""
    return list({entry.call: entry for entry in _lines(content)}.values())


def _lines(content: bytes) -> Iterator[Entry]:
    """The lines of a file; one that a killed process left unfinished says nothing."""
    for line in content.splitlines():
        try:
            yield msgspec.json.decode(line, type=Entry)
        except msgspec.DecodeError:
            continue


def _append(file: IO[bytes], entry: Entry) -> None:
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 1))
    start = b"\n" if end and file.read(1) != b"\n" else b""
    file.write(start + msgspec.json.encode(entry) + b"\n")


def _sum(entries: Iterable[Entry]) -> float | None:
    money = [entry.money for entry in entries]
    known = [amount for amount in money if amount is not None]
    return math.fsum(known) if len(known) == len(money) else None
