"""`summary`: the oldest stretch goes to a model and comes back as one block of nine sections.

Follows the seed document's Summary. What a model cannot be trusted with is done by code: under the sixth heading a
person's messages are carried word for word (up to 4,000 tokens or a quarter of the target, standing rules in a block of
their own and the last to be cut, cuts marked), and so are those that an earlier summary carried. The model reads all
that goes, in parts where its window is small; an earlier summary is brought up to date, not summarised again. Its
`<analysis>` is dropped, secrets are redacted before and after, quotations that no person said are struck. A reply that
cannot be used is asked for once more, then the pass fails and the messages stay as they are; what was not read stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.history import protected
from compactlab.llm import Purpose, Request
from compactlab.llm.checks import sections
from compactlab.llm.parts import Part, Reader, room_for_material
from compactlab.llm.prompts import SECTIONS
from compactlab.llm.quotes import unsaid
from compactlab.markers import CUT, SUMMARY
from compactlab.strategies import Compacted, Context, Strategy
from compactlab.strategies._carried import carried, is_carried, quoted, rules_among
from compactlab.strategies._slide import positions, slide, with_note, with_unread
from compactlab.strategies._stretch import Stretch, asked_text, has_words, most_output
from compactlab.transcript import Message, Messages, Text

ALIASES = ("summarize", "summarise")
LEAST = 128
"""Tokens under which nothing is sent to a model: a summary could hardly be shorter."""
MAX_CARRIED = 4_000
RULES_SHARE = 8
"""Part of the room for a person's words that the standing rules among them may take: one of so many."""
SIXTH = SECTIONS[5]

OVERHEAD = 24
"""Tokens of headings, marks and the message itself, beside what the model and the person said."""


@dataclass(frozen=True, repr=False)
class Summarise(Strategy):
    """Summarise all but the protected set and the newest `preserve_recent` units; with a target, what fits it stays.

    A `strict` one takes no reply that lacks one of the nine headings.
    """

    preserve_recent: int = 10
    max_summary_tokens: int = 2_048
    strict: bool = False

    parameter_aliases: ClassVar[dict[str, str]] = {
        "min_messages": "preserve_recent",
        "max_summary_length": "max_summary_tokens",
    }
    uses_model: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")
        self.require_whole("max_summary_tokens", 1)
        if not isinstance(self.strict, bool):
            raise SpecError(f"strict is {self.strict!r}; expected True or False")

    def compact(self, messages: Messages, context: Context) -> Compacted:
        room = MAX_CARRIED if context.target is None else min(MAX_CARRIED, context.target // 4)
        longest = self._longest(messages, context, room)
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, longest + room + OVERHEAD, is_summary)
        if not is_needed:
            return Compacted(messages)
        if context.meter.messages(gone) < LEAST:
            return Compacted(messages, (f"less than {LEAST} tokens to summarise",))
        stretch = Stretch(gone, context.originals or messages, context)
        fresh = [i for i, message in enumerate(stretch.read) if not is_summary(message)]
        material = tuple(stretch.read[i] for i in fresh)
        if not any(map(has_words, material)):
            return Compacted(messages, ("nothing to summarise: no words, calls or results",))
        writer = _Writer(context, longest, tuple(map(_own, filter(is_summary, stretch.read))), self.strict)
        read = writer.reader().read(material)
        unread = frozenset(fresh[i] for i in read.unread)
        text, struck = stretch.written(read.text, writer.previous)
        unsaid_in_sixth = unsaid("\n".join(part for title, part in sections(text) if title == SIXTH), stretch.said)
        said = _said(stretch.words(unread), room, context)
        left = Message("user", _blocks(_bounded(text, longest, context), said), synthetic=True)
        going = positions(messages, keep)
        keep = with_unread(messages, keep, (going[i] for i in unread), context)
        notes = (*self._bound(context), *read.notes, *writer.notes, *struck, *unsaid_in_sixth)
        return Compacted(with_note(messages, keep, left), notes)

    def _bound(self, context: Context) -> Iterator[str]:
        """Say that the model's window holds the summary to less than the parameter asks for."""
        most = most_output(context, self.max_summary_tokens)
        if context.model and most < self.max_summary_tokens:
            window = context.model.window
            yield f"the summary is held to {most:,} tokens, a quarter of the model's window of {window:,}"

    def _longest(self, messages: Messages, context: Context, room: int) -> int:
        """Tokens that the summary may have: what its parameter says, less where the target or the model leave less."""
        longest = most_output(context, self.max_summary_tokens)
        if context.target is None:
            return longest
        held = context.meter.messages(messages[i] for i in protected(messages))
        return min(longest, max(LEAST, context.target - held - room - OVERHEAD))


@dataclass(frozen=True)
class _Writer:
    """Asks for the summary of a part, or of several summaries; `earlier` are the notes of the passes before."""

    context: Context
    longest: int
    earlier: Messages
    strict: bool
    notes: list[str] = field(default_factory=list)

    @property
    def previous(self) -> str:
        """What the model wrote on the passes before, as it stands in the notes."""
        return "\n".join(message.text for message in self.earlier)

    def reader(self) -> Reader:
        frame = self._frame("")
        before = self._frame(self.previous) - frame if self.previous else 0
        window = self.context.model.window if self.context.model else None
        room = room_for_material(window, self.longest, frame)
        return Reader(self._ask, self._merge, self.context.meter, room, before)

    def _frame(self, previous: str) -> int:
        """Tokens of a request that has no material yet."""
        prompts, weigh = self.context.prompts, self.context.meter.text
        tasks = (prompts.summary("", previous), prompts.merge("", previous))
        return weigh(prompts.summary_system) + max(map(weigh, tasks))

    def _ask(self, part: Part, longest: int | None) -> str:
        earlier, previous = (self.earlier, self.previous) if longest is None else ((), "")
        request = self._request("summary", self.context.prompts.summary(part.text, previous), longest)
        return self._text(request, (*earlier, *part.material), f"{previous}{part.text}")

    def _merge(self, texts: Sequence[str], longest: int | None) -> str:
        shown = "\n\n".join(f"[part {number}]\n{text}" for number, text in enumerate(texts, 1))
        earlier, previous = (self.earlier, self.previous) if longest is None else ((), "")
        notes = tuple(Message("user", (Text(text),), synthetic=True) for text in texts)
        request = self._request("merge", self.context.prompts.merge(shown, previous), longest)
        return self._text(request, (*earlier, *notes), previous + shown)

    def _request(self, purpose: Purpose, prompt: str, longest: int | None) -> Request:
        system, version = self.context.prompts.summary_system, self.context.prompts.version
        most = self.longest if longest is None else min(self.longest, longest)
        return Request(purpose, system, prompt, (), most, prompt_version=version)

    def _text(self, request: Request, material: Messages, source: str) -> str:
        asked = replace(request, material=material)
        return asked_text(self.context, asked, source, self.notes, strict=self.strict)


def _own(note: Message) -> Message:
    """Of an earlier summary what the model wrote, not what was carried."""
    return replace(note, blocks=tuple(block for block in note.blocks if not is_carried(block)))


def _bounded(summary: str, longest: int, context: Context) -> str:
    """The summary without what the model wrote as a person's messages, cut where it is too long."""
    lines: list[str] = []
    for title, part in sections(summary):
        number = f"{SECTIONS.index(title) + 1}. {title}" if title else ""
        lines += [number] if number else []
        lines += [part] if part and title != SIXTH else []
    plain = "\n".join(lines).strip()
    kept = context.meter.truncated(plain, longest)
    return kept if kept == plain else f"{kept} {CUT}"


def _said(words: list[str], room: int, context: Context) -> tuple[Text, ...]:
    """A person's messages as blocks of at most *room* tokens: the standing rules among them, then all."""
    rules = rules_among(words, room // RULES_SHARE, context.meter)
    kept = carried(words, room - (context.meter.text(rules) if rules else 0), context.meter)
    return tuple(Text(text) for text in (rules, quoted(kept) if kept else "") if text)


def _blocks(summary: str, said: tuple[Text, ...]) -> tuple[Text, ...]:
    """The summary with a person's words under its sixth heading, or after it where it has none."""
    heading = f"6. {SIXTH}"
    before, found, after = summary.partition(f"{heading}\n")
    if not found and summary.endswith(heading):
        before, found = summary.removesuffix(heading), heading
    if found and not said:
        summary = f"{before}{heading}\nnone\n{after}".rstrip()
    if not found or not said:
        return (Text(f"{SUMMARY}\n{summary}"), *said)
    head = Text(f"{SUMMARY}\n{before}{heading}")
    return (head, *said, Text(after)) if after.strip() else (head, *said)


def is_summary(message: Message) -> bool:
    """True of the note that an earlier pass left."""
    first = message.blocks[0] if message.synthetic and message.blocks else None
    return isinstance(first, Text) and first.text.startswith(SUMMARY)
