"""A session longer than the model's window, in a batch: all that can be asked together is asked in one round."""

import json

import pytest
import runs
from replies import SUMMARY

from compactlab.harness import Settings, run
from compactlab.llm.batch import import_results, waiting
from compactlab.settings import Project

NOTE = "- I promised Bea that I never suggest a home."
WINDOWS = {"summary(preserve_recent=4)": 3_600, "sliding_reflect(preserve_recent=4, max_note_tokens=20)": 2_200}


def running(tmp_path, spec):
    llm = {"window": WINDOWS[spec]}
    project = Project(llm=llm).asking(f"batch:{tmp_path / 'batch'}", "m")
    settings = Settings(strategies=(spec,), cuts=(0.8,), jobs=1, counter="chars/4", project=project)
    return run(runs.FIXTURES / "primary-move.jsonl", tmp_path / "run", settings)


def rounds(tmp_path, spec):
    """Run, answer what waits, and run again until nothing waits: the purposes of each round's requests, and the run."""
    asked = []
    while (done := running(tmp_path, spec)).pending:
        lines = [json.loads(line) for line in (tmp_path / "batch" / "asked.jsonl").read_text().splitlines()]
        asked.append([line["purpose"] for line in lines])
        text = SUMMARY if spec.startswith("summary") else NOTE
        rows = [json.dumps({"custom_id": line["key"], "text": text}) for line in lines]
        (tmp_path / "results.jsonl").write_text("\n".join(rows), encoding="utf-8")
        assert import_results(tmp_path / "batch", tmp_path / "results.jsonl").waiting == 0
        assert len(asked) < 9
    return asked, done


@pytest.mark.parametrize("spec", WINDOWS)
def test_a_session_read_in_several_parts_takes_two_rounds(tmp_path, spec):
    asked, done = rounds(tmp_path, spec)
    first, second = asked
    assert set(first) == {"summary" if spec.startswith("summary") else "reflect"}
    assert len(first) >= 4
    assert second == ["merge"]
    [head] = [row for row in done.records if row.metric == "outcome" and row.strategy == spec]
    assert (head.outcome, head.model) == ("applied", "m")
    assert f"read in {len(first)} parts" in head.reason
    assert waiting(tmp_path / "batch") == 0
