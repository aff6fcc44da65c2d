"""What the benchmarks run on: the recorded sessions, and made ones that are the same every time."""

import math
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from compactlab import Message, Text, ToolCall, ToolResult, Transcript, read
from compactlab.facts import mine
from compactlab.sweeping import swept_seldom
from compactlab.tokens import Meter

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
FILES = tuple(sorted(path for path in FIXTURES.glob("*.jsonl") if ".probes" not in path.name))
MODEL_FREE = ("none", "microcompact", "cull", "sliding_window", "key_value", "ladder", "defer")


def sessions():
    """The recorded sessions."""
    return [transcript for path in FILES for transcript in read(path)]


def blocks(messages):
    """Distinct blocks, in order."""
    return list(dict.fromkeys(block for message in messages for block in message.blocks))


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
    return tuple(messages[:size])


def transcript(size, first=0):
    """`talk` as a transcript."""
    return Transcript(f"talk of {size} from {first}", "", talk(size, first))


ONCE = "reading, counting, mining once"


def once():
    """Read the sessions, count them and mine their facts."""
    with swept_seldom():
        for path in FILES:
            for session in read(path):
                Meter().messages(session.messages)
                mine(session.messages)


def apart(action, *given):
    """Processor seconds of an action in a new process, and of the children of that."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(used, action, *given).result()


def used(action, *given):
    """Processor seconds of this process and of its children for an action."""
    own, children = time.process_time(), _of_children()
    action(*given)
    return time.process_time() - own, _of_children() - children


def _of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def slope(sizes, taken):
    """Slope of the line through seconds over size, both as logarithms: 1 is linear.

    >>> round(slope((1, 2, 4), (3.0, 6.0, 12.0)), 6)
    1.0
    """
    points = [(math.log(size), math.log(second)) for size, second in zip(sizes, taken, strict=True)]
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
