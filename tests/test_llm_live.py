"""A live model against a real server: what is sent, what comes back, and how every failure is told."""

import asyncio
import json
import pickle
import subprocess
import sys

import pytest
from model_server import ASKED, KEY, Answer, ModelServer, completion, error, live, outcome

from compactlab.errors import SpecError
from compactlab.llm import ModelError, Reply, Request, TooLong, asked
from compactlab.llm.live import Cap, Live

# ---- a good reply


def test_a_request_goes_out_whole_and_the_reply_comes_back_with_its_usage():
    body = completion("Done.", usage=(100, 5))
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 64}
    reply, server = outcome(body)
    assert reply.latency_seconds > 0
    assert reply == Reply("Done.", "served-model", "stop", 100, 5, 64, reply.latency_seconds, 1)
    [(path, headers, sent)] = server.asked
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert sent == {
        "model": "my-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What now?"}],
        "max_tokens": 64,
        "temperature": 0.5,
        "seed": 11,
    }


def test_what_is_not_given_is_not_sent():
    _, server = outcome(completion(), request=Request("answer", "", "Why?", (), temperature=None))
    sent = server.asked[0][2]
    assert set(sent) == {"model", "messages", "max_tokens"}
    assert sent["messages"] == [{"role": "user", "content": "Why?"}]


def test_lone_surrogates_are_sent_and_read_as_a_replacement_character():
    broken = json.dumps(completion("a\ud83db")).encode()
    reply, server = outcome(broken, request=Request("answer", "", "x\udc80y", ()))
    assert reply.text == "a\ufffdb"
    assert server.asked[0][2]["messages"][0]["content"] == "x\ufffdy"


def test_the_endpoint_and_the_key_may_come_from_the_environment(monkeypatch):
    with ModelServer(completion()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
        assert Live("m").reply(ASKED).text == "Hello."
    assert server.asked[0][1]["authorization"] == "Bearer from-the-environment"


def test_a_live_model_can_be_pickled_and_shows_no_key():
    with ModelServer(completion()) as server:
        model = live(server)
        assert KEY not in repr(model)
        again = pickle.loads(pickle.dumps(model))  # noqa: S301  # our own
        assert again == model
        assert again.reply(ASKED).text == "Hello."


def test_a_live_model_answers_inside_a_running_loop():
    async def notebook(model):
        return model.reply(ASKED).text

    with ModelServer(completion()) as server:
        assert asyncio.run(notebook(live(server))) == "Hello."


# ---- replies that others judge


JUDGED = [
    ("cut off", completion("Half", finish="length"), "Half", "length"),
    ("nothing but reasoning", completion(None, finish="length"), "", "length"),
    ("filtered", completion(None, finish="content_filter"), "", "content_filter"),
    ("a call", completion(None, finish="tool_calls", tool_calls=[{"id": "c"}]), "", "tool_calls"),
    ("a call that says stop", completion(None, tool_calls=[{"id": "c"}]), "", "tool_calls"),
    ("an old call", completion("", function_call={"name": "f"}), "", "tool_calls"),
    ("refused", completion(None, refusal="I cannot."), "I cannot.", "refusal"),
    ("no reason", completion("Yes.", finish=None), "Yes.", ""),
    ("blank", completion(""), "", "stop"),
    ("parts", completion([{"type": "thinking", "thinking": []}, {"type": "text", "text": "Yes."}]), "Yes.", "stop"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text", "reason"), [c[1:] for c in JUDGED], ids=[c[0] for c in JUDGED])
def test_a_reply_that_may_be_no_use_comes_back_with_its_finish_reason(body, text, reason):
    reply, server = outcome(body)
    assert (reply.text, reply.finish_reason, len(server.asked)) == (text, reason, 1)
    if reason not in {"stop", ""}:
        with ModelServer(body) as again, pytest.raises(ModelError, match=r"finish reason|cut off"):
            asked(live(again), ASKED)


# ---- bodies that are no reply


NO_REPLY = [
    ("no JSON", b"<html><head><title>x</title></head><b>Welcome</b> to nginx", "no JSON: 'Welcome to nginx'"),
    ("half of a JSON", json.dumps(completion()).encode()[:-9], "no JSON: '{"),
    ("nothing", b"", "no JSON: ''"),
    ("no JSON, with the key", b"x" * 70 + KEY.encode() + b" is wrong", "x[key] is wrong'"),
    ("deep", b"[" * 200_000, "no JSON"),
    ("a number", b"7", "no choices"),
    ("no choices", {"object": "chat.completion"}, "no choices"),
    ("empty choices", {"choices": []}, "no choices"),
    ("odd choices", {"choices": ["yes"]}, "no choices"),
    ("no message", {"choices": [{"finish_reason": "stop"}]}, "no content"),
    ("no content", completion(None), "no content"),
    ("odd content", completion(7), "no content"),
    ("an error", error("model overheated"), "HTTP 200: model overheated"),
    ("a plain error", {"error": "model 'x' not found"}, "HTTP 200: model 'x' not found"),
    ("an error object", {"object": "error", "message": "bad thing"}, "HTTP 200: bad thing"),
    ("an error with a status", error("no access", code=403), "HTTP 403: no access"),
    ("a broken choice", {"choices": [{"error": {"message": "upstream", "code": 400}}]}, "HTTP 400: upstream"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), [c[1:] for c in NO_REPLY], ids=[c[0] for c in NO_REPLY])
def test_a_body_that_is_no_reply_is_an_error_that_says_so_and_is_not_asked_again(body, said):
    fault, server = outcome(body)
    assert type(fault) is ModelError
    assert said in str(fault)
    assert str(fault).startswith("my-model: ")
    assert len(server.asked) == 1


def test_an_error_in_disguise_that_may_pass_is_asked_again():
    reply, server = outcome(error("Provider is down", code=502), completion())
    assert (reply.text, reply.attempts, len(server.asked)) == ("Hello.", 2, 2)


# ---- settings


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"concurrency": 0}, "concurrency is 0; expected a number of 1 or more"),
        ({"retries": -1}, "retries is -1"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds is nan"),
        ({"cap": lambda: Cap(tokens=-1)}, "cap: tokens is -1"),
    ],
)
def test_a_setting_that_makes_no_sense_is_an_error(changes, said):
    with pytest.raises(SpecError, match=said):
        Live("m", "http://127.0.0.1:9", **{k: v() if callable(v) else v for k, v in changes.items()})


@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        ("ftp://127.0.0.1", KEY, "the base URL is 'ftp://127.0.0.1'"),
        ("127.0.0.1:80", KEY, "expected http://HOST:PORT/PATH"),
        ("http://127.0.0.1:70000/v1", KEY, "the base URL is"),
        ("http://name:pass-word@/v1", KEY, r"the base URL is 'http://\[key\]@/v1'"),
        (None, None, "set OPENAI_API_KEY"),
        ("http://127.0.0.1:9", "schlüssel-schlüssel", "characters that cannot be sent"),
        ("http://127.0.0.1:9", "two-lines\nof-a-key", "characters that cannot be sent"),
    ],
)
def test_what_cannot_be_sent_is_said_before_a_run_and_is_a_model_error_in_one(url, key, said, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = Live("m", url, key)
    with pytest.raises(SpecError, match=said) as early:
        model.require()
    with pytest.raises(ModelError, match=said) as late:
        model.reply(ASKED)
    assert "pass-word" not in str(early.value) + str(late.value)
    assert "schlüssel" not in str(late.value)


def test_the_client_is_loaded_by_the_first_request_and_not_before():
    code = "import sys, compactlab.llm.live as l; l.Live('m'); print('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_server_of_ones_own_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ModelServer(completion()) as server:
        assert Live("m", server.url).reply(ASKED).text == "Hello."


def test_a_request_that_is_too_long_is_told_apart():
    fault, server = outcome(Answer(error("prompt is too long: 300 tokens > 200 maximum"), 400))
    assert isinstance(fault, TooLong)
    assert len(server.asked) == 1
