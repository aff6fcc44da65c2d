"""Facts: values that stand in a transcript and that an agent may need later, mined without a model.

A family or two live in each file. `mine` reads each block once, line by line, and joins what the families found. Values
come without positions: where they occur, and which are needed, is for the metrics to find.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from compactlab.facts.assignments import mine_settings
from compactlab.facts.commands import mine_commands
from compactlab.facts.evidence import settled
from compactlab.facts.fact import FAMILIES, Fact, Family
from compactlab.facts.merging import Place, merged
from compactlab.facts.prose import Names
from compactlab.facts.reading import Reader
from compactlab.facts.sheet import Sheet
from compactlab.redaction import known_in
from compactlab.transcript import Message, ToolCall

__all__ = ["FAMILIES", "Fact", "Family", "mine"]


def mine(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Give all distinct facts of *messages*, in order of first appearance, one for each value.

    >>> from compactlab.transcript import Text
    >>> [f.value for f in mine([Message("user", (Text("ETL-727: see meterflow/stage.py, 30717.807 kWh"),))])]
    ['ETL-727', 'meterflow/stage.py', '30717.807 kWh']
    """
    blocks = dict.fromkeys(block for message in messages for block in message.blocks)
    tools = {block.name for block in blocks if isinstance(block, ToolCall)}
    known = tuple(known_in(messages))
    found: list[tuple[Place, Fact]] = []
    names = Names()
    # Commands leave their parts to the others; settings are what the others left.
    miners = (mine_commands, Reader().read, mine_settings)
    for index, block in enumerate(blocks):
        sheet = Sheet(block, known)
        for miner in miners:
            miner(sheet)
        names.read(index, sheet)
        found += [((index, start), made) for start, made in sheet.found if made.value not in tools]
    found += [(place, made) for place, made in names.facts() if made.value not in tools]
    times = Counter(made.value for _, made in found if made.family == "quote")
    found = [one for one in found if one[1].family != "quote" or names.is_telling(one[1].value, times[one[1].value])]
    return merged(settled(found))
