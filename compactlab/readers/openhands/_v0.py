"""Events of OpenHands' first architecture (2024 to 2025): actions and observations, paired by cause or by call.

A response with several calls is several actions that each hold all of it; the first makes the message. Actions that
hold no response become calls with ids of ours. What an agent delegates is a session of its own.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, count, first_string, mapping, objects, string, strings
from compactlab.readers._times import iso
from compactlab.readers._usage import openai_usage
from compactlab.readers.openhands._story import Built, Condensation, Event, Key, Story, framed
from compactlab.shapes import images
from compactlab.shapes.call_ids import with_ids
from compactlab.shapes.openai_chat import content, from_wire
from compactlab.shapes.parts import json_text
from compactlab.transcript import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Blocks = tuple[Block, ...]
_UNSEEN = {"null", "change_agent_state", "agent_state_changed"}
"""Events that stand in no view, so that no offset counts them."""
_BOOKKEEPING = {"initialize", "start", "pause", "resume", "stop", "push", "send_pr", "loop_recovery", "success"}
_NOT_ARGUMENTS = {"thought", "confirmation_state", "is_confirmed", "kernel_init_code"}
_HARNESS_WORDS = (
    "Please continue working on the task on whatever approach you think is suitable.",
    "Please continue on whatever approach you think is suitable.",
    "If you are done with the task, please run the following command",
)
_KNOWLEDGE = "microagent_knowledge"
_RECALLED = (
    "repo_name",
    "repo_directory",
    "repo_branch",
    "repo_instructions",
    "working_dir",
    "runtime_hosts",
    "additional_agent_instructions",
    "custom_secrets_descriptions",
    "conversation_instructions",
    "date",
)


def is_event(value: object) -> bool:
    """Whether a value is an action or an observation, or a row of a table that has the columns of both."""
    event = mapping(value)
    action, observation = event.get("action"), event.get("observation")
    if isinstance(action, str) and isinstance(event.get("args"), dict):
        return True
    if {"action", "observation", "extras", "source"} <= event.keys() and not isinstance(observation, str):
        return isinstance(action, str | None) and isinstance(event["extras"], dict | None)
    return isinstance(observation, str) and "content" in event and isinstance(event.get("extras"), dict | None)


def build(events: Sequence[Event], name: str = "") -> Built:
    """Make the story of the events of one agent, and those of its delegates."""
    builder = _Builder(any(event.value.get("cause") is not None for event in events))
    children: list[Built] = []
    at = 0
    while at < len(events):
        event = events[at]
        builder.take(event)
        at += 1
        if event.value.get("action") == "delegate" and count(event.value.get("id")) is not None:
            end = _end_of_delegate(events, at, event.value["id"])
            child = f"{name}-{event.value['id']}" if name else f"delegate-{event.value['id']}"
            children += [build(events[at:end], child)] if end > at else []
            at = end
    story = builder.finished()
    return Built(name, story, builder.header, builder.tools, tuple(children))


def _end_of_delegate(events: Sequence[Event], at: int, cause: Key) -> int:
    """Where the delegate gives back its result; behind the last event, if it never did."""
    for place in range(at, len(events)):
        value = events[place].value
        if value.get("observation") == "delegate" and value.get("cause") == cause:
            return place
    return len(events)


class _Builder:
    """Takes the events of one agent in their order."""

    def __init__(self, has_causes: bool) -> None:
        self.story = Story(keeps_task=True)
        self.header: dict[str, Any] = {}
        self.tools: tuple[Any, ...] = ()
        self._has_causes = has_causes
        self._made = 0
        self._by_event: dict[Key, str] = {}
        self._open: Counter[str] = Counter()
        self._names: dict[int, str] = {}
        self._said_last = ""

    def finished(self) -> Story:
        self.story.messages = list(with_ids(self.story.messages, self._names))
        return self.story

    def take(self, event: Event) -> None:
        value = event.value
        kind = string(value.get("action")) or string(value.get("observation"))
        if kind in _UNSEEN:
            self.story.skipped[kind] += 1
        elif not kind and is_event(value):
            self.story.skipped["status"] += 1
        elif not is_event(value):
            self.story.unknown["no event"] += 1
        elif isinstance(value.get("action"), str):
            self._action(event, kind)
        else:
            self._observation(event, kind)

    def _action(self, event: Event, kind: str) -> None:
        args = mapping(event.value.get("args")) or mapping(event.value.get("extras"))
        if kind == "condensation":
            self.story.condensed(_condensation(event.value, args))
        elif kind == "condensation_request":
            self.story.skipped[kind] += 1
            self.story.trigger = "requested"
        elif kind in _BOOKKEEPING or kind == "recall":
            self.story.skipped[kind] += 1
            self.story.happened(_key(event))
        elif kind == "system":
            self._system(event, args)
        elif kind == "message":
            self._message(event, args)
        elif event.value.get("source") == "user":
            self._by_user(event, kind, args)
        else:
            self._call(event, kind, args)

    def _system(self, event: Event, args: dict[str, Any]) -> None:
        self.header |= {"version": args.get("openhands_version"), "agent": args.get("agent_class")}
        self.tools = tuple(tool for tool in array(args.get("tools")) if isinstance(tool, str | dict))
        self._add(event, Message("system", tuple(content(args.get("content")))))

    def _message(self, event: Event, args: dict[str, Any]) -> None:
        pictures = [images.from_url(url) for url in strings(args.get("image_urls") or args.get("images_urls"))]
        blocks = (*content(args.get("content")), *pictures)
        if self._speaker(event, args) == "user":
            made_up = string(args.get("content")).startswith(_HARNESS_WORDS)
            self._add(event, Message("user", blocks, synthetic=made_up))
            return
        self._add(event, Message("assistant", (*_thought(args), *blocks)))

    def _speaker(self, event: Event, args: dict[str, Any]) -> str:
        """Who says a message; in the oldest rows, which do not tell, the user begins and answers what waits for one."""
        source = event.value.get("source")
        if string(source) not in {"user", "agent"}:
            asked = self._said_last in {"", "asked"}
            source = "user" if asked else "agent"
        self._said_last = "asked" if source == "agent" and args.get("wait_for_response") is not False else "said"
        return string(source)

    def _by_user(self, event: Event, kind: str, args: dict[str, Any]) -> None:
        """What a user did in the agent's place: a command, or the end of the session."""
        text = first_string(args, "command", "code", "path")
        if not text:
            self.story.skipped[f"{kind} of the user"] += 1
            self.story.happened(_key(event))
            return
        self._add(event, Message("user", (Text(text),)))

    def _call(self, event: Event, kind: str, args: dict[str, Any]) -> None:
        told = mapping(event.value.get("tool_call_metadata"))
        response = mapping(told.get("model_response"))
        choice = mapping(next(iter(array(response.get("choices"))), None))
        wire = mapping(choice.get("message"))
        call_id = self._call_id(event, told)
        name = first_string(response, "id")
        known = self.story.spoken.get(name)
        held: Blocks = () if known is None else self.story.messages[known].blocks
        if known is None:
            held = from_wire([wire | {"role": "assistant"}])[0].blocks if wire else _thought(args)
        blocks = held
        if not any(isinstance(block, ToolCall) and block.id == call_id for block in held):
            given = {key: value for key, value in args.items() if key not in _NOT_ARGUMENTS}
            call = ToolCall(call_id, first_string(told, "function_name") or kind, json_text(given))
            blocks = (*held, call)
        if known is not None:
            self.story.extend(known, blocks[len(held) :], _key(event))
            return
        place = self._add(event, Message("assistant", blocks))
        if name:
            self.story.spoken[name] = place
        usage = openai_usage(place, response.get("usage"))
        self.story.usage += [] if usage is None else [usage]
        if isinstance(response.get("model"), str):
            self.header.setdefault("model", response["model"])

    def _call_id(self, event: Event, told: dict[str, Any]) -> str:
        """The recorded id of an action's call, or one that is made for it."""
        name = first_string(told, "tool_call_id")
        if not name:
            name = f"call_{self._made}"
            self._made += 1
            self._open[name] += 1
        self._by_event[_key(event)] = name
        return name

    def _observation(self, event: Event, kind: str) -> None:
        value = event.value
        if kind == "recall":
            self._recalled(event)
            return
        told = first_string(mapping(value.get("tool_call_metadata")), "tool_call_id")
        cause = value.get("cause")
        name = told or (self._by_event.get(cause, "") if isinstance(cause, int | str) else "")
        blocks = tuple(_seen(value))
        answers = bool(name) or (not self._has_causes and bool(+self._open))
        if not answers:
            self._add(event, Message("user", blocks, synthetic=True))
            return
        if name in self._open:
            self._open[name] -= 1
        elif not name:
            self._open[next(iter(+self._open))] -= 1
        failed = kind in {"error", "user_rejected"} or value.get("success") is False
        place = self._add(event, Message("tool", (ToolResult(name, blocks, is_error=failed),)))
        self._names[place] = kind

    def _recalled(self, event: Event) -> None:
        """What the harness looked up and put into the prompt."""
        extras = mapping(event.value.get("extras"))
        shown = [f"{key}: {_shown(extras[key])}" for key in _RECALLED if extras.get(key)]
        known = [first_string(entry, "content") for entry in objects(extras.get(_KNOWLEDGE))]
        texts = [*(["\n".join(shown)] if shown else []), *(text for text in known if text)]
        if texts:
            self._add(event, Message("user", tuple(Text(text) for text in texts), synthetic=True))
            return
        self.story.skipped["recall"] += 1
        self.story.happened(_key(event))

    def _add(self, event: Event, message: Message) -> int:
        timed = replace(message, source=event.source, timestamp=iso(event.value.get("timestamp")))
        return self.story.add(timed, _key(event))


def _key(event: Event) -> Key:
    key = event.value.get("id")
    return key if isinstance(key, int | str) else None


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def _thought(args: dict[str, Any]) -> tuple[Block, ...]:
    """The words before an action, which later versions keep with the model's reasoning."""
    given = args.get("thought")
    told = mapping(given)
    reasoning, text = first_string(told, "reasoning_content"), string(given) or first_string(told, "text")
    return (*([Reasoning(reasoning)] if reasoning else []), *([Text(text)] if text else []))


def _seen(value: dict[str, Any]) -> Iterator[Text | Image]:
    """What an observation shows: its text with the harness's words around it, and pictures."""
    extras = mapping(value.get("extras"))
    given = value.get("content")
    text = framed(
        given if isinstance(given, str) else "" if given is None else json_text(given), extras.get("metadata")
    )
    if text:
        yield Text(text)
    pictures = strings(extras.get("image_urls")) or [first_string(extras, "set_of_marks", "screenshot")]
    for url in pictures:
        if url.startswith(("data:", "http")):
            yield images.from_url(url)


def _condensation(value: dict[str, Any], args: dict[str, Any]) -> Condensation:
    listed = args.get("forgotten_event_ids")
    first, last = count(args.get("forgotten_events_start_id")), count(args.get("forgotten_events_end_id"))
    forgotten: Any = frozenset(key for key in array(listed) if isinstance(key, int | str))
    if not isinstance(listed, list) and first is not None and last is not None:
        forgotten = range(first, last + 1)
    summary = args.get("summary")
    told = summary if isinstance(summary, str) else None
    return Condensation(forgotten, told, count(args.get("summary_offset")), iso(value.get("timestamp")))
