"""Logs of requests to a model, `{"request": {...}, "response": {...}}`, of any of three providers.

The body of a request is one of Chat Completions, Anthropic Messages or OpenAI Responses. It stands under `request`,
`body`, `kwargs`, `input` or a name like them, perhaps deeper, perhaps as JSON text; that of the response under
`response`, `output` or a name like them. Read are JSON lines, lists, HAR files and batch files. Requests that begin
with what was said before continue that conversation; each conversation is a transcript, with the token counts of each
of its responses.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from compactlab.errors import TranscriptError
from compactlab.readers._conversations import Conversation, shape
from compactlab.readers._fields import array, first_string, mapping, objects
from compactlab.readers._lines import read_json
from compactlab.readers._logged import Conversations, Logged, Part, transcripts, without
from compactlab.readers._responses import Bodies, is_item, with_compactions
from compactlab.readers._usage import anthropic_usage, openai_usage
from compactlab.shapes import anthropic, openai_chat
from compactlab.transcript import Intake

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

NAME = "request_log"
WHERE = "wherever requests are logged"
REQUESTS = ("request", "request_body", "requestBody", "body", "kwargs", "input", "params", "req")
RESPONSES = ("response", "response_body", "responseBody", "output", "result", "completion", "res")
_INNER = ("body", "json", "kwargs", "params", "content", "data", "payload", "postData", "text", "input")
_DEEPEST = 4
_LONGEST_HEAD = 200
_ROLES = list(openai_chat.ROLES)
_Wire = dict[str, Any]


def sniff(source: Source) -> float:
    """Look for request bodies that stand under a name."""
    values: Sequence[object] = source.values if source.document is None else _records(source.document)
    return 0.9 if any(_is_wrapped(value) for value in values[:50]) else 0.0


def _is_wrapped(value: object) -> bool:
    return "messages" not in mapping(value) and _request(value) is not None


def _records(document: object) -> list[Any]:
    """The records of a document: those of a list, the entries of a HAR file, or itself."""
    entries = mapping(mapping(document).get("log")).get("entries")
    if isinstance(entries, list):
        return entries
    return document if isinstance(document, list) else [document]


def _request(record: object) -> _Wire | None:
    fields = mapping(record)
    for name in REQUESTS:
        body = _body(fields.get(name), _is_request)
        if body is not None:
            return body
    asked, said = fields.get("input"), fields.get("output")
    if isinstance(said, dict) and isinstance(asked, list) and asked and all(is_item(item) for item in asked):
        return {"messages": asked}
    return None


def _is_request(body: _Wire) -> bool:
    messages = objects(body.get("messages"))
    if messages:
        return any(isinstance(message.get("role"), str) for message in messages)
    given = body.get("input")
    if isinstance(given, str):
        return "instructions" in body or "previous_response_id" in body or "tools" in body
    return any(is_item(item) for item in array(given))


def _is_response(body: _Wire) -> bool:
    listed = any(isinstance(body.get(name), list) for name in ("choices", "output"))
    return listed or body.keys() >= {"content", "role"}


def _body(value: object, wanted: Any, depth: int = 0) -> _Wire | None:  # noqa: ANN401  # a test of a body
    """The first object, under names that bodies stand under, that is as *wanted*."""
    if isinstance(value, str) and value[:_LONGEST_HEAD].lstrip().startswith("{"):
        try:
            value = read_json(value.encode("utf-8", "surrogatepass"))
        except TranscriptError:
            return None
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None
    if wanted(value):
        return value
    inner = (_body(value[name], wanted, depth + 1) for name in _INNER if name in value)
    return next((body for body in inner if body is not None), None)


def read(source: Source) -> Iterator[Transcript]:
    """Read the conversations of a log."""
    log = _Log(str(source.path))
    if source.document is None:
        lines = source.lines()
        log.take((line.value, f"line {line.number}: ") for line in lines)
        made = transcripts(source, NAME, log.found, lambda: lines.intake(log.skipped, log.unknown))
    else:
        records = _records(source.document)
        log.take((record, f"record {index}: ") for index, record in enumerate(records))
        made = transcripts(
            source, NAME, log.found, lambda: Intake(len(records), dict(+log.skipped), dict(+log.unknown))
        )
    for transcript in made:
        yield with_compactions(transcript)


class _Log:
    """The conversations of a log, and what in it became no message."""

    def __init__(self, path: str) -> None:
        self.found = Conversations(path)
        self.bodies = Bodies()

    @property
    def skipped(self) -> Counter[str]:
        """What is part of no context, by kind."""
        return self.bodies.skipped + self.found.skipped

    @property
    def unknown(self) -> Counter[str]:
        """What is not known, by kind."""
        return self.bodies.unknown

    def take(self, records: Iterable[tuple[Any, str]]) -> None:
        for record, where in records:
            request = _request(record)
            if request is None:
                self.unknown["record without a request"] += 1
                continue
            fields = mapping(record)
            found = (_body(fields.get(name), _is_response) for name in RESPONSES)
            response = next((body for body in found if body is not None), {})
            try:
                read = self._read(request, response, where)
            except TranscriptError:
                self.unknown["request with a role that is none"] += 1
                continue
            own = {
                key: fields[key] for key in ("session_id", "conversation_id", "thread_id", "trace_id") if key in fields
            }
            self.found.add(read._replace(body=read.body | own))

    def _read(self, request: _Wire, response: _Wire, where: str) -> Logged:
        if not isinstance(request.get("messages"), list):
            return self.bodies.logged(request, response, where)
        messages = [message for message in objects(request["messages"]) if message.get("role") in _ROLES]
        self.unknown["message without a known role"] += len(request["messages"]) - len(messages)
        answer = _answer(response)
        chat = isinstance(response.get("choices"), list) or not (
            response.get("type") == "message" or _shape(request, [*messages, *answer]) == "anthropic_messages"
        )
        parts = _chat(messages, where) if chat else _anthropic(messages, request.get("system"), where)
        said = openai_chat.from_wire(answer) if chat else anthropic.from_wire(answer)
        usage = (openai_usage if chat else anthropic_usage)(None, response.get("usage"))
        body = without(request, "messages", "system")
        return Logged(
            parts, Part(f"{where}response", said, len(answer)), usage, first_string(response, "id"), body=body
        )


def _shape(request: _Wire, messages: list[_Wire]) -> str:
    return shape([Conversation(messages, request)])


def _answer(response: _Wire) -> list[_Wire]:
    first = next(iter(objects(response.get("choices"))), None)
    message = response if first is None else mapping(first.get("message"))
    return [message] if isinstance(message.get("role"), str) else []


def _chat(messages: list[_Wire], where: str) -> tuple[Part, ...]:
    return (Part(f"{where}messages[{{}}]", openai_chat.from_wire(messages), len(messages)),)


def _anthropic(messages: list[_Wire], system: object, where: str) -> tuple[Part, ...]:
    said = Part(f"{where}messages[{{}}]", anthropic.from_wire(messages), len(messages))
    return (Part(f"{where}system", anthropic.from_wire([], system), 1), said) if system else (said,)
