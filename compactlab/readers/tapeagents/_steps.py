"""Steps of a tape as messages: what agents did in one call of a model together, then what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from compactlab.readers._fields import first_string, mapping, objects, string
from compactlab.shapes import images, openai_chat
from compactlab.shapes.call_ids import with_ids
from compactlab.shapes.parts import json_text, words
from compactlab.transcript import Block, Image, Message, Messages, Text, ToolCall, ToolResult

CONTROL = {"set_next_node", "pass", "jump", "broadcast"}
HANDING_ON = {"call", "respond"}
PEOPLE = {"user", "question", "task"}
_SAID = {"assistant", "assistant_thought", "assistant_answer", "respond", "return", "call"}
_ABOUT = {"metadata", "kind", "role", "prompt_id", "by", "tool_call_id"}
_BODIES = ("text", "content", "output", "result", "observation")
_FAILURE = "llm_output_parsing_failure_action"


class Read(NamedTuple):
    """The messages of a tape; the message that each prompt was answered with; and what was left out, by kind."""

    messages: Messages
    prompts: dict[str, int]
    skipped: dict[str, int]
    unknown: dict[str, int]


def kind(step: dict[str, Any]) -> str:
    """Kind of a step; older tapes call it its role."""
    return first_string(step, "kind", "role")


def prompt(step: dict[str, Any]) -> str:
    """Id of the prompt that a step is an answer to; empty if no model made it."""
    return first_string(mapping(step.get("metadata")), "prompt_id") or first_string(step, "prompt_id")


def read(steps: Sequence[Any], first: int = 0) -> Read:
    """Read the steps of a tape; the first has the source *first*."""
    reader = _Reader()
    for index, step in enumerate(steps):
        given = mapping(step)
        if kind(given) in CONTROL or _is_silent(given):
            reader.skipped["control step"] += 1
        elif kind(given):
            reader.step(given, index + first, _is_answered(steps, index))
        else:
            reader.unknown["step without a kind"] += 1
    made = with_ids(reader.messages, reader.names)
    return Read(made, reader.prompts, dict(reader.skipped), dict(reader.unknown))


def _is_silent(step: dict[str, Any]) -> bool:
    """Whether a step only hands on to another agent, or back, and says nothing."""
    return kind(step) in HANDING_ON and not step.get("content")


def _is_answered(steps: Sequence[Any], index: int) -> bool:
    """Whether the step after this one, control aside, is what the surroundings gave back."""
    for step in steps[index + 1 : index + 4]:
        given = mapping(step)
        if kind(given) not in CONTROL:
            return not _by_agent(given)
    return False


def _by_agent(step: dict[str, Any]) -> bool:
    about = mapping(step.get("metadata"))
    return bool(prompt(step) or first_string(about, "agent") or first_string(step, "by"))


class _Reader:
    """A tape, step by step."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.names: dict[int, str] = {}
        self.prompts: dict[str, int] = {}
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.open: list[str] = []

    def step(self, step: dict[str, Any], source: int, answered: bool) -> None:
        named = kind(step)
        if named == "system":
            self._add(Message("system", tuple(openai_chat.content(step.get("content"))), source=source))
        elif named == "call" and not self.messages:  # so a person sets a team to work
            self._add(Message("user", tuple(openai_chat.content(step.get("content"))), source=source))
        elif named in PEOPLE:
            self._add(Message("user", tuple(_asked(step)), source=source))
        elif named in {"tool", "ipython"}:
            self._result(step, source, first_string(step, "tool_call_id"))
        elif _is_observation(step, named):
            self._observed(step, source)
        else:
            self._acted(step, source, tuple(_blocks(step, named, answered)))
            if named == _FAILURE and string(step.get("error")):
                self._add(Message("user", (Text(step["error"]),), source=source, synthetic=True))

    def _add(self, message: Message) -> None:
        self.messages.append(message)

    def _acted(self, step: dict[str, Any], source: int, blocks: tuple[Block, ...]) -> None:
        """Take in what an agent did; what came of one prompt is one message."""
        asked = prompt(step)
        last = len(self.messages) - 1
        if asked and self.prompts.get(asked) == last and last >= 0:
            before = self.messages[last]
            self.messages[last] = Message("assistant", before.blocks + blocks, source=before.source)
        else:
            self._add(Message("assistant", blocks, source=source))
            if asked:
                self.prompts[asked] = len(self.messages) - 1
        self.open += [block.name for block in blocks if isinstance(block, ToolCall)]

    def _observed(self, step: dict[str, Any], source: int) -> None:
        """Take in what the surroundings gave: the result of the action that waits for one, or news without one."""
        if self.open:
            self._result(step, source, "")
        else:
            self._add(Message("user", _shown(step), source=source, synthetic=True))

    def _result(self, step: dict[str, Any], source: int, call_id: str) -> None:
        of = first_string(mapping(mapping(step.get("metadata")).get("other")), "action_kind")
        asked = of if of in self.open else (self.open or [""])[0]
        if asked in self.open:
            self.open.remove(asked)
        self.names[len(self.messages)] = asked
        self._add(Message("tool", (ToolResult(call_id, _shown(step), is_error=_failed(step)),), source=source))


def _is_observation(step: dict[str, Any], named: str) -> bool:
    if named.endswith("_observation") or named in {"image", "video", "code_execution_result"}:
        return True
    return not _by_agent(step) and not named.endswith(("_action", "_thought")) and named not in _SAID | {_FAILURE}


def _asked(step: dict[str, Any]) -> Iterator[Block]:
    for key in ("content", "task", "question"):
        yield from openai_chat.content(step.get(key))
    if string(step.get("filename")):
        yield Text(json_text({"filename": step["filename"]}))


def _blocks(step: dict[str, Any], named: str, answered: bool) -> Iterator[Block]:
    """What an agent did: calls of tools, words, or an action, which is a call by its kind."""
    calls = objects(step.get("tool_calls"))
    if calls:
        yield from openai_chat.from_wire([{"role": "assistant", "content": step.get("content"), "tool_calls": calls}])[
            0
        ].blocks
    elif named == _FAILURE:
        yield Text(words(step.get("llm_output")))
    elif named.endswith("_action") or (answered and named not in _SAID and not named.endswith("_thought")):
        yield ToolCall("", named, json_text(_fields(step)))
    else:
        yield from _words(_fields(step))


def _fields(step: dict[str, Any]) -> dict[str, Any]:
    left_out = _ABOUT | ({"task"} if "by" in step or ("role" in step and "kind" not in step) else set())
    return {key: value for key, value in step.items() if key not in left_out and value is not None}


def _words(fields: dict[str, Any]) -> Iterator[Text]:
    """The one text that a step says, or all its fields as JSON."""
    said = [value for key, value in fields.items() if key not in {"agent_name", "copy_output", "success"}]
    if len(said) == 1 and isinstance(said[0], str):
        if said[0]:
            yield Text(said[0])
    elif fields:
        yield Text(json_text(fields))


def _shown(step: dict[str, Any]) -> tuple[Text | Image, ...]:
    """What an observation shows: its text as it is, then its other fields as JSON."""
    fields = _fields(step)
    path = first_string(fields, "image_path", "image_url")
    if path:
        caption = string(fields.get("image_caption"))
        return (images.from_url(path), *((Text(caption),) if caption else ()))
    said = [key for key in _BODIES if key in fields]
    body = next((key for key in said if fields[key]), said[0] if said else None)
    main = fields.pop(body) if body else None
    if isinstance(main, dict) and isinstance(main.get("output"), str):
        fields, main = {**fields, **{key: v for key, v in main.items() if key != "output"}}, main["output"]
    parts = [part if isinstance(part, Text | Image) else Text(words(part)) for part in openai_chat.content(main)]
    return (*parts, *((Text(json_text(fields)),) if fields else ()))


def _failed(step: dict[str, Any]) -> bool:
    code = mapping(step.get("result")).get("exit_code")
    return bool(step.get("error")) or (isinstance(code, int) and code != 0)
