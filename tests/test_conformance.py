"""What every strategy of the catalog keeps to, found by its file alone; and that one file is all a new one takes."""

import ast
import hashlib
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from histories import agent, answering, call, calling, messages, result, system, user
from hostile import of_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import compactlab
from compactlab import catalog
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm.extractive import Extractive
from compactlab.strategies import Strategy
from compactlab.tokens import Meter
from compactlab.transcript import Message, Text, ToolResult

ROOT = Path(__file__).parent.parent
FIXTURE = ROOT / "fixtures" / "transcripts" / "primary-move.jsonl"
NAMES = catalog.names("strategies")
BY_CHARACTERS = Guard(Meter("chars/4"), model=Extractive())
BY_TOKENS = Guard(model=Extractive())
TWELVE = tuple(f"c{i}" for i in range(12))

every_strategy = pytest.mark.parametrize("name", NAMES)


def source(name):
    return ast.parse(Path(catalog.load("strategies", name).__file__).read_text(encoding="utf-8"))


@cache
def recorded():
    [transcript] = compactlab.read(FIXTURE)
    return transcript


def test_strategies_were_found():
    assert {"none", "microcompact", "sliding_window"} <= set(NAMES)


# ---- what it is


@every_strategy
def test_it_is_one_frozen_dataclass_in_a_file_of_its_own(name):
    cls = catalog.strategy_class(name)
    own = [node for node in source(name).body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    assert is_dataclass(cls)
    assert issubclass(cls, Strategy)
    assert cls.__dataclass_params__.frozen
    assert [node.name for node in own if issubclass(getattr(inspect.getmodule(cls), node.name), Strategy)] == [
        cls.__name__
    ]


@every_strategy
def test_it_says_what_it_does(name):
    module = catalog.load("strategies", name)
    assert module.__doc__.startswith(f"`{name}`: ")
    assert not catalog.strategy_class(name).__doc__.startswith(f"{catalog.strategy_class(name).__name__}(")


@every_strategy
def test_its_parameters_have_defaults_that_no_one_can_change(name):
    for field in fields(catalog.strategy_class(name)):
        assert field.default is not MISSING, f"{field.name} has no default"
        assert field.default_factory is MISSING
        hash(field.default)


@every_strategy
def test_its_name_is_that_of_its_file_and_begins_its_spec(name):
    built = catalog.strategy(name)
    assert built.name == name
    assert re.fullmatch(rf"{name}(\(.*\))?", repr(built))
    assert catalog.strategy(repr(built)) == built == catalog.strategy_class(name)()


@every_strategy
@given(data=st.data())
def test_its_repr_is_its_spec_and_reads_back(name, data):
    built = data.draw(of_catalog(name))
    again = catalog.strategy(repr(built))
    assert again == built
    assert repr(again) == repr(built)
    assert hash(again) == hash(built)
    assert pickle.loads(pickle.dumps(built)) == built  # noqa: S301  # our own


WRONG = {
    "int": ("'x'", "1.5", "True", "None", "(1,)", "[1]"),
    "float": ("'x'", "None", "(1,)", "float"),
    "bool": ("'x'", "2", "None"),
    "str": ("3", "None", "('x',)", "True"),
    "tuple[str, ...]": ("'read'", "3", "None", "(1,)", "['read']"),
}
FIELDS = [
    (name, field.name, value)
    for name in NAMES
    for field in fields(catalog.strategy_class(name))
    for value in WRONG.get(getattr(field.type, "__name__", str(field.type)), ())
]


def test_parameters_were_found():
    assert len(FIELDS) > 5


@pytest.mark.parametrize(("name", "parameter", "value"), FIELDS)
def test_a_value_of_the_wrong_type_is_refused(name, parameter, value):
    with pytest.raises(SpecError, match=parameter):
        catalog.strategy(f"{name}({parameter}={value})")


# ---- that it is pure

IMPURE = set(
    "asyncio builtins ctypes datetime ftplib glob http httpx httpx2 importlib io locale logging multiprocessing openai"
    " os pathlib platform random requests secrets select shutil signal smtplib socket sqlite3 ssl subprocess sys"
    " tempfile threading time urllib uuid warnings weakref zoneinfo".split()
)
IMPURE_CALLS = {"open", "input", "print", "eval", "exec", "compile", "__import__", "globals", "id", "hash", "vars"}


def impurities(tree):
    """Say what a module imports, calls or keeps that a function of its arguments has no need of."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in IMPURE]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module] if (node.module or "").partition(".")[0] in IMPURE else []
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id] if node.func.id in IMPURE_CALLS else []
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found += node.names
    return found


@every_strategy
def test_it_has_no_clock_no_chance_no_files_and_no_network(name):
    assert impurities(source(name)) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import re", []),
        ("import os.path", ["os.path"]),
        ("from time import monotonic", ["time"]),
        ("def f():\n    import random", ["random"]),
        ("open('x')", ["open"]),
        ("x.open()", []),
        ("def f():\n    global seen", ["seen"]),
        ("from compactlab.transcript import Text", []),
    ],
)
def test_what_is_impure_is_seen(code, found):
    assert impurities(ast.parse(code)) == found


@every_strategy
@settings(max_examples=60)
@given(data=st.data(), given_messages=messages(min_events=3), target=st.none() | st.integers(1, 1_000))
def test_labels_and_times_of_the_recording_change_nothing(name, data, given_messages, target):
    strategy = data.draw(of_catalog(name))
    order = data.draw(st.permutations(range(len(given_messages))))
    relabelled = [
        replace(m, source=None if m.source is None else 1_000 + order[i], timestamp=f"2026-01-0{i % 9 + 1}T00:00:00Z")
        for i, m in enumerate(given_messages)
    ]
    plain = compact(given_messages, strategy, target=target, guard=BY_CHARACTERS)
    other = compact(relabelled, strategy, target=target, guard=BY_CHARACTERS)
    assert unlabelled(other) == unlabelled(plain)


def unlabelled(done):
    fates = [(c.position, c.role, c.action, c.why) for c in done.receipt.changes]
    content = [replace(m, source=None, timestamp=None) for m in done.messages]
    return done.receipt.outcome, done.receipt.notes, fates, content


DIGEST = """
import hashlib, sys
import compactlab
from compactlab.compaction import Guard
from compactlab.llm.extractive import Extractive
[transcript] = compactlab.read(sys.argv[1])
for name in sys.argv[2:]:
    for target in (None, 9_000):
        done = compactlab.compact(transcript.messages, name, target=target, guard=Guard(model=Extractive()))
        print(name, target, hashlib.sha256(repr(done).encode()).hexdigest())
"""


def digests(seed):
    done = subprocess.run(
        [sys.executable, "-c", DIGEST, str(FIXTURE), *NAMES],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_processes_with_different_hash_seeds_agree():
    here = [
        f"{name} {target} {hashlib.sha256(repr(done).encode()).hexdigest()}"
        for name in NAMES
        for target in (None, 9_000)
        for done in [compact(recorded().messages, name, target=target, guard=BY_TOKENS)]
    ]
    assert len(here) == 2 * len(NAMES)
    assert digests("0") == digests("4242") == here


# ---- that it takes whatever comes

MEGABYTE = "worker-3 took 1,204 ms for GET /api/v2/orders/88231\n" * 20_000

UNUSUAL = [
    ("nothing", []),
    ("one message", [user()]),
    ("one message of the agent", [agent()]),
    ("only system", [system(), system("Be brief.")]),
    ("only an open call", [calling("a")]),
    ("only a result", [answering("a")]),
    ("no blocks", [Message("user", ()), Message("assistant", ()), Message("system", ()), Message("assistant", ())]),
    ("no person", [system(), *(agent(f"line {i} " * 20) for i in range(30))]),
    ("a person alone", [user(f"line {i} " * 20) for i in range(30)]),
    ("twelve calls at once", [system(), user(), calling(*TWELVE), *map(answering, TWELVE), agent(), user()]),
    ("twelve steps", [user(), *(m for i in TWELVE for m in (calling(i), answering(i)))]),
    ("one turn of twelve", [user(), agent(*(b for i in TWELVE for b in (call(i), result(i))), "ok"), user(), agent()]),
    ("empty ids", [user(), calling("", ""), answering("", ""), agent(), user(), agent()]),
    ("half a character", [user("\ud83d"), agent("\udc00 " * 50), user(), agent("\ud83d"), user(), agent()]),
    ("one giant result", [user(), calling("a"), Message("tool", (result("a", "x" * 400_000),)), agent(), user()]),
]


@every_strategy
@pytest.mark.parametrize("history", [c[1] for c in UNUSUAL], ids=[c[0] for c in UNUSUAL])
@pytest.mark.parametrize("target", [None, 1, 500])
def test_it_takes_unusual_lists(name, history, target):
    done = compact(history, name, target=target, guard=BY_CHARACTERS)
    assert done.receipt.outcome != "failed"
    assert done.receipt.tokens_after <= done.receipt.tokens_before


@every_strategy
def test_it_takes_a_message_of_five_megabytes(name):
    history = [system(), user(), agent(MEGABYTE * 5), calling("a"), Message("tool", (result("a", MEGABYTE),)), user()]
    done = compact([*history, agent(), user()], name, guard=BY_CHARACTERS)
    assert done.receipt.outcome in {"applied", "skipped", "deferred"}


class CountingMeter(Meter):
    """Counts how often it was asked for the weight of a block."""

    def __init__(self):
        super().__init__("chars/4")
        self.asked = count()

    def block(self, block):
        next(self.asked)
        return super().block(block)


def long_history(steps):
    ids = [f"c{i}" for i in range(steps)]
    return [system(), user(), *(m for i in ids for m in (calling(i), Message("tool", (result(i, f"{i} " * 30),))))]


@every_strategy
@pytest.mark.parametrize("target", [None, 400])
def test_it_weighs_ten_times_as_much_for_a_session_ten_times_as_long(name, target):
    asked = []
    for steps in (100, 1_000):
        meter = CountingMeter()
        compact(long_history(steps), name, target=target, guard=Guard(meter, model=Extractive()))
        asked.append(next(meter.asked))
    assert asked[1] < 15 * asked[0]


@pytest.mark.study
@pytest.mark.usefixtures("unswept")
@every_strategy
@pytest.mark.parametrize("target", [None, 4_000])
def test_at_length_its_time_grows_with_the_session(name, target):
    seconds = []
    for steps in (1_000, 10_000):
        history = long_history(steps)
        started = time.perf_counter()
        compact(history, name, target=target, guard=Guard(Meter("chars/4"), model=Extractive()))
        seconds.append(time.perf_counter() - started)
    assert seconds[1] < 30 * max(seconds[0], 0.01)


@every_strategy
def test_it_never_makes_a_recorded_session_heavier(name):
    for target in (None, 2_000, 9_000):
        receipt = compact(recorded().messages, name, target=target, guard=BY_TOKENS).receipt
        assert receipt.outcome in {"applied", "skipped", "deferred"}
        assert receipt.tokens_after <= receipt.tokens_before


# ---- one new file is enough

PLAIN = '''"""`last_word`: of old messages, only the last sentence stays."""

from dataclasses import dataclass

from msgspec.structs import replace

from compactlab import Compacted, Context, Strategy, Text


@dataclass(frozen=True, repr=False)
class LastWord(Strategy):
    """Cut the text of all but the newest `keep` messages down to the last sentence."""

    keep: int = 6

    def compact(self, messages, context: Context) -> Compacted:
        old, recent = messages[: -self.keep], messages[-self.keep :]
        return Compacted([*map(self.shortened, old), *recent])

    def shortened(self, message):
        blocks = [Text(b.text.split(". ")[-1]) if isinstance(b, Text) else b for b in message.blocks]
        return replace(message, blocks=tuple(blocks))
'''


def example():
    """Give the name and the source of the README's strategy, or of the plain one above where it shows none."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Add a strategy\n")[2]
    shown = re.search(r"^```python\n(.*?)^```$", section.partition("\n## ")[0], re.DOTALL | re.MULTILINE)
    code = shown[1] if shown else PLAIN
    return re.match(r'"""`(\w+)`', code)[1], code


def run(*arguments, cwd, path):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def with_example(tmp_path_factory):
    """A copy of the package that holds one strategy more."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "compactlab", folder / "compactlab", ignore=shutil.ignore_patterns("__pycache__"))
    name, code = example()
    (folder / "compactlab" / "strategies" / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


def test_one_new_file_is_listed_by_its_name(with_example):
    name, code = example()
    listed = run("compactlab", "list", "strategies", cwd=with_example, path=with_example)
    first_line = ast.get_docstring(ast.parse(code)).splitlines()[0]
    assert listed.returncode == 0, listed.stderr
    assert name in listed.stdout
    assert first_line.partition(": ")[2] in listed.stdout


def check_table(shown, spec):
    """The strategy has a row, in one table or in each of two, whose last column says that no case failed."""
    rows = [line for line in shown.splitlines() if line.split("  ")[0].strip() == spec]
    assert rows, shown
    assert rows[-1].split()[-1] == "0", f"cases failed: {rows[-1]}"


def test_one_new_file_is_run_and_stands_in_the_table(with_example, tmp_path):
    name, _ = example()
    out = tmp_path / "out"
    done = run("compactlab", "run", FIXTURE, "--strategies", name, "--out", out, cwd=with_example, path=with_example)
    assert done.returncode == 0, done.stderr
    check_table(done.stdout, name)
    assert name in (out / "manifest.json").read_text(encoding="utf-8")


def test_one_new_file_is_held_to_all_that_stands_here(with_example):
    name, _ = example()
    options = ("-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT)
    done = run("pytest", *options, __file__, "-k", name, cwd=with_example, path=with_example)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20


OUTSIDE = '''"""A strategy that lies in no package."""

from dataclasses import dataclass

from compactlab import Compacted, Context, Strategy


@dataclass(frozen=True, repr=False)
class EveryOther(Strategy):
    """Keep the last of each `step` messages."""

    step: int = 2

    def compact(self, messages, context: Context) -> Compacted:
        return Compacted(messages[:: self.step])
'''


@pytest.mark.parametrize("spec", ["own_ideas:EveryOther", "own_ideas:EveryOther(step=5)"])
def test_a_class_in_the_folder_one_stands_in_is_run_by_its_module(tmp_path, spec):
    (tmp_path / "own_ideas.py").write_text(OUTSIDE, encoding="utf-8")
    done = run("compactlab", "run", FIXTURE, "--strategies", spec, "--out", "out", cwd=tmp_path, path=ROOT)
    assert done.returncode == 0, done.stderr
    check_table(done.stdout, spec)


def test_results_of_a_class_outside_can_be_held_by_it(tmp_path):
    (tmp_path / "own_ideas.py").write_text(OUTSIDE, encoding="utf-8")
    arguments = ("compact", FIXTURE, "--strategy", "own_ideas:EveryOther(step=3)", "--json")
    done = run("compactlab", *arguments, cwd=tmp_path, path=ROOT)
    assert done.returncode == 0, done.stderr
    assert '"strategy": "own_ideas:EveryOther(step=3)"' in done.stdout


@every_strategy
def test_results_keep_their_ids_and_their_errors(name):
    failing = [
        m
        for i in range(12)
        for m in (
            calling(f"e{i}"),
            Message("tool", (ToolResult(f"e{i}", (Text("no such file " * 40),), is_error=True),)),
        )
    ]
    done = compact([user(), *failing, agent()], name, guard=BY_CHARACTERS)
    assert all(r.is_error for m in done.messages for r in m.results)
