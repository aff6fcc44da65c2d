"""Verdicts on the labelled cases of the public package compaction-guard, judged by our code alone.

Its source distribution (0.1.0) holds 300 cases: one of 40 constraints, a context before a compaction and one after, and
what was done to the constraint. The cases are another project's: they are read from a file that the user has, and
nothing of them is kept here.

A constraint that is declared is cut into clauses as one that a person says; each clause is a statement, and the history
is judged as any other. Their names map onto ours like this: *preserved* and *paraphrased* are kept; *weakened*,
*mutated* (a value changed or gone) and *contradicted* are ours; *dropped* is lost. Of a constraint of several clauses
the worst verdict holds; where some are lost and others kept, it is weakened. Their *unverifiable* has no counterpart:
we always say something, which is lost where no sentence speaks of it.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.matching import Verdict
from compactlab.statements import Statement, cues, mine_statements
from compactlab.statements.judging import Judge
from compactlab.statements.rules import Form, demand, statement
from compactlab.statements.wording import clauses, plain, sentences
from compactlab.study.evidence.figure import Figure, counted
from compactlab.transcript import Block, Message, Text

PACKAGE = "compaction-guard"
VERSION = "0.1.0"
INSIDE = "evidence/corpus.jsonl"
FETCH = f"pip download --no-deps --no-binary :all: {PACKAGE}=={VERSION}"

Label = Literal["preserved", "paraphrased", "weakened", "mutated", "contradicted", "dropped"]
OURS: dict[Label, Verdict] = {
    "preserved": "kept",
    "paraphrased": "kept",
    "weakened": "weakened",
    "mutated": "mutated",
    "contradicted": "contradicted",
    "dropped": "lost",
}
"""Our verdict for each of their labels."""
PUBLISHED: dict[Label, int] = {
    "preserved": 92,
    "paraphrased": 0,
    "weakened": 31,
    "mutated": 39,
    "contradicted": 0,
    "dropped": 40,
}
"""How many cases of each label their own tier without a model gets right, as printed in their README."""
DAMAGED: tuple[Label, ...] = ("mutated", "contradicted", "dropped")
"""Labels that must never come out as kept: the false certificates of their table."""
_WORST: tuple[Verdict, ...] = ("kept", "lost", "weakened", "mutated", "contradicted")


class Turn(msgspec.Struct, frozen=True):
    """A message of a case."""

    role: Literal["system", "user", "assistant"]
    content: str


class Case(msgspec.Struct, frozen=True):
    """A constraint, the context before and after, and what was done to it."""

    invariant: str
    before: tuple[Turn, ...]
    after: tuple[Turn, ...]
    label: Label


def load(path: Path) -> tuple[Case, ...]:
    """Read the cases from the source distribution, from a folder of it, or from the file of cases itself."""
    try:
        return tuple(msgspec.json.decode(line, type=Case) for line in _bytes_of(path).splitlines())
    except (OSError, tarfile.TarError, KeyError, msgspec.DecodeError) as error:
        raise TranscriptError(f"{path}: no cases of {PACKAGE} ({error}); expected what `{FETCH}` gives") from error


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        return (path / INSIDE).read_bytes()
    if not tarfile.is_tarfile(path):
        return path.read_bytes()
    with tarfile.open(path) as archive:
        name = next((name for name in archive.getnames() if name.endswith(f"/{INSIDE}")), INSIDE)
        file = archive.extractfile(name)
        if file is None:
            raise KeyError(name)
        return file.read()


def declared(text: str, homes: Iterable[Block] = ()) -> tuple[Statement, ...]:
    """Make constraints of the clauses of a text that is known to be one; *homes* are the blocks that say it.

    >>> [(s.text, s.polarity) for s in declared("Deploy on Fridays; never touch prod.")]
    [('Deploy on Fridays', 'must'), ('never touch prod.', 'must_not')]
    """
    found = []
    for start, end in sentences(text):
        sentence = text[start:end]
        for first, last in clauses(sentence):
            said = plain(sentence[first:last])
            form = demand(said, is_listed=True)
            if form is None:
                form = Form(cues.FORBIDS, "must_not" if cues.FORBIDS.search(said) else "must")
            made = statement("constraint", sentence[first:last], sentence, form)
            found.append(replace(made, homes=tuple(homes)))
    return tuple(found)


def judged(case: Case) -> Verdict:
    """Our verdict on the constraint of a case."""
    before, after = _messages(case.before), _messages(case.after)
    own = {block for message in before for block in message.blocks}
    homes = [block for block in own if isinstance(block, Text) and case.invariant in block.text]
    return together(Judge(declared(case.invariant, homes), own).verdicts(after))


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict on a constraint of several clauses.

    >>> together(["kept", "mutated"]), together(["kept", "lost"]), together(["lost", "lost"])
    ('mutated', 'weakened', 'lost')
    """
    plainly: list[Verdict] = ["kept" if verdict == "both" else verdict for verdict in verdicts]
    worst = max(plainly, key=_WORST.index)
    return "weakened" if worst == "lost" and "kept" in plainly else worst


def is_mined(case: Case) -> bool:
    """Tell whether the miner finds a constraint in the words of the case by itself."""
    found = mine_statements(_messages(case.before))
    return any(
        one.kind == "constraint" and one.text.strip(" .") in case.invariant and one.text for one in found if one.homes
    )


def _messages(turns: Iterable[Turn]) -> tuple[Message, ...]:
    return tuple(Message(turn.role, (Text(turn.content),)) for turn in turns)


def confusion(cases: Iterable[Case]) -> dict[Label, Counter[Verdict]]:
    """By label, how often each verdict was given."""
    found: dict[Label, Counter[Verdict]] = {label: Counter() for label in OURS}
    for case in cases:
        found[case.label][judged(case)] += 1
    return found


def figures(cases: Sequence[Case]) -> list[Figure]:
    """How many cases of each label come out as they should, beside what the package prints of itself."""
    found = confusion(cases)
    lines = []
    for label, ours in OURS.items():
        of = found[label].total()
        what = f"{label}: judged {ours} (their tier without a model: {PUBLISHED[label]})"
        lines.append(counted("labelled cases", what, found[label][ours], of, "all" if label in _DEMANDED else ""))
    wrong = sum(found[label]["kept"] for label in DAMAGED)
    damaged = sum(found[label].total() for label in DAMAGED)
    by_itself = {case.invariant: is_mined(case) for case in cases}
    return [
        *lines,
        counted(
            "labelled cases",
            "false certificates: mutated, contradicted or dropped, judged kept",
            wrong,
            damaged,
            "none",
        ),
        counted(
            "labelled cases",
            "their constraints that the miner finds by itself",
            sum(by_itself.values()),
            len(by_itself),
        ),
    ]


_DEMANDED: tuple[Label, ...] = ("preserved", "mutated", "dropped")
