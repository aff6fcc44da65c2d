"""The tables of a tuning: what is advised for each type of agent, what that is worth held out, and on other types."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from compactlab.report.section import INTERVAL, Section, interval, markdown, sample, share
from compactlab.signature import Counts, signature_of
from compactlab.tuning import Bounds, Fold, ForType, Goal, Row, Tuning
from compactlab.tuning.tried import Tried
from compactlab.tuning.tuner import ADVISED

COLUMNS = ("choice", "policy", "sessions", "fired", "saved", "kept", "bound", "facts", "rules kept", "rules bound",
           "rules", "overflows", "faults")  # fmt: skip
FOLDS = ("left out", "chosen", "saved", "kept", "rules kept", "its own best", "saves", "regret")
LEVELS = ("quality", "rules", "policy", "saved", "bound", "rules bound")
NO = "none holds"
CELLS = ("tuned on", "tried on", "policy", "window", "sessions", "saved", "kept", "rules kept", "overflows", "holds")

MEANING = (
    "held out: chosen without the story of the session. saved: 1 - (sent + own calls + debt) / sent unbounded, of"
    " sessions that finished; kept: of the facts that an action needed behind a fire, those that stood near a word that"
    " tells what they are about; rules kept: of people's standing rules at a fire, those that the view after it keeps;"
    " facts, rules: how many. fired, overflows: sessions; faults: views that a provider would refuse, and failed"
    " fires. best of each session: nobody can know it."
)


def sentences(tuning: Tuning) -> list[str]:
    """Say for each type of agent what is advised, or why nothing is."""
    return [f"{one.agent_type}, window {one.window:,}: {_said(one, tuning.options.goal)}." for one in tuning.types]


def _said(one: ForType, goal: Goal) -> str:
    if one.choice is None:
        return f"no advice: {one.reason}"
    if one.advice is None:
        return f"no advice: {one.reason}; nearest comes {_nearest(one.choice.nearest, goal)}"
    advised = next(row for row in one.rows if row.label == ADVISED)
    held, lacking = one.held_out, ", ".join(one.unchosen)
    care = f"; where {lacking} is left out no candidate holds on the others: take it with care" if lacking else ""
    if held is None:
        return f"{advised.policy}{care}"
    return (
        f"{advised.policy}; what was chosen like it saves, held out, {interval(held.saved)} and keeps"
        f" {interval(held.kept)} of the needed facts and {interval(held.rules)} of the rules{care}"
    )


def _nearest(nearest: Bounds, goal: Goal) -> str:
    wanted = (("kept", nearest.kept, goal.quality), ("rules", nearest.rules, goal.constraints))
    missed = [
        f"bound of {what} {_bound(got)} for {share(asked)}" for what, got, asked in wanted if (got or 0.0) < asked
    ]
    missed += [f"{n} {what}" for what, n in (("overflows", nearest.overflows), ("faults", nearest.faults)) if n]
    return f"{nearest.policy} ({', '.join(missed)})"


def sections(tuning: Tuning) -> list[Section]:
    """Give the tables of each type that has candidates, and the transfer matrix where there are several types."""
    goal, signed = tuning.options.goal, signature(tuning)
    found = [
        section
        for one in tuning.types
        if one.choice is not None
        for section in (_main(one, goal), _folds(one, goal), _levels(one))
    ]
    if tuning.transfer:
        found.append(_transfer(tuning))
    return [section._replace(signature=signed) for section in found]


def to_markdown(tuning: Tuning) -> str:
    """Give the whole report as a page."""
    said = "\n".join(f"- {sentence}" for sentence in sentences(tuning))
    return "\n".join([f"# Tuned\n\n{said}\n", *map(markdown, sections(tuning))])


def signature(tuning: Tuning) -> str:
    """How the numbers were made."""
    windows = {one.agent_type: one.window for one in tuning.types}
    same = len(set(windows.values())) == 1
    told = str(next(iter(windows.values()))) if same else ", ".join(f"{w} of {t}" for t, w in windows.items())
    rows = [row for one in tuning.types for kept in one.rows for row in kept.tried]
    counts = Counts(
        sessions=sum(len(one.sessions) for one in tuning.types),
        stories=len({story for one in tuning.types for story in one.story.values()}),
        facts=sum(row.uses for one in tuning.types for kept in one.rows[:1] for row in kept.tried),
        cases=sum(one.candidates * len(one.sessions) for one in tuning.types),
        writers=tuple(sorted({row.model for row in rows if row.model})),
    )
    return signature_of(replace(tuning.manifest, cuts=(f"window {told}",), seed=tuning.options.seed), counts)


def _main(one: ForType, goal: Goal) -> Section:
    rows = [(row.label, row.policy, *_texts(row)) for row in one.rows]
    tried = f"all {one.candidates}" if one.complete else f"{one.candidates}"
    legend = (
        f"A candidate must keep, by the lower one-sided 95 % bound over sessions, {share(goal.quality)} of the needed"
        f" facts and {share(goal.constraints)} of the standing rules, without an overflow or a fault; of those that do"
        f" ({one.choice.holding if one.choice else 0} of {tried} that were tried) the simplest within one standard"
        f" error of the most savings is chosen. {MEANING} {INTERVAL}"
        f" {sample({'saved': [row.saved for row in one.rows], 'kept': [row.kept for row in one.rows]})}"
    )
    return Section(f"Tuned for {one.agent_type}, window {one.window:,}", COLUMNS, rows, legend, ("policy",))


def _texts(row: Row) -> Iterable[str]:
    counts = {name: f"{n:,}" for name, n in row.counts.items()}
    yield from (counts["sessions"], counts["fired"], interval(row.saved))
    yield from (interval(row.kept), _bound(row.bounds.kept), counts["uses"])
    yield from (interval(row.rules), _bound(row.bounds.rules), counts["rules"])
    yield from (counts["overflows"], counts["faults"])


def _folds(one: ForType, goal: Goal) -> Section:
    legend = (
        "chosen: by the sessions of the other stories alone. its own best: of all that was tried, what saves most there"
        f" and keeps {share(goal.quality)} of its facts and {share(goal.constraints)} of its"
        f" rules; regret: what it saves more. Mean regret {interval(one.regret)}. {sample({'regret': [one.regret]})}"
    )
    rows = [row for fold in one.folds for row in _of_fold(fold)]
    words = ("chosen", "its own best")
    return Section(f"Held out, {one.agent_type}", FOLDS, rows, legend, words)


def _of_fold(fold: Fold) -> Iterable[tuple[str, ...]]:
    """One row a session that was left out."""
    best = {row.session: row for row in fold.best}
    chosen = {row.session: row for row in fold.tried}
    for session in fold.sessions:
        row, other = chosen.get(session), best.get(session)
        told = (row.policy, share(row.saved), share(row.retention), share(row.obedience)) if row else (NO, *"---")
        named = (other.policy, share(other.saved)) if other else (NO, "-")
        yield (session, *told, *named, _regret(row, other))


def _regret(row: Tried | None, best: Tried | None) -> str:
    """What the session's own best policy saves more; a dash where there is none, or one of them did not finish."""
    if row is None or best is None or row.saved is None or best.saved is None:
        return "-"
    return share(best.saved - row.saved)


def _bound(value: float | None) -> str:
    """A lower bound of a share: it may come out below 0, which says no more than 0."""
    return share(None if value is None else max(0.0, value))


def _levels(one: ForType) -> Section:
    rows = []
    for goal, found in one.levels:
        asked = (share(goal.quality), share(goal.constraints) if goal.constraints else "any")
        numbers = (found.policy, share(found.saved), _bound(found.kept), _bound(found.rules)) if found else (NO, *"---")
        rows.append((*asked, *numbers))
    legend = (
        "What would be chosen if more or fewer of the needed facts had to be kept, and of the rules the share that was"
        " asked for, or any: by all sessions of the type, not held out. bound: the lower one-sided 95 % bounds over"
        f" sessions. n = {len(one.sessions)} sessions of {one.stories} stories."
    )
    return Section(f"Chosen by other goals, {one.agent_type}", LEVELS, rows, legend, ("policy",))


def _transfer(tuning: Tuning) -> Section:
    windows = {one.agent_type: one.window for one in tuning.types}
    rows = []
    for cell in tuning.transfer:
        row = cell.row
        numbers = (interval(row.saved), interval(row.kept), interval(row.rules), str(row.counts["overflows"]))
        where = f"{cell.tried_on} (held out)" if cell.held_out else cell.tried_on
        holds = "yes" if cell.holds else "no"
        window = f"{windows[cell.tried_on]:,}"
        rows.append((cell.tuned_on, where, row.policy, window, str(len(row.tried)), *numbers, holds))
    legend = (
        "What is advised for one type of agent, tried on the sessions of another in that one's window. held out: on its"
        " own sessions, each by the policy that was chosen without it. holds: it keeps there, by the lower bounds, what"
        f" was asked for, and nothing overflows. {INTERVAL}"
    )
    return Section("Tuned on one type, tried on another", CELLS, rows, legend, ("tried on", "policy"))
