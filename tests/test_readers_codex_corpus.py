"""Real rollouts, where they lie at hand: nothing of them is lost or doubled, and all their compactions are found."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from compactlab.history import pair
from compactlab.readers import read, sniff, write

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
FILES = sorted(CORPUS.glob("codex*/*.jsonl")) if CORPUS.is_dir() else []

pytestmark = pytest.mark.skipif(
    not FILES, reason="no corpus: set COMPACTLAB_CORPUS to a folder of recorded transcripts"
)

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)


def items(path):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [record.get("payload", record) for record in records if record.get("type") not in {"event_msg", "compacted"}]


@every_file
def test_calls_results_and_encrypted_reasoning_are_all_there(path):
    assert sniff(path) == "codex"
    [found] = read(path)
    recorded = Counter(item.get("type") for item in items(path))
    calls = sum(number for kind, number in recorded.items() if str(kind).endswith("_call"))
    results = sum(number for kind, number in recorded.items() if str(kind).endswith("_output"))
    results += recorded["image_generation_call"]
    assert sum(len(message.calls) for message in found.messages) == calls
    assert sum(len(message.results) for message in found.messages) == results
    opaque = [i["encrypted_content"] for i in items(path) if i.get("type") == "reasoning" and i["encrypted_content"]]
    assert Counter(opaque) <= Counter(getattr(b, "opaque", None) for m in found.messages for b in m.blocks)
    assert found.intake.unknown == {}
    assert found.intake.problems == ()


@every_file
def test_a_real_rollout_that_was_written_again_reads_the_same(path, tmp_path):
    [found] = read(path)
    write(found, tmp_path / "again.jsonl", "codex")
    [again] = read(tmp_path / "again.jsonl")
    assert [(m.role, m.blocks, m.synthetic, m.timestamp) for m in again.messages] == [
        (m.role, m.blocks, m.synthetic, m.timestamp) for m in found.messages
    ]
    assert again.usage == found.usage
    for index in range(len(found.compactions)):
        assert [m.blocks for m in again.after(index)] == [m.blocks for m in found.after(index)]


def test_a_rollout_of_2025_has_each_call_paired_and_each_response_counted():
    [path] = [path for path in FILES if path.parent.name == "codex"]
    [found] = read(path)
    pairing = pair(found.messages)
    assert (pairing.open_calls, pairing.orphans, pairing.doubles) == ((), (), ())
    said = [index for index, message in enumerate(found.messages) if message.role == "assistant"]
    assert [usage.position for usage in found.usage] == said
    assert len(said) == 39
    assert sum(usage.input for usage in found.usage) == 1_099_261


def test_all_compactions_of_the_rollout_with_every_record_are_found():
    [path] = [path for path in FILES if path.parent.name == "codex-format-fixture"]
    [found] = read(path)
    assert [told.position for told in found.compactions] == [9, 12, 14, 14, 14, 17]
    assert [len(found.before(index)) for index in range(6)] == [9, 5, 11, 22, 28, 69]
    assert [len(found.after(index)) for index in range(6)] == [2, 9, 22, 28, 66, 14]
