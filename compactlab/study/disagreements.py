"""Where mined facts and hand-made probes disagree about the same value, and why: for `docs/validity.md`.

A probe is about a mined fact at risk that stands in its answer or in one of its aliases. At each cut and for each
strategy the probe says kept (or both) or not, the facts say bound or not. Where they differ, the reason is one of a
closed list, found by looking whether the answer as a whole still stands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple

from compactlab.harness.fates import first_place
from compactlab.matching import Matcher
from compactlab.probes.mined import mask
from compactlab.study.agreement import Answers
from compactlab.study.session import STRATEGIES, Cell, Session
from compactlab.transcript import Message, Messages

Why = Literal["part of the answer", "not near the question", "in other words", "away from its words"]
By = Literal["probe", "facts"]
BY: dict[str, By] = {"facts_alone": "facts", "probe_alone": "probe"}
AROUND = 40
"""Characters of a quotation on either side of a value."""
REASONS: dict[Why, str] = {
    "part of the answer": "the mined fact is one value of an answer that names more: it stands, the rest does not",
    "not near the question": (
        "the answer stands near a word of a home of its value, near no word of the question, and not in its evidence"
    ),
    "in other words": "the answer stands in a form that is none of the mined fact's, or as a number too short for one",
    "away from its words": "the value stands where the question would find it, but near no word of its homes",
}
SHRINKING = ("microcompact", *STRATEGIES)


class Cells(NamedTuple):
    """How often both said kept, both lost, the probe alone kept, the facts alone; and probes about no mined fact."""

    both_kept: int = 0
    both_lost: int = 0
    probe_alone: int = 0
    facts_alone: int = 0
    not_mined: int = 0


class Disagreement(NamedTuple):
    """One probe about which they differ: in how many of the cells that ask it, which one kept, why, and by which words.

    `quote` is the first place, of the first such cell, that made the one say kept.
    """

    session: str
    probe: str
    answer: str
    facts: tuple[str, ...]
    kept_by: By
    why: Why
    cells: int
    asked: int
    quote: str


class _Looked(NamedTuple):
    """What both say of one probe under one strategy, the reason and the quote where they differ."""

    probe: int
    kind: str
    why: Why | None = None
    quote: str = ""


class Compared(NamedTuple):
    """All cells of some sessions, the disagreements by probe, and the sanity of the probes on all and on nothing."""

    cells: Cells
    disagreements: tuple[Disagreement, ...]
    asked: int
    kept_by_none: int
    kept_by_null: int


def compared(sessions: Iterable[Session]) -> Compared:
    """Compare both kinds of probes on sessions that have hand-made ones, for strategies at their own size."""
    cells: Counter[str] = Counter()
    asked = by_none = by_null = 0
    found: list[Disagreement] = []
    for session in sessions:
        answers = Answers(session.probes)
        seen: dict[int, list[_Looked]] = defaultdict(list)
        times: Counter[int] = Counter()
        for cell in session.cells:
            untouched, nothing = (_kept(cell, messages) for messages in (cell.case.base, cell.case.protected))
            asked += len(cell.case.asked)
            by_none += (untouched & mask(cell.case.asked)).bit_count()
            by_null += (nothing & mask(cell.case.asked)).bit_count()
            for looked in _looked(cell, answers):
                cells[looked.kind] += 1
                times[looked.probe] += 1
                if looked.why:
                    seen[looked.probe].append(looked)
        found += _told(session, seen, times)
    return Compared(Cells(**cells), tuple(found), asked, by_none, by_null)


def _looked(cell: Cell, answers: Answers) -> Iterator[_Looked]:
    """For each strategy and each probe that is asked: what both say, and the reason where they differ."""
    about = {probe: facts_about(cell, probe) for probe in cell.case.asked}
    for spec in SHRINKING:
        messages = cell.compacted(spec)
        kept, standing = _kept(cell, messages), answers.standing(messages)
        presence = cell.case.risk.presence(messages)
        for probe, facts in about.items():
            by_probe, bound = bool(kept >> probe & 1), bool(presence.bound & mask(facts))
            if not facts:
                yield _Looked(probe, "not_mined")
            elif by_probe == bound:
                yield _Looked(probe, "both_kept" if bound else "both_lost")
            elif by_probe:
                why: Why = "away from its words" if presence.loose & mask(facts) else "in other words"
                yield _Looked(probe, "probe_alone", why, quoted(messages, answers.matcher, {probe}))
            else:
                why = "not near the question" if standing >> probe & 1 else "part of the answer"
                standing_facts = {fact for fact in facts if presence.bound >> fact & 1}
                yield _Looked(probe, "facts_alone", why, quoted(messages, cell.session.matcher, standing_facts))


def quoted(messages: Iterable[Message], matcher: Matcher, patterns: Collection[int]) -> str:
    """The words around the first place where one of *patterns* stands."""
    found = first_place(messages, matcher, patterns)
    if found is None:
        return ""
    text, start, end = found
    return text[max(0, start - AROUND) : end + AROUND].strip()


def _kept(cell: Cell, messages: Messages) -> int:
    verdicts = cell.session.hand.verdicts(messages, cell.case.own)
    return mask(i for i, verdict in enumerate(verdicts) if verdict in {"kept", "both"})


def facts_about(cell: Cell, probe: int) -> tuple[int, ...]:
    """The facts at risk that stand in the answer of a probe or in one of its aliases."""
    made = cell.session.probes[probe]
    hits = (hit for form in (made.answer, *made.aliases) for hit in cell.session.matcher.hits(form))
    return tuple(sorted({hit.pattern for hit in hits} & cell.case.risk.anchors.keys()))


def _told(session: Session, seen: dict[int, list[_Looked]], times: Counter[int]) -> Iterator[Disagreement]:
    for probe, looked in sorted(seen.items()):
        facts = {fact for cell in session.cells for fact in facts_about(cell, probe)}
        for kind, name in BY.items():
            alike = [one for one in looked if one.kind == kind]
            if not alike:
                continue
            [(why, _)] = Counter(one.why for one in alike if one.why).most_common(1)
            yield Disagreement(
                session=session.transcript.id,
                probe=session.probes[probe].id,
                answer=session.probes[probe].answer,
                facts=tuple(session.facts[fact].value for fact in sorted(facts)),
                kept_by=name,
                why=why,
                cells=len(alike),
                asked=times[probe],
                quote=next(one.quote for one in alike if one.why == why),
            )


COLUMNS = ("probe", "answer", "mined", "kept by", "cells", "why", "where")


def table(found: Compared) -> list[tuple[str, ...]]:
    """The disagreements as rows of texts."""
    return [
        (d.probe, d.answer, ", ".join(d.facts), d.kept_by, f"{d.cells} of {d.asked}", d.why, f"…{d.quote}…")
        for d in found.disagreements
    ]


def sentence(found: Compared) -> str:
    """The counts behind the table."""
    cells = found.cells
    differ, of = cells.probe_alone + cells.facts_alone, sum(cells) - cells.not_mined
    return (
        f"Of {found.asked} times that a probe is asked at a cut, the untouched history answers {found.kept_by_none},"
        f" the protected set alone {found.kept_by_null}. Over {len(SHRINKING)} strategies, {cells.not_mined} of"
        f" {sum(cells)} verdicts are on probes about no mined fact. Of the other {of}, {cells.both_kept} are kept by"
        f" both, {cells.both_lost} by neither; they differ in {differ}: {cells.facts_alone} kept by the facts alone,"
        f" {cells.probe_alone} by the probe alone."
    )


def to_markdown(found: Compared) -> str:
    """The sentence and the table for a page."""
    lines = [sentence(found), "", "| " + " | ".join(COLUMNS) + " |", "|" + ":--|" * len(COLUMNS)]
    lines += ["| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in table(found)]
    return "\n".join([*lines, ""])
