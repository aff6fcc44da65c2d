"""The proof that nothing was lost, and that it names whatever is missing or was changed."""

import shutil

import pytest
from journals import SLIDE, begun, git, passed, talk
from test_memory_originals import SPECS, lines, run

from compactlab.memory import journal
from compactlab.memory.chain import verified


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three passes with talk between them, in a repository."""
    folder = begun(tmp_path_factory.mktemp("verify") / "her")
    return folder, *run(folder, SPECS)


@pytest.fixture
def copied(whole, tmp_path):
    """The same, in a copy that a test may spoil."""
    folder, lists, ids, live = whole
    shutil.copytree(folder, tmp_path / "her")
    return tmp_path / "her", lists, ids, live


def proved(folder, live, entry):
    return verified(folder, "garden", live, entry)


def test_what_is_whole_holds_and_counts_every_message_that_was_ever_live(whole):
    folder, lists, ids, live = whole
    proof = proved(folder, live, ids[-1])
    assert proof.holds
    assert (proof.entries, proof.not_applied, proof.redacted) == (tuple(ids), (), ())
    assert proof.messages == len({one.id for before in (*lists, live) for one in before})


def test_a_conversation_without_a_pass_holds(tmp_path):
    assert proved(tmp_path, talk(2), "") == ((), 8, (), (), ())


def without_history(folder):
    """Only what lies in the folder is left."""
    shutil.rmtree(folder / ".git")


def spoiled(path, old=b"kale", new=b"Kale"):
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def originals(folder, entry):
    return folder / "journal" / "originals" / f"{entry}.jsonl"


def test_originals_that_were_changed_are_named_and_come_back_as_they_were_committed(copied):
    folder, lists, ids, live = copied
    spoiled(originals(folder, ids[0]))
    assert proved(folder, live, ids[-1]).faults == (f"journal/originals/{ids[0]}.jsonl was changed on the disk",)
    assert journal.restored(folder, live, ids[0]).lines == lines(lists[0])
    without_history(folder)
    told = proved(folder, live, ids[-1]).faults
    assert len(told) == 2
    assert f"message {lists[0][2].id}, which stood in the list of entry {ids[0]}, is missing or was changed" in told
    assert journal.restored(folder, live, ids[0]).missing == (lists[0][2].id,)


def test_originals_that_are_gone_are_named_one_by_one_unless_a_commit_has_them(copied):
    folder, _, ids, live = copied
    originals(folder, ids[1]).unlink()
    assert proved(folder, live, ids[-1]).holds
    without_history(folder)
    stored = [row.id for row in next(e for e in journal.entries(folder, "garden") if e.id == ids[1]).stored]
    told = proved(folder, live, ids[-1]).faults
    assert len(told) == len(stored) > 3
    assert all(any(name in fault for fault in told) for name in stored)


def test_an_entry_that_was_changed_is_named(copied):
    folder, lists, ids, live = copied
    spoiled(folder / "journal" / "compactions" / f"{ids[1]}.md", b"| dropped |", b"| kept |")
    assert proved(folder, live, ids[-1]).faults == (
        f"journal/compactions/{ids[1]}.md was changed on the disk; the committed one is whole",
    )
    assert journal.restored(folder, live, ids[0]).lines == lines(lists[0])
    without_history(folder)
    proof = proved(folder, live, ids[-1])
    assert proof.faults[0] == f"entry {ids[1]} was changed after it was written; what was before it cannot be followed"
    assert proof.entries == (ids[2],)


def test_an_entry_that_is_gone_breaks_the_chain(copied):
    folder, _, ids, live = copied
    (folder / "journal" / "compactions" / f"{ids[1]}.md").unlink()
    assert proved(folder, live, ids[-1]).holds
    without_history(folder)
    proof = proved(folder, live, ids[-1])
    assert proof.faults[0] == f"entry {ids[1]} is missing; what was before it cannot be followed"
    assert proof.not_applied == (ids[0],)


def changed(one):
    return one._replace(line=one.line.replace(b"?", b"!"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda live: [changed(live[0]), *live[1:]], "at 0 of what is live was changed since entry"),
        (lambda live: live[1:], "is missing at 0 of what is live"),
        (lambda live: [live[1], live[0], *live[2:]], "is missing at 0 of what is live"),
        (lambda live: [live[0], *talk(1), *live[1:]], "is missing at 1 of what is live"),
        (lambda live: live[:0], "is missing at 0 of what is live"),
    ],
    ids=["changed", "without its first", "in another order", "with one put in", "empty"],
)
def test_a_live_list_that_does_not_begin_as_the_last_pass_left_it_is_named(whole, spoil, said):
    folder, _, ids, live = whole
    assert any(said in fault for fault in proved(folder, spoil(live), ids[-1]).faults)


def test_a_message_that_went_from_the_list_between_two_passes_is_named(tmp_path):
    live = talk(6)
    first = journal.record(tmp_path, passed(live))
    done = passed(live)
    torn = [*done.after[:-1], *talk(6, start=50)]
    second = journal.record(tmp_path, passed(torn, SLIDE, first.id))
    proof = proved(tmp_path, passed(torn, SLIDE).after, second.id)
    assert f"entry {second.id}: its list does not begin with the one that {first.id} left" in proof.faults


def test_an_entry_that_no_header_names_was_not_applied_and_is_no_fault(copied):
    folder, _, ids, live = copied
    killed = journal.record(folder, passed(live, SLIDE, ids[-1]))
    foreign = journal.record(folder, passed(live, SLIDE, conversation="other"))
    proof = proved(folder, live, ids[-1])
    assert (proof.holds, proof.not_applied) == (True, (killed.id,))
    after = passed(live, SLIDE, ids[-1])
    applied = journal.record(folder, after._replace(time="2026-11-30T10:00:07Z"))
    proof = proved(folder, after.after, applied.id)
    assert (proof.holds, proof.entries, proof.not_applied) == (True, (*ids, applied.id), (killed.id,))
    assert foreign.id not in proof.not_applied


def test_it_holds_on_another_branch_and_after_everything_was_swept_away(copied):
    folder, _, ids, live = copied
    git(folder, "checkout", "-q", "-b", "empty", "main~3")
    assert not (folder / "journal" / "compactions" / f"{ids[0]}.md").exists()
    git(folder, "clean", "-q", "-fdx")
    assert proved(folder, live, ids[-1]).holds
