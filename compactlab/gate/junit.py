r"""The outcome of a gate as JUnit XML, as CI servers read it.

One test case a strategy, type of agent and metric, one a fault; a suite a strategy. The file keeps to what both of the
schemas in use allow: that of the Jenkins xUnit plugin (`junit-10.xsd`) and that of Ant's JUnit task (`JUnit.xsd`).

- What could not be examined, an errored or a missing case, is an `error`; whatever is worse or broken is a `failure`.
- All that a failure has to say stands in its text, since not every server shows the attribute `message`. A case that
  passed has no room for text in both schemas: what it warns of stands in the `system-out` of its suite.
- Names are unique in the file, since servers drop the second of two that are the same; there are no dots in the names
  of strategies there, since servers take what stands before one for a package.
- Control characters and halves of characters, which XML cannot hold, come out as escapes such as `\x1b`. A value is cut
  at 120 characters, the words around it and a reason at 240, names and messages at 360, lines at 1,200.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Literal, NamedTuple
from xml.etree import ElementTree as ET

from compactlab.gate.outcome import Check, FactChange, Fault, Gated
from compactlab.gate.wording import AROUND, VALUE, difference, visible, why

FACTS = 50
"""Facts of each case that are named, lost ones first; the rest is told as a number."""
NAME = 360
LINE = 1_200
WHOLE = "gate"
"""The suite of what is of no strategy."""

Result = Literal["passed", "failure", "error", "skipped"]
Allowed = Literal["fail", "pass"]
"""What becomes of a check that could not be decided."""


class _Case(NamedTuple):
    """A test case before it is written; `lines` follow its message."""

    suite: str
    name: str
    result: Result
    kind: str
    message: str
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(visible(line, LINE) for line in (self.message, *self.lines))


def junit(gated: Gated, *, inconclusive: Allowed = "fail", when: datetime | None = None) -> str:
    """Write the outcome as JUnit XML; *when* is the time in the file, by default now.

    A check that could not be decided is a failure, as the command's own exit code has it, or skipped where
    *inconclusive* lets it pass; one that decides nothing is skipped. There is a failure or an error in the file if, and
    only if, the gate is not passed. No seconds are told: a gate compares, and does not know what a run took.
    """
    cases = _told_apart(_cases(gated, inconclusive))
    root = ET.Element("testsuites")
    for number, name in enumerate(dict.fromkeys(case.suite for case in cases)):
        suite = ET.SubElement(root, "testsuite", name=name, package="compactlab", id=str(number), hostname="localhost")
        suite.set("timestamp", f"{when or datetime.now(UTC):%Y-%m-%dT%H:%M:%S}")
        _fill(suite, [case for case in cases if case.suite == name], gated)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _cases(gated: Gated, inconclusive: Allowed) -> list[_Case]:
    """The cases of all faults and checks; one more where none of them says what the verdict is."""
    cases = [*map(_of_fault, gated.faults), *(_of_check(check, inconclusive) for check in gated.checks)]
    is_let_pass = gated.verdict == "inconclusive" and inconclusive == "pass"
    undecided = any(check.decides and check.verdict == "inconclusive" for check in gated.checks)
    if gated.verdict == "pass" or undecided or any(case.result in {"failure", "error"} for case in cases):
        return cases or [_Case(WHOLE, "verdict", "error", "empty", "nothing was compared")]
    message = "; ".join((f"the gate is {gated.verdict}", *gated.notes))
    return [_Case(WHOLE, "verdict", "skipped" if is_let_pass else "failure", gated.verdict, message), *cases]


def _told_apart(cases: Iterable[_Case]) -> list[_Case]:
    """Put a number behind the name of a case whose name an earlier one of its suite bears."""
    taken: set[tuple[str, str]] = set()
    found = []
    for case in cases:
        names = (case.name if n == 1 else f"{case.name} ({n})" for n in count(1))
        name = next(name for name in names if (_class(case.suite), name) not in taken)
        taken.add((_class(case.suite), name))
        found.append(case._replace(name=name))
    return found


def _fill(suite: ET.Element, cases: list[_Case], gated: Gated) -> None:
    """Write the cases of a suite into it, between its properties and its output, in the order that Ant's schema has."""
    results = Counter(case.result for case in cases)
    numbers = {"tests": len(cases), "failures": results["failure"], "errors": results["error"]}
    for key, number in {**numbers, "skipped": results["skipped"], "time": 0}.items():
        suite.set(key, str(number))
    properties = ET.SubElement(suite, "properties")
    told = (("verdict", gated.verdict), ("signature", gated.signature), ("baseline", gated.baseline))
    for key, value in (*told, *(("note", note) for note in gated.notes)):
        ET.SubElement(properties, "property", name=key, value=visible(value, LINE))
    for case in cases:
        element = ET.SubElement(suite, "testcase", name=case.name, classname=_class(case.suite), time="0")
        if case.result != "passed":
            result = ET.SubElement(element, case.result, type=case.kind, message=visible(case.message, NAME))
            result.text = case.text
    warned = [f"{case.name}\n{case.text}" for case in cases if case.result == "passed" and case.lines]
    ET.SubElement(suite, "system-out").text = "\n\n".join(warned)
    ET.SubElement(suite, "system-err")


def _of_check(check: Check, inconclusive: Allowed) -> _Case:
    name = visible(f"{check.agent_type}: {check.metric}", NAME)
    held = f"{check.base:.3f} in the baseline, {check.new:.3f} in the run, {difference(check)}, margin {check.margin:g}"
    lines = [held, f"{check.sessions} sessions of {check.stories} stories"]
    result: Result = "passed"
    if check.verdict == "fail":
        result = "failure"
    elif check.verdict == "inconclusive":
        result = "failure" if check.decides and inconclusive == "fail" else "skipped"
    elif not check.warning:
        lines = []
    facts = _facts(check) if lines else ()
    return _Case(_suite(check.strategy), name, result, check.verdict, why(check), (*lines, *facts))


def _facts(check: Check) -> Iterator[str]:
    """A line a fact that moved, the lost ones first."""
    both = [*(("lost", fact) for fact in check.lost), *(("gained", fact) for fact in check.gained)]
    yield from (_line(how, fact) for how, fact in both[:FACTS])
    if len(both) > FACTS:
        yield f"and {len(both) - FACTS:,} more facts"


def _line(how: str, fact: FactChange) -> str:
    home, used = visible(fact.home_text, AROUND), visible(fact.used_text, AROUND)
    return (
        f"{how}: {fact.family} {visible(fact.value, VALUE)} in {visible(fact.session, VALUE)} at {fact.cut};"
        f" stood in message {fact.home}: {home}; needed by message {fact.used}: {used}"
    )


def _of_fault(fault: Fault) -> _Case:
    result: Result = "error" if fault.kind in {"error", "missing"} else "failure"
    name = visible(f"{fault.kind}: {fault.session} at {fault.cut}", NAME)
    return _Case(_suite(fault.strategy), name, result, fault.kind, f"{fault.kind}: {fault.reason}")


def _suite(strategy: str) -> str:
    return visible(strategy, NAME) or WHOLE


def _class(suite: str) -> str:
    return f"compactlab.{suite.replace('.', '·')}"
