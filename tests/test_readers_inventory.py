"""Real files of many tools hold what `inventory.tsv` says, counted on the raw files and not by our readers."""

import csv
import os
from functools import cache
from pathlib import Path

import pytest

from compactlab.history import pair
from compactlab.readers import read, sniff, survey
from compactlab.transcript import Image, Reasoning, Text, ToolCall, ToolResult

TABLE = Path(__file__).with_name("inventory.tsv")
CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or TABLE.parent.parent.parent / "shared" / "transcripts")
ROLES = ("system", "user", "assistant", "tool")
LINES = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
ROWS = {row["path"]: row for row in csv.DictReader(LINES, delimiter="\t")}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="no COMPACTLAB_CORPUS and no folder of transcripts here")
every_file = pytest.mark.parametrize("place", ROWS)


@cache
def transcripts(place):
    return tuple(read(CORPUS / place))


def messages(place):
    return [message for transcript in transcripts(place) for message in transcript.messages]


def blocks(place):
    """Blocks of all messages, and of the contents of results."""
    found = [block for message in messages(place) for block in message.blocks]
    return found + [part for block in found if isinstance(block, ToolResult) for part in block.content]


def counted(place):
    """The row of a file as our reader would have it, but for its compactions and bytes."""
    roles = [message.role for message in messages(place)]
    kinds = [type(block) for block in blocks(place)]
    row = {"path": place, "reader": transcripts(place)[0].format, "sessions": str(len(transcripts(place)))}
    row |= {role: str(roles.count(role)) for role in ROLES}
    named = {"calls": ToolCall, "results": ToolResult, "images": Image}
    return row | {name: str(kinds.count(kind)) for name, kind in named.items()}


def compactions(place):
    """Of each compaction, its position, and how many messages stood in the context before and after it."""
    return " ".join(
        f"{compaction.position}:{len(transcript.before(i))}:{len(transcript.after(i))}"
        for transcript in transcripts(place)
        for i, compaction in enumerate(transcript.compactions)
    )


def text_bytes(place):
    """Bytes of words, visible reasoning, arguments of calls and texts of results."""
    told = [block.text for block in blocks(place) if isinstance(block, Text | Reasoning)]
    told += [block.arguments for block in blocks(place) if isinstance(block, ToolCall)]
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in told)


def test_the_table_has_every_file_once():
    files = {path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*") if path.is_file()}
    assert set(ROWS) == files
    assert len(ROWS) == len(LINES) - 1 == 40


@every_file
def test_a_file_is_known_to_its_reader(place):
    assert sniff(CORPUS / place) == ROWS[place]["reader"]


@every_file
def test_a_file_holds_what_was_counted_in_it(place):
    made = counted(place)
    assert made == {name: ROWS[place][name] for name in made}


@every_file
def test_the_compactions_that_were_recorded_are_found(place):
    assert compactions(place) == ROWS[place]["compactions"]


@every_file
def test_no_byte_of_text_is_lost_or_doubled(place):
    assert text_bytes(place) == int(ROWS[place]["text_bytes"])


@every_file
def test_a_file_is_read_without_a_fault(place):
    intakes = [transcript.intake for transcript in transcripts(place)]
    assert sum(len(intake.problems) for intake in intakes) == int(ROWS[place]["problems"])
    assert sum(intake.records for intake in intakes) > 0
    counts = [count for i in intakes for kind in (i.skipped, i.unknown, i.repaired) for count in kind.values()]
    assert min(counts, default=1) > 0


@every_file
def test_ids_and_places_tell_messages_apart(place):
    assert len({transcript.id for transcript in transcripts(place)}) == len(transcripts(place))
    for transcript in transcripts(place):
        sources = [message.source for message in transcript.messages]
        assert None not in sources
        assert all(transcript.place(message).startswith(str(CORPUS)) for message in transcript.messages)


@every_file
def test_usage_is_that_of_responses_and_counted_once(place):
    for transcript in transcripts(place):
        positions = [usage.position for usage in transcript.usage if usage.position is not None]
        assert len(set(positions)) == len(positions)
        assert {transcript.messages[position].role for position in positions} <= {"assistant"}
        assert all(usage.cached <= usage.input and usage.reasoning <= usage.output for usage in transcript.usage)


@every_file
def test_the_context_after_a_compaction_pairs_as_the_story_does(place):
    for transcript in transcripts(place):
        whole = pair(transcript.messages)
        for index in range(len(transcript.compactions)):
            assert len(pair(transcript.after(index)).doubles) <= len(whole.doubles)


def test_the_folder_gives_each_session_once():
    whole = survey(CORPUS)
    ids = {transcript.id for transcript in whole.transcripts}
    assert len(ids) == len(whole.transcripts)
    several = {place for place in ROWS if place.startswith(("opencode/", "atif/terminus"))}
    alone = sum(int(row["sessions"]) for place, row in ROWS.items() if place not in several)
    assert len(whole.transcripts) == alone + int(ROWS["opencode/sessions.json"]["sessions"]) + 1
    assert [reason for reason in whole.unread if "MANIFEST" not in reason] == []
