"""Mining and matching over counting the same texts once, and how both grow with one history.

Each is done in a process of its own: mining remembers what it read, and so do counters.
"""

import inputs
import pytest

from compactlab.facts import mine
from compactlab.probes.mined import matcher_of
from compactlab.second_miner import mine_again
from compactlab.statements import mine_statements
from compactlab.tokens import counter
from compactlab.transcript import readable

MINERS = {"facts": mine, "second": mine_again, "statements": mine_statements}
MOST = {"facts": 15, "second": 6, "statements": 8}
SHARES = (0.25, 0.5, 1.0)
COUNTED = "counting the sessions once"


@pytest.mark.slow
@pytest.mark.parametrize("name", MINERS)
def bench_mining(cost, floors, name):
    cost.told(sum(inputs.apart(mined, name)), floors.apart(COUNTED, counted), COUNTED, MOST[name])


@pytest.mark.slow
def bench_matching(cost, floors):
    """Find every place of each fact in the same messages, and the words around it, beside mining them."""
    cost.told(
        sum(inputs.apart(matched, 1.0)) - sum(inputs.apart(mined, "facts")), floors.apart(COUNTED, counted), COUNTED, 6
    )


@pytest.mark.slow
def bench_growth_of_mining_and_matching(cost):
    """One history of more and more of the sessions: the slope over its characters in logarithms; 1 is linear."""
    taken = [min(sum(inputs.apart(matched, share, True)) for _ in range(2)) for share in SHARES]
    cost.told(inputs.slope([size(share) for share in SHARES], taken), 1.0, "linear", 1.1)


def counted():
    counter("o200k_base")(
        [readable(block) for session in inputs.sessions() for block in inputs.blocks(session.messages)]
    )


def mined(name):
    for session in inputs.sessions():
        MINERS[name](session.messages)


def matched(share, joined=False):
    sessions = inputs.sessions()
    whole = [session.messages for session in sessions[: round(share * len(sessions))]]
    for messages in [sum(whole, ())] if joined else whole:
        matcher = matcher_of(mine(messages))
        for block in inputs.blocks(messages):
            for hit in matcher.block(block):
                hit.words  # noqa: B018  # read where they are asked for


def size(share):
    sessions = inputs.sessions()
    messages = [message for session in sessions[: round(share * len(sessions))] for message in session.messages]
    return sum(len(readable(block)) for block in inputs.blocks(messages))
