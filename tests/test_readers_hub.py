"""Data sets by name and in folders, with nothing fetched, and the rows of a run as a data set."""

import os
import subprocess
import sys

import pytest
import runs
from test_readers_rows import ROWS, saved

from compactlab.errors import TranscriptError
from compactlab.readers import read, stream

datasets = pytest.importorskip("datasets")


@pytest.fixture
def folder(tmp_path):
    """A folder as `save_to_disk` makes it."""
    datasets.Dataset.from_list(ROWS[:5]).save_to_disk(tmp_path / "saved")
    return tmp_path / "saved"


def test_a_saved_folder_is_read_by_name_and_as_a_path(folder):
    by_name, as_path = read(f"hf:{folder}"), read(folder)
    assert [t.id for t in by_name] == [f"saved/t-{n}" for n in range(5)]
    assert [t.messages for t in by_name] == [t.messages for t in as_path]
    assert len({t.id for t in as_path}) == 5
    assert by_name[3].place(by_name[3].messages[2]) == f"hf:{folder}:train: row 3: messages[2]"


def test_splits_are_read_one_after_the_other_or_alone(tmp_path):
    splits = {"tool": datasets.Dataset.from_list(ROWS[:2]), "xml": datasets.Dataset.from_list(ROWS[:1])}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "d")
    assert [t.id for t in read(f"hf:{tmp_path / 'd'}")] == ["d-tool/t-0", "d-tool/t-1", "d-xml/t-0"]
    assert [t.id for t in read(f"hf:{tmp_path / 'd'}:xml")] == ["d/t-0"]
    with pytest.raises(TranscriptError, match="no split 'ticks'; expected one of tool, xml"):
        read(f"hf:{tmp_path / 'd'}:ticks")


def test_a_folder_of_parquet_files_is_read_as_a_data_set(tmp_path):
    (tmp_path / "data").mkdir()
    saved(tmp_path / "data" / "train-00000-of-00001.parquet", ROWS)
    assert [t.id for t in stream(f"hf:{tmp_path / 'data'}", limit=2)] == ["data/t-0", "data/t-1"]


def test_without_a_network_an_unknown_data_set_is_one_line_at_once():
    code = "from compactlab.readers import read; read('hf:nobody/nothing-at-all')"
    away = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=away, timeout=60
    )
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("compactlab.errors.TranscriptError: hf:nobody/nothing-at-all: cannot be loaded (")
    assert last.endswith("set HF_HUB_OFFLINE=0 to fetch it")


def test_without_datasets_the_error_names_the_extra():
    code = "import sys; sys.modules['datasets'] = None; from compactlab.readers import read; read('hf:a/b')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'compactlab[data]'" in ended.stderr.splitlines()[-1]


def test_a_run_is_a_data_set_with_the_columns_of_its_frame():
    results = runs.short().results
    held, frame = results.to_dataset(), results.to_frame()
    assert held.column_names == list(frame.columns)
    assert held.num_rows == len(frame) > 0
    assert held[0] == frame.iloc[0].to_dict()
