"""The journal: a record of every pass that changed a conversation, written before the conversation is.

The originals are stored first, then the entry, then both are committed. If any of it fails nothing of the entry is left
and the conversation stays as it was. A message has one identity: each pass stores only what it dropped or edited, and
the list before it is put together from what was stored then, what was stored later, and what is live.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from compactlab.memory.disk import reason
from compactlab.memory.draft import Draft
from compactlab.memory.entry import Entry, EntryError, page, path_of, read_page
from compactlab.memory.git import JournalError
from compactlab.memory.originals import LOCAL, Store
from compactlab.memory.parts import Kept, Originals, Pass
from compactlab.memory.repository import made
from compactlab.memory.sources import Sources
from compactlab.memory.veil import veil


class Recorded(NamedTuple):
    """Where a pass is recorded: entry, path in the memory repository, commit; and why no branch has it, if none has."""

    id: str
    path: str
    commit: str
    note: str = ""


class Restored(NamedTuple):
    """What was brought back: lines in order, without newlines. Identities of those that are here only redacted, whose
    line is the redacted one; and of those that are not here at all, who have no line.
    """

    lines: tuple[bytes, ...]
    redacted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def record(repo: Path, done: Pass, originals: Originals = "git") -> Recorded:
    """Write a pass into the journal of the memory repository *repo*, which is made if there is none.

    `JournalError` if it cannot be written whole: then nothing of it is.
    """
    try:
        repository = made(repo)
        with repository.turn():
            store = Store(repository.folder)
            fixed = store.prepare()
            identity, files = _composed(store, done, originals)
            fresh = store.write(files)
            try:
                into_git = [*fixed, *(path for path in files if not path.startswith(LOCAL))]
                committed = repository.commit(into_git, f"Compaction {identity}")
            except BaseException:
                store.remove(fresh)
                raise
    except OSError as error:
        raise JournalError(f"{repo}: the journal cannot be written ({reason(error)})") from error
    return Recorded(identity, path_of(identity), *committed)


def _composed(store: Store, done: Pass, originals: Originals) -> tuple[str, dict[str, bytes]]:
    """The id of an entry and all its files, in the order in which they are written: the entry comes last."""
    messages = (*(one.message for one in (*done.before, *done.after)), *store.secret_messages())
    hides = veil(messages, [done.summary, *(change.why for change in done.receipt.changes)])
    draft = Draft(done, hides, store.digests, originals, _told(store, done.previous))
    identity, text = page(draft.head, draft.words, hides.text(done.summary), draft.rows)
    return identity, {**draft.laid.files(identity), path_of(identity): text}


def _told(store: Store, previous: str) -> dict[str, str]:
    """The digests that the entry before gave the messages which it left; none if it is not whole any more."""
    try:
        return dict(read(store, previous).after) if previous else {}
    except EntryError:
        return {}


def read(store: Store, identity: str) -> Entry:
    """Read an entry from the folder, or as it was committed; `EntryError` if it is nowhere as it was written."""
    fault = EntryError(f"entry {identity} is missing")
    for copy in store.copies(path_of(identity)):
        try:
            return read_page(copy, identity)
        except EntryError as error:
            fault = error
    raise fault


def entries(repo: Path, conversation: str) -> tuple[Entry, ...]:
    """Give all entries of a conversation that can be read, by time, also those of passes that were not applied."""
    return tuple(_readable(Store(repo.resolve()), conversation))


def _readable(store: Store, conversation: str) -> Iterator[Entry]:
    for identity in store.entries():
        try:
            entry = read(store, identity)
        except EntryError:
            continue
        if entry.conversation == conversation:
            yield entry


def restored(repo: Path, live: Sequence[Kept], entry: str, message: str = "") -> Restored:
    """Bring back the whole list as it was before a pass, or one message of it, byte for byte.

    *entry* is an id or its last part; *live* is the conversation as it stands. `JournalError` if there is no such entry
    or no such message in it.
    """
    store = Store(repo.resolve())
    wanted = _found(store, entry)
    rows = [row for row in wanted.rows if row.before is not None and message in {"", row.id}]
    if message and not rows:
        raise JournalError(f"entry {wanted.id}: no message {message!r} stood in the list before it")
    rows.sort(key=lambda row: row.before or 0)
    sources = Sources(store, list(_readable(store, wanted.conversation)), live)
    lines = [(row.id, *sources.find(row.id, row.digest)) for row in rows]
    return Restored(
        tuple(line for _, line, _ in lines if line is not None),
        tuple(name for name, line, is_whole in lines if line is not None and not is_whole),
        tuple(name for name, line, _ in lines if line is None),
    )


def _found(store: Store, entry: str) -> Entry:
    names = [name for name in store.entries() if name == entry or (entry and name.endswith(f"-{entry}"))]
    if len(names) != 1:
        raise JournalError(f"{store.folder}: {'several entries' if names else 'no entry'} {entry!r} in its journal")
    try:
        return read(store, names[0])
    except EntryError as error:
        raise JournalError(str(error)) from error
