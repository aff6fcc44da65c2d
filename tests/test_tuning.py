"""Tuning finds what is right by construction, says what it is worth held out, and changes with what is asked for."""

import json
from functools import cache

import corpora
import pytest
import runs
from corpora import COURIER, WARDEN

from compactlab.errors import RunError, SpecError
from compactlab.report import tuned
from compactlab.report.section import markdown
from compactlab.settings import Project
from compactlab.tuning import Goal, Options, tune
from compactlab.tuning.tuner import ADVISED, BEST, HELD_OUT, NOTHING, SETTINGS

TAIL, SHORT, LONG = (f"sliding_window{keep}@0.5" for keep in ("", "(preserve_recent=2)", "(preserve_recent=40)"))
CLEARED = "microcompact@0.7"
POLICIES = (TAIL, SHORT, LONG, CLEARED, "microcompact@0.9", "key_value(kv_target=64)@0.5", "cull@0.8")


def options(**more):
    given = {"window": corpora.WINDOW, "counter": "chars/4", "policies": POLICIES, "jobs": 1}
    return Options(**(given | more))


@cache
def made():
    return corpora.corpus(runs.scratch() / "tuned-on", sessions=4)


@cache
def found(**more):
    """What tuning on the constructed sessions came to; all share one folder of trials."""
    return tune(made(), options(**more), runs.scratch() / "tuned")


def of(tuning, agent_type):
    return next(one for one in tuning.types if one.agent_type == agent_type)


@pytest.mark.parametrize(("agent_type", "right"), [(COURIER, TAIL), (WARDEN, CLEARED)])
def test_the_right_answer_is_found_and_holds_on_sessions_held_out(agent_type, right):
    one = of(found(), agent_type)
    assert (one.advice, one.reason, one.unchosen) == (right, "", ())
    assert [fold.policy for fold in one.folds] == [right] * 4
    assert sorted(row.session for row in one.held_out.tried) == sorted(one.sessions)
    assert (one.held_out.kept.mean, one.held_out.rules.mean, one.regret.mean) == (1.0, 1.0, pytest.approx(0.0))


def test_each_choice_holds_at_home_and_fails_on_the_other_type():
    cells = {(cell.tuned_on, cell.tried_on): cell for cell in found().transfer}
    assert {pair: cell.holds for pair, cell in cells.items()} == {
        (COURIER, COURIER): True,
        (COURIER, WARDEN): False,
        (WARDEN, COURIER): False,
        (WARDEN, WARDEN): True,
    }
    assert cells[COURIER, WARDEN].row.rules.mean == 0.0  # who slides loses every rule
    assert cells[WARDEN, COURIER].row.counts["overflows"] == 4  # where there are no results to clear, nothing fits
    assert [cells[kind, kind].held_out for kind in (COURIER, WARDEN)] == [True, True]


@pytest.mark.parametrize(
    ("goal", "agent_type", "advice"),
    [
        (Goal(0.0, 0.9), COURIER, SHORT),
        (Goal(0.8, 0.9), COURIER, TAIL),
        (Goal(0.0, 0.0), WARDEN, SHORT),
        (Goal(0.8, 0.9), WARDEN, CLEARED),
    ],
)
def test_the_advice_changes_when_a_constraint_does(goal, agent_type, advice):
    assert of(found(goal=goal), agent_type).advice == advice


def test_another_goal_tries_nothing_anew():
    found()
    folder = runs.scratch() / "tuned"
    before = {path: path.read_bytes() for path in folder.glob("candidates-*.jsonl")}
    found(goal=Goal(0.3, 0.3))
    assert before
    assert {path: path.read_bytes() for path in folder.glob("candidates-*.jsonl")} == before


def test_a_search_of_the_whole_space_finds_the_same_kinds_of_answers(tmp_path):
    given = options(policies=(), trials=72, writes=False, agent_type=COURIER)
    one = tune(made(), given, tmp_path).types[0]
    assert (one.advice, one.complete) == (TAIL, False)
    assert one.candidates <= 72


def test_a_search_that_was_killed_goes_on_to_the_same_end(tmp_path):
    given = options(policies=(), trials=48, writes=False, agent_type=WARDEN)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    one = tune(made(), given, whole)
    [journal] = whole.glob("candidates-*.jsonl")
    rows = journal.read_bytes().splitlines(keepends=True)
    cut.mkdir()
    (cut / journal.name).write_bytes(b"".join(rows[: len(rows) // 2]) + rows[len(rows) // 2][:20])
    other = tune(made(), given, cut)
    assert other.types == one.types
    assert sorted((cut / journal.name).read_bytes().splitlines(keepends=True)) == sorted(rows)


def test_two_processes_come_to_what_one_does(tmp_path):
    other = tune(made(), options(jobs=2), tmp_path)
    assert (other.types, other.transfer) == (found().types, found().transfer)


def test_progress_is_told_up_to_the_last_candidate(tmp_path):
    told = []
    tune(made(), options(agent_type=WARDEN), tmp_path, lambda *step: told.append(step))
    assert [told[0], *(step for step in told if step[2] == "mining facts")] == [
        (0, 0, "reading"),
        (0, 0, "mining facts"),
    ]
    done = [step[0] for step in told]
    assert (done, told[-1]) == (sorted(done), (8, 8, f"candidates for {WARDEN}"))


def test_the_same_with_another_goal_mines_nothing_again(tmp_path):
    told = []
    first = tune(made(), options(agent_type=WARDEN), tmp_path)
    again = tune(made(), options(agent_type=WARDEN, goal=Goal(0.1, 0.1)), tmp_path, lambda *step: told.append(step[2]))
    assert (first.folder, "mining facts" in told) == (again.folder, False)


@pytest.mark.parametrize("sessions", [1, 3])
def test_under_four_sessions_nothing_is_advised(tmp_path, sessions):
    corpora.corpus(tmp_path / "few", sessions, (COURIER,))
    tuning = tune(tmp_path / "few", options(), tmp_path / "out")
    [one] = tuning.types
    assert (one.advice, one.choice, one.rows) == (None, None, ())
    assert "too few" in one.reason
    assert f"no advice: {sessions} session" in tuned.sentences(tuning)[0]
    assert tuned.sections(tuning) == []


def test_where_nothing_holds_nothing_is_advised_and_the_nearest_is_told():
    tuning = found(policies=(SHORT,), agent_type=WARDEN)
    [one] = tuning.types
    assert (one.advice, one.held_out) == (None, None)
    assert "no candidate holds" in tuned.sentences(tuning)[0]
    assert f"{SHORT} (" in tuned.sentences(tuning)[0]


def test_where_nothing_fires_doing_nothing_is_advised():
    assert [one.advice for one in found(window=1_000_000).types] == ["none", "none"]


def test_a_type_without_sessions_is_an_error_that_names_those_there_are():
    with pytest.raises(RunError, match="there are 4 courier, 4 warden"):
        tune(made(), options(agent_type="primary"))


def test_a_batch_cannot_be_waited_for():
    with pytest.raises(SpecError, match="cannot wait for a batch"):
        options(project=Project(llm_spec="batch:folder"))


def test_the_window_of_a_type_in_the_settings_is_taken():
    project = Project(per_type={COURIER: {"window": 3_000}})
    windows = {one.agent_type: one.window for one in found_in(project).types}
    assert windows == {COURIER: 3_000, WARDEN: 8_000}


def found_in(project):
    return tune(made(), options(window=None, project=project, policies=(TAIL,)), runs.scratch() / "tuned")


def test_the_report_shows_every_row_and_says_how_it_was_made():
    tuning = found()
    sections = tuned.sections(tuning)
    assert [section.title.split(",")[0] for section in sections] == [
        *(f"{what}{kind}" if what == "Tuned for " else what for kind in (COURIER, WARDEN) for what in TITLES),
        "Tuned on one type",
    ]
    labels = {row[0] for row in sections[0].rows}
    assert labels == {HELD_OUT, ADVISED, SETTINGS, NOTHING, BEST}
    assert all(len(row) == len(section.columns) for section in sections for row in section.rows)
    assert all("window 4000" in section.signature and "no model" in section.signature for section in sections)
    assert all(markdown(section) in tuned.to_markdown(tuning) for section in sections)


TITLES = ("Tuned for ", "Held out", "Chosen by other goals")


def test_a_row_of_the_journal_is_one_policy_on_one_session(tmp_path):
    tune(made(), options(), tmp_path)
    [journal] = tmp_path.glob("candidates-*.jsonl")
    rows = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert len({(row["policy"], row["session"]) for row in rows}) == len(rows) == (len(POLICIES) + 2) * 8
    assert {row["window"] for row in rows} == {corpora.WINDOW}
