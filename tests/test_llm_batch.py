"""Requests written down and replies read back: the files, results in every form, and a run over several rounds."""

import json
import subprocess
import sys

import pytest
import runs
from histories import agent, user
from msgspec.structs import replace
from replies import SUMMARY

from compactlab.errors import RunError, SpecError, TranscriptError
from compactlab.harness import Settings, run
from compactlab.llm import Pending, Request
from compactlab.llm.batch import Batch, import_results, known_model, waiting
from compactlab.llm.recorded import Recorded, asked_of
from compactlab.settings import Project

REQUEST = Request("summary", "be brief", "Sum up.", (user("Hello."), agent("Hi.")), prompt_version="1")
KEY = asked_of(REQUEST, "m").key
FILES = ("records.jsonl", "compactions.jsonl")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def pending(folder, request=REQUEST, **options):
    with pytest.raises(Pending):
        Batch(folder, "m", **options).reply(request)


def completed(text, custom_id=KEY, **choice):
    message = {"role": "assistant", "content": text} | choice.pop("message", {})
    body = {"model": "m-2026", "choices": [{"index": 0, "finish_reason": "stop", "message": message} | choice],
            "usage": {"prompt_tokens": 90, "completion_tokens": 9,
                      "prompt_tokens_details": {"cached_tokens": 64}}}  # fmt: skip
    return {"custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def results(folder, *values):
    file = folder / "results.jsonl"
    text = "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values)
    file.write_text(text + "\n", encoding="utf-8")
    return file


# ---- what is written down


def test_a_request_is_a_line_as_the_batch_api_takes_it(tmp_path):
    pending(tmp_path, replace(REQUEST, seed=5, temperature=0.0, max_output=300))
    [line] = lines(tmp_path / "requests.jsonl")
    custom_id = line.pop("custom_id")
    assert custom_id == asked_of(replace(REQUEST, seed=5, temperature=0.0, max_output=300), "m").key
    assert line == {
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "m",
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Sum up."}],
            "max_completion_tokens": 300,
            "temperature": 0.0,
            "seed": 5,
        },
    }
    [asked] = lines(tmp_path / "asked.jsonl")
    assert (asked["key"], asked["purpose"], asked["begins"]) == (custom_id, "summary", "[user] Hello.\n[assistant] Hi.")
    assert "Sum up" not in (tmp_path / "asked.jsonl").read_text(encoding="utf-8")


def test_what_a_model_does_not_take_is_left_out(tmp_path):
    pending(tmp_path, replace(REQUEST, system="", temperature=None))
    [line] = lines(tmp_path / "requests.jsonl")
    assert line["body"].keys() == {"model", "messages", "max_completion_tokens"}
    assert [message["role"] for message in line["body"]["messages"]] == ["user"]


def test_lone_surrogates_are_not_sent(tmp_path):
    pending(tmp_path, replace(REQUEST, prompt="half \ud83d"))
    assert lines(tmp_path / "requests.jsonl")[0]["body"]["messages"][1]["content"] == "half \ufffd"


ASKER = """
import sys
sys.path.insert(0, "tests")
from test_llm_batch import *
for seed in range(30):
    pending(sys.argv[1], replace(REQUEST, seed=seed, system="x" * 9_000))
"""


def test_a_request_is_written_once_whoever_asks_and_how_often(tmp_path):
    program = [sys.executable, "-c", ASKER, tmp_path]
    started = [subprocess.Popen(program, cwd=runs.CHECKOUT) for _ in range(3)]
    assert [process.wait(timeout=120) for process in started] == [0, 0, 0]
    for name, field in (("requests.jsonl", "custom_id"), ("asked.jsonl", "key")):
        keys = [line[field] for line in lines(tmp_path / name)]
        assert len(keys) == len(set(keys)) == 30
    assert waiting(tmp_path) == 30


# ---- what is read back

GOOD = [
    ("OpenAI's form", completed("words"), ("words", "stop", 90, 9, 64)),
    ("plain", {"custom_id": KEY, "text": "words"}, ("words", "stop", 0, 0, 0)),
    ("parts", completed([{"type": "text", "text": "wor"}, {"type": "text", "text": "ds"}]),
     ("words", "stop", 90, 9, 64)),
    ("cut off", completed("wor", finish_reason="length"), ("wor", "length", 90, 9, 64)),
    ("a refusal", completed(None, message={"refusal": "I can't."}), ("I can't.", "refusal", 90, 9, 64)),
    ("a call", completed(None, message={"tool_calls": [{"id": "c"}]}, finish_reason="tool_calls"),
     ("", "tool_calls", 90, 9, 64)),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), [c[1:] for c in GOOD], ids=[c[0] for c in GOOD])
def test_a_result_becomes_the_reply_and_its_request_waits_no_more(tmp_path, value, expected):
    pending(tmp_path)
    done = import_results(tmp_path, results(tmp_path, value))
    assert done == (1, 0, (), (), 0)
    reply = Batch(tmp_path, "m").reply(REQUEST)
    tokens = (reply.input_tokens, reply.output_tokens, reply.cached_tokens)
    assert (reply.text, reply.finish_reason, *tokens) == expected
    assert reply.model == ("m" if "text" in value else "m-2026")
    assert lines(tmp_path / "requests.jsonl") == lines(tmp_path / "asked.jsonl") == []
    assert Recorded(tmp_path).reply(REQUEST) == reply


FAILED = [
    ("expired", {"custom_id": KEY, "response": None, "error": {"code": "batch_expired", "message": "too late"}},
     "batch_expired too late"),
    ("a status", {"custom_id": KEY, "response": {"status_code": 500, "body": {"error": {"message": "down"}}}}, "down"),
    ("a status alone", {"custom_id": KEY, "response": {"status_code": 429, "body": None}}, "status 429"),
    ("no body", {"custom_id": KEY, "response": {"status_code": 200}}, "status 200"),
    ("no choices", {"custom_id": KEY, "response": {"status_code": 200, "body": {"choices": []}}}, "no choices"),
    ("no content", completed(None), "no content"),
    ("an error in words", {"custom_id": KEY, "error": "overloaded"}, "overloaded"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "why"), [c[1:] for c in FAILED], ids=[c[0] for c in FAILED])
def test_a_failed_result_is_told_and_may_be_asked_again(tmp_path, value, why):
    pending(tmp_path)
    done = import_results(tmp_path, results(tmp_path, value))
    [failed] = done.failed
    assert failed.startswith(f"{KEY}: ")
    assert why in failed
    assert (done.added, done.waiting) == (0, 1)
    pending(tmp_path)
    assert [line["custom_id"] for line in lines(tmp_path / "requests.jsonl")] == [KEY]
    assert import_results(tmp_path, results(tmp_path, completed("now"))).added == 1


def test_results_that_nobody_asked_for_or_that_are_there_already_are_told_apart(tmp_path):
    other = replace(REQUEST, seed=1)
    pending(tmp_path)
    pending(tmp_path, other)
    file = results(tmp_path, "\ufeff" + json.dumps(completed("one")), "", completed("two"), completed("x", "stranger"))
    assert import_results(tmp_path, file) == (1, 1, (), ("stranger",), 1)
    assert Batch(tmp_path, "m").reply(REQUEST).text == "one"
    assert import_results(tmp_path, file) == (0, 2, (), ("stranger",), 1)
    assert [line["custom_id"] for line in lines(tmp_path / "requests.jsonl")] == [asked_of(other, "m").key]


BAD = [
    ("no JSON", "x", "line 2 is not JSON"),
    ("no object", [1], "line 2: expected an object with a custom_id"),
    ("no custom_id", {"text": "words"}, "line 2: expected an object with a custom_id"),
    ("a custom_id that is none", {"custom_id": 3, "text": "x"}, "line 2: expected an object with a custom_id"),
    ("no result", {"custom_id": KEY}, "line 2: expected a response, an error, or a text"),
    ("a text that is none", {"custom_id": KEY, "text": 5}, "line 2: expected a response, an error, or a text"),
]


@pytest.mark.parametrize(("value", "said"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
def test_a_file_with_a_line_that_is_no_result_is_refused_whole(tmp_path, value, said):
    pending(tmp_path)
    with pytest.raises(TranscriptError, match=said):
        import_results(tmp_path, results(tmp_path, completed("words"), value))
    assert waiting(tmp_path) == 1


def test_a_folder_that_is_no_batch_is_refused(tmp_path):
    with pytest.raises(TranscriptError, match=r"asked\.jsonl: no such file"):
        import_results(tmp_path, results(tmp_path, completed("words")))
    with pytest.raises(SpecError, match="no replies"):
        known_model(tmp_path)
    pending(tmp_path)
    assert known_model(tmp_path) == "m"


# ---- a run over several rounds

TWICE = "ladder(summary(preserve_recent=4), sliding_reflect(preserve_recent=2))"


def running(out, spec, model="m"):
    project = Project().asking(spec, model)
    settings = Settings(strategies=("none", TWICE), cuts=(0.5, 0.8), jobs=1, counter="chars/4", project=project)
    return run(runs.short_transcripts(), out, settings)


def answers(folder, name, *, but=()):
    """Answer what waits by hand, but for the lines numbered so, which fail."""
    asked = lines(folder / "requests.jsonl")
    texts = [SUMMARY if "<summary>" in line["body"]["messages"][-1]["content"] else "- I promised." for line in asked]
    ids = [line["custom_id"] for line in asked]
    expired = {"response": None, "error": {"message": "expired"}}
    made = [completed(text, key) for text, key in zip(texts, ids, strict=True)]
    values = [{"custom_id": key} | expired if n in but else made[n] for n, key in enumerate(ids)]
    return results(folder.parent, *values).rename(folder.parent / name)


def test_a_run_goes_on_round_by_round_and_ends_with_the_bytes_of_a_straight_one(tmp_path):
    folder, out = tmp_path / "batch", tmp_path / "run"
    first = running(out, f"batch:{folder}")
    assert len(first.pending) == waiting(folder) == 6
    assert first.pending[0].startswith(f"primary-move at 0.5, {TWICE}: m: the reply is not there yet; request ")
    assert {record.strategy for record in first.records} == {"facts", "none", "bag", "null"}

    assert import_results(folder, answers(folder, "1.jsonl", but={0, 4})).waiting == 2
    second = running(out, f"batch:{folder}")
    assert (len(second.pending), waiting(folder)) == (6, 6)
    purposes = [line["purpose"] for line in lines(folder / "asked.jsonl")]
    assert sorted(purposes) == ["reflect"] * 4 + ["summary"] * 2

    import_results(folder, answers(folder, "2.jsonl"))
    third = running(out, f"batch:{folder}")
    assert len(third.pending) == 2
    assert TWICE in {record.strategy for record in third.records}
    import_results(folder, answers(folder, "3.jsonl"))
    last = running(out, f"batch:{folder}")
    assert last.pending == ()
    applied = [r for r in last.records if r.metric == "outcome" and r.strategy == TWICE]
    assert {(r.outcome, r.model) for r in applied} == {("applied", "m")}
    assert len(applied) == 6

    running(tmp_path / "straight", f"replay:{folder}", "")
    for name in FILES:
        assert (out / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()


def test_a_run_that_waits_is_not_mixed_with_another_model(tmp_path):
    running(tmp_path / "run", f"batch:{tmp_path / 'batch'}")
    with pytest.raises(RunError, match="another model"):
        running(tmp_path / "run", f"batch:{tmp_path / 'batch'}", "n")
