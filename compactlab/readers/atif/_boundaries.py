"""Steps that are no message of the story: boundaries of compactions in the words of each producer, and sidechains.

What a producer says of a compaction differs: `extra.context_management` and references to sub-agents that summarised
(terminus-2, vibe), words of a system step (fx, muse, computer-1), a step of the agent that holds the summary (pi), or
the user's step that Claude Code begins the new context with.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.readers._fields import first_string, mapping, objects, string
from compactlab.readers.atif._steps import content
from compactlab.transcript import Message, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compactlab.readers import Source

KINDS = {"compaction", "summarization", "summary"}
_TOLD = re.compile(r"Context compact(?:ed|ion)\b")
_TOLD_SUMMARY = re.compile(r"Context compacted:\s*(.*)", re.DOTALL)
_TOLD_TOKENS = re.compile(r"(\d+) -> (\d+) tokens")
_HANDED_NEXT = "the next user message carries"
_CONTINUED = "This session is being continued from a previous conversation"


class Boundary(NamedTuple):
    """A step that marks a compaction: what is known of it, the summary in it, and the sub-agents that it names.

    `replaces` says that the user's step after it is what the harness handed over, whatever its words.
    """

    known: dict[str, Any]
    summary: tuple[Message, ...]
    references: tuple[dict[str, Any], ...] = ()
    time: str | None = None
    replaces: bool = False


def boundary(step: dict[str, Any], referred: list[dict[str, Any]], file: Source) -> Boundary | None:
    """What a step says of a compaction; None if it marks none."""
    who = step.get("source")
    if who == "system":
        return _marked(step, referred, file) or _in_words(step)
    if who == "agent" and mapping(step.get("extra")).get("pi_event_type") == "compaction":
        return Boundary(mapping(step["extra"]), _summary(string(step.get("message"))))
    return None


def _marked(step: dict[str, Any], referred: list[dict[str, Any]], file: Source) -> Boundary | None:
    known = mapping(mapping(step.get("extra")).get("context_management"))
    summarised = [reference for reference in referred if "summari" in _name(reference)]
    if string(known.get("type")).lower() not in KINDS and not summarised:
        return None
    results = objects(mapping(step.get("observation")).get("results"))
    blocks = tuple(block for result in results for block in content(result.get("content"), file))
    summary = (Message("user", blocks, synthetic=True),) if blocks else ()
    time = string(step.get("timestamp")) or None
    handed = _HANDED_NEXT in string(step.get("message"))
    return Boundary(known, summary, tuple(summarised), time, replaces=handed)


def _in_words(step: dict[str, Any]) -> Boundary | None:
    said = string(step.get("message"))
    if not _TOLD.match(said):
        return None
    tokens, summary = _TOLD_TOKENS.search(said), _TOLD_SUMMARY.fullmatch(said)
    known = {} if tokens is None else {"tokens_before": int(tokens[1][:18]), "tokens_after": int(tokens[2][:18])}
    return Boundary(known, () if summary is None else _summary(summary[1]))


def _summary(text: str) -> tuple[Message, ...]:
    return (Message("user", (Text(text),), synthetic=True),) if text.strip() else ()


def begins_anew(message: Message) -> bool:
    """Whether a user's message is the summary that Claude Code begins a context with."""
    return message.role == "user" and message.text.startswith(_CONTINUED)


def references(step: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The sub-agent trajectories that the observation of a step names."""
    for result in objects(mapping(step.get("observation")).get("results")):
        given = result.get("subagent_trajectory_ref")
        yield from objects(given if isinstance(given, list) else [given])


def sidechain(step: object) -> str:
    """The sub-agent whose step this is, in a trajectory that holds those of several; empty for the agent itself."""
    extra = mapping(mapping(step).get("extra"))
    return first_string(extra, "agent_id") or "sidechain" if extra.get("is_sidechain") is True else ""


def _name(reference: dict[str, Any]) -> str:
    told = string(mapping(reference.get("extra")).get("summary"))
    names = (string(reference.get(name)) for name in ("session_id", "trajectory_id", "trajectory_path"))
    return " ".join((*names, told)).lower()
