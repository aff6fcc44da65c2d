"""Records of Codex rollouts, for tests: as short as they can be, with every field that Codex gives its own."""

import json

from compactlab.readers import read

ENV = "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>"
PREFIX = (
    "Another language model started to solve this problem and produced a summary of its thinking process. "
    "You also have access to the state of the tools."
)


def record(kind, payload, at="2026-01-01T00:00:00Z"):
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(name="u1", **more):
    return record(
        "session_meta", {"id": name, "cwd": "/srv", "originator": "codex_cli_rs", "cli_version": "0.146.0"} | more
    )


def item(kind, **more):
    return record("response_item", {"type": kind, **more})


def said(role, *texts):
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text} for text in texts])


def wire(line):
    return line["payload"]


def user(*texts):
    return said("user", *texts)


def agent(*texts):
    return said("assistant", *texts)


def thought(text="Hm.", opaque="gAAA"):
    return item("reasoning", summary=[{"type": "summary_text", "text": text}], content=None, encrypted_content=opaque)


def call(name, tool="shell", arguments='{"command":["ls"]}'):
    return item("function_call", name=tool, arguments=arguments, call_id=name)


def output(name, given="a b"):
    return item("function_call_output", call_id=name, output=given)


def event(kind, **more):
    return record("event_msg", {"type": kind, **more})


def counted(total, sent=100, made=10, **more):
    last = {"input_tokens": sent, "cached_input_tokens": 60, "output_tokens": made, "reasoning_output_tokens": 4}
    last |= {"total_tokens": sent + made} | more
    return event("token_count", info={"total_token_usage": {"input_tokens": total}, "last_token_usage": last})


def compacted(message="", **more):
    return record("compacted", {"message": message, **more})


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def session(folder, *values, name="rollout-1.jsonl"):
    """Read the one session that lines make."""
    path = folder / name
    path.write_text(lines(*values), encoding="utf-8")
    [found] = read(path)
    return found


def outline(transcript):
    """Roles of the messages, in capitals where nobody wrote them."""
    return [m.role[0].upper() if m.synthetic else m.role[0] for m in transcript.messages]
