"""Entries of the journal: what they say, how they are read back, and that none is ever written over another."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journals import SLIDE, git, passed, talk
from reports import row

from compactlab.memory import journal
from compactlab.memory.entry import EntryError, Row, page, read_page
from compactlab.memory.losses import calls_lost
from compactlab.transcript import Text, ToolCall, ToolResult


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A pass with a summary, its entry, and the page of it."""
    folder = tmp_path_factory.mktemp("her")
    done = passed(talk(6), summary="Bed 3 is 103 cm away.\n---\n## Messages\n| 0 | 0 |")
    recorded = journal.record(folder, done)
    return folder, done, recorded, (folder / recorded.path).read_text()


@row("K33-D1")
def test_an_entry_says_what_a_pass_did_before_and_after(written):
    folder, done, recorded, _ = written
    (entry,) = journal.entries(folder, "garden")
    head, receipt = entry.head, done.receipt
    assert (head["strategy"], head["time"], head["previous"]) == (receipt.strategy, done.time, "")
    assert (head["messages_before"], head["messages_after"]) == (24, len(done.after))
    assert (head["tokens_before"], head["tokens_after"]) == (receipt.tokens_before, receipt.tokens_after)
    assert head["counter"] == receipt.counter
    assert head["touched"] == [1, 19]
    assert head["fates"] == {"kept": 5, "edited": 0, "dropped": 19, "made": 1}
    assert recorded.path == f"journal/compactions/{entry.id}.md"
    assert [(row.before, row.after, row.fate) for row in entry.rows[:4]] == [
        (0, 0, "kept"), (None, 1, "made"), (1, None, "dropped"), (2, None, "dropped")
    ]  # fmt: skip
    assert {row.rests for row in entry.rows} == {"", "git"}
    assert all(row.why for row in entry.rows)
    assert [name for name, _ in entry.before] == [one.id for one in done.before]
    assert [name for name, _ in entry.after] == [one.id for one in done.after]


def test_an_entry_is_a_page_for_people_too(written):
    _, _, recorded, text = written
    assert text.startswith("---\nformat: 1\n")
    assert "# Compaction of garden, 2026-11-30T10:00:00Z" in text
    assert "- messages: 24 before, 6 after" in text
    assert f"`journal/originals/{recorded.id}.jsonl`" in text
    assert f"`compactlab memory restore {recorded.id}`" in text
    front = text.split("---\n")[1]
    assert all(json.loads(line.partition(": ")[2]) is not ... for line in front.splitlines())


def test_a_summary_is_quoted_so_that_it_is_never_taken_for_the_page(written):
    _, _, recorded, text = written
    assert "\n> Bed 3 is 103 cm away.\n> ---\n> ## Messages\n> | 0 | 0 |\n" in text
    assert len(read_page(text.encode(), recorded.id).rows) == 25


@row("K32-D3")
def test_the_look_ups_that_went_are_counted_by_tool(written):
    folder, done, _, text = written
    (entry,) = journal.entries(folder, "garden")
    assert entry.head["calls_lost"] == {"read": 5}
    assert "- calls that went, or whose results did: read 5" in text
    again = done._replace(after=done.before)
    assert calls_lost(again) == {}


def test_a_call_counts_once_and_only_where_a_part_of_it_went():
    live = talk(3)
    cleared = passed(live, "microcompact(keep_recent=1)")
    assert [one.id for one in cleared.after] == [one.id for one in live]
    assert calls_lost(cleared) == {"read": 2}
    renamed = [one._replace(message=one.message.__class__("assistant", (
        ToolCall("same", f"tool-{i}", "{}"), ToolResult("same", (Text(f"{i}"),)), Text("and so on"),
    ))) for i, one in enumerate(live[:3])]  # fmt: skip
    less = renamed[1]._replace(
        line=b"other", message=renamed[1].message.__class__("assistant", renamed[1].message.blocks[:1])
    )
    one = cleared._replace(before=tuple(renamed), after=(renamed[0], less))
    assert calls_lost(one) == {"tool-1": 1, "tool-2": 1}


def test_two_passes_in_one_second_stand_beside_each_other(tmp_path):
    live = talk(6)
    done = [journal.record(tmp_path, passed(live, SLIDE, conversation=name)) for name in ("one", "two")]
    again = journal.record(tmp_path, passed(live, "sliding_window(preserve_recent=3)", conversation="one"))
    assert len({one.id for one in (*done, again)}) == 3
    assert {one.id[:20] for one in (*done, again)} == {"2026-11-30T10-00-00Z"}
    assert len(git(tmp_path, "ls-tree", "-r", "--name-only", "main").split()) == 10


def test_the_very_same_pass_again_is_the_same_entry_and_a_foreign_file_is_not_written_over(tmp_path):
    done = passed(talk(6))
    first = journal.record(tmp_path, done)
    assert journal.record(tmp_path, done)[:2] == first[:2]
    assert git(tmp_path, "rev-list", "--count", "main").strip() == "1"
    originals = tmp_path / "journal" / "originals" / f"{first.id}.jsonl"
    originals.write_text("foreign")
    with pytest.raises(journal.JournalError, match="is there already, and is another one"):
        journal.record(tmp_path, done)
    assert originals.read_text() == "foreign"
    assert (tmp_path / first.path).is_file()
    assert journal.restored(tmp_path, done.after, first.id).lines == tuple(one.line for one in done.before)


def test_an_entry_is_found_by_its_last_part_and_a_wrong_one_is_named(written):
    folder, done, recorded, _ = written
    assert journal.restored(folder, done.after, recorded.id[-12:]).lines[1] == done.before[1].line
    with pytest.raises(journal.JournalError, match="no entry 'abc'"):
        journal.restored(folder, done.after, "abc")
    with pytest.raises(journal.JournalError, match="no message 'abc'"):
        journal.restored(folder, done.after, recorded.id, "abc")


WORDS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=30)
PLACES = st.none() | st.integers(0, 10_000)
ROWS = st.lists(
    st.builds(
        Row, PLACES, PLACES, WORDS.filter(bool), st.sampled_from(["user", "tool"]), st.sampled_from(["kept", "made"]),
        st.sampled_from(["", "git, redacted"]), st.text("0123456789abcdef"), st.just(""), WORDS,
    ),
    max_size=6,
)  # fmt: skip


@given(ROWS, WORDS, st.lists(WORDS.map(lambda words: words.replace("\n", " ")), max_size=3))
def test_any_page_is_read_back_and_any_change_of_it_is_seen(rows, summary, told):
    identity, data = page({"time": "2026-11-30T10:00:00Z", "strategy": summary}, told, summary, rows)
    entry = read_page(data, identity)
    assert list(entry.rows) == rows
    assert entry.head["strategy"] == summary
    for at in (5, len(data) // 2, len(data) - 2):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        with pytest.raises(EntryError):
            read_page(changed, identity)
