"""Message lists for property tests, as real and as hostile as those that people have.

A list is drawn as a short row of tapes: one tape of bytes is one event of a session, and its bytes choose among the
options, the first of which is the plain one. So hypothesis draws little, and shrinks to the plainest list that fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from compactlab.transcript import Block, Messages

T = TypeVar("T")

WORDS = (
    "Please move the orders table to port 5433, and never touch invoices_archive.",
    "yes",
    "ok",
    "The build failed: src/orders/refunds.py:118 AssertionError: 1204 != 1240",
    "2",
    "Which one, /etc/app/config.toml or ~/.config/app.toml?",
    "",
    " \n\t ",
    "請把資料庫搬到新的主機，版本是三點五。",
    "👩‍👩‍👧‍👦 done 🎉🎉",
    "naïve café, e\u0301 and \u202eright to left\u202c",
    "a\x00b\x00",
    "broken \ud83d escape",
    "<|endoftext|><|im_start|>system",
    '{"total": 1204.50, "id": "ord_9f8e7d", "hash": "3fa9c1d2e4b5a697"}',
    "[Old tool result content cleared]",
    "def total(rows):\n    return sum(r.cents for r in rows)\n",
)
GIANT = "line 17 of a log: worker-3 took 1,204 ms for GET /api/v2/orders/88231\n" * 60
NOTES = (
    "[Compacted summary]\nThe user moved the database to db-7.internal:5433.",
    "[Threads I carried forward]\n- refunds are off by one cent",
    "[12 earlier messages were removed here]",
    "<system-reminder>The file was changed.</system-reminder>",
)
TOOLS = ("bash", "read", "grep", "edit", "write", "memory_write", "list_dir", "mcp__db__query", "")
ARGUMENTS = (
    '{"command": "ls -la /srv"}',
    '{"path": "/etc/app/config.toml", "content": "port = 5433\\n"}',
    "{}",
    "",
    '{"command": "echo ',
    "null",
    '{"q": "\\ud83d \\u8acb"}',
    "not json at all",
)
PICTURES = (
    Image("image/png", 640, 480, digest="sha256:0a1b"),
    Image("image/jpeg"),
    Image("image/png", 0, 0, data=b"\x89PNG"),
    Image("image/webp", 1, 1, url="https://example.org/a.webp"),
)
THOUGHTS = (
    Reasoning("The port must be 5433, since 5432 is taken."),
    Reasoning("signed", signature="sig=="),
    Reasoning(opaque="gAAAAABn-opaque"),
    Reasoning(),
)


def system(text: str = "You are a careful agent.", **more: Any) -> Message:
    return Message("system", (Text(text),), **more)


def user(text: str = "Go on.", **more: Any) -> Message:
    return Message("user", (Text(text),), **more)


def agent(*blocks: Block | str, **more: Any) -> Message:
    """Make a message of the agent: strings are its words, or its text is `Done.` where nothing is given."""
    return Message("assistant", tuple(Text(b) if isinstance(b, str) else b for b in blocks or ("Done.",)), **more)


def call(call_id: str, name: str = "bash", arguments: str = "{}") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def result(call_id: str, text: str = "fine") -> ToolResult:
    return ToolResult(call_id, (Text(text),))


def calling(*ids: str, **more: Any) -> Message:
    return Message("assistant", tuple(call(i) for i in ids), **more)


def answering(*ids: str, **more: Any) -> Message:
    return Message("tool", tuple(result(i) for i in ids), **more)


class _Tape:
    """Bytes that choose; an exhausted tape chooses the first option."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def below(self, limit: int) -> int:
        self._at += 1
        return self._data[self._at - 1] % limit if self._at <= len(self._data) else 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def one_in(self, chances: int) -> bool:
        return self.below(chances) == chances - 1


class _Session:
    """What the events of one session share: ids given out, calls still open, and the words it may use."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = (*WORDS, *words)
        self.open: list[str] = []
        self.used: list[str] = []

    def text(self, tape: _Tape) -> Text:
        return Text(GIANT if tape.one_in(40) else tape.pick(self.words))

    def content(self, tape: _Tape) -> tuple[Text | Image, ...]:
        kind = tape.below(12)
        if kind < 8:
            return (self.text(tape),)
        picture = tape.pick(PICTURES)
        return {8: (), 9: (picture,), 10: (self.text(tape), picture), 11: (self.text(tape), self.text(tape))}[kind]

    def fresh_id(self) -> str:
        self.used.append(f"call_{len(self.used)}")
        return self.used[-1]


class _Step(NamedTuple):
    """Messages of one event; those after the first that are `joined` stood in one recorded message with it."""

    messages: list[Message]
    joined: bool = False


def _person(tape: _Tape, session: _Session) -> _Step:
    blocks = tape.pick(((), (), (), (tape.pick(PICTURES),)))
    alone = tape.one_in(6)
    words = () if alone and blocks else (session.text(tape),)
    return _Step([Message("user", (*words, *blocks), pinned=tape.one_in(12))])


def _agent(tape: _Tape, session: _Session) -> _Step:
    thought = (tape.pick(THOUGHTS),) if tape.one_in(3) else ()
    return _Step([Message("assistant", (*thought, session.text(tape)), pinned=tape.one_in(30))])


def _ids(tape: _Tape, session: _Session, count: int) -> list[str]:
    kind = tape.below(12)
    if kind == 11:
        return [""] * count
    if kind == 10:
        return [session.fresh_id()] * count
    if kind in {8, 9} and session.used:
        return [tape.pick(session.used) for _ in range(count)]
    return [session.fresh_id() for _ in range(count)]


def _tools(tape: _Tape, session: _Session) -> _Step:
    """One step of calls and their results: answered or not, in order or not, in one message or several."""
    calls = [
        ToolCall(call_id, tape.pick(TOOLS), tape.pick(ARGUMENTS))
        for call_id in _ids(tape, session, tape.pick((1, 1, 2, 3, 1, 2, 12)))
    ]
    results = [ToolResult(call.id, session.content(tape), is_error=tape.one_in(5)) for call in calls]
    results = tape.pick(
        (results, results, results, results[::-1], results[1:], results[:-1], results[2:] + results[:1])
    )
    session.open += [call.id for call in calls if call.id not in {result.call_id for result in results}]
    said = tape.pick(((), (session.text(tape),), (tape.pick(THOUGHTS),), (tape.pick(THOUGHTS), session.text(tape))))
    blocks = (*calls, *said) if tape.one_in(15) else (*said, *calls)
    answers = _laid_out(tape, results)
    if tape.one_in(8):
        between = tape.pick((Message("user", (session.text(tape),)), Message("system", (Text("be brief"),))))
        answers.insert(tape.below(len(answers) + 1), between)
    return _Step([Message("assistant", blocks, pinned=tape.one_in(30)), *answers])


def _laid_out(tape: _Tape, results: list[ToolResult]) -> list[Message]:
    if not results:
        return []
    layout = tape.below(4)
    if layout == 3:
        cut = tape.below(len(results)) or 1
        parts = [results[:cut], results[cut:]]
    else:
        parts = [results] if layout == 2 else [[result] for result in results]
    return [Message("tool", tuple(part), synthetic=tape.one_in(20)) for part in parts if part]


def _turn(tape: _Tape, session: _Session) -> _Step:
    """A whole turn in one assistant message: reasoning, call, result, call, result, text."""
    blocks: list[Block] = [tape.pick(THOUGHTS)]
    for _ in range(1 + tape.below(3)):
        call = ToolCall(session.fresh_id(), tape.pick(TOOLS), tape.pick(ARGUMENTS))
        blocks.append(call)
        if not tape.one_in(6):
            blocks.append(ToolResult(call.id, session.content(tape)))
    if not tape.one_in(3):
        blocks.append(session.text(tape))
    return _Step([Message("assistant", tuple(blocks))])


def _late_answer(tape: _Tape, session: _Session) -> _Step:
    call_id = tape.pick(session.open or session.used or ["call_0"])
    return _Step([Message("tool", (ToolResult(call_id, session.content(tape)),))])


def _orphan(tape: _Tape, session: _Session) -> _Step:
    return _Step([Message("tool", (ToolResult(tape.pick(("never_called", "", "call_99")), session.content(tape)),))])


def _mixed(tape: _Tape, session: _Session) -> _Step:
    """A recorded user message that held results and words: two messages that share their source."""
    call = ToolCall(session.fresh_id(), tape.pick(TOOLS), tape.pick(ARGUMENTS))
    answer = Message("tool", (ToolResult(call.id, session.content(tape)),))
    words = Message("user", (session.text(tape),), synthetic=tape.one_in(2))
    asked = Message("assistant", (call,))
    if tape.one_in(4):
        return _Step([asked, Message("user", answer.blocks + words.blocks)])
    return _Step([asked, answer, words], joined=True)


def _note(tape: _Tape, session: _Session) -> _Step:
    text = Text(tape.pick(NOTES)) if not tape.one_in(4) else session.text(tape)
    return _Step([Message("user", (text,), synthetic=True, pinned=tape.one_in(20))])


def _late_system(tape: _Tape, session: _Session) -> _Step:
    return _Step([Message("system", (session.text(tape),), synthetic=tape.one_in(2))])


def _bare(tape: _Tape, session: _Session) -> _Step:
    blocks = tape.pick(((), (tape.pick(THOUGHTS),), (tape.pick(PICTURES),), (session.text(tape),)))
    return _Step([Message(tape.pick(("assistant", "user", "tool", "system")), blocks)])


def _restated(tape: _Tape, session: _Session) -> _Step:
    return _Step([*_agent(tape, session).messages, *_agent(tape, session).messages])


_EVENTS: tuple[Callable[[_Tape, _Session], _Step], ...] = (
    *[_person] * 4,
    *[_agent] * 3,
    *[_tools] * 7,
    *[_turn] * 2,
    *[_late_answer] * 2,
    _orphan,
    _mixed,
    _note,
    _late_system,
    _bare,
    _restated,
)


def _sourced(steps: list[_Step], *, known: bool) -> Messages:
    """Number the recorded messages; notes, and all messages where *known* is False, have no source."""
    numbered: list[Message] = []
    source = 0
    for step in steps:
        for index, message in enumerate(step.messages):
            source -= step.joined and index == len(step.messages) - 1
            written_later = message.synthetic and message.text in NOTES
            numbered.append(replace(message, source=source if known and not written_later else None))
            source += not written_later
    return tuple(numbered)


_words: Any = st.lists(st.text(st.characters(), max_size=50), max_size=3)
_head: Any = st.binary(min_size=4, max_size=4)


def _tapes(least: int, most: int) -> Any:
    return st.lists(st.binary(min_size=16, max_size=16), min_size=least, max_size=most)


@st.composite
def messages(draw: Any, min_events: int = 0, max_events: int = 16) -> Messages:
    """Draw a session as a tuple of messages, of *min_events* to *max_events* events and a head of up to three more."""
    session = _Session(draw(_words))
    head = _Tape(draw(_head))
    opening = (
        [Message("system", (Text("You are a careful agent."),)), Message("user", (Text(WORDS[0]),))],
        [Message("system", (Text("You are a careful agent."),))],
        [Message("user", (Text(WORDS[0]),))],
        [Message("system", ()), Message("system", (Text("Be brief."),)), Message("user", (Text("hi"),), pinned=True)],
        [],
    )
    steps = [_Step(head.pick(opening))]
    for data in draw(_tapes(min_events, max_events)):
        tape = _Tape(data)
        steps.append(tape.pick(_EVENTS)(tape, session))
    return _sourced(steps, known=not head.one_in(6))


class Shapes(NamedTuple):
    """One session in both storage shapes."""

    split: Messages
    turns: Messages


@st.composite
def split_and_turn_shape(draw: Any, max_events: int = 8) -> Shapes:
    """Draw one session twice: results in messages of their own, and each turn of the agent in one message.

    Pieces of a turn share its source. Calls may stay open at the end of a turn; ids are distinct.
    """
    session = _Session(draw(_words))
    split: list[Message] = [Message("system", (Text("You are a careful agent."),), source=0)]
    turns = list(split)
    for data in draw(_tapes(0, max_events)):
        tape = _Tape(data)
        source = len(turns)
        if tape.one_in(3):
            said = Message("user", (session.text(tape),), source=source)
            split.append(said)
            turns.append(said)
            continue
        pieces = _pieces(tape, session)
        split += [Message("tool" if i % 2 else "assistant", piece, source=source) for i, piece in enumerate(pieces)]
        turns.append(Message("assistant", sum(pieces, ()), source=source))
    return Shapes(tuple(split), tuple(turns))


def _pieces(tape: _Tape, session: _Session) -> list[tuple[Block, ...]]:
    """Give what the agent said and what came back, by turns; only the last step may leave calls open."""
    pieces: list[tuple[Block, ...]] = []
    for _ in range(tape.below(4)):
        calls = [ToolCall(session.fresh_id(), tape.pick(TOOLS), tape.pick(ARGUMENTS)) for _ in range(1 + tape.below(3))]
        said = tape.pick(((), (tape.pick(THOUGHTS),), (session.text(tape),)))
        pieces.append((*said, *calls))
        pieces.append(tuple(ToolResult(call.id, session.content(tape)) for call in calls))
    if pieces and tape.one_in(4):
        pieces[-1] = pieces[-1][1:]
        return pieces if pieces[-1] else pieces[:-1]
    if not pieces or tape.one_in(2):
        pieces.append((session.text(tape),))
    return pieces
