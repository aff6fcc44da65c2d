"""Passes over small conversations, and git as a user has it, for the tests of the journal."""

import os
import subprocess

from msgspec.structs import replace

from compactlab.compaction import compact
from compactlab.memory.lines import kept
from compactlab.memory.parts import Pass
from compactlab.memory.passes import _after
from compactlab.transcript import Message, Text, ToolCall, ToolResult

TIME = "2026-11-30T10:00:00Z"
SLIDE = "sliding_window(preserve_recent=2)"
USER = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
}  # fmt: skip


def talk(turns, start=0):
    """Lines of a conversation: each turn a question, a look-up with its result, and an answer."""
    messages = []
    for i in range(start, start + turns):
        messages += [
            Message("user", (Text(f"Where does bed {i} stand in the plan? {'It matters. ' * 20}"),), source=0),
            Message("assistant", (ToolCall(f"c{i}", "read", f'{{"path": "beds/{i}.md"}}'),), source=0),
            Message("tool", (ToolResult(f"c{i}", (Text(f"bed {i}: kale, {100 + i} cm, zoë"),)),), source=0),
            Message("assistant", (Text(f"Bed {i} is {100 + i} cm away. {'So much for that. ' * 10}"),), source=0),
        ]  # fmt: skip
    return [kept(message) for message in messages]


def passed(live, spec=SLIDE, previous="", **told):
    """A pass over a living list, as it is handed to the journal."""
    done = compact([replace(one.message, source=i) for i, one in enumerate(live)], spec)
    assert done.receipt.outcome == "applied"
    after = tuple(_after(done.messages, live))
    whole = Pass("garden", "primary", done.receipt.strategy, TIME, tuple(live), after, done.receipt, "", previous)
    return whole._replace(**told)


def git(folder, *arguments, check=True, **env):
    """Run git as its user would; give what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=clean | USER | env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout


def begun(folder, branch="main"):
    """A repository of a user, with two commits of two files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", branch)
    for number in (1, 2):
        for name in ("a.py", "b.py"):
            (folder / name).write_text(f"{name} {number}\n" * number)
        git(folder, "add", "a.py", "b.py")
        git(folder, "commit", "-q", "-m", f"Work {number}")
    return folder


def journal_files(folder):
    """The entries and originals that lie in a folder, without what keeps git off them."""
    return sorted(p.name for p in folder.glob("journal/*/*") if not p.name.startswith(".") and p.name != "key")
