"""Claude Code files that belong together: continued and copied sessions, agents and summarisers."""

import json

import pytest
from claude_code_records import SESSION, agent, answer, boundary, summary, text, told, use, user, write_records

from compactlab.readers import read

OTHER = "22222222-bbbb"
WORDS = "<analysis>Long.</analysis>\n\n<summary>\nAll is well.\n</summary>"
SUMMARY = "This session is being continued from a previous conversation. Summary:\nAll is well."


def side(agent_id, words, session=SESSION):
    of = {"isSidechain": True, "agentId": agent_id, "sessionId": session}
    return [user(f"u-{agent_id}", None, "Summarise", **of), agent(f"a-{agent_id}", f"u-{agent_id}", "mx", *words, **of)]


def compacted(session=SESSION):
    records = [
        user("u1", None, "Go"),
        agent("a1", "u1", "m1", text("Long work.")),
        boundary("b1", "a1", trigger="auto"),
        summary("u2", "b1", SUMMARY),
        agent("a2", "u2", "m2", text("Done.")),
    ]
    return [record | {"sessionId": session} for record in records]


PLACES = [
    (f"{SESSION}.jsonl", f"{SESSION}/subagents/agent-acompact-e1.jsonl"),
    (f"{SESSION}.jsonl", "11111111-subagents-agent-acompact-e1.jsonl"),
    (f"{SESSION}.jsonl", "agent-acompact-e1.jsonl"),
]


@pytest.mark.parametrize(("main", "beside"), PLACES)
def test_the_summariser_is_found_for_the_file_and_for_its_folder_and_stays_a_transcript(tmp_path, main, beside):
    write_records(tmp_path / main, *compacted())
    write_records(tmp_path / beside, *side("acompact-e1", [text(WORDS)]))
    of_file, of_folder = read(tmp_path / main), read(tmp_path)
    name = f"{SESSION}-agent-acompact-e1"
    assert [c.summariser for c in of_file[0].compactions] == [name]
    assert sorted((t.id, t.agent_type, t.cluster, len(t.messages)) for t in of_folder) == [
        (SESSION, "primary", SESSION, 3),
        (name, "subconscious", SESSION, 2),
    ]
    assert [c.summariser for t in of_folder for c in t.compactions] == [name]


@pytest.mark.parametrize(
    "records",
    [
        side("acompact-e1", [text("Something else.")]),
        side("acompact-e1", [text(WORDS)], session=OTHER),
        side("acompact-e1", []),
        [],
    ],
    ids=["other words", "other session", "no words", "empty file"],
)
def test_a_summariser_that_does_not_fit_is_none(tmp_path, records):
    write_records(tmp_path / f"{SESSION}.jsonl", *compacted())
    write_records(tmp_path / f"{SESSION}/subagents/agent-acompact-e1.jsonl", *records)
    assert [c.summariser for c in read(tmp_path / f"{SESSION}.jsonl")[0].compactions] == [""]


def test_each_of_two_compactions_has_its_own_summariser(tmp_path):
    again = [
        boundary("b2", "a2", trigger="auto"),
        summary("u3", "b2", "Later: more."),
        agent("a3", "u3", "m3", text("x")),
    ]
    write_records(tmp_path / f"{SESSION}.jsonl", *compacted(), *again)
    write_records(tmp_path / f"{SESSION}/subagents/agent-acompact-a.jsonl", *side("acompact-a", [text("Later: more.")]))
    write_records(tmp_path / f"{SESSION}/subagents/agent-acompact-b.jsonl", *side("acompact-b", [text(WORDS)]))
    found = [c.summariser for c in read(tmp_path / f"{SESSION}.jsonl")[0].compactions]
    assert found == [f"{SESSION}-agent-acompact-b", f"{SESSION}-agent-acompact-a"]


@pytest.mark.parametrize("beside", [f"{SESSION}/subagents/agent-a7.jsonl", "agent-a7.jsonl"])
def test_an_agent_has_the_cluster_of_its_session_and_its_kind_from_the_file_beside_it(tmp_path, beside):
    write_records(tmp_path / f"{SESSION}.jsonl", user("u0", None, "Old", sessionId=OTHER), user("u1", "u0", "Go"))
    file = write_records(tmp_path / beside, *side("a7", [text("Found.")]))
    file.with_name("agent-a7.meta.json").write_text(json.dumps({"agentType": "Explore", "description": "Look around"}))
    main, helper = sorted(read(tmp_path), key=lambda t: t.agent_type)
    assert (main.cluster, helper.cluster, helper.agent_type) == (OTHER, OTHER, "subagent")
    assert (helper.id, helper.title, helper.header["agent"]) == (f"{SESSION}-agent-a7", "Look around", "Explore")
    assert read(file)[0] == helper


def legacy(leaf, at="2026-02-12T17"):
    first = summary("s1", None, SUMMARY, timestamp=f"{at}:00:00Z", sessionId=OTHER)
    return [
        {"type": "summary", "summary": "Another title", "leafUuid": "nowhere"},
        {"type": "summary", "summary": "Title", "leafUuid": leaf},
        first,
        agent("a9", "s1", "m9", text("Going on."), sessionId=OTHER),
    ]


def earlier(name="", at="2026-02-12T16"):
    return [
        user(f"u1{name}", None, f"Go {name}", timestamp=f"{at}:00:00Z"),
        agent(f"a1{name}", f"u1{name}", "m1", use("c1"), timestamp=f"{at}:00:01Z"),
        answer(f"r1{name}", f"a1{name}", "c1", timestamp=f"{at}:00:02Z"),
    ]


def test_an_older_file_has_the_story_of_the_one_that_it_continues_in_front(tmp_path):
    write_records(tmp_path / "a.jsonl", *earlier())
    file = write_records(tmp_path / "b.jsonl", *legacy("r1"))
    write_records(tmp_path / "c.jsonl", *earlier("x"))
    [transcript] = read(file)
    assert told(transcript.messages) == [
        ("user", "Go "),
        ("assistant", ["c1"]),
        ("tool", ["c1"]),
        ("assistant", "Going on."),
    ]
    [compaction] = transcript.compactions
    assert (compaction.position, compaction.summary) == (3, SUMMARY)
    assert transcript.before(0) == transcript.messages[:3]
    assert [m.text for m in transcript.view(4)] == [SUMMARY, "Going on."]
    places = [transcript.place(message).split("/")[-1] for message in (*transcript.messages, *transcript.after(0))]
    assert places == ["a.jsonl: line 1", "a.jsonl: line 2", "a.jsonl: line 3", "b.jsonl: line 4", "b.jsonl: line 3"]
    assert transcript.intake.records == 7
    assert (transcript.id, transcript.cluster) == (OTHER, SESSION)


def test_files_that_continue_each_other_in_a_chain_are_one_story(tmp_path):
    write_records(tmp_path / "c.jsonl", *earlier())
    write_records(tmp_path / "b.jsonl", *legacy("r1"))
    last = [record | {"uuid": f"z{i}"} for i, record in enumerate(legacy("a9", at="2026-02-12T18"))]
    last[3]["parentUuid"] = "z2"
    [transcript] = read(write_records(tmp_path / "a.jsonl", *last))
    assert [c.position for c in transcript.compactions] == [3, 4]
    assert [m.text for m in transcript.before(1)] == [SUMMARY, "Going on."]
    assert len(transcript.origins) == 3


def test_of_two_files_that_a_title_may_mean_the_later_one_before_it_is_taken(tmp_path):
    write_records(tmp_path / "a.jsonl", *earlier("x", at="2026-02-12T15"))
    write_records(tmp_path / "b.jsonl", *earlier("y", at="2026-02-12T16"))
    write_records(tmp_path / "c.jsonl", *earlier("z", at="2026-02-12T19"))
    titles = [{"type": "summary", "summary": "T", "leafUuid": leaf} for leaf in ("r1x", "r1y", "r1z")]
    [transcript] = read(write_records(tmp_path / "d.jsonl", *titles, *legacy("nowhere")[2:]))
    assert transcript.messages[0].text == "Go y"


def test_two_files_that_claim_to_continue_each_other_end(tmp_path):
    write_records(tmp_path / "a.jsonl", *legacy("b9", at="2026-02-12T17"))
    other = [
        record | {"uuid": record.get("uuid", "").replace("a9", "b9")} for record in legacy("a9", at="2026-02-12T17")
    ]
    [transcript] = read(write_records(tmp_path / "b.jsonl", *other))
    assert transcript.messages


def test_a_session_of_which_all_was_copied_into_a_later_file_is_not_read_again(tmp_path):
    write_records(tmp_path / f"{SESSION}.jsonl", *earlier())
    write_records(tmp_path / "0.jsonl", *earlier(), user("u2", "r1", "On", sessionId="0"))
    assert [(t.id, len(t.messages)) for t in read(tmp_path)] == [("0", 4)]


def test_a_session_that_went_on_after_it_was_copied_is_a_session_of_its_own(tmp_path):
    write_records(tmp_path / f"{SESSION}.jsonl", *earlier(), user("u7", "r1", "Other way"))
    write_records(tmp_path / "0.jsonl", *earlier(), user("u2", "r1", "On", sessionId="0"))
    assert {t.id: t.cluster for t in read(tmp_path)} == {"0": SESSION, SESSION: SESSION}


def test_spilled_results_are_not_read(tmp_path):
    write_records(tmp_path / f"{SESSION}.jsonl", *earlier())
    spilled = tmp_path / SESSION / "tool-results" / "toolu_1.txt"
    spilled.parent.mkdir(parents=True)
    spilled.write_text("A very long result.")
    assert [t.id for t in read(tmp_path)] == [SESSION]
