"""Where living conversations lie, `REPO/conversations/NAME.jsonl`, which names they may have, and how one begins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compactlab.errors import SpecError
from compactlab.memory.conversation import VERSION
from compactlab.shapes.parts import json_text

FOLDER = "conversations"
SUFFIX = ".jsonl"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_CARRIED = ("title", "tools", "cluster")
"""Keys of a transcript's header that hold for the conversation that is made of it."""


def place(repo: Path, name: str) -> Path:
    """The file of a conversation."""
    return repo / FOLDER / f"{name}{SUFFIX}"


def names(repo: Path) -> tuple[str, ...]:
    """The names of the conversations in a folder, sorted."""
    found = (path for path in (repo / FOLDER).glob(f"*{SUFFIX}") if path.is_file())
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in found if _is_safe(path.name.removesuffix(SUFFIX))))


def named(repo: Path, name: str = "") -> str:
    """Check a name, or give that of the only conversation there is; `SpecError` for none, several, or an unsafe one.

    >>> named(Path("."), "garden-2")
    'garden-2'
    """
    if not repo.is_dir():
        raise SpecError(f"{repo}: no such folder; expected one that holds {FOLDER}/, or is to hold it")
    if name:
        if not _is_safe(name):
            raise SpecError(f"conversation {name!r}: expected letters, digits, '.', '_' and '-', 100 at the most")
        return name
    found = names(repo)
    if len(found) == 1:
        return found[0]
    if not found:
        raise SpecError(f"{repo / FOLDER}: no conversation yet; name the one to begin (--conversation NAME)")
    raise SpecError(f"{repo / FOLDER}: {len(found)} conversations; expected one of {', '.join(found)} (--conversation)")


def _is_safe(name: str) -> bool:
    return bool(_SAFE.fullmatch(name)) and not name.endswith((".probes", "."))


def header(name: str, agent_type: str, of_transcript: Mapping[str, Any]) -> bytes:
    """Write the first line of a conversation: of the type that was asked for, else of the transcript it is made of."""
    kind = agent_type or of_transcript.get("agent_type")
    said: dict[str, Any] = {"type": "session", "id": name, "title": "", "tools": []}
    said |= {key: of_transcript[key] for key in _CARRIED if key in of_transcript}
    said["agent_type"] = kind if isinstance(kind, str) and kind else "primary"
    return json_text(said | {"memory": {"version": VERSION, "generation": 0, "entry": ""}}).encode()
