"""Operations on files as words tell them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.traffic.reported import reported

TOLD = [
    ("Created `src/app.py`.", [("src/app.py", "created")]),
    ("I wrote /srv/out/x.md and read docs/spec.md.", [("/srv/out/x.md", "written"), ("docs/spec.md", "read")]),
    ("Read src/one.py and edited src/two.py", [("src/one.py", "read"), ("src/two.py", "modified")]),
    ("`src/one.py` was updated; src/two.py deleted", [("src/one.py", "modified"), ("src/two.py", "deleted")]),
    ("files modified: one.py, two.py", [("one.py", "modified"), ("two.py", "modified")]),
    ("**Files Modified:**\n1. `lib/one.ex` - a plug\n2. `lib/two.ex`",
     [("lib/one.ex", "modified"), ("lib/two.ex", "modified")]),
    ("Files read:\n- docs/one.md\n\nThen something.\n- docs/two.md", [("docs/one.md", "read")]),
    ("- meterflow/load.py (read, edit)", [("meterflow/load.py", "read"), ("meterflow/load.py", "modified")]),
    ("- docs/runbook.md (write)", [("docs/runbook.md", "written")]),
    ("- config/ci.toml: edit last", [("config/ci.toml", "modified")]),
    ("Renamed `src/old.py` to `src/new.py`", [("src/old.py", "moved"), ("src/new.py", "moved")]),
    ("deleted tmp/old.py", [("tmp/old.py", "deleted")]),
    ("- Read /workspace/notes/one.txt", [("/workspace/notes/one.txt", "read")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TOLD)
def test_a_path_and_a_verb_of_one_clause_tell_an_operation(text, expected):
    assert [tuple(report) for report in reported(text)] == expected


NOT_TOLD = [
    "did not modify src/app.py",
    "src/app.py was never deleted",
    "Will create src/app.py",
    "src/app.py should be updated",
    "Next: delete src/app.py",
    "without having changed src/app.py",
    "Please read src/app.py",
    "Read src/app.py first.",
    "src/app.py holds the loader",
    "- src/app.py (grep)",
    "create src/app.py",
    "Created a loader",
    "No files were modified: src/app.py",
    "created and/or deleted",
    "- INFO service.py:36 order created",
]


@pytest.mark.parametrize("text", NOT_TOLD)
def test_what_is_denied_planned_or_asked_for_is_no_report(text):
    assert reported(text) == ()


@given(st.text(alphabet="abmodified ./\n:,;()-`*created", max_size=200))
def test_reports_name_paths_that_stand_in_the_text(text):
    assert all(report.path.strip("./") in text for report in reported(text))


@pytest.mark.parametrize("piece", ["created a/b.py ", "a/" * 40, "(read, edit, ", "- ", "modified: ", "x.py: edit\n"])
def test_reading_is_linear(piece):
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    reported(text)
    assert time.process_time() - began < 4
