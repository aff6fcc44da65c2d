"""docs/frames.md names every column of every frame and every metric that a run records, and none besides."""

import re

import pytest
import runs
from model_server import ModelServer, completion

from compactlab.answering import Answer
from compactlab.harness import Settings, run
from compactlab.records import NeededFact, Record
from compactlab.results import Results
from compactlab.settings import Project

PAGE = (runs.CHECKOUT / "docs" / "frames.md").read_text(encoding="utf-8")
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
RECORDED = runs.CHECKOUT.parent / "shared" / "transcripts"


def told(title):
    """The names in the first cells of a section's tables."""
    rows = [line.split("|")[1] for line in SECTIONS[title].split("\n") if line.startswith("|")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


METRICS = {title: told(title) for title in SECTIONS if title.startswith("Metrics")}
CUTS, HARNESSES, REPLAYS = (
    METRICS[f"Metrics of a {what}"] for what in ("run that cuts sessions", "run over recorded compactions", "replay")
)


def named(results):
    return {record.metric for record in results.records}


def test_every_column_of_the_records_is_told():
    assert told("`to_frame()`: a row a record") == set(Record.__struct_encode_fields__)
    assert list(runs.short().results.to_frame().columns) == list(Record.__struct_encode_fields__)


def test_every_column_of_the_needed_facts_is_told():
    assert told("`facts_frame()`: a row a needed fact and strategy") == set(NeededFact.__struct_fields__)


def test_every_column_of_the_answers_is_told():
    own = {"session", "cut", "strategy", "budget", "pass_replicate", "verdict", "grade_..."}
    assert told("`answers_frame()`: a row an answer") == own | set(Answer.__struct_fields__) - {"grades"}


def test_every_metric_that_a_run_of_cuts_records_is_told():
    assert named(runs.short().results) <= CUTS


def test_every_metric_of_a_reader_is_told(tmp_path):
    with ModelServer(completion("It is 88057.")) as server:
        llm = {"base_url": server.url}
        project = Project(llm=llm).examining("live:reader", "live:judge")
        settings = Settings(strategies=("none",), cuts=(0.7,), project=project, jobs=1)
        results = run(runs.CHECKOUT / "fixtures" / "short", tmp_path / "run", settings)
    found = named(results)
    assert {"answer_right", "answer_gap", "ungraded"} <= found <= CUTS


def test_every_metric_of_a_replay_is_told(tmp_path):
    settings = Settings(mode="replay", window=20_000, policies=("microcompact", "sliding_window"), jobs=2)
    found = named(run(runs.short_transcripts(), tmp_path / "run", settings))
    assert {"decay_bound", "task_tokens", "pays"} <= found <= REPLAYS | {"outcome"}


@pytest.mark.skipif(not RECORDED.is_dir(), reason="no third-party transcripts are here")
def test_every_metric_of_recorded_compactions_is_told(tmp_path):
    settings = Settings(mode="recorded", strategies=("sliding_window",), jobs=1)
    files = [path for path in RECORDED.rglob("*") if path.is_file() and "/pi-mono/" in path.as_posix()]
    found = named(run(files, tmp_path / "run", settings))
    assert {"harness", "told_before", "trigger"} <= found <= CUTS | HARNESSES


def test_no_metric_is_told_twice():
    assert not CUTS & HARNESSES
    assert {"supplied_again"} == CUTS & REPLAYS


def test_the_frames_are_those_of_the_results():
    for name in re.findall(r"results\.(\w+)\(", PAGE):
        assert callable(getattr(Results, name))
