"""Small replays, made by hand or drawn, so that what is counted of them can be worked out on paper."""

import tempfile
from pathlib import Path

from hypothesis import strategies as st
from msgspec.structs import replace
from pools import MANIFEST
from runs import scratch

from compactlab.metrics import cache, decay, rederivation, triggers
from compactlab.policy import policy
from compactlab.pressure import OUTPUT_LIMIT
from compactlab.records import Block, Record
from compactlab.replay import Debt, Fire, Life, Replay, Turn, Use
from compactlab.results import Results, Writer
from compactlab.summary.pool import Pool
from compactlab.tokens import Meter
from compactlab.transcript import Transcript

METER = Meter("chars/4")
WINDOW = 1_000
FAMILIES = ("path", "number", "error")
OUTCOMES = ("applied", "skipped", "rejected", "failed", "deferred")


def turn(tokens=100, shared=0, output=10, **more):
    """A request and its answer; what is not said is plain: the full allowance, nothing cut, no fire before it."""
    fields = {"position": 1, "allowance": OUTPUT_LIMIT, "cut": 0, "calls_over": 0, "pass_": 0} | more
    return Turn(tokens=tokens, shared=shared, output=output, **fields)


def fire(at, before=800, after=400, shared=100, **more):
    """A fire before the turn *at*: applied unless it freed nothing, at the lowest mark, without a model."""
    fields = {"position": 2 * at + 1, "mark": 0.8, "strategy": "sliding_window", "forced": False, "reason": ""}
    fields |= {"outcome": "applied" if after < before else "skipped", "fell_back": False, "model": ""}
    fields |= {"model_calls": 0, "model_tokens": 0, "split_units": 0, "open_tasks": 0} | more
    return Fire(turn=at, tokens_before=before, tokens_after=after, shared=shared, **fields)


def use(passes=1, *, bound=True, loose=True, **more):
    """A use of a fact behind so many passes, kept and bound unless said otherwise: a path in an action."""
    fields = {"fact": 0, "family": "path", "kind": "action", "home": "irrecoverable", "position": 9} | more
    return Use(passes=passes, loose=loose, bound=bound and loose, **fields)


def life(passes=1, *, lost=True, family="path"):
    return Life(family, passes, lost)


def made(turns=(), fires=(), *, spec="sliding_window", plain=None, **more):
    """A replay of these turns and fires; `sent_plain` is what was sent unless said otherwise."""
    turns, fires = tuple(turns), tuple(fires)
    fields = {"uses": (), "lives": (), "debts": (), "seconds": (0.25,) * len(fires), "overhead": 0, "window": WINDOW}
    return Replay(
        transcript=Transcript("s", "made", ()),
        policy=policy(spec),
        meter=METER,
        turns=turns,
        fires=fires,
        sent_plain=sum(t.tokens for t in turns) if plain is None else plain,
        **(fields | more),
    )


EMPTY = made()
GROWING = made([turn(100), turn(150, 100), turn(200, 150), turn(250, 200)], spec="none")
"""Four requests, each the one before and fifty tokens more; nobody compacts."""


def scores(found, metric):
    """The scores of a metric as (value, n), in order."""
    return [(score.value, score.n) for score in found if score.metric == metric]


def one(found, metric):
    """The score of a metric that comes once, as (value, n)."""
    (only,) = scores(found, metric)
    return only


METRICS = (decay, rederivation, triggers, cache)


def pool(cells, *, window="1,000", **head):
    """The pool of a run of {(session, policy): replay}: what a run records of each, in that order.

    A session's story is its name up to the first digit; a key may have a third part, the repetition. A text in place of
    a replay is the error with which it failed.
    """
    folder = Path(tempfile.mkdtemp(dir=scratch())) / "run"
    writer = Writer(folder, replace(MANIFEST, mode="replay"), lambda _: "")
    for (session, label, *number), replay in cells.items():
        base = {"session": session, "agent_type": "primary", "cluster": session.rstrip("0123456789"), "cut": window}
        base |= {"index": 0, "strategy": label, "replicate": number[0] if number else 0}
        failed = isinstance(replay, str)
        found = [] if failed else [score for metric in METRICS for score in metric.replayed(replay)]
        rows = [Record(**base, **score._asdict()) for score in found]
        told = {"outcome": "failed", "reason": replay} if failed else {"outcome": "applied", "reason": replay.overflow}
        writer.write(Block((Record(**base, metric="outcome", n=len(rows), **(told | head)), *rows)))
    writer.close()
    return Pool(Results(folder))


_small = st.integers(0, 300)


@st.composite
def _turns(draw):
    """Requests that share no more than there is with the one before."""
    found = []
    for _ in range(draw(st.integers(0, 8))):
        tokens = draw(st.integers(1, 1_000))
        shared = draw(st.integers(0, min(tokens, found[-1].tokens))) if found else 0
        allowance = draw(st.sampled_from((512, OUTPUT_LIMIT)))
        found.append(turn(tokens, shared, draw(_small), allowance=allowance, cut=draw(_small)))
    return found


@st.composite
def _fires(draw, turns):
    found = []
    for at in sorted(draw(st.lists(st.integers(0, turns), max_size=6))):
        before = draw(st.integers(1, 1_000))
        outcome = draw(st.sampled_from(OUTCOMES))
        after = draw(st.integers(0, before - 1)) if outcome == "applied" else before
        shared = draw(st.integers(0, after))
        more = {"outcome": outcome, "forced": draw(st.booleans()), "model_tokens": draw(_small)}
        found.append(fire(at, before, after, shared, **more, split_units=draw(st.integers(0, 2))))
    return found


uses = st.builds(
    use,
    st.integers(1, 9),
    bound=st.booleans(),
    loose=st.booleans(),
    family=st.sampled_from(FAMILIES),
    kind=st.sampled_from(("action", "bulk", "text")),
    home=st.sampled_from(("reobtainable", "irrecoverable")),
)
lives = st.builds(life, st.integers(1, 9), lost=st.booleans(), family=st.sampled_from(FAMILIES))


@st.composite
def replays(draw):
    """Any replay whose numbers go together."""
    turns = draw(_turns())
    fires = draw(_fires(len(turns)))
    debts = tuple(Debt(9, 3, tokens) for tokens in draw(st.lists(_small, max_size=3)))
    overflow = draw(st.sampled_from(("", "", "message 9 does not fit")))
    return made(
        turns,
        fires,
        plain=sum(t.tokens for t in turns) + draw(_small),
        uses=tuple(draw(st.lists(uses, max_size=20))),
        lives=tuple(draw(st.lists(lives, max_size=20))),
        debts=debts,
        overflow=overflow,
        overflow_at=9 if overflow else None,
    )
