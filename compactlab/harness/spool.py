"""The sessions of a run on disk while it runs: no process holds more of them than it works on.

A run reads each file once, from its beginning to its end, be it a stream of any length. Each session goes into one file
of the spool and only what is known of it in a few words stays in memory. Facts are mined where there is a free process
and lie beside the sessions; the values that several sessions share are counted by their 64-bit digests, in buckets, so
that no table of all values of a corpus is ever in memory. Two values of one corpus that share a digest are expected
once in 2^64 pairs.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, Self

import msgspec
from msgspec.structs import replace

from compactlab.facts import Fact, mine
from compactlab.harness.cuts import Cut
from compactlab.results import origins
from compactlab.transcript import Transcript

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARED_BY = 2
"""Values found in more sessions than this are common: they count nowhere."""
BUCKETS = 64


class Spooled(msgspec.Struct, frozen=True):
    """A session in the spool: what tells it apart, where it is cut, the digest of what was said, and its place.

    `pinned` are the positions of messages that no strategy may touch.
    """

    id: str
    path: str
    agent_type: str
    cluster: str
    cuts: tuple[Cut, ...]
    digest: str
    pinned: tuple[int, ...]
    start: int
    length: int

    @property
    def origin(self) -> origins.Origin:
        """Where it was read."""
        return origins.Origin(self.id, str(Path(self.path).absolute()) if self.path else "", self.digest)

    @property
    def light(self) -> Transcript:
        """A transcript without messages, that has the rest of what names it."""
        return Transcript(self.id, "", (), path=self.path, agent_type=self.agent_type, cluster=self.cluster)


class Place(NamedTuple):
    """Where a process finds a session and its facts."""

    folder: Path
    session: Spooled

    def transcript(self) -> Transcript:
        """Read the session."""
        with (self.folder / "sessions").open("rb") as file:
            file.seek(self.session.start)
            found: Transcript = pickle.loads(file.read(self.session.length))  # noqa: S301  # this run's own file
        return replace(found, id=self.session.id)

    def facts(self) -> tuple[Fact, ...]:
        """Read the facts that were mined from it."""
        found: tuple[Fact, ...] = pickle.loads(self._mined.read_bytes())  # noqa: S301  # same
        return found

    @property
    def _mined(self) -> Path:
        return self.folder / "facts" / f"{self.session.start:x}"

    def mined(self) -> bytes:
        """Mine the facts of the session, keep them, and give the digests of their values, each once."""
        facts = mine(self.transcript().messages)
        self._mined.write_bytes(pickle.dumps(facts, pickle.HIGHEST_PROTOCOL))
        return b"".join(sorted({_digest(fact.value) for fact in facts}))

    def common(self, facts: Iterable[Fact]) -> frozenset[str]:
        """Of the values of its facts those that more than two sessions of the run have."""
        import numpy as np

        shared, values = _common(self.folder), sorted({fact.value for fact in facts})
        if not len(shared) or not values:
            return frozenset()
        own = np.frombuffer(b"".join(map(_digest, values)), _DIGEST).astype(np.uint64)
        at = np.minimum(np.searchsorted(shared, own), len(shared) - 1)
        return frozenset(value for value, hit in zip(values, shared[at] == own, strict=True) if hit)


class Spool:
    """A folder of sessions, which goes with the run; *beside* names one that all workers of a cluster can read."""

    def __init__(self, beside: Path | None = None) -> None:
        if beside:
            beside.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=".compactlab-" if beside else "compactlab-", dir=beside))
        (self.folder / "facts").mkdir()
        self._file = (self.folder / "sessions").open("wb")

    def __enter__(self) -> Self:
        """Give the spool, whose folder goes when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, transcript: Transcript, cuts: tuple[Cut, ...]) -> Spooled:
        """Put a session in."""
        content, start = pickle.dumps(transcript, pickle.HIGHEST_PROTOCOL), self._file.tell()
        self._file.write(content)
        self._file.flush()
        pinned = tuple(i for i, message in enumerate(transcript.messages) if message.pinned)
        names = (transcript.id, transcript.path, transcript.agent_type, transcript.cluster)
        return Spooled(*names, cuts, origins.digest(transcript), pinned, start, len(content))

    def place(self, session: Spooled) -> Place:
        """Where a session lies."""
        return Place(self.folder, session)

    def count(self, mined: Iterable[bytes]) -> None:
        """Count in how many sessions each value stands, by what `Place.mined` gave for each of them."""
        files = [(self.folder / f"values-{bucket:02x}").open("wb") for bucket in range(BUCKETS)]
        try:
            for digests in mined:
                _strew(digests, files)
        finally:
            for file in files:
                file.close()
        _counted(self.folder)


_DIGEST = ">u8"
"""Eight bytes of a digest, so that sorted bytes are sorted numbers."""


def _digest(value: str) -> bytes:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _strew(digests: bytes, files: Sequence[IO[bytes]]) -> None:
    """Write sorted digests into the bucket of each, by its highest bits."""
    import numpy as np

    found = np.frombuffer(digests, _DIGEST)
    edges = np.searchsorted(found, np.arange(1, BUCKETS, dtype=np.uint64) << np.uint64(58)) * 8
    for file, start, end in zip(files, (0, *edges), (*edges, len(digests)), strict=True):
        file.write(digests[start:end])


def _counted(folder: Path) -> None:
    """Write the digests that more than two sessions have, in order, bucket by bucket."""
    import numpy as np

    with (folder / "common").open("wb") as file:
        for bucket in range(BUCKETS):
            path = folder / f"values-{bucket:02x}"
            values, times = np.unique(np.fromfile(path, _DIGEST), return_counts=True)
            file.write(values[times > SHARED_BY].astype(np.uint64).tobytes())
            path.unlink()


@lru_cache(maxsize=2)
def _common(folder: Path) -> NDArray[np.uint64]:
    """The digests that more than two sessions have, as they lie on disk."""
    import numpy as np

    path = folder / "common"
    return np.memmap(path, np.uint64, "r") if path.stat().st_size else np.empty(0, np.uint64)
