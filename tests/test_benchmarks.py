"""The benchmarks run, print their table, and fail where a ratio is over its bound; not what they measure."""

import os
import shutil
import subprocess
import sys

import pytest
import runs

BENCHMARKS = runs.CHECKOUT / "benchmarks"
QUICK = ("bench_tokens.py::bench_weighing_again", "bench_strategies.py::bench_first[key_value-100]")


def benchmarks(*places):
    program = [sys.executable, "-m", "pytest", *map(str, places), "-p", "no:xdist"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(program, capture_output=True, text=True, check=False, env=environment)


def test_the_quick_ones_run_and_end_with_a_table_of_ratios():
    done = benchmarks(*(BENCHMARKS / name for name in QUICK))
    lines = [line for line in done.stdout.splitlines() if "<=" in line]
    assert "ratio" in done.stdout, done.stdout + done.stderr
    assert any(line.startswith("first[key_value-100]") for line in lines)
    assert all(line.split()[2].replace(".", "").isdigit() for line in lines)


@pytest.fixture
def two(tmp_path):
    """Two benchmarks of one cost, one of them with a bound that nothing can keep."""
    for name in ("pytest.ini", "conftest.py", "inputs.py"):
        shutil.copy(BENCHMARKS / name, tmp_path)
    tests = (
        "def bench_kept(cost):\n    cost.told(2.0, 1.0, 'a floor', 3)\n"
        "def bench_broken(cost):\n    cost.told(2.0, 1.0, 'a floor', 1.5)\n"
        "def bench_gained(cost):\n    cost.told(2.0, 1.0, 'a floor', 1.7, is_gain=True)\n"
    )
    (tmp_path / "bench_made.py").write_text(tests, encoding="utf-8")
    return tmp_path


def test_a_ratio_over_its_bound_fails_and_is_told_with_its_floor(two):
    done = benchmarks(two)
    assert done.returncode == 1
    told = {line.split()[0]: line for line in done.stdout.splitlines() if "a floor" in line and "seconds" not in line}
    assert "over its bound" in told["broken"]
    assert "over its bound" in told["gained"]
    assert "over its bound" not in told["kept"]
    assert "2.00 times a floor; expected at most 1.5" in done.stdout
