"""What a gate refuses to compare, and which strategies it holds against which."""

import json

import gates
import pytest

from compactlab.errors import RunError
from compactlab.gate import Options, gate, read
from compactlab.gate.baseline import encoded, spans
from compactlab.gate.sides import name_of

LESS = ("none", "microcompact(keep_recent=4)", "sliding_window")


def held_against(**fields):
    """Gate the run against its own baseline with some fields of another."""
    made = gates.baseline()
    return gate(gates.made(), made._replace(of={**made.of, **fields}), where="base.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scorer", "2"),
        ("corpus", "0123456789ab"),
        ("counter", "o200k_base"),
        ("counter_version", "toktok-rs 0.1"),
        ("families", ["path"]),
        ("mode", "replay"),
        ("cuts", ["0.4", "0.6"]),
        ("budgets", ["10"]),
        ("reader", "some-model"),
    ],
)
def test_what_was_scored_otherwise_is_refused_with_its_name_and_the_way_out(field, value):
    with pytest.raises(RunError, match=rf"base\.json: cannot be compared.*{field} .*there.*here.*--update-baseline"):
        held_against(**{field: value})


@pytest.mark.parametrize(("field", "value"), [("seed", 7), ("compactlab", "0.0.9"), ("model", "other")])
def test_what_may_differ_is_told(field, value):
    found = held_against(**{field: value})
    assert (found.verdict, [note for note in found.notes if note.startswith(f"{field}: {value} in the baseline")]) != (
        "pass",
        [],
    )
    assert found.verdict == "pass"


def test_other_facts_under_the_same_digest_of_the_corpus_are_refused():
    made = gates.baseline()
    place = next(iter(made.side.facts))
    side = made.side._replace(facts={**made.side.facts, place: "3 000000000000"})
    with pytest.raises(RunError, match=f"facts needed at 1 places, such as {' at '.join(place)}"):
        gate(gates.made(), made._replace(side=side))


def test_a_strategy_that_the_run_lacks_is_refused_and_one_that_is_new_is_told_of():
    with pytest.raises(RunError, match="the run lacks microcompact of the baseline"):
        gate(gates.made("none", "sliding_window"), gates.baseline())
    found = gate(gates.made(), gates.baseline("none", "sliding_window"))
    assert found.verdict == "pass"
    assert {check.strategy for check in found.checks} == {"none", "sliding_window"}
    assert "microcompact is not in the baseline: it is judged from the next --update-baseline on" in found.notes


def test_a_case_of_the_baseline_that_the_run_lacks_is_a_fault():
    made = gates.baseline()
    gone = next(case for case in made.side.found if case.row == "sliding_window")
    more = made.side._replace(found={**made.side.found, gone._replace(cut="0.9"): made.side.found[gone]})
    found = gate(gates.made(), made._replace(side=more))
    assert [(fault.kind, fault.cut) for fault in found.faults] == [("missing", "0.9")]
    assert found.verdict == "fail"


def test_other_parameters_are_held_against_those_of_the_same_name():
    found = gate(gates.made(*LESS), gates.baseline())
    assert "microcompact(keep_recent=4) is held against the baseline's microcompact" in found.notes
    assert [check.strategy for check in found.checks[:: len(gates.RULE.metrics) * 3]] == list(LESS)


def test_a_strategy_of_another_name_is_held_against_the_one_that_was_named():
    two = ("none", "microcompact", "key_value")
    with pytest.raises(RunError, match="the run lacks sliding_window"):
        gate(gates.made(*two), gates.baseline())
    found = gate(gates.made(*two), gates.baseline(), Options(renamed={"sliding_window": "key_value"}))
    assert "key_value is held against the baseline's sliding_window" in found.notes
    with pytest.raises(RunError, match="no strategy 'cull' stands in the baseline"):
        gate(gates.made(*two), gates.baseline(), Options(renamed={"cull": "key_value"}))


def test_a_run_that_was_not_done_to_its_end_is_refused(tmp_path):
    import shutil

    from compactlab.results import Results

    shutil.copytree(gates.made().folder, tmp_path / "half")
    whole = (tmp_path / "half" / "records.jsonl").read_bytes()
    (tmp_path / "half" / "records.jsonl").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match=r"the run is not finished: .*has no rows"):
        gate(Results(tmp_path / "half"), gates.baseline())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no baseline"),
        ("[]", "is no baseline"),
        ('{"format": "compactlab-baseline 99"}', "is of the format 'compactlab-baseline 99'"),
        ('{"format": "compactlab-baseline 1"}', "cannot be read"),
    ],
)
def test_a_file_that_is_no_baseline_says_so(tmp_path, text, said):
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=rf"b\.json: {said}.*--update-baseline"):
        read(tmp_path / "b.json")
    with pytest.raises(RunError, match=r"none\.json: cannot be read .*--update-baseline makes one"):
        read(tmp_path / "none.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["rule"].update(metrics=["beauty"]),
        lambda plain: plain["rule"].update(metrics=[]),
        lambda plain: plain["rule"].update(margin=1),
        lambda plain: plain["of"].pop("corpus"),
        lambda plain: plain.update(cases=[]),
        lambda plain: plain["cases"]["courier-0"]["0.6"].update(none={"bound": "a lot"}),
        lambda plain: plain["cases"]["courier-0"]["0.6"].update(none=3),
    ],
)
def test_a_baseline_whose_parts_are_wrong_is_an_error_and_never_a_pass(tmp_path, change):
    plain = json.loads(encoded(gates.baseline()))
    change(plain)
    (tmp_path / "b.json").write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(RunError, match=r"b\.json: cannot be read"):
        read(tmp_path / "b.json")


def test_positions_are_written_as_spans():
    assert [spans(positions) for positions in ([], [3], [0, 1, 2], [0, 2, 3, 9])] == ["", "3", "0-2", "0,2-3,9"]


def test_names_are_without_parameters():
    assert name_of("ladder(microcompact(keep_recent=1), summary)") == "ladder"
