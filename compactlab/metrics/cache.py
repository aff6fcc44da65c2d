"""M14, cache and money: what each request shares with the one before, and what the session costs by a price table.

V_t is what was sent at turn t. A provider keeps what it was sent and takes less for a beginning that it knows, here by
whole messages; what is new to it is stored.

- `reuse` = sum over t of the common beginning of V_t and V_(t-1), of n = sum over t of the weight of V_t.
- `breaks` = turns whose V_t does not go on from all of V_(t-1), of n = turns but the first.
- `reread` = tokens behind the first change of an applied fire that are no news and yet cost the full price: what it
  left there, and what it wrote; n = applied fires.
- `money`, `group` the priced model: sum over t of p_cr shared + p_cw (tokens - shared) + p_out output, and p_in for the
  tokens of the strategy's own model calls (how many of them it wrote is not known, so these are priced too low).
  p_cw is p_in where the vendor takes no more for storing. `money_uncached`: the same with p_in for all that was read.
  `money_plain`: what the session would have cost with no window and no policy, each request going on from the last.
- `pays` = applied fires that pay for themselves, of n = applied fires; `group` the priced model. One that removes R
  tokens, with B tokens of V_(t-1) from its first change on, T turns left and M tokens of its own model calls, pays iff

      R (p + T c) > B (p - c) + M p_in        with c = p_cr, and p = p_cw for what is sent anew.

That rule is exact, and without M it is R > B (p - c) / (p + T c) of M14: left alone, the request at the fire would cost
R p - B (p - c) more than it does (B from the cache, all behind it anew), and each later one R c more.

Nothing runs out: that a cache forgets after minutes is left out, and so is the least length that some vendors ask for.
Of an overhead that changes on the way, `reread` and `pays` take what it was at the start.
A session that ended in an overflow yields no money and no `pays`: its task is unfinished and its end unknown. So does a
model whose price is not known. Formulas: M14 of the metrics page.

>>> price = Price(input=2.0, cached=0.2, output=10.0, stored=2.5)
>>> [pays(Edit(removed=r, broken=8_000, turns=20), price) for r in (2_800, 2_900)]  # 8000 2.3 / 6.5 = 2831
[False, True]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from compactlab.llm.prices import Given, Price, price_of, prices
from compactlab.metrics import Score
from compactlab.replay import Replay, Turn

PRICED = "claude-sonnet-5-5"
"""The model by whose prices money is counted where nothing else is said: its vendor takes more for storing."""


def replayed(replay: Replay, model: str = PRICED, given: Given | None = None) -> Iterator[Score]:
    """Yield reuse, breaks, and money by the price of *model*, which *given* prices may tell (see `llm.prices`)."""
    turns = replay.turns
    found = list(edits(replay))
    if turns:
        yield Score("reuse", float(sum(turn.shared for turn in turns)), sum(turn.tokens for turn in turns))
    if len(turns) > 1:
        broken = sum(later.shared < earlier.tokens for earlier, later in pairwise(turns))
        yield Score("breaks", float(broken), len(turns) - 1)
    if found:
        yield Score("reread", float(sum(edit.reread for edit in found)), len(found))
    price = price_of(model, prices(given))
    if price is None or replay.overflow or not turns:
        return
    yield Score("money", money(replay, price, cached=True), group=model)
    yield Score("money_uncached", money(replay, price, cached=False), group=model)
    if sum(turn.tokens for turn in unbounded(replay)) == replay.sent_plain:  # not where the overhead changed on the way
        yield Score("money_plain", of_turns(unbounded(replay), price, cached=True), group=model)
    if found:
        yield Score("pays", float(sum(pays(edit, price) for edit in found)), len(found), group=model)


def money(replay: Replay, price: Price, *, cached: bool) -> float:
    """What all requests of a session cost, in the currency of the price, with a provider's cache or without one."""
    own = sum(price.of(fire.model_tokens, 0, 0) for fire in replay.fires)
    return round(own + of_turns(replay.turns, price, cached=cached), 9)


def of_turns(turns: Iterable[Turn], price: Price, *, cached: bool) -> float:
    """What some requests and their answers cost."""
    total = 0.0
    for turn in turns:
        known, stored = (turn.shared, turn.tokens - turn.shared) if cached else (0, 0)
        total += price.of(turn.tokens, known, turn.output, stored)
    return round(total, 9)


def unbounded(replay: Replay) -> list[Turn]:
    """The requests of the same session with no window and no policy, up to its last turn: nothing is ever taken away.

    Each holds the one before, the answer as it was recorded, and the news: what the view grew by up to the first fire.
    """
    grown = {fire.turn: fire.tokens_before + replay.overhead for fire in reversed(replay.fires)}
    made: list[Turn] = []
    known = held = cut = 0
    for at, turn in enumerate(replay.turns):
        tokens = known + grown.get(at, turn.tokens) - held + cut
        made.append(turn._replace(tokens=tokens, shared=known, output=turn.output + turn.cut, cut=0))
        known, held, cut = tokens, turn.tokens, turn.cut
    return made


class Edit(NamedTuple):
    """What an applied fire did to the cache, in tokens.

    `removed` is what it took out, `broken` what was in the cache from its first change on, `turns` how many are left
    after that of the fire, `own` the tokens of its own model calls, `size` the weight of the view before, `reread` what
    is sent again though it is no news.
    """

    removed: int
    broken: int
    turns: int
    own: int = 0
    size: int = 0
    reread: int = 0


def edits(replay: Replay) -> Iterator[Edit]:
    """Give what each applied fire of a session did; what the cache holds is the request before, until it is broken."""
    at, known = -1, 0
    for fire in replay.fires:
        if fire.turn != at:
            at = fire.turn
            known = replay.turns[at - 1].tokens - replay.overhead if at else 0
        if not fire.applied:
            continue
        news = max(0, fire.tokens_before - known)
        yield Edit(
            removed=fire.tokens_before - fire.tokens_after,
            broken=max(0, known - fire.shared),
            turns=max(0, len(replay.turns) - 1 - fire.turn),
            own=fire.model_tokens,
            size=fire.tokens_before,
            reread=max(0, fire.tokens_after - fire.shared - news),
        )
        known = min(known, fire.shared)


def pays(edit: Edit, price: Price) -> bool:
    """True if what an edit saves is worth more than what it costs."""
    rates = price.rates(edit.size)
    again, anew = (rates.input if rate is None else rate for rate in (rates.cached, rates.stored))
    saved = edit.removed * (anew + edit.turns * again)
    return saved > edit.broken * (anew - again) + edit.own * price.rates(edit.own).input
