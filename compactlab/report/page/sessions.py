"""One session as a page shows it: what stood before each cut, what each pass left, which facts were needed where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from compactlab import history
from compactlab.records import Key
from compactlab.redaction import known_in, redacted_messages
from compactlab.report.page.left import Cut, Pass
from compactlab.report.page.places import place, units
from compactlab.report.page.pool import Pool
from compactlab.report.page.shared import Shared
from compactlab.tokens import Meter
from compactlab.transcript import Message, Messages, Transcript, readable

FATES = {"bound": "b", "loose": "l", "mutated": "m", "lost": "x"}
KEPT, EDITED, MADE = "k", "e", "m"
RECORDED = "recorded"


class Stand(NamedTuple):
    """What stood before a cut, repaired: the messages as they are and as they are shown, and where each is from."""

    messages: Messages
    shown: Messages
    positions: tuple[int | None, ...]


class View:
    """One session for a page. Texts are shown without secrets; none at all where the page is *shared*."""

    def __init__(self, transcript: Transcript, meter: Meter, shared: Shared | None = None) -> None:
        self.transcript = transcript
        self.known = known_in(transcript.messages)
        self.shown = redacted_messages(transcript.messages, self.known)
        self.shared = shared
        self.pool = Pool(meter, shared)
        for position, message in enumerate(self.shown):
            self.pool.add(message, position)

    def told(self, cuts: Sequence[Cut]) -> dict[str, Any]:
        """Give the session with its cuts as plain data; places in texts count UTF-16 units."""
        transcript, shared = self.transcript, self.shared
        plain = [self._cut(cut) for cut in cuts]
        return {
            "name": shared.name(transcript.id) if shared else transcript.id,
            "title": "" if shared else transcript.title,
            "type": transcript.agent_type,
            "length": len(transcript.messages),
            "messages": self.pool.messages,
            "texts": self.pool.texts,
            "cuts": plain,
        }

    def stand(self, cut: Cut) -> Stand:
        """What stood before a cut; before a recorded compaction, as the ones before it had left it."""
        transcript = self.transcript
        if cut.name.startswith(f"{RECORDED} "):
            number = int(cut.name.removeprefix(f"{RECORDED} "))
            transcript = replace(transcript, compactions=transcript.compactions[: number - 1])
        entries = transcript.entries(cut.position)
        repaired = history.repair(transcript.view(cut.position))
        origins = (None if origin is None else entries[origin] for origin in repaired.origins)
        positions = tuple(entry if isinstance(entry, int) else None for entry in origins)
        return Stand(repaired.messages, redacted_messages(repaired.messages, self.known), positions)

    def _cut(self, cut: Cut) -> dict[str, Any]:
        stand = self.stand(cut)
        base = [self.pool.add(message, at) for message, at in zip(stand.shown, stand.positions, strict=True)]
        return {
            "name": cut.name,
            "index": cut.position,
            "base": list(stretches(base)),
            "facts": [self._fact(story, stand) for story in cut.stories],
            "passes": [self._pass(done, stand) for done in cut.passes],
        }

    def _fact(self, story: dict[str, Any], stand: Stand) -> list[Any]:
        """A needed fact, and where it is marked in the text that held it and in the one that needed it."""
        home, home_mark = self._home(story, stand)
        used_mark = mark(self.shown[story["used"]], story["used_text"], story["value"])
        return _fact(story, self.shared, home, (home_mark, used_mark))

    def _home(self, story: dict[str, Any], stand: Stand) -> tuple[int | None, list[int] | None]:
        """Which message before the cut held a fact first, and where in it."""
        at = [i for i, position in enumerate(stand.positions) if position == story["home"]]
        made = [i for i, position in enumerate(stand.positions) if position is None]
        for i in (*at, *made):
            if marked := mark(stand.shown[i], story["home_text"], story["value"]):
                return i, marked
        return (at[0] if at else None), None

    def _pass(self, done: Pass, stand: Stand) -> dict[str, Any]:
        return _bare(done, self.shared) | {"left": list(self._left(done, stand)), "restored": list(done.restored)}

    def _left(self, done: Pass, stand: Stand) -> Iterator[list[Any]]:
        """What a pass left: ["k", first, last] kept, ["e", position, message] edited, ["m", message] made."""
        kept = {i for entry in done.entries if isinstance(entry, tuple) for i in range(entry[0], entry[1] + 1)}
        open_at: dict[tuple[int | None, str], list[int]] = defaultdict(list)
        for i, message in enumerate(stand.messages):
            if i not in kept and message.source is not None:
                open_at[message.source, message.role].append(i)
        for entry in done.entries:
            if not isinstance(entry, Message):
                yield [KEPT, *entry]
                continue
            waiting = open_at[entry.source, entry.role]
            at = waiting.pop(0) if waiting else None
            number = self.pool.add(replace(entry, timestamp=None), stand.positions[at] if at is not None else None)
            yield [MADE, number] if at is None else [EDITED, at, number]


def _bare(done: Pass, shared: Shared | None) -> dict[str, Any]:
    """What is told of a pass beside what it left."""
    return {
        "name": label(done.key, shared),
        "outcome": done.outcome,
        "reason": "" if shared else done.reason,
        "model": shared.line(done.model) if shared else done.model,
        "before": done.before,
        "after": done.after,
        "needed": "".join(FATES[fate] for fate in done.needed),
    }


def _fact(
    story: dict[str, Any],
    shared: Shared | None,
    home: int | None = None,
    marks: tuple[list[int] | None, list[int] | None] = (None, None),
) -> list[Any]:
    """[family, value, use, regain, tenth, age, home, used, words there, words there, marks of home, marks of use].

    The home is a position in what stood before the cut, or null; the use one in the transcript. Marks are
    [block, start, end] or null.
    """
    how = [story[name] for name in ("use", "regain", "tenth", "age")]
    if shared:
        return [story["family"], shared.digest(story["value"]), *how, home, story["used"], "", "", None, None]
    words = (story["home_text"], story["used_text"])
    return [story["family"], story["value"], *how, home, story["used"], *words, *marks]


def mark(message: Message, quotation: str, value: str) -> list[int] | None:
    """Where a quoted value stands in a message: the block, start and end in UTF-16 units."""
    for number, block in enumerate(message.blocks):
        text = readable(block)
        if found := place(text, quotation, value):
            return [number, units(text, found.start), units(text, found.end)]
    return None


def label(key: Key, shared: Shared | None = None) -> str:
    """What a pass is called among those of its cut.

    >>> label(Key("s", "0.4", "summary", budget="20", replicate=1))
    'summary, 20 %, repetition 2'
    """
    name = shared.line(key.strategy) if shared else key.strategy
    budget = f", {key.budget} %" if key.budget else ""
    again = f", repetition {key.replicate + 1}" if key.replicate else ""
    return f"{name}{budget}{again}"


def stretches(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Neighbouring numbers that rise by one, as their first and last.

    >>> list(stretches([0, 1, 2, 7, 4, 5]))
    [[0, 2], [7, 7], [4, 5]]
    """
    run: list[int] = []
    for number in numbers:
        if run and number == run[1] + 1:
            run[1] = number
        else:
            if run:
                yield run
            run = [number, number]
    if run:
        yield run


def untold(cuts: Sequence[Cut], why: str, shared: Shared | None = None) -> dict[str, Any]:
    """A session whose messages are not at hand, and *why*: only its facts and how much each pass left."""
    session = cuts[0].session
    found = []
    for cut in cuts:
        facts = [_fact(story, shared) for story in cut.stories]
        passes = [_bare(done, shared) | {"left": [], "restored": []} for done in cut.passes]
        found.append({"name": cut.name, "index": cut.position, "base": [], "facts": facts, "passes": passes})
    name = shared.name(session) if shared else session
    return {"name": name, "title": "", "type": "", "length": 0, "messages": [], "cuts": found, "missing": why}
