"""The harness on the page about memory is a whole one: an agent behind a real server makes room for herself with it."""

import json
import re

import pytest
import runs
from conversations import COUNTER, talk
from model_server import Answer, ModelServer, completion

from compactlab.memory import Choices, Memory

PAGE = (runs.CHECKOUT / "docs" / "memory.md").read_text(encoding="utf-8")
HARNESS = re.search(r"<!-- example: harness.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)[1]


def calling(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call-{name}", "type": "function", "function": function}
    return completion(None, finish="tool_calls", tool_calls=[call])


@pytest.fixture
def harness(tmp_path, monkeypatch):
    """The page's harness on a conversation of thirty messages, and the server that answers for its agent."""
    pytest.importorskip("openai")

    def run(*answers):
        (tmp_path / "memory").mkdir()
        Memory(tmp_path / "memory", "garden", choices=Choices(counter=COUNTER)).append(talk(30))
        monkeypatch.chdir(tmp_path)
        with ModelServer(*map(Answer, answers)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("OPENAI_API_KEY", "none")
            scope = {}
            exec(compile(HARNESS.replace("128_000", "1_300"), "harness.py", "exec"), scope)  # noqa: S102
            try:
                said = scope["turn"]("Shall we go on?" + " Or not?" * 10)
            finally:
                scope["client"].close()
        return said, [body for _, _, body in server.asked], scope["memory"]

    return run


def test_she_is_warned_looks_makes_room_and_answers_from_the_smaller_list(harness):
    compacting = calling("memory_compact", strategy="sliding_window(preserve_recent=4)")
    said, requests, memory = harness(calling("memory_status"), compacting, completion("Yes, on."))
    assert said == "Yes, on."
    lengths = [len(request["messages"]) for request in requests]
    assert lengths[2] < lengths[0]
    assert {tool["function"]["name"] for tool in requests[0]["tools"]} >= {"memory_compact", "ignore_compaction"}
    told = [request["messages"][-1]["content"] for request in requests[1:]]
    assert "what a pass would do now:" in told[0]
    assert "The record rests in journal/" in told[1] or "It rests in journal/" in told[1]
    [pass_] = memory.log(verify=True).passes
    assert (pass_.is_applied, memory.messages[-1].text) == (True, "Yes, on.")


def test_a_warning_reaches_her_with_the_request_after_the_crossing_and_is_no_message_of_the_conversation(harness):
    said, [first, second], memory = harness(calling("ignore_compaction", reason="nearly done"), completion("Done."))
    assert "crossed 0.80" in first["messages"][-1]["content"]
    assert not any("crossed" in str(message.get("content")) for message in second["messages"])
    assert not any("crossed" in message.text for message in memory.messages)
    assert memory.status().declined == "nearly done"
    assert said == "Done."
    assert 512 <= first["max_tokens"] <= 8_192
