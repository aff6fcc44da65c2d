"""A real small model on this machine: how it is served, what it replies, and what a strategy makes of that.

Tests with the mark `local` ask the model itself; they are skipped where its weights or its engine are not installed.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request as Asking
from urllib.request import urlopen

import pytest
import runs

from compactlab import history
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm import ModelError, Request, TooLong, asked
from compactlab.llm.gguf import MAGIC
from compactlab.llm.local import Local, serve
from compactlab.llm.weights import NotInstalled, find, weights
from compactlab.probes.hand import HandProbes, load
from compactlab.readers import read
from compactlab.transcript import readable

SHORT = runs.CHECKOUT / "fixtures" / "short" / "subagent-loop.jsonl"
HAS_ENGINE = find_spec("xllamacpp") is not None
IS_INSTALLED = HAS_ENGINE and find() is not None
QUESTION = Request("answer", "Answer in one short sentence.", "Which river flows through Vienna?", (), 24, 0.0)

engine = pytest.mark.skipif(not HAS_ENGINE, reason="xllamacpp is not installed: pip install 'compactlab[local]'")


def local(test):
    """Mark a test that asks the model."""
    without = pytest.mark.skipif(not IS_INSTALLED, reason="no local model: compactlab llm install, and xllamacpp")
    return pytest.mark.local(without(test))


@pytest.fixture(scope="module")
def model():
    made = Local()
    yield made
    made.close()


@pytest.fixture
def nonsense(tmp_path):
    """A file that only begins like weights."""
    file = tmp_path / "nonsense.gguf"
    file.write_bytes(MAGIC + b"\0" * 64)
    return file


def answers(base_url):
    """Whether a server listens there."""
    try:
        with urlopen(f"{base_url}/models", timeout=10) as answer:  # noqa: S310  # our own server
            return answer.status == 200
    except OSError:
        return False


def ends(base_url):
    """Wait for a server to be gone."""
    until = time.monotonic() + 20
    while answers(base_url) and time.monotonic() < until:
        time.sleep(0.05)
    return not answers(base_url)


# ---- what is asked of a server


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"host": "0.0.0.0"}, "host 0.0.0.0: others could use the model"),  # noqa: S104  # refused
        ({"host": "192.168.1.4"}, "host 192.168.1.4: others could use the model"),
        ({"host": "::"}, "host ::: others could use the model"),
        ({"host": "example.org"}, "host 'example.org': expected an address"),
        ({"host": ""}, "host '': expected an address"),
        ({"port": -1}, "port -1: expected 0 to 65535"),
        ({"port": 65_536}, "port 65536: expected 0 to 65535"),
        ({"window": 0}, "window 0: expected a number of tokens above 0"),
    ],
)
def test_an_address_that_is_not_meant_or_makes_no_sense_is_refused(nonsense, options, message):
    with pytest.raises(SpecError, match=message), serve(nonsense, **options):
        pass


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_is_not_refused(tmp_path, host):
    with pytest.raises(NotInstalled, match="no such file"), serve(tmp_path / "none.gguf", host):
        pass


def test_another_host_is_taken_where_that_is_meant(tmp_path):
    with pytest.raises(NotInstalled, match="no such file"), serve(tmp_path / "none.gguf", "0.0.0.0", exposed=True):  # noqa: S104
        pass


def test_without_the_engine_the_extra_is_named(nonsense, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    for use in (lambda: serve(nonsense).__enter__(), lambda: Local(nonsense)):
        with pytest.raises(NotInstalled, match=r"pip install 'compactlab\[local\]'"):
            use()


@pytest.mark.skipif(find() is not None, reason="there are weights")
def test_without_weights_the_command_that_brings_them_is_named():
    with pytest.raises(NotInstalled, match="compactlab llm install"):
        Local()


@engine
def test_a_file_that_is_no_model_is_told_and_leaves_no_process(nonsense):
    with pytest.raises(ModelError, match=r"nonsense\.gguf cannot be used"), serve(nonsense):
        pass
    broken = Local(nonsense)
    assert broken.name == "nonsense (local)"
    for use in (lambda: broken.base_url, lambda: broken.reply(QUESTION)):
        with pytest.raises(ModelError, match=r"nonsense\.gguf did not start: .*nonsense\.gguf cannot be used"):
            use()


# ---- the model itself


@local
def test_the_server_tells_its_model_and_window_and_no_path_and_no_prompts():
    with serve(find(), window=1_000_000) as served:
        assert served.window == 8_192
        assert served.base_url.startswith("http://127.0.0.1:")
        with urlopen(f"{served.base_url}/models", timeout=10) as answer:  # noqa: S310  # our own server
            said = answer.read().decode()
        told = json.loads(said)["data"][0]
        assert (told["id"], told["meta"]["n_ctx"]) == (weights().model, served.window)
        assert str(find().parent) not in said
        with pytest.raises(HTTPError, match=r"50[01]|404"):
            urlopen(f"{served.base_url.removesuffix('/v1')}/slots", timeout=10)  # noqa: S310  # same
        page = Asking(f"{served.base_url}/models", headers={"Origin": "https://example.org"})  # noqa: S310  # same
        with urlopen(page, timeout=10) as answer:  # noqa: S310  # same
            assert answer.headers.get("Access-Control-Allow-Origin") not in {"*", "https://example.org"}
    assert not answers(served.base_url)


@local
def test_a_port_that_is_taken_is_told(model):
    port = int(model.base_url.rpartition(":")[2].partition("/")[0])
    with pytest.raises(ModelError, match=f"port {port} of 127.0.0.1"), serve(find(), port=port):
        pass


@local
def test_a_reply_comes_with_its_usage_and_the_name_of_the_model(model):
    reply = model.reply(QUESTION)
    assert reply.model == model.name == f"{weights().model} (local)"
    assert reply.text.strip()
    assert 20 < reply.input_tokens < 60
    assert 0 < reply.output_tokens <= 24
    assert reply.latency_seconds > 0


@local
def test_at_temperature_zero_a_reply_is_the_same_whatever_was_asked_before(model):
    first = model.reply(QUESTION)
    model.reply(Request("answer", QUESTION.system, "Name three trees.", (), 24, 1.0, seed=5))
    assert model.reply(QUESTION).text == first.text


@local
def test_a_seed_makes_a_warm_reply_the_same_again(model):
    warm = [Request("answer", "", "Write a line about the sea.", (), 24, 1.0, seed=seed) for seed in (1, 1, 2)]
    first, same, other = (model.reply(request).text for request in warm)
    assert first == same != other


@local
def test_a_reply_that_does_not_end_is_cut_off_and_counts_for_nothing(model):
    request = Request("answer", "", "Count from one to a hundred in words.", (), 8, 0.0)
    assert model.reply(request).finish_reason == "length"
    with pytest.raises(ModelError, match="cut off after 8 tokens"):
        asked(model, request)


@local
def test_a_request_longer_than_the_window_is_too_long(model):
    with pytest.raises(TooLong, match="context size"):
        model.reply(Request("answer", "", "word " * 9_000, (), 8))


# ---- the server of a model ends when it should


@local
def test_a_copy_in_another_process_uses_the_same_server(model):
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).base_url)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(model), capture_output=True, check=True)
    assert done.stdout.decode().strip() == model.base_url
    assert answers(model.base_url)


@local
def test_a_model_that_was_closed_starts_again():
    made = Local()
    first = made.base_url
    made.close()
    made.close()
    assert not answers(first)
    assert answers(made.base_url)
    made.close()


@local
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
@pytest.mark.parametrize("how", ["raise SystemExit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_the_server_ends_with_its_process_however_that_ends(how):
    start = "from compactlab.llm.local import Local; model = Local(); print(model.base_url, flush=True)"
    code = f"import os, signal; {start}; {how}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("http://127.0.0.1:")
    assert ends(done.stdout.strip())


@local
@pytest.mark.skipif(os.name == "nt", reason="the process is found by its parent")
def test_a_server_that_died_is_started_again():
    made = Local()
    first = made.base_url
    made._server._process.kill()
    made._server._process.wait()
    assert ends(first)
    assert made.reply(QUESTION).text.strip()
    made.close()


# ---- strategies on a short session


@local
@pytest.mark.parametrize(
    ("spec", "outcomes"),
    [
        ("summary(preserve_recent=2, max_summary_tokens=96)", {"applied", "failed", "rejected", "skipped"}),
        ("sliding_reflect(preserve_recent=2, max_note_tokens=96)", {"applied"}),  # a plain slide at the worst
    ],
)
def test_a_strategy_ends_with_an_outcome_and_a_receipt_that_names_the_model(model, spec, outcomes):
    (session,) = read(SHORT)
    before = session.messages[:10]
    result = compact(before, spec, guard=Guard(model=model))
    receipt = result.receipt
    assert receipt.outcome in outcomes
    assert receipt.model == model.name
    assert receipt.model_calls >= 1
    assert receipt.model_tokens > 1_000
    if receipt.outcome == "applied":
        assert receipt.tokens_after < receipt.tokens_before
    else:
        assert receipt.reason
        assert result.messages == before


# ---- the short session and its probes


def test_the_short_session_is_whole_and_of_its_size():
    (session,) = read(SHORT)
    assert (session.id, session.agent_type, len(session.messages)) == ("subagent-loop", "subagent", 33)
    assert 3_500 < runs.meter().messages(session.messages) < 4_500
    assert history.repair(session.messages).repairs == ()
    assert str(Path.home()) not in SHORT.read_text(encoding="utf-8")


def test_its_probes_stand_in_their_evidence_and_are_asked_in_time():
    (session,) = read(SHORT)
    probes = load(SHORT.with_name("subagent-loop.probes.jsonl"))
    texts = {message.source: "\n".join(map(readable, message.blocks)) for message in session.messages}
    assert len(probes) == 12
    for probe in probes:
        values = (probe.answer, *probe.aliases)
        assert [i for i in probe.evidence if not any(value in texts[i] for value in values)] == []
        assert [v for v in (*values, *probe.superseded) if not any(v in text for text in texts.values())] == []
        assert min(probe.evidence) <= probe.asked_after
    assert set(HandProbes(probes).verdicts(session.messages)) <= {"kept", "both"}
    assert set(HandProbes(probes).verdicts(session.messages[:2])) == {"lost"}
