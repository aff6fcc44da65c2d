"""What can be written comes back: messages read, written and read again are equal but for what a format cannot hold."""

import json
import os
from functools import cache
from pathlib import Path

import pytest
import runs
from histories import messages
from hypothesis import given
from msgspec.structs import replace

from compactlab import catalog
from compactlab.readers import read, writable, write
from compactlab.shapes import images
from compactlab.shapes.parts import json_text
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult, Transcript

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or runs.CHECKOUT.parent / "shared" / "transcripts")
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file()) if CORPUS.is_dir() else []
PLACES = {path.relative_to(CORPUS).as_posix(): path for path in FILES}
SMALL = 450_000
WRITERS = {"anthropic_messages", "claude_code", "codex", "compactlab", "inspect_log", "langchain", "openai_chat"}
KEEPS_COMPACTIONS = {"claude_code", "codex", "compactlab", "inspect_log"}

every_writer = pytest.mark.parametrize("name", sorted(WRITERS))


def cut(message):
    """A turn that stands in one message, as the messages that it becomes where results have messages of their own."""
    made = []
    for block in message.blocks:
        heard = isinstance(block, ToolResult)
        if not made or heard != isinstance(made[-1][0], ToolResult):
            made.append([])
        made[-1].append(block)
    return made or [[]]


def openai_chat(given):
    """Chat Completions: one result a message; thoughts, then content, then calls, and thoughts and calls of the
    assistant alone; a picture that was not recorded is words; no errors, nothing synthetic."""
    for message in given:
        for piece in cut(message):
            if piece and isinstance(piece[0], ToolResult):
                for result in piece:
                    yield Message("tool", (replace(result, content=tuple(shown(result.content)), is_error=False),))
                continue
            role = "user" if message.role == "tool" else message.role
            kinds = [(Reasoning,), (Text, Image), (ToolCall,)] if role == "assistant" else [(Text, Image)]
            yield Message(role, tuple(shown(part for kind in kinds for part in piece if isinstance(part, kind))))


def shown(parts):
    for part in parts:
        if not isinstance(part, Image):
            yield part
        elif part.data is not None:
            yield images.from_bytes(part.media_type, part.data)
        else:
            yield images.from_url(part.url) if part.url is not None else Text(images.described(part))


def anthropic_messages(given):
    """Anthropic Messages: leading system messages are one, later ones a user's; neighbouring results, and what shares
    a source, stand together; arguments are an object; what is opaque has no words; nothing synthetic."""
    given = list(given)
    leading = next((i for i, message in enumerate(given) if message.role != "system"), len(given))
    head = [part for message in given[:leading] for part in message.blocks]
    if head and head != [Text("")]:
        yield Message("system", tuple(stood(head)))
    written = []
    for message in given[leading:]:
        for piece in cut(message):
            heard = bool(piece) and isinstance(piece[0], ToolResult)
            role = "assistant" if message.role == "assistant" and not heard else "user"
            last = written[-1] if written else None
            same = last is not None and message.source is not None and last[2] == message.source
            if last is not None and last[0] == role and ((last[1] and heard) or same):
                last[3].extend(stood(piece))
                last[1:3] = [heard, message.source]
            else:
                written.append([role, heard, message.source, list(stood(piece))])
    for role, _, _, blocks in written:
        yield from parted(role, blocks)


def parted(role, blocks):
    """A user message that mixes results and words is read as two."""
    results = tuple(block for block in blocks if isinstance(block, ToolResult))
    rest = tuple(block for block in blocks if not isinstance(block, ToolResult))
    if role == "user" and results:
        yield Message("tool", results)
    if rest or not results or role != "user":
        yield Message(role, rest)


def stood(parts):
    for part in parts:
        if isinstance(part, ToolCall):
            yield replace(part, arguments=object_text(part.arguments))
        elif isinstance(part, Reasoning):
            hidden = part.opaque is not None and not part.text
            yield Reasoning(opaque=part.opaque) if hidden else replace(part, opaque=None)
        elif isinstance(part, ToolResult):
            yield replace(part, content=tuple(shown(part.content)))
        else:
            yield from shown((part,))


def object_text(arguments):
    try:
        value = json.loads(arguments)
    except ValueError:
        value = arguments
    return json_text(value if isinstance(value, dict) else {"arguments": value})


CANNOT_HOLD = {"openai_chat": openai_chat, "anthropic_messages": anthropic_messages}


def compared(given, name):
    """Role, blocks and, where the format has a place for it, `synthetic`, of what a format can hold."""
    if name in CANNOT_HOLD:
        return [(message.role, message.blocks) for message in CANNOT_HOLD[name](given)]
    return [(message.role, message.blocks, message.synthetic) for message in given]


def read_back(transcripts, name, folder):
    """Write transcripts, together if the format takes several, and read the files."""
    alone = getattr(catalog.load("readers", name), "ONE_SESSION", False)
    back = []
    for group in [[transcript] for transcript in transcripts] if alone else [transcripts]:
        file = folder / f"written-{name}"
        write(group, file, name)
        back += read(file, name if name in CANNOT_HOLD else None)
    return back


def check(transcripts, name, folder):
    held = [transcript for transcript in transcripts if compared(transcript.messages, name)]
    back = read_back(held, name, folder) if held else []
    assert len(back) == len(held)
    for given_one, got in zip(held, back, strict=True):
        assert {got.format} == {given_one.format if name == "compactlab" else name}
        got_messages = [(m.role, m.blocks, m.synthetic)[: 2 if name in CANNOT_HOLD else 3] for m in got.messages]
        assert got_messages == compared(given_one.messages, name)
        if name in KEEPS_COMPACTIONS:
            assert compactions(got) == compactions(given_one)


def compactions(transcript):
    """Where each compaction stands and what it left, told by roles and blocks."""
    indices = range(len(transcript.compactions))
    after = [[(message.role, message.blocks) for message in transcript.after(index)] for index in indices]
    return [(c.position, c.trigger, left) for c, left in zip(transcript.compactions, after, strict=True)]


@cache
def corpus(place):
    return tuple(read(PLACES[place]))


def test_these_formats_can_be_written():
    assert set(writable()) == WRITERS


@every_writer
def test_the_fixtures_come_back(tmp_path, name):
    assert len(runs.TRANSCRIPTS) == 13
    for path in runs.TRANSCRIPTS:
        check(read(path), name, tmp_path)


@every_writer
@given(made=messages(max_events=10))
def test_whatever_a_session_holds_comes_back(tmp_path_factory, name, made):
    check([Transcript("t", "compactlab", made)], name, tmp_path_factory.getbasetemp())


@every_writer
@pytest.mark.parametrize("place", [place for place, path in PLACES.items() if path.stat().st_size <= SMALL])
def test_small_files_of_other_tools_come_back(tmp_path, place, name):
    check(corpus(place), name, tmp_path)


@pytest.mark.study
@every_writer
@pytest.mark.parametrize("place", [place for place, path in PLACES.items() if path.stat().st_size > SMALL])
def test_large_files_of_other_tools_come_back(tmp_path, place, name):
    check(corpus(place), name, tmp_path)


@every_writer
def test_opaque_reasoning_comes_back_byte_for_byte(tmp_path, name):
    opaque = "gAAAAABn+/=\n\u2028é" * 50
    spoken = Message("assistant", (Reasoning(opaque=opaque), ToolCall("c1", "ls", "{}")))
    asked = Message("user", (Text("Look."),))
    [back] = read_back([Transcript("t", "compactlab", (asked, spoken))], name, tmp_path)
    assert back.messages[1].blocks[0] == Reasoning(opaque=opaque)
