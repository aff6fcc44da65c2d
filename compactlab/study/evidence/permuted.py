"""Labels that belong to something else: a score must fall to chance where its facts, needs or answers are dealt anew.

Three ways: the facts of a session are looked for in sessions of other stories; which facts at risk were needed is drawn
by lot; the answers of hand-made probes are dealt to other questions of the same session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.probes.hand import HandProbes, Probe
from compactlab.probes.mined import mask
from compactlab.study.disagreements import SHRINKING
from compactlab.study.evidence.figure import Figure, averaged, counted
from compactlab.study.finding import mean
from compactlab.study.session import Cell, Session
from compactlab.transcript import Messages

STRANGERS = 3
"""Sessions of other stories that are looked at."""
LOTS = 50


class Seen(NamedTuple):
    """What a session shows: the story, needed facts, those of them bound in a stranger, shares by lot, probes."""

    story: str
    needed: int
    strange: int
    own: float | None
    by_lot: float | None
    at_risk: float | None
    asked: int
    answered: int


def look(session: Session) -> Seen:
    """Look at the cells of a session."""
    strangers = [other.messages for other in session.others[:: max(1, len(session.others) // STRANGERS)][:STRANGERS]]
    shares = [share for cell in session.cells for share in _by_lot(cell)]
    dealt = HandProbes([replace(p, answer=q.answer, aliases=q.aliases) for p, q in _dealt(session)])
    answered = [_answered(cell, dealt) for cell in session.cells]
    return Seen(
        story=session.cluster,
        needed=sum(len(cell.case.needed) * len(strangers) for cell in session.cells),
        strange=sum(_bound(cell, other) for cell in session.cells for other in strangers),
        own=mean(share[0] for share in shares),
        by_lot=mean(share[1] for share in shares),
        at_risk=mean(share[2] for share in shares),
        asked=sum(asked for asked, _ in answered),
        answered=sum(right for _, right in answered),
    )


def _bound(cell: Cell, messages: Messages) -> int:
    return (cell.case.risk.presence(messages).bound & cell.all_needed).bit_count()


def _by_lot(cell: Cell) -> list[tuple[float, float, float]]:
    """For each strategy: bound needed facts, the same of facts drawn by lot, and of all at risk, as shares."""
    at_risk = sorted(cell.case.risk.anchors)
    found = []
    for spec in SHRINKING:
        bound = cell.case.risk.presence(cell.compacted(spec)).bound
        draw = cell.draw("lots", spec)
        lots = [mask(draw.sample(at_risk, len(cell.case.needed))) for _ in range(LOTS)]
        needed = len(cell.case.needed)
        own = (bound & cell.all_needed).bit_count() / needed
        drawn = sum((bound & lot).bit_count() for lot in lots) / needed / LOTS
        found.append((own, drawn, bound.bit_count() / len(at_risk)))
    return found


def _dealt(session: Session) -> list[tuple[Probe, Probe]]:
    """Each probe with another one whose answer it gets: the probes turned by half their number."""
    probes = session.probes
    turn = len(probes) // 2
    return list(zip(probes, (*probes[turn:], *probes[:turn]), strict=True))


def _answered(cell: Cell, dealt: HandProbes) -> tuple[int, int]:
    """Of the probes that are asked, how many the untouched history answers with the answer of another."""
    verdicts = dealt.verdicts(cell.compacted("none"))
    return len(cell.case.asked), sum(verdicts[probe] in {"kept", "both"} for probe in cell.case.asked)


def figures(looked: Sequence[Seen]) -> list[Figure]:
    """What is left of each score."""
    strange, needed = sum(seen.strange for seen in looked), sum(seen.needed for seen in looked)
    answered, asked = sum(seen.answered for seen in looked), sum(seen.asked for seen in looked)
    own, by_lot, at_risk = (
        [(seen.story, value) for seen in looked if (value := getattr(seen, name)) is not None]
        for name in ("own", "by_lot", "at_risk")
    )
    return [
        counted("permuted labels", "needed facts bound in the whole of another story", strange, needed),
        counted("permuted labels", "probes answered by the whole history, answers dealt anew", answered, asked),
        averaged("permuted labels", "bound under six strategies: what was needed", own),
        averaged("permuted labels", "the same, what was needed drawn by lot", by_lot),
        averaged("permuted labels", "the same, all facts at risk (where a lot must fall)", at_risk),
    ]
