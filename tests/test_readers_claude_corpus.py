"""Real files of Claude Code and its SDK, where they lie at hand: nothing lost or doubled, compactions found."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from compactlab.history import pair
from compactlab.readers import read, sniff, write
from compactlab.transcript import Message, Text, ToolCall, ToolResult

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
FILES = sorted(CORPUS.glob("claude-*/*.jsonl"))
STREAM = "024018-autopilot"
COMPACTIONS = {
    "4d5611e5-241a": [(132, "auto", 170_251, 132, 1)],
    "ae4a77f8": [(288, "manual", 142_431, 288, 1)],
    "41140470": [(132, "auto", 155_003, 132, 1), (354, "auto", 155_184, 223, 1)],
    "34748be3": [(115, "auto", 188_424, 115, 1)],
    "claude-code-example": [(0, "unknown", None, 0, 1), (284, "unknown", None, 285, 1)],
    "fe5e1c67": [],
    STREAM: [(432, "auto", 155_037, 432, 1)],
}

pytestmark = pytest.mark.skipif(
    not FILES, reason="no corpus: set COMPACTLAB_CORPUS to a folder of recorded transcripts"
)


def place(path):
    return path.relative_to(CORPUS).as_posix()


def starting(name):
    [path] = [path for path in FILES if path.name.startswith(name)]
    return path


def recorded(path):
    """Ids of the calls and results in a file, and the length of its texts; errors shown to the user aside."""
    calls, results, length = Counter(), Counter(), 0
    for line in path.read_bytes().split(b"\n"):
        record = json.loads(line) if line.strip() else {}
        if record.get("type") not in {"user", "assistant"} or record.get("isApiErrorMessage"):
            continue
        content = record["message"]["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        calls.update(block["id"] for block in blocks if block["type"] == "tool_use")
        results.update(block["tool_use_id"] for block in blocks if block["type"] == "tool_result")
        length += sum(len(block["text"]) for block in blocks if block["type"] == "text")
    return calls, results, length


@pytest.mark.parametrize("path", FILES, ids=place)
def test_each_file_is_known_and_read_without_a_fault(path):
    assert sniff(path) == ("claude_stream" if STREAM in path.name else "claude_code")
    transcripts = read(path)
    assert all(transcript.intake.problems == () for transcript in transcripts)
    assert all(transcript.intake.unknown == {} for transcript in transcripts)
    assert sum(transcript.intake.records for transcript in transcripts) == path.read_bytes().count(b"\n")


@pytest.mark.parametrize("path", [path for path in FILES if "format-fixture" not in place(path)], ids=place)
def test_nothing_of_a_file_is_lost_or_doubled(path):
    transcripts = read(path)
    made = [entry for t in transcripts for c in t.compactions for entry in c.after if isinstance(entry, Message)]
    told = [*(message for transcript in transcripts for message in transcript.messages), *made]
    blocks = [block for message in told for block in message.blocks]
    calls = Counter(block.id for block in blocks if isinstance(block, ToolCall))
    results = Counter(block.call_id for block in blocks if isinstance(block, ToolResult))
    length = sum(len(block.text) for block in blocks if isinstance(block, Text))
    assert (calls, results, length) == recorded(path)
    for transcript in transcripts:
        pairing = pair(transcript.messages)
        assert (pairing.open_calls, pairing.orphans, pairing.doubles) == ((), (), ())


@pytest.mark.parametrize(("start", "expected"), COMPACTIONS.items())
def test_recorded_compactions_have_their_contexts(start, expected):
    main = read(starting(start))[0]
    found = [
        (c.position, c.trigger, c.tokens_before, len(main.before(i)), len(main.after(i)))
        for i, c in enumerate(main.compactions)
    ]
    assert found == expected
    for place_of, compaction in enumerate(main.compactions):
        [summary] = main.after(place_of)
        assert summary.text == compaction.summary
        assert summary.text.startswith("This session is being continued")
        assert (summary.role, summary.synthetic) == ("user", True)
        assert compaction.summary not in [message.text for message in main.messages]


def test_the_recorded_summariser_is_that_of_its_session():
    name = "4d5611e5-241a-462a-8d15-5122611a9569"
    alone = read(starting(name))[0]
    assert alone.compactions[0].summariser == f"{name}-agent-acompact-e1f845"
    folder = {transcript.id: transcript for transcript in read(starting(name).parent)}
    assert folder[name].compactions == alone.compactions
    assert folder[f"{name}-agent-acompact-e1f845"].agent_type == "subconscious"
    assert folder[f"{name}-agent-a2898e3"].agent_type == "subagent"
    assert {folder[of].cluster for of in folder if of.startswith(name)} == {name}


@pytest.mark.parametrize("path", [path for path in FILES if "format-fixture" not in place(path)], ids=place)
def test_what_was_read_comes_back_equal_when_it_was_written(tmp_path, path):
    def bare(message):
        return replace(message, source=None) if isinstance(message, Message) else message

    for transcript in read(path):
        write(transcript, tmp_path / "x.jsonl", "claude_code")
        [back] = read(tmp_path / "x.jsonl")
        assert [*map(bare, back.messages)] == [*map(bare, transcript.messages)]
        assert [[*map(bare, c.after)] for c in back.compactions] == [
            [*map(bare, c.after)] for c in transcript.compactions
        ]
        assert back.usage == transcript.usage
        assert (back.id, back.agent_type, back.cluster) == (transcript.id, transcript.agent_type, transcript.cluster)
