"""Runs in the Python of a framework: does what tests/test_plugins.py asks for, with the framework's own classes.

`python plugin_worker.py ROOT PACKAGES` takes one JSON object from standard input and writes one. compactlab is imported
from ROOT and what it needs from PACKAGES, which stand behind the framework's own.
"""

import asyncio
import json
import sys
from importlib import import_module

sys.path += sys.argv[1:]  # behind all else: what the framework needs is its own

Guard = import_module("compactlab.compaction").Guard
Scripted = import_module("compactlab.llm.scripted").Scripted
Meter = import_module("compactlab.tokens").Meter
plugins = import_module("compactlab.plugins")


SUMMARY = "<summary>\n1. Primary request and intent: read all files.\n2. Key facts: the port is 5433.\n</summary>"


def langchain_passes(job):
    """Each history as LangChain's messages, by each strategy: what comes out as wires, and which objects stayed."""
    core, ours = import_module("langchain_core.messages"), import_module("compactlab.plugins.langchain")
    guard = Guard()
    for history in job["histories"]:
        messages = core.messages_from_dict(history)
        for n, message in enumerate(messages):
            message.id = f"m{n}"
        for spec, target in job["passes"]:
            plan = plugins.Plan(built(spec), target, guard)
            done = plugins.passed(messages, ours.SHAPE, plan)
            yield core.messages_to_dict(done.messages), told(done, messages), ids(done.messages)


def inspect_passes(job):
    """The same with Inspect's messages, through the strategy object that Inspect calls."""
    model, ours = import_module("inspect_ai.model"), import_module("compactlab.plugins.inspect_ai")
    asked, guard = model.get_model("mockllm/model"), Guard()
    for history in job["histories"]:
        messages = [getattr(model, f"ChatMessage{wire['role'].capitalize()}")(**wire) for wire in history]
        for spec, target in job["passes"]:
            strategy = ours.compactlab_strategy(spec, target=target, guard=guard)
            outcome = asyncio.run(strategy.compact_outcome(asked, messages, []))
            done = type("Done", (), {"messages": outcome.input, "receipt": strategy.receipt})
            wires = [message.model_dump(mode="json", exclude_none=True) for message in outcome.input]
            yield wires, told(done, messages), ids(outcome.input)


def built(spec):
    return import_module("compactlab.catalog").strategy(spec)


def told(done, messages):
    known = {id(message) for message in messages}
    return {"outcome": done.receipt.outcome, "stayed": sum(id(message) in known for message in done.messages)}


def ids(messages):
    return [message.id for message in messages]


def langchain_agent(job):
    """A real agent of LangChain's that reads file after file: its middleware compacts the state on the way."""
    agents = import_module("langchain.agents")
    fakes = import_module("langchain_core.language_models.fake_chat_models")
    messages = import_module("langchain_core.messages")
    ours = import_module("compactlab.plugins.langchain")

    def read(path: str) -> str:
        """Read a file."""
        return f"the content of {path}: port = 5433\n" * 60

    class Reading(fakes.GenericFakeChatModel):
        def bind_tools(self, *_, **__):
            return self

    def replies():
        for n in range(job["steps"]):
            call = {"name": "read", "args": {"path": f"src/{n}.py"}, "id": f"c{n}"}
            yield messages.AIMessage(f"I read {n}.", tool_calls=[call])
        yield messages.AIMessage("Done.")

    scripted = Scripted(SUMMARY)
    middleware = ours.compactlab_middleware(job["policy"], job["window"], guard=Guard(Meter(), model=scripted))
    weights = []

    class Watching(import_module("langchain.agents.middleware").AgentMiddleware):
        def before_model(self, state, runtime):  # noqa: ARG002  # its signature
            weights.append(Meter().messages(ours.read(state["messages"])))

    made = agents.create_agent(
        Reading(messages=replies()),
        tools=[import_module("langchain_core.tools").tool(read)],
        middleware=[middleware, Watching()],
    )
    asked = {"messages": [messages.HumanMessage("Read all files.")]}
    config = {"recursion_limit": 1_000}
    state = asyncio.run(made.ainvoke(asked, config)) if job.get("async") else made.invoke(asked, config)
    return {
        "wires": messages.messages_to_dict(state["messages"]),
        "weights": weights,
        "receipt": middleware.receipt.to_text(),
        "keys": sorted(state),
        "asked": len(scripted.requests),
    }


def langchain_edit(job):
    """`ContextEditingMiddleware` with our edit: the state keeps everything, the model is sent less."""
    middleware = import_module("langchain.agents.middleware")
    core, ours = import_module("langchain_core.messages"), import_module("compactlab.plugins.langchain")
    edit = ours.CompactlabEdit(job["strategy"], trigger=job["trigger"])
    editing = middleware.ContextEditingMiddleware(edits=[edit])
    [history] = job["histories"]
    messages = core.messages_from_dict(history)
    request = middleware.ModelRequest(model=None, messages=messages, tools=[], state={}, runtime=None)
    sent = []
    editing.wrap_model_call(request, lambda request: sent.append(request.messages))
    return {"wires": core.messages_to_dict(sent[0]), "left": len(messages)}


async def weighed(text):
    return Meter().text(text)


def inspect_eval(job):
    """A real evaluation of Inspect's: its `react` agent, a tool, and our strategy as its compaction."""
    inspect, model = import_module("inspect_ai"), import_module("inspect_ai.model")
    agent, tool = import_module("inspect_ai.agent"), import_module("inspect_ai.tool")
    dataset, scorer = import_module("inspect_ai.dataset"), import_module("inspect_ai.scorer")
    ours = import_module("compactlab.plugins.inspect_ai")

    @tool.tool
    def read():
        async def execute(path: str) -> str:
            """Read a file.

            Args:
                path: which one
            """
            return f"the content of {path}: port = 5433\n" * 60

        return execute

    seen = []

    def reply(messages, tools, *_):
        asked_by_us = not tools
        seen.append([asked_by_us, len(messages), Meter().messages(ours.read(messages))])
        if asked_by_us:
            return model.ModelOutput.from_content("mockllm/model", SUMMARY)
        n = sum(not one[0] for one in seen)
        if n > job["steps"]:
            return model.ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "5433"})
        return model.ModelOutput.for_tool_call("mockllm/model", "read", {"path": f"src/{n}.py"}, tool_call_id=f"c{n}")

    strategy = ours.compactlab_strategy(job["strategy"], target=job["target"], threshold=job["threshold"])
    task = inspect.Task(
        dataset=[dataset.Sample(input="Read all files.", target="5433")],
        solver=agent.react(tools=[read()], compaction=strategy),
        scorer=scorer.includes(),
    )
    asked = model.get_model("mockllm/model", custom_outputs=reply)
    asked.api.count_text_tokens = weighed
    [log] = inspect.eval(task, model=asked, log_dir=job["folder"], display="none", log_format="json")
    return {
        "status": log.status,
        "error": str(log.error),
        "seen": seen,
        "receipt": strategy.receipt.to_text() if strategy.receipt else "",
        "file": str(log.location),
    }


def langchain_example(job):
    """Run the example of the docs, a model that says what it was sent in the place of a real one."""
    fakes = import_module("langchain_core.language_models.fake_chat_models")
    messages = import_module("langchain_core.messages")
    names = {"model": fakes.GenericFakeChatModel(messages=iter([messages.AIMessage("done")])), "tools": []}
    exec(job["code"], names)  # noqa: S102  # our own docs
    kinds = (messages.HumanMessage, messages.AIMessage)
    said = [kinds[n % 2](f"step {n} " * 300) for n in range(21)]
    state = names["agent"].invoke({"messages": said})
    return {"left": len(state["messages"]), "first": state["messages"][0].text[:6]}


def inspect_example(job):
    """The same: the task of the docs, evaluated."""
    names = {}
    exec(job["code"], names)  # noqa: S102  # our own docs
    inspect, model = import_module("inspect_ai"), import_module("inspect_ai.model")
    reply = model.ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "5433"})
    asked = model.get_model("mockllm/model", custom_outputs=[reply])
    asked.api.count_text_tokens = weighed
    [log] = inspect.eval(names["task"], model=asked, log_dir=job["folder"], display="none")
    return {"status": log.status, "error": str(log.error)}


def main():
    job = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr
    done = {}
    for name, one in job.items():
        given = globals()[name](one)
        done[name] = given if isinstance(given, dict) else list(given)
    json.dump(done, out)


if __name__ == "__main__":
    main()
