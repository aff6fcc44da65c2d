"""Reader and judge by the small model on this machine: poor answers, honestly counted, the same again from a store."""

import os

import pytest
import runs
from test_llm_local import local

from compactlab.llm.weights import FOLDER, find
from compactlab.results import Results

SHORT = runs.CHECKOUT / "fixtures" / "short"
FILES = ("records.jsonl", "compactions.jsonl")


@pytest.fixture
def place(tmp_path):
    """The short session with two of its probes, and settings that name the local model."""
    session = tmp_path / "subagent-loop.jsonl"
    session.write_bytes((SHORT / session.name).read_bytes())
    probes = (SHORT / "subagent-loop.probes.jsonl").read_text(encoding="utf-8").splitlines()[:2]
    (tmp_path / "subagent-loop.probes.jsonl").write_text("\n".join(probes), encoding="utf-8")
    (tmp_path / "compactlab.toml").write_text('[llm]\nkind = "local"\n', encoding="utf-8")
    return tmp_path


@local
def test_a_small_model_reads_and_judges_and_its_answers_come_again_from_the_store_byte_for_byte(place):
    common = ("subagent-loop.jsonl", "--cut", "0.4", "--strategies", "none", "sliding_window(preserve_recent=4)")
    ask = ("run", *common, "--reader", "local", "--judge", "local", "--jobs", 1)
    done = runs.command(*ask, "--llm", "record:store", "--out", "first", cwd=place)
    assert done.returncode == 0, done.stderr
    results = Results(place / "first")
    assert results.manifest.reader == results.manifest.judge
    assert "smollm2" in results.manifest.reader
    assert "of one family (SmolLM)" in done.stderr
    answers = [answer for _, answer in results.answers]
    assert {answer.probe for answer in answers} == {"subagent-loop-01", "subagent-loop-02"}
    assert all(answer.text or answer.failed for answer in answers)
    without = {name: value for name, value in os.environ.items() if name != FOLDER}
    again = runs.command(*ask, "--llm", "replay:store", "--out", "again", cwd=place, env=without)
    assert again.returncode == 0, again.stderr
    for name in FILES:
        assert (place / "again" / name).read_bytes() == (place / "first" / name).read_bytes()
    assert find() is not None
