"""Our strategies in a benchmark of others: `python benchmarks/conformance_kit.py`.

The budget benchmark of compaction-conformance-kit (`pip install compaction-conformance-kit==0.8.0`, or the folder with
its wheel in COMPACTLAB_PUBLISHED), through its own interface: its turns go in, our text comes out, five rounds at 10,
20 and 30 % of the characters. What it planted is never looked at. Beside ours stand its own compactors, the lines that
look most like facts (*regex lines*), and a *leak*, which takes what the kit planted: the ceiling of each budget, more
or less.

The sessions of the kit are short and synthetic, 8,000 characters of two fillers to a statement, each behind a label
in capitals: what wins here is what reads labels.
"""

import importlib
import os
import re
import sys
from pathlib import Path

from compactlab import Message, Text, catalog, compact
from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.tokens import Meter

BUDGETS = (0.10, 0.20, 0.30)
OURS = (
    "microcompact",
    "cull",
    "sliding_window",
    "key_value",
    "key_value(labels=True, kv_share=1.0)",
    "key_value(labels=True, kv_share=1.0, terse=True)",
    "ladder",
    "ladder(cull, key_value(labels=True, kv_share=1.0))",
    "summary",
    "sliding_reflect",
)
TURN = re.compile(r"\[(system|user|assistant|tool|note)\] ")
QUOTED = re.compile(r" +\[(system|user|assistant|tool|note)\] ")
FACT = re.compile(r"\d|[A-Z]{3,}|\b(?:never|always|must|only)\b", re.IGNORECASE)
LEAST, MOST = 3, 5
"""Characters to a token between which a target is sought: 4 by the counter `chars/4`, but lines and roles weigh too."""


def kit(module):
    folder = os.environ.get("COMPACTLAB_PUBLISHED")
    sys.path[:0] = (
        [str(wheel) for wheel in sorted(Path(folder).glob("compaction_conformance_kit-*.whl"))] if folder else []
    )
    return importlib.import_module(f"compaction_kit.{module}")


def read(turns):
    """The kit's turns as our messages; from the second round on all stand in one, as we wrote them."""
    if len(turns) == 1 and TURN.match(turns[0].text):
        return written_before(turns[0].text)
    return [Message("user" if turn.role == "tool" else turn.role, (Text(turn.text),)) for turn in turns]


def written_before(text):
    messages = []
    for line in text.split("\n"):
        found = TURN.match(line)
        if found:
            role = "user" if found[1] == "note" else found[1]
            messages.append(Message(role, (Text(line[found.end() :]),), synthetic=found[1] == "note"))
        else:
            last = messages.pop()
            more = line[1:] if QUOTED.match(line) else line
            messages.append(Message(last.role, (Text(f"{last.text}\n{more}"),), synthetic=last.synthetic))
    return messages


def write(messages):
    """Messages as the kit shows turns, one a line; a line of a text that looks like a turn is told by a blank."""
    return "\n".join(f"[{'note' if m.synthetic else m.role}] {_lines(m.text)}" for m in messages)


def _lines(text):
    first, *more = text.split("\n")
    return "\n".join((first, *(f" {line}" if TURN.match(line) or QUOTED.match(line) else line for line in more)))


class Ours:
    """A strategy under the guard as a compactor of the kit's."""

    def __init__(self, spec):
        self.name = spec
        self.guard = Guard(Meter("chars/4"), model=Extractive())

    def compact(self, turns, round_num=1, budget_chars=None):
        messages = read(turns)
        target = budget_chars // LEAST
        while True:  # our targets are tokens: the largest whose text fits
            done = compact(messages, catalog.strategy(self.name), target=target, guard=self.guard)
            text = write(done.messages)
            if len(text) <= budget_chars or target <= budget_chars // MOST:
                return kit("compacted").CompactedContext(text, self.name, round_num)
            target -= 3


class Lines:
    """Lines that fit, the first by a key."""

    def compact(self, turns, round_num=1, budget_chars=None):
        lines = list(dict.fromkeys(line for turn in turns for line in turn.text.split("\n")))
        kept, room = [], budget_chars
        for line in sorted(lines, key=self.rank):
            if len(line) + 1 <= room:
                kept.append(line)
                room -= len(line) + 1
        return kit("compacted").CompactedContext("\n".join(sorted(kept, key=lines.index)), self.name, round_num)


class Regex(Lines):
    name = "regex lines"

    def rank(self, line):
        return -len(FACT.findall(line)) / (len(line) + 1)


class Leak(Lines):
    """Takes what the kit looks for in the first round, shortest first, by reading what it planted: no compaction."""

    name = "leak"

    def compact(self, turns, round_num=1, budget_chars=None):
        self.planted = {turn.text for turn in turns if turn.canary_id} if len(turns) > 1 else set()
        return super().compact(turns, round_num, budget_chars)

    def rank(self, line):
        return (line not in self.planted, len(line))


def main():
    factories = dict(kit("cli").COMPACTORS)
    factories |= {spec: lambda spec=spec: Ours(spec) for spec in OURS}
    factories |= {made.name: made for made in (Regex, Leak)}
    told = kit("benchmark").run_budget_benchmark(factories, BUDGETS)
    print(kit("benchmark").budget_benchmark_to_markdown(told))


if __name__ == "__main__":
    main()
