"""Servers that fail: what is asked again and when, what ends at once, and what each failure says."""

import datetime as dt
import itertools
import socket
from email.utils import format_datetime

import pytest
from model_server import ASKED, KEY, Answer, completion, error, outcome

from compactlab.llm import ModelError, Request, TooLong
from compactlab.llm.faults import Fault, is_too_long, retry_after, shortened
from compactlab.llm.live import Live
from compactlab.llm.live._tries import Tries

GOOD = completion()
BUSY = Answer(error("Rate limit reached", code="rate_limit_exceeded"), 429)
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def gaps(server):
    return [later - earlier for earlier, later in itertools.pairwise(server.times)]


# ---- what is asked again


@pytest.mark.parametrize(
    "bad",
    [
        Answer(b"", 408),
        Answer(b"", 409),
        BUSY,
        Answer(error("boom"), 500),
        Answer(b"<html><h1>502 Bad Gateway</h1></html>", 502, {"Content-Type": "text/html"}),
        Answer(error("Overloaded"), 529),
        Answer(GOOD, how="reset"),
        Answer(how="closed"),
        Answer(how="hang"),
        Answer(GOOD, headers={"Content-Encoding": "gzip"}),
    ],
    ids=["408", "409", "429", "500", "502", "529", "reset", "closed", "time-out", "broken gzip"],
)
def test_what_may_pass_is_asked_again_until_a_reply_comes(bad):
    reply, server = outcome(bad, bad, GOOD, timeout_seconds=1 if bad.how == "hang" else 5)
    assert (reply.text, reply.attempts, len(server.asked)) == ("Hello.", 3, 3)
    assert server.asked[0][2] == server.asked[2][2]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (BUSY, "HTTP 429: Rate limit reached"),
        (Answer(error("boom"), 500), "HTTP 500: boom"),
        (Answer(b"<h1>502 Bad Gateway</h1>", 502), "HTTP 502: 502 Bad Gateway"),
        (Answer(b"", 503), "HTTP 503: Service Unavailable, no words"),
        (Answer(b"", 599), "HTTP 599: no words"),
        (Answer(GOOD, how="reset"), "the connection failed ("),
        (Answer(how="closed"), "the connection failed ("),
        (Answer(how="hang"), "no whole reply within 0.3 seconds"),
        (Answer(completion("x" * 10_000), how="trickle"), "no whole reply within 0.3 seconds"),
        (Answer(how="headers"), "no whole reply within 0.3 seconds"),
        (Answer(error("x" * 10_000), 500, how="trickle"), "no whole reply within 0.3 seconds"),
    ],
    ids=["429", "500", "502", "503", "599", "reset", "closed", "hang", "slow body", "slow head", "slow error"],
)
def test_what_does_not_pass_ends_after_the_tries_and_says_how_many(bad, said):
    fault, server = outcome(bad, timeout_seconds=0.3, retries=2)
    assert type(fault) is ModelError
    assert said in str(fault)
    assert str(fault).endswith(" (tried 3 times)")
    assert len(server.asked) == 3


def test_a_server_that_is_not_there_is_tried_again_and_said():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = Live("m", f"http://127.0.0.1:{port}/v1", KEY, timeout_seconds=2, retries=1, back_off_seconds=0.01)
    with pytest.raises(ModelError, match=r"^m: the connection failed \(ConnectError: .* \(tried 2 times\)$"):
        model.reply(ASKED)
    assert model.spent().tokens == 0


# ---- what is not


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, error("Bad thing"), "HTTP 400: Bad thing"),
        (401, error(f"Incorrect API key provided: {KEY}."), "HTTP 401: Incorrect API key provided: [key]."),
        (401, error("Incorrect API key: sk-proj-abc*****wxyz."), "HTTP 401: Incorrect API key: [key]."),
        (401, error("x" * 280 + KEY), "x[key]"),
        (403, {"detail": "Forbidden"}, "HTTP 403: Forbidden"),
        (404, {"error": "model 'my-model' not found"}, "HTTP 404: model 'my-model' not found"),
        (404, b"404 page not found", "HTTP 404: 404 page not found"),
        (400, [{"error": {"code": 400, "message": "API key not valid.", "status": "X"}}], "HTTP 400: API key not v"),
        (400, {"object": "error", "message": "No such thing", "code": 400}, "HTTP 400: No such thing"),
        (422, {"message": {"detail": [{"loc": ["body", "x"], "msg": "Extra"}]}}, "HTTP 422: body.x: Extra"),
        (400, {"errors": [{"message": "One"}, {"message": "Two"}]}, "HTTP 400: One; Two"),
        (402, error("Provider returned error", metadata={"raw": "no funds"}), "HTTP 402: Provider returned error: no"),
        (429, error("You exceeded your quota", code="insufficient_quota"), "HTTP 429: You exceeded your quota"),
        (400, error("Unsupported value: 'temperature' does not support 0.5"), '; leave_out = ["temperature"] asks'),
        (422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]}, '; leave_out = ["seed"] asks without'),
        (400, error("a\x1b[31m\nb\x00"), "HTTP 400: a [31m b"),
        (400, error("w" * 5_000), "www…"),
    ],
)  # fmt: skip
def test_what_cannot_pass_ends_at_once_with_the_words_of_the_server(status, body, said):
    fault, server = outcome(Answer(body, status))
    assert type(fault) is ModelError
    assert said in str(fault)
    assert len(str(fault)) < 400
    assert len(server.asked) == 1


def test_the_newer_name_of_the_most_tokens_is_used_where_a_server_asks_for_it():
    said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    reply, server = outcome(Answer(error(said), 400), GOOD)
    assert reply.attempts == 2
    assert "max_tokens" not in server.asked[1][2]
    assert server.asked[1][2]["max_completion_tokens"] == ASKED.max_output
    fault, server = outcome(Answer(error(said), 400))
    assert len(server.asked) == 2
    assert "HTTP 400" in str(fault)


# ---- how long is waited


@pytest.mark.parametrize(
    ("headers", "words", "least", "most"),
    [
        ({"Retry-After": "1"}, "", 1, 3),
        ({"retry-after-ms": "400", "Retry-After": "90"}, "", 0.4, 2),
        ({"Retry-After": "soon"}, "", 0, 1),
        ({"Retry-After": "-5"}, "", 0, 1),
        ({}, "Please try again in 450ms.", 0.45, 2),
        ({}, "", 0, 1),
    ],
)
def test_the_wait_is_what_the_server_asks_for(headers, words, least, most):
    _, server = outcome(Answer(error(words or "Rate limit reached"), 429, headers), GOOD)
    assert least <= gaps(server)[0] < most


def test_a_date_to_wait_for_is_kept():
    date = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=2)
    _, server = outcome(Answer(b"", 503, {"Retry-After": format_datetime(date, usegmt=True)}), GOOD)
    assert 0.7 < gaps(server)[0] < 4


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120.0), ("1e2", 100.0), ("nan", None), ("inf", None), ("", None), ("never", None), ("0", 0.0),
        ("Thu, 01 Jan 2026 12:01:00 GMT", 60.0), ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2026 13:01:00 +0100", 60.0), ("Thu, 99 Jan 2026 12:01:00 GMT", None),
    ],
)  # fmt: skip
def test_a_retry_after_is_read(said, seconds):
    assert retry_after({"retry-after": said}, NOON) == seconds


def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again():
    fault, server = outcome(Answer(error("Rate limit"), 429, {"Retry-After": "3600"}))
    assert "it asks to wait 3,600 seconds" in str(fault)
    assert len(server.asked) == 1


def waits(body, **changes):
    tries = Tries("m", body, 1.0, **{"retries": 9, "back_off_seconds": 0.5, **changes})
    return [tries._wait(Fault("busy", 429, again=True), retried) for retried in range(10)]


def test_back_off_doubles_up_to_half_a_minute_less_a_part_that_the_request_says():
    first = waits({"messages": "a"})
    for retried, wait in enumerate(first[:-1]):
        assert 0.5 < wait / min(30.0, 0.5 * 2**retried) <= 1
    assert first[-1] is None
    assert waits({"messages": "a"}) == first
    assert waits({"messages": "b"}) != first


def test_back_off_is_kept_between_tries():
    _, server = outcome(BUSY, retries=2, back_off_seconds=0.3)
    assert [gap > 0.15 * 2**retried for retried, gap in enumerate(gaps(server))] == [True, True]


# ---- too long

WORDINGS = [
    ("OpenAI", 400, error("This model's maximum context length is 8192 tokens. However, your messages resulted in"
                          " 9001 tokens.", code="context_length_exceeded")),
    ("OpenAI's code", 400, error("Input rejected.", code="context_length_exceeded")),
    ("OpenAI, longer than a minute allows", 429, error("Request too large for gpt-4o on tokens per min (TPM): Limit"
        " 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.")),
    ("Anthropic", 400, {"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 213462 tokens > 200000 maximum"}}),
    ("Anthropic, with output", 400, error("input length and `max_tokens` exceed context limit: 170636 + 34048 >"
        " 200000, decrease input length or `max_tokens` and try again")),
    ("Anthropic, by size", 413, {"error": {"type": "request_too_large", "message": "Request exceeds the maximum"}}),
    ("Google", 400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count"
        " (1196265) exceeds the maximum number of tokens allowed (1048575)."}}]),
    ("Mistral", 400, {"object": "error", "type": "invalid_request_error", "code": "3051", "message": "Prompt contains"
        " 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}),
    ("vLLM", 400, {"object": "error", "code": 400, "message": "This model's maximum context length is 262144 tokens."
        " However, you requested 0 output tokens and your prompt contains at least 262145 input tokens."}),
    ("vLLM, older", 400, {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4"}),
    ("llama.cpp", 400, error("request (5120 tokens) exceeds the available context size (4096 tokens), try increasing"
        " it", type="exceed_context_size_error", n_ctx=4096)),
    ("llama.cpp, while writing", 500, error("Context size has been exceeded.", code=500)),
    ("Ollama", 400, {"error": "the input length exceeds the context length"}),
    ("Ollama, newer", 400, error("prompt too long; exceeded max context length by 4 tokens")),
    ("LM Studio", 400, {"error": "The number of tokens to keep from the initial prompt is greater than the context"
        " length"}),
    ("xAI", 400, {"error": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
    ("Groq", 400, error("Please reduce the length of the messages or completion.")),
    ("Bedrock", 400, {"message": "Input is too long for requested model."}),
    ("DashScope", 400, error("Range of input length should be [1, 129024]")),
    ("Kimi", 400, error("Invalid request: Your request exceeded model token limit: 262144")),
    ("MiniMax", 400, error("invalid params, context window exceeds limit (2013)")),
    ("SGLang", 400, {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."}),
    ("a gateway, with status 200", 200, error("This endpoint's maximum context length is 128000 tokens.", code=400)),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), [c[1:] for c in WORDINGS], ids=[c[0] for c in WORDINGS])
def test_every_vendors_word_for_a_request_that_is_too_long_is_known(status, body):
    fault, server = outcome(Answer(body, status))
    assert type(fault) is TooLong
    assert str(fault).startswith("my-model: HTTP ")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "ThrottlingException: Too many tokens, please wait before trying again."),
        (429, "This request would exceed your organization's rate limit of 30,000 input tokens per minute"),
        (429, "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000."),
        (429, "Too many requests"),
        (400, "max_tokens is too large: 8192. This model supports at most 4096 completion tokens"),
        (400, "Invalid value for 'temperature'"),
        (401, "Invalid token"),
        (500, "Internal error"),
        (503, "The model is overloaded. Please try again later."),
    ],
)
def test_what_only_comes_too_soon_or_is_wrong_otherwise_is_not_too_long(status, words):
    assert not is_too_long(status, words)


# ---- no harm


def test_a_long_prompt_is_sent_whole_and_a_long_line_is_shortened():
    prompt = "é" * 500_000
    _, server = outcome(GOOD, request=Request("summary", "", prompt, ()), timeout_seconds=10)
    assert server.asked[0][2]["messages"][0]["content"] == prompt
    assert len(shortened("y" * 1_000)) == 300
