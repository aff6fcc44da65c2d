"""Replies that are asked for all at once and elsewhere: requests are written down, and their replies read back later.

A folder holds `requests.jsonl`, the requests that wait, in the form of OpenAI's Batch API; `asked.jsonl`, what each of
them is; and `replies.jsonl`, a store of replies as `compactlab.llm.recorded` has it. Results come in OpenAI's form, or
as plain lines `{"custom_id": ..., "text": ...}`. An answered request goes out of the file, so that the next round
sends what is still without a reply and nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from compactlab.errors import TranscriptError
from compactlab.llm import Pending, Reply, Request
from compactlab.llm.completions import read
from compactlab.llm.faults import LONGEST_WORDS, Fault
from compactlab.llm.jsonl import Lines, documents, encode
from compactlab.llm.recorded import Asked, answered, asked_of, by_model_and_purpose, key_of, only_model, opened
from compactlab.tokens import clean

REQUESTS = "requests.jsonl"
ASKED = "asked.jsonl"
URL = "/v1/chat/completions"


class _Sent(msgspec.Struct, frozen=True):
    """A line of the requests, as far as it must be known again."""

    custom_id: str


class Batch:
    """Answers from the store in *folder*; a request that it lacks is written down there, once, and is `Pending`."""

    def __init__(self, folder: Path | str, name: str, *, window: int | None = None) -> None:
        self.name = name
        self.window = window
        self._box = _Box(Path(folder))

    @property
    def folder(self) -> Path:
        """Where requests and replies lie."""
        return self._box.folder

    def reply(self, request: Request) -> Reply:
        """The reply that was read back, or `Pending`."""
        asked = asked_of(request, self.name, self.window)
        stored = self._box.replies.get(asked.key)
        if stored is not None:
            return stored.given()
        line = {"custom_id": asked.key, "method": "POST", "url": URL, "body": body_of(request, self.name)}
        self._box.requests.add(_Sent(asked.key), encode(line))
        self._box.asked.add(asked)
        raise Pending(
            f"{self.name}: the reply is not there yet; request {asked.key} waits in {self._box.requests.path}"
        )

    def settle(self) -> None:
        """Sort what waits, so that it does not tell which process was first; for the end of a run."""
        self._box.settle()


class _Box:
    """The three files of a batch folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replies = opened(folder)
        self.requests = Lines(folder / REQUESTS, _Sent, _custom_id)
        self.asked = Lines(folder / ASKED, Asked, key_of)

    def settle(self) -> None:
        """Sort the files, and take out what is answered."""
        if self.asked.path.exists():
            self.requests.keep(lambda line: self.replies.get(line.custom_id) is None, _custom_id)
            self.asked.keep(lambda line: self.replies.get(line.key) is None, key_of)


def _custom_id(line: _Sent) -> str:
    return line.custom_id


def body_of(request: Request, model: str) -> dict[str, Any]:
    """The body of a Chat Completions request, as OpenAI's Batch API takes it."""
    said = (("system", request.system), ("user", request.prompt))
    messages = [{"role": role, "content": clean(text)} for role, text in said if text]
    options = {"max_completion_tokens": request.max_output, "temperature": request.temperature, "seed": request.seed}
    return {"model": model, "messages": messages} | {key: v for key, v in options.items() if v is not None}


def waiting(folder: Path | str) -> int:
    """How many requests of a batch folder wait for their replies."""
    return len(_Box(Path(folder)).requests.values())


def known_model(folder: Path, purposes: Collection[str] = ()) -> str:
    """The model that a batch folder was made for, as `only_model` finds it."""
    box = _Box(folder)
    return only_model((*box.replies.values(), *box.asked.values()), folder, purposes)


class Imported(NamedTuple):
    """What a file of results came to, and how many requests still wait.

    `added` replies are new, `known` ones were there before; `failed` and `unknown` name the request and say why.
    """

    added: int
    known: int
    failed: tuple[str, ...]
    unknown: tuple[str, ...]
    waiting: int


def import_results(folder: Path | str, file: Path | str) -> Imported:
    """Read a file of results into the store of a batch folder.

    A result that is an error leaves its request waiting, to be asked again. `TranscriptError` for a folder without
    requests, and for a line that is no result: nothing is then read at all.
    """
    box, file = _Box(Path(folder)), Path(file)
    if not box.asked.path.exists():
        raise TranscriptError(f"{box.asked.path}: no such file; expected a folder that --llm batch:FOLDER wrote")
    results = [_result(value, f"{file}: line {number}") for number, value in documents(file)]
    added, known = 0, 0
    failed: list[str] = []
    unknown: list[str] = []
    for result in results:
        asked = box.asked.get(result.custom_id)
        if box.replies.get(result.custom_id) is not None:
            known += 1
        elif asked is None:
            unknown.append(result.custom_id)
        elif result.reply is None:
            failed.append(f"{result.custom_id}: {result.why}")
        else:
            reply = result.reply if result.reply.model else msgspec.structs.replace(result.reply, model=asked.model)
            box.replies.add(answered(asked, reply))
            added += 1
    box.replies.keep(lambda _: True, by_model_and_purpose)
    box.settle()
    return Imported(added, known, tuple(failed), tuple(unknown), len(box.requests.values()))


class _Result(NamedTuple):
    """A line of results: the reply, or why there is none."""

    custom_id: str
    reply: Reply | None
    why: str = ""


def _result(value: object, where: str) -> _Result:
    if not isinstance(value, Mapping) or not isinstance(custom_id := value.get("custom_id"), str):
        raise TranscriptError(f"{where}: expected an object with a custom_id")
    if isinstance(text := value.get("text"), str):
        return _Result(custom_id, Reply(clean(text), ""))
    response = value.get("response")
    if not isinstance(response, Mapping) and not value.get("error"):
        raise TranscriptError(f"{where}: expected a response, an error, or a text")
    body = response.get("body") if isinstance(response, Mapping) else None
    status = response.get("status_code", 200) if isinstance(response, Mapping) else 0
    if value.get("error") or status != 200 or not isinstance(body, Mapping):
        return _Result(custom_id, None, _why(value.get("error"), body, status))
    try:
        return _Result(custom_id, read(encode(body), ""))
    except Fault as fault:
        return _Result(custom_id, None, fault.said)


def _why(error: object, body: object, status: object) -> str:
    """The words of a failed result: its own error, or that in the body of its response, or its status."""
    inner = body.get("error") if isinstance(body, Mapping) else None
    for found in (error, inner):
        parts = [found.get("code"), found.get("message")] if isinstance(found, Mapping) else [found]
        if words := " ".join(" ".join(str(part) for part in parts if part).split()):
            return words[:LONGEST_WORDS]
    return f"status {status}"
