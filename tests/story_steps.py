"""The story of `stories` as the runs of benchmarks and frameworks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fuzz_records import EVAL
from stories import (
    MISSING,
    Did,
    Got,
    Said,
    Turn,
    Wire,
    chat,
    chat_call,
    data_url,
    encoded,
    fields,
    given,
    listed,
    parts,
    plain,
    text_part,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _linked(picture: bytes) -> Wire:
    return {"type": "image_url", "image_url": {"url": data_url(picture)}}


def swe_agent(turns: Iterable[Turn]) -> Wire:
    told = []
    for turn, wire in zip(turns, chat(turns), strict=True):
        more: Wire = {"agent": "main", "message_type": "observation"}
        if isinstance(turn, Got):
            more["tool_call_ids"] = [turn.call_id]
            wire.pop("tool_call_id")
        elif wire["role"] == "assistant":
            more |= {"message_type": "action", "thought": "", "action": "ls"}
        told.append(wire | more)
    info = {"exit_status": "submitted", "model_stats": {"tokens_sent": 9}}
    return {"environment": "main", "trajectory": [], "history": told, "info": info}


def mini(turns: Iterable[Turn]) -> Wire:
    info = {"model_stats": {}, "mini_version": "2.2.7", "exit_status": "Submitted"}
    return {"info": info, "messages": chat(turns), "trajectory_format": "mini-swe-agent-1.1", "instance_id": "i1"}


def openhands(turns: Sequence[Turn]) -> list[Wire]:
    """Events of the first architecture: an action for each call, which holds the whole response."""
    made: list[Wire] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, Said):
            pictures = [data_url(part) for part in listed(turn.content) if isinstance(part, bytes)]
            args = {"content": plain(turn.content), "image_urls": pictures or None}
            source = {"user": "user", "assistant": "agent"}[turn.role]
            made.append({"source": source, "action": "message", "args": args})
        elif isinstance(turn, Did):
            wire = {"role": "assistant", "content": turn.text, "tool_calls": [chat_call(call) for call in turn.calls]}
            response = {"id": f"r{number}", "choices": [{"message": wire}]}
            for call in turn.calls:
                told = {"function_name": call.name, "tool_call_id": call.id, "model_response": response}
                made.append({"source": "agent", "action": "run", "args": {}, "tool_call_metadata": told})
        else:
            pictures = [data_url(part) for part in listed(turn.content) if isinstance(part, bytes)]
            told = {"function_name": turn.name, "tool_call_id": turn.call_id}
            seen: Wire = {"source": "agent", "observation": "run", "extras": {"image_urls": pictures}}
            content = "" if turn.content is MISSING else plain(turn.content)
            made.append({**seen, "content": content, "tool_call_metadata": told})
    return [{"id": number, "message": "", **event} for number, event in enumerate(made)]


def openhands_row(turns: Sequence[Turn]) -> list[Wire]:
    return [{"instance_id": "i1", "instruction": "x", "history": openhands(turns), "metrics": {}}]


def _several(picture: bytes) -> Wire:
    return {"type": "image", "image_urls": [data_url(picture)]}


def openhands_v1(turns: Iterable[Turn]) -> list[Wire]:
    """Events of the later architecture."""
    made: list[Wire] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, Said):
            told = {"role": turn.role, "content": parts(turn.content, text_part, _several)}
            source = {"user": "user", "assistant": "agent"}[turn.role]
            made.append({"kind": "MessageEvent", "source": source, "llm_message": told})
        elif isinstance(turn, Did):
            for place, call in enumerate(turn.calls):
                wire = {"id": call.id, "name": call.name, "arguments": call.arguments}
                words = [text_part(turn.text)] if turn.text and not place else []
                told = {"tool_name": call.name, "tool_call_id": call.id, "tool_call": wire, "thought": words}
                made.append({"kind": "ActionEvent", "source": "agent", "llm_response_id": f"r{number}", **told})
        else:
            seen = fields(content=parts(turn.content, text_part, _several))
            told = {"tool_name": turn.name, "tool_call_id": turn.call_id, "observation": seen}
            made.append({"kind": "ObservationEvent", "source": "environment", **told})
    return [{"id": f"e{number}", **event} for number, event in enumerate(made)]


def tau2(turns: Iterable[Turn]) -> Wire:
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            told.append({"role": turn.role, "content": turn.content, "tool_calls": None})
        elif isinstance(turn, Did):
            calls = [{"id": c.id, "name": c.name, "arguments": given(c), "requestor": "assistant"} for c in turn.calls]
            told.append({"role": "assistant", "content": turn.text or None, "tool_calls": calls})
        else:
            told.append(fields(role="tool", id=turn.call_id, content=turn.content, requestor="assistant", error=False))
    info = {"environment_info": {"domain_name": "telecom", "policy": ""}, "agent_info": {"llm": "m"}}
    run = {"id": "s1", "task_id": "t1", "trial": 0, "messages": told, "reward_info": {"reward": 1.0}}
    return {"info": info, "tasks": [], "simulations": [run]}


def _image(picture: bytes) -> Wire:
    return {"type": "image", "image": data_url(picture)}


def inspect(turns: Iterable[Turn]) -> Wire:
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            told.append(fields(role=turn.role, content=parts(turn.content, text_part, _image)))
        elif isinstance(turn, Did):
            calls = [{"id": c.id, "function": c.name, "arguments": given(c), "type": "function"} for c in turn.calls]
            told.append({"role": "assistant", "content": turn.text, "tool_calls": calls})
        else:
            content = parts(turn.content, text_part, _image)
            told.append(fields(role="tool", tool_call_id=turn.call_id, function=turn.name, content=content))
    return {**EVAL, "samples": [{"id": 1, "epoch": 1, "input": "x", "messages": told, "output": {}, "scores": {}}]}


def _at(picture: bytes) -> Wire:
    return {"type": "image", "source": {"media_type": "image/png", "path": data_url(picture)}}


def atif(turns: Sequence[Turn]) -> Wire:
    """A trajectory; the results of calls stand in the step of the calls, in the order in which they came."""
    told: list[Wire] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, Got):
            continue
        step: Wire = {"step_id": len(told) + 1, "source": "agent", "message": ""}
        if isinstance(turn, Said):
            step["source"] = {"user": "user", "assistant": "agent"}[turn.role]
            step["message"] = parts(turn.content, text_part, _at)
        else:
            step["message"] = turn.text
            step["tool_calls"] = [
                {"tool_call_id": c.id, "function_name": c.name, "arguments": given(c)} for c in turn.calls
            ]
            asked = {call.id for call in turn.calls}
            came = [got for got in turns[number:] if isinstance(got, Got) and got.call_id in asked]
            results = [fields(source_call_id=g.call_id, content=parts(g.content, text_part, _at)) for g in came]
            step |= {"observation": {"results": results}} if results else {}
        told.append(step)
    return {"schema_version": "ATIF-v1.7", "session_id": "s1", "agent": {"name": "a", "version": "1"}, "steps": told}


def langchain(turns: Iterable[Turn]) -> Wire:
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            kind = {"user": "human", "assistant": "ai"}[turn.role]
            told.append(fields(type=kind, content=parts(turn.content, text_part, _linked)))
        elif isinstance(turn, Did):
            calls = [{"id": c.id, "name": c.name, "args": given(c), "type": "tool_call"} for c in turn.calls]
            told.append({"type": "ai", "content": turn.text, "tool_calls": calls})
        else:
            content = parts(turn.content, text_part, _linked)
            content = None if content is MISSING else content
            told.append({"type": "tool", "tool_call_id": turn.call_id, "name": turn.name, "content": content})
    return {"values": {"messages": told}, "next": [], "checkpoint": {"thread_id": "t"}, "metadata": {}}


def _spoken(text: str) -> Wire:
    return {"type": "text", "content": text}


def _blob(picture: bytes) -> Wire:
    return {"type": "blob", "modality": "image", "mime_type": "image/png", "content": encoded(picture)}


def telemetry(turns: Iterable[Turn]) -> list[Wire]:
    """One span, of the request that was sent last and its answer."""
    told: list[Wire] = []
    for turn in turns:
        if isinstance(turn, Said):
            told.append({"role": turn.role, "parts": parts(listed(turn.content), _spoken, _blob)})
        elif isinstance(turn, Did):
            calls = [{"type": "tool_call", "id": c.id, "name": c.name, "arguments": given(c)} for c in turn.calls]
            told.append({"role": "assistant", "parts": [*([_spoken(turn.text)] if turn.text else []), *calls]})
        else:
            response = parts(turn.content, _spoken, _blob)
            told.append(
                {"role": "tool", "parts": [fields(type="tool_call_response", id=turn.call_id, response=response)]}
            )
    answer = [told.pop()] if told[-1]["role"] == "assistant" else []
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "c",
        "gen_ai.input.messages": json.dumps(told, ensure_ascii=False),
        "gen_ai.output.messages": json.dumps(answer, ensure_ascii=False),
    }
    span = {"traceId": "t1", "spanId": "s1", "name": "chat m", "startTimeUnixNano": "1"}
    listing = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return [{"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [{**span, "attributes": listing}]}]}]}]
