"""Originals: what a pass took out of the list comes back byte for byte, here, on another branch, and in a clone."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journals import SLIDE, begun, git, passed, talk
from reports import row

from compactlab.memory import journal
from compactlab.memory.chain import verified
from compactlab.memory.originals import Store
from compactlab.memory.parts import Kept
from compactlab.transcript import Message, Text


def lines(live):
    return tuple(one.line for one in live)


def run(folder, specs, turns=6, originals="git"):
    """Passes one after the other, with more talk between them; give each list before, the ids, and what is live."""
    live, previous, lists, ids = talk(turns), "", [], []
    for number, spec in enumerate(specs):
        done = passed(live, spec, previous)
        previous = journal.record(folder, done, originals).id
        lists.append(live)
        ids.append(previous)
        live = [*done.after, *talk(2, start=100 * (number + 1))]
    return lists, ids, live


SPECS = ("microcompact(keep_recent=1)", "sliding_window(preserve_recent=4)", SLIDE)


@pytest.mark.parametrize("originals", ["git", "local"])
def test_every_list_before_a_pass_comes_back_byte_for_byte(tmp_path, originals):
    lists, ids, live = run(tmp_path, SPECS, originals=originals)
    for before, entry in zip(lists, ids, strict=True):
        assert journal.restored(tmp_path, live, entry) == (lines(before), (), ())
        assert journal.restored(tmp_path, live, entry, before[3].id).lines == (before[3].line,)
    assert verified(tmp_path, "garden", live, ids[-1]).holds


def test_with_local_originals_no_word_of_them_is_in_git(tmp_path):
    _, ids, _ = run(tmp_path, SPECS, originals="local")
    told = git(tmp_path, "log", "-p", "--all")
    assert "Bed 0" not in told
    assert "kale" not in told
    assert all(entry in told for entry in ids)


@row("K25-D6")
def test_no_line_is_stored_twice_however_many_passes_carried_it_over(tmp_path):
    run(tmp_path, ("sliding_window(preserve_recent=5)", "sliding_window(preserve_recent=4)", SLIDE))
    stored = [
        line for path in (tmp_path / "journal" / "originals").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    assert len(stored) == len(set(stored)) > 20


@row("K25-D6")
def test_three_passes_with_a_tail_of_five_keep_five_copies_of_it(tmp_path):
    tail = [Kept(f"tail-{i}", b'{"tail": %d}' % i, Message("user", (Text(f"t{i}"),))) for i in range(5)]
    previous = ""
    for number in range(3):
        head = talk(3, start=10 * number)
        done = passed(talk(6), SLIDE, previous, before=(*head, *tail), after=tuple(tail))
        previous = journal.record(tmp_path, done).id
    done = passed(talk(6), SLIDE, previous, before=tuple(tail), after=())
    last = journal.record(tmp_path, done).id
    stored = "".join(path.read_text() for path in (tmp_path / "journal" / "originals").glob("*.jsonl"))
    assert stored.count('"tail"') == 5
    assert journal.restored(tmp_path, [], last).lines == lines(tail)


ODD_LINES = {
    "spaces and other keys": b'{ "role":"user" ,"type": "message","content":"Hi","id":"odd", "more": [1, 2.50]}',
    "a lone surrogate": b'{"type": "message", "role": "user", "content": "\\ud83d", "id": "odd"}',
    "a carriage return": b'{"type": "message", "role": "user", "content": "a\\r\\nb", "id": "odd"}\r',
    "no UTF-8": b'{"type": "message", "role": "user", "content": "caf\xe9", "id": "odd"}',
    "200 kB": b'{"type": "message", "role": "user", "content": "%s", "id": "odd"}' % (b"word " * 40_000),
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_a_line_comes_back_as_it_was_written_by_whomever(tmp_path, name):
    odd = Kept("odd", ODD_LINES[name], Message("user", (Text("Hi"),)))
    live = talk(4)
    done = passed(live, before=(*live, odd), after=tuple(live))
    entry = journal.record(begun(tmp_path / "her"), done).id
    git(tmp_path, "-c", "core.autocrlf=true", "clone", "-q", "her", "clone")
    for folder in (tmp_path / "her", tmp_path / "clone"):
        assert journal.restored(folder, live, entry, "odd").lines == (odd.line,)


def test_a_clone_restores_what_is_not_live_any_more(tmp_path):
    lists, ids, live = run(begun(tmp_path / "her"), SPECS)
    git(tmp_path, "clone", "-q", "her", "clone")
    for before, entry in zip(lists, ids, strict=True):
        assert journal.restored(tmp_path / "clone", live, entry).lines == lines(before)


def test_without_git_what_lies_in_the_folder_is_restored(tmp_path, monkeypatch):
    lists, ids, live = run(tmp_path, SPECS)
    monkeypatch.setenv("PATH", "")
    assert journal.restored(tmp_path, live, ids[0]).lines == lines(lists[0])
    assert verified(tmp_path, "garden", live, ids[-1]).holds


class Paper:
    """A journal without a repository: what a pass writes, without the commit."""

    def __init__(self, folder):
        self.store = Store(folder)
        self.store.prepare()

    def record(self, done, originals):
        identity, files = journal._composed(self.store, done, originals)
        self.store.write(files)
        return identity


PASSES = st.lists(
    st.tuples(
        st.sampled_from([*SPECS, "cull", "key_value(preserve_recent=2)", "sliding_window(preserve_recent=1)"]),
        st.integers(1, 3),
        st.sampled_from(["git", "local"]),
    ),
    min_size=1,
    max_size=5,
)
COUNT = itertools.count()


@settings(max_examples=15)
@given(PASSES)
def test_whatever_is_passed_and_appended_every_list_can_be_put_together_again(tmp_path_factory, passes):
    folder = tmp_path_factory.mktemp(f"paper{next(COUNT)}")
    paper, live, previous, lists = Paper(folder), talk(3), "", {}
    for spec, turns, originals in passes:
        live = [*live, *talk(turns, start=next(COUNT) * 10)]
        try:
            done = passed(live, spec, previous)
        except AssertionError:  # nothing to do for this strategy
            continue
        previous = paper.record(done, originals)
        lists[previous] = live
        live = list(done.after)
    proof = verified(folder, "garden", live, previous)
    assert (proof.faults, proof.entries) == ((), tuple(lists))
    for entry, before in lists.items():
        assert journal.restored(folder, live, entry) == (lines(before), (), ())
