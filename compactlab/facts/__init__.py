"""Facts: values that stand in a transcript and that an agent may need later, mined without a model.

A family or two live in each file. `mine` lets them read each block once, the most specific family first, and joins what
they found. Values come without positions: where they occur, and which are needed, is for the metrics to find.
"""

from __future__ import annotations

from collections.abc import Sequence

from compactlab.facts.code import mine_paths, mine_urls
from compactlab.facts.fact import FAMILIES, Fact, Family
from compactlab.facts.identifiers import mine_identifiers
from compactlab.facts.merging import Place, merged
from compactlab.facts.numbers import mine_numbers
from compactlab.facts.sheet import Sheet
from compactlab.transcript import Block, Message

__all__ = ["FAMILIES", "Fact", "Family", "mine"]


def mine(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Give all distinct facts of *messages*, in order of first appearance, one for each value.

    >>> from compactlab.transcript import Text
    >>> [f.value for f in mine([Message("user", (Text("ETL-727: see meterflow/stage.py, 30717.807 kWh"),))])]
    ['ETL-727', 'meterflow/stage.py', '30717.807']
    """
    blocks = dict.fromkeys(block for message in messages for block in message.blocks)
    found: list[tuple[Place, Fact]] = []
    for index, block in enumerate(blocks):
        sheet = _mined(block)
        found += [((index, start), made) for start, made in sheet.found]
    return merged(found)


def _mined(block: Block) -> Sheet:
    sheet = Sheet(block)
    for family in (mine_urls, mine_paths, mine_identifiers, mine_numbers):
        family(sheet)
    return sheet
