"""The verbs in an agent's hands: schemas that APIs take, a text for every call, never a traceback."""

import json

import pytest
from conversations import memory, said, talk, weighing
from histories import agent, answering, call
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import row

from compactlab.errors import SpecError
from compactlab.memory.tools import dispatch, schemas
from compactlab.transcript import Message, Text, ToolResult

NAMES = ["memory_status", "memory_compact", "ignore_compaction", "memory_restore", "memory_log"]
SLIDE = json.dumps({"strategy": "sliding_window(preserve_recent=4)"})


@pytest.fixture
def there(tmp_path):
    found = memory(tmp_path)
    found.append(talk(30))
    return found


def test_both_shapes_have_the_same_verbs_and_are_plain_json():
    openai, anthropic = schemas("openai"), schemas("anthropic")
    assert [tool["function"]["name"] for tool in openai] == [tool["name"] for tool in anthropic] == NAMES
    assert [tool["function"]["parameters"] for tool in openai] == [tool["input_schema"] for tool in anthropic]
    assert {tool["type"] for tool in openai} == {"function"}
    assert json.loads(json.dumps([openai, anthropic])) == [openai, anthropic]
    for tool in anthropic:
        fields = tool["input_schema"]
        assert (fields["type"], fields["additionalProperties"]) == ("object", False)
        assert set(fields["required"]) <= set(fields["properties"])
        assert all(field["type"] in {"string", "boolean"} for field in fields["properties"].values())
        assert len(tool["description"]) > 40
    with pytest.raises(SpecError, match="expected openai or anthropic"):
        schemas("gemini")


def test_schemas_are_handed_out_anew_so_that_nobody_changes_those_of_others():
    schemas("openai")[1]["function"]["parameters"]["properties"].clear()
    schemas("openai")[1]["function"]["parameters"]["required"].append("x")
    assert "strategy" in schemas("anthropic")[1]["input_schema"]["properties"]


@row("K33-D2")
def test_she_looks_makes_room_reads_what_went_and_takes_it_back(there):
    before = there.messages
    assert "pressure 1." in dispatch("memory_status", "", there)
    assert "would be: sliding_window" in dispatch(
        "memory_compact", {"dry_run": True, "strategy": "sliding_window"}, there
    )
    assert there.messages == before
    felt = dispatch("memory_compact", SLIDE, there)
    assert "journal/compactions/" in felt.split("\n")[-1]
    [one] = there.log().passes
    assert one.id in dispatch("memory_log", None, there)
    assert "nothing was lost: " in dispatch("memory_log", '{"verify": true}', there)
    listed = dispatch("memory_restore", {"entry": one.id}, there).split("\n")
    assert len(listed) == 30
    name = listed[10].split()[0]
    assert dispatch("memory_restore", {"entry": one.id, "message": name}, there) == before[10].text
    assert dispatch("memory_restore", {"entry": one.id, "back": True}, there).count("journal/compactions/") == 1
    assert there.messages == before
    assert there.log(verify=True).holds
    assert len(there.log().passes) == 2


def test_a_decline_is_hers(there):
    told = dispatch("ignore_compaction", '{"reason": "nearly done"}', there)
    assert "nearly done" in told
    assert there.status().declined == "nearly done"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_forget", "{}", "no such tool; expected one of memory_status"),
        ("memory_compact", "{", "the arguments are no JSON object"),
        ("memory_compact", "[]", "the arguments are no JSON object"),
        ("memory_compact", '"summary"', "the arguments are no JSON object"),
        ("memory_compact", '{"strat": "cull"}', "unknown argument 'strat'; expected strategy, focus, dry_run"),
        ("memory_compact", '{"strategy": 7}', "strategy is 7; expected a text"),
        ("memory_compact", '{"dry_run": "yes"}', 'dry_run is "yes"; expected true or false'),
        ("memory_compact", '{"strategy": "forget_all"}', "forget_all"),
        ("memory_compact", '{"strategy": "cull(x=1)"}', "cull"),
        ("memory_compact", '{"strategy": "os:system"}', "expected the name of one"),
        ("memory_compact", '{"strategy": "ladder(os.path:Thing)"}', "expected the name of one"),
        ("memory_status", '{"verbose": true}', "unknown argument 'verbose'; expected none"),
        ("ignore_compaction", "{}", "reason is missing; expected: Why all of it is still needed."),
        ("ignore_compaction", '{"reason": " "}', "reason is missing"),
        ("ignore_compaction", '{"reason": null}', "reason is missing"),
        ("memory_restore", "{}", "entry is missing"),
        ("memory_restore", '{"entry": "2026"}', "expected one of the passes over garden"),
        ("memory_restore", '{"entry": ""}', "entry is missing"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong_and_changes_nothing(there, name, arguments, told):
    before = there.path.read_bytes()
    answer = dispatch(name, arguments, there)
    assert answer.startswith(f"{name} did nothing: ")
    assert told in answer
    assert there.path.read_bytes() == before


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from([*NAMES, "", "x"]),
    arguments=st.none()
    | st.text()
    | st.dictionaries(st.sampled_from(["strategy", "entry", "reason", "back", "x"]), st.text()),
)
def test_any_call_gives_a_text(tmp_path_factory, name, arguments):
    there = memory(tmp_path_factory.mktemp("m"))
    there.append(talk(2))
    assert isinstance(dispatch(name, arguments, there), str)


def test_a_colon_in_the_words_of_a_reason_is_no_module(there):
    told = dispatch("memory_compact", {"strategy": "defer(reason='not yet: the walls')"}, there)
    assert there.status().declined == "not yet: the walls"
    assert "did nothing" not in told


def test_where_there_is_no_conversation_it_says_so(tmp_path):
    assert "cannot be read (no such file or directory)" in dispatch("memory_status", "{}", memory(tmp_path))


@row("K13-D14")
def test_a_pass_asked_for_inside_a_turn_leaves_that_turn_whole_and_holds_from_the_next_request(
    there,
):
    there.append([agent("I make room.", call("c1", "memory_compact", SLIDE))])
    held = there.messages  # what a harness holds in its hands does not change
    text = dispatch("memory_compact", SLIDE, there)
    there.append([Message("tool", (ToolResult("c1", (Text(text),)),))])
    assert len(held) == 31
    assert len(there.messages) < 12
    assert [call.id for call in there.messages[-2].calls] == ["c1"]
    assert there.messages[-1].results[0].text == text
    assert memory(there.repo).messages == there.messages


@row("K33-D6")
def test_a_pass_while_a_call_waits_is_told_as_done_only_when_it_is_and_leaves_the_call_its_result(there):
    there.append([agent("Two things.", call("c1"), call("c2", "memory_compact", SLIDE)), answering("c1")])
    text = dispatch("memory_compact", SLIDE, there)
    there.append([Message("tool", (ToolResult("c2", (Text(text),)),))])
    [one] = there.log().passes
    assert one.path in text
    assert [m.role for m in there.messages[-3:]] == ["assistant", "tool", "tool"]
    again = dispatch("memory_compact", SLIDE, there)
    assert "not applied: " in again
    assert "journal/" not in again


def test_nothing_is_ever_compacted_for_her(tmp_path):
    there = memory(tmp_path)
    for number in range(12):
        there.append([weighing(200), said("yes", "assistant")])
        dispatch("memory_status", "{}", there)
        if number % 3 == 0:
            dispatch("ignore_compaction", {"reason": "go on"}, there)
    assert len(there.messages) == 24
    assert there.status().pressure > 2
    assert there.status().allowance == 512
    assert there.log().passes == ()
