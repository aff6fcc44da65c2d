"""Hermes agent: the store `state.db`, snapshots, gateway transcripts with a head, request dumps and training files.

Of the store, a session and those that went on from it after a compaction are one story. A compaction seeds a child
session, or archives the rows of the session and writes the compacted list behind them: what that list copies stands
once; what else it holds (the summary, the task list, changed results) is what the compaction made. Rows that were
rewound are of another branch. Delegated sessions are subagents and share the cluster of the one that called; branches
share it too; sessions behind a reset are their own. Columns differ per version: all but the main ones may be missing.
Snapshots and gateway files show the list as it stood last: a summary in it takes the place of what is not recorded.
Training files mark calls, results and reasoning in the text (`<tool_call>`, `<tool_response>`, `<think>`): here that is
the format, and they become blocks. Gateway files without a head are plain message lists and read as such. The search
tables, locks and costs of the store are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from compactlab.readers.hermes import _snapshots, _store, _training

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

WHERE = "~/.hermes/state.db, ~/.hermes/sessions/, trajectory_samples.jsonl"


class _Form(Protocol):
    """One form in which sessions are kept."""

    def sniff(self, source: Source) -> float: ...

    def read(self, source: Source) -> Iterator[Transcript]: ...


_FORMS: tuple[_Form, ...] = (_store, _snapshots, _training)


def sniff(source: Source) -> float:
    """Look for the tables of the store, the keys of a snapshot or a dump, the head of a gateway file, or the marks."""
    return max(form.sniff(source) for form in _FORMS)


def read(source: Source) -> Iterator[Transcript]:
    """Read the sessions of a file of any of the forms."""
    return max(_FORMS, key=lambda form: form.sniff(source)).read(source)
