"""What a gate writes as JUnit XML, whatever the texts in it are."""

import re
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
import runs
import xmlschema
from gate_outcomes import FACT, OUTCOMES, WORSE, every_outcome, gated, outcomes
from hypothesis import given, settings
from msgspec.structs import replace

from compactlab.gate.junit import junit

SCHEMAS = [xmlschema.XMLSchema(runs.CHECKOUT / "tests" / f"junit_{name}.xsd") for name in ("jenkins", "ant")]


def parsed(outcome, **options):
    return ET.fromstring(junit(outcome, **options))  # noqa: S314  # our own


def told(outcome, **options):
    """The results in a file, in order."""
    return [case[0].tag if len(case) else "passed" for case in parsed(outcome, **options).iter("testcase")]


@every_outcome
@pytest.mark.parametrize("inconclusive", ["fail", "pass"])
def test_the_xml_is_valid_by_both_schemas(outcome, inconclusive):
    for schema in SCHEMAS:
        schema.validate(junit(outcome, inconclusive=inconclusive))


@settings(max_examples=40)
@given(outcomes())
def test_the_xml_is_valid_whatever_the_texts_are(outcome):
    written = junit(outcome)
    for schema in SCHEMAS:
        schema.validate(written)


@pytest.mark.parametrize("spoiled", ['<testsuite name="x"', 'time="soon"', "<surprise/>"])
def test_the_schemas_refuse_what_is_wrong(spoiled):
    plain = junit(OUTCOMES["worse"])
    wrong = {
        '<testsuite name="x"': re.sub('<testsuite name="[^"]*"', "<testsuite", plain, count=1),
        'time="soon"': plain.replace('time="0"', 'time="soon"'),
        "<surprise/>": plain.replace("<properties>", "<surprise/><properties>"),
    }[spoiled]
    assert wrong != plain
    assert not any(schema.is_valid(wrong) for schema in SCHEMAS)


@pytest.mark.parametrize(
    ("name", "inconclusive", "expected"),
    [
        ("worse", "fail", ["passed", "failure"]),
        ("faults", "fail", ["error", "failure", "failure", "passed"]),
        ("not shown", "fail", ["failure", "passed"]),
        ("not shown", "pass", ["skipped", "passed"]),
        ("passed", "fail", ["passed", "skipped", "passed"]),
        ("not made again", "fail", ["failure", "passed"]),
        ("not made again", "pass", ["skipped", "passed"]),
        ("nothing", "fail", ["failure"]),
    ],
)
def test_each_check_and_fault_is_a_case_with_its_result(name, inconclusive, expected):
    assert sorted(told(OUTCOMES[name], inconclusive=inconclusive)) == sorted(expected)


@settings(max_examples=60)
@given(outcomes())
def test_a_file_is_red_if_and_only_if_the_gate_is_not_passed(outcome):
    found = told(outcome)
    assert bool({"failure", "error"} & {*found}) == (outcome.verdict != "pass")
    assert len(found) >= len(outcome.checks) + len(outcome.faults)


@settings(max_examples=40)
@given(outcomes())
def test_names_are_unique_and_the_numbers_of_a_suite_are_those_of_its_cases(outcome):
    root = parsed(outcome)
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(names) == len(set(names))
    for suite in root:
        counts = {"tests": len(suite.findall("testcase"))}
        counts |= {f"{what}s": len(suite.findall(f"testcase/{what}")) for what in ("failure", "error")}
        counts["skipped"] = len(suite.findall("testcase/skipped"))
        assert counts == {name: int(suite.get(name)) for name in counts}


def test_a_failure_names_the_lost_fact_where_it_stood_and_who_needed_it():
    (failure,) = parsed(OUTCOMES["worse"]).iter("failure")
    assert failure.text.split("\n") == [
        "worse: 1 fact fewer; none may be lost",
        "0.900 in the baseline, 0.800 in the run, -0.100, margin 0.05",
        "9 sessions of 7 stories",
        "lost: number 5433 in garden at 0.55; stood in message 12: to port 5433 on; needed by message 40: curl :5433/x",
    ]


def test_what_a_passed_case_warns_of_stands_in_the_output_of_its_suite():
    suites = {suite.get("name"): suite for suite in parsed(OUTCOMES["passed"])}
    assert "beyond chance" in suites["ladder"].findtext("system-out")
    assert suites["cull"].findtext("system-out") == ""


def test_signature_baseline_and_notes_are_properties():
    root = parsed(OUTCOMES["not made again"], when=datetime(2026, 12, 1, 9, 30, tzinfo=UTC))
    found = [(p.get("name"), p.get("value")) for p in root[0].iter("property")]
    assert [name for name, _ in found] == ["verdict", "signature", "baseline", "note"]
    assert ("baseline", "baselines/x.json") in found
    assert root[0].get("timestamp") == "2026-12-01T09:30:00"


def test_text_that_xml_forbids_survives_as_what_it_was():
    fact = FACT._replace(value="\x1b[31m]]>\ud83d", home_text="x" * 100_000)
    lost = replace(WORSE, lost=(fact,) * 60)
    (failure,) = parsed(gated("fail", [lost])).iter("failure")
    assert "number \\x1b[31m]]>\\ud83d in garden" in failure.text
    assert "… (100,000 characters)" in failure.text
    assert failure.text.endswith("\nand 10 more facts")
    assert len(failure.text) < 60_000
