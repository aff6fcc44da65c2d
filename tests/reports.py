"""Faults that users of other systems reported in public, as cases: the notation of the sketches, and the rows.

A sketch is a row of messages, parted by blanks: `S` system, `U` a person, `A` the agent, `T` a tool, `N` a note that
compaction made. After the letter may stand `!` (an error), `[c1,c2]` (calls of the agent, results of a tool;
`[read:c1]` names the tool), `'words'`, `~8k` (weight of the words or of each result, in tokens of o200k_base), `+img`
and `+think` (a signed thought). The place of a message in the sketch is its `source`.
"""

import re
from collections import Counter
from dataclasses import fields
from functools import cache

import pytest

from compactlab import catalog, history
from compactlab.compaction import Guard, compact
from compactlab.llm.extractive import Extractive
from compactlab.tokens import Meter, counter
from compactlab.transcript import Image, Message, Reasoning, Text, ToolCall, ToolResult
from compactlab.validity import broken

METER = Meter("o200k_base")

ROWS = tuple(
    """
    K01-D1 K01-D2 K01-D3 K01-D4 K01-D5 K01-D6 K01-D7 K01-D8
    K02-D1 K02-D2 K02-D3 K02-D4 K02-D5 K02-D6
    K03-D1 K03-D2 K03-D3 K03-D4
    K04-D1 K04-D2 K04-D3 K04-D4
    K05-D1 K05-D2 K05-D3 K05-D4 K05-D5 K05-D6
    K06-D1 K06-D2 K06-D3 K06-D4
    K07-D1 K07-D2 K07-D3 K07-D4 K07-D5 K07-D6 K07-D7 K07-D8
    K08-D1 K08-D2 K08-D3 K08-D4 K08-D5 K08-D6 K08-D7 K08-D8 K08-D9
    K09-D1 K09-D2 K09-D3 K09-D4 K09-D5 K09-D6 K09-D7
    K10-D1 K10-D2 K10-D3 K10-D4 K10-D5 K10-D6
    K11-D1 K11-D2 K11-D3 K11-D4 K11-D5 K11-D6 K11-D7
    K12-D1 K12-D2 K12-D3 K12-D4 K12-D5 K12-D6
    K13-D1 K13-D2 K13-D3 K13-D4 K13-D5 K13-D6 K13-D7 K13-D8 K13-D9 K13-D10 K13-D11 K13-D12 K13-D13 K13-D14
    K14-D1 K14-D2 K14-D3 K14-D4 K14-D5
    K15-D1 K15-D2 K15-D3 K15-D4 K15-D5 K15-D6
    K16-D1 K16-D2 K16-D3 K16-D4
    K17-D1 K17-D2 K17-D3 K17-D4 K17-D5 K17-D6
    K18-D1 K18-D2 K18-D3 K18-D4 K18-D5 K18-D6 K18-D7 K18-D8 K18-D9 K18-D10 K18-D11
    K19-D1 K19-D2 K19-D3 K19-D4
    K20-D1 K20-D2 K20-D3
    K21-D1 K21-D2 K21-D3 K21-D4 K21-D5
    K22-D1 K22-D2 K22-D3
    K23-D1 K23-D2 K23-D3 K23-D4
    K24-D1 K24-D2
    K25-D1 K25-D2 K25-D3 K25-D4 K25-D5 K25-D6
    K26-D1 K26-D2 K26-D3 K26-D4 K26-D5 K26-D6 K26-D7 K26-D8 K26-D9
    K27-D1 K27-D2 K27-D3
    K28-D1 K28-D2 K28-D3 K28-D4 K28-D5 K28-D6
    K29-D1 K29-D2 K29-D3 K29-D4 K29-D5
    K30-D1 K30-D2 K30-D3 K30-D4 K30-D5 K30-D6
    K31-D1 K31-D2 K31-D3 K31-D4 K31-D5
    K32-D1 K32-D2 K32-D3 K32-D4 K32-D5 K32-D6 K32-D7 K32-D8
    K33-D1 K33-D2 K33-D3 K33-D4 K33-D5 K33-D6 K33-D7
    """.split()
)

LATER = {
    "K14-D2": "real models: that a prohibition survives is shown now; that it is obeyed is seen by use alone",
    "K15-D2": "real models: whether a summary closes a cancelled task is for a model; the words stand now",
    "K17-D1": "replay: that words survive ten passes is shown now; the spread over many runs needs the harness",
    "K18-D10": "replay: defaults for each size of window belong to the policy and its tuning",
}
"""Rows, or what is left of them, that a later step shows, with one sentence why."""

_PART = re.compile(
    r"""
    (?P<role>[SUATN]) (?P<error>!)? (?:\[(?P<ids>[^]]*)\])? (?:'(?P<words>[^']*)')?
    (?:~(?P<weight>\d+)(?P<thousand>k)?)? (?P<extras>(?:\+(?:img|think))*) (?:\s+|$)
    """,
    re.VERBOSE,
)
_ROLES = {"S": "system", "U": "user", "A": "assistant", "T": "tool", "N": "user"}
_PICTURE = Image("image/png", digest="sha256:0a1b")


def rows(names, table):
    """Parametrise a test by a table of rows: the key is the row's id, with a word after it where there are several."""
    return pytest.mark.parametrize(names, [pytest.param(*values, id=name) for name, values in table.items()])


def row(name):
    """Say that a test without a table is the row *name*."""
    return pytest.mark.parametrize((), [pytest.param(id=name)])


def ids_of(module):
    """Ids of the parametrised tests of a module, up to their first blank."""
    marks = [mark for name, test in vars(module).items() if name.startswith("test_") for mark in _marks(test)]
    return {param.id.split()[0] for mark in marks for param in mark.args[1] if getattr(param, "id", None)}


def _marks(test):
    return [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]


@cache
def sketch(text):
    """Build the messages of a sketch."""
    built = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        assert part, f"cannot read the sketch from {text[at : at + 40]!r}"
        built.append(_message(part, len(built)))
        at = part.end()
    return tuple(built)


def repeated(count, text, first=1):
    """Write a stretch of a sketch *count* times; `#` becomes the number of the turn."""
    return " ".join(text.replace("#", str(number)) for number in range(first, first + count))


def filled(weight, words):
    """Give text of *weight* tokens that begins with *words*."""
    short = weight - counter()([words])[0]
    assert short >= 0, f"{words!r} weighs more than {weight}"
    return words + " day" * short


def _message(part, number):
    role = part["role"]
    weight = int(part["weight"] or 0) * (1_000 if part["thousand"] else 1)
    words = part["words"] if part["words"] is not None else "" if role == "T" else f"part {number}"
    ids = part["ids"].split(",") if part["ids"] else []
    picture = (_PICTURE,) if "+img" in part["extras"] else ()
    if role == "T":
        content = {name: _text(weight, words or f"result {name}") for name in ids}
        results = [ToolResult(name, (*content[name], *picture), is_error=bool(part["error"])) for name in ids]
        return Message("tool", tuple(results), source=number)
    said = () if ids and part["words"] is None and not weight else _text(weight, words)
    thought = (Reasoning(f"thought {number}", signature="c2ln"),) if "+think" in part["extras"] else ()
    calls = [ToolCall(name, tool or "bash", f'{{"n": "{name}"}}') for tool, _, name in (i.rpartition(":") for i in ids)]
    return Message(_ROLES[role], (*thought, *said, *picture, *calls), source=number, synthetic=role == "N")


def _text(weight, words):
    return (Text(filled(weight, words) if weight else words),)


def specs(**parameters):
    """Every strategy of the catalog, with those of *parameters* that it has; and a ladder that ends in a summary."""
    for name in catalog.names("strategies"):
        cls = catalog.strategy_class(name)
        own = {field.name for field in fields(cls)}
        yield repr(cls(**{key: value for key, value in parameters.items() if key in own}))
    recent = parameters.get("preserve_recent", 10)
    yield f"ladder(microcompact(keep_recent=1), cull(preserve_recent={recent}), summary(preserve_recent={recent}))"


EVERY = tuple(specs(preserve_recent=2, keep_recent=1))
SLIDING = tuple(spec for spec in EVERY if spec.startswith(("sliding", "summary", "key_value")))
every_strategy = pytest.mark.parametrize("spec", EVERY)
sliding = pytest.mark.parametrize("spec", SLIDING)


def compacted(messages, spec, target=None, model=None, rules=("openai", "anthropic")):
    """Compact, weighed in real tokens and written by the stand-in; hold the result against what all rows demand."""
    done = compact(messages, spec, target=target, guard=Guard(METER, rules, model or Extractive()))
    base = history.repair(messages).messages
    assert unpaired(done.messages) == []
    assert broken(done.messages, rules) <= broken(base, rules)
    assert done.receipt.tokens_before == METER.messages(base)
    assert done.receipt.tokens_after == METER.messages(done.messages) <= done.receipt.tokens_before
    if done.receipt.outcome == "applied":
        assert done.receipt.tokens_after < done.receipt.tokens_before
    return done


def unpaired(messages):
    """Ids of results without a call before them, and of unanswered calls that are not the last assistant message's."""
    waiting = Counter()
    found = []
    for block in (block for message in messages for block in message.blocks):
        if isinstance(block, ToolCall):
            waiting[block.id] += 1
        elif isinstance(block, ToolResult):
            found += [] if waiting[block.call_id] else [block.call_id]
            waiting[block.call_id] -= bool(waiting[block.call_id])
    last = next((message for message in reversed(messages) if message.role == "assistant"), None)
    waiting -= Counter(call.id for call in last.calls) if last else Counter()
    return found + list(waiting.elements())


def sources(messages):
    """Where the messages stood in the sketch; None for one that compaction made."""
    return [message.source for message in messages]


def in_one_message(messages):
    """Store each turn of calls and results as one message of the agent, as some systems do."""
    joined = []
    for message in messages:
        last = joined[-1] if joined and joined[-1].role == "assistant" else None
        if last and (message.role == "tool" or (message.role == "assistant" and last.results)):
            joined[-1] = Message("assistant", (*last.blocks, *message.blocks), source=last.source)
        else:
            joined.append(message)
    return tuple(joined)


def notes(messages):
    """Words of the messages that compaction made."""
    return [message.text for message in messages if message.source is None]


def said_by(messages, role):
    """Words of the messages of a role, in order."""
    return [message.text for message in messages if message.role == role and not message.synthetic]


def growth(messages):
    """Parts of a session, one for each of its turns: the list as it stood before each message of a person."""
    return [messages[:i] for i, message in enumerate(messages) if message.role == "user" and i] + [messages]
