"""Real files of many tools, where they lie at hand: ours are read whole, all others are refused and never mistaken."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from compactlab import catalog
from compactlab.history import pair
from compactlab.readers import read, sniff
from compactlab.readers._files import sample
from compactlab.transcript import ToolCall, ToolResult

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file()) if CORPUS.is_dir() else []
KNOWN = {
    "claude-code-erk": "claude_code",
    "claude-code-openagents": "claude_code",
    "claude-code-spotter": "claude_code",
    "claude-code-viewer": "claude_code",
    "claude-format-fixture": "claude_code",
    "openai-chat": "openai_chat",
    "swe-agent/ft_xml_example.jsonl": "openai_chat",
}
OURS = ("anthropic_messages", "claude_code", "compactlab", "openai_chat")
COMPACTIONS = {"4d5611e5-241a": 1, "ae4a77f8": 1, "41140470": 2, "34748be3": 1, "claude-code-example": 1, "fe5e1c67": 0}

pytestmark = pytest.mark.skipif(
    not FILES, reason="no corpus: set COMPACTLAB_CORPUS to a folder of recorded transcripts"
)


def place(path):
    return path.relative_to(CORPUS).as_posix()


def owner(path):
    return KNOWN.get(place(path)) or KNOWN.get(place(path).split("/")[0])


@pytest.fixture(params=[path for path in FILES if owner(path) == "claude_code"], ids=place)
def claude_file(request):
    return request.param


@pytest.mark.parametrize("path", FILES, ids=place)
def test_each_file_is_claimed_by_its_own_reader_alone(path):
    seen = sample(path)
    sure = {name: catalog.load("readers", name).sniff(seen) if seen.values else 0.0 for name in OURS}
    assert {name for name, confidence in sure.items() if confidence > 0} == ({owner(path)} if owner(path) else set())


@pytest.mark.parametrize("path", [path for path in FILES if owner(path)], ids=place)
def test_each_file_of_a_known_format_is_read(path):
    assert sniff(path) == owner(path)
    transcripts = read(path)
    assert all(transcript.messages for transcript in transcripts)
    assert len({transcript.id for transcript in transcripts}) == len(transcripts)
    assert all(transcript.problems == () for transcript in transcripts)


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


def test_nothing_of_a_real_claude_code_file_is_lost_or_doubled(claude_file):
    if "format-fixture" in place(claude_file):
        pytest.skip("its uuids are all trimmed to one")
    transcripts = read(claude_file)
    blocks = [block for transcript in transcripts for message in transcript.messages for block in message.blocks]
    calls = Counter(block.id for block in blocks if isinstance(block, ToolCall))
    results = Counter(block.call_id for block in blocks if isinstance(block, ToolResult))
    length = sum(len(block.text) for block in blocks if hasattr(block, "text") and type(block).__name__ == "Text")
    assert (calls, results, length) == recorded(claude_file)
    for transcript in transcripts:
        pairing = pair(transcript.messages)
        assert (pairing.open_calls, pairing.orphans, pairing.doubles) == ((), (), ())


@pytest.mark.parametrize(("start", "count"), COMPACTIONS.items())
def test_recorded_compactions_stand_before_their_summary(start, count):
    [path] = [path for path in FILES if owner(path) == "claude_code" and path.name.startswith(start)]
    main = read(path)[0]
    assert len(main.compactions) == count
    for compaction in main.compactions:
        assert main.messages[compaction.position].text.startswith("This session is being continued")
        assert main.messages[compaction.position].synthetic
        assert main.view(compaction.position + 1) == (compaction.position,)
