"""hermes-agent's own compressor on OpenAI's wire, which is its own; `number` tells which of ours a message was."""

from __future__ import annotations

import copy
import os
import tempfile
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from compactlab.environments.serve import Job

_HOME = tempfile.TemporaryDirectory(prefix="hermes-")
os.environ["HERMES_HOME"] = _HOME.name
"""A place of its own: what the user has set up for hermes-agent is no part of a comparison."""
SUMMARY_LEAST = 2_000


def versions() -> dict[str, str]:
    """What is installed here."""
    return {"hermes-agent": version("hermes-agent")}


def compress(job: Job) -> list[dict[str, Any]]:
    """`ContextCompressor.compress`, as `/compress` calls it."""
    module: Any = import_module("agent.context_compressor")
    clock: Any = import_module("hermes_time")
    target = job.options.pop("target")

    def asked(**given: Any) -> SimpleNamespace:  # noqa: ANN401  # its signature
        said = job.reply("", "\n\n".join(str(message["content"]) for message in given["messages"]))
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=said))])

    module.call_llm, clock.now = asked, _no_clock
    compressor = module.ContextCompressor("asked", quiet_mode=True, **job.options)
    if target is not None:
        head = sum(job.weights[: job.options["protect_first_n"]])
        compressor.tail_token_budget = max(0, int((target - head - SUMMARY_LEAST) / 1.5))
    messages = [{**copy.deepcopy(wire), "number": n} for n, wire in enumerate(job.messages)]
    left = compressor.compress(messages, current_tokens=sum(job.weights), force=True)
    return [_entry(job, message) for message in left]


def _no_clock() -> None:
    """Without a date its prompt lacks one sentence, as where its own clock fails; with one no request would recur."""
    raise OSError("no clock")


def _entry(job: Job, message: dict[str, Any]) -> dict[str, Any]:
    """What became of a message."""
    text = _words(message)
    if "number" not in message:
        return {"role": message["role"], "content": text}
    before = job.messages[message["number"]]
    return (
        job.kept(message["number"], job.called(message))
        | ({"content": text} if text != _words(before) else {})
        | ({"images": False} if _images(before) and not _images(message) else {})
    )


def _words(message: dict[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, list):
        return str(content or "")
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def _images(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)


CALLS: dict[str, Callable[[Job], list[dict[str, Any]]]] = {"compress": compress}
