import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab import catalog
from compactlab.errors import SpecError, UnknownName
from compactlab.policy import MARKED, Policy, Step, policy
from compactlab.pressure import Marks

SPECS = ("cull", "microcompact(keep_recent=3)", "summary", "ladder(cull, sliding_window(preserve_recent=4))", "defer")


@pytest.mark.parametrize(
    ("spec", "written", "name"),
    [
        ("none", "none", "none"),
        (" none ", "none", "none"),
        ("sliding_window(preserve_recent=10)", "sliding_window", "sliding_window"),
        ("window(min_messages=20)", "sliding_window(preserve_recent=20)", "sliding_window"),
        ("microcompact@.80", "microcompact@0.8", "microcompact"),
        (" microcompact @ 0.8 + cull@0.9+summary@0.95", MARKED, "microcompact+cull+summary"),
        ("defer(reason='a+b@c')@0.9", "defer(reason='a+b@c')@0.9", "defer"),
        ("ladder(cull, sliding_window)@0.8", "ladder(cull, sliding_window)@0.8", "ladder"),
    ],
)
def test_a_spec_is_read_and_written_in_one_form(spec, written, name):
    built = policy(spec)
    assert (repr(built), built.name) == (written, name)
    assert policy(repr(built)) == built


@given(
    st.lists(st.sampled_from(SPECS), min_size=1, max_size=4),
    st.sets(st.floats(0.01, 0.99), min_size=4, max_size=4),
)
def test_any_policy_reads_back_what_it_writes(specs, marks):
    steps = tuple(Step(mark, catalog.strategy(spec)) for mark, spec in zip(sorted(marks), specs, strict=False))
    assert policy(repr(Policy(steps))) == Policy(steps)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "a strategy is missing"),
        ("cull@0.8+", "a strategy is missing"),
        ("cull+summary", "of several strategies each has a mark"),
        ("cull@0.8+summary", "of several strategies each has a mark"),
        ("cull@0.9+summary@0.8", "the marks do not rise"),
        ("cull@0.9+summary@0.9", "the marks do not rise"),
        ("cull@high", "mark 'high' is no number"),
        ("cull@", "mark '' is no number"),
        ("cull@0.8@0.9", "has several marks"),
        ("cull@80", "expected a share of the window above 0 and below 1"),
        ("cull@1.0", "expected a share of the window above 0 and below 1"),
        ("cull@0", "expected a share of the window above 0 and below 1"),
        ("cull@nan", "expected a share of the window above 0 and below 1"),
        ("none@0.8", "none compacts nothing"),
        ("none@0.8+cull@0.9", "none compacts nothing"),
        ("cull(@0.8", "the brackets do not fit"),
    ],
)
def test_a_bad_spec_says_what_was_expected(spec, said):
    with pytest.raises(SpecError, match=re.escape(said)):
        policy(spec)


def test_a_strategy_that_does_not_exist_is_named():
    with pytest.raises(UnknownName, match="did you mean 'cull'"):
        policy("culll@0.8")


def test_a_strategy_alone_runs_at_the_lowest_mark_of_the_agent_type():
    marks = Marks(by_agent_type={"subagent": (0.5, 0.7)})
    for built in (policy("cull"), policy(catalog.strategy("cull")), policy(policy("cull"))):
        assert built.at(marks.of("subagent")) == {0.5: catalog.strategy("cull")}
        assert built.at(marks.of("primary")) == {0.8: catalog.strategy("cull")}


def test_steps_with_marks_of_their_own_keep_them():
    assert list(policy(MARKED).at(Marks((0.1,)))) == [0.8, 0.9, 0.95]


def test_the_policy_none_has_no_steps_whatever_it_is_built_from():
    assert policy("none") == policy(catalog.strategy("none")) == Policy()
    assert (Policy().at(Marks()), Policy().uses_model) == ({}, False)


@pytest.mark.parametrize(
    ("spec", "asks"), [(MARKED, True), ("cull@0.8+ladder@0.9", False), ("ladder(cull, summary)", True)]
)
def test_a_policy_says_whether_it_calls_a_model(spec, asks):
    assert policy(spec).uses_model is asks
