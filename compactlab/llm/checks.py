"""A reply is checked before it counts: what is wrong with it is said, it is asked for once more, then it is no reply.

Refused are a reply that is blank, cut off, a refusal or an error in words, a call or markup instead of text, a summary
without its sections or with nothing in them, a loop, a text no shorter than its source, and one in another language
than the conversation. A short summary that says something is fine, headings or not, unless `strict` asks for all nine.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from compactlab.llm import FINISHED, Model, ModelError, Pending, Reply, Request
from compactlab.llm.languages import is_foreign
from compactlab.llm.prompts import RETRY, SECTIONS
from compactlab.llm.refusals import CONTINUED, is_call, kind_of_refusal
from compactlab.tokens import counter
from compactlab.transcript import Message, Text

SHORT = 64
"""Tokens up to which a reply may be as long as its source."""
SAMPLE = 20_000
"""Characters of either end of a conversation by which its language is told."""

_THOUGHT = re.compile(
    r"<(?P<tag>analysis|think|thinking|reasoning|scratchpad)>"
    r"(?:.*?</(?P=tag)>|.*?(?=<summary>)|.*)",
    re.DOTALL | re.IGNORECASE,
)
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?(?:summary|analysis|think|thinking|reasoning|scratchpad)>", re.IGNORECASE)
_TEMPLATE = re.compile(
    r"<\|(?:im_start|im_end|eot_id|start_header_id|end_header_id|endoftext|user|assistant|system|end)\|>|</?s>|\[/?INST\]"
)
_HEADING = re.compile(
    r"^[\s#*_>]*(?:\d+[.)]\s*)?[*_]*(?:" + "|".join(map(re.escape, SECTIONS)) + r")[*_]*\s*(?::[*_]*|(?=[-–—(]|$))",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"[\s*_>#•-]*(?:\(?(?:none|nothing|n/?a|not applicable|no \w+|keine?|nichts|ninguno|nada|aucune?|rien|nessuno|无|無"
    r"|なし|нет|없음)(?: (?:yet|so far|noted|recorded|mentioned|provided|available|applicable))?\)?[.!]?)?\s*",
    re.IGNORECASE,
)
LONGEST_LOOP = 160
"""Characters of the longest stretch that is tested for being said again and again at the end of a text."""


class Rejected(ModelError):  # noqa: N818  # says what is the matter
    """A reply came and is of no use; the message says why."""


class NotShorter(Rejected):
    """A reply that is fine but for its length; `text` is it."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        self.text = text


class Answer(NamedTuple):
    """The text of a reply that counts, and what was wrong with the one before it, if there was one."""

    text: str
    notes: tuple[str, ...] = ()


def _weigh(text: str) -> int:
    return counter()([text])[0]


@dataclass(frozen=True)
class Terms:
    """What a reply is held against: the weight of its source, by which counter, and how strictly.

    `strict` asks for all nine headings of a summary. `retry` is the line by which a model is told what was wrong;
    `clean` takes out what a reply may not hold, such as headings of notes.
    """

    source_tokens: int
    weigh: Callable[[str], int] = _weigh
    strict: bool = False
    retry: str = RETRY
    clean: Callable[[str], str] = str.strip


def answered(model: Model | None, request: Request, terms: Terms) -> Answer:
    """Ask, check, ask once more where the reply is of no use; `Rejected` says what was wrong with both.

    A second reply that is only no shorter than its source counts if it keeps to the length asked for: whoever weighs
    the result sees that nothing was saved. Errors of the model itself are raised as they come: it has its own retries.
    """
    if model is None:
        raise ModelError("no model was given")
    try:
        return Answer(checked(model.reply(request), request, terms))
    except Rejected as first:
        reason = str(first)
    again = replace(request, system=request.system + terms.retry.format(reason=reason))
    try:
        return Answer(checked(model.reply(again), again, terms), (f"asked twice: {reason}",))
    except Rejected as second:
        if isinstance(second, NotShorter) and terms.weigh(second.text) <= request.max_output:
            return Answer(second.text, (f"asked twice: {second}",))
        both = reason if str(second) == reason else f"{reason}; then {second}"
        raise Rejected(f"{both} (asked twice)") from second


def is_no_answer(error: ModelError) -> bool:
    """Tell whether no reply is there yet, or none may be asked for: then no fallback is taken, the run says so."""
    from compactlab.llm.recorded import Missing

    return isinstance(error, Pending | Missing)


def checked(reply: Reply, request: Request, terms: Terms) -> str:
    """Give the text of a reply, without thoughts and tags; `Rejected` where it is of no use.

    >>> reply = Reply("<analysis>hm</analysis><summary>The port is 5433.</summary>", "m")
    >>> checked(reply, Request("summary", "", "the port, the port", ()), Terms(900))
    'The port is 5433.'
    """
    if reply.finish_reason == "length":
        raise Rejected(f"{reply.model}: the reply was cut off after {request.max_output:,} tokens; write less")
    if reply.finish_reason not in FINISHED:
        raise Rejected(f"{reply.model}: no usable reply (finish reason {reply.finish_reason!r})")
    if not reply.text.strip():
        raise Rejected(f"{reply.model}: the reply is blank (finish reason {reply.finish_reason})")
    asks_nine = SECTIONS[0] in request.prompt and request.purpose in {"summary", "merge"}
    said, is_tagged = _inside(reply.text)
    text = terms.clean(said)
    if said and not text:
        raise Rejected(f"{reply.model}: the reply holds nothing but a heading")
    reason = _fault(text) or (_fault_of_summary(text, is_tagged, terms) if asks_nine else "")
    reason = reason or _fault_beside_source(text, request)
    if reason:
        raise Rejected(f"{reply.model}: {reason}")
    if (weight := terms.weigh(text)) >= max(terms.source_tokens, SHORT):
        of = f"{weight:,} tokens of {terms.source_tokens:,}"
        raise NotShorter(f"{reply.model}: the reply is no shorter than its source ({of})", text)
    return text


def without_thoughts(reply: str) -> str:
    """Give what a reply says, without the thoughts and tags around it.

    >>> without_thoughts("<think>5433 or 5432?</think> 5433")
    '5433'
    """
    return _inside(reply)[0]


def _inside(reply: str) -> tuple[str, bool]:
    """What the tags hold, or all but the thoughts where there are none; whether there were tags."""
    said = _THOUGHT.sub("", reply)
    found = _SUMMARY.search(said)
    text = _TAG.sub("", found[1] if found else said).strip()
    end = _TEMPLATE.search(text)
    return (text[: end.start()].rstrip() if end and not text[end.end() :].strip() else text), found is not None


def _fault(text: str) -> str:
    """What is wrong with a text whatever was asked for."""
    if not text:
        return "the reply holds no summary and no note, but thoughts or empty tags"
    if _is_json(text) or is_call(text):
        return "the reply is a call or data, no text"
    if _TEMPLATE.search(text) or len(CONTINUED.findall(text)) > 2:
        return "the reply goes on with the conversation"
    kind = kind_of_refusal(text)
    return f"the reply {kind}: {_begin(text)}" if kind else ""


def _is_json(text: str) -> bool:
    bare = re.sub(r"\A```\w*\s*|\s*```\Z", "", text)
    if bare[:1] not in {"{", "["}:
        return False
    try:
        return isinstance(json.loads(bare), dict | list)
    except (ValueError, RecursionError):
        return False


def _fault_of_summary(text: str, is_tagged: bool, terms: Terms) -> str:
    headings = [line for line in text.split("\n") if _HEADING.match(line)]
    there = [title for title in SECTIONS if any(title.casefold() in line.casefold() for line in headings)]
    if terms.strict and len(there) < len(SECTIONS):
        return f"the summary lacks {', '.join(title for title in SECTIONS if title not in there)}"
    if not is_tagged and not any(title.casefold() in text.casefold() for title in SECTIONS):
        return f"the reply is no summary: neither tags nor any of the nine sections in {_begin(text)}"
    if not any(_says_something(part) for title, part in sections(text) if title != "All user messages"):
        return "the summary says nothing: each of its sections is empty"
    return ""


def _says_something(part: str) -> bool:
    return any(not _NOTHING.fullmatch(line) for line in part.split("\n"))


def sections(text: str) -> list[tuple[str, str]]:
    r"""Take a summary apart: the title of each part (empty before the first heading), its lines without it.

    >>> sections("Intro.\n**1. Primary request and intent**: move it\n6. All user messages\n- none")
    [('', 'Intro.'), ('Primary request and intent', 'move it'), ('All user messages', '- none')]
    """
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        if found := _HEADING.match(line):
            title = next(title for title in SECTIONS if title.casefold() in found[0].casefold())
            rest = line[found.end() :].strip()
            parts.append((title, [rest] if rest else []))
        else:
            parts[-1][1].append(line)
    return [(title, "\n".join(lines)) for title, lines in parts if title or lines]


def _fault_beside_source(text: str, request: Request) -> str:
    if loops(text, request.prompt):
        return "the reply says the same again and again"
    conversation = _spoken(request.material)
    if is_foreign(text, conversation):
        own = "\n".join(line for line in text.split("\n") if line.strip(" -*>") not in request.prompt)
        if other := is_foreign(_without_headings(own), conversation):
            return f"the reply is in {other}, the conversation is not"
    return ""


def loops(text: str, source: str = "") -> bool:
    r"""Tell whether a text ends in a loop, or is in large part one line again and again, as *source* is not.

    >>> loops("It went on. " + "The port is 5433. " * 20), loops("- a.py\n- b.py")
    (True, False)
    """
    text = text.rstrip()
    for period in range(1, LONGEST_LOOP + 1):
        length = max(80, 7 * period)
        stretch = text[-period:]
        if (
            len(text) >= length + period
            and text[-length:] == text[-length - period : -period]
            and stretch.strip("-=. ")
        ):
            return stretch * 3 not in source
    lines = Counter(" ".join(line.split()) for line in text.split("\n") if len(line.split()) > 2)
    [(most, count)] = lines.most_common(1) or [("", 0)]
    return count >= 5 and 3 * count >= lines.total() and source.count(most) < 3


def _spoken(material: tuple[Message, ...]) -> str:
    """What was said in a conversation, the two ends of it; of notes alone, what they say."""
    said = [m for m in material if not m.synthetic and m.role in {"user", "assistant"}] or material
    text = "\n".join(block.text for message in said for block in message.blocks if isinstance(block, Text))
    return text if len(text) <= 2 * SAMPLE else f"{text[:SAMPLE]}\n{text[-SAMPLE:]}"


def _without_headings(text: str) -> str:
    return "\n".join(_HEADING.sub("", line) for line in text.split("\n"))


def _begin(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else f"{line[:60]}…")
