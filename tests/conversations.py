"""Living conversations to try the agent's side on: messages of sizes, whole fixtures, a journal that only remembers."""

import json
from types import SimpleNamespace

import runs

from compactlab.memory import Choices, Memory
from compactlab.transcript import Message, Text

TRANSCRIPTS = runs.CHECKOUT / "fixtures" / "transcripts"
COUNTER = "chars/4"


def said(text, role="user"):
    return Message(role, (Text(text),))


def weighing(tokens, role="user"):
    """A message that weighs *tokens* by `chars/4`: four of them are the message itself."""
    return said("x" * 4 * (tokens - 4), role)


def talk(turns, words="line"):
    """A person and an agent who take turns."""
    return [said(f"{words} {i} " * 30, "user" if i % 2 == 0 else "assistant") for i in range(turns)]


def memory(repo, name="garden", project=None, **choices):
    given = Choices(**({"window": 1_000, "counter": COUNTER} | choices))
    return Memory(repo, name, project, given) if project else Memory(repo, name, choices=given)


def fixture(name):
    return (TRANSCRIPTS / f"{name}.jsonl").read_bytes()


def records(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


class Ledger(list):
    """A journal that keeps its entries in a list."""

    def __call__(self, done):
        self.append(done)
        return SimpleNamespace(id=f"entry-{len(self)}", path=f"journal/{len(self)}.md", note="")
