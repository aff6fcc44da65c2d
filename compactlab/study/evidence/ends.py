"""Both ends of the scale, and the way between: the whole history scores 1, nothing scores 0, more never scores less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from compactlab.controls import oracle
from compactlab.probes.mined import mask
from compactlab.study.evidence.figure import Figure, counted
from compactlab.study.session import Cell, Session
from compactlab.transcript import Messages

SUBSETS = 40
"""Parts of each history that are drawn, each beside the same part with some messages more."""
MORE = 5


class Seen(NamedTuple):
    """What one cell shows, all as counts.

    Facts at risk, and those of them in the whole history, in nothing, in the protected set; needed facts bound in the
    whole, and in the oracle given the whole size; probes asked and answered; pairs of contexts, and larger ones that
    scored less.
    """

    at_risk: int
    in_all: int
    in_none: int
    in_protected: int
    needed: int
    in_oracle: int
    asked: int
    answered: int
    pairs: int
    less: int


def look(session: Session) -> list[Seen]:
    """Look at each cell of a session."""
    return [_cell(cell) for cell in session.cells]


def _cell(cell: Cell) -> Seen:
    case, risk = cell.case, cell.case.risk
    everything = mask(risk.anchors)
    whole = risk.presence(cell.compacted("none"))
    best = risk.presence(oracle.build(case, case.tokens))
    return Seen(
        at_risk=len(risk.anchors),
        in_all=(whole.loose & everything).bit_count(),
        in_none=risk.presence(()).loose.bit_count(),
        in_protected=risk.presence(case.protected).loose.bit_count(),
        needed=(whole.bound & cell.all_needed).bit_count(),
        in_oracle=(best.bound & cell.all_needed).bit_count(),
        asked=len(case.asked),
        answered=_answered(cell, cell.compacted("none")),
        pairs=SUBSETS,
        less=sum(_scores_less(cell, number) for number in range(SUBSETS)),
    )


def _answered(cell: Cell, messages: Messages) -> int:
    verdicts = cell.session.hand.verdicts(messages)
    return sum(verdicts[probe] in {"kept", "both"} for probe in cell.case.asked)


def _scores_less(cell: Cell, number: int) -> bool:
    """Draw a part of the history and a larger one that holds it, and tell whether the larger one lacks anything."""
    draw = cell.draw("superset", number)
    base = cell.case.base
    picked = {i for i in range(len(base)) if draw.random() < draw.choice((0.1, 0.5, 0.9))}
    larger = picked | {draw.randrange(len(base)) for _ in range(MORE)}
    part, more = (tuple(base[i] for i in sorted(chosen)) for chosen in (picked, larger))
    small, large = cell.case.risk.presence(part), cell.case.risk.presence(more)
    lacks = (small.loose & ~large.loose) | (small.bound & ~large.bound)
    return bool(lacks) or _answered(cell, more) < _answered(cell, part)


def figures(looked: Sequence[Sequence[Seen]]) -> list[Figure]:
    """The ends of the scale over all cells."""
    cells = [cell for seen in looked for cell in seen]
    at_risk, in_all, in_none, in_protected, needed, in_oracle, asked, answered, pairs, less = (
        sum(column) for column in zip(*cells, strict=True)
    )
    return [
        counted("ends", "facts at risk that the untouched history keeps", in_all, at_risk, "all"),
        counted("ends", "facts at risk that an empty context keeps", in_none, at_risk, "none"),
        counted("ends", "facts at risk that the protected set alone keeps", in_protected, at_risk, "none"),
        counted("ends", "needed facts that the oracle keeps, given the whole size", in_oracle, needed, "all"),
        counted("ends", "hand-made probes that the untouched history answers", answered, asked, "all"),
        counted("ends", "larger contexts that score less than a part of them", less, pairs, "none"),
    ]
