"""Replies in a store: what a key holds, what a line shows, recording, replay, and why a reply is not there."""

import json
import pickle
import subprocess
import sys

import pytest
import runs
from histories import agent, user
from msgspec.structs import replace

from compactlab.errors import SpecError, TranscriptError
from compactlab.llm import ModelError, Pending, Reply, Request, TooLong
from compactlab.llm.recorded import Missing, Recorded, asked_of, contents, difference, opened
from compactlab.llm.scripted import Scripted

MATERIAL = (user("The port is 5433."), agent("Noted."))
REQUEST = Request("summary", "be brief", "Sum up:\n[user] The port is 5433.", MATERIAL, prompt_version="1")
REPLY = Reply("It is 5433.", "served-7", "end_turn", 90, 9, 64, latency_seconds=2.5, attempts=3)
CHANGES = {
    "purpose": "reflect",
    "system": "be long",
    "prompt": "Sum up:\n[user] The port is 5434.",
    "max_output": 100,
    "temperature": 0.7,
    "seed": 1,
    "replicate": 1,
    "prompt_version": "2",
}


def lines(folder):
    return [json.loads(line) for line in (folder / "replies.jsonl").read_text(encoding="utf-8").splitlines()]


def recording(folder, *replies):
    behind = Scripted(*replies)
    return Recorded(folder, behind), behind


@pytest.fixture
def store(tmp_path):
    recording(tmp_path / "store", REPLY)[0].reply(REQUEST)
    return tmp_path / "store"


# ---- the key


@pytest.mark.parametrize("name", CHANGES)
def test_the_key_changes_with_all_that_has_an_effect(name):
    assert asked_of(replace(REQUEST, **{name: CHANGES[name]}), "m").key != asked_of(REQUEST, "m").key


def test_the_key_changes_with_the_model_and_not_with_what_is_only_shown():
    assert asked_of(REQUEST, "m").key != asked_of(REQUEST, "n").key
    assert asked_of(REQUEST, "m").key == asked_of(replace(REQUEST, material=()), "m", 8_000).key
    assert asked_of(replace(REQUEST, temperature=0), "m") == asked_of(replace(REQUEST, temperature=0.0), "m")


def test_every_field_of_a_request_but_its_material_is_in_the_key():
    assert {*CHANGES, "material"} == set(Request.__struct_fields__)


KEY = "from test_llm_recorded import *; print(asked_of(REQUEST, 'm').key)"


def test_the_key_is_the_same_in_every_process():
    assert len(runs.printed_in_two_processes(f"import sys; sys.path.insert(0, 'tests'); {KEY}")) == 1


# ---- recording and replay


def test_what_was_asked_once_comes_from_the_store(tmp_path):
    model, behind = recording(tmp_path, REPLY, "another")
    first = model.reply(REQUEST)
    assert first == REPLY
    assert model.reply(REQUEST) == replace(REPLY, latency_seconds=0, attempts=1)
    assert len(behind.requests) == 1
    assert model.reply(replace(REQUEST, replicate=1)).text == "another"
    assert len(behind.requests) == 2
    assert model.name == "scripted"


def test_a_replay_gives_the_same_and_asks_nobody(store):
    replayed = Recorded(store)
    assert (replayed.name, replayed.window) == ("scripted", None)
    assert replayed.reply(REQUEST) == replace(REPLY, latency_seconds=0, attempts=1)
    with pytest.raises(Missing):
        replayed.reply(replace(REQUEST, seed=3))


def test_a_store_may_be_one_file_and_a_replay_may_read_what_is_written_later(tmp_path):
    model = Recorded(tmp_path / "deep" / "mine.jsonl", Scripted("one", "two"))
    model.reply(REQUEST)
    replayed = Recorded(tmp_path / "deep" / "mine.jsonl")
    later = replace(REQUEST, seed=5)
    model.reply(later)
    assert replayed.reply(later).text == "two"


def test_a_line_says_what_was_asked_but_holds_no_prompt_and_no_secret(tmp_path):
    key = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56"
    request = replace(REQUEST, prompt=f"Sum up: {'x ' * 500}", material=(user(f"The key is {key}."),))
    Recorded(tmp_path, Scripted(Reply(f"It is {key}.", "m"))).reply(request)
    [line] = lines(tmp_path)
    assert line["key"] == asked_of(request, "scripted").key
    for name in ("purpose", "max_output", "temperature", "seed", "replicate", "prompt_version"):
        assert line[name] == getattr(request, name)
    assert line["model"] == "scripted"
    assert line["characters"] == len(request.prompt)
    assert line["begins"].startswith("[user] The key is ")
    assert len(line["begins"]) <= 80
    raw = (tmp_path / "replies.jsonl").read_text(encoding="utf-8")
    assert key not in raw
    assert "x x x" not in raw
    assert "It is" in line["text"]


def test_what_was_recorded_is_given_as_the_store_has_it_from_the_first_time_on(tmp_path):
    reply = Reply("password=hunter2secret \ud83d", "m")
    model, _ = recording(tmp_path, reply)
    assert model.reply(REQUEST).text == model.reply(REQUEST).text == Recorded(tmp_path).reply(REQUEST).text
    assert "hunter2" not in model.reply(REQUEST).text


def test_a_request_with_lone_surrogates_can_be_recorded(tmp_path):
    request = replace(REQUEST, prompt="half \ud83d", material=(user("half \ud83d"),), prompt_version="\ud83d")
    recording(tmp_path, "fine")[0].reply(request)
    assert Recorded(tmp_path).reply(request).text == "fine"


FAILURES = [
    ("longer than the window", TooLong("m: 9,000 tokens, the window is 8,192"), TooLong),
    ("a failure", ModelError("m: HTTP 500: down"), ModelError),
]


@pytest.mark.parametrize(("error", "kind"), [c[1:] for c in FAILURES], ids=[c[0] for c in FAILURES])
def test_a_failure_is_replayed_and_a_recording_asks_again(tmp_path, error, kind):
    with pytest.raises(kind):
        recording(tmp_path, error)[0].reply(REQUEST)
    with pytest.raises(kind) as raised:
        Recorded(tmp_path).reply(REQUEST)
    assert type(raised.value) is kind
    assert str(raised.value) == str(error)
    with pytest.raises(kind):
        recording(tmp_path, error)[0].reply(REQUEST)
    assert len(lines(tmp_path)) == 1
    model, _ = recording(tmp_path, "now it works")
    assert model.reply(REQUEST).text == Recorded(tmp_path).reply(REQUEST).text == "now it works"
    model.settle()
    assert [line["text"] for line in lines(tmp_path)] == ["now it works"]


@pytest.mark.parametrize("error", [Pending("not yet"), Missing("not here"), ZeroDivisionError("a fault of ours")])
def test_what_says_nothing_of_the_reply_is_not_kept(tmp_path, error):
    with pytest.raises(type(error)):
        recording(tmp_path, error)[0].reply(REQUEST)
    assert not (tmp_path / "replies.jsonl").exists()


# ---- the file


def test_a_settled_store_does_not_tell_who_was_first(tmp_path):
    requests = [replace(REQUEST, seed=seed, purpose=purpose) for seed in range(9) for purpose in ("summary", "reflect")]
    for name, order in (("a", requests), ("b", requests[::-1])):
        model = Recorded(tmp_path / name, Scripted("same"))
        for request in order:
            model.reply(request)
        model.settle()
    assert (tmp_path / "a" / "replies.jsonl").read_bytes() == (tmp_path / "b" / "replies.jsonl").read_bytes()
    assert [line["purpose"] for line in lines(tmp_path / "a")] == ["reflect"] * 9 + ["summary"] * 9
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["replies.jsonl"]


WRITER = """
import sys
sys.path.insert(0, "tests")
from test_llm_recorded import *
model = Recorded(sys.argv[1], Scripted(*(Reply(f"{n} " * 4_000, sys.argv[2]) for n in range(40))))
print([model.reply(replace(REQUEST, seed=seed)).model for seed in range(40)])
model.settle()
"""


def test_several_processes_write_whole_lines_each_key_once_and_agree(tmp_path):
    program = [sys.executable, "-c", WRITER, tmp_path]
    started = [subprocess.Popen([*program, f"p{n}"], cwd=runs.CHECKOUT, stdout=subprocess.PIPE) for n in range(4)]
    said = [process.communicate(timeout=120)[0] for process in started]
    assert [process.returncode for process in started] == [0] * 4
    assert len(set(said)) == 1
    assert sorted(line["seed"] for line in lines(tmp_path)) == list(range(40))


def test_a_line_that_a_killed_writer_left_half_is_dropped(store):
    whole = (store / "replies.jsonl").read_bytes()
    with (store / "replies.jsonl").open("ab") as file:
        file.write(b'{"key": "half a li')
    assert Recorded(store).reply(REQUEST).text == REPLY.text
    recording(store, "next")[0].reply(replace(REQUEST, seed=2))
    assert (store / "replies.jsonl").read_bytes().startswith(whole + b'{"key":')
    assert len(lines(store)) == 2


@pytest.mark.parametrize("line", ["x", "[]", "{}", '{"key": 3}', "null", ""])
def test_any_other_line_that_is_none_is_named(store, line):
    file = store / "replies.jsonl"
    file.write_text(file.read_text(encoding="utf-8") + f"{line}\n", encoding="utf-8")
    with pytest.raises(TranscriptError, match=r"replies\.jsonl: line 2 cannot be read"):
        Recorded(store)


def test_a_model_with_a_store_can_be_sent_to_another_process(store):
    sent = pickle.loads(pickle.dumps(Recorded(store)))  # noqa: S301  # our own bytes
    assert sent.reply(REQUEST).text == REPLY.text


# ---- which model


def test_a_replay_of_several_models_or_windows_must_be_told_which(tmp_path):
    for window, seed in ((4_000, 1), (8_000, 2)):
        Recorded(tmp_path, Scripted("words", window=window)).reply(replace(REQUEST, seed=seed))
    with pytest.raises(SpecError, match="windows 4000, 8000"):
        Recorded(tmp_path)
    assert Recorded(tmp_path, window=8_000).window == 8_000
    other = Scripted("words")
    other.name = "other"
    Recorded(tmp_path, other).reply(REQUEST)
    with pytest.raises(SpecError, match="replies of other, scripted"):
        Recorded(tmp_path)
    assert (Recorded(tmp_path, name="other").name, Recorded(tmp_path, name="other").window) == ("other", None)


def test_the_window_is_replayed_since_material_is_parted_by_it(tmp_path):
    Recorded(tmp_path, Scripted("words", window=4_000)).reply(REQUEST)
    assert Recorded(tmp_path).window == 4_000


def test_what_is_no_store_is_said(tmp_path):
    with pytest.raises(TranscriptError, match="no such file"):
        Recorded(tmp_path / "nowhere")
    (tmp_path / "replies.jsonl").touch()
    with pytest.raises(SpecError, match="no replies"):
        Recorded(tmp_path)
    with pytest.raises(TranscriptError, match="nowhere"):
        contents(tmp_path / "nowhere")


def test_a_store_says_what_it_holds(store):
    with pytest.raises(ModelError):
        recording(store, ModelError("no"))[0].reply(replace(REQUEST, purpose="judge"))
    assert [tuple(held) for held in contents(store)] == [("scripted", "judge", 0, 1), ("scripted", "summary", 1, 0)]


# ---- why there is no reply (K29-D4)

SAID = {"purpose": "purpose (reflect, stored summary)", "max_output": "max_output (100, stored 2048)",
        "temperature": "temperature (0.7, stored 0.3)", "seed": "seed (1, stored None)",
        "replicate": "replicate (1, stored 0)", "prompt_version": "prompt_version (2, stored 1)",
        "system": "system (", "prompt": "prompt (32 characters, stored 32)"}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_reply_that_is_missing_is_explained_by_the_field_that_differs(store, name):
    with pytest.raises(Missing) as raised:
        Recorded(store).reply(replace(REQUEST, **{name: CHANGES[name]}))
    said = str(raised.value)
    assert str(store) in said
    assert f"differs in {SAID[name]}" in said
    assert sum(f"{other} (" in said.partition("differs in ")[2] for other in CHANGES) == 1


def test_another_model_and_other_material_are_named():
    stored = [asked_of(REQUEST, "m"), asked_of(replace(REQUEST, purpose="reflect"), "m")]
    assert difference(asked_of(REQUEST, "n"), stored).endswith("differs in model (n, stored m)")
    other = replace(REQUEST, prompt="Sum up:\n[user] Good morning.", material=(user("Good morning."),))
    said = difference(asked_of(other, "m"), stored)
    assert "beginning '[user] Good morning.'" in said
    assert "stored 32 beginning '[user] The port is 5433." in said


def test_the_nearest_is_the_one_with_the_same_prompt():
    near = replace(REQUEST, seed=7, replicate=3, max_output=9)
    far = replace(REQUEST, prompt="something else")
    said = difference(asked_of(REQUEST, "m"), [asked_of(far, "m"), asked_of(near, "m")])
    assert asked_of(near, "m").key[:8] in said
    assert "max_output (2048, stored 9), seed (None, stored 7), replicate (0, stored 3)" in said


def test_an_empty_store_is_said_to_be_empty(tmp_path):
    assert "the store is empty" in difference(asked_of(REQUEST, "m"), opened(tmp_path).values())
