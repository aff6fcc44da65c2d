"""The advice in a settings file: keys that mean the very policy, evidence beside them, all else as it stands."""

import json

import corpora
import pytest
import runs
from corpora import COURIER, WARDEN
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tuning import CLEARED, POLICIES, SHORT, TAIL, found, made, of, options

from compactlab.cli import main
from compactlab.errors import SpecError
from compactlab.harness import Settings, run
from compactlab.policy import policy
from compactlab.pressure import Marks
from compactlab.settings import advised, load
from compactlab.tuning import Goal, Options, advice, tune
from compactlab.tuning.candidates import Space

BEFORE = """# how our agents compact

[compaction]
keep_recent = 3   # holds for all

[compaction.per_type.courier] # talks a lot
strategy = "ladder"
pins = ["role:system"]

[llm]
kind = "extractive"
"""
AFTER = """# how our agents compact

[compaction]
keep_recent = 3   # holds for all

[compaction.per_type.courier] # talks a lot
strategy = "sliding_window" # EVIDENCE
pins = ["role:system"]
preserve_recent = 10
marks = [0.5, 0.95]

[compaction.per_type.warden]
strategy = "microcompact" # EVIDENCE
keep_recent = 5
marks = [0.7, 0.95]

[llm]
kind = "extractive"
"""


def written(path, tuning=None):
    """Write the advice and give the file, with each evidence under one word."""
    tuning = tuning or found()
    types = advice.written(tuning, path)
    text = path.read_text(encoding="utf-8")
    for one in tuning.types:
        text = text.replace(advice.evidence(one), "EVIDENCE")
    return types, text


def test_all_else_in_the_file_stays_as_it_was(tmp_path):
    file = tmp_path / "compactlab.toml"
    file.write_text(BEFORE, encoding="utf-8")
    types, text = written(file)
    assert types == (COURIER, WARDEN)
    assert sorted(text.split("\n")) == sorted(AFTER.split("\n"))
    assert text.startswith(BEFORE[: BEFORE.index("strategy")])


def test_written_twice_is_the_same_file_and_no_other_is_left(tmp_path):
    file = tmp_path / "compactlab.toml"
    once, again = written(file)[1], written(file)[1]
    assert once == again
    assert list(tmp_path.iterdir()) == [file]
    assert load(file).policy(COURIER).at(load(file).marks.of(COURIER)) == policy(TAIL).at(Marks())


@pytest.mark.parametrize(
    "before",
    [
        "",
        "[compaction.per_type]\ncourier = { policy = 'cull@0.7+ladder@0.9', marks = [0.7, 0.95], pins = [] } # mine\n",
        "compaction.per_type.courier.strategy = 'summary'\ncompaction.per_type.courier.preserve_recent = 7\n",
        "[compaction]\nper_type = { courier = { strategy = 'cull' } }\n",
        "[compaction.per_type.courier]\nmin_messages = 4\nstrategy = 'key_value'\nkv_target = 9\n",
        "[compaction]\npreserve_recent = 33\nmarks = [0.6, 0.95]\n",
    ],
)
def test_any_form_of_the_table_comes_to_the_advised_policies(tmp_path, before):
    file = tmp_path / "compactlab.toml"
    file.write_text(before, encoding="utf-8")
    written(file)
    project = load(file)
    for kind, right in ((COURIER, TAIL), (WARDEN, CLEARED)):
        assert project.policy(kind).at(project.marks.of(kind)) == policy(right).at(Marks())


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("[compaction\n", "is not TOML"),
        ("[compaction]\nstrateg = 'cull'\n", "strateg"),
        ("[compaction]\nper_type = 3\n", "expected a table"),
        ("[compaction.per_type]\ncourier = 3\n", "expected a table"),
    ],
)
def test_a_file_that_is_no_settings_is_left_as_it_was(tmp_path, before, said):
    file = tmp_path / "compactlab.toml"
    file.write_text(before, encoding="utf-8")
    with pytest.raises(SpecError, match=said):
        advice.written(found(), file)
    assert file.read_text(encoding="utf-8") == before
    assert list(tmp_path.iterdir()) == [file]


def test_without_advice_nothing_is_written(tmp_path):
    nothing = found(policies=(SHORT,), agent_type=WARDEN)
    assert advice.written(nothing, tmp_path / "compactlab.toml") == ()
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60)
@given(st.sampled_from(Space().policies), st.sampled_from([Marks(), Marks((0.6, 0.9)), Marks((0.5,))]))
def test_the_keys_of_any_candidate_mean_that_policy_whatever_all_types_have(spec, marks):
    keys = advice.keys(spec, marks)
    above = "preserve_recent = 33\nkeep_recent = 33\nkv_target = 33\n" if spec != "none" else ""
    told = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    file = runs.scratch() / "keys.toml"
    file.write_text(
        f"[compaction]\nmarks = {list(marks.values)}\n{above}[compaction.per_type.x]\n{told}", encoding="utf-8"
    )
    project = load(file)
    own = project.marks.of("x")
    assert project.policy("x").at(own) == policy(spec).at(marks)
    assert own.last == marks.last  # output narrows where it did


def test_the_evidence_says_sessions_window_and_what_it_came_to():
    one = of(found(), COURIER)
    assert advice.evidence(one) == (
        "tuned on 4 sessions of 4 stories in a window of 4,000; held out it saves 70 %, keeps 100 % of needed facts and"
        " 100 % of rules"
    )


def test_the_next_run_replays_each_type_as_it_was_advised(tmp_path):
    file = tmp_path / "compactlab.toml"
    written(file)
    given = Settings(mode="replay", window=corpora.WINDOW, counter="chars/4", project=load(file), jobs=1)
    results = run(made(), tmp_path / "run", given)
    sent = {r.session: r.value for r in results.records if r.strategy == "settings" and r.metric == "task_tokens"}
    plain = {r.session: r.value for r in results.records if r.strategy == "settings" and r.metric == "sent_plain"}
    advised = {row.session: row.saved for one in found().types for row in one.rows[1].tried}
    assert {session: 1 - sent[session] / plain[session] for session in sent} == pytest.approx(advised)


def tuned(tmp_path, *more):
    arguments = (
        "tune",
        made(),
        "--window",
        corpora.WINDOW,
        "--counter",
        "chars/4",
        "--jobs",
        1,
        "--out",
        tmp_path / "out",
    )
    return main([str(argument) for argument in (*arguments, "--policy", *POLICIES, *more)])


def test_the_command_prints_tables_and_advice_and_writes_the_file(tmp_path, capsys):
    file = tmp_path / "compactlab.toml"
    assert tuned(tmp_path, "--write", file) == 0
    said = capsys.readouterr().out
    assert f"courier, window 4,000: {TAIL}; what was chosen like it saves, held out, .70" in said
    assert f"wrote the advice for courier, warden into {file}" in said
    assert "Tuned on one type, tried on another" in said
    assert load(file).policy(WARDEN).at(Marks((0.7,))) == policy(CLEARED).at(Marks())
    assert (tmp_path / "out" / "report.md").read_text(encoding="utf-8").startswith("# Tuned\n")


def test_the_command_gives_the_same_as_data(tmp_path, capsys):
    assert tuned(tmp_path, "--json", "--quality", 0, "--type", COURIER) == 0
    told = json.loads(capsys.readouterr().out)
    [one] = told["types"]
    assert (one["advice"], one["keys"]["preserve_recent"], told["goal"]["quality"]) == (SHORT, 2, 0.0)
    assert one["advice"] == of(found(goal=Goal(0.0, 0.9)), COURIER).advice
    assert told["written"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--quality", 2), "expected a share"),
        (("--type", "nobody"), "there are 4 courier, 4 warden"),
        (("--window", 0), "above 0"),
        (("--llm", "batch:box"), "cannot wait for a batch"),
    ],
)
def test_what_cannot_be_tuned_is_one_line_and_exit_code_2(tmp_path, capsys, arguments, said):
    assert tuned(tmp_path, *arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_type_without_advice_is_told_and_nothing_written(tmp_path, capsys):
    file = tmp_path / "compactlab.toml"
    assert (
        tuned(tmp_path, "--constraints", 1, "--quality", 1, "--policy", SHORT, "--type", WARDEN, "--write", file) == 0
    )
    assert f"no advice to write into {file}" in capsys.readouterr().out
    assert not file.exists()
    assert options().goal == Goal()


@pytest.mark.study
def test_what_the_package_advises_is_what_tuning_finds_on_the_recorded_sessions(tmp_path):
    types = [one for one in tune(runs.FIXTURES, Options(), tmp_path).types if one.advice]
    told = {one.agent_type: (advice.keys(one.advice, Marks()), advice.evidence(one)) for one in types}
    assert advised() == told
