"""Events of OpenHands of both architectures, as small as they may be."""

import json


def response(name, *calls, text="I look.", **message):
    """A recorded completion with one call for each pair of an id and a command."""
    wires = [
        {"id": key, "type": "function", "function": {"name": "execute_bash", "arguments": f'{{"command": "{what}"}}'}}
        for key, what in calls
    ]
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}}
    spoken = {"role": "assistant", "content": text, "tool_calls": wires, **message}
    return {"id": name, "model": "m-1", "choices": [{"message": spoken}], "usage": usage}


def metadata(told, call):
    return {"function_name": "execute_bash", "tool_call_id": call, "model_response": told, "total_calls_in_response": 1}


def action(number, kind, told=None, call="", **args):
    event = {"id": number, "timestamp": f"2025-04-30T16:32:{number % 60:02d}", "message": "..."}
    event |= {"source": args.pop("source", "agent"), "action": kind, "args": args}
    return event | ({"tool_call_metadata": metadata(told, call)} if told else {})


def observation(number, kind, content, *answered, **extras):
    event = {"id": number, "timestamp": f"2025-04-30T16:32:{number % 60:02d}", "source": "agent", "message": "..."}
    event |= {"observation": kind, "content": content, "extras": extras}
    event |= {"cause": answered[0]} if answered else {}
    return event | ({"tool_call_metadata": metadata(*answered[1:])} if answered[1:] else {})


def start():
    """The first two events: system prompt, and task."""
    system = action(0, "system", content="Be OpenHands.", tools=[{"type": "function"}], agent_class="CodeActAgent")
    return [system, action(1, "message", source="user", content="Fix it.", image_urls=None)]


def turn(number):
    """An action with its observation, as events *number* and *number* + 1."""
    call = f"toolu_{number}"
    told = response(f"r{number}", (call, f"ls {number}"))
    acted = action(number, "run", told, call, command=f"ls {number}", thought="I look.")
    return [acted, observation(number + 1, "run", f"out {number}", number, told, call, metadata={"suffix": "\n[ok]"})]


def condensation(number, **args):
    return action(number, "condensation", **args)


def kind(number, name, **fields):
    """An event of the later architecture."""
    return {"id": f"e{number}", "timestamp": f"2026-02-05T11:24:{number:02d}", "kind": name, **fields}


def opened():
    system = kind(0, "SystemPromptEvent", source="agent", system_prompt={"type": "text", "text": "Be OpenHands."})
    system |= {"tools": [{"title": "terminal", "kind": "TerminalTool"}], "dynamic_context": None}
    words = {"role": "user", "content": [{"type": "text", "text": "Fix it."}]}
    return [system, kind(1, "MessageEvent", source="user", llm_message=words, extended_content=[])]


def acted(number, call, response_id, thought="I look.", **fields):
    given = {"id": call, "name": "terminal", "arguments": f'{{"command":"ls {call}"}}', "origin": "completion"}
    said = [{"type": "text", "text": thought}] if thought else []
    told = {"tool_name": "terminal", "tool_call_id": call, "tool_call": given, "llm_response_id": response_id}
    return kind(
        number, "ActionEvent", source="agent", thought=said, action={"kind": "TerminalAction"}, **told, **fields
    )


def observed(number, call, text, **fields):
    seen = {"content": [{"type": "text", "text": text}], "is_error": False, "kind": "TerminalObservation", **fields}
    told = {"tool_name": "terminal", "tool_call_id": call, "action_id": "e?"}
    return kind(number, "ObservationEvent", source="environment", observation=seen, **told)


def write_lines(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path
