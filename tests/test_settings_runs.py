"""Replays under what the settings say of each session's own type: policy, window, marks, model, words."""

import json
from types import SimpleNamespace

import pytest
import runs
from model_server import ModelServer, completion
from replies import SUMMARY

from compactlab.cli import main
from compactlab.errors import RunError, SpecError
from compactlab.harness import DEFAULT_STRATEGIES, Settings, run
from compactlab.policy import MARKED
from compactlab.readers import write
from compactlab.report import Report
from compactlab.settings import Project, load
from compactlab.transcript import Message, Text, ToolCall, ToolResult, Transcript

TYPES = ("primary", "subagent", "reviewer")
TWO = """
[compaction.per_type]
primary = { policy = "microcompact(keep_recent=2)@0.6+sliding_window@0.9" }
subagent = { strategy = "sliding_window", preserve_recent = 6 }
reviewer = { strategy = "none" }
"""


def talk(kind, turns=30):
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
    return Transcript(kind, "", tuple(said), agent_type=kind)


@pytest.fixture
def folder(tmp_path):
    """A session of each type."""
    place = tmp_path / "transcripts"
    place.mkdir()
    for kind in TYPES:
        write([talk(kind)], place / f"{kind}.jsonl", "compactlab")
    return place


@pytest.fixture
def settings_of(tmp_path):
    def made(text, **options):
        (tmp_path / "compactlab.toml").write_text(text, encoding="utf-8")
        given = {"mode": "replay", "window": 2_000, "strategies": ("none",), "jobs": 1, "counter": "chars/4"}
        return Settings(project=load(tmp_path / "compactlab.toml"), **(given | options))

    return made


def fires(results):
    """By session and row the strategies that fired, and the tokens of the window."""
    lines = [json.loads(line) for line in (results.folder / "compactions.jsonl").read_text().splitlines()]
    return {
        (line["key"]["session"], line["key"]["strategy"]): SimpleNamespace(
            strategies={fire["strategy"] for fire in line["left"]["fires"]},
            marks={fire["mark"] for fire in line["left"]["fires"]},
            count=len(line["left"]["fires"]),
            window=line["left"]["window"],
        )
        for line in lines
    }


def test_each_session_is_replayed_under_the_policy_of_its_own_type_as_one_row_beside_the_others(
    folder, tmp_path, settings_of
):
    results = run(folder, tmp_path / "run", settings_of(TWO))
    found = fires(results)
    assert set(found) == {(kind, row) for kind in TYPES for row in ("none", "settings")}
    assert found["subagent", "settings"].strategies == {"sliding_window(preserve_recent=6)"}
    assert found["primary", "settings"].strategies >= {"microcompact(keep_recent=2)"}
    assert found["primary", "settings"].marks <= {0.6, 0.9}
    assert found["reviewer", "settings"].count == 0
    assert results.manifest.strategies == ("none", "settings")
    assert results.manifest.settings == {
        "primary": "microcompact(keep_recent=2)@0.6+sliding_window@0.9",
        "reviewer": "none",
        "subagent": "sliding_window(preserve_recent=6)",
    }


def test_the_row_of_a_type_is_the_row_of_its_policy(folder, tmp_path, settings_of):
    plain = settings_of(TWO, policies=("sliding_window(preserve_recent=6)", "settings"))
    results = run(folder / "subagent.jsonl", tmp_path / "run", plain)
    values = {row: [(r.metric, r.value, r.n, r.pass_, r.family, r.use) for r in results.records
                    if r.strategy == row and r.metric != "outcome"] for row in results.manifest.strategies}  # fmt: skip
    assert len(values["settings"]) > 20
    assert values["settings"] == values["sliding_window(preserve_recent=6)"]


def test_the_table_and_its_signature_say_what_the_row_stands_for(folder, tmp_path, settings_of):
    report = Report(run(folder, tmp_path / "run", settings_of(TWO)))
    [section] = report.tables(["replay"])
    assert [row[0] for row in section.rows] == ["none", "settings"]
    assert "settings: primary microcompact(keep_recent=2)@0.6+sliding_window@0.9, reviewer none, " in section.signature


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        ("", {}, ("none",)),
        ("[compaction]\nmarks = [0.7]\n", {}, ("none",)),
        ("[compaction]\nkeep_recent = 3\n", {}, ("none", "settings")),
        (TWO, {"policies": ("none",)}, ("none",)),
        ("", {"policies": ("settings", "none")}, ("settings", "none")),
        (TWO, {"strategies": DEFAULT_STRATEGIES}, (*DEFAULT_STRATEGIES, MARKED, "settings")),
        (TWO, {"mode": "cuts", "window": None}, ("none",)),
    ],
)
def test_the_row_is_there_where_settings_choose_or_where_it_is_asked_for(settings_of, text, options, rows):
    assert settings_of(text, **options).labels == rows


def test_a_run_goes_on_with_the_same_bytes_and_not_under_other_settings(folder, tmp_path, settings_of):
    first = run(folder, tmp_path / "run", settings_of(TWO))
    whole = (first.folder / "records.jsonl").read_bytes()
    (first.folder / "records.jsonl").write_bytes(whole[: len(whole) // 2])
    assert (run(folder, tmp_path / "run", settings_of(TWO, jobs=2)).folder / "records.jsonl").read_bytes() == whole
    with pytest.raises(RunError, match="another settings"):
        run(folder, tmp_path / "run", settings_of(TWO.replace("= 6", "= 4")))


# ---- windows


def test_without_a_window_each_session_has_that_of_its_type(folder, tmp_path, settings_of):
    text = "[compaction]\nwindow = 3_000\n[compaction.per_type]\nsubagent = { window = 1_500 }\n"
    results = run(folder, tmp_path / "run", settings_of(text, window=None, strategies=("microcompact",)))
    found = fires(results)
    windows = {kind: found[kind, "microcompact"].window for kind in TYPES}
    assert windows == {"primary": 3_000, "reviewer": 3_000, "subagent": 1_500}
    assert found["subagent", "microcompact"].count > found["primary", "microcompact"].count
    assert results.manifest.cuts[0].startswith("window 3000, of subagent 1500 by the settings")
    assert len(Report(results).tables(["replay"])[0].rows) == 1


def test_a_window_of_the_command_wins(folder, tmp_path, settings_of):
    results = run(folder / "subagent.jsonl", tmp_path / "run", settings_of("[compaction]\nwindow = 9_000\n"))
    assert fires(results)["subagent", "none"].window == 2_000


def test_a_session_whose_type_has_no_window_is_an_error_before_anything_runs(folder, tmp_path, settings_of):
    settings = settings_of("[compaction.per_type]\nprimary = { window = 2_000 }\n", window=None)
    with pytest.raises(RunError, match=r"reviewer: no window is known for the type 'reviewer'.*of primary 2000"):
        run(folder, tmp_path / "run", settings)
    assert not (tmp_path / "run").exists()
    with pytest.raises(SpecError, match="a replay needs a window"):
        settings_of(TWO, window=None)
    with pytest.raises(SpecError, match="set aside for output"):
        settings_of("[compaction]\nwindow = 500\n", window=None, reserve=600)


@pytest.mark.parametrize("key", ["marks = [0.4, 0.9]", "keep_recent = 1", "pins = ['role:tool']"])
def test_what_stands_under_compaction_changes_a_replay(folder, tmp_path, settings_of, key):
    one, other = (
        run(folder / "primary.jsonl", tmp_path / name, settings_of(text, policies=("settings",)))
        for name, text in (("one", ""), ("other", f"[compaction]\n{key}\n"))
        for text in [f"{text}\n[compaction.per_type]\nprimary = {{ strategy = 'microcompact' }}\n"]
    )
    scores = [[(r.metric, r.value) for r in results.records if r.metric != "outcome"] for results in (one, other)]
    assert scores[0] != scores[1]


# ---- models


def test_each_type_asks_its_own_model_in_its_own_words(folder, tmp_path, settings_of):
    (tmp_path / "mine.toml").write_text('summary_system = "You are the night clerk."\n', encoding="utf-8")
    with ModelServer(completion(SUMMARY)) as server:
        text = (
            "[compaction]\nstrategy = 'summary'\npreserve_recent = 4\n[compaction.per_type]\n"
            "subagent = { model = 'small-1b' }\nreviewer = { prompts = 'mine.toml' }\n"
            f"[llm]\nkind = 'live'\nmodel = 'big-70b'\nbase_url = '{server.url}'\n"
        )
        results = run(folder, tmp_path / "run", settings_of(text, policies=("settings",)))
        asked = [(request["model"], "night clerk" in json.dumps(request)) for _, _, request in server.asked]
    models = {record.session: record.model for record in results.records if record.metric == "outcome"}
    assert models == {"primary": "big-70b", "reviewer": "big-70b", "subagent": "small-1b"}
    assert set(asked) == {("big-70b", False), ("big-70b", True), ("small-1b", False)}
    assert results.manifest.model.startswith("big-70b, of reviewer big-70b(prompts=")
    assert results.manifest.model.endswith(", of subagent small-1b")
    assert "of subagent live (model=small-1b" in results.manifest.asked_by
    [row] = Report(results).tables(["replay"])[0].rows
    assert row[0] == "settings (big-70b, small-1b)"


def test_a_model_is_not_built_for_a_type_that_has_no_session(folder, tmp_path, settings_of, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = TWO + "writer = { strategy = 'summary', model = 'live:needs-a-key' }\n"
    results = run(folder, tmp_path / "run", settings_of(text))
    assert results.manifest.model == ""


def test_settings_choose_for_recorded_sessions_by_one_command(tmp_path, capsys):
    file = tmp_path / "compactlab.toml"
    file.write_text(
        "[compaction]\nwindow = 20_000\n[compaction.per_type]\nprimary = { policy = 'micro@0.7+window@0.9' }\n"
    )
    session = runs.FIXTURES / "primary-move.jsonl"
    given = [
        "run",
        session,
        "--replay",
        "--settings",
        file,
        "--strategies",
        "none",
        "--out",
        tmp_path / "run",
        "--json",
    ]
    assert main([*map(str, given), "--jobs", "1"]) == 0
    assert "settings" in json.dumps(json.loads(capsys.readouterr().out)["summary"])


def test_a_project_without_a_file_has_the_seeds_defaults_when_asked_for(folder, tmp_path):
    settings = Settings(
        mode="replay", window=2_000, policies=("settings",), jobs=1, counter="chars/4", project=Project()
    )
    results = run(folder / "subagent.jsonl", tmp_path / "run", settings)
    assert fires(results)["subagent", "settings"].strategies == {"sliding_window(preserve_recent=2)"}
