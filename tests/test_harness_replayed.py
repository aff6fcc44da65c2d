"""Runs of whole sessions: rows for each session and policy, in any number of processes, killed, failing, in rounds."""

import json

import msgspec
import pytest
import runs
from model_server import ModelServer, completion
from replies import SUMMARY

from compactlab.errors import RunError, SpecError
from compactlab.harness import Settings, run
from compactlab.harness.replayed import schemas
from compactlab.llm.batch import import_results
from compactlab.policy import MARKED
from compactlab.readers import read, write
from compactlab.results import Results
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript

POLICIES = ("none", "microcompact", "sliding_window(preserve_recent=6)", MARKED)
FILES = ("records.jsonl", "compactions.jsonl", "manifest.json")


def talk(name="talk", turns=40, tools=()):
    """A session that asks for a file again and again, and grows by about 300 tokens a turn."""
    said = [Message("user", (Text("Check every row of the table, and never touch archive.csv."),))]
    for turn in range(turns):
        call = ToolCall(f"c{turn}", "read", json.dumps({"path": f"part-{turn % 7}.csv"}))
        rows = " ".join(f"row-{turn * 31 + number:05d}" for number in range(40))
        said += [
            Message("assistant", (call,)),
            Message("tool", (ToolResult(f"c{turn}", (Text(f"{rows} the total of batch {turn} is {90_000 + turn}"),)),)),
            Message("assistant", (Text(f"Batch {turn} comes to {90_000 + turn}."),)),
            Message("user", (Text(f"Go on with batch {turn + 1}."),)),
        ]
    return Transcript(name, "", tuple(said), tools=tools)


@pytest.fixture
def folder(tmp_path):
    """Two sessions as files."""
    place = tmp_path / "transcripts"
    place.mkdir()
    for name in ("alpha", "beta"):
        write([talk(name)], place / f"{name}.jsonl", "compactlab")
    return place


def replays(**options):
    given = {"mode": "replay", "window": 2_000, "policies": POLICIES, "jobs": 1, "counter": "chars/4"}
    return Settings(**(given | options))


def contents(place):
    return {name: (place / name).read_bytes() for name in FILES}


def heads(results):
    return [record for record in results.records if record.metric == "outcome"]


def test_a_run_of_replays_has_a_row_for_each_session_and_policy(folder, tmp_path):
    results = run(folder, tmp_path / "run", replays())
    assert [(r.session, r.strategy) for r in heads(results)] == [(s, p) for s in ("alpha", "beta") for p in POLICIES]
    assert {r.cut for r in results.records} == {"replay 2000"}
    assert results.manifest.mode == "replay"
    assert results.manifest.strategies == POLICIES
    none = [record for record in heads(results) if record.strategy == "none"]
    assert all("tokens and the window 2,000" in record.reason for record in none)
    fires = {r.strategy: r.value for r in results.records if r.metric == "fires" and r.session == "alpha"}
    assert fires["none"] == 0
    assert fires["sliding_window(preserve_recent=6)"] >= 3
    frame = results.to_frame()
    assert {"pass", "replicate", "strategy", "metric", "value", "n"} <= set(frame.columns)
    assert frame.loc[frame["metric"] == "decay_bound", "pass"].max() >= 2


def test_two_runs_of_any_number_of_processes_give_the_same_bytes_and_another_seed_changes_nothing(folder, tmp_path):
    one = contents(run(folder, tmp_path / "one", replays()).folder)
    assert contents(run(folder, tmp_path / "two", replays(jobs=2)).folder) == one
    other = contents(run(folder, tmp_path / "other", replays(seed=7)).folder)
    assert {name for name in FILES if other[name] != one[name]} == {"manifest.json"}


def test_a_run_that_was_cut_off_goes_on_and_ends_with_the_same_bytes(folder, tmp_path):
    whole = contents(run(folder, tmp_path / "run", replays()).folder)
    for share in (0.0, 0.2, 0.55, 0.9):
        for name in FILES[:2]:
            path = tmp_path / "run" / name
            path.write_bytes(whole[name][: int(share * len(whole[name]))])
        assert contents(run(folder, tmp_path / "run", replays()).folder) == whole


class Failing(Strategy):
    """Raises."""

    def compact(self, messages, context):  # noqa: ARG002  # as every strategy has them
        raise ZeroDivisionError("too full for me")


def test_a_strategy_that_fails_is_told_in_its_fires_and_the_session_goes_on_to_its_end(folder, tmp_path):
    results = run(folder, tmp_path / "run", replays(policies=(Failing(), "none")))
    assert [record.outcome for record in heads(results)] == ["applied"] * 4
    failed = [record for record in results.records if record.metric == "fire" and record.group == "failed"]
    assert len(failed) == 2
    assert all(record.value == record.n >= 1 for record in failed)


def test_times_stand_apart_from_what_is_repeatable(folder, tmp_path):
    results = run(folder, tmp_path / "run", replays())
    lines = [json.loads(line) for line in (results.folder / "timings.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * len(POLICIES)
    fired = {line["key"]["strategy"]: line.get("fires", []) for line in lines}
    assert fired["none"] == []
    assert all(seconds >= 0 and tokens > 0 for seconds, tokens in fired[POLICIES[2]])
    assert b"seconds" not in b"".join(contents(results.folder).values())


def test_what_was_sent_and_fired_can_be_read_back_turn_by_turn(folder, tmp_path):
    results = run(folder, tmp_path / "run", replays())
    rows = [json.loads(line) for line in (results.folder / "compactions.jsonl").read_text().splitlines()]
    told = {(row["key"]["session"], row["key"]["strategy"]): row["left"] for row in rows}
    slide = told["alpha", POLICIES[2]]
    assert max(turn[1] for turn in slide["turns"]) <= slide["window"] == 2_000
    assert [fire["turn"] for fire in slide["fires"]] == sorted(fire["turn"] for fire in slide["fires"])
    assert told["alpha", "none"]["overflow_at"] is not None


def test_recorded_schemas_overhead_and_reserve_leave_less_room(tmp_path):
    tool = {"name": "read", "description": "Reads a file. " * 40}
    bare, laden = tmp_path / "bare.jsonl", tmp_path / "laden.jsonl"
    write([talk("talk")], bare, "compactlab")
    write([talk("talk", tools=(tool,))], laden, "compactlab")
    meter = Meter("chars/4")
    assert schemas(read(laden)[0], meter) == meter.text(msgspec.json.encode(tool).decode())

    def first(path, **options):
        results = run(path, tmp_path / f"{path.stem}{len(options)}{sum(options.values())}", replays(**options))
        return next(r.value for r in results.records if r.metric == "first_fire" and r.strategy == "microcompact")

    plain = first(bare)
    assert first(laden) < plain
    assert first(bare, overhead=500) < plain
    assert first(bare, reserve=800) < plain


def test_strategies_become_policies_at_the_lowest_mark(folder, tmp_path):
    project = Project({"marks": [0.5, 0.9]})
    results = run(folder, tmp_path / "run", replays(policies=(), strategies=("microcompact",), project=project))
    assert results.manifest.strategies == ("microcompact",)
    early = next(r.value for r in results.records if r.metric == "first_fire")
    late = run(folder, tmp_path / "late", replays(policies=(), strategies=("microcompact",)))
    assert early < next(r.value for r in late.records if r.metric == "first_fire")
    assert Settings(mode="replay", window=9_000).labels[-1] == MARKED


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": None}, "a replay needs a window"),
        ({"window": 500, "reserve": 500}, "something left for input"),
        ({"overhead": -1}, "overhead"),
        ({"budgets": (10.0,)}, "budgets have no meaning"),
        ({"policies": ("microcompact@2",)}, "mark 2.0"),
        ({"priced_as": "no-such-model"}, "no price of 'no-such-model'"),
        ({"mode": "cuts"}, "belong to a replay"),
        ({"mode": "recorded", "policies": ()}, "no window"),
    ],
)
def test_what_has_no_meaning_in_a_mode_is_refused(options, said):
    with pytest.raises(SpecError, match=said):
        replays(**options)


def test_money_is_counted_as_for_the_model_that_is_named_or_priced_by_the_settings(folder, tmp_path):
    project = Project(llm={"prices": {"mine": {"input": 100.0, "output": 100.0}}})
    cheap = run(folder, tmp_path / "cheap", replays(priced_as="gpt-5-mini"))
    dear = run(folder, tmp_path / "dear", replays(priced_as="mine", project=project))
    money = [{r.group: r.value for r in results.records if r.metric == "money"} for results in (cheap, dear)]
    assert money[0].keys() == {"gpt-5-mini"}
    assert money[1]["mine"] > 10 * money[0]["gpt-5-mini"]
    assert "priced as mine" in dear.manifest.cuts[0]


def test_a_batch_goes_through_a_session_one_summary_a_round(tmp_path):
    path, box = tmp_path / "talk.jsonl", tmp_path / "box"
    write([talk()], path, "compactlab")
    project = Project(llm={"model": "m"}, llm_spec=f"batch:{box}")
    settings = replays(policies=("none", "summary(preserve_recent=4)"), project=project)
    rounds = []
    for _ in range(12):
        results = run(path, tmp_path / "run", settings)
        if not results.pending:
            break
        assert [record.strategy for record in heads(results)] == ["none"]
        waits = [json.loads(line) for line in (box / "requests.jsonl").read_text().splitlines()]
        rounds.append(len(waits))
        lines = [json.dumps({"custom_id": line["custom_id"], "text": SUMMARY}) for line in waits]
        (tmp_path / "results.jsonl").write_text("\n".join(lines))
        import_results(box, tmp_path / "results.jsonl")
    fires = next(r.value for r in results.records if r.metric == "fires" and r.strategy != "none")
    assert rounds == [1] * int(fires)
    assert len(rounds) >= 2


def test_a_replay_with_a_model_is_repeated_and_named(tmp_path):
    path = tmp_path / "talk.jsonl"
    write([talk()], path, "compactlab")
    with ModelServer(completion(SUMMARY)) as server:
        project = Project(llm={"model": "writer-7b", "base_url": server.url}, llm_spec="live")
        options = {"policies": ("microcompact", "summary(preserve_recent=4)"), "replicates": 2}
        results = run(path, tmp_path / "run", replays(project=project, **options))
    found = [(r.strategy, r.replicate, r.model) for r in heads(results)]
    assert found == [
        ("microcompact", 0, ""),
        ("summary(preserve_recent=4)", 0, "writer-7b"),
        ("summary(preserve_recent=4)", 1, "writer-7b"),
    ]


def test_a_run_without_any_recorded_compaction_says_so(folder, tmp_path):
    with pytest.raises(RunError, match="no compaction is recorded in any of 2 sessions"):
        run(folder, tmp_path / "run", Settings(mode="recorded"))


def test_at_32000_one_recorded_session_ends_in_an_honest_overflow(tmp_path):
    session = runs.FIXTURES / "subagent-incident.jsonl"
    settings = Settings(mode="replay", window=32_000, policies=("microcompact",), jobs=1)
    results = run(session, tmp_path / "run", settings)
    told = [record.reason for record in heads(results)]
    assert all("window 32,000" in reason and "not read" in reason for reason in told), told
    assert {r.metric: r.value for r in Results(results.folder).records if r.metric == "overflow"} == {"overflow": 1.0}
    assert not [record for record in results.records if record.metric in {"task_tokens", "money"}]
