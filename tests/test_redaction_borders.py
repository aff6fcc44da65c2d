"""Borders of one compaction: requests to a model, notes that are made, receipts; by whichever strategy."""

from dataclasses import dataclass

import pytest
from borders import BARE, SECRETS, SESSION, leaks
from histories import agent, call, user

from compactlab import redaction
from compactlab.compaction import Guard, compact
from compactlab.llm import Request
from compactlab.llm.scripted import Scripted
from compactlab.redaction import known_in, redacted, redacted_messages
from compactlab.strategies import Compacted, Strategy
from compactlab.transcript import Reasoning

SPECS = (
    "microcompact(keep_recent=1)",
    "microcompact(keep_recent=1, errors='ends')",
    "cull",
    "sliding_window",
    "sliding_reflect",
    "summary",
    "key_value",
    "ladder(microcompact, summary)",
)


def test_the_secrets_are_in_the_session_and_known_by_their_shape_or_label():
    assert leaks(repr(SESSION)) == list(SECRETS)
    assert set(SECRETS.values()) == set(known_in(SESSION))


def test_thoughts_and_names_of_tools_are_redacted_too_and_a_signature_stays():
    key = SECRETS["name"]
    thought = Reasoning(f"the key is {key}", signature="c2ln")
    [message] = redacted_messages([agent(thought, call("c", f"mcp__deploy_{key}", "{}"))])
    assert message.blocks == (
        Reasoning("the key is [REDACTED:token]", signature="c2ln"),
        call("c", "mcp__deploy_[REDACTED:token]", "{}"),
    )


def test_a_session_without_secrets_is_the_very_same():
    plain = (user("Deploy."), agent(Reasoning("hm"), call("c", "bash", "{}"), "Done."))
    assert known_in(plain) == {}
    assert all(one is other for one, other in zip(redacted_messages(plain), plain, strict=True))


@pytest.mark.parametrize("spec", SPECS)
def test_what_compaction_made_holds_no_secret_and_what_stayed_is_exact(spec):
    done = compact(SESSION, spec, guard=Guard(model=Scripted(f"<summary>Move it. {BARE}</summary>")))
    positions = {message.source: message for message in SESSION}
    made = [message for message in done.messages if message.source is None]
    same = [message for message in done.messages if positions.get(message.source) == message]
    assert leaks(repr(made)) == []
    assert leaks(repr(same))
    assert leaks(done.receipt.to_json() + done.receipt.to_text()) == []


@dataclass(frozen=True, repr=False)
class Telling(Strategy):
    """Anybody's strategy, which quotes in its requests, notes and errors what it read."""

    outcome: str = "skipped"

    def compact(self, messages, context):
        said = repr(messages)
        if context.model:
            context.model.reply(Request("summary", said, said, messages))
        if self.outcome == "failed":
            raise KeyError(said)
        return Compacted(messages, (said,), said if self.outcome == "deferred" else None)


def of_shape():
    """Names of the secrets that are known by what they are or by a label beside them, wherever they stand."""
    return [name for name, secret in SECRETS.items() if secret != BARE]


@pytest.mark.parametrize("outcome", ["failed", "deferred", "skipped"])
def test_requests_notes_and_errors_of_anybodys_strategy_hold_no_secret(outcome):
    model = Scripted("fine")
    receipt = compact(SESSION, Telling(outcome), guard=Guard(model=model)).receipt
    assert receipt.outcome == outcome
    [request] = model.requests
    for text in (request.system, request.prompt, repr(request.material), receipt.to_json(), receipt.to_text()):
        assert not set(leaks(text)) & set(of_shape())
    assert "[REDACTED:" in receipt.to_json()
    assert outcome != "failed" or leaks(receipt.to_json()) == []


@pytest.mark.parametrize("outcome", ["failed", "deferred", "skipped"])
def test_with_redaction_off_they_do(monkeypatch, outcome):
    monkeypatch.setattr(redaction, "_found", lambda _text: ())
    model = Scripted("fine")
    receipt = compact(SESSION, Telling(outcome), guard=Guard(model=model)).receipt
    assert leaks(receipt.to_json()) == leaks(model.requests[0].prompt) == list(SECRETS)


@pytest.mark.parametrize("spec", ["key_value", "summary"])
def test_with_redaction_off_what_compaction_made_holds_secrets(monkeypatch, spec):
    monkeypatch.setattr(redaction, "_found", lambda _text: ())
    done = compact(SESSION, spec, guard=Guard(model=Scripted(f"<summary>Move it. {BARE}</summary>")))
    assert leaks(repr([message for message in done.messages if message.source is None]))


def test_a_request_that_was_redacted_goes_on_as_it_is():
    model = Scripted(redacted(f"<summary>Move it. api_key={SECRETS['error']}</summary>"))
    first = compact(SESSION, "summary", guard=Guard(model=model)).receipt
    assert first.outcome == "applied"
    [request] = model.requests
    assert redacted(request.prompt) is request.prompt
