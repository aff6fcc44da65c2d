"""Several agents in one trace: which story each request goes on with, and whose calls a tool's results answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.readers._items import Item, split
from compactlab.readers._requests import Story
from compactlab.readers._sessions import session_id, transcript
from compactlab.transcript import Intake, Message, RecordedCompaction, ToolCall, ToolResult, Transcript, Usage

if TYPE_CHECKING:
    from compactlab.readers._files import Source

NO_FIT = (0, 0)


class Request(NamedTuple):
    """One call of a model: what it was given and what it answered.

    *agent* is the name of the agent, *run* the record of that run of it; both are empty where they were not recorded.
    """

    given: Sequence[Item]
    answer: Sequence[Item] = ()
    usage: Usage | None = None
    agent: str = ""
    run: str = ""


@dataclass
class Lane:
    """The story of one agent, and the request that began it."""

    first: Request
    story: Story = field(default_factory=Story)

    def fit(self, request: Request, *, branches: bool) -> tuple[int, int]:
        """How well a request goes on with this story; `NO_FIT` if it is another's."""
        if self.first.agent and request.agent and self.first.agent != request.agent:
            return NO_FIT
        lead, body = split(request.given)
        own = self.story.body
        shared = self.story.shared(body)
        if own and shared == len(own):
            return (4, shared)
        if not body or [item.content for item in lead] != [item.content for item in self.story.lead]:
            return NO_FIT
        if self.story.branches(body, shared) and not (branches or (shared == len(body) == len(own) - 1)):
            return NO_FIT
        kept = self.story.keeps(body)
        if kept:
            return (3, kept)
        same_run = bool(lead and request.run) and request.run == self.first.run
        return (2, 0) if same_run or any(item.summary for item in body) else NO_FIT

    def told(self, request: Request) -> bool:
        """Whether a request begins as this story does and was answered as it ends, as that of a whole run is told."""
        _, body = split(request.given)
        own = self.story.body
        if not body or len(body) >= len(own) or self.story.shared(body) < len(body) or not request.answer:
            return False
        last = self.story.entry(own[-1])
        return last.message.role == "assistant" and last.content == request.answer[-1].content


class Lanes:
    """The stories of one trace or conversation.

    With *branches*, a request that leaves its story to go on otherwise replaces what it left, as in a conversation that
    a person steered; without, it is another agent's.
    """

    def __init__(self, *, branches: bool = False) -> None:
        self.lanes: list[Lane] = []
        self.repeated = 0
        self.unasked = 0
        self._branches = branches

    def take(self, request: Request) -> Lane:
        """Take in a request; it goes on with the story that it fits best, or begins one."""
        fits = [lane.fit(request, branches=self._branches) for lane in self.lanes]
        best = max(range(len(fits)), key=lambda i: fits[i], default=0)
        if fits and fits[best] > NO_FIT:
            lane = self.lanes[best]
            self.repeated += 1
            if lane.told(request):
                return lane
        else:
            lane = Lane(request)
            self.lanes.append(lane)
        lane.story.take(request.given)
        lane.story.answer(request.answer, request.usage)
        return lane

    def result(self, result: ToolResult, call: ToolCall, timestamp: str | None, source: int) -> None:
        """Take in what a tool gave back; *call* has the id, or else the name and arguments, of what was asked of it.

        It is told where no later request shows it. One that no open call asked for is counted in `unasked`.
        """
        for lane in reversed(self.lanes):
            asked = _open(lane.story, call)
            if asked is not None:
                named = (replace(result, call_id=asked.id),)
                message = Message("tool", named, source=source, timestamp=timestamp)
                lane.story.waiting.append(Item(message, name=asked.name))
                return
        self.unasked += 1

    def summariser(self, summary: str) -> int | None:
        """The number of the story whose last answer is, or stands in, the summary of a compaction."""
        for number, lane in enumerate(self.lanes):
            said = lane.story.items[-1].message if lane.story.items else None
            text = said.text.strip() if said is not None and said.role == "assistant" else ""
            if text and text in summary:
                return number
        return None

    def transcripts(self, source: Source, format: str, own_id: str, fields: Mapping[str, Any]) -> Iterator[Transcript]:  # noqa: A002  # the field's word
        """One transcript a story: the longest has the id *own_id* and is `primary`, if there are others, which are not.

        *fields* are those of `Transcript` that all of them share.
        """
        told = [lane.story.told() for lane in self.lanes]
        main = max(range(len(told)), key=lambda i: len(told[i].messages), default=0)
        ids = [own_id if i == main else f"{own_id}-{i}" for i in range(len(told))]
        for i, lane in enumerate(self.lanes):
            compactions = tuple(self._summed_up(each, i, ids, source.stem) for each in told[i].compactions)
            types = {"agent_type": "primary" if i == main else "subagent"} if len(told) > 1 else {}
            made = transcript(
                source,
                format,
                told[i].messages,
                ids[i],
                compactions=compactions,
                usage=told[i].usage,
                cluster=session_id(source.stem, own_id),
                **types,
                **fields,
            )
            named = {"agent": lane.first.agent} if lane.first.agent else {}
            yield replace(made, header={**made.header, **named}, intake=_intake(made.intake, lane.story))

    def _summed_up(self, compaction: RecordedCompaction, own: int, ids: Sequence[str], stem: str) -> RecordedCompaction:
        number = self.summariser(compaction.summary) if compaction.summary else None
        if number is None or number == own:
            return compaction
        return replace(compaction, summariser=session_id(stem, ids[number]))


def _intake(intake: Intake, story: Story) -> Intake:
    """What of one story was not told."""
    skipped = Counter(intake.skipped) + Counter({"message of another branch": story.others})
    repaired = Counter(intake.repaired) + Counter({"system prompt that changed": story.prompts})
    return replace(intake, skipped=dict(skipped), repaired=dict(repaired))


def _open(story: Story, call: ToolCall) -> ToolCall | None:
    """The call of a story's last answer that *call* is, if no result is known of it."""
    answered = [result.call_id for item in story.waiting for result in item.message.results]
    for item in reversed(story.items):
        answered += [result.call_id for result in item.message.results]
        if item.message.calls:
            waiting = [asked for asked in item.message.calls if not asked.id or asked.id not in answered]
            return _asked(waiting[: len(item.message.calls) - len(answered)], call)
    return None


def _asked(waiting: Sequence[ToolCall], call: ToolCall) -> ToolCall | None:
    if call.id:
        return next((asked for asked in waiting if asked.id == call.id), None)
    named = [asked for asked in waiting if asked.name == call.name]
    return next((asked for asked in named if _arguments(asked) == _arguments(call)), named[0] if named else None)


def _arguments(call: ToolCall) -> str:
    return "".join(call.arguments.split()).replace("'", '"')
