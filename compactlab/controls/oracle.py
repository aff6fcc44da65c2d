"""`oracle`: the best choice of blocks of a strategy's size, by integer programme. A cheat: it knows what is needed.

An upper bound for strategies that only delete (units, messages, or blocks of them; a result may be emptied while its
call stays), nothing is claimed for those that write. Maximised is the number of needed facts that stand bound: those of
actions first, the others as tie-breakers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from compactlab.metrics import Case
from compactlab.tokens import MESSAGE_OVERHEAD
from compactlab.transcript import Block, Message, Messages, Reasoning, ToolCall, ToolResult

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
    room = tokens - case.meter.messages(case.protected)
    taken = _solved(case, programme, room)
    kept: dict[int, Message] = {i: case.base[i] for i in case.held}
    for variable, unit in units.items():
        if variable in taken:
            blocks = {programme.blocks[v] for v in taken if programme.unit_of.get(v) == variable}
            kept.update((i, m) for i in unit if (m := _without(case.base[i], i, blocks)).blocks)
    return tuple(kept[i] for i in sorted(kept))


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


def _solved(case: Case, programme: _Programme, room: float) -> set[int]:
    """Indices of the variables that the best choice takes."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array

    facts = list(programme.carriers)
    choices = len(programme.price)
    if not facts or room <= 0:
        return set()
    size = choices + len(facts)
    links = [*programme.unit_of.items(), *programme.beside.items()]
    rows = lil_array((1 + len(links) + len(facts), size))
    rows[0, :choices] = np.array(programme.price)
    limits = [room] + [0.0] * (rows.shape[0] - 1)
    for row, (choice, needs) in enumerate(links, 1):
        rows[row, choice], rows[row, needs] = 1, -1
    for row, (n, fact) in enumerate(enumerate(facts), 1 + len(links)):
        rows[row, choices + n] = 1
        for carrier in programme.carriers[fact]:
            rows[row, carrier] = -1
    gain = np.zeros(size)
    gain[choices:] = [-1.0 if case.needed[fact].kind == "action" else -TIE for fact in facts]
    found = milp(
        gain,
        constraints=LinearConstraint(rows.tocsr(), ub=np.array(limits)),
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
        options={"time_limit": SECONDS, "mip_rel_gap": 0.0},
    )
    if found.status != 0:
        raise RuntimeError(f"the integer programme was not solved: {found.message}")
    return {i for i in range(choices) if found.x[i] > 0.5}
