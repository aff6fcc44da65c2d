"""OpenAI Responses items: lists, stored conversations, requests with `input` and `output`, events of a stream.

Read are a list of items, `{"items": [...]}` and `{"object": "list", "data": [...]}`, a request body and its answer in
one object, a `response` object, JSON lines or a list of any of those, and JSON lines of items or of `response.*`
events, of which the finished response counts. Requests of one conversation become one transcript: by the messages
that they repeat, or by `previous_response_id`; where an earlier one is not in the file, the head is missing.
Compaction items are compactions. Wrapped logs, `{"request": ..., "response": ...}`, are `request_log`'s; plain chat
lists `openai_chat`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compactlab.readers._fields import array, mapping, string
from compactlab.readers._lines import Lines
from compactlab.readers._logged import Conversations, Logged, transcripts
from compactlab.readers._responses import Bodies, is_item, is_list, is_marked, with_compactions
from compactlab.transcript import Intake

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from compactlab.readers import Source
    from compactlab.transcript import Transcript

NAME = "openai_responses"
WHERE = "wherever requests are logged or conversations are kept"
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def sniff(source: Source) -> float:
    """Look for typed items, in lists, bodies or lines, and for bodies with `input` or `output` lists of them."""
    values = source.values
    if source.document is None:
        held = any(_is_body(value) or is_list(value) or _is_event(value) for value in values)
        items = all(is_item(value) for value in values) and any(is_marked(value) for value in values)
        return 0.9 if held or items else 0.0
    return 0.9 if is_list(source.document) or is_marked(source.document) or _bodies(source.document) else 0.0


def _bodies(value: object) -> list[Any]:
    """The bodies that a document is or holds."""
    if isinstance(value, dict):
        return [value] if _is_body(value) else []
    held = array(value)
    return held if held and all(_is_body(inner) or is_list(inner) for inner in held) else []


def _is_body(value: object) -> bool:
    body = mapping(value)
    if "messages" in body or "session" in body:
        return False
    if any(is_list(_list(body, name)) for name in ("input", "output", "items", "data")):
        return True
    if body.get("object") == "response":
        return isinstance(body.get("output"), list)
    given = body.get("input")
    asked = isinstance(given, str) or (bool(given) and all(is_item(item) for item in array(given)))
    told = isinstance(body.get("instructions"), str) or isinstance(body.get("previous_response_id"), str)
    return asked and told and isinstance(body.get("model"), str) and isinstance(body.get("output"), list | None)


def _list(body: dict[str, Any], name: str) -> object:
    return body.get(name) if name != "data" or body.get("object") == "list" else None


def _is_event(value: object) -> bool:
    event = mapping(value)
    return string(event.get("type")) in _ENDS and isinstance(event.get("response"), dict)


def read(source: Source) -> Iterator[Transcript]:
    """Read the conversations of a file."""
    log = _Log(str(source.path))
    lines = source.lines() if source.document is None else Lines(())
    if source.document is None:
        log.take_lines((line.value, f"line {line.number}") for line in lines)
        counted = lines
    else:
        log.take_document(source.document)
        counted = None

    def intake() -> Intake:
        skipped = log.bodies.skipped + log.found.skipped
        if counted is not None:
            return counted.intake(skipped, log.bodies.unknown)
        return Intake(log.records, dict(skipped), dict(log.bodies.unknown))

    for transcript in transcripts(source, NAME, log.found, intake):
        yield with_compactions(transcript)


class _Log:
    """The conversations of a file, and what in it became no message."""

    def __init__(self, path: str) -> None:
        self.found = Conversations(path)
        self.bodies = Bodies()
        self.records = 0

    def take_document(self, document: object) -> None:
        """Take an item, a list of items, a body, or a list of bodies."""
        if is_list(document) or isinstance(document, dict):
            self._take(document, "")
            return
        for index, value in enumerate(array(document)):
            self._take(value, f"[{index}].")

    def take_lines(self, values: Iterable[tuple[Any, str]]) -> None:
        """Take the values of JSON lines, which may be items of one list."""
        items: list[Any] = []
        for value, where in values:
            if is_item(value) and not _is_body(value):
                items.append(value)
            else:
                self._take(value, f"{where}: ")
        if items:
            self._add_items(items, "line {}")

    def _take(self, value: Any, where: str) -> None:  # noqa: ANN401  # JSON is any value
        self.records += 1
        if isinstance(value, list):
            self.records += len(value) - 1
            self._add_items(value, f"{where}[{{}}]")
        elif _is_event(value):
            answer = value["response"]
            self.found.add(self.bodies.logged({}, answer, f"{where}response."))
        elif str(mapping(value).get("type")).startswith("response."):
            self.bodies.skipped["event of a stream"] += 1
        elif is_marked(value):
            self._add_items([value], where or "item")
        elif isinstance(value, dict):
            self._take_body(value, where)
        else:
            self.bodies.unknown["record without items"] += 1

    def _take_body(self, body: dict[str, Any], where: str) -> None:
        for name in ("items", "data"):
            if is_list(_list(body, name)):
                self._add_items(_in_order(body[name]), f"{where}{name}[{{}}]", body)
                return
        if not isinstance(body.get("input"), str | list) and not isinstance(body.get("output"), list):
            self.bodies.unknown["record without items"] += 1
            return
        self.found.add(self.bodies.logged(body, body, where))

    def _add_items(self, items: list[Any], where: str, body: dict[str, Any] | None = None) -> None:
        told = {key: value for key, value in (body or {}).items() if key not in {"items", "data"}}
        self.found.add(Logged((self.bodies.part(items, where),), self.bodies.part(None, where), body=told))


def _in_order(items: list[Any]) -> list[Any]:
    """Stored items from the first to the last: services list the newest first."""
    called = {string(mapping(item).get("call_id")): at for at, item in enumerate(items) if "arguments" in mapping(item)}
    for at, item in enumerate(items):
        answers = string(mapping(item).get("call_id"))
        if "output" in mapping(item) and answers and answers in called:
            return items if called[answers] < at else items[::-1]
    roles = [mapping(item).get("role") for item in items if "role" in mapping(item)]
    return items[::-1] if roles[:1] == ["assistant"] and roles[-1:] == ["user"] else items
