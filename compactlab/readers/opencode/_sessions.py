"""From the sessions of any store to transcripts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import first_string, mapping, string
from compactlab.readers._sessions import transcript
from compactlab.readers.opencode._story import Story, live, story
from compactlab.transcript import Intake

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Source
    from compactlab.readers.opencode._records import Session
    from compactlab.transcript import Transcript

NAME = "opencode"


def transcripts(source: Source, sessions: Iterable[Session]) -> Iterator[Transcript]:
    """Make a transcript of each session, under the id that opencode gave it."""
    for session in sessions:
        alive = live(session.records, mapping(session.info.get("revert")))
        told = story(alive)
        name = session.id or source.stem
        yield transcript(
            source,
            NAME,
            told.messages,
            id=name,
            title=string(session.info.get("title")),
            agent_type="subagent" if session.parent else "primary",
            cluster=session.cluster or session.parent or name,
            compactions=told.compactions,
            usage=told.usage,
            origins=session.origins,
            header=_header(session),
            intake=_intake(session, told, len(session.records) - len(alive)),
        )


def _intake(session: Session, told: Story, others: int) -> Intake:
    parts = [part for record in session.records for part in record.parts]
    skipped = Counter(part.skipped for part in parts if part.skipped) + Counter(told.skipped)
    skipped["message of another branch"] += others
    unknown = Counter(part.unknown for part in parts if part.unknown) + Counter(told.unknown)
    return Intake(len(session.records) + len(parts), dict(+skipped), dict(+unknown), {}, session.problems)


def _header(session: Session) -> dict[str, Any]:
    models = dict.fromkeys(record.model for record in session.records if record.model and record.role == "assistant")
    named = {key: found for key in ("version", "agent") if (found := first_string(session.info, key))}
    return named | ({"models": list(models)} if models else {})
