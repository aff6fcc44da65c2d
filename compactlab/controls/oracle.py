"""`oracle`: the best choice of blocks of a strategy's size, by integer programme. A cheat: it knows what is needed.

An upper bound for strategies that only delete (units, messages, or blocks of them; a result may be emptied while its
call stays), nothing is claimed for those that write. Maximised is the number of needed facts that stand bound: those of
actions first, the others as tie-breakers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from compactlab.controls._draws import floor
from compactlab.metrics import Case, Trial
from compactlab.tokens import MESSAGE_OVERHEAD
from compactlab.transcript import Block, Message, Messages, Reasoning, ToolCall, ToolResult

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TIE = 1e-3
"""Weight of a fact that is needed, but in no action."""
SECONDS = 10.0


@dataclass
class _Programme:
    """Variables are units and blocks that may be left out of them, with their `price` in tokens; then come the facts.

    `beside` leads from a thought to the words that must stand beside it: no provider takes a thought alone.
    """

    price: list[float] = field(default_factory=list)
    blocks: dict[int, tuple[int, int]] = field(default_factory=dict)
    unit_of: dict[int, int] = field(default_factory=dict)
    carriers: dict[int, list[int]] = field(default_factory=dict)
    beside: dict[int, int] = field(default_factory=dict)

    def add(self, price: float) -> int:
        self.price.append(price)
        return len(self.price) - 1


def build(case: Case, tokens: int) -> Messages:
    """Keep the protected set and the best blocks that fit *tokens* in all."""
    programme, units = case.cached("oracle", lambda: _programme(case))
    room = tokens - floor(case)
    taken = case.cached(f"oracle in {room}", lambda: _solved(case, programme, room))
    kept: dict[int, Message] = {i: case.base[i] for i in case.held}
    for variable, unit in units.items():
        if variable in taken:
            blocks = {programme.blocks[v] for v in taken if programme.unit_of.get(v) == variable}
            kept.update((i, m) for i in unit if (m := _without(case.base[i], i, blocks)).blocks)
    return tuple(kept[i] for i in sorted(kept))


def trial(case: Case, tokens: int) -> Trial:
    """What `build` makes, ready to be scored."""
    return Trial(case, build(case, tokens))


def _programme(case: Case) -> tuple[_Programme, dict[int, tuple[int, ...]]]:
    """State the choice: units with their fixed price, the blocks worth choosing, and which facts each carries."""
    programme = _Programme()
    units: dict[int, tuple[int, ...]] = {}
    for unit in case.free:
        carrying = [(i, at) for i in unit for at in range(len(case.base[i].blocks)) if _needed(case, i, at)]
        if not carrying:
            continue
        variable = programme.add(sum(_fixed(case, case.base[i]) for i in unit))
        units[variable] = unit
        chosen = {place: _choice(case, programme, variable, place) for place in carrying}
        for place, choice in chosen.items():
            for fact in _needed(case, *place):
                programme.carriers.setdefault(fact, []).append(choice)
            words = _words_beside(case, *place)
            if words is not None:
                programme.beside[choice] = chosen.get(words) or _choice(case, programme, variable, words)
    return programme, units


def _choice(case: Case, programme: _Programme, unit: int, place: tuple[int, int]) -> int:
    """The variable that keeps a block: its unit's for a call, else one of its own."""
    block = case.base[place[0]].blocks[place[1]]
    if isinstance(block, ToolCall):
        return unit
    choice = programme.add(case.meter.block(block) - _emptied_price(case, block))
    programme.blocks[choice] = place
    programme.unit_of[choice] = unit
    return choice


def _words_beside(case: Case, position: int, at: int) -> tuple[int, int] | None:
    """For a thought in a message without calls, the lightest block that may stand beside it."""
    message = case.base[position]
    if not isinstance(message.blocks[at], Reasoning) or message.calls:
        return None
    others = [i for i, block in enumerate(message.blocks) if not isinstance(block, Reasoning)]
    return min(((position, i) for i in others), key=lambda p: case.meter.block(message.blocks[p[1]]), default=None)


def _needed(case: Case, position: int, at: int) -> list[int]:
    """Needed facts that stand bound in one block."""
    message = case.base[position]
    bound = case.risk.presence([replace(message, blocks=message.blocks[at : at + 1])]).bound
    return [fact for fact in case.needed if bound >> fact & 1] if bound else []


def _fixed(case: Case, message: Message) -> float:
    """What a message costs once its unit is kept: calls whole, results emptied, all else left out."""
    calls = sum(case.meter.block(block) for block in message.blocks if isinstance(block, ToolCall))
    results = sum(_emptied_price(case, block) for block in message.blocks)
    return MESSAGE_OVERHEAD + calls + results


def _emptied_price(case: Case, block: Block) -> float:
    return case.meter.block(replace(block, content=())) if isinstance(block, ToolResult) else 0.0


def _without(message: Message, position: int, chosen: set[tuple[int, int]]) -> Message:
    blocks: list[Block] = []
    for at, block in enumerate(message.blocks):
        if isinstance(block, ToolCall) or (position, at) in chosen:
            blocks.append(block)
        elif isinstance(block, ToolResult):
            blocks.append(replace(block, content=()))
    return replace(message, blocks=tuple(blocks))


def _rows(programme: _Programme) -> csr_array:
    """The constraints, a row each: the price of all; no block without its unit; no fact without a carrier."""
    from scipy.sparse import coo_array

    choices = len(programme.price)
    links = [*programme.unit_of.items(), *programme.beside.items()]
    cells: list[tuple[int, int, float]] = [(0, choice, price) for choice, price in enumerate(programme.price) if price]
    for row, (choice, needs) in enumerate(links, 1):
        cells += [(row, choice, 1.0), (row, needs, -1.0)]
    for n, carriers in enumerate(programme.carriers.values()):
        row = 1 + len(links) + n
        cells += [(row, choices + n, 1.0), *((row, carrier, -1.0) for carrier in dict.fromkeys(carriers))]
    rows, columns, values = zip(*cells, strict=True)
    size = (1 + len(links) + len(programme.carriers), choices + len(programme.carriers))
    return coo_array((values, (rows, columns)), shape=size).tocsr()


def _solved(case: Case, programme: _Programme, room: float) -> set[int]:
    """Indices of the variables that the best choice takes."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    if not programme.carriers or room <= 0:
        return set()
    rows = case.cached("oracle's rows", lambda: _rows(programme))
    choices = len(programme.price)
    limits = np.zeros(rows.shape[0])
    limits[0] = room
    gain = np.zeros(rows.shape[1])
    gain[choices:] = [-1.0 if case.needed[fact].kind == "action" else -TIE for fact in programme.carriers]
    found = milp(
        gain,
        constraints=LinearConstraint(rows, ub=limits),
        integrality=np.arange(len(gain)) < choices,  # facts are whole by themselves once the choices are
        bounds=Bounds(0, 1),
        options={"time_limit": SECONDS, "mip_rel_gap": 0.0},
    )
    if found.status != 0:
        raise RuntimeError(f"the integer programme was not solved: {found.message}")
    return {i for i in range(choices) if found.x[i] > 0.5}
