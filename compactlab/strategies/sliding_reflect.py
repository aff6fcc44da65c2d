"""`sliding_reflect`: the same slide, but a model first reads what goes and writes down what it carried.

Follows the seed document's Sliding reflect: the agent writes to itself, in the voice that its system message gives it,
and the note rides on as `[Threads I carried forward]`. It reads all that goes, in parts where its window is small. If
the model fails, also when asked once more, the pass becomes a plain slide and says so; threads that an earlier pass
carried are then carried on as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from msgspec.structs import replace

from compactlab.llm import ModelError, Purpose, Request
from compactlab.llm.checks import is_no_answer
from compactlab.llm.parts import Part, Reader, room_for_material
from compactlab.llm.prompts import rendered
from compactlab.markers import THREADS
from compactlab.strategies import Compacted, Context, Strategy, note
from compactlab.strategies._slide import positions, slide, with_note, with_unread
from compactlab.strategies._stretch import Stretch, asked_text, most_output
from compactlab.strategies.sliding_window import marker, removed_before
from compactlab.transcript import Message, Messages, Text

ALIASES = ("reflect",)


@dataclass(frozen=True, repr=False)
class SlideAndReflect(Strategy):
    """Keep the newest `preserve_recent` units, or what fits a target; carry a note of at most `max_note_tokens`."""

    preserve_recent: int = 10
    max_note_tokens: int = 1_024

    parameter_aliases: ClassVar[dict[str, str]] = {"min_messages": "preserve_recent"}
    uses_model: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.require_whole("preserve_recent")
        self.require_whole("max_note_tokens", 1)

    def compact(self, messages: Messages, context: Context) -> Compacted:
        reserve = context.meter.message(note(f"{THREADS}\n")) + self.max_note_tokens
        keep, gone, is_needed = slide(messages, context, self.preserve_recent, reserve, is_threads)
        if not is_needed:
            return Compacted(messages)
        stretch = Stretch(gone, context.originals or messages, context)
        earlier = "\n".join(
            m.text.removeprefix(THREADS).strip() for m in gone if m.text.startswith(THREADS) and m.synthetic
        )
        writer = _Writer(context, self.max_note_tokens, stretch)
        try:
            read = writer.reader().read(stretch.read)
        except ModelError as error:
            if is_no_answer(error):
                raise
            left = note(f"{THREADS}\n{earlier}") if earlier else marker(gone)
            return Compacted(with_note(messages, keep, left), (f"a plain slide: {error}",), fell_back=True)
        going = positions(messages, keep)
        keep = with_unread(messages, keep, (going[i] for i in read.unread), context)
        said, struck = stretch.written(read.text, earlier)
        text = context.meter.truncated(said, self.max_note_tokens)
        notes = (*read.notes, *writer.notes, *struck)
        return Compacted(with_note(messages, keep, note(f"{THREADS}\n{text}")), notes)


@dataclass(frozen=True)
class _Writer:
    """Asks for the note on a part, or makes one of several."""

    context: Context
    longest: int
    stretch: Stretch
    notes: list[str] = field(default_factory=list)

    def reader(self) -> Reader:
        prompts, meter = self.context.prompts, self.context.meter
        frame = meter.text(self._system) + max(meter.text(prompts.reflect("")), meter.text(prompts.reflect_merge("")))
        window = self.context.model.window if self.context.model else None
        return Reader(self._ask, self._merge, meter, room_for_material(window, self._output, frame))

    @property
    def _output(self) -> int:
        return most_output(self.context, self.longest)

    @property
    def _system(self) -> str:
        return self.context.prompts.reflecting(self.stretch.persona())

    def _ask(self, part: Part, longest: int | None) -> str:
        request = self._request("reflect", self.context.prompts.reflect(part.text), longest)
        return self._text(request, part.material, part.text)

    def _merge(self, texts: Sequence[str], longest: int | None) -> str:
        together = "\n".join(texts)
        if self.context.meter.text(together) <= min(self.longest, longest or self.longest):
            return together
        notes = tuple(Message("user", (Text(text),), synthetic=True) for text in texts)
        shown = rendered(notes)
        return self._text(self._request("merge", self.context.prompts.reflect_merge(shown), longest), notes, shown)

    def _request(self, purpose: Purpose, prompt: str, longest: int | None) -> Request:
        most = self._output if longest is None else min(self._output, longest)
        return Request(purpose, self._system, prompt, (), most, prompt_version=self.context.prompts.version)

    def _text(self, request: Request, material: Messages, source: str) -> str:
        return asked_text(self.context, replace(request, material=material), source, self.notes)


def is_threads(message: Message) -> bool:
    """True of a note that an earlier pass carried forward, or of the line that a plain slide left instead."""
    return message.synthetic and (message.text.startswith(THREADS) or removed_before(message) > 0)
