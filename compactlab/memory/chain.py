"""Proof that nothing was lost: the entries of a conversation chain from its header back to the first pass.

The list that a pass left is the head of the list before the next one, and the last of them the head of what is live:
between passes messages are only appended. Every message that any of these lists names is found again, and its bytes
fit its digest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from compactlab.memory.digests import of_list
from compactlab.memory.entry import Entry, EntryError, path_of, read_page
from compactlab.memory.journal import read
from compactlab.memory.originals import Store, originals_of
from compactlab.memory.parts import Kept
from compactlab.memory.sources import Sources


class Verified(NamedTuple):
    """What was proved of a conversation.

    `entries` are the ids of its passes, the first one first; `messages` counts the identities that were ever live.
    `faults` say what is missing or changed, each in one sentence. `not_applied` are entries that the conversation does
    not name: of a process that was killed before it replaced the list, which is no fault. `redacted` are messages of
    which only the redacted text is here, as in a clone.
    """

    entries: tuple[str, ...]
    messages: int
    faults: tuple[str, ...] = ()
    not_applied: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is missing and nothing was changed."""
        return not self.faults


def verified(repo: Path, conversation: str, live: Sequence[Kept], entry: str) -> Verified:
    """Prove that every message that was ever live is live or can be restored, as it was.

    *live* is the list as it stands, *entry* the id of the entry that the conversation's header names, empty for none.
    """
    store = Store(repo.resolve())
    chain, broken = _chain(store, entry)
    others = [name for name in store.entries() if name not in {one.id for one in chain}]
    not_applied = [other for name in others for other in _entry(store, name) if other.conversation == conversation]
    sources = Sources(store, [*chain, *not_applied], live)
    found = dict.fromkeys(_marks(chain))
    unfound = {mark: sources.find(*mark) for mark in found}
    return Verified(
        tuple(one.id for one in chain),
        len({name for name, _ in found} | {one.id for one in live}),
        (*broken, *_faults(store, chain, live), *_missing(chain, unfound)),
        tuple(one.id for one in not_applied),
        tuple(name for (name, _), (line, is_whole) in unfound.items() if line is not None and not is_whole),
    )


def _chain(store: Store, last: str) -> tuple[list[Entry], list[str]]:
    """The entries from the first to the last, as far back as they can be read; and what breaks them off."""
    chain: list[Entry] = []
    names: set[str] = set()
    while last and last not in names:
        names.add(last)
        try:
            chain.append(read(store, last))
        except EntryError as error:
            return chain[::-1], [f"{error}; what was before it cannot be followed"]
        last = chain[-1].previous
    return chain[::-1], []


def _entry(store: Store, name: str) -> Iterator[Entry]:
    try:
        yield read(store, name)
    except EntryError:
        return


def _marks(chain: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    for entry in chain:
        yield from entry.before
        yield from entry.after


def _faults(store: Store, chain: Sequence[Entry], live: Sequence[Kept]) -> Iterator[str]:
    for entry in chain:
        for name, marks in (("before", entry.before), ("after", entry.after)):
            if of_list(digest for _, digest in marks) != entry.head[f"list_{name}"]:
                yield f"entry {entry.id}: the list {name} it has another digest"
        yield from _changed_on_disk(store, entry)
    for one, other in pairwise(chain):
        if other.before[: len(one.after)] != one.after:
            yield f"entry {other.id}: its list does not begin with the one that {one.id} left"
    if chain:
        yield from _head_of_live(store, chain[-1], live)


def _head_of_live(store: Store, last: Entry, live: Sequence[Kept]) -> Iterator[str]:
    for place, (identity, digest) in enumerate(last.after):
        if place >= len(live) or live[place].id != identity:
            yield f"message {identity} is missing at {place} of what is live, where entry {last.id} left it"
            return
        if store.digests.can_tell(digest) and not store.digests.fits(live[place].line, digest):
            yield f"message {identity} at {place} of what is live was changed since entry {last.id}"


def _changed_on_disk(store: Store, entry: Entry) -> Iterator[str]:
    """Files in the folder that are no longer as they were committed; one that is not there is on another branch."""
    with suppress(OSError):
        try:
            read_page((store.folder / path_of(entry.id)).read_bytes(), entry.id)
        except EntryError:
            yield f"{path_of(entry.id)} was changed on the disk; the committed one is whole"
    path, digest = originals_of(entry.id), entry.head["originals_sha256"]
    with suppress(OSError):
        if digest and sha256((store.folder / path).read_bytes()).hexdigest() != digest:
            yield f"{path} was changed on the disk"


def _missing(chain: Sequence[Entry], found: dict[tuple[str, str], tuple[bytes | None, bool]]) -> Iterator[str]:
    named: set[tuple[str, str]] = set()
    for entry in chain:
        for mark in (*entry.before, *entry.after):
            if found[mark][0] is None and mark not in named:
                named.add(mark)
                yield f"message {mark[0]}, which stood in the list of entry {entry.id}, is missing or was changed"
