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
from compactlab.readers import read
from compactlab.summary import summarise
from compactlab.tokens import Meter
from compactlab.validity import broken

BESIDE = runs.CHECKOUT.parent / "shared" / "transcripts"
CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS", BESIDE))
BIG = 500_000
A_FILE = 5  # sessions of one file that are looked at

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="no COMPACTLAB_CORPUS and no folder of transcripts here")


@cache
def files():
    return [path for path in sorted(CORPUS.glob("*/*")) if path.is_file()]


@cache
def transcripts():
    return {t.id: t for path in files() for t in read(path, limit=A_FILE)}


@cache
def finished():
    """Run three strategies over all that is not too large to be run in a test."""
    small = [path for path in files() if path.stat().st_size < BIG and "opencode" not in str(path)]
    settings = Settings(strategies=runs.STRATEGIES, cuts=(0.4, 0.85), jobs=2, limit=A_FILE)
    return run(small, runs.scratch() / "corpus-run", settings)


def test_sessions_of_most_formats_are_looked_at():
    assert len({transcript.format for transcript in transcripts().values()}) >= 22


def test_a_run_over_them_has_no_error_row():
    heads = [r for r in finished().records if r.metric == "outcome"]
    assert len({r.session for r in heads}) >= 20
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
        view = transcript.view(len(transcript.messages))
        result = compact(view, strategy, guard=Guard(Meter(), model=Extractive()))
        fresh = broken(result.messages) - broken(repair(view).messages)
        if fresh or result.receipt.outcome == "failed":
            faults[name] = (result.receipt.outcome, result.receipt.reason, sorted(fresh))
    assert faults == {}


def test_nothing_of_them_lies_in_the_checkout():
    names = {path.name for path in files()}
    assert not names & {path.name for path in (runs.CHECKOUT / "fixtures").rglob("*")}
