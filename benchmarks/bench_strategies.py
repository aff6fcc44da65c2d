"""Each strategy under the guard, and the guard's own parts, over weighing the same messages once.

*First* is a whole pass over a history that nobody counted before: repair, counting, strategy, guard, receipt; its floor
counts each text and touches each message. *Again* is a pass with the texts counted, as in a run and in an agent from
its second pass on; its floor touches each message. Text is written by code.
"""

import inputs
import pytest

from compactlab import catalog, compact, history
from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
from compactlab.tokens import Meter
from compactlab.validity import violations

SIZES = (100, 1_000, 10_000)
FIRST = {"sliding_reflect": 30, "summary": 40, "key_value": 15, "ladder": 12, "microcompact": 12}
AGAIN = {"sliding_reflect": 150, "summary": 200, "key_value": 80, "ladder": 50, "microcompact": 50}
NAMES = catalog.names("strategies")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def bench_first(cost, floors, name, size):
    messages = inputs.talk(size)
    floor = floors.of(f"weighing {size}", lambda: Meter().messages(messages))
    cost(lambda: compact(messages, name, guard=guarded(Meter())), floor, "counting, touching once", FIRST.get(name, 6))


@pytest.mark.parametrize("name", NAMES)
def bench_again(cost, floors, name):
    messages, meter = inputs.talk(10_000), Meter()
    floor = touching(floors, messages, meter)
    cost(lambda: compact(messages, name, guard=guarded(meter)), floor, "touching once", AGAIN.get(name, 25))


@pytest.mark.parametrize("rules", ["openai", "anthropic", "strict"])
def bench_rules_of_a_provider(cost, floors, rules):
    floor = touching(floors, inputs.talk(10_000), Meter())
    histories = iter([inputs.talk(10_000) for _ in range(10)])  # what was judged is remembered
    cost(lambda: violations(next(histories), rules), floor, "touching once", 20)


def bench_repair(cost, floors):
    floor = touching(floors, inputs.talk(10_000), Meter())
    histories = iter([inputs.talk(10_000) for _ in range(10)])
    cost(lambda: history.repair(next(histories)), floor, "touching once", 15)


def touching(floors, messages, meter):
    meter.messages(messages)
    return floors.of(f"touching {len(messages)}", lambda: meter.messages(messages))


def guarded(meter):
    return Guard(meter, model=Extractive())
