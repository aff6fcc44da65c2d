"""`compactlab run --llm` and `compactlab llm`: each kind of model from the command line, and what is said of it."""

import json
import os
import signal
import subprocess
import sys

import pytest
import runs
from model_server import ModelServer, completion
from replies import SUMMARY

from compactlab.llm.local import Local
from compactlab.llm.weights import FOLDER, find
from compactlab.records import Record
from compactlab.results import Results

SPECS = ("none", "summary(preserve_recent=4)", "sliding_reflect(preserve_recent=4)")
FILES = ("records.jsonl", "compactions.jsonl")

pytestmark = pytest.mark.usefixtures("alone")


def asking(out, *model, specs=SPECS, jobs=1):
    transcript = runs.short_transcripts() / "primary-move.jsonl"
    quick = ("--cut", "0.5,0.8", "--counter", "chars/4", "--jobs", jobs)
    return ("run", transcript, "--strategies", *specs, *quick, "--out", out, *model)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


# ---- run


def test_a_run_without_a_model_says_in_one_line_what_the_stand_in_is(said, tmp_path):
    code, out, err = said(*asking(tmp_path / "run"))
    assert (code, err) == (0, "")
    [line] = [line for line in out.splitlines() if line.startswith("extractive is ")]
    assert line.startswith("extractive is no model but code that picks lines of what goes")
    assert "--model" in line
    assert "text by extractive (written by code, no model)" in " ".join(out.split())
    assert Results(tmp_path / "run").manifest.model == "extractive"


def test_a_run_that_asks_no_model_says_nothing_of_one(said, tmp_path):
    code, out, _ = said(*asking(tmp_path / "run", specs=("none", "sliding_window")))
    assert code == 0
    assert "extractive is" not in out
    manifest = Results(tmp_path / "run").manifest
    assert (manifest.model, manifest.asked_by) == ("", "")


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_server_said_is_recorded_and_replayed_without_it_byte_for_byte(said, tmp_path, jobs):
    with ModelServer(completion(SUMMARY)) as server:
        model = ("--llm", "record:replies", "--model", "small-7b", "--base-url", server.url)
        code, out, err = said(*asking(tmp_path / "recorded", *model, jobs=jobs))
        asked = len(server.asked)
        assert (code, err) == (0, "")
        assert asked >= 4
        assert {body["model"] for _, _, body in server.asked} == {"small-7b"}
        said(*asking(tmp_path / "again", *model, jobs=jobs))
        assert len(server.asked) == asked
    assert "summary(preserve_recent=4) (small-7b)" in out
    assert "text by small-7b" in " ".join(out.split())
    assert "extractive" not in out
    code, _, err = said(*asking(tmp_path / "replayed", "--llm", "replay:replies", jobs=jobs))
    assert (code, err) == (0, "")
    assert contents(tmp_path / "recorded") == contents(tmp_path / "again") == contents(tmp_path / "replayed")
    recorded, replayed = (Results(tmp_path / name).manifest for name in ("recorded", "replayed"))
    assert recorded.model == replayed.model == "small-7b"
    assert recorded.asked_by == f"record:replies (model=small-7b, base_url={server.url})"
    assert replayed.asked_by == "replay:replies"


@pytest.mark.parametrize(("user", "sent"), [("", "Bearer a-key-of-mine-0123456789"), ("me:my-password@", "Basic ")])
def test_a_key_or_password_stands_in_no_file_of_a_run(said, tmp_path, monkeypatch, user, sent):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-mine-0123456789")
    with ModelServer(completion(SUMMARY)) as server:
        url = server.url.replace("//", f"//{user}")
        code, _, err = said(*asking("run", "--llm", "record:replies", "--model", "m", "--base-url", url))
        assert (code, err) == (0, "")
        assert server.asked[0][1]["authorization"].startswith(sent)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} >= {"run", "replies"}
    for path in files:
        assert b"a-key-of-mine" not in path.read_bytes(), path
        assert b"my-password" not in path.read_bytes(), path


def test_a_reply_that_is_missing_ends_the_run_in_an_error_that_says_where_and_why(said, tmp_path):
    with ModelServer(completion(SUMMARY)) as server:
        model = ("--llm", "record:replies", "--model", "m", "--base-url", server.url)
        said(*asking("recorded", *model, specs=SPECS[:2]))
        (tmp_path / "warm.toml").write_text("[llm]\ntemperature = 0.9\n", encoding="utf-8")
        replay = asking("run", "--llm", "replay:replies", "--settings", "warm.toml", specs=SPECS[:2])
        code, out, err = said(*replay)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert "primary-move at 0.5, summary(preserve_recent=4): no reply in replies/replies.jsonl" in err
        assert "differs in temperature (0.9, stored 0.3)" in err
        assert "1 more lack theirs too; all other rows stand in run" in err
        done = {record.strategy for record in Results(tmp_path / "run").records}
        assert done == {"facts", "none", "bag", "null"}
        said(*asking("other", *model, "--settings", "warm.toml", specs=SPECS[:2]))
    code, out, err = said(*replay)
    assert (code, err) == (0, "")
    assert contents(tmp_path / "run") == contents(tmp_path / "other")


def test_a_row_names_the_model_and_says_what_was_amiss_with_its_replies(said):
    with ModelServer(completion("The half of", finish="length")) as server:
        model = ("--llm", "record:replies", "--model", "m", "--base-url", server.url)
        code, out, err = said(*asking("run", *model))
    assert (code, err) == (0, "")
    assert "summary(preserve_recent=4) (m)" in out
    assert said(*asking("replayed", "--llm", "replay:replies"))[0] == 0
    for folder in ("run", "replayed"):
        heads = [r for r in Results(folder).records if r.metric == "outcome" and r.strategy in SPECS[1:]]
        assert {(r.strategy, r.outcome, r.model) for r in heads} == {
            (SPECS[1], "failed", "m"),
            (SPECS[2], "applied", "m"),
        }
        assert all("the reply was cut off" in r.reason for r in heads)
        assert all("a plain slide" in r.reason for r in heads if r.strategy == SPECS[2])


def test_runs_with_another_model_are_not_mixed(said):
    with ModelServer(completion(SUMMARY)) as server:
        assert said(*asking("run", "--model", "m", "--base-url", server.url))[0] == 0
        code, _, err = said(*asking("run", "--model", "n", "--base-url", server.url))
    assert code == 2
    assert "another model" in err
    assert "another model" in said(*asking("run"))[2]


def test_a_batch_ends_with_what_to_do_and_goes_on_when_that_was_done(said, tmp_path):
    batch = asking("a run", "--llm", "batch:a batch", "--model", "m")
    code, out, err = said(*batch)
    assert (code, err) == (3, "")
    waits, after, last = out.splitlines()
    assert waits == "not done yet: 4 requests of 4 cases wait in a batch/requests.jsonl"
    assert "compactlab llm import 'a batch' results.jsonl, and the same command again with --out 'a run'" in after
    assert last == "run: a run"
    code, out, _ = said(*batch, "--json")
    told = json.loads(out)
    assert (code, told["run"], told["pending"]["requests"]) == (3, "a run", 4)
    assert len(told["pending"]["cases"]) == 4
    assert said("llm", "status", "a batch")[1] == "4 requests wait\n"

    requests = [json.loads(line) for line in (tmp_path / "a batch" / "requests.jsonl").read_text().splitlines()]
    rows = [{"custom_id": line["custom_id"], "text": SUMMARY} for line in requests[:3]] + [
        {"custom_id": requests[3]["custom_id"], "error": {"message": "too late"}},
        {"custom_id": "stranger", "text": "x"},
    ]
    (tmp_path / "results.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    code, out, err = said("llm", "import", "a batch", "results.jsonl")
    assert (code, out) == (0, "3 added, 0 known before, 1 failed, 1 unknown; 1 still waits: ask for it again\n")
    assert err.splitlines() == [
        f"compactlab: failed: {requests[3]['custom_id']}: too late",
        "compactlab: unknown: stranger",
    ]
    assert said(*batch)[0] == 3
    rows[3] = {"custom_id": requests[3]["custom_id"], "text": SUMMARY}
    (tmp_path / "results.jsonl").write_text(json.dumps(rows[3]), encoding="utf-8")
    code, out, _ = said("llm", "import", "a batch", "results.jsonl", "--json")
    assert json.loads(out) == {"added": 1, "known": 0, "failed": [], "unknown": [], "waiting": 0}
    code, out, err = said(*batch)
    assert (code, err) == (0, "")
    assert "text by m" in " ".join(out.split())
    heads = [r for r in Results(tmp_path / "a run").records if r.metric == "outcome" and r.model]
    assert [type(head) for head in heads] == [Record] * 4


# ---- llm


def test_status_says_which_model_would_be_asked(said, tmp_path):
    assert said("llm", "status")[1].startswith("text is written by extractive: code that picks lines, no model; ")
    assert said("llm", "status", "--llm", "batch:b", "--model", "m")[1] == "text is written by m, batch:b (model=m)\n"
    code, out, _ = said("llm", "status", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--json")
    assert json.loads(out) == {"model": "m", "asked_by": "live (model=m, base_url=http://127.0.0.1:9/v1)"}
    (tmp_path / "compactlab.toml").write_text("[llm]\nkind = 'live'\nmodel = 'mine'\n", encoding="utf-8")
    code, _, err = said("llm", "status")
    assert code == 2
    assert "OPENAI_API_KEY" in err


def test_status_of_a_store_says_what_it_holds(said):
    with ModelServer(completion(SUMMARY)) as server:
        said(*asking("run", "--llm", "record:replies", "--model", "m", "--base-url", server.url, specs=SPECS[1:2]))
    assert said("llm", "status", "replies")[1] == "m: 2 replies to summary requests\n0 requests wait\n"
    held = [{"model": "m", "purpose": "summary", "replies": 2, "failures": 0}]
    assert json.loads(said("llm", "status", "replies", "--json")[1]) == {"replies": held, "waiting": 0}


BAD = [
    ("import", "llm import", "expected compactlab llm import FOLDER FILE"),
    ("half an import", "llm import b", "1 paths were given"),
    ("an import too many", "llm status a b", "expected compactlab llm status [FOLDER]"),
    ("a folder to serve", "llm serve b", "expected compactlab llm serve"),
    ("no batch folder", "llm import b results.jsonl", "b"),
    ("nothing to tell of", "llm status nowhere", "nowhere"),
    ("an unknown kind", "run {move} --llm gpt", "expected one of extractive"),
    ("a live one without a name", "run {move} --llm live", "--model NAME"),
    ("a live one without a key", "run {move} --model m", "OPENAI_API_KEY"),
    ("a replay of nothing", "run {move} --llm replay:nowhere", "nowhere"),
    ("a batch without a model", "run {move} --llm batch:b", "--model"),
    ("weights that are none", "llm install --gguf compactlab.toml", "compactlab.toml"),
    ("weights that are not there", "llm serve --gguf nowhere.gguf", "nowhere.gguf"),
    ("weights that are not installed", "llm serve", "compactlab llm install"),
]


@pytest.mark.parametrize(("line", "part"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(said, tmp_path, monkeypatch, line, part):
    monkeypatch.setenv(FOLDER, str(tmp_path / "none"))
    if "llm install" in part and find() is not None:
        pytest.skip("the weights are part of this environment")
    (tmp_path / "compactlab.toml").write_text("", encoding="utf-8")
    move = runs.short_transcripts() / "primary-move.jsonl"
    code, out, err = said(*(word.format(move=move) for word in line.split()))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert part in err
    assert [path.name for path in tmp_path.iterdir()] == ["compactlab.toml"]


def has_local():
    try:
        Local()
    except RuntimeError:
        return False
    return True


@pytest.mark.skipif(not has_local(), reason="the local model is not installed: compactlab llm install")
def test_serve_prints_its_base_url_and_ends_when_it_is_interrupted():
    program = [sys.executable, "-m", "compactlab", "llm", "serve", "--window", "512"]
    served = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = served.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/v1")
    finally:
        os.kill(served.pid, signal.SIGINT)
        served.communicate(timeout=30)
    assert served.returncode == 0
