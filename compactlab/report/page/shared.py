"""What a page that is passed on leaves out: it holds counts and digests, no text, value, name of a session or path.

Digests are salted with all that the run and its sessions hold, so that a short text cannot be guessed from its digest
by one who does not have them; equal texts have equal digests.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from compactlab.report.section import Section
from compactlab.results import Results
from compactlab.transcript import Transcript

_PATH = re.compile(r"""(?:(?<=["'\s(=:,\[])|^)(?:~?/|\.{1,2}/|[A-Za-z]:[\\/])[^\s"'(),]*[^\s"'(),.;:]""")
_QUOTING = ("error: ", "skipped: ")
"""Lines under a table that begin so may quote anything."""


class Shared:
    """Names for what may not be told."""

    def __init__(self, results: Results, transcripts: Iterable[Transcript]) -> None:
        self._salt = _salt(results, transcripts)
        types = {record.session: record.agent_type for record in results.records if record.metric == "outcome"}
        sessions = sorted({*types, *results.manifest.sessions})
        self._names = {session: self._named(session, types.get(session, "session")) for session in sessions}
        longest_first = sorted(map(re.escape, sessions), key=len, reverse=True)
        self._sessions = re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)") if sessions else None

    def digest(self, text: str) -> str:
        """Eight hex digits for a text."""
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=4).hexdigest()

    def name(self, session: str) -> str:
        """What a session is called: its type, and a digest."""
        return self._names[session]

    def line(self, text: str) -> str:
        """A line of the report without names of sessions and paths."""
        if self._sessions:
            text = self._sessions.sub(lambda found: self._names[found[0]], text)
        return _PATH.sub("[path]", text)

    def section(self, section: Section) -> Section:
        """A table without names of sessions and paths, and without lines that quote errors."""
        lines = section.legend.splitlines()
        legend = [self.line(line) for line in lines if not line.startswith(_QUOTING)]
        left_out = len(lines) - len(legend)
        more = [f"{left_out} lines about errors and skipped sessions are left out."] if left_out else []
        return section._replace(
            columns=tuple(map(self.line, section.columns)),
            rows=[tuple(map(self.line, row)) for row in section.rows],
            legend="\n".join([*legend, *more]),
            signature=self.line(section.signature),
        )

    def _named(self, session: str, kind: str) -> str:
        return f"{kind} {self.digest(session)[:6]}"


def _salt(results: Results, transcripts: Iterable[Transcript]) -> bytes:
    left = results.folder / "compactions.jsonl"
    salt = hashlib.sha256(left.read_bytes() if left.exists() else b"")
    for transcript in transcripts:
        salt.update(repr(transcript.messages).encode("utf-8", "surrogatepass"))
    return salt.digest()
