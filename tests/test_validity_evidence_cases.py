"""The labelled cases of another project: our verdicts on them, and the page that holds the counts.

The cases are not kept here. An environment variable names the source distribution that holds them, or pip fetches it;
the tests that need it say so where it cannot be had.
"""

import json
import os
import subprocess
import sys
import tarfile
from functools import cache
from pathlib import Path

import msgspec
import pytest
import runs
from msgspec.structs import replace
from test_validity_evidence import rows, shown

from compactlab.cli.validate_command import CASES
from compactlab.errors import TranscriptError
from compactlab.study.evidence import cases
from compactlab.study.evidence.figure import to_markdown


@cache
def labelled():
    """The source distribution: as an environment variable names it, or as pip has or fetches it; None without it."""
    if os.environ.get(CASES):
        return Path(os.environ[CASES])
    target = runs.scratch() / "labelled"
    command = [sys.executable, "-m", "pip", "--retries", "0", "--timeout", "15", *cases.FETCH.split()[1:], "-d", target]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    found = sorted(target.glob("compaction_guard-*.tar.gz")) if done.returncode == 0 else []
    return found[0] if found else None


def needs_the_cases():
    if labelled() is None:
        pytest.skip(f"the cases of {cases.PACKAGE} cannot be had: set {CASES} to what `{cases.FETCH}` leaves")
    return cases.load(labelled())


def made_of_cases():
    return to_markdown(cases.figures(cases.load(labelled())))


@pytest.mark.study
def test_the_labelled_cases_come_out_as_the_page_says_and_no_worse_than_their_own_tier():
    given = needs_the_cases()
    assert len(given) == 300
    found = cases.confusion(given)
    assert {label: found[label][ours] for label, ours in cases.OURS.items()} == {
        label: count for label, count in _of_page().items() if label in cases.OURS
    }
    assert all(found[label][ours] >= cases.PUBLISHED[label] for label, ours in cases.OURS.items())
    assert [found[label]["kept"] for label in cases.DAMAGED] == [0, 0, 0]
    assert shown("cases") == made_of_cases()


def _of_page():
    return {what.partition(":")[0]: int(row[0].split()[0]) for what, row in rows(shown("cases")).items()}


def test_the_page_tells_of_cases_that_are_no_worse_than_their_own_tier():
    found = _of_page()
    assert all(found[label] >= count for label, count in cases.PUBLISHED.items())
    assert found["false certificates"] == 0


def case(invariant, after, label="weakened"):
    turns = (cases.Turn("system", "Follow the rules."), cases.Turn("user", f"Rule: {invariant}"))
    return cases.Case(invariant, turns, (turns[0], cases.Turn("user", f"So far: {after}")), label)


DEPOTS = "Ship only to depot_north; never call depot_south."


@pytest.mark.parametrize(
    ("invariant", "after", "expected"),
    [
        (
            "Ship only to depot_north; never call depot_south.",
            "Ship only to depot_north; never call depot_south.",
            "kept",
        ),
        (
            "Ship only to depot_north; never call depot_south.",
            "Ship only to depot_west; never call depot_south.",
            "mutated",
        ),
        ("Ship only to depot_north; never call depot_south.", "Never call depot_south.", "weakened"),
        ("Ship only to depot_north; never call depot_south.", "The lorries were washed.", "lost"),
        ("The fee for a stall is $80.", "The fee for a stall is $90.", "mutated"),
        ("The fee for a stall is $80.", "THE FEE FOR A STALL IS $80 !", "kept"),
    ],
)
def test_a_declared_constraint_is_judged_by_its_clauses_together(invariant, after, expected):
    assert cases.judged(case(invariant, after)) == expected


def test_a_constraint_whose_own_message_stands_is_kept():
    made = case("The fee for a stall is $80.", "Nothing of note.")
    assert cases.judged(replace(made, after=(*made.after, made.before[1]))) == "kept"


def test_cases_are_read_from_an_archive_a_folder_or_a_file_and_anything_else_is_refused(tmp_path):
    made = [case("The fee for a stall is $80.", "x", label) for label in ("preserved", "dropped")]
    file = tmp_path / "guard" / cases.INSIDE
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(plain, made)), encoding="utf-8")
    with tarfile.open(tmp_path / "guard.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "guard", "guard-0.1.0")
    assert cases.load(file) == cases.load(tmp_path / "guard") == cases.load(tmp_path / "guard.tar.gz") == tuple(made)
    for wrong in (tmp_path / "none", runs.TRANSCRIPTS[0], tmp_path):
        with pytest.raises(TranscriptError, match="pip download"):
            cases.load(wrong)


def plain(made):
    return json.dumps(msgspec.to_builtins(made))
