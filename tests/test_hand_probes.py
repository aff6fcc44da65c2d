"""Questions made by hand: which may be asked at a cut, and what a compacted history still answers."""

import json
from pathlib import Path

import pytest
from histories import agent, call, messages, result, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.probes.hand import SHORT_ANSWER, HandProbes, Probe, beside, load
from compactlab.readers import read
from compactlab.transcript import Message

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
FILES = sorted(FIXTURES.glob("*.probes.jsonl"))

PORT = Probe("p", "Which port does the database use?", "5433", (4,), 5, aliases=("fifty-four thirty-three",))
WIDTH = Probe("w", "How wide is the frame, in centimetres?", "64", (2, 6), 6, aliases=("64 cm",), superseded=("61",))
TOWN = Probe("t", "Where does Ansel live now?", "Hollin End", (3,), 3, superseded=("Marlow Street",))


def verdict(probe, *history):
    return HandProbes([probe]).verdicts(history)[0]


JUDGED = [
    ("nothing", PORT, [], "lost"),
    ("its evidence", PORT, [user("5433", source=4)], "kept"),
    ("an alias in its evidence", PORT, [user("It is fifty-four  thirty-three.", source=4)], "kept"),
    ("in another case", TOWN, [user("hollin end", source=3)], "kept"),
    ("bare elsewhere", PORT, [user("5433", source=7)], "lost"),
    ("bare in made text", PORT, [user("5433")], "lost"),
    ("bound elsewhere", PORT, [user("the database: 5433", source=7)], "kept"),
    ("bound in made text", PORT, [user("[Summary] port 5433")], "kept"),
    ("by a word that the question lacks", PORT, [user("the socket: 5433")], "lost"),
    ("by a word nine words away", PORT, [user(f"port {'of ' * 8}5433")], "lost"),
    ("by a word eight words away", PORT, [user(f"port {'of ' * 7}5433")], "kept"),
    ("by a word of another block", PORT, [agent("The database port is", "5433")], "lost"),
    ("a near value in its evidence", PORT, [user("54331 or 1.5433", source=4)], "lost"),
    ("evidence that was edited", PORT, [user("[cleared]", source=4)], "lost"),
    ("in the arguments of its evidence", PORT, [agent(call("c", "sh", '{"p": "5433"}'), source=4)], "kept"),
    ("in a result of its evidence", PORT, [Message("tool", (result("c", "5433"),), source=4)], "kept"),
    ("a short answer bare in its evidence", WIDTH, [user("64", source=2)], "lost"),
    ("a short answer bound in its evidence", WIDTH, [user("64 wide", source=2)], "kept"),
    ("a short answer bound elsewhere", WIDTH, [user("frame: 64")], "kept"),
    ("a longer alias bare in its evidence", WIDTH, [user("64 cm", source=2)], "kept"),
    ("a longer alias bare elsewhere", WIDTH, [user("64 cm")], "lost"),
    ("a short answer in a longer number", WIDTH, [user("The frame is 64.5 or 164 or 1,064 wide", source=2)], "lost"),
    ("an older value alone", TOWN, [user("Ansel is in Marlow Street")], "stale"),
    ("an older value bare elsewhere", TOWN, [user("Marlow Street")], "lost"),
    ("an older value in the evidence", TOWN, [user("Not Marlow Street!", source=3)], "stale"),
    ("old and new", TOWN, [user("Marlow Street", source=3), user("Ansel: Hollin End")], "both"),
    ("old and new in one block", TOWN, [user("Hollin End, not Marlow Street", source=3)], "both"),
    ("a short older value bound", WIDTH, [user("The frame is 61 wide", source=2)], "stale"),
    ("a short older value bare", WIDTH, [user("61", source=2)], "lost"),
    ("a short older value and the new one", WIDTH, [user("61 wide"), user("64 wide")], "both"),
]


@pytest.mark.parametrize(
    ("probe", "history", "expected"), [case[1:] for case in JUDGED], ids=[case[0] for case in JUDGED]
)
def test_an_answer_counts_in_its_evidence_or_bound_to_its_question(probe, history, expected):
    assert verdict(probe, *history) == expected


@pytest.mark.parametrize(
    ("answer", "text", "expected"),
    [
        ("12 kWh", "It used 12 kWh.", "kept"),
        ("12 kWh", "It used 1.12 kWh.", "lost"),
        ("340 EUR", "It cost 1,340 EUR.", "lost"),
        ("€340", "It cost €340.50.", "lost"),
        ("/a/b.py", "It is in /a/b.py.", "kept"),
        ("/srv/app", "It is in /srv/app/old.", "lost"),
        ("staging-01", "It is staging-011.", "lost"),
        ("staging-01", "It is staging-01-old.", "lost"),
        ("1204", "It is 1204.5.", "lost"),
        ("1,204", "It is 1,204.5.", "lost"),
        ("1,204", "It is 1,204.", "kept"),
        ("v1.2", "It is v1.2.3.", "lost"),
        ("20 m²", "It measures 20 m² in all.", "kept"),
        ("9½ hours", "It took 9½ hours.", "kept"),
        ("wait…", "She said wait…", "kept"),
        ("two  words", "It is two words.", "kept"),
        ("Ａnsel", "It was Ansel.", "kept"),
        ("第三街十二號", "他住在第三街十二號。", "kept"),
        ("no\x00pe", "no\x00pe", "kept"),
    ],
)
def test_an_answer_ends_where_the_value_ends_however_it_is_written(answer, text, expected):
    probe = Probe("x", "What is it?", answer, (0,), 0)
    assert verdict(probe, user(text, source=0)) == expected


def test_a_word_of_the_question_that_is_part_of_an_answer_binds_nothing():
    probe = Probe("x", "How heavy is the garden key?", "garden key", (0,), 0)
    assert verdict(probe, user("garden key")) == "lost"
    assert verdict(probe, user("heavy garden key")) == "kept"


def test_probes_are_judged_apart_and_in_their_order():
    probes = HandProbes([PORT, WIDTH, TOWN])
    history = [user("5433", source=4), user("Marlow Street", source=3), user("64")]
    assert probes.verdicts(history) == ["kept", "lost", "stale"]
    assert probes.verdicts([]) == ["lost", "lost", "lost"]
    assert HandProbes([]).verdicts(history) == []


def test_the_same_words_count_in_their_evidence_and_not_elsewhere():
    probes = HandProbes([PORT])
    assert probes.verdicts([user("5433", source=7)]) == ["lost"]
    assert probes.verdicts([user("5433", source=4)]) == ["kept"]
    assert probes.verdicts([user("5433", source=7)]) == ["lost"]


@pytest.mark.parametrize(
    ("cut", "protected", "expected"),
    [
        (0, [], ()),
        (3, [], ()),
        (4, [], ("t",)),
        (5, [], ("t",)),
        (6, [], ("p", "t")),
        (7, [], ("p", "w", "t")),
        (99, [], ("p", "w", "t")),
        (99, [user("The database port is 5433.")], ("w", "t")),
        (99, [user("5433")], ("p", "w", "t")),
        (99, [user("5433", source=4)], ("w", "t")),
        (99, [user("Ansel left Marlow Street.")], ("p", "w", "t")),
        (99, [user("Ansel left Marlow Street for Hollin End.")], ("p", "w")),
    ],
)
def test_a_probe_is_asked_after_its_time_unless_the_protected_set_answers_it(cut, protected, expected):
    probes = HandProbes([PORT, WIDTH, TOWN])
    assert tuple(probes.probes[i].id for i in probes.admitted(cut, protected)) == expected


def test_an_answer_under_four_characters_is_short():
    assert SHORT_ANSWER == 4
    for answer, expected in (("abc", "lost"), ("abcd", "kept"), ("123", "lost"), ("1234", "kept")):
        assert verdict(Probe("x", "What is the code?", answer, (0,), 0), user(answer, source=0)) == expected


LINE = {"id": "x", "question": "What?", "answer": "that", "evidence": [1], "asked_after": 1}


def test_a_file_of_probes_is_read_blank_lines_and_unknown_fields_passed_over(tmp_path):
    file = tmp_path / "a.probes.jsonl"
    file.write_text(f"{json.dumps(LINE)}\n\n{json.dumps({**LINE, 'aliases': ['it'], 'note': 1})}", encoding="utf-8")
    assert load(file) == (Probe("x", "What?", "that", (1,), 1), Probe("x", "What?", "that", (1,), 1, aliases=("it",)))


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"id": "x"',
        b"\xff\xfe",
        json.dumps({**LINE, "evidence": "1"}).encode(),
        json.dumps({**LINE, "asked_after": None}).encode(),
        json.dumps({**LINE, "answer": 3}).encode(),
        json.dumps({**LINE, "answer": "\ud83d"}).encode(),
        json.dumps({**LINE, "answer": "\xff"}, ensure_ascii=False).encode("latin-1"),
    ],
)
def test_a_line_that_is_no_probe_is_named(tmp_path, line):
    file = tmp_path / "a.probes.jsonl"
    file.write_bytes(json.dumps(LINE).encode() + b"\n" + line + b"\n")
    with pytest.raises(TranscriptError, match=r"a\.probes\.jsonl: line 2 is no probe"):
        load(file)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(TranscriptError, match="cannot be read"):
        load(tmp_path / name)


def test_probes_are_found_beside_their_transcript(tmp_path):
    transcript = tmp_path / "talk.jsonl"
    assert beside(transcript) is None
    (tmp_path / "talk.probes.jsonl").touch()
    assert beside(transcript) == tmp_path / "talk.probes.jsonl"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_whole_history_answers_every_recorded_probe_and_nothing_answers_none(file):
    probes = HandProbes(load(file))
    (transcript,) = read(file.with_name(file.name.replace(".probes", "")))
    assert len(probes.probes) >= 8
    assert set(probes.verdicts(transcript.messages)) <= {"kept", "both"}
    assert set(probes.verdicts([])) == {"lost"}


def test_the_recorded_probes_were_found():
    assert len(FILES) == 13


@given(messages(min_events=3), st.data())
def test_more_messages_never_answer_less(history, data):
    probes = HandProbes([
        Probe("a", "Which port has the orders table?", "5433", (1,), 0, superseded=("5432",)),
        Probe("b", "How many rows did the build count?", "1240", (2,), 0, aliases=("1204",)),
        Probe("c", "Where is the config of the app?", "/etc/app/config.toml", (3,), 0),
        Probe("d", "Who is done?", "done", (0,), 0, superseded=("yes",)),
    ])  # fmt: skip
    more = data.draw(st.lists(st.sampled_from(history or (user(),)), unique_by=id))
    fewer = data.draw(st.lists(st.sampled_from(more), unique_by=id)) if more else []
    for large, small in zip(probes.verdicts(more), probes.verdicts(fewer), strict=True):
        assert small not in {"kept", "both"} or large in {"kept", "both"}
        assert small not in {"stale", "both"} or large in {"stale", "both"}


def test_a_made_copy_of_the_evidence_needs_a_word_of_the_question():
    evidence = user("It is 5433.", source=4)
    assert verdict(PORT, evidence) == "kept"
    assert verdict(PORT, replace(evidence, source=None, synthetic=True)) == "lost"
