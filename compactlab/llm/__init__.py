"""One way to get text from a model: a request in, a reply with its usage out.

A `Model` has a name, which stands in every record, and `reply`. Kinds so far: `scripted` (fixed replies, for tests) and
`extractive` (written by code, for a run without any model; it never calls itself one).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import msgspec
from msgspec.structs import replace

from compactlab.errors import CompactlabError
from compactlab.redaction import redacted, redacted_messages
from compactlab.transcript import Message

Purpose = Literal["summary", "reflect", "merge", "answer", "judge"]
OPTIONAL = ("temperature", "seed")
"""Fields of a request that some models do not take, and that `compactlab.llm.build.Adjusted` can leave out."""
FINISHED = frozenset({"stop", "end_turn", "stop_sequence", ""})
"""Finish reasons of a reply that was given whole; any other (a filter, a refusal, a call) is no reply."""


class ModelError(CompactlabError, RuntimeError):
    """A model gave no reply that can be used: it failed, refused, was cut off, or said nothing."""


class TooLong(ModelError):  # noqa: N818  # says what is the matter
    """The request is longer than what the model can read."""


class Pending(ModelError):  # noqa: N818  # same
    """The reply is not there yet: the request was written down, to be answered elsewhere."""


class NotAsked(ModelError):  # noqa: N818  # same
    """The model was not asked: the call would have passed a cap."""


class Request(msgspec.Struct, frozen=True):
    """What a model is asked: instructions, the material rendered as text, how much it may answer.

    `material` are the messages that were rendered, for a stand-in that works on them and not on the text; a real model
    is sent `system` and `prompt` alone. `replicate` tells repetitions of one request apart; `prompt_version` is that of
    the prompts that made it. A temperature or seed of None is not sent.
    """

    purpose: Purpose
    system: str
    prompt: str
    material: tuple[Message, ...]
    max_output: int = 2_048
    temperature: float | None = 0.3
    seed: int | None = None
    replicate: int = 0
    prompt_version: str = ""


class Reply(msgspec.Struct, frozen=True):
    """What came back; tokens as the provider counts them, 0 where nobody does."""

    text: str
    model: str
    finish_reason: str = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    latency_seconds: float = 0.0
    attempts: int = 1


class Model(Protocol):
    """Anything that answers requests."""

    @property
    def name(self) -> str:
        """What stands in records and tables."""
        ...

    @property
    def window(self) -> int | None:
        """Tokens that the model can read and write together; None where there is no limit, or none is known."""
        ...

    def reply(self, request: Request) -> Reply:
        """Answer a request, or raise `ModelError`."""
        ...


def asked(model: Model | None, request: Request) -> str:
    """The text of a usable reply; `ModelError` where there is no model, no text, or a reply that was cut off."""
    if model is None:
        raise ModelError("no model was given")
    reply = model.reply(request)
    if reply.finish_reason == "length":
        raise ModelError(f"{reply.model}: the reply was cut off after {request.max_output:,} tokens")
    if reply.finish_reason not in FINISHED:
        raise ModelError(f"{reply.model}: no usable reply (finish reason {reply.finish_reason!r})")
    if not reply.text.strip():
        raise ModelError(f"{reply.model}: the reply is blank (finish reason {reply.finish_reason})")
    return reply.text


def _without_secrets(request: Request) -> Request:
    return replace(
        request,
        system=redacted(request.system),
        prompt=redacted(request.prompt),
        material=redacted_messages(request.material),
    )


class Metered:
    """Passes requests on to a model and counts calls and tokens, by the provider's usage or by *weigh*.

    What has the shape of a secret goes no further, whoever made the request.
    """

    def __init__(self, model: Model, weigh: Callable[[str], int]) -> None:
        self._model = model
        self._weigh = weigh
        self.calls = 0
        self.tokens = 0

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def window(self) -> int | None:
        """The window of the model behind."""
        return self._model.window

    def reply(self, request: Request) -> Reply:
        """Ask the model; a call that fails is counted too."""
        request = _without_secrets(request)
        self.calls += 1
        self.tokens += (asked_for := self._weigh(request.system) + self._weigh(request.prompt))
        reply = self._model.reply(request)
        self.tokens += (reply.input_tokens or asked_for) - asked_for
        self.tokens += reply.output_tokens or self._weigh(reply.text)
        return reply
