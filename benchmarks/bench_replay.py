"""Replays: how they grow with a session, and what all policies of a window cost."""

from functools import cache

import inputs
import pytest

from compactlab.compaction import Guard
from compactlab.policy import policy
from compactlab.replay import Session, replay
from compactlab.tokens import Meter

GROWING = ("sliding_window", "microcompact@0.8+cull@0.9+sliding_window@0.95", "key_value", "ladder")
SIZES = (2_000, 4_000, 8_000)
WINDOW = 4_000


@pytest.mark.slow
@pytest.mark.parametrize("spec", GROWING)
def bench_growth_over_messages(cost, floors, spec):
    """The slope of seconds over messages in logarithms; 1 is linear."""
    for size in SIZES:
        session(size)
    taken = [floors.of(f"replay {size} {spec}", lambda size=size: played(size, spec)) for size in SIZES]
    cost.told(inputs.slope(SIZES, taken), 1.0, "linear", 1.1)


@cache
def session(size):
    """A session that is counted, and whose timeline is read, as all policies share it."""
    made = Session(inputs.transcript(size), Meter())
    made.meter.messages(made.messages)
    made.moments  # noqa: B018  # the timeline
    return made


def played(size, spec):
    done = replay(session(size), policy(spec), WINDOW, Guard(session(size).meter))
    if done.overflow:
        pytest.fail(f"{spec}: {done.overflow}")


@pytest.mark.slow
@pytest.mark.parametrize("window", [64_000, 32_000])
def bench_seven_policies_over_the_timeline(cost, floors, window):
    """All policies without a model, over reading, counting, mining and matching the sessions once."""

    def read():
        return [Session(transcript, Meter()) for transcript in inputs.sessions()]

    def once():
        for session in read():
            session.meter.messages(session.messages)
            session.moments  # noqa: B018  # the timeline

    def whole():
        for session in read():
            for spec in inputs.MODEL_FREE:
                replay(session, policy(spec), window, Guard(session.meter))

    floor = floors.of("reading, counting, mining, matching once", once)
    cost(whole, floor, "reading, counting, mining, matching once", 1.5)
