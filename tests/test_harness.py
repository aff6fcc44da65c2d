"""From transcripts to records: cuts, rows, controls, failures, and the run of all recorded sessions."""

import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import pytest
import runs
from histories import agent, call, result, system, user
from msgspec.structs import replace

from compactlab.errors import RunError, SpecError, TranscriptError, UnknownName
from compactlab.harness import DEFAULT_STRATEGIES, Settings, run
from compactlab.harness.cuts import SHARES, planned
from compactlab.harness.sized import DRAWN, OF_A_SIZE
from compactlab.pressure import Marks
from compactlab.readers import read, write
from compactlab.results import Results
from compactlab.strategies import Compacted, Strategy, note
from compactlab.tokens import Meter
from compactlab.transcript import Message, RecordedCompaction, Text, Transcript

METER = Meter("chars/4")


@dataclass(frozen=True, repr=False)
class Failing(Strategy):
    """Fails on every long history."""

    def compact(self, messages, context):  # noqa: ARG002
        if len(messages) > 12:
            raise ZeroDivisionError("too long for me")
        return Compacted(messages)


@dataclass(frozen=True, repr=False)
class Deferring(Strategy):
    """Defers."""

    def compact(self, messages, context):  # noqa: ARG002
        return Compacted(messages, deferred="not now")


@dataclass(frozen=True, repr=False)
class Breaking(Strategy):
    """Tears calls from results, drops the request, and lets the agent speak first."""

    def compact(self, messages, context):  # noqa: ARG002
        return Compacted([message for message in messages if message.role == "assistant"])


@dataclass(frozen=True, repr=False)
class Odd(Strategy):
    """Leaves a lone surrogate behind."""

    def compact(self, messages, context):  # noqa: ARG002
        return Compacted([*messages[:2], note("half \ud83d an escape"), *messages[-4:]])


def talk(name, turns=12, **more):
    """Make a session with a fact a turn, of which the agent uses the first in its last call."""
    middle = []
    for turn in range(turns):
        middle += [
            user(f"The {name} box {turn} holds part {name.upper()}-{7000 + turn} for later. {'Mind the rain. ' * 9}"),
            agent("I see.", call(f"c{turn}", "bash", json.dumps({"command": f"cat notes-{turn}.txt"}))),
            Message("tool", (result(f"c{turn}", f"the count of crate {turn} is {14_000 + turn}"),)),
        ]
    last = (agent(call("last", "bash", f'{{"command": "fetch part {name.upper()}-7000"}}')),)
    messages = (system(), user("Please look after the boxes."), *middle, *last)
    messages = tuple(replace(message, source=i) for i, message in enumerate(messages))
    return Transcript(name, "compactlab", messages, **more)


def saved(folder, *transcripts):
    folder.mkdir(exist_ok=True)
    for transcript in transcripts:
        write(transcript, folder / f"{transcript.id}.jsonl")
    return folder


def settings(*strategies, **more):
    return Settings(strategies=strategies or ("none", "sliding_window"), jobs=1, counter="chars/4", **more)


def rows(results, metric, strategy=None):
    return [r for r in results.records if r.metric == metric and strategy in (None, r.strategy)]


def bare(spoken, per_turn=2):
    """Make a session of *spoken* answers, each after a question."""
    return Transcript("t", "x", tuple(m for _ in range(spoken) for m in (user(), agent())[-per_turn:]))


def cuts_of(transcript, shares=SHARES, window=None):
    return planned(transcript, shares, window, Marks(), METER)


CUTS = [
    (bare(20), (0.4, 0.55, 0.7, 0.85), [("0.4", 17, 0.4), ("0.55", 23, 0.55), ("0.7", 29, 0.7), ("0.85", 35, 0.85)]),
    (bare(10), (0.5,), [("0.5", 11, 0.5)]),
    (bare(3), (0.4, 0.55, 0.7, 0.85), [("0.4", 3, 1 / 3), ("0.7", 5, 2 / 3)]),
    (bare(2), (0.4, 0.55, 0.7, 0.85), [("0.55", 3, 0.5)]),
    (bare(20), (0.85, 0.4), [("0.85", 35, 0.85), ("0.4", 17, 0.4)]),
    (bare(20), (0.4, 0.4), [("0.4", 17, 0.4)]),
    (bare(20, per_turn=1), (0.5,), [("0.5", 10, 0.5)]),
    (bare(20), (0.99,), [("0.99", 39, 0.95)]),
]


@pytest.mark.parametrize(("transcript", "shares", "expected"), CUTS)
def test_a_cut_stands_before_an_assistant_message_at_a_share_of_them(transcript, shares, expected):
    found = cuts_of(transcript, shares)
    assert [(cut.name, cut.before, pytest.approx(cut.share)) for cut in found] == expected
    assert all(transcript.messages[cut.before].role == "assistant" and not cut.skipped for cut in found)


@pytest.mark.parametrize("spoken", [0, 1])
def test_a_session_too_short_to_cut_is_skipped_with_its_reason(spoken):
    (cut,) = cuts_of(bare(spoken), SHARES)
    assert f"has {spoken} assistant messages" in cut.skipped


def test_what_the_agent_did_not_say_itself_is_no_place_for_a_cut():
    messages = tuple(replace(m, synthetic=i == 1) for i, m in enumerate(bare(4).messages))
    found = cuts_of(Transcript("t", "x", messages), (0.4, 0.7))
    assert [cut.before for cut in found] == [5, 7]


@pytest.mark.parametrize(
    ("window", "before"),
    [(50, 1), (75, 3), (100, 3), (125, 3), (150, 5), (10_000, None)],
)
def test_a_window_cuts_before_the_first_answer_after_its_lowest_mark(window, before):
    messages = tuple(m for _ in range(10) for m in (user("x" * 144), agent("y" * 64)))  # 40 and 20 tokens
    (cut,) = cuts_of(Transcript("t", "x", messages), window=window)
    assert cut.name == f"window {window}"
    if before is None:
        assert "never reaches 0.80 of a window of 10,000 tokens" in cut.skipped
    else:
        assert (cut.before, cut.skipped) == (before, "")


def test_the_whole_run_has_one_block_a_session_cut_and_row():
    records = runs.whole().results.records
    assert len({r.session for r in records}) == len(runs.TRANSCRIPTS) == 13
    heads = [r for r in records if r.metric == "outcome"]
    of_a_cell = ["facts", "none"]
    for strategy in ("microcompact", "sliding_window"):
        of_a_cell += [strategy, *OF_A_SIZE]
    of_a_cell += ["bag", "null"]
    assert [r.strategy for r in heads] == of_a_cell * 52
    assert len({r.key for r in heads}) == len(heads)
    at = 0
    while at < len(records):
        head, own = records[at], records[at + 1 : at + 1 + records[at].n]
        assert head.metric == "outcome"
        assert {r.key for r in own} <= {head.key}
        at += 1 + head.n
    assert {r.outcome for r in heads} == {"applied", "skipped"}


def row(label):
    return next(r for r in runs.whole().summary.rows if r.label == label)


def test_none_keeps_what_can_be_kept():
    assert row("none").loose.mean == 1.0
    assert row("none").bound.mean > 0.95
    assert row("none").saved.mean == 0
    assert row("none").outcomes == {"skipped": 52}
    assert row("none").probes["lost"] == row("none").probes["stale"] == 0


def test_null_keeps_nothing_and_bag_keeps_values_without_meaning():
    assert (row("null").loose.mean, row("null").bound.mean) == (0, 0)
    assert row("null").probes["kept"] == row("null").probes["both"] == 0
    assert row("bag").loose.mean == 1.0
    assert row("bag").bound.mean < 0.05


def test_strategies_stand_between_the_floor_and_the_ceiling():
    for label in ("microcompact", "sliding_window"):
        assert 0 < row(label).bound.mean < row("none").bound.mean
        assert row(label).bound.mean <= row(label).loose.mean
        assert row("null").saved.mean > row(label).saved.mean > 0


def test_every_cell_of_every_strategy_is_valid_and_parts_no_pair():
    results = runs.whole().results
    for label in runs.STRATEGIES:
        assert [r.value for r in rows(results, "valid", label)] == [1.0] * 52
        assert [r.value for r in rows(results, "parted", label)] == [0.0] * 52
        assert row(label).valid == 1.0
    assert runs.whole().summary.errors == ()


@pytest.mark.parametrize("label", ["microcompact", "sliding_window"])
@pytest.mark.parametrize("control", DRAWN)
def test_random_weighs_what_its_strategy_weighs_within_one_percent_in_every_cell(control, label):
    weights = rows(runs.whole().results, "tokens_after")
    own = {(r.session, r.cut): r.value for r in weights if r.strategy == label}
    drawn = {(r.session, r.cut): r for r in weights if (r.strategy, r.size_of) == (control, label)}
    floor = {(r.session, r.cut): r.value for r in weights if r.strategy == "null"}
    before = {(r.session, r.cut): r.value for r in rows(runs.whole().results, "tokens_before", label)}
    assert len(own) == len(drawn) == 52
    between = [cell for cell, weight in own.items() if floor[cell] < weight < before[cell]]
    assert len(between) > 40
    assert {drawn[cell].draws for cell in between} == {20}
    far = {cell: (drawn[cell].value, own[cell]) for cell in between if abs(drawn[cell].value / own[cell] - 1) > 0.01}
    assert far == {}


def test_every_row_of_a_cell_speaks_of_the_same_facts():
    seen = defaultdict(set)
    for r in runs.whole().results.records:
        if r.metric in {"retention_loose", "needed_loose"}:
            seen[r.session, r.cut, r.metric, r.family, r.use, r.home].add(r.n)
    assert len(seen) > 500
    assert all(len(sizes) == 1 for sizes in seen.values())


def test_in_every_cell_none_is_the_ceiling_and_null_the_floor():
    cells = defaultdict(dict)
    for r in runs.whole().results.records:
        if r.metric in {"retention_loose", "retention_bound", "needed_loose", "needed_bound"}:
            cells[r.session, r.cut, r.metric, r.family, r.use, r.home][r.strategy, r.size_of] = r.value
    for cell, values in cells.items():
        assert values["null", ""] == 0
        deleting = {key: value for key, value in values.items() if key[0] != "bag"}
        assert max(deleting.values()) <= values["none", ""] + 1e-9, cell


@pytest.mark.study
def test_the_run_of_all_strategies_has_no_error_and_every_cell_is_valid(tmp_path):
    done = runs.command("run", "fixtures/transcripts", "--out", tmp_path / "run", cwd=runs.CHECKOUT)
    assert (done.returncode, done.stderr) == (0, "")
    results = Results(tmp_path / "run")
    assert [r.reason for r in rows(results, "outcome") if r.outcome == "failed"] == []
    assert {r.value for r in rows(results, "valid")} == {1.0}
    assert {r.value for r in rows(results, "parted")} == {0.0}
    assert {r.strategy for r in rows(results, "valid")} >= set(DEFAULT_STRATEGIES)


def test_the_numbers_of_a_cell_are_those_of_a_compaction_made_anew():
    compactions = runs.whole().results.folder / "compactions.jsonl"
    lines = [json.loads(line) for line in compactions.read_bytes().splitlines()]
    facts = [line for line in lines if line["key"]["strategy"] == "facts"]
    lines = [line for line in lines if line["key"]["strategy"] != "facts"]
    assert (len(facts), len(lines)) == (52, 52 * 3)
    assert all(line["left"]["outcome"] in {"applied", "skipped"} for line in lines)
    after = {r.key: r.value for r in rows(runs.whole().results, "tokens_after")}
    before = {r.key: r.value for r in rows(runs.whole().results, "tokens_before")}
    for line in lines:
        key = msgspec.convert(line["key"], type=next(iter(after)).__class__)
        whole = all(isinstance(entry, list) for entry in line["left"]["messages"])
        assert (after[key] == before[key]) == (line["left"]["outcome"] == "skipped")
        assert whole or after[key] < before[key]


def test_two_runs_of_any_number_of_workers_give_the_same_bytes(tmp_path):
    results = run(runs.short_transcripts(), tmp_path / "two", Settings(strategies=runs.STRATEGIES, jobs=2))
    for name in ("records.jsonl", "compactions.jsonl", "manifest.json"):
        assert (results.folder / name).read_bytes() == (runs.short().results.folder / name).read_bytes()


def test_sessions_are_ordered_by_their_ids_however_they_are_given(tmp_path):
    one, two = saved(tmp_path / "a", talk("alpha")), saved(tmp_path / "b", talk("beta"))
    forth = run([one, two], tmp_path / "forth", settings())
    back = run([two / "beta.jsonl", one], tmp_path / "back", settings())
    assert forth.manifest == back.manifest
    assert forth.records == back.records


def test_a_strategy_that_fails_is_a_row_with_its_error_and_the_run_goes_on(tmp_path):
    results = run(saved(tmp_path / "t", talk("alpha")), tmp_path / "run", settings(Failing(), "none", cuts=(0.2, 0.7)))
    heads = rows(results, "outcome")
    failed = {(r.cut, r.strategy, r.size_of) for r in heads if r.outcome == "failed"}
    spec = repr(Failing())
    assert failed == {("0.7", spec, "")}
    without = {r.strategy: r.outcome for r in heads if r.cut == "0.7" and r.size_of == spec}
    assert without == dict.fromkeys(OF_A_SIZE, "skipped")
    assert {r.reason for r in heads if r.outcome == "failed"} == {"ZeroDivisionError: too long for me"}
    assert [r.metric for r in results.records if r.strategy == spec and r.cut == "0.7"] == ["outcome"]
    assert len(rows(results, "needed_bound", "none")) >= 2


def test_a_strategy_that_defers_or_breaks_rules_leaves_the_messages_as_they_are(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"))
    results = run(folder, tmp_path / "run", settings(Deferring(), Breaking(), cuts=(0.7,)))
    outcome = {r.strategy: r for r in rows(results, "outcome")}
    assert (outcome[repr(Deferring())].outcome, outcome[repr(Deferring())].reason) == ("deferred", "not now")
    for strategy in (Deferring(), Breaking()):
        assert [r.value for r in rows(results, "valid", repr(strategy))] == [1.0]
        assert [r.value for r in rows(results, "parted", repr(strategy))] == [0.0]
    before, after = (rows(results, f"tokens_{when}", repr(Deferring())) for when in ("before", "after"))
    assert before[0].value == after[0].value


def test_a_lone_surrogate_in_what_a_strategy_leaves_does_not_end_a_run(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"))
    results = run(folder, tmp_path / "run", settings(Odd(), cuts=(0.7,)))
    assert {r.outcome for r in rows(results, "outcome")} == {"applied"}
    again = run(folder, tmp_path / "run", settings(Odd(), cuts=(0.7,)))
    assert again.records == results.records


def test_a_session_that_cannot_be_cut_is_one_skipped_row(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"), talk("short", turns=0))
    results = run(folder, tmp_path / "run", settings(cuts=(0.5,)))
    (only,) = [r for r in results.records if r.session == "short"]
    assert (only.outcome, only.strategy) == ("skipped", "facts")
    assert "too few to cut" in only.reason
    at_window = run(folder, tmp_path / "window", settings(window=100_000))
    assert [r.outcome for r in at_window.records] == ["skipped", "skipped"]
    assert all("never reaches 0.80 of a window of 100,000 tokens" in r.reason for r in at_window.records)


def test_values_that_stand_in_two_other_sessions_are_left_out(tmp_path):
    shared = user("The common spare is part COMMON-4711, as ever.")

    def with_shared(name):
        made = talk(name)
        messages = (*made.messages[:2], shared, *made.messages[2:])
        return replace(made, messages=tuple(replace(m, source=i) for i, m in enumerate(messages)))

    def at_risk(*names):
        results = run(
            saved(tmp_path / "".join(names), *map(with_shared, names)),
            settings=settings(cuts=(0.7,)),
            out=tmp_path / f"run-{len(names)}",
        )
        return {r.session: r.n for r in rows(results, "retention_loose", "null") if r.family == "identifier"}

    two, three = at_risk("alpha", "beta"), at_risk("alpha", "beta", "gamma")
    assert two["alpha"] == two["beta"] == three["alpha"] + 1 == three["gamma"] + 1


def test_chance_is_measured_against_sessions_of_other_stories_only(tmp_path):
    alone = [talk("alpha", cluster="story"), talk("beta", cluster="story")]
    with_another = [*alone, talk("gamma", cluster="other")]
    measured = {}
    for transcripts in (alone, with_another):
        folder = saved(tmp_path / f"t{len(transcripts)}", *transcripts)
        results = run(folder, tmp_path / f"run{len(transcripts)}", settings(cuts=(0.7,)))
        measured[len(transcripts)] = {r.session for r in rows(results, "needed_by_chance")}
    assert measured == {2: set(), 3: {"alpha", "beta", "gamma"}}


PROBE = {
    "id": "a",
    "question": "Which part is in the alpha box?",
    "answer": "ALPHA-7000",
    "evidence": [2],
    "asked_after": 2,
}


def test_probes_are_found_beside_a_transcript_or_given(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"), talk("beta"))
    given = tmp_path / "alpha.probes.jsonl"
    given.write_text(json.dumps(PROBE), encoding="utf-8")
    asked = []
    for number, files in enumerate(((), (given,))):
        results = run(folder, tmp_path / f"run{number}", settings(cuts=(0.7,), probes=files))
        asked.append([r.session for r in rows(results, "probe_kept", "none")])
    (folder / "alpha.probes.jsonl").write_text(json.dumps(PROBE), encoding="utf-8")
    results = run(folder, tmp_path / "run2", settings(cuts=(0.7,)))
    asked.append([r.session for r in rows(results, "probe_kept", "none")])
    assert asked == [[], ["alpha"], ["alpha"]]
    assert [r.value for r in rows(results, "probe_kept", "none")] == [1]
    assert [r.value for r in rows(results, "probe_lost", "null")] == [1]


def test_progress_is_told_of_every_block(tmp_path):
    told = []
    run(saved(tmp_path / "t", talk("alpha"), talk("beta")), tmp_path / "run", settings(), lambda *now: told.append(now))
    told = [now for now in told if now[1]]
    assert [done for done, _, _ in told] == list(range(1, len(told) + 1))
    assert {total for _, total, _ in told} == {len(told)}
    assert [name for _, _, name in told] == ["alpha"] * (len(told) // 2) + ["beta"] * (len(told) // 2)


def test_a_run_without_a_folder_makes_one_of_its_own(tmp_path, monkeypatch):
    folder = saved(tmp_path / "t", talk("alpha"))
    monkeypatch.chdir(tmp_path)
    results = run(folder, settings=settings(cuts=(0.7,)))
    assert results.folder.parent.name == "runs"
    assert results.folder.name.endswith(results.manifest.digest())


def test_the_manifest_says_what_the_run_was_made_of(tmp_path):
    results = run(saved(tmp_path / "t", talk("alpha")), tmp_path / "run", settings("none", "none", cuts=(0.7,), seed=3))
    manifest = results.manifest
    assert (manifest.counter, manifest.seed, manifest.cuts) == ("chars/4", 3, ("0.7",))
    assert (manifest.strategies, manifest.sessions) == (("none",), ("alpha",))
    assert {"none", "null", "bag", "facts"} <= manifest.plugins.keys()
    assert {r.made_by for r in rows(results, "outcome")} <= set(manifest.plugins.values())


def test_the_seed_changes_the_random_control_and_nothing_else(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"))
    one, other = (run(folder, tmp_path / f"run{seed}", settings(cuts=(0.7,), seed=seed)).records for seed in (0, 1))
    differing = {r.strategy for r, s in zip(one, other, strict=True) if r != s}
    assert "random" in differing <= set(DRAWN)


def test_the_corpus_digest_is_of_messages_and_probes_wherever_the_files_lie(tmp_path):
    first = run(saved(tmp_path / "a", talk("alpha")), tmp_path / "run-a", settings()).manifest.corpus
    moved = run(saved(tmp_path / "b", talk("alpha")), tmp_path / "run-b", settings()).manifest.corpus
    other = run(saved(tmp_path / "c", talk("alpha", turns=11)), tmp_path / "run-c", settings()).manifest.corpus
    (tmp_path / "b" / "alpha.probes.jsonl").write_text(json.dumps(PROBE), encoding="utf-8")
    probed = run(tmp_path / "b", tmp_path / "run-d", settings()).manifest.corpus
    assert first == moved
    assert len({first, other, probed}) == 3


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"strategies": ()}, SpecError),
        ({"cuts": ()}, SpecError),
        ({"cuts": (0.0,)}, SpecError),
        ({"cuts": (1.0,)}, SpecError),
        ({"cuts": (0.4, -0.1)}, SpecError),
        ({"cuts": (float("nan"),)}, SpecError),
        ({"window": 0}, SpecError),
        ({"window": -5}, SpecError),
        ({"counter": "abacus"}, UnknownName),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, error):
    with pytest.raises(error):
        Settings(**wrong)


def test_nothing_is_run_and_no_folder_made_where_the_input_is_wrong(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"))
    bad = tmp_path / "bad.probes.jsonl"
    bad.write_text("{}", encoding="utf-8")
    for paths, made, error in (
        ([folder, folder], settings(), TranscriptError),
        ([tmp_path / "missing"], settings(), TranscriptError),
        ([folder], settings("sliding_windw"), UnknownName),
        ([folder], settings(probes=(bad,)), TranscriptError),
        ([folder], settings(probes=(tmp_path / "missing.jsonl",)), TranscriptError),
    ):
        with pytest.raises(error):
            run(paths, tmp_path / "run", made)
        assert not (tmp_path / "run").exists()


def test_a_folder_of_other_files_is_refused(tmp_path):
    folder = saved(tmp_path / "t", talk("alpha"))
    with pytest.raises(RunError, match="holds no run"):
        run(folder, folder, settings())


def test_the_session_as_it_was_seen_after_a_recorded_compaction_is_what_is_cut(tmp_path):
    base = talk("alpha")
    summary = Message("user", (Text("Earlier, server alpha-7 failed."),), synthetic=True)
    mark = RecordedCompaction(20, "auto", after=(0, summary, 18, 19), summary=summary.text)
    compacted = replace(base, compactions=(mark,))
    folder = saved(tmp_path / "t", compacted)
    (again,) = read(folder)
    assert [c.position for c in again.compactions] == [20]
    results = run(folder, tmp_path / "run", settings("none", cuts=(0.4, 0.7)))
    before = [r.value for r in rows(results, "tokens_before", "none")]
    cuts = cuts_of(again, (0.4, 0.7))
    assert before == [METER.messages(again.view(cut.before)) for cut in cuts]
    assert summary in again.view(cuts[-1].before)


def test_each_strategy_runs_once_however_it_is_written():
    assert {"none", "microcompact", "sliding_window"} <= set(DEFAULT_STRATEGIES)
    assert [repr(s) for s in Settings(strategies=("none", "sliding_window(preserve_recent=10)", "none")).built] == [
        "none",
        "sliding_window",
    ]


def test_results_of_the_short_run_are_in_case_order():
    heads = [r for r in Results(runs.short().results.folder).records if r.metric == "outcome"]
    places = [(r.session, SHARES.index(float(r.cut))) for r in heads]
    assert all(a <= b for a, b in pairwise(places))


def test_sessions_of_one_name_in_two_folders_are_told_apart_by_the_folder(tmp_path):
    for name in ("monday", "tuesday"):
        saved(tmp_path / name, talk("alpha"))
    results = run([tmp_path / "monday", tmp_path / "tuesday"], tmp_path / "run", settings("none", cuts=(0.7,)))
    assert results.manifest.sessions == ("monday/alpha", "tuesday/alpha")


SCRIPT = """
import sys
import compactlab

{own}
print("started")
results = compactlab.run(sys.argv[1], sys.argv[2], compactlab.Settings(strategies=({strategies}), cuts=(0.7,), jobs=2))
print(len(results.manifest.sessions), "sessions")
"""
OWN = """
from dataclasses import dataclass

@dataclass(frozen=True, repr=False)
class Mine(compactlab.Strategy):
    def compact(self, messages, context):
        return compactlab.Compacted(messages)
"""


@pytest.mark.parametrize(("own", "strategies"), [("", '"none", "cull"'), (OWN, '"none", Mine()')])
def test_a_plain_script_needs_no_guard_around_its_run(tmp_path, own, strategies):
    for name in ("alpha", "beta"):
        saved(tmp_path / "t", talk(name))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(own=own, strategies=strategies), encoding="utf-8")
    program = [sys.executable, str(script), str(tmp_path / "t"), str(tmp_path / "run")]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.split("\n")[:2] == ["started", "2 sessions"], done.stderr
