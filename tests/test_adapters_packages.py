"""Pydantic AI, OpenHands and hermes-agent themselves: what each gives, and the faults that it shows."""

import json

import pytest
from histories import agent, answering, call, calling, result, system, user
from msgspec.structs import replace
from peers import steps
from test_adapters import BY_TOKENS, needs, recorded
from test_adapters_options import WORK, given_by

from compactlab.compaction import Guard, compact
from compactlab.llm.scripted import Scripted
from compactlab.tokens import Meter
from compactlab.transcript import Image, Message, Reasoning, Text


def sources(done):
    return [message.source for message in done.messages]


# ---- Pydantic AI


@needs["peer:pydantic_ai.sliding_window"]
def test_pydantic_keeps_the_first_request_and_the_newest_whole_pairs():
    newest = [*range(len(WORK) - 9, len(WORK))]  # words behind a result are one message with it; a pair stays whole
    done, _ = given_by("peer:pydantic_ai.sliding_window(keep_messages=7)", WORK)
    assert sources(done) == [0, 1, *newest]
    without, _ = given_by("peer:pydantic_ai.sliding_window(keep_messages=7,preserve_first_user_message=False)", WORK)
    assert sources(without) == [0, *newest]


@needs["peer:pydantic_ai.sliding_window"]
@pytest.mark.parametrize("target", [1_200, 2_000, 3_000])
def test_fault_pydantic_passes_a_target_over(target):
    done, _ = given_by("peer:pydantic_ai.sliding_window", WORK, target=target)
    assert target < done.receipt.tokens_after < 1.2 * target


@needs["peer:pydantic_ai.sliding_window"]
@needs["peer:openhands.llm_summarizing"]
@pytest.mark.parametrize("spec", ["peer:pydantic_ai.sliding_window", "peer:openhands.llm_summarizing"])
def test_they_count_by_the_counter_of_the_run(spec):
    said = "請把資料庫搬到新的主機，版本是三點五。" * 4  # four characters are no token here
    history = [user(said), *(message for _ in range(60) for message in (agent(said), user(said)))]
    model = Scripted("短")
    after = compact(history, spec, target=2_000, guard=Guard(Meter(), model=model)).receipt.tokens_after
    assert 900 < after < 1.2 * 2_000


@needs["peer:pydantic_ai.clear_tool_results"]
@pytest.mark.parametrize("inputs", [False, True])
def test_our_clearing_of_tool_uses_is_that_of_pydantic_message_by_message(inputs):
    placeholder = "placeholder='[Old tool result content cleared]'"
    theirs = f"peer:pydantic_ai.clear_tool_results(clear_tool_inputs={inputs},{placeholder})"
    specs = (f"clear_tool_uses(keep=3,clear_tool_inputs={inputs})", theirs)
    ours, real = (compact(recorded(), spec, guard=BY_TOKENS).messages for spec in specs)
    assert ours == real


@needs["peer:pydantic_ai.clear_tool_results"]
def test_pydantic_leaves_excluded_tools_and_what_frees_too_little_alone():
    for options in ("exclude_tools=('bash',)", "min_clear_tokens=90000"):
        done, _ = given_by(f"peer:pydantic_ai.clear_tool_results({options})", WORK)
        assert done.receipt.outcome == "skipped"
        assert done.receipt.reason == "nothing to remove"


@needs["peer:pydantic_ai.clear_tool_results"]
def test_fault_pydantic_clears_the_newest_result_where_its_id_was_used_before():
    once, _ = given_by("peer:pydantic_ai.clear_tool_results(keep_pairs=1)", [user(), *steps(3), user()])
    again, _ = given_by("peer:pydantic_ai.clear_tool_results(keep_pairs=1)", [user(), *steps(3), *steps(3), user()])
    assert [done.receipt.count("edited") for done in (once, again)] == [2, 6]


@needs["peer:pydantic_ai.summarizing"]
def test_fault_of_a_result_pydantic_shows_its_model_the_first_500_characters():
    long = [user("Move it."), *steps(1, 600), *steps(20, 40), user()]
    done, model = given_by("peer:pydantic_ai.summarizing(keep_messages=4)", long)
    [request] = model.requests
    assert "x" * 480 in request.prompt
    assert "x" * 500 not in request.prompt
    [made] = [message for message in done.messages if message.synthetic]
    assert (made.role, made.text.startswith("<conversation_summary>")) == ("user", True)


@needs["peer:pydantic_ai.summarizing"]
def test_pydantic_takes_no_blank_summary():
    done, model = given_by("peer:pydantic_ai.summarizing", WORK, " ", "\n")
    assert (done.receipt.outcome, len(model.requests)) == ("failed", 2)


@needs["peer:pydantic_ai.summarizing"]
def test_pydantic_keeps_words_of_persons_where_it_is_told_to():
    history = [user("First."), agent(), user("Never on Fridays."), agent(), *steps(12), user()]
    done, _ = given_by("peer:pydantic_ai.summarizing(keep_messages=8,keep_user_messages=True)", history)
    assert {0, 2} <= set(sources(done))


@needs["peer:pydantic_ai.tiered"]
@pytest.mark.parametrize(("target", "asked"), [(3_000, 0), (400, 1)])
def test_pydantic_asks_a_model_only_where_clearing_is_not_enough(target, asked):
    done, model = given_by("peer:pydantic_ai.tiered", WORK, target=target)
    assert len(model.requests) == asked
    assert done.receipt.count("edited") > 20 or asked


# ---- OpenHands


@needs["peer:openhands.no_op"]
@pytest.mark.parametrize("name", ["subagent-incident", "primary-boatyard", "subconscious-garden"])
def test_the_events_of_openhands_are_all_that_was_there(name):
    history = list(recorded(name))
    while history[-1].calls:
        history.pop()
    done = compact(history, "peer:openhands.no_op(guard='off')", guard=BY_TOKENS)
    assert (done.receipt.outcome, done.receipt.reason) == ("skipped", "nothing to remove")


@needs["peer:openhands.llm_summarizing"]
def test_fault_openhands_shows_its_model_neither_tool_nor_argument_and_500_characters_of_an_event():
    history = [user("Move it."), *steps(1, 700, name="deploy", argument="rm"), *steps(20), user()]
    done, model = given_by("peer:openhands.llm_summarizing", history)
    [request] = model.requests
    assert request.system.startswith("You are maintaining")
    assert "Step 2." in request.prompt
    assert "rm 0" not in request.prompt
    assert "x" * 500 not in request.prompt
    assert next(message for message in done.messages if message.synthetic).text == "The port is 5433."


@needs["peer:openhands.llm_summarizing"]
@pytest.mark.parametrize("sealed", [Reasoning("hm", signature="s"), Reasoning(opaque="x")])
def test_fault_openhands_forgets_the_newest_calls_of_a_loop_that_began_with_signed_reasoning(sealed):
    plain = [system(), user(), agent(Reasoning("hm"), "I look.", call("a")), answering("a"), *steps(20), user()]
    bound = [system(), user(), agent(sealed, "I look.", call("a")), answering("a"), *steps(20), user()]
    kept = [sources(given_by("peer:openhands.llm_summarizing", history)[0]) for history in (plain, bound)]
    assert len(kept[0]) > 15
    assert kept[1] == [0, 1, None, len(bound) - 1]


@needs["peer:openhands.llm_summarizing"]
def test_openhands_comes_down_to_half_of_a_target_or_of_the_events():
    done, _ = given_by("peer:openhands.llm_summarizing", WORK, target=2_000)
    assert 700 < done.receipt.tokens_after <= 1_000 + 20  # the summary stands beside the half
    halved, _ = given_by("peer:openhands.llm_summarizing", WORK)
    assert len(WORK) // 2 - 2 <= len(halved.messages) <= len(WORK) // 2 + 1


@needs["peer:openhands.hard_reset"]
def test_a_hard_reset_of_openhands_leaves_the_system_prompt_and_a_summary_even_a_blank_one():
    for reply in ("The port is 5433.", " "):
        done, _ = given_by("peer:openhands.hard_reset", WORK, reply)
        assert [(m.role, m.text) for m in done.messages] == [("system", WORK[0].text), ("user", reply)]


# ---- hermes-agent


@needs["peer:hermes_agent.compress"]
def test_hermes_keeps_a_head_and_a_tail_and_sums_up_between():
    done, model = given_by("peer:hermes_agent.compress(protect_last_n=4)", WORK)
    assert sources(done)[:4] == [0, 1, 2, 3]
    assert sources(done)[-1] == len(WORK) - 1
    assert len(model.requests) == 1
    assert "[Tool calls:" in model.requests[0].prompt
    assert "The port is 5433." in next(message.text for message in done.messages if message.synthetic)


@needs["peer:hermes_agent.compress"]
def test_hermes_asks_the_same_on_every_day():
    asked = [given_by("peer:hermes_agent.compress", WORK)[1].requests[0].prompt for _ in range(2)]
    assert asked[0] == asked[1]
    assert "current date" not in asked[0]


@needs["peer:hermes_agent.compress"]
def test_fault_hermes_puts_the_summary_into_the_words_of_the_agent():
    done = compact(recorded("primary-boatyard"), "peer:hermes_agent.compress(guard='off')", guard=BY_TOKENS)
    [holds] = [message for message in done.messages if "CONTEXT COMPACTION" in message.text]
    assert holds.role in {"assistant", "user"}
    assert not holds.synthetic


@needs["peer:hermes_agent.compress"]
def test_hermes_takes_no_blank_summary_but_one_by_code():
    done, _ = given_by("peer:hermes_agent.compress", WORK, " ", " ", " ")
    text = "\n".join(message.text for message in done.messages)
    assert "CONTEXT COMPACTION" in text
    assert "empty content" in text or "Move the orders table." in text
    held, _ = given_by("peer:hermes_agent.compress(abort_on_summary_failure=True)", WORK, " ", " ", " ")
    assert sources(held) == list(range(len(WORK)))


@needs["peer:hermes_agent.compress"]
def test_fault_hermes_names_results_in_a_line_before_its_model_reads_them():
    _, model = given_by("peer:hermes_agent.compress(protect_last_n=4)", WORK)
    assert "result 1 xxxx" not in model.requests[0].prompt


@needs["peer:hermes_agent.compress"]
def test_hermes_takes_older_pictures_out_and_leaves_the_newest():
    picture = Image("image/png", 8, 8, data=b"\x89PNG")
    shown = [Message("user", (Text("Look."), picture)), Message("user", (Text("And here."), picture))]
    history = [shown[0], agent(), *steps(12), calling("z"), answering("z"), agent(), shown[1]]
    done, _ = given_by("peer:hermes_agent.compress(protect_last_n=4)", history)
    pictured = [m.source for m in done.messages if any(isinstance(block, Image) for block in m.blocks)]
    assert pictured == [history.index(shown[1])]
    assert "stripped after compression" in done.messages[0].text


@needs["peer:hermes_agent.compress"]
def test_fault_hermes_names_equal_results_once_in_the_tail_too_and_cuts_arguments():
    same = [message for i in range(8) for message in (agent(call(f"s{i}", "bash")), answering(f"s{i}"))]
    same = [replace(m, blocks=(result(m.results[0].call_id, "y" * 300),)) if m.results else m for m in same]
    long = [agent(call("w", "write", arguments=json.dumps({"content": "z" * 900}))), answering("w")]
    done, _ = given_by("peer:hermes_agent.compress", [user(), *long, *steps(20), *same, user("And now?")])
    results = [message.results[0].text for message in done.messages[-17:] if message.results]
    assert results[-1] == "y" * 300
    assert [text for text in results[:-1] if text == "y" * 300] == []
    [written] = [c for message in done.messages for c in message.calls if c.name == "write"]
    assert "...[truncated]" in written.arguments
    assert json.loads(written.arguments)["content"].startswith("zzz")
