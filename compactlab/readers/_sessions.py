"""What transcripts of all formats have in common: their ids, their agent type, where their messages stand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.transcript import Intake, Messages, Origin, RecordedCompaction, Transcript

if TYPE_CHECKING:
    from compactlab.readers._files import Source


TELLING = 8
"""Characters that an id needs, so that it is not found in another name by chance."""


def session_id(stem: str, own: str = "") -> str:
    """An id that says which file and which session: the recorded one, led by the file's name where it lacks that.

    >>> session_id("gpt-4o-airline", "task-3-trial-0"), session_id("rollout-2025-019a93b9", "019a93b9")
    ('gpt-4o-airline/task-3-trial-0', 'rollout-2025-019a93b9')
    """
    if not own or own == stem or stem.endswith((f"_{own}", f"-{own}")) or (len(own) >= TELLING and own in stem):
        return stem
    return own if own.startswith((f"{stem}-", f"{stem}_", f"{stem}/")) else f"{stem}/{own}"


def transcript(source: Source, format: str, messages: Messages, own_id: str = "", **fields: Any) -> Transcript:  # noqa: A002, ANN401  # the field's word; fields of `Transcript`
    """Make a transcript of messages that were read from *source*; *fields* are those of `Transcript`, by name.

    Left out, the id is made by `session_id`, the agent type guessed by `default_agent_type`, the cluster is the id, and
    the messages stand in the file as "message 0" and so on.
    """
    name = session_id(source.stem, own_id)
    path = str(source.path)
    given = {
        "id": name,
        "path": path,
        "cluster": name,
        "agent_type": default_agent_type(messages),
        "origins": (Origin(path),),
        **fields,
    }
    return Transcript(format=format, messages=messages, **given)


def only_there(transcript: Transcript) -> Transcript:
    """Leave out counts and compactions that speak of messages which are not there, as in a file that was cut off."""
    messages = len(transcript.messages)
    usage = tuple(u for u in transcript.usage if u.position is None or 0 <= u.position < messages)
    compactions = tuple(c for c in transcript.compactions if _is_there(c, messages))
    lost = len(transcript.usage) + len(transcript.compactions) - len(usage) - len(compactions)
    if not lost:
        return transcript
    intake = transcript.intake
    told = replace(intake, repaired=intake.repaired | {"word of messages that are not there": lost})
    return replace(transcript, usage=usage, compactions=compactions, intake=told)


def _is_there(compaction: RecordedCompaction, messages: int) -> bool:
    indices = (entry for entry in compaction.after if isinstance(entry, int))
    return 0 <= compaction.position <= messages and all(0 <= index < compaction.position for index in indices)


def told_with(last: Transcript, whole: Intake, records: int) -> Transcript:
    """Tell what was read past in a whole file with its last transcript, which then counts *records* as its own."""
    own = last.intake
    intake = Intake(
        records,
        dict(Counter(own.skipped) + Counter(whole.skipped)),
        dict(Counter(own.unknown) + Counter(whole.unknown)),
        dict(Counter(own.repaired) + Counter(whole.repaired)),
        whole.problems,
    )
    return replace(last, intake=intake)


def default_agent_type(messages: Messages) -> str:
    """Guess the agent type where a format does not say: `subagent` for one request and tool traffic, else `primary`.

    An agent that calls tools and hears at most one message of a person was given a task; one that a person talks with
    in turns, or that calls nothing, is somebody's own.
    """
    heard = sum(message.by_person for message in messages)
    return "subagent" if heard <= 1 and any(message.calls for message in messages) else "primary"
