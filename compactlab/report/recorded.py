"""Tables of recorded compactions: a row a harness; what our strategies keep at the same places and sizes."""

from __future__ import annotations

from collections.abc import Iterable

from compactlab.report.section import Section, interval
from compactlab.summary.pool import Pool
from compactlab.summary.recorded import ALL, Beside, Harness, harnesses

COLUMNS = (
    "harness",
    "sessions",
    "compactions",
    "scored",
    "before",
    "as told",
    "after",
    "as told",
    "unseen",
    "needed",
    "bound",
    "loose",
    "irrecov.",
    "fetched again",
    "bound with those",
    "rules",
    "held",
    "over random",
)
BESIDE = ("harness", "strategy", "after", "met", "over", "under", "difference", "with fetched", "n")
"""Columns of the second table."""


def sections(pool: Pool) -> tuple[Section, ...]:
    """Give both tables of a run over recorded compactions; empty ones for any other run."""
    found = harnesses(pool)
    return _of_harnesses(found), _beside(found)


def _of_harnesses(found: Iterable[Harness]) -> Section:
    found = tuple(found)
    rows = [_row(harness) for harness in found]
    return Section("Recorded compactions, by harness", COLUMNS, rows, " ".join(_legend(found)))


def _row(harness: Harness) -> tuple[str, ...]:
    scored = f"{harness.scored}*" if harness.in_part else str(harness.scored)
    tokens = (harness.before, harness.told_before, harness.after, harness.told_after, harness.unseen)
    return (
        harness.name,
        str(harness.sessions),
        str(harness.found),
        scored,
        *(_tokens(value if harness.scored else None) for value in tokens),
        str(harness.needed),
        interval(harness.bound),
        interval(harness.loose),
        interval(harness.irrecoverable),
        str(harness.again),
        interval(harness.whole),
        interval(harness.rules),
        interval(harness.held),
        interval(harness.over_random, "+"),
    )


def _tokens(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _beside(found: Iterable[Harness]) -> Section:
    compared = [harness for harness in found if any(ours.places for ours in harness.ours)]
    rows = [(harness.name, *_texts(ours)) for harness in compared for ours in harness.ours]
    return Section("Our strategies at the places and sizes of recorded compactions", BESIDE, rows, BESIDE_LEGEND)


def _texts(ours: Beside) -> tuple[str, ...]:
    mark = "*" if ours.under else ""
    differences = [interval(value, "+") for value in (ours.difference, ours.whole)]
    shown = [f"({text})" if ours.own_size and text != "-" else text + mark * (text != "-") for text in differences]
    n = ours.difference.n if ours.difference else 0
    return (ours.name, _tokens(ours.after), str(ours.met), str(ours.over), str(ours.under), *shown, str(n))


def _legend(found: Iterable[Harness]) -> Iterable[str]:
    """What the numbers of the first table mean, and which compactions have none."""
    yield FIGURES
    yield BOTH_WAYS
    in_part = [f"{h.in_part} of {h.name}" for h in found if h.in_part and h.name != ALL]
    if in_part:
        yield (
            f"* {', '.join(in_part)}: more was sent than is recorded (files that the harness handed over again):"
            " scored is the recorded part, a lower bound of what it kept."
        )
    thinned = [f"{h.thinned} of {h.name}" for h in found if h.thinned and h.name != ALL]
    if thinned:
        yield (
            f"Before {', '.join(thinned)} results were no longer sent that were never recorded as cleared: they count"
            " as standing there, for all rows alike."
        )
    for harness in found:
        if harness.name != ALL:
            yield from (f"Not scored: {n} of {harness.name}, {reason}." for reason, n in harness.skipped.items())


FIGURES = (
    "Each compaction that a harness recorded, at its own place: tokens before and after by our counter, and as the"
    " harness told them (with its system prompt and tool schemas); unseen: what was sent after it beside what is"
    " recorded, estimated from recorded token counts to a few per cent of the context; means over places. bound,"
    " loose, irrecov.: of the facts that an action went on to need. fetched again: facts that the compaction lost,"
    " that the agent then brought back by a call that only reads what their home was about, and used in an action."
)
BOTH_WAYS = (
    "An agent cannot use what it no longer has, so the facts needed speak for the harness: what follows was done with"
    " what it left. Those fetched again count as needed and lost; they are chosen by its losses, and speak against it."
    " Read both: bound is too kind, bound with those too harsh. held: of the needed facts that our guard never gives"
    " up (the first request, the last words of a person, results not read yet), those that the harness kept bound."
    " over random: difference to random units of the same size, where what our guard holds leaves room for them. ± is"
    " the 95 % interval over sessions, clustered by story; none under five stories."
)
BESIDE_LEGEND = (
    "difference: bound retention of ours less the harness's, paired by place, mean over n sessions, over the places"
    " where ours weighs no more than what the harness left (met) and an action needed a fact; with fetched: the same"
    " with the facts that the harness lost and the agent fetched again. over: places where ours weighs more, since it"
    " takes no target or must hold more than that; not compared there. under: met with less than nine tenths of the"
    " size (*). In brackets: met nowhere, so at its own size everywhere, with more room than the harness had; none is"
    " the ceiling. A strategy that saved nothing anywhere has no row, nor has a harness after whose compactions no"
    " action needed a fact. ± is the 95 % interval over sessions, clustered by story; none under five stories."
)
