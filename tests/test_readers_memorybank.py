"""MemoryBank: one session a person, days in their order, each message with its day."""

import json
import os
from pathlib import Path

import pytest

from compactlab import catalog
from compactlab.readers import Source, read
from compactlab.transcript import Message, Text

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS") or Path(__file__).parent.parent.parent / "shared" / "transcripts")
recorded = pytest.mark.skipif(not CORPUS.is_dir(), reason="no folder of recorded transcripts")

BANK = {
    " Ada ": {
        "name": "Ada",
        "summary": {"2023-04-27": "Said hello."},
        "personality": {},
        "meta_information": {"name": "Ada", "hobbies": "chess", "speaking_style": "x" * 400},
        "history": {
            "2023-04-28": [{"query": "Back again", "response": "Hello, Ada"}],
            "2023-04-27": [{"query": "Hi", "response": "Hello"}, {"query": "Bye", "response": ""}, 3],
        },
    },
    "Bob": {"name": "Bob", "history": {"2023-05-01": [["Hey", "Yes?"]], "2023-05-02": []}},
    "Eve": {"name": "Eve"},
}


def transcripts(tmp_path, value):
    path = tmp_path / "bank.json"
    path.write_text(json.dumps(value))
    return read(path)


def test_each_person_is_a_session_and_each_message_has_its_day(tmp_path):
    ada, bob = transcripts(tmp_path, BANK)
    assert [ada.id, bob.id] == ["bank/Ada", "bank/Bob"]
    assert ada.messages == (
        Message("user", (Text("Back again"),), source=0, timestamp="2023-04-28"),
        Message("assistant", (Text("Hello, Ada"),), source=0, timestamp="2023-04-28"),
        Message("user", (Text("Hi"),), source=1, timestamp="2023-04-27"),
        Message("assistant", (Text("Hello"),), source=1, timestamp="2023-04-27"),
        Message("user", (Text("Bye"),), source=2, timestamp="2023-04-27"),
    )
    assert [message.text for message in bob.messages] == ["Hey", "Yes?"]


def test_a_message_stands_in_its_day(tmp_path):
    ada, bob = transcripts(tmp_path, BANK)
    assert ada.place(ada.messages[0]).endswith("bank.json:  Ada .history.2023-04-28[0]")
    assert ada.place(ada.messages[4]).endswith("Ada .history.2023-04-27[1]")
    assert bob.place(bob.messages[1]).endswith("Bob.history.2023-05-01[0]")


def test_short_traits_are_in_the_header_and_summaries_nowhere(tmp_path):
    ada, _ = transcripts(tmp_path, BANK)
    assert ada.header == {"hobbies": "chess"}
    assert "Said hello." not in "".join(message.text for message in ada.messages)


def test_what_is_no_pair_or_no_history_is_counted(tmp_path):
    ada, bob = transcripts(tmp_path, BANK)
    assert (ada.intake.records, ada.intake.unknown) == (4, {"entry that is no pair": 1})
    assert bob.intake.unknown == {"entry without a history": 1}


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"a": 1},
        {"a": {"history": []}},
        {"a": {"history": {"Monday": []}}},
        {"a": {"history": {"2023-01-01": [3]}}},
    ],
)
def test_what_is_no_bank_is_not_taken(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert catalog.load("readers", "memorybank").sniff(Source(path)) == 0


@recorded
def test_the_recorded_bank_is_read_whole():
    found = read(CORPUS / "memorybank" / "memory_bank_en.json")
    assert (len(found), sum(len(transcript.messages) for transcript in found)) == (15, 1132)
    assert {transcript.messages[0].timestamp for transcript in found} == {"2023-04-27"}
