"""Transcripts of other tools, where they are at hand: a run over them ends, with no error row and with no fault."""

import os
from functools import cache
from pathlib import Path

import pytest
import runs

from compactlab.compaction import Guard, compact
from compactlab.harness import DEFAULT_STRATEGIES, Settings, run
from compactlab.history import repair
from compactlab.llm.extractive import Extractive
from compactlab.readers import read, sniff
from compactlab.summary import summarise
from compactlab.tokens import Meter
from compactlab.validity import broken

BESIDE = runs.CHECKOUT.parent / "shared" / "transcripts"
CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS", BESIDE))
FORMATS = {"claude_code", "openai_chat"}
FOLDERS = ("claude-*", "openai-*", "swe-agent")
BIG = 2_500_000

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="no COMPACTLAB_CORPUS and no folder of transcripts here")


@cache
def files():
    found = [path for folder in FOLDERS for path in sorted(CORPUS.glob(f"{folder}/*.json*"))]
    return [path for path in found if known(path)]


def known(path):
    try:
        return sniff(path) in FORMATS
    except ValueError:
        return False


@cache
def transcripts():
    return {t.id: t for path in files() for t in read(path)}


@cache
def finished():
    """Run three strategies over all that is not too large to be run in a test."""
    small = [path for path in files() if path.stat().st_size < BIG]
    return run(small, runs.scratch() / "corpus-run", Settings(strategies=runs.STRATEGIES, cuts=(0.4, 0.85), jobs=2))


def test_files_of_both_formats_were_found():
    assert {sniff(path) for path in files()} == FORMATS
    assert len(files()) >= 6


def test_a_run_over_them_has_no_error_row():
    heads = [r for r in finished().records if r.metric == "outcome"]
    assert len({r.session for r in heads}) >= 5
    assert [(r.session, r.strategy, r.reason) for r in heads if r.outcome == "failed"] == []
    assert summarise(finished()).errors == ()


def test_no_cell_is_invalid_or_parts_a_pair():
    for metric, expected in (("valid", 1.0), ("parted", 0.0)):
        cells = [r for r in finished().records if r.metric == metric]
        assert len(cells) >= 20
        assert [(r.session, r.cut, r.strategy) for r in cells if r.value != expected] == []


def test_none_keeps_everything_and_null_nothing():
    scores = [r for r in finished().records if r.metric == "retention_loose"]
    assert all(r.value == r.n for r in scores if r.strategy == "none")
    assert all(r.value == 0 for r in scores if r.strategy == "null")


def test_random_meets_the_size_of_its_strategy():
    weights = [r for r in finished().records if r.metric == "tokens_after"]
    before = {(r.session, r.cut): r.value for r in finished().records if r.metric == "tokens_before"}
    floor = {(r.session, r.cut): r.value for r in weights if r.strategy == "null"}
    own = {(r.session, r.cut, r.strategy): r.value for r in weights if r.strategy in runs.STRATEGIES}
    far = {}
    for r in weights:
        if r.strategy == "random":
            target = own[r.session, r.cut, r.size_of]
            is_between = floor[r.session, r.cut] < target < before[r.session, r.cut]
            if is_between and abs(r.value / target - 1) > 0.01:
                far[r.session, r.cut, r.size_of] = (r.value, target)
    assert far == {}


@pytest.mark.parametrize("strategy", DEFAULT_STRATEGIES)
def test_no_output_breaks_a_rule_that_its_repaired_input_kept(strategy):
    faults = {}
    for name, transcript in transcripts().items():
        view = [transcript.messages[i] for i in transcript.view(len(transcript.messages))]
        result = compact(view, strategy, guard=Guard(Meter(), model=Extractive()))
        fresh = broken(result.messages) - broken(repair(view).messages)
        if fresh or result.receipt.outcome == "failed":
            faults[name] = (result.receipt.outcome, result.receipt.reason, sorted(fresh))
    assert faults == {}


def test_nothing_of_them_lies_in_the_checkout():
    names = {path.name for path in files()}
    assert not names & {path.name for path in (runs.CHECKOUT / "fixtures").rglob("*")}
