"""Rows of data sets of agent runs: which columns hold the trajectory, and the messages that it becomes.

Parquet and Arrow give every row all keys of all rows; what is null there was never recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import read_json
from compactlab.readers._agent_runs import by_harness, run_message
from compactlab.readers._conversations import FOREIGN, Conversation, shape
from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers.trajectory_rows import _protocol
from compactlab.shapes.call_ids import with_ids
from compactlab.shapes.openai_chat import ROLES
from compactlab.transcript import Message, Messages, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IDS = ("traj_id", "trajectory_id", "instance_id", "id", "task_id", "question_id", "uuid", "conversation_id")
COLUMNS = ("messages", "trajectory", "content", "answer_generation", "conversations")
_MARKS = {"traj_id", "trajectory_id", "instance_id", "run_id"}
_OTHERS = FOREIGN | {"response", "history", "info"}
_NEBIUS = {"system": "system", "user": "user", "ai": "assistant"}
_SHARED = {"human": "user", "gpt": "assistant", "user": "user", "assistant": "assistant", "system": "system"}
_SHARED |= {"tool": "tool", "observation": "tool", "ipython": "tool"}


class Read(NamedTuple):
    """Messages of a row, where they stand in it, how many of an unknown kind were passed over; the trial it is of."""

    messages: Messages
    where: str
    unknown: dict[str, int]
    trial: str = ""


def decoded(value: object) -> object:
    """A column as JSON, where it was kept as a text of JSON; else the value itself."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return read_json(value.encode("utf-8", "surrogatepass"))
        except TranscriptError:
            return value
    return value


def confidence(row: object) -> float:
    """How sure a JSON value is a row of such a data set, and no conversation, log or session of another format."""
    if not isinstance(row, dict) or not _OTHERS.isdisjoint(row):
        return 0.0
    fields = _prepared(row)
    found = _kind(fields)
    if found == "messages":
        messages = fields["messages"]
        is_chat = shape([Conversation(objects(messages), {})]) == "openai_chat" if _all_known(messages) else False
        return 0.9 if is_chat and not _MARKS.isdisjoint(fields) else 0.0
    return 0.92 if found and found != "conversations" else 0.0


def _all_known(messages: object) -> bool:
    return all(string(mapping(message).get("role")) in ROLES for message in array(messages))


def _kind(row: Mapping[str, Any]) -> str:
    """Name the kind of trajectory that a row holds by the column it is in; empty if there is none."""
    return next((name for name, (test, _) in _KINDS.items() if test(row)), "")


def read(row: Mapping[str, Any]) -> Read | None:
    """Read the trajectory of a row; None if no column holds one."""
    fields = _prepared(row)
    found = _kind(fields)
    return _KINDS[found][1](fields) if found else None


def _prepared(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the columns that may hold a trajectory as lists, whether they were kept as texts or by field."""
    held = {column: _listed(decoded(row[column])) for column in COLUMNS if column in row}
    return {**row, **held}


def _listed(value: object) -> object:
    """A list of objects, where the table kept one list for each of their fields."""
    if not isinstance(value, dict) or not value or not all(isinstance(inner, list) for inner in value.values()):
        return value
    most = max(len(inner) for inner in value.values())
    return [{key: inner[at] for key, inner in value.items() if at < len(inner)} for at in range(most)]


def _is_chat(column: str, row: Mapping[str, Any]) -> bool:
    first = _first(row, column)
    return isinstance(first.get("role"), str) and ("content" in first or "tool_calls" in first)


def _first(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    return mapping(next(iter(array(row.get(column))), None))


def _chat(column: str, row: Mapping[str, Any]) -> Read:
    return _of_wires(array(row.get(column)), column, is_run=not _MARKS.isdisjoint(row))


def _of_wires(wires: list[Any], where: str, *, is_run: bool) -> Read:
    read_messages: list[Message] = []
    unknown: dict[str, int] = {}
    shown: set[int] = set()
    names: dict[int, str] = {}
    for index, item in enumerate(wires):
        wire = mapping(item)
        message = run_message(wire, index)
        if message is None:
            what = f"role {wire.get('role')!r}"[:60]
            unknown[what] = unknown.get(what, 0) + 1
            continue
        names[len(read_messages)] = first_string(wire, "name")
        read_messages.append(message)
        shown |= {index} if wire.get("is_demo") else set()
    messages = with_ids(read_messages, names)
    return Read(by_harness(messages, shown) if is_run else messages, f"{where}[{{}}]", unknown)


def _is_nebius(row: Mapping[str, Any]) -> bool:
    first = _first(row, "trajectory")
    return isinstance(first.get("role"), str) and ("text" in first or "system_prompt" in first)


def _nebius(row: Mapping[str, Any]) -> Read:
    wires = []
    for item in array(row.get("trajectory")):
        told = mapping(item)
        role = string(told.get("role"))
        words = first_string(told, "system_prompt", "text") if role == "system" else string(told.get("text"))
        wires.append({"role": _NEBIUS.get(role, told.get("role")), "content": words})
    return _of_wires(wires, "trajectory", is_run=True)


def _is_protocol(row: Mapping[str, Any]) -> bool:
    return isinstance(_first(row, "content").get("class_"), str)


def _protocol_row(row: Mapping[str, Any]) -> Read:
    messages, unknown = _protocol.messages(array(row.get("content")))
    return Read(messages, "content[{}]", unknown)


def _is_answer(row: Mapping[str, Any]) -> bool:
    answer = mapping(row.get("answer_generation"))
    return isinstance(answer.get("train_messages"), list) and "query" in answer


def _answer(row: Mapping[str, Any]) -> Read:
    """ToolBench: one list a step of the tree search, each going on from the one before; the last is the whole."""
    answer = mapping(row.get("answer_generation"))
    lists = [listed for listed in answer["train_messages"] if isinstance(listed, list)]
    place = max(range(len(lists)), key=lambda index: (len(lists[index]), index), default=0)
    if not lists:
        query = Message("user", (Text(string(answer.get("query"))),), source=0)
        return Read((query,), "answer_generation.query", {})
    return _of_wires(lists[place], f"answer_generation.train_messages[{place}]", is_run=True)


def _is_shared(row: Mapping[str, Any]) -> bool:
    first = _first(row, "conversations")
    return ("from" in first and "value" in first) or ("role" in first and "content" in first)


def _shared(row: Mapping[str, Any]) -> Read:
    wires = []
    for item in array(row.get("conversations")):
        told = mapping(item)
        role = first_string(told, "from", "role")
        wires.append({"role": _SHARED.get(role, role), "content": told.get("value", told.get("content"))})
    return _of_wires(wires, "conversations", is_run=False)


def _is_traces(row: Mapping[str, Any]) -> bool:
    return {"trial_name", "episode"} <= row.keys() and "role" in _first(row, "conversations") and _is_shared(row)


def _traces(row: Mapping[str, Any]) -> Read:
    """Harbor's export: system prompt and task are user messages, and so is what came back of each response."""
    found = _shared(row)
    spoken = next((place for place, m in enumerate(found.messages) if m.role == "assistant"), len(found.messages))
    heard = (replace(m, synthetic=m.role == "user") for m in found.messages[spoken:])
    return found._replace(messages=(*found.messages[:spoken], *heard), trial=string(row.get("trial_name")))


_Kind = tuple["Callable[[Mapping[str, Any]], bool]", "Callable[[Mapping[str, Any]], Read]"]
_KINDS: dict[str, _Kind] = {
    "messages": (lambda row: _is_chat("messages", row), lambda row: _chat("messages", row)),
    "trajectory": (lambda row: _is_chat("trajectory", row), lambda row: _chat("trajectory", row)),
    "nebius": (_is_nebius, _nebius),
    "protocol": (_is_protocol, _protocol_row),
    "answer": (_is_answer, _answer),
    "traces": (_is_traces, _traces),
    "conversations": (_is_shared, _shared),
}
