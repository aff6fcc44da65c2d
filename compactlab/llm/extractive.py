"""A stand-in for a model, written by code: picks lines of the material and sorts them under the headings asked for.

It never rewords, so it invents nothing and understands nothing: a fair baseline that a real summariser should beat, and
what `summary` and `sliding_reflect` run on where no model is given. Lines are ranked by what they hold (numbers, names
of things, quoted words), by who said them, and by how late they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from compactlab.llm import Reply, Request
from compactlab.llm.prompts import SECTIONS, rendered
from compactlab.tokens import DEFAULT_COUNTER, counter, truncated
from compactlab.tools import decoded, tool_name
from compactlab.transcript import Message, Text, ToolCall, ToolResult

LONGEST_LINE = 240
REMEMBERED = 2_048
"""Texts whose lines are remembered: a history is summed up again and again, from other places on."""
_WRAPPED = "<analysis>picked by code</analysis>\n<summary>\n{}\n</summary>"
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_THING = re.compile(
    r"""
    (?:[\w.-]*/[\w./-]+)            # a path
    | [A-Za-z_]+[_-][\w-]*\d?[\w-]* # an_identifier, a-kebab
    | [a-z]+[A-Z]\w+                # camelCase
    | \b\w*\d[\w.,:%-]*             # a number, a date, an id
    | ["“][^"”\n]{3,60}["”]         # quoted words
    | (?<=[a-z,;]\s)[A-Z][a-z]+     # a name inside a sentence
    """,
    re.VERBOSE,
)
_IDENTIFIER = re.compile(r"\b(?:[a-z]+_\w+|[a-z]+[A-Z]\w+|[A-Z]{2,}-\d+)\b")
_RULE = re.compile(
    r"\b(never|always|don't|do not|must|only|no more|at most|please don't|not even|nie|immer)\b", re.IGNORECASE
)
_PENDING = re.compile(
    r"\b(i'll|i will|we'll|will|todo|still to|next|pending|tomorrow|need to|remind|open|until)\b", re.IGNORECASE
)
_SOLVED = re.compile(
    r"\b(because|so that|decided|fixed|turned out|instead|cause|works|worked|failed|therefore)\b", re.IGNORECASE
)
_HEADING = re.compile(r"\[|\d\. (?:" + "|".join(map(re.escape, SECTIONS)) + r")$")
_LISTING = re.compile(r"[dl-][rwx-]{9}\s|total \d+$|[-=_.*#|+ ]+$")
_PATH_KEYS = ("path", "file_path", "filename", "file", "notebook_path")


class _Line(NamedTuple):
    """One sentence or line of the material, where it stood, and whose it is."""

    text: str
    position: int
    origin: str
    score: float


class Extractive:
    """Answers `summary` with the nine sections and `reflect` with bullets, both made of lines of the material; `merge`
    with the one or the other, whichever is asked for.
    """

    name = "extractive"
    window: int | None = None

    def reply(self, request: Request) -> Reply:
        """Pick and sort lines up to `max_output` tokens."""
        lines = _lines(request.material)
        if request.purpose == "reflect" or (request.purpose == "merge" and SECTIONS[0] not in request.prompt):
            text = _bullets(lines, request.max_output)
        else:
            text = _WRAPPED.format(_summary(request, lines, request.max_output - _weigh(_WRAPPED)))
        return Reply(text, self.name, input_tokens=_weigh(request.prompt), output_tokens=_weigh(text))


def _lines(messages: Sequence[Message]) -> list[_Line]:
    """All lines worth a look, each text once, scored."""
    found: dict[str, _Line] = {}
    for position, message in enumerate(messages):
        late = 0.6 + 0.4 * ((position + 1) / len(messages))
        for origin, text in _texts(message):
            for line, worth, length in _worth_a_look(text, origin):
                if line not in found:
                    found[line] = _Line(line, position, origin, worth * late / length)
    return list(found.values())


@lru_cache(maxsize=REMEMBERED)
def _worth_a_look(text: str, origin: str) -> tuple[tuple[str, float, float], ...]:
    """The lines of a text with what each holds, by who said it, and what its length divides that by."""
    pieces = _SENTENCE.findall(text) if origin in {"person", "agent"} else text.split("\n")
    lines = (_bare(" ".join(piece.split()), origin) for piece in pieces)
    kept = (line for line in lines if 8 <= len(line) <= LONGEST_LINE and not _LISTING.match(line))
    return tuple((line, _worth(line, origin), 1 + len(line) / 160) for line in dict.fromkeys(kept))


def _bare(line: str, origin: str) -> str:
    """A line of an earlier note without its bullet, nothing where it is a heading; any other line as it is."""
    if origin != "note":
        return line
    plain = line.removeprefix("- ")
    return "" if _HEADING.match(plain) or plain == "none" else plain


def _texts(message: Message) -> Iterable[tuple[str, str]]:
    for block in message.blocks:
        if isinstance(block, Text):
            yield "person" if message.by_person else "note" if message.synthetic else "agent", block.text
        elif isinstance(block, ToolResult):
            yield "error" if block.is_error else "tool", block.text


def _worth(line: str, origin: str) -> float:
    things = len(set(_THING.findall(line)))
    weight = {"person": 3.0, "agent": 2.0, "note": 2.5, "error": 1.5, "tool": 0.6}[origin]
    cue = 1.5 if _RULE.search(line) or _SOLVED.search(line) else 0.0
    return weight * (things + cue)


def _bullets(lines: list[_Line], budget: int) -> str:
    spoken = [line for line in lines if line.origin != "tool" and line.score > 0]
    return "\n".join(f"- {line.text}" for line in _fitting(spoken, budget)) or "none"


def _summary(request: Request, lines: list[_Line], budget: int) -> str:
    """The nine sections, each with a share of the room; the rest is filled with the best lines that stand in none."""
    filled = _sections(request.material, lines)
    room = budget - _weigh(_laid_out({title: [] for title in SECTIONS}))
    share = max(0, room) // (len(SECTIONS) - 2)
    filled = {title: _up_to(items, share) for title, items in filled.items()}
    used = {item for items in filled.values() for item in items}
    left = budget - _weigh(_laid_out(filled)) - 8
    for line in _fitting([line for line in lines if line.text not in used], left):
        section = "Files and code sections" if line.origin in {"tool", "error"} else "Problem solving"
        filled[section].append(line.text)
    if not any(items for title, items in filled.items() if title != "All user messages"):
        last = " ".join(rendered(request.material).rpartition("\n")[2].split())[:LONGEST_LINE]
        filled["Current work"] = [cut] if (cut := truncated(last, left)) else []
    return _laid_out(filled)


def _up_to(items: list[str], tokens: int) -> list[str]:
    """The newest of some items that fit *tokens* together, in their order."""
    kept: list[str] = []
    for item in reversed(items):
        tokens -= _weigh(f"- {item}\n")
        if tokens < 0:
            break
        kept.append(item)
    return kept[::-1]


def _sections(messages: Sequence[Message], lines: list[_Line]) -> dict[str, list[str]]:
    said = [line for line in lines if line.origin in {"person", "agent", "note"}]
    person = [line for line in said if line.origin == "person"]
    agent = [line for line in said if line.origin == "agent"]
    identifiers = Counter(_IDENTIFIER.findall("\n".join(line.text for line in lines)))
    last = [line.text for line in agent if agent and line.position == agent[-1].position]
    contents = {
        "Primary request and intent": [line.text for line in (*person[:2], *person[-2:])],
        "Key technical concepts": [", ".join(word for word, _ in identifiers.most_common(12))],
        "Files and code sections": _files(messages),
        "Errors and fixes": [line.text for line in lines if line.origin == "error"][-8:],
        "Problem solving": [line.text for line in agent if _SOLVED.search(line.text)][-8:],
        "All user messages": ["Word for word below."],
        "Pending tasks": [line.text for line in said if _PENDING.search(line.text)][-8:],
        "Current work": last[:3],
        "Optional next step": last[-1:],
    }
    return {title: list(dict.fromkeys(item for item in contents[title] if item)) for title in SECTIONS}


def _files(messages: Sequence[Message]) -> list[str]:
    """Paths that calls named, with what was done to each, in the order of their last use."""
    done: dict[str, dict[str, None]] = {}
    for message in messages:
        for call in message.calls:
            for path in _paths(call):
                done.setdefault(path, {})[tool_name(call.name)] = None
                done[path] = done.pop(path)
    return [f"{path} ({', '.join(verbs)})" for path, verbs in list(done.items())[-24:]]


def _paths(call: ToolCall) -> list[str]:
    arguments = decoded(call)
    return [value for key in _PATH_KEYS if isinstance(value := arguments.get(key), str) and value]


def _laid_out(filled: dict[str, list[str]]) -> str:
    parts = []
    for number, title in enumerate(SECTIONS, 1):
        parts.append(f"{number}. {title}")
        parts += [f"- {item}" for item in filled[title]] or ["none"]
    return "\n".join(parts)


def _fitting(lines: list[_Line], budget: int) -> list[_Line]:
    """The best lines that fit *budget* tokens together, in the order in which they stood."""
    best = sorted((line for line in lines if line.score > 0), key=lambda line: (-line.score, line.position))
    chosen: list[_Line] = []
    for line, tokens in zip(best, counter(DEFAULT_COUNTER)([f"- {line.text}\n" for line in best]), strict=True):
        if tokens <= budget:
            chosen.append(line)
            budget -= tokens
    return sorted(chosen, key=lambda line: line.position)


def _weigh(text: str) -> int:
    return counter(DEFAULT_COUNTER)([text])[0]
