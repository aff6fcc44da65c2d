"""Our entry in a benchmark of others: what goes in comes out, within its budgets, and ours hold what its best hold.

The kit itself is taken from its package: see benchmarks/conformance_kit.py; without it those tests are skipped.
"""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab import Message, Text

FILE = Path(__file__).parent.parent / "benchmarks" / "conformance_kit.py"
LEADER, OURS = "semantic-checklist", "key_value(labels=True, kv_share=1.0, terse=True)"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("conformance_kit_bench", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def entries(bench):
    before = list(sys.path)
    try:
        bench.kit("benchmark")
    except ImportError:
        pytest.skip("compaction-conformance-kit is not here: pip install it, or set COMPACTLAB_PUBLISHED")
    finally:
        sys.path[:] = before
    factories = {OURS: lambda: bench.Ours(OURS), LEADER: bench.kit("cli").COMPACTORS[LEADER]}
    told = bench.kit("benchmark").run_budget_benchmark(factories, bench.BUDGETS, seeds=(1,))
    return {(entry["compactor"], entry["budget_fraction"]): entry for entry in told["entries"]}


SPOKEN = st.builds(
    lambda by, text: Message("user" if by == "note" else by, (Text(text),), synthetic=by == "note"),
    st.sampled_from(("system", "user", "assistant", "note")),
    st.text(alphabet="ab [user]\n-:", max_size=30),
)


@given(st.lists(SPOKEN, min_size=1, max_size=8))
def test_what_is_written_for_the_kit_is_read_back_the_next_round(bench, said):
    assert bench.written_before(bench.write(said)) == said


def test_our_entry_keeps_within_every_budget(entries):
    assert all(entries[OURS, budget]["budget_compliant"] for budget in (0.10, 0.20, 0.30))


@pytest.mark.parametrize("budget", [0.10, 0.20, 0.30])
def test_our_entry_holds_what_the_kits_leader_holds(entries, budget):
    ours, leader = (entries[name, budget]["randomized"]["overall_final_survival"] for name in (OURS, LEADER))
    assert ours >= leader
