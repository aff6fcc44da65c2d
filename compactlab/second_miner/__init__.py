"""A second miner of facts, written apart from the first: token by token, by the shape of each token.

Two strategies keep what looks like a fact (`key_value`, and the control `regex_lines`). If one miner had both inspired
and scored them, they might be favoured; so their loss is measured by this one too (DESIGN 5, independence). It follows
the same list of families and the same rules of admission, but by another method: a line
is split at white space, a token at punctuation, and what is left is judged by its classes of characters and by small
tables. It shares with the first miner the type `Fact`, tables of words, and the canonical form of text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from compactlab.facts.fact import Fact, fact
from compactlab.facts.text import canonical
from compactlab.second_miner.credentials import Credentials
from compactlab.second_miner.days import spoken_days
from compactlab.second_miner.names import Names
from compactlab.second_miner.shapes import UNNAMED, facts_of
from compactlab.tools import decoded
from compactlab.transcript import Block, Message, Text, ToolCall, ToolResult, readable

LONGEST_LINE = 4_000
"""Characters over which a line is minified or a blob, and no source of facts."""


def mine_again(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Give all distinct facts of *messages*, in order of first appearance, one for each value.

    Families are path, url, identifier, hash, number, name and date. Names of tools and of their arguments, which every
    strategy keeps in the schemas, are no facts; nor is anything that looks like a credential.

    >>> [f.value for f in mine_again([Message("user", (Text("ETL-727: see meterflow/stage.py, 30,717.807 kWh"),))])]
    ['ETL-727', 'meterflow/stage.py', '30717.807']
    """
    found: dict[str, Fact] = {}
    names = Names()
    known: set[str] = set()
    shaped: dict[str, tuple[Fact, ...]] = {}
    for block in dict.fromkeys(block for message in messages for block in message.blocks):
        if isinstance(block, ToolCall):
            known.update(_schema(block))
        is_said = isinstance(block, Text)
        for tokens in _lines(block):
            for made in (*_of_tokens(tokens, shaped), *spoken_days(tokens)):
                found.setdefault(made.value, made)
            names.read(tokens, is_said=is_said)
    for made in names.facts():
        found.setdefault(made.value, made)
    return tuple(made for made in _joined(found.values()) if made.value not in known)


def _schema(call: ToolCall) -> Iterator[str]:
    """The name of a tool, and the names of its arguments."""
    yield call.name
    yield from decoded(call)


def _lines(block: Block) -> Iterator[list[str]]:
    """The tokens of each line, without the number that a tool that reads files sets before it."""
    is_read = isinstance(block, ToolResult)
    for line in readable(block).splitlines():
        if len(line) > LONGEST_LINE:
            continue
        tokens = canonical(_unnumbered(line) if is_read else line).split()
        if tokens:
            yield tokens


def _unnumbered(line: str) -> str:
    """A line without its number, as `cat -n`, a reading tool or `grep -n` sets it before a tab, an arrow or a colon."""
    bare = line.lstrip(" ")
    end = next((i for i, c in enumerate(bare[:8]) if not c.isdigit()), 0)
    if not end or bare[end] not in "\t→:-" or bare[end + 1 : end + 3].isdigit():
        return line
    return bare[end + 1 :]


def _of_tokens(tokens: list[str], shaped: dict[str, tuple[Fact, ...]]) -> Iterator[Fact]:
    """Facts of single tokens; what follows the name of a credential is skipped."""
    credentials = Credentials()
    for token in tokens:
        if credentials.hides(token):
            continue
        if token not in shaped:
            shaped[token] = facts_of(token)
        yield from shaped[token]


def _joined(found: Iterable[Fact]) -> list[Fact]:
    """Make one fact of all ways to write one path: each that ends only one longer path counts as that one."""
    made = list(found)
    parts = {f.value: tuple(f.value.strip("/").split("/"))[::-1] for f in made if f.family == "path"}
    owners: dict[tuple[str, ...], list[str]] = defaultdict(list)
    whole_of: dict[str, str] = {}
    for value in sorted(parts, key=lambda value: -len(parts[value])):
        of = owners[parts[value]]
        if len(of) == 1:
            whole_of[value] = of[0]
            continue
        for length in range(1, len(parts[value]) + 1):
            owners[parts[value][:length]].append(value)
    forms: dict[str, list[str]] = defaultdict(list)
    for value in parts:
        forms[whole_of.get(value, value)].append(value)
    joined: dict[str, Fact] = {}
    for each in made:
        value = whole_of.get(each.value, each.value)
        if each.family != "path":
            joined.setdefault(value, each)
        elif value not in joined:
            base = parts[value][0]
            alone = [base] if len(owners[base,]) == 1 and "." in base.strip(".") and base not in UNNAMED else []
            joined[value] = fact("path", value, *forms[value], *alone)
    return list(joined.values())
