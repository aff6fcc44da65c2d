"""Runs that fail in part, are killed, or are shown in notebooks, as cases that users of other systems reported."""

import asyncio
import json
import subprocess
import sys
from collections import Counter

import pytest
import runs
from reports import row
from test_resume import contents, ended, killed, size, start, undisturbed

from compactlab.errors import RunError
from compactlab.harness import Settings, run
from compactlab.readers import read
from compactlab.report import Report
from compactlab.results import Results

QUICK = {"cuts": (0.6,), "counter": "chars/4", "jobs": 1}
HALF = """
from dataclasses import dataclass
from compactlab.strategies import Compacted, Strategy

@dataclass(frozen=True, repr=False)
class Half(Strategy):
    def compact(self, messages, context):
        if "{word}" in messages[0].text:
            raise ValueError("no way through")
        return Compacted(messages[-1:])
"""


@row("K31-D1")
def test_a_case_that_fails_is_a_row_with_its_reason_and_is_counted_and_is_no_number(tmp_path, monkeypatch):
    """Of the three sessions one fails: the first, whose first message alone holds the word."""
    first = [transcript.messages[0].text for transcript in read_all()]
    word = next(word for word in first[0].split() if word.isalpha() and not any(word in text for text in first[1:]))
    (tmp_path / "half_ideas.py").write_text(HALF.format(word=word), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    results = run(runs.short_transcripts(), tmp_path / "run", Settings(("half_ideas:Half",), **QUICK))
    heads = [r for r in results.records if r.metric == "outcome" and r.strategy == "half_ideas:Half" and not r.size_of]
    assert Counter(head.outcome for head in heads)["failed"] == 1
    failed = next(head for head in heads if head.outcome == "failed")
    assert failed.reason == "ValueError: no way through"
    (shown,) = [line for line in Report(results).summary.rows if line.label == "half_ideas:Half"]
    assert shown.errors == 1
    assert shown.bound.n == 2


def read_all():
    return sorted(read(runs.short_transcripts()), key=lambda transcript: transcript.id)


@row("K31-D2")
def test_a_run_works_where_an_event_loop_is_running(tmp_path):
    async def cell():
        await asyncio.sleep(0)
        return run(runs.short_transcripts(), tmp_path / "run", Settings(("none",), **QUICK))

    assert asyncio.run(cell()).records


@row("K31-D3")
@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"cuts": (0.5,)}, {"counter": "o200k_base"}, {"strategies": ("cull",)}, {"replicates": 2}]
)
def test_a_folder_of_another_run_is_refused_and_stays_as_it_was(tmp_path, other):
    plain = {"strategies": ("none",), **QUICK}
    folder = run(runs.short_transcripts(), tmp_path / "run", Settings(**plain)).folder
    before = (folder / "records.jsonl").read_bytes()
    with pytest.raises(RunError, match="holds a run with another"):
        run(runs.short_transcripts(), folder, Settings(**(plain | other)))
    assert (folder / "records.jsonl").read_bytes() == before
    assert all(r.made_by for r in Results(folder).records if r.metric == "outcome")  # who made it stands in each block


@row("K31-D4")
def test_a_run_killed_half_way_loses_no_row_and_has_none_twice(tmp_path):
    half = len(undisturbed()["records.jsonl"]) // 2
    assert killed(start(tmp_path / "run", 1), lambda: size(tmp_path / "run") >= half)
    assert 0 < size(tmp_path / "run") < 2 * half
    ended(start(tmp_path / "run", 1))
    assert contents(tmp_path / "run") == undisturbed()


@row("K31-D5")
def test_no_notebook_holds_a_number_of_an_older_run():
    books = sorted((runs.CHECKOUT / "notebooks").glob("*.ipynb"))
    assert len(books) == 7
    cells = [cell for book in books for cell in json.loads(book.read_text(encoding="utf-8"))["cells"]]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)


def test_what_a_figure_shows_is_signed_by_the_run_that_it_is_of(tmp_path):
    results = run(runs.short_transcripts(), tmp_path / "run", Settings(("none", "cull"), **QUICK))
    line = [sys.executable, "-m", "compactlab", "report", results.folder, "--figure", tmp_path / "f.svg"]
    subprocess.run(line, check=True, capture_output=True)
    assert results.manifest.corpus in (tmp_path / "f.svg").read_text(encoding="utf-8")
