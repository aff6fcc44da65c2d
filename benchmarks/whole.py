"""What a whole run costs: `python benchmarks/whole.py`. Processor seconds, as ratios to a floor of the same process.

The floor is what any run must do once: read the recorded sessions, count their tokens, mine their facts. Beside it:

- *strategies*: all that need no model, under the guard, at four cuts of each session.
- *cuts*, *cuts without controls*: a whole `compactlab run` of them, with all scores and records. Most of the first are
  controls of each strategy's own size: 20 draws of two, an integer programme, lines.
- *replay*: a whole run of them as policies in a window.
- *jobs*: processor seconds of one process over those of the busiest of two workers, which is what two free cores gain.
- *growth*: a corpus of twice as many sessions, and sessions of twice as many messages; 2 is linear, the slope is that
  of seconds over size on logarithmic scales.
"""

import contextlib
import math
import resource
import sys
import tempfile
import time
from pathlib import Path

import compactlab
from compactlab import Message, Text, ToolCall, ToolResult, read
from compactlab.compaction import Guard, compact
from compactlab.facts import mine
from compactlab.harness import Settings, run
from compactlab.harness.cuts import SHARES
from compactlab.tokens import Meter

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
MODEL_FREE = ("none", "microcompact", "cull", "sliding_window", "key_value", "ladder", "defer")
WINDOW = 64_000
LENGTHS = (1_000, 2_000, 4_000, 8_000)
SESSIONS = (6, 12, 24, 48)


def seconds(action):
    """Processor seconds of an action in this process, and what it gave."""
    started = time.process_time()
    given = action()
    return time.process_time() - started, given


def files():
    return sorted(path for path in FIXTURES.glob("*.jsonl") if ".probes" not in path.name)


def floor(paths):
    """Seconds to read the sessions, to count their tokens and to mine their facts, each once."""
    reading, transcripts = seconds(lambda: [t for path in paths for t in read(path)])
    counting, _ = seconds(lambda: [Meter().messages(t.messages) for t in transcripts])
    mining, _ = seconds(lambda: [mine(t.messages) for t in transcripts])
    return reading, counting, mining


def strategies(paths):
    """All strategies that need no model, at each cut of each session, one meter a session, as a run has it."""
    for transcript in (t for path in paths for t in read(path)):
        guard = Guard(Meter())
        answers = [i for i, m in enumerate(transcript.messages) if m.role == "assistant"]
        for share in SHARES:
            before = transcript.messages[: answers[int(share * len(answers))]]
            for spec in MODEL_FREE:
                compact(before, spec, guard=guard)


def whole(paths, jobs=1, **more):
    """One whole run into a folder that is thrown away: own seconds, those of children, and by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(strategies=MODEL_FREE, jobs=jobs, **more)
        own, children, clock = time.process_time(), of_children(), time.perf_counter()
        run([str(path) for path in paths], Path(folder, "run"), settings)
        return time.process_time() - own, of_children() - children, time.perf_counter() - clock


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def controls_timed():
    """Collect how long the controls of a size take inside a run."""
    session = sys.modules["compactlab.harness.session"]
    plain, spent = session.of_size, [0.0]

    def timed(*given):
        taken, control = seconds(lambda: plain(*given))
        spent[0] += taken
        return control

    session.of_size = timed
    try:
        yield spent
    finally:
        session.of_size = plain


def talk(size, first=0):
    """A session of *size* messages whose facts are needed later: files read and spoken of, counted from *first* on."""
    messages = [Message("user", (Text("Look at everything in src/."),))]
    for n in range(first, first + size // 4):
        path = f"src/part_{first + n % 300}.py"
        asked = ToolCall(f"read_{n}", "read", f'{{"path": "{path}"}}')
        came = ToolResult(asked.id, (Text(f"limit_{n} = {1_000 + n}  # of valve {n}\n" + "a line of the file\n" * 10),))
        said = Text(f"The limit limit_{max(first, n - 9)} is {1_000 + max(first, n - 9)}; {path} is next.")
        messages += [Message("assistant", (asked,)), Message("tool", (came,))]
        messages += [Message("assistant", (said,)), Message("user", (Text(f"Fine, go on with step {n}."),))]
    return messages[:size]


def written(folder, name, messages):
    transcript = compactlab.Transcript(name, "", tuple(messages))
    path = Path(folder, f"{name}.jsonl")
    from compactlab.readers import compactlab as own

    path.write_text(own.write([transcript]), encoding="utf-8")
    return path


def slope(sizes, taken):
    """Slope of the line through seconds over size, both as logarithms: 1 is linear."""
    points = [(math.log(size), math.log(time_)) for size, time_ in zip(sizes, taken, strict=True)]
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def of_a_run(paths):
    parts = floor(paths)
    once = sum(parts)
    print(f"reading {parts[0]:.2f} s, counting {parts[1]:.2f} s, mining {parts[2]:.2f} s: the floor, {once:.2f} s")
    print(f"{'strategies under the guard':34}{seconds(lambda: strategies(paths))[0] / once:8.2f}")
    with controls_timed() as spent:
        cuts = sum(whole(paths)[:2])
    print(f"{'cuts, with all controls':34}{cuts / once:8.2f}")
    print(f"{'cuts, without controls of a size':34}{(cuts - spent[0]) / once:8.2f}")
    replayed = sum(whole(paths, mode="replay", window=WINDOW)[:2])
    print(f"{f'replay in {WINDOW:,} tokens':34}{replayed / once:8.2f}")
    return cuts


def of_jobs(paths, one):
    own, children, clock = whole(paths, jobs=2)
    print(f"\n--jobs 2: driver {own:.1f} s, workers {children:.1f} s; one process {one:.1f} s")
    print(f"{'gain of two free cores':34}{one / (own + children / 2):8.2f}   (by the clock now: {clock:.1f} s)")


def of_growth():
    with tempfile.TemporaryDirectory() as folder:
        taken = []
        for count in SESSIONS:
            paths = [written(folder, f"corpus{count}-{n}", talk(400, 1_000 * n)) for n in range(count)]
            taken.append(sum(whole(paths)[:2]))
        print(f"\nsessions {', '.join(f'{n}: {t:.1f} s' for n, t in zip(SESSIONS, taken, strict=True))}")
        print(f"{'slope over sessions':34}{slope(SESSIONS, taken):8.2f}")
        taken = []
        for size in LENGTHS:
            taken.append(sum(whole([written(folder, f"talk{size}", talk(size))], cuts=(0.5,))[:2]))
        print(f"messages {', '.join(f'{n:,}: {t:.1f} s' for n, t in zip(LENGTHS, taken, strict=True))}")
        print(f"{'slope over messages':34}{slope(LENGTHS, taken):8.2f}")


def main():
    paths = files()
    one = of_a_run(paths)
    of_jobs(paths, one)
    of_growth()


if __name__ == "__main__":
    main()
