"""Messages of agents that work on a task by themselves: the person speaks once, all that follows is the harness's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import string, strings
from compactlab.readers._sessions import default_agent_type
from compactlab.shapes.openai_chat import ROLES, from_wire
from compactlab.transcript import Message, Messages, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


def run_message(wire: Mapping[str, Any], index: int) -> Message | None:
    """Read one message in OpenAI's form, whose results may name several calls; None if its role is unknown.

    An older call, which was recorded without an id, has none yet.

    >>> run_message({"role": "tool", "tool_call_ids": ["c1"], "content": "done"}, 3).blocks
    (ToolResult(call_id='c1', content=(Text(text='done'),), is_error=False),)
    """
    role = string(wire.get("role"))
    if role not in ROLES:
        return None
    said = wire.get("content")
    if role in {"system", "user"} and isinstance(said, str) and said:
        return Message(ROLES[role], (Text(said),), source=index)
    [message] = from_wire([wire])
    older = message.blocks[-1] if isinstance(wire.get("function_call"), dict) and message.blocks else None
    if isinstance(older, ToolCall):
        message = replace(message, blocks=(*message.blocks[:-1], replace(older, id="")))
    answered = strings(wire.get("tool_call_ids"))
    if message.role != "tool" or not answered:
        return replace(message, source=index)
    content = message.results[0].content
    results = (ToolResult(answered[0], content), *(ToolResult(more) for more in answered[1:]))
    return replace(message, blocks=results, source=index)


def by_harness(messages: Iterable[Message], demonstrations: Collection[int] = ()) -> Messages:
    """Mark as synthetic what no person and no model said in a run: user messages behind the task, and demonstrations.

    *demonstrations* are the `source` of messages that show another run.
    """
    marked: list[Message] = []
    tasked = False
    for message in messages:
        shown = message.source in demonstrations
        made = shown or message.synthetic or (message.role == "user" and tasked)
        tasked = tasked or (message.role == "user" and not made)
        made = made and message.role in {"user", "assistant"}
        marked.append(message if made == message.synthetic else replace(message, synthetic=made))
    return tuple(marked)


def agent_type_of_run(messages: Messages) -> str:
    """The type of an agent that may have its calls in its text: `subagent` for one request and what came of it.

    >>> said = Message("user", (Text("Fix it"),)), Message("assistant", (Text("```ls```"),))
    >>> agent_type_of_run((*said, Message("user", (Text("a.py"),), synthetic=True))), agent_type_of_run(said)
    ('subagent', 'primary')
    """
    answered = any(message.role == "user" and message.synthetic for message in messages)
    requests = sum(message.by_person for message in messages)
    return "subagent" if answered and requests <= 1 else default_agent_type(messages)
