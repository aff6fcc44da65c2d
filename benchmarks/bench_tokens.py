"""Counting: a meter over the bare counter; what was weighed is not counted again; long runs of blanks."""

import inputs
import pytest

from compactlab.tokens import Meter, counter


def bench_meter_over_bare_counter(cost, floors):
    messages = [message for session in inputs.sessions() for message in session.messages]
    cost(lambda: Meter().messages(messages), floors.counting(messages), "counting the sessions once", 2.5)


def bench_weighing_again(cost, floors):
    messages = [message for session in inputs.sessions() for message in session.messages]
    meter = Meter()
    meter.messages(messages)
    cost(lambda: meter.messages(messages), floors.counting(messages), "counting the sessions once", 0.1)


@pytest.mark.parametrize("sign", [" ", "a", "-", "é"], ids=["blanks", "letters", "hyphens", "accents"])
def bench_counting_a_long_run(cost, floors, sign):
    count = counter("o200k_base")
    count(["warm"])
    half = floors.of(f"counting 200,000 {sign!r}", lambda: count([sign * 200_000]))
    cost(lambda: count([sign * 400_000]), half, "counting half of it", 3.0)
