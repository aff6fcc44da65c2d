"""Where opencode keeps its sessions: folders, dumps of tables, databases; all give the same, each session once."""

import json
import os
from pathlib import Path

import pytest
import runs
from msgspec.structs import replace
from opencode_records import SES, agent, database, dumps, export, folders, session, tool, user

from compactlab.errors import TranscriptError
from compactlab.readers import read, sniff, survey

CORPUS = Path(os.environ.get("COMPACTLAB_CORPUS", runs.CHECKOUT.parent / "shared" / "transcripts"))
STORY = [user(1, "Read"), agent(2, "ok", tool("c1", "one")), user(3, "more"), agent(4, "done")]
CHILD = session("ses_2", parentID=SES)
GRANDCHILD = session("ses_3", parentID="ses_2")


def content(transcript):
    return tuple(replace(message, source=None) for message in transcript.messages)


@pytest.fixture
def expected(tmp_path):
    [transcript] = read(export(tmp_path / "expected.json", STORY))
    return transcript


@pytest.mark.parametrize("which", range(8))
def test_any_file_of_the_folders_gives_the_whole_session(tmp_path, expected, which):
    paths = folders(tmp_path, STORY)
    folders(tmp_path, [user(9, "other")], session("ses_9"))
    path = paths[[0, 1, 2, 3, 4, 5, 6, 8][which]]
    assert sniff(path) == "opencode"
    [transcript] = read(path)
    assert (transcript.id, transcript.title) == (SES, "Work")
    assert content(transcript) == content(expected)
    assert transcript.place(transcript.messages[1]) == f"{tmp_path}/storage/message/{SES}/msg_002.json: message"


def test_a_folder_gives_each_session_once(tmp_path):
    folders(tmp_path, STORY)
    folders(tmp_path, STORY, CHILD)
    (tmp_path / "storage" / "migration").write_text("2")
    found = read(tmp_path)
    assert [(t.id, t.agent_type, t.cluster) for t in found] == [(SES, "primary", SES), ("ses_2", "subagent", SES)]


def test_the_folders_of_the_first_versions(tmp_path, expected):
    """`session/info/SESSION.json`, and parts below their session and their message."""
    base = tmp_path / "storage" / "session"
    paths = folders(tmp_path, STORY, base="storage/session")
    for path in list(paths[1:]):
        if path.parent.parent.name == "part":
            target = base / "part" / SES / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    (base / "info").mkdir()
    paths[0].rename(base / "info" / f"{SES}.json")
    for path in sorted(base.rglob("*.json")):
        [transcript] = read(path)
        assert content(transcript) == content(expected)
        assert transcript.title == "Work"


def test_a_file_without_its_folders_says_so(tmp_path):
    path = tmp_path / "msg_001.json"
    path.write_text(json.dumps({"id": "msg_001", "sessionID": SES, "role": "user", "time": {"created": 1}}))
    with pytest.raises(TranscriptError, match="no folder message/ses_1 in a folder above it"):
        read(path)


def test_a_name_that_leads_out_of_the_folders_is_not_followed(tmp_path):
    path = tmp_path / "message" / "x" / "m.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"id": "m", "sessionID": "../message/x", "role": "user", "time": {}}))
    with pytest.raises(TranscriptError, match="no folder"):
        read(path)


def test_a_broken_file_of_a_session_is_a_problem(tmp_path):
    paths = folders(tmp_path, STORY)
    paths[2].write_text('{"id": "prt')
    [transcript] = read(paths[0])
    assert [m.text for m in transcript.messages][-1] == "done"
    assert [problem.startswith(f"{paths[2]}: not JSON") for problem in transcript.intake.problems] == [True]


@pytest.mark.parametrize("which", range(3))
def test_any_dump_gives_all_sessions(tmp_path, expected, which):
    folder = tmp_path / "dumps"
    folder.mkdir()
    sessions = [(session(), STORY), (CHILD, [user(11, "sub")]), (GRANDCHILD, [user(12, "deep")])]
    path = dumps(folder, sessions)[which]
    assert sniff(path) == "opencode"
    found = {t.id: t for t in read(path)}
    assert content(found[SES]) == content(expected)
    assert {name: (t.agent_type, t.cluster) for name, t in found.items()} == {
        SES: ("primary", SES),
        "ses_2": ("subagent", SES),
        "ses_3": ("subagent", SES),
    }
    assert found[SES].place(found[SES].messages[0]).endswith("messages.json: row 5")
    assert len(read(folder)) == 3


def test_dumps_do_without_the_sessions_but_not_without_the_parts(tmp_path):
    paths = dumps(tmp_path, [(session(), STORY)])
    paths[0].unlink()
    assert [(t.id, t.title) for t in read(paths[1])] == [(SES, "")]
    paths[2].unlink()
    with pytest.raises(TranscriptError, match="a dump of table message without one of table part"):
        read(paths[1])


def test_broken_data_of_a_row_is_a_problem(tmp_path):
    paths = dumps(tmp_path, [(session(), STORY)])
    rows = json.loads(paths[2].read_text())
    rows[0]["data"] = '{"type": '
    paths[2].write_text(json.dumps(rows))
    [transcript] = read(paths[1])
    [problem] = transcript.intake.problems
    assert problem.startswith(f"{paths[2]}: row 0: data is not JSON")


LACKING = [
    (),
    (("part", "session_id"),),
    (("message", "time_created"), ("session", "time_created")),
    (("session", "parent_id"), ("session", "revert"), ("session", "version")),
]


@pytest.mark.parametrize("drop", LACKING)
def test_databases_of_several_versions(tmp_path, expected, drop):
    sessions = [(session(), STORY), (CHILD, [user(11, "sub")])]
    path = database(tmp_path / "opencode.db", sessions, drop)
    assert sniff(path) == "opencode"
    found = {t.id: t for t in read(path)}
    assert set(found) == {SES, "ses_2"}
    assert content(found[SES]) == content(expected)
    assert found[SES].place(found[SES].messages[1]).endswith(f"opencode.db: session {SES}: message 1")
    if ("session", "parent_id") not in drop:
        assert (found["ses_2"].agent_type, found["ses_2"].cluster) == ("subagent", SES)


def test_a_revert_in_a_database_is_json_text(tmp_path):
    path = database(tmp_path / "o.db", [(session(revert={"messageID": "msg_003"}), STORY)])
    [transcript] = read(path)
    assert [m.text for m in transcript.messages if m.role != "tool"] == ["Read", "ok"]


def test_messages_go_by_the_time_of_their_creation(tmp_path):
    late = [user(1, "second", created=20), agent(2, "first", created=10)]
    [transcript] = read(database(tmp_path / "o.db", [(session(), late)]))
    assert [m.text for m in transcript.messages] == ["first", "second"]


def test_the_list_that_the_server_gives_is_an_export(tmp_path, expected):
    path = tmp_path / "list.json"
    held = [{"info": {**m["info"], "sessionID": SES}, "parts": m["parts"]} for m in STORY]
    path.write_text(json.dumps(held))
    assert sniff(path) == "opencode"
    [transcript] = read(path)
    assert transcript.id == SES
    assert content(transcript) == content(expected)


@pytest.mark.skipif(not (CORPUS / "opencode").is_dir(), reason="no COMPACTLAB_CORPUS and no folder here")
def test_recorded_sessions():
    found = survey(CORPUS / "opencode").transcripts
    calls = [[call.id for m in t.messages for call in m.calls] for t in found]
    results = [[r.call_id for m in t.messages for r in m.results] for t in found]
    assert [len(t.messages) for t in found] == [45, 32, 17, 24, 36]
    assert calls == results
    assert sum(r.is_error for t in found for m in t.messages for r in m.results) == 2
