"""Slots: what changed before the cut, its latest value and its older ones."""

import json

import pytest
import runs
import trials
from histories import agent, call, messages, system, user
from hypothesis import given
from hypothesis import strategies as st

from compactlab.history import repair
from compactlab.readers import read
from compactlab.traffic.slots import slots
from compactlab.transcript import Message, Text, ToolResult


def session(*calls):
    made = [user("Please do it.")]
    for at, (name, arguments) in enumerate(calls):
        made.append(agent(call(f"c{at}", name, json.dumps(arguments))))
        made.append(Message("tool", (ToolResult(f"c{at}", (Text("ok"),)),)))
    return made


def changed(*calls):
    return [(slot.scope, slot.key, slot.stale, slot.latest) for slot in slots(session(*calls))]


def edit(old, new, path="/c.toml"):
    return ("edit", {"path": path, "old": old, "new": new})


def bash(command):
    return ("bash", {"command": command})


LIMITS = 'name = "x"\nlimit_a = 30\nlimit_b = 40\n'
CHANGED = [
    ("a setting", [edit("workers = 8", "workers = 4")], [("/c.toml", "workers", ("8",), "4")]),
    ("twice", [edit("max_n: 8", "max_n: 4"), edit("max_n: 4", "max_n: 6")], [("/c.toml", "max_n", ("8", "4"), "6")]),
    ("and back again", [edit("max_n: 8", "max_n: 4"), edit("max_n: 4", "max_n: 8")],
     [("/c.toml", "max_n", ("4",), "8")]),
    ("JSON", [edit('"ttl_s": 300,', '"ttl_s": 120,', "/c.json")], [("/c.json", "ttl_s", ("300",), "120")]),
    ("a constant of code", [edit("MAX_TAGS = 4", "MAX_TAGS = 9", "/a.py")], [("/a.py", "MAX_TAGS", ("4",), "9")]),
    ("a variable of code", [edit("count = 4", "count = 9", "/a.py")], []),
    ("a sentence", [edit("The whole wall is 41 m long.", "The whole wall is 39 m long.", "/a.md")],
     [("/a.md", "The whole wall is # m long.", ("41",), "39")]),
    ("a sentence of code", [edit("# The whole wall is 41 m", "# The whole wall is 39 m", "/a.py")], []),
    ("two values of a sentence", [edit("The wall is 41 m and 3 m.", "The wall is 39 m and 4 m.", "/a.md")], []),
    ("a value of another kind", [edit("The visit is on 12 May then.", "The visit is on 4 then.", "/a.md")], []),
    ("other words", [edit("The wall is 41 m long.", "The pond is 39 m deep.", "/a.md")], []),
    ("a line more", [edit("limit_n = 41", "limit_n = 41\nlimit_m = 39")], []),
    ("the whole file again", [("write", {"path": "/c.toml", "content": LIMITS}),
                              ("write", {"path": "/c.toml", "content": LIMITS.replace("40", "50")})],
     [("/c.toml", "limit_b", ("40",), "50")]),
    ("sed", [bash("sed -i 's/^workers = 8$/workers = 4/' /c.toml")], [("/c.toml", "workers", ("8",), "4")]),
    ("rows of a table", [bash("printf 'cap\\t9,500\\told\\n' >> /n.tsv"),
                         bash("printf 'cap\\t11,200\\tnew\\n' >> /n.tsv")],
     [("/n.tsv", "cap", ("9,500",), "11,200")]),
    ("rows from a here-document", [bash("cat >> /n.tsv <<'X'\nmove date\tSat 3 October\nX"),
                                   bash("cat >> /n.tsv <<'X'\nmove date\tSat 10 October\nX")],
     [("/n.tsv", "move date", ("3 October",), "10 October")]),
    ("rows of records", [bash("printf 'site\\t100\\nsite\\t200\\n' >> /n.tsv"),
                         bash("printf 'site\\t300\\n' >> /n.tsv")], []),
    ("rows in other units", [bash("printf 'matter\\t24 pages\\n' >> /n.tsv"),
                             bash("printf 'matter\\t300 words\\n' >> /n.tsv")], []),
    ("a latest row that cannot be told", [bash("printf 'wall\\t14 m\\n' >> /n.tsv"),
                                          bash("printf 'wall\\t13 m\\n' >> /n.tsv"),
                                          bash("printf 'wall\\t8 m\\n' >> /n.tsv")], []),
    ("a setting that is gone", [edit("workers = 8", "workers = 4"), edit("workers = 4", "# none")], []),
    ("a sentence that is gone", [edit("The whole wall is 41 m long.", "The whole wall is 39 m long.", "/a.md"),
                                 edit("The whole wall is 39 m long.", "No wall.", "/a.md")], []),
    ("options of two commands", [bash("run --retries 3"), bash("run --retries 5")], []),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "expected"), [case[1:] for case in CHANGED], ids=[case[0] for case in CHANGED])
def test_calls_that_change_one_value_of_a_key_or_a_line_make_a_slot(calls, expected):
    assert changed(*calls) == expected


def test_the_same_key_in_two_files_is_two_slots():
    calls = [edit("workers = 8", "workers = 4", "/a.toml"), edit("workers = 8", "workers = 6", "/b.toml")]
    assert [(slot.scope, slot.latest) for slot in slots(session(*calls))] == [("/a.toml", "4"), ("/b.toml", "6")]


def test_near_duplicates_are_slots_of_their_own():
    calls = [edit("staging-01 = 5432", "staging-01 = 5433"), edit("staging-02 = 6000", "staging-02 = 6001")]
    assert changed(*calls) == [
        ("/c.toml", "staging-01", ("5432",), "5433"),
        ("/c.toml", "staging-02", ("6000",), "6001"),
    ]


def test_a_call_that_failed_changed_nothing():
    history = session(edit("workers = 8", "workers = 4"))
    history[2] = Message("tool", (ToolResult("c0", (Text("not found"),), is_error=True),))
    assert slots(history) == ()


def shown(text, path="/c.toml", **more):
    return "read", {"path": path, **more}, text


FILES = [
    ("a file read again", [shown("workers = 8\nx"), shown("workers = 4\nx")], [("/c.toml", "workers", ("8",), "4")]),
    ("with numbers before its lines", [shown("1\tworkers = 8\n2\tx"), shown("     1→workers = 4\n     2→x")],
     [("/c.toml", "workers", ("8",), "4")]),
    ("shown by a shell", [("bash", bash("cat /c.toml")[1], "workers = 8"), shown("workers = 4")],
     [("/c.toml", "workers", ("8",), "4")]),
    ("two files", [shown("workers = 8"), shown("workers = 4", "/d.toml")], []),
    ("parts of a file", [shown("workers = 8", limit=1), shown("workers = 4", limit=1)], []),
    ("a key of two sections", [shown("[a]\nn_x = 8\n[b]\nn_x = 9"), shown("[a]\nn_x = 4\n[b]\nn_x = 5")], []),
    ("a file read and then written whole",
     [shown("workers = 8"), ("write", {"path": "/c.toml", "content": "workers = 4"}, "ok")],
     [("/c.toml", "workers", ("8",), "4")]),
    ("a sample in a document", [shown('title: "Hello",', "/a.md"), shown('title: "My Page",', "/a.md")], []),
    ("a line of a document", [shown("- budget: 300", "/a.md"), shown("- budget: 340", "/a.md")],
     [("/a.md", "budget", ("300",), "340")]),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "expected"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_a_file_that_shows_another_value_when_it_is_read_again_makes_a_slot(steps, expected):
    history = trials.session(*steps)
    assert [(slot.scope, slot.key, slot.stale, slot.latest) for slot in slots(history)] == expected


def test_a_file_that_could_not_be_read_shows_nothing():
    history = trials.session(shown("workers = 8"), ("read", {"path": "/c.toml"}, ("workers = 4",)))
    assert slots(history) == ()


TALK = [
    ("one change", ["The port is not 5433 but 5434."], [("port", ("5433",), "5434")]),
    ("told twice", ["The port is not 5433 but 5434.", "Noted: the port went from 5433 to 5434."],
     [("port", ("5433",), "5434")]),
    ("going on in other words",
     ["The port of the relay is not 5433 but 5434.", "The new relay port is no longer 5434 but 5435."],
     [("port relay", ("5433", "5434"), "5435")]),
    ("of two things", ["The port is not 5433 but 5434.", "The price is not 5434 but 5435."],
     [("port", ("5433",), "5434"), ("price", ("5434",), "5435")]),
    ("a figure in a larger one", ["The call comes not in 24 but 4 hours."], [("call comes", ("24",), "4")]),
    ("a date in a longer one", ["The call moved from 12 May to 12 May 2026."], []),
    ("one rename in two sentences",
     ["The gate: renamed `old_gate` to `new_gate`.", "Renamed `old_gate` to `new_gate` here."],
     [("gate", ("old_gate",), "new_gate")]),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "expected"), [case[1:] for case in TALK], ids=[case[0] for case in TALK])
def test_changes_that_talk_tells_of_one_thing_make_one_slot(texts, expected):
    found = slots([message for text in texts for message in (user(text), agent("Noted."))])
    assert [(slot.key, slot.stale, slot.latest) for slot in found] == expected


def test_what_talk_tells_of_a_value_in_a_file_is_no_second_slot():
    history = [
        *session(edit("ring_width = 4300", "ring_width = 3850")),
        user("So the width of the ring is now £3,850, not £4,300."),
    ]
    assert [slot.scope for slot in slots(history)] == ["/c.toml"]
    other = [*history[:-1], user("So the depth of the pond is now £3,850, not £4,300.")]
    assert [slot.scope for slot in slots(other)] == ["/c.toml", ""]


def test_words_of_a_prompt_a_tool_and_a_note_correct_nothing():
    text = "The port is not 5433 but 5434."
    history = [system(text), user(text, synthetic=True), Message("tool", (ToolResult("c", (Text(text),)),))]
    assert slots(history) == ()
    assert len(slots([user(text)])) == 1


@given(messages())
def test_slots_of_any_history_have_a_latest_value_that_is_not_stale(history):
    for slot in slots(repair(history).messages):
        assert slot.stale
        assert slot.words
        assert slot.latest not in slot.stale


@given(st.lists(st.integers(10, 99), min_size=2, max_size=6))
def test_the_latest_value_is_the_last_one_written(values):
    calls = [bash(f"printf 'door width\\t{value}\\n' >> /n.tsv") for value in values]
    found = slots(session(*calls))
    if len(set(values)) == 1:
        assert found == ()
    else:
        assert found[0].latest == str(values[-1])
        assert set(found[0].stale) == {str(value) for value in values} - {str(values[-1])}


MOVE = {("cap", "11,200"), ("move date", "10 October"), ("sale date", "26 September"), ("frame", "64")}
DESK = {("call hours promised", "4"), ("cap", "45.00"), ("fee restocking", "8 %"), ("delivery", "31 March")}
HAND = [
    ("subagent-etl", {("max_attempts", "1"), ("workers", "4")}, 2),
    ("subagent-orders", {("ttl_seconds", "120")}, 1),
    ("subconscious-move", MOVE, 12),
    ("subagent-support", DESK, 6),
    ("subagent-tally", {("characters limit", "120")}, 1),
    ("subagent-incident", {("due network team", "2026-03-06")}, 1),
    ("primary-novel", {("delivery", "15 May"), ("chapter stays words", "2,000")}, 2),
    ("primary-move", {("list", "£10,599.60")}, 1),
    ("primary-boatyard", set(), 0),
    ("subconscious-garden", {("opening", "2026-05-24"), ("tam_start", "2026-04-07"), ("book_words", "21000")}, 16),
]


@pytest.mark.parametrize(("name", "expected", "count"), HAND)
def test_the_changes_of_recorded_sessions_were_read_by_hand(name, expected, count):
    (transcript,) = read(runs.FIXTURES / f"{name}.jsonl")
    found = slots(repair(transcript.messages).messages)
    assert expected <= {(slot.key, slot.latest) for slot in found}
    assert len(found) == count
