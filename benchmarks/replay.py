"""Cost of replays, as ratios within one run: `python benchmarks/replay.py`. Absolute times mean nothing here.

- *growth*: a session of twice as many messages, from 1,000 to 64,000: how much longer its replay takes; 2 is linear.
  Reading it into the timeline, which all policies share, stands beside. Nothing is swept up meanwhile: a sweep of the
  whole heap falls into one size or another by chance.
- *whole run*: all policies without a model over the recorded sessions in a window, over reading, counting, mining and
  matching them once; and what of it the strategies under the guard take.
"""

import gc
import time
from pathlib import Path

from compactlab import Message, Text, ToolCall, ToolResult, Transcript, read
from compactlab.compaction import Guard
from compactlab.policy import policy
from compactlab.replay import Session, replay
from compactlab.tokens import Meter

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
SIZES = tuple(1_000 * 2**n for n in range(7))
GROWING = ("none", "sliding_window", "microcompact@0.8+cull@0.9+sliding_window@0.95", "key_value", "ladder")
MODEL_FREE = ("none", "microcompact", "cull", "sliding_window", "key_value", "ladder", "defer")
WINDOW = 4_000
WINDOWS = (64_000, 32_000)
ROUNDS = 2


def timed(action):
    """Seconds of the processor for an action, and what it gave."""
    started = time.process_time()
    given = action()
    return time.process_time() - started, given


def talk(size):
    """A session of *size* messages: files read, changed and spoken of, again and again."""
    messages = [Message("user", (Text("Look at everything in src/."),))]
    for n in range(size // 4):
        path = f"src/part_{n % 300}.py"
        asked = ToolCall(f"read_{n}", "read", f'{{"path": "{path}"}}')
        came = ToolResult(asked.id, (Text(f"limit_{n} = {1_000 + n}  # of valve {n}\n" + "a line of the file\n" * 10),))
        said = Text(f"The limit limit_{max(0, n - 9)} is {1_000 + max(0, n - 9)}; {path} is next.")
        messages += [Message("assistant", (asked,)), Message("tool", (came,))]
        messages += [Message("assistant", (said,)), Message("user", (Text(f"Fine, go on with step {n}."),))]
    return Transcript(f"talk of {size}", "", tuple(messages[:size]))


def grown(size):
    """Seconds to read a session of *size* messages, then those of each policy, the best of a few rounds."""
    meter = Meter()
    session = Session(talk(size), meter)
    meter.messages(session.messages)
    reading, _ = timed(lambda: session.moments)
    seconds = [min(timed(lambda spec=spec: once(session, spec))[0] for _ in range(ROUNDS)) for spec in GROWING]
    return [reading, *seconds]


def once(session, spec):
    window = 10_000_000 if spec == "none" else WINDOW
    done = replay(session, policy(spec), window, Guard(session.meter))
    if done.overflow:
        raise AssertionError(f"{spec}: {done.overflow}")
    return done


def of_growth():
    print(f"{'messages':>9}  {'timeline':>9}" + "".join(f"{policy(spec).name[:20]:>22}" for spec in GROWING))
    before = first = None
    gc.disable()
    for size in SIZES:
        seconds = grown(size)
        if before:
            ratios = [now / then for now, then in zip(seconds, before, strict=True)]
            print(f"{size:9,}  {ratios[0]:9.2f}" + "".join(f"{ratio:22.2f}" for ratio in ratios[1:]))
        else:
            first = seconds
            shown = "".join(f"{second:20.3f} s" for second in seconds[1:])
            print(f"{size:9,}  {seconds[0]:7.3f} s{shown}")
        before = seconds
    gc.enable()
    means = [(last / start) ** (1 / (len(SIZES) - 1)) for last, start in zip(before, first, strict=True)]
    print(f"{'mean':>9}  {means[0]:9.2f}" + "".join(f"{mean:22.2f}" for mean in means[1:]))


def of_a_whole_run():
    files = sorted(path for path in FIXTURES.glob("*.jsonl") if not path.name.endswith(".probes.jsonl"))
    first, sessions = timed(lambda: [Session(transcript, Meter()) for path in files for transcript in read(path)])
    for session in sessions:
        first += timed(lambda session=session: session.meter.messages(session.messages))[0]
        first += timed(lambda session=session: session.moments)[0]
    print(f"\n{'window':>9}{'whole run':>12}{'strategies':>12}   over reading, counting, mining and matching once")
    for window in WINDOWS:
        whole = strategies = 0.0
        for session in sessions:
            for spec in MODEL_FREE:
                guard = Guard(session.meter)
                seconds, done = timed(
                    lambda session=session, spec=spec, guard=guard, window=window: replay(
                        session, policy(spec), window, guard
                    )
                )
                whole += seconds
                strategies += sum(done.seconds)
        print(f"{window:9,}{1 + whole / first:12.2f}{strategies / first:12.2f}")


if __name__ == "__main__":
    of_growth()
    of_a_whole_run()
