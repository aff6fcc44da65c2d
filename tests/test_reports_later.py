"""No row is dropped in silence: each is tested, or stands in `reports.LATER` with the step that will show it."""

import re

import pytest
import test_answering_runs
import test_gate_reports
import test_memory_attention
import test_memory_conversation
import test_memory_git
import test_memory_journal
import test_memory_locks
import test_memory_originals
import test_memory_passes
import test_memory_places
import test_memory_secrets
import test_memory_tools
import test_reports_caches
import test_reports_content
import test_reports_control
import test_reports_import
import test_reports_marks
import test_reports_meaning
import test_reports_measure
import test_reports_models
import test_reports_money
import test_reports_pairs
import test_reports_replay
import test_reports_resume
import test_reports_weight
from reports import LATER, ROWS, filled, ids_of, sketch

from compactlab.tokens import counter

KINDS = {
    test_reports_pairs: "K01 K02 K03 K24",
    test_reports_content: "K04 K05 K06 K22 K23",
    test_reports_weight: "K07 K08 K09",
    test_reports_meaning: "K14 K15 K17 K18",
    test_reports_import: "K21 K25 K28",
    test_reports_models: "K10 K11 K12 K14 K16 K17 K19 K20",
    test_reports_marks: "K13",
    test_reports_caches: "K29",
    test_reports_replay: "K07 K08 K13 K18",
    test_reports_money: "K09 K27",
    test_reports_measure: "K30 K32",
    test_reports_resume: "K31",
    test_reports_control: "K33",
    test_answering_runs: "K30",
    test_gate_reports: "K30",
    test_memory_attention: "K13",
    test_memory_conversation: "K25",
    test_memory_git: "K26",
    test_memory_journal: "K32 K33",
    test_memory_locks: "K26",
    test_memory_originals: "K25",
    test_memory_passes: "K17 K25 K33",
    test_memory_places: "K25",
    test_memory_secrets: "K19",
    test_memory_tools: "K13 K33",
}
STEPS = ("replay", "real models", "concurrency", "journal")


def test_there_are_a_hundred_and_ninety_seven_rows_and_none_twice():
    assert len(ROWS) == len(set(ROWS)) == 197


def test_every_row_is_tested_or_waits_for_a_step():
    done = {name for module in KINDS for name in ids_of(module)}
    assert sorted(done | LATER.keys()) == sorted(ROWS)


@pytest.mark.parametrize("module", KINDS, ids=lambda module: module.__name__)
def test_a_file_holds_the_rows_of_its_kinds(module):
    done = ids_of(module)
    assert {name.partition("-")[0] for name in done} == set(KINDS[module].split())


def test_what_waits_names_its_step_in_one_sentence():
    for name, why in LATER.items():
        step, colon, sentence = why.partition(": ")
        assert (name, step in STEPS, colon, "." in sentence) == (name, True, ": ", False)
        assert len(sentence.split()) > 5


def test_most_rows_are_tested_now():
    done = {name for module in KINDS for name in ids_of(module)}
    assert len(done) >= 134


def test_a_sketch_is_read():
    system, user, asked, answered, note = sketch("S'be brief' U~20 A[read:c1,c2]+think T![c1,c2]~8k N'old'")
    assert (system.role, system.text, user.by_person) == ("system", "be brief", True)
    assert [call.name for call in asked.calls] == ["read", "bash"]
    assert [(result.call_id, result.is_error) for result in answered.results] == [("c1", True), ("c2", True)]
    assert (note.synthetic, note.source) == (True, 4)
    assert counter()([user.text, answered.results[1].text]) == [20, 8_000]


@pytest.mark.parametrize("text", ["X", "U A B", "U 'words'", "A[c1"])
def test_what_is_no_sketch_is_refused(text):
    with pytest.raises(AssertionError, match=re.escape("cannot read the sketch")):
        sketch(text)


def test_a_text_has_the_weight_it_was_asked_for():
    assert counter()([filled(8_000, "first words")]) == [8_000]
