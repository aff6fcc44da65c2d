"""The study of the gate: a corpus that is made, a strategy that draws, and how often the gate is wrong about it.

Run as a script, `python tests/test_gate_study.py` does the whole study and puts its numbers into the page.
"""

import re
import sys
from functools import cache
from random import Random

import gates
import pytest
import runs
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlab.errors import SpecError
from compactlab.gate import Options, Rule, accepted, gate
from compactlab.gate.alarms import Alarms, Plan, study, told
from compactlab.gate.alarms.losses import UNCHANGED, difference
from compactlab.gate.alarms.outcomes import Drawer, jobs_of
from compactlab.gate.alarms.reruns import Deal, Rate, of_check, of_gate, over_sessions, rated
from compactlab.gate.alarms.sessions import sessions
from compactlab.gate.sides import taken

PAGE = runs.CHECKOUT / "docs" / "ci.md"
SECTION = re.compile(r"(?<=<!-- study: made by tests/test_gate_study\.py -->\n).*?(?=<!-- /study -->)", re.DOTALL)
SMALL = Plan(16, 100, 40, losses=((0, ""), (10, "")), asked=(20,), few=8)
"""A study of some seconds, of what the gate promises."""


@cache
def small() -> Alarms:
    return study(SMALL, jobs=1)


# ---- reruns


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 20), st.integers(0, 99))
def test_no_draw_stands_on_both_sides_of_a_rerun_or_twice_on_one(replicates, more, seed):
    count = 2 * replicates + more
    base = {name: [float(2**i) for i in range(count)] for name in ("garden", "novel")}
    for rerun in Deal(5, replicates, seed).differences(base, base):
        for values in rerun.values():
            low = [(int(value) & -int(value)).bit_length() - 1 for value in values]  # 2^b - 2^a is a multiple of one
            high = [at + (abs(int(value)) >> at).bit_length() for at, value in zip(low, values, strict=True)]
            assert len({*low, *high}) == 2 * replicates
            assert {*low, *high} <= set(range(count))


def test_dealt_differences_spread_as_those_of_fresh_seeds_do():
    draw = Random(4)
    pool = {"garden": [draw.random() for _ in range(60)]}
    mean = sum(pool["garden"]) / 60
    squares = sum((value - mean) ** 2 for value in pool["garden"]) / 59
    found = [sum(rerun["garden"]) / 20 for rerun in Deal(4_000, 20).differences(pool, pool)]
    assert sum(found) / 4_000 == pytest.approx(0, abs=0.005)
    assert sum(value**2 for value in found) / 4_000 == pytest.approx(2 * squares / 20, rel=0.08)


RERUN = st.integers(2, 6).flatmap(
    lambda count: st.dictionaries(
        st.sampled_from([f"s{i}" for i in range(9)]),
        st.lists(st.floats(-0.5, 0.5), min_size=count, max_size=count),
        min_size=1,
    )
)
RANK = {"fail": 0, "inconclusive": 1, "pass": 2}


@settings(max_examples=60, deadline=None)
@given(RERUN, st.floats(0.01, 0.2), st.floats(0, 0.3))
def test_what_keeps_more_or_has_more_room_is_judged_no_worse(rerun, margin, more):
    lifted = {name: [value + more for value in values] for name, values in rerun.items()}
    for rule in (of_check, over_sessions, of_gate(dict.fromkeys(rerun, "primary"))):
        verdict = RANK[rule(rerun, margin)]
        assert verdict <= RANK[rule(lifted, margin)]
        assert verdict <= RANK[rule(rerun, margin + more)]


def test_under_equal_seeds_an_unchanged_strategy_differs_by_nothing_and_passes():
    first, again = Drawer(jobs_of(sessions(5), seed=0)).draws([UNCHANGED, UNCHANGED], range(3))
    same = {name: [b - a for a, b in zip(first[name], again[name], strict=True)] for name in first}
    assert of_gate(dict.fromkeys(same, "primary"))(same, 0.01) == "pass"
    assert difference(first, again) == 0


@pytest.mark.parametrize(("low", "verdict"), [(6, "fail"), (4, "pass")])
def test_the_gate_is_as_bad_as_its_worst_check_and_few_sessions_of_a_type_have_no_say(low, verdict):
    rerun = {f"s{i}": [0.2, 0.2] for i in range(12)}
    rerun |= {f"s{i}": [-0.08 + 0.3 * (-1) ** i, -0.08 - 0.3 * (-1) ** i] for i in range(low)}
    types = {name: "primary" if int(name[1:]) < low else "subagent" for name in rerun}
    assert of_check(rerun, 0.05) == "pass"
    assert of_gate(types)(rerun, 0.05) == verdict
    assert of_gate(types)(dict(list(rerun.items())[-4:]), 0.05) == "inconclusive"


@pytest.mark.parametrize("other", [gates.Draws(0.6), gates.Draws(0.2)])
def test_the_gate_of_the_study_says_what_the_gate_itself_says(other):
    base = gates.made(gates.Draws(0.6), replicates=4)
    new = gates.made(other, replicates=4, seed=1)
    old, now = taken(base), taken(new)
    values = [by_session(side) for side in (old, now)]
    rerun = {name: [b - a for a, b in zip(values[0][name], values[1][name], strict=True)] for name in values[0]}
    baseline, verdicts = accepted(base, Rule(("irrecoverable",))), set()
    for margin in (0.01, 0.05, 0.1, 0.2, 0.4, 0.8):
        found = gate(new, baseline, Options(margin=margin))
        assert not found.faults
        assert found.checks[0].difference == pytest.approx(sum(map(sum, rerun.values())) / 4 / len(rerun))
        assert found.verdict == of_gate(now.types)(rerun, margin)
        verdicts.add(found.verdict)
    assert len(verdicts) > 1


def by_session(run):
    """By session what each replicate keeps: of one cut, as these runs have."""
    found = {}
    for case, passes in run.side.found.items():
        if all("irrecoverable" in one.shares for one in passes):
            found[case.session] = [value / n for value, n in (one.shares["irrecoverable"] for one in passes)]
    return found


def test_a_session_that_alone_falls_is_an_alarm_and_one_replicate_says_nothing():
    alone = {f"s{i}": [0.1, 0.11, 0.1] for i in range(9)} | {"s9": [-0.3, -0.3, -0.3]}
    assert over_sessions(alone, 0.05) != "fail" == of_check(alone, 0.05)
    assert of_check({name: values[:1] for name, values in alone.items()}, 0.05) == "inconclusive"


def test_rates_count_every_rerun_once():
    reruns = [{"s": [0.0, 0.0]}, {"s": [-1.0, -1.0]}, {"s": [-1.0, 1.0]}]
    assert rated(of_check, reruns, 0.05) == Rate(1, 1, 1)


# ---- the study


def test_few_alarms_are_false_and_few_losses_of_ten_points_are_missed():
    unchanged, worse = (line.rate for line in small().gate)
    assert unchanged.reruns == worse.reruns == 100
    assert unchanged.share("fail")[0] <= 0.05
    assert worse.share("fail")[0] >= 0.9
    assert small().gate[1].less == pytest.approx(0.1, abs=0.012)


def test_more_replicates_tell_more_and_a_wider_margin_lets_more_pass():
    rates = {(of.loss.points, of.replicates, of.margin): of.rate for of in small().power}
    assert rates[0, 20, 0.05].passed > 50
    for margin in SMALL.margins:
        assert rates[0, 1, margin].inconclusive == 100
        assert rates[0, 5, margin].passed < rates[0, 20, margin].passed or rates[0, 5, margin].passed == 100
        assert rates[10, 5, margin].inconclusive >= rates[10, 20, margin].inconclusive
    assert rates[0, 20, 0.02].passed < rates[0, 20, 0.05].passed <= rates[0, 20, 0.1].passed
    assert rates[10, 20, 0.02].failed >= rates[10, 20, 0.05].failed > rates[10, 20, 0.1].failed


def test_the_same_plan_gives_the_same_bytes_on_one_process_and_on_two():
    plan = Plan(5, 10, 8, losses=((0, ""), (10, "")), asked=(4,), replicates=(1, 3), few=5, seed=3)
    heard = []
    first = study(plan, jobs=2, progress=lambda *of: heard.append(of))
    assert heard == [(i + 1, 5, f"made-{i:02}") for i in range(5)]
    again, other = study(plan, jobs=1), study(plan._replace(seed=4), jobs=1)
    assert told.to_markdown(first) == told.to_markdown(again) != told.to_markdown(other)
    assert first == again


@pytest.mark.parametrize(
    ("plan", "named"),
    [(Plan(draws=79), "80 or more"), (Plan(0), "1 or more"), (Plan(reruns=0), "1 or more"), (Plan(1, 1, 3), "80")],
)
def test_a_plan_that_cannot_be_done_is_refused(plan, named):
    with pytest.raises(SpecError, match=named):
        study(plan, jobs=1)


# ---- what is told


def test_tables_hold_every_line_and_the_counts_are_those_of_the_rates():
    found = small()
    text = told.to_markdown(found)
    for table in told.tables(found):
        assert table.title in text
        assert {len(row) for row in table.rows} == {len(table.columns)}
    assert f"caught in {found.gate[1].rate.failed} of 100 reruns" in text
    assert f"{found.gate[0].rate.passed} pass, {found.gate[0].rate.inconclusive} are inconclusive" in text
    assert text.count(" / ") == 2 * (len(found.power) + len(found.schemes)) + 4
    lines = told.as_data(found)["lines"]
    assert len(lines) == len(found.gate) + len(found.power) + len(found.schemes)
    assert all(sum(line["rate"].values()) == 100 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--alarms", "sessions.jsonl"), "makes its own sessions"),
        (("--alarms", "--study"), "one of --study and --alarms"),
        (("--alarms", "--draws", "7"), "7 draws: expected 80 or more"),
        (("--alarms", "--sessions", "0"), "0 sessions"),
    ],
)
def test_the_command_refuses_what_it_cannot_do_in_one_line(said, arguments, named):
    code, out, err = said("validate", *arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert err.count("\n") == 1


def test_the_command_writes_the_section(said, tmp_path):
    target = tmp_path / "section.md"
    assert said("validate", "--alarms", "--sessions", 1, "--draws", 80, "--jobs", 1, "--markdown", target) == (
        0,
        "",
        "",
    )
    assert target.read_text(encoding="utf-8").count("\n|") > 30


# ---- the page


def test_the_page_says_that_the_promise_is_kept():
    section = " ".join(SECTION.search(PAGE.read_text(encoding="utf-8"))[0].split())
    false = re.search(r"unchanged: a false alarm in (\d+) of 200 reruns", section)
    caught = re.search(r"10 points lost \(.*?\): caught in (\d+) of 200 reruns", section)
    assert int(false[1]) <= 10
    assert int(caught[1]) >= 180


@pytest.mark.study
def test_the_whole_study_gives_the_page_again():
    found = study()
    assert found.gate[0].rate.failed <= 10
    assert all(line.rate.failed >= 180 for line in found.gate if line.loss.points)
    assert SECTION.search(PAGE.read_text(encoding="utf-8"))[0] == told.to_markdown(found)


if __name__ == "__main__":
    text = SECTION.sub(lambda _: told.to_markdown(study()), PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{PAGE} made anew\n")
