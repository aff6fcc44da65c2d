"""opencode sessions: the folders of JSON files of versions before 1.2, `opencode.db` since, table dumps and exports.

Any one file gives what it belongs to: a file of the folders its session, a database, or one of the three dumps of its
tables `session`, `message` and `part`, all sessions. A message of an agent becomes one message a step of the model,
followed by the results that its `tool` parts hold. Messages behind a point that the user reverted to stand on another
branch. A `compaction` part with its summary, and outputs that were pruned, are recorded compactions. Version 2 keeps
whole messages in a table `session_message`, which is read of sessions that have no others. `state.metadata`, `patch`,
`snapshot` and other parts that the model never sees are not read; the system prompt is not stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compactlab.readers._fields import mapping, string
from compactlab.readers.opencode import _exports, _folders, _rows
from compactlab.readers.opencode._sessions import transcripts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

WHERE = "~/.local/share/opencode/opencode.db, before 1.2 ~/.local/share/opencode/storage"


def sniff(source: Source) -> float:
    """Look for the three tables, for rows of one of them, for an export, or for one file of the folders."""
    if source.tables:
        return 0.96 if _rows.is_database(source.tables) else 0.0
    if isinstance(source.document, list):
        return 0.96 if _rows.kind(source.document) or _exports.is_list(source.document) else 0.0
    if _exports.is_export(source.document):
        return 0.97
    return 0.95 if _folders.kind(mapping(source.document)) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read the sessions that a file belongs to; those that agents started are `subagent`, in their root's cluster."""
    if source.tables:
        yield from transcripts(source, _rows.of_database(source))
    elif isinstance(source.document, list) and _rows.kind(source.document):
        yield from transcripts(source, _rows.of_dumps(source))
    elif isinstance(source.document, list) or string(mapping(source.document).get("id")) == "":
        yield from transcripts(source, _exports.of_export(source))
    else:
        yield from transcripts(source, _folders.of_folders(source))
