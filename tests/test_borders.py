"""Every border that text crosses, with real secrets behind it: what a run keeps, what is shown, what is exact."""

from functools import cache

import pytest
import runs
from borders import BARE, EXPORT, SECRETS, SESSION, leaks

from compactlab import redaction
from compactlab.cli import main
from compactlab.facts import mine
from compactlab.harness import Settings, run
from compactlab.readers import read, write
from compactlab.transcript import Message, RecordedCompaction, Text, Transcript

SPECS = (
    "none",
    "microcompact(keep_recent=1)",
    "microcompact(keep_recent=1, errors='ends')",
    "cull",
    "sliding_window",
    "sliding_reflect",
    "summary",
    "key_value",
    "ladder(microcompact, summary)",
)


def written(name, **recorded):
    file = runs.scratch() / f"{name}.jsonl"
    write(Transcript(id=name, format="compactlab", path="", agent_type="primary", messages=SESSION, **recorded), file)
    return file


@cache
def session():
    return written("borders")


@cache
def compacted_session():
    """The same session with a compaction that was recorded in it, whose summary holds secrets too."""
    summary = f"The key is api_key={SECRETS['error']}; the database postgres://ada:{BARE}@db-7/orders."
    note = Message("user", (Text(summary),), synthetic=True)
    return written("borders-compacted", compactions=(RecordedCompaction(40, after=(0, 1, note), summary=summary),))


@cache
def finished():
    """A run of every kind of strategy over the session, with a text by code."""
    folder = runs.scratch() / "borders-run"
    run(session(), folder, Settings(strategies=SPECS, cuts=(0.5, 0.8), jobs=1, counter="chars/4"))
    return folder


def test_the_session_is_written_with_all_its_secrets():
    assert leaks(session().read_text(encoding="utf-8")) == list(SECRETS)


def test_no_file_of_a_run_holds_a_secret():
    files = [path for path in finished().rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"records.jsonl", "compactions.jsonl", "manifest.json"}
    assert {path.name: leaks(path.read_text(encoding="utf-8")) for path in files} == {path.name: [] for path in files}
    kept = (finished() / "compactions.jsonl").read_text(encoding="utf-8")
    assert "[REDACTED:" in kept
    assert "98431277" in kept


COMMANDS = [
    ("inspect", "{file}"),
    ("inspect", "{file}", "--json"),
    ("inspect", "{compacted}"),
    ("inspect", "{compacted}", "--json"),
    ("facts", "{file}"),
    ("facts", "{file}", "--json"),
    *(("report", "{run}", "--lost", spec) for spec in SPECS[4:]),
    ("report", "{run}", "--table", "rules"),
    ("report", "{run}", "--json"),
    *(("compact", "{file}", "--strategy", spec, "--json") for spec in SPECS[1:]),
    *(("compact", "{file}", "--strategy", spec, "--dry-run") for spec in SPECS[1:]),
]


@pytest.mark.parametrize("line", COMMANDS, ids=" ".join)
def test_no_command_prints_a_secret(capsys, line):
    main([word.format(file=session(), compacted=compacted_session(), run=finished()) for word in line])
    out, err = capsys.readouterr()
    assert out
    assert leaks(out + err) == []


def test_a_compacted_session_is_written_exactly_as_it_is(tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert main(["compact", str(session()), "--strategy", "microcompact", "-o", str(out)]) == 0
    assert leaks(capsys.readouterr().out) == []
    [before], [after] = read(session()), read(out)
    said = [message.text for message in before.view(len(before.messages)) if message.role == "user"]
    assert [message.text for message in after.messages if message.role == "user"] == said
    assert leaks("".join(said))


def test_facts_hold_no_secret_that_stands_bare_and_all_that_stands_beside_it():
    values = [fact.value for fact in mine(SESSION)]
    assert leaks("\n".join(values)) == []
    assert {EXPORT, "98431277", "/srv/app/config.yaml"} <= set(values)


def test_with_redaction_off_a_run_keeps_secrets(monkeypatch, tmp_path):
    monkeypatch.setattr(redaction, "_found", lambda _text: ())
    run(session(), tmp_path / "run", Settings(strategies=SPECS[1:], cuts=(0.8,), jobs=1, counter="chars/4"))
    assert leaks((tmp_path / "run" / "compactions.jsonl").read_text(encoding="utf-8"))
