"""Reported faults of what is kept to be used again: replies and runs under a key that says too little (K29)."""

import re
from functools import cache

import pytest
import runs
from model_server import ModelServer, completion
from reports import compacted, row, rows, sketch
from test_reports_models import GOOD, REFLECT, SUMMARY, TALK, both

from compactlab.cli import main
from compactlab.errors import RunError
from compactlab.harness import Settings, run
from compactlab.llm import Request
from compactlab.llm.batch import Batch, waiting
from compactlab.llm.build import build
from compactlab.llm.recorded import Recorded
from compactlab.llm.scripted import Scripted
from compactlab.readers import read, write
from compactlab.settings import Project
from compactlab.transcript import Transcript

PAIRS = {
    "K29-D1": ("U'x is 1'", "U'x is 2'", 2),
    "K29-D1 a word of the agent": ("A'x is 1'", "A'x is 2'", 2),
    "K29-D1 a person or the agent": ("U'x is 1'", "A'x is 1'", 2),
    "K29-D1 a result": ("A[c1] T[c1]'x is 1'", "A[c1] T[c1]'x is 2'", 2),
    "K29-D1 an error": ("A[c1] T[c1]'x is 1'", "A[c1] T![c1]'x is 1'", 2),
    "K29-D1 a tool": ("A[read:c1] T[c1]'x'", "A[grep:c1] T[c1]'x'", 2),
    "K29-D1 what was asked of a tool": ("A[c1] T[c1]'x'", "A[c2] T[c2]'x'", 2),
    "K29-D1 the very same": ("U'x is 1'", "U'x is 1'", 1),
}


@both
@rows(("one", "other", "asked"), PAIRS)
def test_a_reply_is_kept_under_all_that_reached_the_model(tmp_path, one, other, asked, spec):
    model = Scripted(GOOD)
    for words in (one, other):
        given = sketch(f"S U A {words} A {TALK} U A")
        compacted(given, spec, model=Recorded(tmp_path / "store", model))
        compacted(given, spec, model=Batch(tmp_path / "batch", "m"))
    assert len(model.requests) == asked
    assert waiting(tmp_path / "batch") == asked


@row("K29-D1")
def test_what_a_summary_before_said_is_part_of_the_key(tmp_path):
    for words in ("one", "two"):
        first = compacted(sketch(f"S U {TALK} U A"), SUMMARY, model=Scripted(f"<summary>{words}</summary>"))
        second = Scripted(GOOD)
        compacted((*first.messages, *sketch(TALK)), SUMMARY, model=Recorded(tmp_path, second))
        assert len(second.requests) == 1


MOVE = "primary-move.jsonl"
PLAIN = {"strategies": ("microcompact", SUMMARY), "cuts": (0.5,), "jobs": 1, "counter": "chars/4"}
OTHERWISE = {
    "K29-D2 a parameter": ({"strategies": ("microcompact(keep_recent=1)", SUMMARY)}, "strategies"),
    "K29-D2 a list of tools": ({"strategies": ("microcompact(tools=('read',))", SUMMARY)}, "strategies"),
    "K29-D2 a strategy less": ({"strategies": ("microcompact",)}, "strategies"),
    "K29-D2 a counter": ({"counter": "o200k_base"}, "counter"),
    "K29-D2 a seed": ({"seed": 1}, "seed"),
    "K29-D2 a cut": ({"cuts": (0.6,)}, "cuts"),
    "K29-D2 a window": ({"window": 6_000}, "cuts"),
    "K29-D2 a budget": ({"budgets": (20,)}, "budgets"),
    "K29-D2 a pin": ({"pins": ("index:10",)}, "corpus"),
    "K29-D2 a pin of a type": ({"project": Project(per_type={"primary": {"pins": ["index:10"]}})}, "corpus"),
    "K29-D2 a temperature": ({"project": Project(llm={"temperature": 0.9})}, "model"),
    "K29-D2 a most output": ({"project": Project(llm={"max_output": 99})}, "model"),
    "K29-D2 a window to read in": ({"project": Project(llm={"window": 2_000})}, "model"),
}


@cache
def made():
    """A run that others are begun upon."""
    return run(runs.short_transcripts() / MOVE, runs.scratch() / "kept", Settings(**PLAIN)).folder


@rows(("changes", "field"), OTHERWISE)
def test_a_run_goes_on_only_with_rows_that_were_made_the_same_way(changes, field):
    before = (made() / "records.jsonl").read_bytes()
    with pytest.raises(RunError, match=f"another {field};"):
        run(runs.short_transcripts() / MOVE, made(), Settings(**PLAIN | changes))
    assert (made() / "records.jsonl").read_bytes() == before


def shown(folder, **changes):
    """Where a run cut, and the type of agent in its rows; or that it would not go on."""
    try:
        records = run(runs.short_transcripts() / MOVE, folder, Settings(**PLAIN | changes)).records
    except RunError:
        return "refused"
    return {(record.index, record.agent_type) for record in records}


UNSEEN = {
    "K29-D2 marks": [{"window": 6_000, "project": Project({"marks": [mark]})} for mark in (0.5, 0.9)],
    "K29-D2 a type of agent": [{"agent_type": kind} for kind in ("subagent", "subconscious")],
}


@rows("settings", {name: (settings,) for name, settings in UNSEEN.items()})
def test_a_run_does_not_give_the_rows_of_other_marks_or_types(tmp_path, settings):
    first, second = settings
    shown(tmp_path / "run", **first)
    assert shown(tmp_path / "run", **second) in ("refused", shown(tmp_path / "fresh", **second))


SENT = {"temperature": 0.9, "max_output": 99, "model": "n"}


KEYS = [pytest.param(key, id=f"K29-D2 {key}") for key in SENT]


@pytest.mark.parametrize("key", [*KEYS, pytest.param("leave_out", id="K29-D2 leave_out")])
def test_what_changes_what_is_sent_changes_the_key(tmp_path, key):
    request = Request("summary", "Be brief.", "What now?", (), seed=1)
    with ModelServer(completion("one"), completion("two")) as server:
        plain = {"model": "m", "base_url": server.url}
        for given in (plain, plain | {key: SENT.get(key, ["temperature"])}, plain):
            build(f"record:{tmp_path}", given).reply(request)
    bodies = [body for _, _, body in server.asked]
    assert len(bodies) == 2
    assert bodies[0] != bodies[1]


def edited(folder, name, old, new):
    file = folder / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


EDITS = {
    "K29-D3": ("primary-move.probes.jsonl", "How many", "How very many"),
    "K29-D3 a message": (MOVE, "Good evening, Bea.", "Good morning, Bea."),
}


@rows(("name", "old", "new"), EDITS)
def test_a_text_that_was_edited_under_the_same_name_is_another_corpus(tmp_path, name, old, new):
    runs.shortened("primary-move", tmp_path)
    run(tmp_path / MOVE, tmp_path / "run", Settings(**PLAIN))
    edited(tmp_path, name, old, new)
    with pytest.raises(RunError, match="another corpus;"):
        run(tmp_path / MOVE, tmp_path / "run", Settings(**PLAIN))


@row("K29-D3 what can hardly be hashed")
def test_words_that_are_no_text_have_keys_of_their_own(tmp_path):
    model = Scripted("fine")
    for words in ("x \ud83d", "x \ude00", "x \ufffd", "x ?"):
        Recorded(tmp_path, model).reply(Request("summary", "", words, ()))
    assert len(model.requests) == 4


WHY = {
    "K29-D4": (f"S U {TALK} U A", "summary(preserve_recent=2, max_summary_tokens=500)", {}, "max_output (500, stored"),
    "K29-D4 a word": (f"S U {TALK} U'x' A U A", SUMMARY, {}, "prompt ("),
    "K29-D4 another prompt": (f"S U {TALK} U A", REFLECT, {}, "purpose (reflect, stored summary)"),
    "K29-D4 another model": (f"S U {TALK} U A", SUMMARY, {"name": "n"}, "model (n, stored scripted)"),
}


@rows(("text", "spec", "options", "why"), WHY)
def test_a_reply_that_is_not_there_is_told_with_what_differs_from_the_nearest(tmp_path, text, spec, options, why):
    compacted(sketch(f"S U {TALK} U A"), SUMMARY, model=Recorded(tmp_path, Scripted(GOOD)))
    receipt = compacted(sketch(text), spec, model=Recorded(tmp_path, **options)).receipt
    [told] = re.findall(r"no reply in .*", "\n".join((receipt.reason, *receipt.notes)))[:1]
    assert "the nearest stored (" in told
    assert why in told.partition("differs in ")[2]


@row("K29-D4 as a command")
def test_a_command_says_why_a_reply_is_not_there(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Transcript("s", "compactlab", sketch(f"S U {TALK} U A")), tmp_path / "s.jsonl")
    compacted(read("s.jsonl")[0].messages, SUMMARY, model=Recorded("store", Scripted(GOOD)))
    (tmp_path / "warm.toml").write_text("[llm]\ntemperature = 0.9\n", encoding="utf-8")
    command = ["compact", "s.jsonl", "--strategy", SUMMARY, "--llm", "replay:store"]
    assert main(command) == 0
    assert "applied" in capsys.readouterr().out
    assert main([*command, "--settings", "warm.toml"]) == 0
    assert "differs in temperature (0.9, stored 0.3)" in capsys.readouterr().out


@row("K29-D5")
def test_five_repetitions_are_five_replies_and_the_same_five_again(tmp_path):
    model = Scripted(*"abcde")
    for _ in range(2):
        asked = [Request("answer", "", "How many?", (), replicate=number) for number in range(5)]
        assert [Recorded(tmp_path, model).reply(request).text for request in asked] == list("abcde")
    assert len(model.requests) == 5
    assert Recorded(tmp_path).reply(asked[3]).text == "d"
