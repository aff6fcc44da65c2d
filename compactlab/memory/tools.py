"""The verbs as function tools, so that a harness can hand them to its agent: schemas in two shapes, and a dispatcher.

`dispatch` gives back text for the agent, whatever she asked for. What a pass did holds from the next request on: the
harness takes its messages from `memory.messages` then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple

from compactlab.errors import CompactlabError, SpecError
from compactlab.memory.living import Memory

Shape = Literal["openai", "anthropic"]


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


class _Verb(NamedTuple):
    """What a verb does, in words for the agent, and its arguments; those of `needed` must be there."""

    does: str
    takes: dict[str, dict[str, Any]]
    needed: tuple[str, ...] = ()


_VERBS = {
    "memory_status": _Verb(
        "How full your context is, which marks were crossed, what each way to make room would free. Changes nothing.",
        {},
    ),
    "memory_compact": _Verb(
        "Make room in your context now. What leaves it is kept in your journal first and can be restored. "
        "It holds from your next turn on; the turn you are in stays whole.",
        {
            "strategy": _text(
                "microcompact, cull, sliding_window, sliding_reflect, summary, key_value or ladder, with parameters if "
                "you like: sliding_window(preserve_recent=20). Without it, the one that suits your kind."
            ),
            "focus": _text("What matters in this pass and what does not, for summary and sliding_reflect."),
            "dry_run": _flag("Only say what would happen to each message."),
        },
    ),
    "ignore_compaction": _Verb(
        "Decline to make room, and say why. Holds until the next mark is reached; nothing is ever compacted for you.",
        {"reason": _text("Why all of it is still needed.")},
        ("reason",),
    ),
    "memory_restore": _Verb(
        "Bring back what a pass took out of your context: one message to read, or the whole list as it was before.",
        {
            "entry": _text("The id of the pass, as memory_log gives it."),
            "message": _text("The id of one message; you get its text. Without it you get a list of all."),
            "back": _flag("Put the whole list back into your context; what came later stays behind it."),
        },
        ("entry",),
    ),
    "memory_log": _Verb(
        "The passes over your context, oldest first, each with its id and where its record rests.",
        {"verify": _flag("Also prove from the bytes that nothing was lost.")},
    ),
}
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


def schemas(shape: Shape) -> list[dict[str, Any]]:
    """Give the schemas of all verbs, as OpenAI's or Anthropic's API takes them under `tools`.

    >>> [tool["name"] for tool in schemas("anthropic")]
    ['memory_status', 'memory_compact', 'ignore_compaction', 'memory_restore', 'memory_log']
    """
    if shape not in {"openai", "anthropic"}:
        raise SpecError(f"shape {shape!r}: expected openai or anthropic")
    found = []
    for name, verb in _VERBS.items():
        fields: dict[str, Any] = {"type": "object", "properties": deepcopy(verb.takes), "required": list(verb.needed)}
        fields["additionalProperties"] = False
        if shape == "anthropic":
            found.append({"name": name, "description": verb.does, "input_schema": fields})
        else:
            function = {"name": name, "description": verb.does, "parameters": fields}
            found.append({"type": "function", "function": function})
    return found


def dispatch(name: str, arguments: str | Mapping[str, Any] | None, memory: Memory) -> str:
    """Do what a tool call asks for and give the text of its result; a wrong call gets a text that says what is wrong.

    *arguments* are the JSON text of the call, or the object that it says.
    """
    try:
        return _DONE[_known(name)](memory, _checked(name, arguments))
    except CompactlabError as error:
        return f"{name} did nothing: {error}"
    except OSError as error:
        return f"{name} did nothing: {error.filename or memory.path}: {error.strerror or error}"


def _known(name: str) -> str:
    if name not in _VERBS:
        raise SpecError(f"no such tool; expected one of {', '.join(_VERBS)}")
    return name


def _checked(name: str, arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    verb, given = _VERBS[name], _object(arguments)
    for key, value in given.items():
        if key not in verb.takes:
            raise SpecError(f"unknown argument {key!r}; expected {', '.join(verb.takes) or 'none'}")
        wanted = str if verb.takes[key]["type"] == "string" else bool
        if not isinstance(value, wanted):
            kind = "a text" if wanted is str else "true or false"
            raise SpecError(f"{key} is {json.dumps(value)[:60]}; expected {kind}")
    for key in verb.needed:
        if not given.get(key, "").strip():
            raise SpecError(f"{key} is missing; expected: {verb.takes[key]['description']}")
    return given


def _object(arguments: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments without those that are null, as some models send what they leave out."""
    try:
        given = json.loads(arguments or "{}") if isinstance(arguments, str) else dict(arguments or {})
    except (ValueError, RecursionError, TypeError) as error:
        raise SpecError(f"the arguments are no JSON object ({error})") from error
    if not isinstance(given, dict):
        raise SpecError("the arguments are no JSON object")
    return {key: value for key, value in given.items() if value is not None}


def _compact(memory: Memory, given: dict[str, Any]) -> str:
    """An agent chooses among strategies that have a name; to load code of a module is not hers."""
    if ":" in _QUOTED.sub("", given.get("strategy", "")):
        raise SpecError(f"strategy {given['strategy']!r}: expected the name of one, as memory_status lists them")
    focus, dry_run = given.get("focus", ""), given.get("dry_run", False)
    return memory.compact(given.get("strategy", ""), focus=focus, dry_run=dry_run).to_text()


def _restore(memory: Memory, given: dict[str, Any]) -> str:
    return memory.restore(given["entry"], given.get("message", ""), back=given.get("back", False)).to_text()


_DONE: dict[str, Callable[[Memory, dict[str, Any]], str]] = {
    "memory_status": lambda memory, _: memory.status().to_text(),
    "memory_compact": _compact,
    "ignore_compaction": lambda memory, given: memory.ignore(given["reason"]).to_text(),
    "memory_restore": _restore,
    "memory_log": lambda memory, given: memory.log(verify=given.get("verify", False)).to_text(),
}
