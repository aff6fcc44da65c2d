"""What no margin excuses: errors, lists that a provider would refuse, rules turned round, overflows, missing cases.

What a baseline carries already is known and is no fault again; an error is one always.
"""

from __future__ import annotations

from collections.abc import Iterator

from compactlab.gate.compared import Rows
from compactlab.gate.outcome import Fault
from compactlab.gate.sides import Case, Found, Run, Side, row_of

NOTHING = Found({})


def errors(run: Run) -> Iterator[Fault]:
    """Every case of a run that ended in an error, whether a baseline knows it or not."""
    for head in run.heads:
        if head.outcome == "failed":
            what = f" (control of the size of {head.size_of})" if head.size_of else ""
            yield Fault("error", row_of(head.strategy, head.budget), head.session, head.cut, head.reason + what)


def invalid(run: Run) -> Iterator[Fault]:
    """Every result that breaks a rule of a provider that its input kept."""
    for case, found in run.side.found.items():
        if any(one.invalid for one in found):
            yield _fault("validity", case, "a provider would refuse the messages that are left, and took those before")


def against(run: Run, base: Side, rows: Rows) -> Iterator[Fault]:
    """What a run has and the baseline does not: cases missing, results rejected, rules turned round, overflows."""
    reasons = {
        Case(head.session, head.cut, row_of(head.strategy, head.budget)): head.reason
        for head in run.heads
        if head.outcome == "rejected" or not head.size_of
    }
    now = {old: new for new, old in rows.of.items()}
    for case, before in base.found.items():
        here = case._replace(row=now[case.row])
        found = run.side.found.get(here, ())
        if len(found) < len(before) and not found:
            yield _fault("missing", here, "the baseline has this case, the run has not")
            continue
        if _most(found, "rejected") and not _most(before, "rejected"):
            yield _fault("validity", here, f"the guard rejected it: {reasons.get(here, '')}")
        if (more := _most(found, "inverted")) > (known := _most(before, "inverted")):
            yield _fault("inverted", here, f"{more} demands of people say the opposite now, {known} in the baseline")
        if _most(found, "overflow") and not _most(before, "overflow"):
            yield _fault("overflow", here, f"it does not fit any more: {reasons.get(here, '')}")


def _most(found: tuple[Found, ...], what: str) -> int:
    """The worst of all replicates."""
    counts = ((one.outcome == what) if what == "rejected" else getattr(one, what) for one in found)
    return max(map(int, counts), default=0)


def _fault(kind: str, case: Case, reason: str) -> Fault:
    return Fault(kind, case.row, case.session, case.cut, reason)  # type: ignore[arg-type]  # one of its kinds
