"""`compactlab memory`: every verb from a shell, with its exit code, as text and as JSON."""

import io
import json
import os
import subprocess
import sys

import pytest
from conversations import TRANSCRIPTS, fixture, said, talk

import compactlab
from compactlab.cli import main, parser
from compactlab.cli.memory_arguments import OWN, VERBS
from compactlab.memory import Memory
from compactlab.memory.lines import kept
from compactlab.receipt import Receipt

LINES = b"".join(kept(message).line + b"\n" for message in talk(30))


@pytest.fixture
def memory(tmp_path, monkeypatch, capsys):
    """Run one verb on a folder of its own; gives the exit code and what was printed."""

    def run(*arguments, data=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        given = ["memory", *map(str, arguments), "--repo", str(tmp_path), "--counter", "chars/4"]
        try:
            code = main(given)
        except SystemExit as stopped:
            code = stopped.code
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def garden(memory):
    """The same on a folder with a conversation of thirty messages."""
    assert memory("append", "--conversation", "garden", data=LINES)[0] == 0
    return memory


def as_json(found):
    code, out, err = found
    assert err == ""
    return code, json.loads(out)


def test_from_the_first_append_to_the_proof_that_nothing_was_lost(garden, tmp_path):
    code, out, _ = garden("append", "--window", 1_000, data=LINES)
    assert code == 0
    assert out.startswith("30 messages appended to garden: ")
    assert "crossed 0.80 and 0.90 and 0.95" in out
    before = [message.blocks for message in Memory(tmp_path).messages]
    assert "what a pass would do now:" in garden("status")[1]
    code, out, _ = garden(
        "compact", "--strategy", "sliding_window(preserve_recent=4)", "--receipt", tmp_path / "r.json"
    )
    assert (code, len(Memory(tmp_path).messages)) == (0, 6)
    path = out.split(" ")[-1].strip()
    assert (tmp_path / path).is_file()
    receipt = json.loads((tmp_path / "r.json").read_text())
    assert (receipt["outcome"], set(receipt)) == ("applied", set(Receipt.__struct_fields__))
    code, log = as_json(garden("log", "--verify", "--json"))
    assert (code, log["verified"]["faults"], log["verified"]["messages"]) == (0, [], 61)
    [one] = log["passes"]
    assert (one["path"], one["messages_before"], one["messages_after"], one["is_applied"]) == (path, 60, 6, True)
    out_file = tmp_path / "was.jsonl"
    assert garden("restore", one["id"], "-o", out_file)[0] == 0
    assert [json.loads(line)["content"][0]["text"] for line in out_file.read_bytes().splitlines()] == [
        blocks[0].text for blocks in before
    ]
    code, out, _ = garden("restore", one["id"], "--back")
    assert (code, [message.blocks for message in Memory(tmp_path).messages]) == (0, before)
    assert garden("log", "--verify")[1].endswith("nothing was lost: 2 passes, 61 messages that were ever live\n")


def test_a_pass_that_was_not_applied_is_exit_code_one_with_the_reason(garden):
    assert garden("compact", "--strategy", "cull")[:2][0] == 1
    code, out, err = garden("compact", "--strategy", "microcompact")
    assert (code, err) == (1, "")
    assert out.endswith("not applied: nothing to remove\n")
    code, found = as_json(garden("compact", "--strategy", "microcompact", "--json"))
    assert (code, found["is_applied"], found["why_not"]) == (1, False, "nothing to remove")
    assert garden("compact", "--strategy", "microcompact", "--dry-run")[0] == 0
    assert garden("compact", "--strategy", "defer")[0] == 0


def test_without_a_strategy_it_is_that_of_the_type_in_the_settings_of_the_repository(memory, tmp_path):
    (tmp_path / "compactlab.toml").write_text(
        "[compaction.per_type]\nreviewer = { strategy = 'key_value', window = 2_000, marks = [0.5] }\n"
        "[memory]\noriginals = 'local'\nwordings = 'own.toml'\n"
    )
    (tmp_path / "own.toml").write_text("released = ['Leichter nun.']\nrests = ['Dort: {path}']\n")
    code, out, _ = memory("append", "--conversation", "a", "--type", "reviewer", data=LINES)
    assert (code, "crossed 0.50" in out) == (0, True)
    code, out, _ = memory("compact")
    assert (code, out.split("journal/")[0]) == (0, "Leichter nun.\nDort: ")
    [one] = Memory(tmp_path).log().passes
    assert one.strategy == "key_value"
    tracked = subprocess.run(["git", "-C", tmp_path, "ls-files"], capture_output=True, text=True, check=True).stdout
    assert "journal/compactions/" in tracked
    assert f"{one.id}.jsonl" not in tracked
    assert as_json(memory("status", "--json"))[1]["window"] == 2_000


def test_one_message_is_given_to_be_read_in_full(garden, tmp_path):
    wanted = Memory(tmp_path).conversation.read().kept[10]
    garden("compact", "--strategy", "sliding_window")
    [one] = Memory(tmp_path).log().passes
    short = one.id.rpartition("-")[2]
    assert garden("restore", short, wanted.id)[:2] == (0, wanted.message.text.rstrip("\n") + "\n")
    code, found = as_json(garden("restore", one.id, wanted.id, "--json"))
    assert (code, found["messages"]) == (0, [json.loads(wanted.line)])


def test_a_journal_that_does_not_hold_is_exit_code_one(garden, tmp_path):
    garden("compact", "--strategy", "sliding_window")
    there = Memory(tmp_path)
    live = there.path.read_bytes()
    there.path.write_bytes(live.replace(b"line 29", b"line 92"))
    code, out, _ = garden("log", "--verify")
    assert code == 1
    assert "NOT WHOLE" in out
    assert "was changed since entry" in out
    assert garden("log")[0] == 0


def test_every_verb_gives_json(garden, tmp_path):
    garden("compact", "--strategy", "sliding_window")
    entry = Memory(tmp_path).log().passes[0].id
    more = {"ignore": ["--reason", "not yet"], "restore": [entry]}
    for verb in VERBS:
        code, found = as_json(garden(verb, *more.get(verb, []), "--json", data=LINES))
        assert code == (1 if verb == "compact" and not found["is_applied"] else 0)
        assert found


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["status", "--conversation", "../x"], "expected letters, digits"),
        (["status", "--conversation", "other"], "cannot be read (no such file or directory)"),
        (["status", "--reason", "x"], "memory status: --reason belongs to ignore"),
        (["log", "--dry-run"], "memory log: --dry-run belongs to compact"),
        (["append", "x"], "memory append: ENTRY belongs to restore"),
        (["append"], "not JSON"),
        (["append", "--file", "nowhere.json"], "nowhere.json: cannot be read (no such file or directory)"),
        (["append", "--type", "subagent"], "is of a primary agent, not 'subagent'"),
        (["compact", "--strategy", "forget"], "strategy 'forget' is unknown"),
        (["compact", "--target", "0"], "expected a number of tokens above 0"),
        (["status", "--window", "-5"], "expected a number of tokens above 0"),
        (["status", "--reserve", "200000"], "expected something left for input"),
        (["ignore"], "a decline needs a reason"),
        (["restore"], "ENTRY is missing"),
        (["restore", "2026"], "expected one of the passes over garden"),
        (["status", "--wordings", "nowhere.toml"], ""),
        (["compact", "--wordings", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["forget"], "invalid choice: 'forget'"),
    ],
)
def test_wrong_use_is_exit_code_two_and_one_line(garden, tmp_path, arguments, told):
    before = (tmp_path / "conversations" / "garden.jsonl").read_bytes()
    data = LINES if "--type" in arguments else b""
    code, out, err = garden(*arguments, data=data)
    if not told:
        assert code == 0
        return
    assert (code, out) == (2, "")
    assert told in err
    assert arguments[0] == "forget" or len(err.splitlines()) == 1
    assert (tmp_path / "conversations" / "garden.jsonl").read_bytes() == before


def test_what_only_some_verbs_take_is_known_by_all():
    given = vars(parser().parse_args(["memory", "status"]))
    assert set(OWN) <= set(given)
    assert set().union(*OWN.values()) <= set(VERBS)
    assert not any(given[name] for name in OWN)


def test_half_a_surrogate_pair_is_printed_and_no_error(garden, tmp_path):
    Memory(tmp_path).append([said("half \ud83d of it"), *talk(30)])
    name = Memory(tmp_path).conversation.read().kept[30].id
    garden("compact", "--strategy", "sliding_window")
    entry = Memory(tmp_path).log().passes[0].id
    assert garden("restore", entry, name)[:2] == (0, "half \\ud83d of it\n")
    assert as_json(garden("restore", entry, name, "--json"))[0] == 0


def test_the_commands_that_measure_read_a_living_conversation(garden, tmp_path, capsys):
    garden("append", "--conversation", "etl", "--file", TRANSCRIPTS / "subagent-etl.jsonl")
    assert main(["inspect", str(tmp_path / "conversations" / "etl.jsonl")]) == 0
    assert "136 messages" in capsys.readouterr().out
    [read] = compactlab.read(tmp_path / "conversations" / "etl.jsonl")
    assert read.agent_type == "subagent"


def test_from_a_real_shell_in_the_working_folder(tmp_path):
    environment = {**os.environ, "GIT_DIR": "/nonexistent", "HOME": "/nonexistent"}
    command = [sys.executable, "-m", "compactlab", "memory"]
    for arguments, data in (
        (["append", "--conversation", "etl", "--window", "130000"], fixture("subagent-etl")),
        (["compact", "--strategy", "microcompact"], b""),
        (["log", "--verify"], b""),
    ):
        done = subprocess.run(
            [*command, *arguments], input=data, cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert b"nothing was lost: 1 pass, 136 messages that were ever live" in done.stdout
