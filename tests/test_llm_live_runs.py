"""Whole runs on a server that misbehaves: no row is lost, nothing hangs, each fault ends as the page on models says.

`summary` then leaves the history as it is and the row says why; `sliding_reflect` becomes a plain slide that says so.
"""

import time
from functools import cache

import pytest
import runs
from histories import agent, user
from model_server import Answer, ModelServer, completion, error
from replies import SUMMARY

from compactlab.compaction import Guard, compact
from compactlab.harness import Settings, run
from compactlab.llm.live import Live
from compactlab.llm.prompts import SECTIONS
from compactlab.settings import Project
from compactlab.tokens import Meter

SPECS = ("none", "summary(preserve_recent=4)", "sliding_reflect(preserve_recent=4)")
LONGEST_SECONDS = 60
GERMAN = "Der Port ist nicht offen, die Tabelle ist leer, und auf dem Host ist noch nichts, weil sie fehlt."
LONG = "\n".join(f"{n % 9 + 1}. {SECTIONS[n % 9]}\nline {n} of what was seen at {n * 7919}" for n in range(3_000))
STREAM = b'data: {"choices": [{"delta": {"content": "1. Primary"}}]}\n\ndata: [DONE]\n\n'
CALL = [{"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}]

# What a server does, and words of the reason that both rows give.
FAULTS = {
    "429 with Retry-After": (Answer(error("Rate limit reached"), 429, {"Retry-After": "1"}), "HTTP 429: Rate limit"),
    "429 with a wait too long": (Answer(error("Later"), 429, {"Retry-After": "900"}), "it asks to wait 900 seconds"),
    "429 without": (Answer(error("Rate limit reached"), 429), "HTTP 429: Rate limit reached (tried 2 times)"),
    "500": (Answer(error("boom"), 500), "HTTP 500: boom (tried 2 times)"),
    "502": (Answer(b"<h1>502 Bad Gateway</h1>", 502), "HTTP 502: 502 Bad Gateway (tried 2 times)"),
    "time-out": (Answer(how="hang"), "no whole reply within 0.4 seconds"),
    "slow stream": (Answer(completion("x" * 10_000), how="trickle"), "no whole reply within 0.4 seconds"),
    "slow head": (Answer(how="headers"), "no whole reply within 0.4 seconds"),
    "reset in mid-body": (Answer(completion(SUMMARY), how="reset"), "the connection failed ("),
    "closed at once": (Answer(how="closed"), "the connection failed ("),
    "invalid JSON": (Answer(b'{"choices": [{"mess'), "the reply is no JSON"),
    "an unasked stream": (Answer(STREAM, headers={"Content-Type": "text/event-stream"}), "the reply is no JSON"),
    "empty choices": (Answer({"choices": []}), "the reply has no choices"),
    "no choices": (Answer({"id": "x"}), "the reply has no choices"),
    "no content": (Answer(completion(None)), "the reply has no content"),
    "blank": (Answer(completion(" \n")), "the reply is blank"),
    "cut off": (Answer(completion(SUMMARY, finish="length")), "the reply was cut off"),
    "a filter": (Answer(completion(SUMMARY, finish="content_filter")), "'content_filter'"),
    "a refusal in its field": (Answer(completion(None, refusal="I can't.")), "finish reason 'refusal'"),
    "a refusal in words": (Answer(completion("I'm sorry, but I can't help with that.")), "a refusal"),
    "a tool call": (Answer(completion(None, finish="tool_calls", tool_calls=CALL)), "finish reason 'tool_calls'"),
    "a call in words": (Answer(completion('<tool_call>{"name": "read"}</tool_call>')), "a call or data, no text"),
    "larger than its source": (Answer(completion(LONG)), "no shorter than its source"),
    "another language": (Answer(completion(f"<summary>{GERMAN}</summary>")), "the reply is in German"),
    "an error with status 200": (Answer(error("The upstream is gone", code="x")), "HTTP 200: The upstream is gone"),
    "too long: OpenAI": (Answer(error("This model's maximum context length is 8192 tokens. However, your messages"
        " resulted in 9001 tokens.", code="context_length_exceeded"), 400), "maximum context length"),
    "too long: Anthropic": (Answer({"type": "error", "error": {"type": "invalid_request_error", "message":
        "prompt is too long: 213462 tokens > 200000 maximum"}}, 400), "prompt is too long"),
    "too long: Google": (Answer([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token"
        " count (1196265) exceeds the maximum number of tokens allowed (1048575)."}}], 400), "input token count"),
    "too long: vLLM": (Answer({"object": "error", "code": 400, "message": "This model's maximum context length is 4096"
        " tokens. However, you requested 5000 tokens."}, 400), "maximum context length"),
    "too long: llama.cpp": (Answer(error("request (5120 tokens) exceeds the available context size (4096 tokens), try"
        " increasing it", type="exceed_context_size_error"), 400), "available context size"),
    "too long: Bedrock": (Answer({"message": "Input is too long for requested model."}, 400), "too long for requested"),
}  # fmt: skip


def patience(answer):
    """Seconds that a reply may take: little where it would take for ever."""
    return 0.4 if answer.how in {"hang", "trickle", "headers"} else 5


def running(folder, **llm):
    settings = Settings(strategies=SPECS, cuts=(0.8,), jobs=1, counter="chars/4", project=Project(llm=llm))
    return run(runs.FIXTURES / "primary-move.jsonl", folder, settings)


@cache
def keys_without_faults():
    return [row.key for row in running(runs.scratch() / "without-faults").records if row.metric == "outcome"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_a_row_that_says_why_or_the_documented_fallback(tmp_path, name):
    answer, said = FAULTS[name]
    with ModelServer(answer) as server:
        begun = time.monotonic()
        llm = {"kind": "live", "model": "m", "base_url": server.url, "retries": 1}
        done = running(tmp_path, timeout_seconds=patience(answer), **llm)
        assert time.monotonic() - begun < LONGEST_SECONDS
    heads = {row.strategy: row for row in done.records if row.metric == "outcome" and not row.size_of}
    assert [row.key for row in done.records if row.metric == "outcome"] == keys_without_faults()
    summary, slide = (heads[spec] for spec in SPECS[1:])
    assert (summary.outcome, slide.outcome) == ("failed", "applied")
    assert said in summary.reason
    assert "a plain slide: " in slide.reason
    assert said in slide.reason
    assert (summary.model, slide.model) == ("m", "m")
    assert slide.fell_back
    assert not summary.fell_back
    assert heads["none"].outcome == "skipped"
    assert [row.metric for row in done.records if row.strategy == SPECS[1] and not row.size_of] == ["outcome"]


BEFORE = tuple(
    message
    for number in range(30)
    for message in (
        user(f"What is in box {number}, and what was in it before we moved?"),
        agent(f"There are {number * 7919} seeds in it, which is what you have been told of the others. " * 6),
    )
)
METER = Meter("chars/4")


@pytest.mark.parametrize("name", FAULTS)
def test_a_history_that_was_not_summarised_is_the_very_same(name):
    answer, said = FAULTS[name]
    with ModelServer(answer) as server:
        model = Live("m", server.url, timeout_seconds=patience(answer), retries=1, back_off_seconds=0.01)
        failed = compact(BEFORE, "summary", guard=Guard(METER, model=model))
        slid = compact(BEFORE, "sliding_reflect", guard=Guard(METER, model=model))
    assert failed.receipt.outcome == "failed"
    assert said in failed.receipt.reason
    assert all(one is other for one, other in zip(failed.messages, BEFORE, strict=True))
    assert slid.messages == compact(BEFORE, "sliding_window", guard=Guard(METER)).messages
    assert slid.receipt.fell_back


def test_a_slow_stream_that_ends_in_time_is_a_reply():
    slow = Answer(completion("<summary>The seeds are counted.</summary>", usage=None), how="trickle")
    with ModelServer(slow) as server:
        done = compact(BEFORE, "summary", guard=Guard(METER, model=Live("m", server.url, timeout_seconds=60)))
    assert (done.receipt.outcome, done.receipt.notes) == ("applied", ())


@pytest.mark.parametrize("name", [name for name in FAULTS if name.startswith("too long")])
def test_a_server_that_finds_only_the_whole_too_long_is_given_parts(name):
    answer, _ = FAULTS[name]
    with ModelServer(answer, completion(SUMMARY)) as server:
        done = compact(BEFORE, "summary", guard=Guard(METER, model=Live("m", server.url)))
        purposes = [len(body["messages"][1]["content"]) for _, _, body in server.asked]
    assert done.receipt.outcome == "applied"
    assert len(purposes) >= 4
    assert max(purposes[1:-1]) < purposes[0]
    assert f"read in {len(purposes) - 2} parts" in done.receipt.notes
