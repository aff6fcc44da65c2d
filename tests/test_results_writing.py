"""A run that goes on holds the places of what is written, not the rows."""

import shutil
import tracemalloc

import runs

from compactlab.records import Block
from compactlab.results import Results
from compactlab.results.writing import Writer


def test_a_run_that_goes_on_does_not_hold_the_rows_that_are_written(tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(runs.short().results.folder, folder)
    rows = (folder / "records.jsonl").read_bytes()
    made_by = {record.key: record.made_by for record in Results(folder).records if record.metric == "outcome"}
    manifest = Results(folder).manifest
    tracemalloc.start()
    writer = Writer(folder, manifest, made_by.__getitem__)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert writer.done == made_by.keys()
    for key in made_by:
        writer.keep(key)
    writer.close()
    assert (folder / "records.jsonl").read_bytes() == rows
    assert most < len(rows) / 4


def test_what_stands_behind_a_new_block_is_kept_in_its_later_place(tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(runs.short().results.folder, folder)
    earlier = Results(folder)
    rows, left = earlier.records, list(earlier.left)
    heads = [record for record in rows if record.metric == "outcome"]
    changed = heads[7].key
    made_by = {record.key: record.made_by for record in heads} | {changed: "another digest"}
    writer = Writer(folder, earlier.manifest, made_by.__getitem__)
    assert writer.done == made_by.keys() - {changed}
    for head in heads:
        if head.key == changed:
            writer.write(Block(tuple(row for row in rows if row.key == changed), dict(left).get(changed)))
        else:
            writer.keep(head.key)
    writer.close()
    assert Results(folder).records == rows
    assert list(Results(folder).left) == left
