"""Small sessions for replays whose every weight can be added up by hand: four characters are a token."""

from histories import agent, call
from msgspec.structs import replace

from compactlab.compaction import Guard
from compactlab.facts import Fact
from compactlab.policy import policy
from compactlab.replay import Session, replay
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolResult, Transcript

COUNTER = "chars/4"
LIMIT = Fact("number", "8321", ("8321",))
TABLE = Fact("identifier", "orders_old", ("orders_old",))


def words(said, tokens):
    """Text of so many tokens that begins with *said*."""
    text = said + " day" * tokens
    return text[: 4 * tokens].ljust(4 * tokens, ".")


def line(role, said="", tokens=36, **more):
    """A message of *tokens* + 4."""
    return Message(role, (Text(words(said, tokens)),), **more)


def session(messages, facts=(LIMIT, TABLE), **more):
    """A session of numbered messages with only the given facts."""
    numbered = tuple(replace(message, source=i) for i, message in enumerate(messages))
    return Session(Transcript("t", "", numbered, **more), Meter(COUNTER), tuple(facts))


def run(messages, spec, window, marks=None, **more):
    """Replay messages, or a session, under a policy."""
    given = messages if isinstance(messages, Session) else session(messages, **more)
    return replay(given, policy(spec), window, Guard(Meter(COUNTER)), marks)


def texts(messages):
    """The first three words of each message."""
    return [" ".join(message.text.split()[:3]) for message in messages]


def reading(call_id, path, said, tokens=36, name="read"):
    """A call that reads a file, and its result of *tokens* + 4."""
    asked = agent(call(call_id, name, f'{{"path": "{path}"}}'))
    came = Message("tool", (ToolResult(call_id, (Text(words(said, tokens)[len(call_id) + 1 :]),)),))
    return asked, came


__all__ = ["LIMIT", "TABLE", "agent", "call", "line", "reading", "run", "session", "texts", "words"]
