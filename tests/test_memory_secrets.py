"""Secrets and the journal: redaction is on, nothing planted is in any object of git, and what is whole stays here."""

import hashlib
import json
import shutil
import subprocess

import pytest
from journals import begun, git, passed, talk
from reports import row, rows
from test_memory_originals import lines
from test_redaction import BODY, SECRETS

from compactlab.memory import journal
from compactlab.memory.chain import verified
from compactlab.memory.digests import KEYED
from compactlab.memory.lines import kept
from compactlab.memory.veil import Veil
from compactlab.transcript import Message, Reasoning, Text, ToolCall, ToolResult


def objects(folder):
    """All objects of a repository, reachable or not, as one text."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch", "--buffer"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def holding(text, number=0):
    """Messages that hold a text wherever a message can."""
    return [
        kept(Message("user", (Text(text),), source=0)),
        kept(Message("assistant", (
            Reasoning(text), Text("I look."),
            ToolCall(f"s{number}", "bash", json.dumps({"command": text})),
        ), source=0)),
        kept(Message("tool", (ToolResult(f"s{number}", (Text(f"it says\n{text}\nthere"),)),), source=0)),
    ]  # fmt: skip


def planted_pass(**told):
    held = [one for number, (text, *_) in enumerate(SECRETS) for one in holding(text, number)]
    live = [*talk(2), *held, *talk(3, start=2)]
    done = passed(live, "sliding_window(preserve_recent=2)")
    texts = " and\n".join(text for text, *_ in SECRETS)
    changes = tuple(
        type(change)(change.position, change.source, change.role, change.action, SECRETS[i % len(SECRETS)][0])
        for i, change in enumerate(done.receipt.changes)
    )
    receipt = type(done.receipt)(**{
        **{name: getattr(done.receipt, name) for name in done.receipt.__struct_fields__},
        "changes": changes, "notes": tuple(text for text, *_ in SECRETS), "model": SECRETS[0][0],
    })  # fmt: skip
    return done._replace(receipt=receipt, summary=texts, strategy=f"{done.strategy} {SECRETS[0][0]}", **told)


def values(secret):
    """What may stand nowhere: the secret, whole or a line of it."""
    return [secret] if secret != BODY else BODY.split("\n")


@pytest.fixture(scope="module", params=["git", "local"])
def planted(request, tmp_path_factory):
    """A pass over messages with every kind of secret, recorded."""
    folder = begun(tmp_path_factory.mktemp("secrets") / "her")
    done = planted_pass()
    return folder, done, journal.record(folder, done, request.param), request.param


@row("K19-D1")
def test_no_secret_is_in_any_object_of_git_wherever_it_stood(planted):
    folder, _, recorded, _ = planted
    told = objects(folder)
    assert recorded.id in told
    assert [text for text, secret, *_ in SECRETS for value in values(secret) if value in told] == []
    assert "[REDACTED:" in told


def test_without_redaction_every_one_of_them_would_be_there(planted):
    folder, done, _, _ = planted
    whole = b"".join(path.read_bytes() for path in (folder / "journal" / "local").glob("*.jsonl")).decode()
    live = b"".join(one.line for one in done.after).decode()
    assert [text for text, secret, *_ in SECRETS for value in values(secret) if value not in whole + live] == []


def test_here_every_line_comes_back_byte_for_byte(planted):
    folder, done, recorded, _ = planted
    assert journal.restored(folder, done.after, recorded.id) == (lines(done.before), (), ())
    proof = verified(folder, "garden", done.after, recorded.id)
    assert (proof.holds, proof.redacted) == (True, ())


def test_a_clone_has_all_else_byte_for_byte_and_says_what_it_has_redacted(planted, tmp_path):
    folder, done, recorded, originals = planted
    git(tmp_path, "clone", "-q", str(folder), "clone")
    back = journal.restored(tmp_path / "clone", done.after, recorded.id)
    gone = [one for one in done.before if one.id not in {left.id for left in done.after}]
    if originals == "local":
        assert set(back.missing) >= {one.id for one in gone}
        return
    assert back.missing == ()
    by_id = dict(zip([one.id for one in done.before], back.lines, strict=True))
    plain = [one for one in gone if one.id not in back.redacted]
    assert [by_id[one.id] for one in plain] == [one.line for one in plain]
    assert len(back.redacted) == len(gone) - len(plain) >= 3 * len(SECRETS)
    assert len(plain) >= 11
    assert all(b"[REDACTED:" in by_id[name] for name in back.redacted)
    assert verified(tmp_path / "clone", "garden", done.after, recorded.id).redacted == back.redacted


def test_what_is_whole_lies_in_a_store_that_git_never_shows_and_others_cannot_read(planted):
    folder, _, recorded, originals = planted
    local = folder / "journal" / "local"
    assert (local / f"{recorded.id}.secrets.jsonl").is_file()
    assert (local / f"{recorded.id}.jsonl").is_file() == (originals == "local")
    assert {path.stat().st_mode & 0o077 for path in (local, *local.glob("*.jsonl"), local / "key")} == {0}
    assert git(folder, "status", "--porcelain") == ""
    git(folder, "add", "-A")
    assert git(folder, "status", "--porcelain") == ""
    assert "journal/local" not in git(folder, "ls-files")


@row("K19-D2")
def test_a_value_that_stood_behind_a_label_once_goes_where_it_stands_bare_also_in_a_later_pass(tmp_path):
    first = [*talk(1), *holding("postgres://ada:hunter22-4711@db/orders"), *talk(3, start=1)]
    done = passed(first)
    one = journal.record(begun(tmp_path / "her"), done)
    later = [*done.after, *holding("hunter22-4711 it is", 1), *talk(3, start=9)]
    second = passed(later, previous=one.id, summary="They log in by hunter22-4711.")
    two = journal.record(tmp_path / "her", second)
    assert "hunter22" not in objects(tmp_path / "her")
    assert "They log in by [REDACTED:password]." in (tmp_path / "her" / two.path).read_text()
    assert journal.restored(tmp_path / "her", second.after, two.id).lines == lines(later)


@rows(
    ("text", "gone", "stays"),
    {
        "K19-D3 a key without an end": (
            f"see:\n-----BEGIN RSA PRIVATE KEY-----\n{BODY}\nand then more",
            BODY[:60],
            "see:",
        ),
        "K19-D4 labels stay": ("DB_PASSWORD=hunter22-4711", "hunter22", "DB_PASSWORD=[REDACTED:password]"),
    },
)
def test_a_redacted_line_is_still_a_message_and_keeps_what_is_no_secret(text, gone, stays):
    for one in holding(text):
        told = Veil().line(one).decode()
        assert gone not in told
        assert stays in told
        assert f'"id": "{one.id}"' in told


@row("K19-D4")
def test_look_alikes_stay_and_their_originals_go_into_git_as_they_are(tmp_path):
    texts = (
        f"commit {hashlib.sha1(b'1', usedforsecurity=False).hexdigest()}", "token count: 812",
        f"sha256:{hashlib.sha256(b'2').hexdigest()}", "123e4567-e89b-12d3-a456-426614174000",
    )  # fmt: skip
    live = [*talk(1), *(one for i, text in enumerate(texts) for one in holding(text, i)), *talk(3, start=1)]
    done = passed(live)
    recorded = journal.record(tmp_path, done)
    (entry,) = journal.entries(tmp_path, "garden")
    assert entry.head["secret_lines"] == 0
    assert {row.rests for row in entry.stored} == {"git"}
    shutil.rmtree(tmp_path / "journal" / "local")
    assert journal.restored(tmp_path, done.after, recorded.id).lines == lines(live)


def test_a_digest_in_git_gives_nobody_a_way_to_try_passwords(planted):
    """Whoever has the redacted line could put guesses into it and compare."""
    folder, done, _, _ = planted
    (entry,) = journal.entries(folder, "garden")
    told = objects(folder)
    for one in done.before:
        digest = hashlib.sha256(one.line).hexdigest()[:32]
        mark = next(row for row in entry.rows if row.id == one.id)
        is_secret = Veil().line(one) != one.line
        assert not (is_secret and digest in told)
        assert mark.digest.startswith(KEYED) or mark.digest == digest


def test_where_the_key_is_gone_what_has_no_secret_is_still_proved(planted, tmp_path):
    folder, done, recorded, originals = planted
    shutil.copytree(folder, tmp_path / "her")
    (tmp_path / "her" / "journal" / "local" / "key").unlink()
    proof = verified(tmp_path / "her", "garden", done.after, recorded.id)
    assert bool(proof.redacted) == (originals == "git")
    assert not [fault for fault in proof.faults if "of what is live" in fault]
