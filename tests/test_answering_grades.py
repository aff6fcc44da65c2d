"""How answers are graded, by match and by what a judge wrote; how far two ways agree; who is kin of whom."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab.answering.agreement import agreement, family, kinship
from compactlab.answering.grades import LONGEST, exact, grades, passes
from compactlab.answering.wording import DIMENSIONS
from compactlab.llm.checks import Rejected
from compactlab.probes.hand import Probe

PORT = Probe("port", "Which port does the database use?", "5433", (0,), 1, superseded=("5432",))
DAY = Probe("day", "By which day?", "16 February", (0,), 1, kind="decision", aliases=("Feb 16",))


def graded(value, **others):
    return json.dumps(dict.fromkeys(DIMENSIONS, value) | others)


# ---- by match


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("5433", "right"),
        ("**5433**", "right"),
        ("The database uses port 5433.", "right"),
        ("54330", "undecided"),
        ("1.5433", "undecided"),
        ("5432", "stale"),
        ("It is 5432, I think", "stale"),
        ("5433, no longer 5432", "undecided"),
        ("The usual one", "undecided"),
        ("5433 " + "word " * (LONGEST + 1), "undecided"),
        ("UNKNOWN", "unknown"),
        ("Unknown.", "unknown"),
        ("The answer is UNKNOWN", "unknown"),
        ("I don't know, the lines do not say.", "unknown"),
        ("Not mentioned in the conversation", "unknown"),
        ("Unknown, though 5433 is named", "right"),
        ("", "unknown"),
        ("  \n", "unknown"),
    ],
)
def test_match_grades_what_it_can_tell_and_leaves_the_rest(answer, grade):
    assert exact(answer, PORT) == grade


@pytest.mark.parametrize(("answer", "grade"), [("feb 16", "right"), ("16 FEBRUARY", "right"), ("17 Feb", "undecided")])
def test_an_alias_counts_and_case_does_not(answer, grade):
    assert exact(answer, DAY) == grade


def test_an_answer_that_is_itself_none_is_right_where_none_is_the_answer():
    assert exact("none", Probe("p", "Which?", "none", (), 0)) == "right"


@given(st.text(max_size=60), st.text(max_size=60))
def test_an_answer_that_holds_neither_value_is_never_called_right_or_stale(before, after):
    said = f"{before} {after}"
    if not any(digits in said for digits in ("5433", "5432")):
        assert exact(said, PORT) in {"undecided", "unknown"}


@given(st.sampled_from(["5433", "5432", "16 February", "Feb 16"]), st.sampled_from(["", "It is ", "- ", "\n"]))
def test_a_value_alone_is_always_decided(value, before):
    probe = PORT if value.isdigit() else DAY
    assert exact(f"{before}{value}", probe) == ("stale" if value == "5432" else "right")


# ---- by the judge


@pytest.mark.parametrize(
    "text",
    [graded(3), f"Let me see.\n```json\n{graded(3)}\n```", '{"a": 1} ' + graded(3) + " done", "{" + graded(3)],
)
def test_grades_are_read_from_json_with_words_around_it(text):
    assert grades(text) == dict.fromkeys(DIMENSIONS, 3)


@pytest.mark.parametrize(
    "text",
    ["", "5 of 5", "{}", "[5, 5, 5]", graded(6), graded(-1), graded(4.5), graded("5"), graded(True), graded(None),
     '{"accuracy": 5}', "{" * 2_000],
)  # fmt: skip
def test_what_is_no_grade_in_each_dimension_is_refused(text):
    with pytest.raises(Rejected, match="the judge gave"):
        grades(text)


@pytest.mark.parametrize(
    ("accuracy", "completeness", "right"), [(5, 5, True), (4, 4, True), (3, 5, False), (5, 3, False)]
)
def test_an_answer_is_right_if_it_is_accurate_and_complete(accuracy, completeness, right):
    assert passes(json.loads(graded(0, accuracy=accuracy, completeness=completeness))) is right


# ---- agreement and kinship


def test_kappa_is_that_of_the_textbook():
    # Of 100 answers 70 are graded alike; with 60 % right on either side, luck alone gives .6 x .6 + .4 x .4 = .52.
    found = agreement({(True, True): 45, (True, False): 15, (False, True): 15, (False, False): 25})
    assert found.share == pytest.approx(0.70)
    assert found.kappa == pytest.approx((0.70 - 0.52) / (1 - 0.52), abs=1e-6)
    assert agreement({(True, True): 10}).kappa is None
    assert agreement({}) is None


@given(st.tuples(*[st.integers(0, 50)] * 4))
def test_kappa_is_one_only_where_all_agree_and_never_above_the_share(counts):
    table = dict(zip([(True, True), (True, False), (False, True), (False, False)], counts, strict=True))
    found = agreement(table)
    if found and found.kappa is not None:
        assert found.kappa <= found.share + 1e-6
        assert (found.kappa == pytest.approx(1)) == (counts[1] == counts[2] == 0)
        turned = agreement({(b, a): n for (a, b), n in table.items()})
        assert turned.kappa == pytest.approx(found.kappa)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gpt-5", "openai/gpt-4o-mini", True),
        ("o3-mini", "gpt-5", True),
        ("claude-sonnet-4-5", "anthropic/claude-haiku-4-5@20251001", True),
        ("us.anthropic.claude-sonnet-4-5-v1:0", "claude-opus-4-1", True),
        ("Qwen2.5-7B-Instruct", "qwq-32b", True),
        ("meta-llama/Llama-3.3-70B-Instruct", "mistral-large", False),
        ("gemini-2.5-pro", "gemma-3-27b", True),
        ("deepseek-r1-distill-llama-70b", "deepseek-chat", True),
        ("smollm2-135m-instruct (local)", "SmolLM2-360M", True),
        ("scripted", "scripted", True),
        ("my-model-v1", "my-model-v2", True),
        ("my-model-v1", "your-model-v1", False),
        ("foo3", "o3", False),
    ],
)
def test_models_are_kin_by_their_names(one, other, same):
    assert (family(one) == family(other)) is same
    assert bool(kinship(one, [("writes", other)])) is same


def test_a_judge_is_warned_of_once_for_each_of_its_kin():
    others = [("writes", "gpt-5-mini"), ("answers", "claude-opus-4-1"), ("answers", "o3"), ("writes", "")]
    assert [line.split(" with ")[1].split(",")[0] for line in kinship("gpt-5", others)] == ["gpt-5-mini", "o3"]
