"""Facts: values that stand in a transcript and that an agent may need later, mined without a model.

A family or two live in each file. `mine` lets them read each block once, the most specific family first, and joins what
they found. Values come without positions: where they occur, and which are needed, is for the metrics to find.
"""

from __future__ import annotations

from collections.abc import Sequence

from compactlab.facts.code import mine_paths, mine_urls
from compactlab.facts.commands import mine_commands
from compactlab.facts.dates import mine_dates
from compactlab.facts.errors import mine_errors
from compactlab.facts.fact import FAMILIES, Fact, Family
from compactlab.facts.identifiers import mine_identifiers
from compactlab.facts.merging import Place, merged
from compactlab.facts.numbers import mine_numbers
from compactlab.facts.prose import Names, mine_quotes
from compactlab.facts.quantities import mine_quantities
from compactlab.facts.sheet import Sheet
from compactlab.transcript import Message, ToolCall

__all__ = ["FAMILIES", "Fact", "Family", "mine"]

# What reads the whole text first, then who takes what the others left, the most specific first.
_MINERS = (
    mine_errors,
    mine_commands,
    mine_quotes,
    mine_urls,
    mine_paths,
    mine_dates,
    mine_identifiers,
    mine_quantities,
    mine_numbers,
)


def mine(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Give all distinct facts of *messages*, in order of first appearance, one for each value.

    >>> from compactlab.transcript import Text
    >>> [f.value for f in mine([Message("user", (Text("ETL-727: see meterflow/stage.py, 30717.807 kWh"),))])]
    ['ETL-727', 'meterflow/stage.py', '30717.807 kWh']
    """
    blocks = dict.fromkeys(block for message in messages for block in message.blocks)
    tools = {block.name for block in blocks if isinstance(block, ToolCall)}
    found: list[tuple[Place, Fact]] = []
    names = Names()
    for index, block in enumerate(blocks):
        sheet = Sheet(block)
        for miner in _MINERS:
            miner(sheet)
        names.read(index, sheet)
        found += [((index, start), made) for start, made in sheet.found if made.value not in tools]
    found += [(place, made) for place, made in names.facts() if made.value not in tools]
    return merged(found)
