"""Scores of answers, by the kind of the probe (in the column `family`); each is a count of `n` answers.

`answer_right`, `answer_wrong`, `answer_unknown`, `answer_stale`, `answer_undecided`: one of the five for each answer
that was given, whether match or a judge told. `answer_present`: the value stood there by presence. `answer_gap`: by how
much more often it stood there than it was answered. `answer_found`: of those that stood there, how many were answered
rightly; `answer_guessed`: of those that did not. `answer_failed` counts those that got no answer, among all.
`grade_accuracy` and the five other dimensions are sums of a judge's grades from 0 to 5; `graded_alike` counts, of the
answers that both match and the judge graded, those on which they agree; the column `group` holds the two verdicts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from compactlab.answering import Answer, Verdict
from compactlab.answering.grades import passes
from compactlab.answering.wording import DIMENSIONS
from compactlab.metrics import Score

GIVEN: tuple[Verdict, ...] = ("right", "wrong", "unknown", "stale", "undecided")
GRADED = {
    (one, other): f"{'right' if one else 'wrong'} by match, {'right' if other else 'wrong'} by judge"
    for one in (True, False)
    for other in (True, False)
}
"""By the verdicts of match and judge, the group of `graded_alike`."""


def scores(answers: Iterable[Answer]) -> Iterator[Score]:
    """Yield the scores of one history's answers."""
    by_kind: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_kind[answer.kind].append(answer)
    for kind, found in sorted(by_kind.items()):
        yield from _of_kind(kind, found)


def _of_kind(kind: str, answers: Sequence[Answer]) -> Iterator[Score]:
    yield Score("answer_failed", sum(bool(answer.failed) for answer in answers), len(answers), kind)
    given = [answer for answer in answers if not answer.failed]
    if not given:
        return
    verdicts = Counter(answer.verdict for answer in given)
    for verdict in GIVEN:
        yield Score(f"answer_{verdict}", verdicts[verdict], len(given), kind)
    present = [answer for answer in given if answer.is_present]
    yield Score("answer_present", len(present), len(given), kind)
    yield Score("answer_gap", len(present) - verdicts["right"], len(given), kind)
    absent = [answer for answer in given if not answer.is_present]
    for metric, among in (("answer_found", present), ("answer_guessed", absent)):
        if among:
            yield Score(metric, sum(answer.verdict == "right" for answer in among), len(among), kind)
    yield from _of_judge(kind, given)


def _of_judge(kind: str, given: Sequence[Answer]) -> Iterator[Score]:
    asked = [answer for answer in given if answer.grades or answer.ungraded]
    if asked:
        yield Score("ungraded", sum(bool(answer.ungraded) for answer in asked), len(asked), kind)
    graded = [answer for answer in given if answer.grades]
    for name in DIMENSIONS if graded else ():
        yield Score(f"grade_{name}", sum(answer.grades[name] for answer in graded), len(graded), kind)
    both = Counter((answer.exact == "right", passes(answer.grades)) for answer in graded if answer.exact != "undecided")
    for (by_match, by_judge), count in sorted(both.items()):
        alike = count if by_match == by_judge else 0
        yield Score("graded_alike", alike, count, kind, group=GRADED[by_match, by_judge])
