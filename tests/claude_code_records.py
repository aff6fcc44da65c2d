"""Records as Claude Code writes them: one function a kind, linked by `uuid` and `parentUuid`."""

import json

from compactlab.readers import read, sniff
from compactlab.transcript import Text, ToolCall, ToolResult

SESSION = "11111111-aaaa"


def record(kind, uuid, parent, **more):
    """One record that stands in the tree."""
    more.setdefault("timestamp", f"2026-02-12T16:00:00.{uuid}Z")
    base = {"parentUuid": parent, "isSidechain": False, "sessionId": SESSION, "type": kind, "uuid": uuid}
    return base | {"version": "2.1.39"} | more


def user(uuid, parent, content, **more):
    return record("user", uuid, parent, message={"role": "user", "content": content}, **more)


def agent(uuid, parent, response, *content, usage=None, **more):
    message = {
        "id": response,
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "usage": usage or {"output_tokens": 9},
    }
    return record("assistant", uuid, parent, message=message, **more)


def text(words):
    return {"type": "text", "text": words}


def use(call_id, **given_input):
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": given_input}


def answer(uuid, parent, call_id, content="ok", **more):
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return user(uuid, parent, [block], toolUseResult={"stdout": "never read", "originalFile": "x" * 99}, **more)


def boundary(uuid, logical, subtype="compact_boundary", **metadata):
    name = {"compact_boundary": "compactMetadata", "microcompact_boundary": "microcompactMetadata"}[subtype]
    return record("system", uuid, None, subtype=subtype, logicalParentUuid=logical, **{name: metadata})


def summary(uuid, parent, words="This session is being continued. Summary: all is well.", **more):
    return user(uuid, parent, words, isCompactSummary=True, isVisibleInTranscriptOnly=True, **more)


def call(call_id, arguments="{}"):
    return ToolCall(call_id, "Bash", arguments)


def result(call_id, words="ok"):
    return ToolResult(call_id, (Text(words),))


def attachment(uuid, parent, kind, **more):
    return record("attachment", uuid, parent, attachment={"type": kind, **more})


def write_records(file, *records):
    """Write *records* as JSON lines, with the folders that the file lies in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return file


def read_records(folder, *records):
    """Write *records* to a file in *folder* and read it back, found by its content."""
    file = write_records(folder / "session.jsonl", *records)
    assert sniff(file) == "claude_code"
    return read(file)


def told(messages):
    """What was said, by role: texts, and ids of calls and results."""
    return [(m.role, m.text or [*[c.id for c in m.calls], *[r.call_id for r in m.results]]) for m in messages]
