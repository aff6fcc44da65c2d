"""Markers: every mark that a strategy of ours leaves is known as one, and nothing else is."""

import pytest
import runs

from compactlab import catalog, markers
from compactlab.compaction import Guard, compact
from compactlab.llm.extractive import Extractive
from compactlab.markers import without_markers
from compactlab.readers import read
from compactlab.transcript import readable

ALL = (
    *(value for value in vars(markers).values() if isinstance(value, str) and value.startswith("[")),
    markers.lines_cleared(7),
    markers.middle_cut(12_904),
    markers.messages_cut(1),
    markers.messages_cut(20),
    markers.messages_removed(72),
)


@pytest.mark.parametrize("marker", ALL)
def test_a_marker_goes_and_what_stands_around_it_stays(marker):
    assert without_markers(f"port 5433 {marker} in use") == "port 5433  in use"
    assert without_markers(marker) == ""


@pytest.mark.parametrize("text", ["[a list]", "cleared", "[12 apples cut]", "array[3]", "", "[… and so on …]"])
def test_other_brackets_stay(text):
    assert without_markers(text) == text


@pytest.mark.parametrize("name", catalog.names("strategies"))
def test_no_strategy_leaves_a_line_in_brackets_that_is_no_marker(name):
    (transcript,) = read(runs.FIXTURES / "subagent-tally.jsonl")
    base = transcript.messages[:90]
    own = {block for message in base for block in message.blocks}
    said = "\n".join(readable(block) for block in own)
    done = compact(base, catalog.strategy(name), target=9_000, guard=Guard(runs.meter(), model=Extractive()))
    made = [readable(b) for message in done.messages for b in message.blocks if b not in own]
    lines = {line.strip("> ") for text in made for line in without_markers(text).split("\n")}
    assert [line for line in lines if line.startswith("[") and line.endswith("]") and line not in said] == []
