"""Speed of our own code, as ratios within one run: `python benchmarks/speed.py`. Absolute times mean nothing here.

- *scaling*: time for ten times the messages over the time for one; 10 is linear.
- *relative*: time of a strategy under the guard over that of `none` on the same messages.
- *second weighing*: time to weigh a history again over the first time; near 0, since each block is counted once.
"""

import time
from pathlib import Path

from compactlab import Message, Text, ToolCall, ToolResult, catalog, compact, read
from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.tokens import Meter

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
ROUNDS = 3


def best(action):
    """Seconds of the fastest of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def talk(size):
    """A long tool session: one request, then calls and results."""
    messages = [Message("user", (Text("Look at everything in src/."),))]
    for n in range(size // 2):
        call = ToolCall(f"call_{n}", "read", f'{{"path": "src/file_{n}.py"}}')
        result = ToolResult(call.id, (Text(f"line {n} of the file\n" * 10),))
        messages += [Message("assistant", (call,)), Message("tool", (result,))]
    return tuple(messages)


def timed(strategy, messages, meter):
    guard = Guard(meter, model=Extractive())
    return best(lambda: compact(messages, strategy, guard=guard))


def main():
    small, large, meter = talk(2_000), talk(20_000), Meter()
    meter.messages(large)
    base = timed("none", large, meter)
    print(f"{'strategy':18}{'scaling':>9}{'relative':>10}")
    for name in catalog.names("strategies"):
        seconds = timed(name, large, meter)
        print(f"{name:18}{seconds / timed(name, small, meter):9.1f}{seconds / base:10.1f}")
    session = read(FIXTURES / "subagent-incident.jsonl")[0]
    first = best(lambda: Meter().messages(session.messages))
    warm = Meter()
    warm.messages(session.messages)
    print(f"second weighing   {best(lambda: warm.messages(session.messages)) / first:9.3f}")


if __name__ == "__main__":
    main()
