"""Benchmarks are ratios to floors of the same run: what any code must do once. A ratio over its bound is a failure.

`pytest benchmarks` runs the short ones, `pytest benchmarks -m "slow or not slow"` all. Times are of the processor, of
this process unless said, the best of a few rounds; absolute ones mean nothing here. At the end stands one table.
"""

from typing import NamedTuple

import inputs
import msgspec
import pytest

from compactlab.tokens import counter
from compactlab.transcript import readable

ROUNDS = 3
_TOLD = pytest.StashKey()


class Told(NamedTuple):
    """A line of the table: the ratio of a cost to its floor, and what it may be at most, or must be at least."""

    name: str
    seconds: float
    floor: str
    ratio: float
    most: float
    is_gain: bool = False

    @property
    def holds(self):
        return self.ratio >= self.most if self.is_gain else self.ratio <= self.most


def seconds(action):
    """Processor seconds of an action, the best of a few rounds."""
    return min(sum(inputs.used(action)) for _ in range(ROUNDS))


class Floors:
    """Processor seconds of what must be done once, each measured when it is first asked for."""

    def __init__(self):
        self._known = {}

    def of(self, name, action):
        """The seconds of *action*, which goes by a name that says what it is and of what."""
        if name not in self._known:
            self._known[name] = seconds(action)
        return self._known[name]

    def parsing(self):
        data = [path.read_bytes() for path in inputs.FILES]
        lines = [line for text in data for line in text.split(b"\n") if line]
        return self.of("parsing the sessions once", lambda: [msgspec.json.decode(line) for line in lines])

    def apart(self, name, action):
        """The same in processes that did nothing yet, where nothing is remembered."""
        if name not in self._known:
            self._known[name] = min(sum(inputs.apart(action)) for _ in range(2))
        return self._known[name]

    def counting(self, messages):
        """Count each distinct text once, by the bare counter."""
        texts = [readable(block) for block in inputs.blocks(messages)]
        count = counter("o200k_base")
        count(["warm"])
        return self.of("counting the sessions once, warm", lambda: count(texts))

    def once(self):
        """Read the sessions, count them and mine their facts: what any run does."""
        return self.apart(inputs.ONCE, inputs.once)


@pytest.fixture(scope="session")
def floors():
    return Floors()


@pytest.fixture
def cost(benchmark, request):
    """Measure an action, and hold its ratio to a floor in seconds against the most that it may be."""

    def measured(action, over, floor, most):
        benchmark.pedantic(action, rounds=ROUNDS)
        told(benchmark.stats.stats.min, over, floor, most)

    def told(taken, over, floor, most, *, is_gain=False):
        if benchmark.stats is None:
            benchmark.pedantic(lambda: None)  # measured in processes of their own
        ratio = over / taken if is_gain else taken / over
        line = Told(request.node.name.removeprefix("bench_"), taken, floor, ratio, most, is_gain)
        request.config.stash.setdefault(_TOLD, []).append(line)
        benchmark.extra_info |= {"floor": floor, "ratio": ratio, "bound": most}
        if not line.holds:
            pytest.fail(f"{ratio:.2f} times {floor}; expected at {'least' if is_gain else 'most'} {most:g}")

    measured.told = told
    return measured


def pytest_terminal_summary(terminalreporter, config):
    lines = config.stash.get(_TOLD, [])
    if not lines:
        return
    wide = max(len(line.name) for line in lines)
    far = max(len(line.floor) for line in lines)
    terminalreporter.write_line("")
    terminalreporter.write_line(f"{'benchmark':{wide}} {'seconds':>9} {'ratio':>8} {'bound':>8}  over")
    for line in lines:
        bound = f"{'>=' if line.is_gain else '<='} {line.most:g}"
        fault = "" if line.holds else "  over its bound"
        terminalreporter.write_line(
            f"{line.name:{wide}} {line.seconds:9.4f} {line.ratio:8.2f} {bound:>8}  {line.floor:{far}}{fault}".rstrip()
        )
