"""`compactlab.toml`: the defaults, every key, and which wins."""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.llm.extractive import Extractive
from compactlab.policy import MARKED, policy
from compactlab.pressure import Marks
from compactlab.settings import DEFAULTS, FALLBACK, FILE, Project, load


@pytest.fixture
def read_from(tmp_path):
    def read_text(text):
        file = tmp_path / "compactlab.toml"
        file.write_text(text, encoding="utf-8")
        return load(file)

    return read_text


# ---- no file, and a whole one


def test_the_defaults_are_those_of_the_seeds():
    assert Project().strategy("primary") == "summary"
    assert Project().strategy("subconscious") == "sliding_reflect(preserve_recent=4)"
    assert Project().strategy("subagent") == "sliding_window(preserve_recent=2)"
    assert Project().strategy("a type of one's own") == "sliding_window"
    assert DEFAULTS["primary"]["preserve_recent"] == 10
    assert FALLBACK == {"strategy": "sliding_window"}
    assert Project().pins("primary") == ()
    assert Project().marks == Marks((0.8, 0.9, 0.95))
    assert isinstance(Project().model(), Extractive)


def test_without_a_file_the_defaults_hold_and_the_working_folder_is_where_it_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load() == Project()
    (tmp_path / FILE).write_text('[compaction]\nstrategy = "cull"\n', encoding="utf-8")
    assert load().strategy("primary") == "cull"
    assert load().path == "compactlab.toml"


WHOLE = """
[compaction]
strategy = "ladder(microcompact, sliding_window)"
pins = ["role:system", "/never/", "index:0"]
marks = [0.7, 0.8]
window = 128_000
preserve_recent = 7
keep_recent = 3
kv_target = 9

[compaction.per_type]
primary = { strategy = "summary", preserve_recent = 12, pins = ["pattern:always"] }
subconscious = { strategy = "sliding_reflect", min_messages = 4 }
subagent = { strategy = "microcompact", marks = [0.5, 0.6, 0.7] }

[compaction.per_type."my reviewer"]
strategy = "key_value"
window = 32_000

[compaction.per_type.climber]
policy = "microcompact@0.8+summary@0.95"
model = "big"

[llm]
kind = "extractive"
model = "none"
base_url = "http://127.0.0.1:8000/v1"
temperature = 0
max_output = 1024
"""


def test_every_key_is_understood(read_from):
    project = read_from(WHOLE)
    assert project.strategy("primary") == "summary(preserve_recent=12)"
    assert project.strategy("subconscious") == "sliding_reflect(preserve_recent=4)"
    assert project.strategy("subagent") == "microcompact(keep_recent=3)"
    assert project.strategy("my reviewer") == "key_value(kv_target=9, preserve_recent=7)"
    assert project.strategy("another") == "ladder(microcompact, sliding_window)"
    assert project.pins("primary") == ("role:system", "/never/", "index:0", "pattern:always")
    assert project.pins("subagent") == ("role:system", "/never/", "index:0")
    assert project.marks.of("subagent").values == (0.5, 0.6, 0.7)
    assert project.marks.of("primary").values == (0.7, 0.8)
    assert project.llm["max_output"] == 1_024
    assert [project.window(kind) for kind in ("primary", "my reviewer")] == [128_000, 32_000]
    assert repr(project.policy("climber")) == "microcompact(keep_recent=3)@0.8+summary(preserve_recent=7)@0.95"
    assert project.of("climber").llm["model"] == "big"
    assert project.of("subagent") == project


@pytest.mark.parametrize("text", ["", "# nothing\n", "[compaction]\n", "[llm]\n", "[compaction.per_type]\n"])
def test_an_empty_file_changes_nothing(read_from, text):
    project = read_from(text)
    assert [project.strategy(kind) for kind in DEFAULTS] == [Project().strategy(kind) for kind in DEFAULTS]
    assert project.marks == Marks()


# ---- which wins

WINS = [
    ("a type's strategy over that of all", 'strategy = "cull"', 'strategy = "microcompact"', "microcompact"),
    ("that of all over the default of the type", 'strategy = "cull"', "", "cull"),
    ("a type's parameter over that of all", "preserve_recent = 9", "preserve_recent = 3",
     "sliding_window(preserve_recent=3)"),
    ("a type's parameter by its old name", "preserve_recent = 9", "min_messages = 3",
     "sliding_window(preserve_recent=3)"),
    ("a type's parameter over that of all by its old name", "min_messages = 9", "preserve_recent = 3",
     "sliding_window(preserve_recent=3)"),
    ("a parameter of all over the default of the type", "preserve_recent = 9", "",
     "sliding_window(preserve_recent=9)"),
    ("a parameter of all by its old name", "min_messages = 9", "", "sliding_window(preserve_recent=9)"),
    ("a parameter of all that the strategy has not", "kv_target = 3", "", "sliding_window(preserve_recent=2)"),
    ("a strategy of the type without the default's parameters", "", 'strategy = "summary"', "summary"),
    ("a whole spec", "", 'strategy = "summary(preserve_recent=5)"', "summary(preserve_recent=5)"),
    ("a type's whole spec over a parameter of all", "preserve_recent = 9",
     'strategy = "sliding_window(preserve_recent=5)"', "sliding_window(preserve_recent=5)"),
    ("a parameter of the type over one in the spec of all",
     'strategy = "sliding_window(preserve_recent=5)"', "preserve_recent = 3", "sliding_window(preserve_recent=3)"),
    ("an alias", "", 'strategy = "sliding-window"', "sliding_window"),
    ("a ladder", "", 'strategy = "ladder(micro, window(min_messages=2))"',
     "ladder(microcompact, sliding_window(preserve_recent=2))"),
]  # fmt: skip


@pytest.mark.parametrize(("of_all", "of_the_type", "spec"), [c[1:] for c in WINS], ids=[c[0] for c in WINS])
def test_which_key_wins(read_from, of_all, of_the_type, spec):
    project = read_from(f"[compaction]\n{of_all}\n[compaction.per_type.subagent]\n{of_the_type}\n")
    assert project.strategy("subagent") == spec
    assert repr(catalog.strategy(spec)) == spec


POLICIES = [
    ("a type's policy over the strategy of all", 'strategy = "cull"', 'policy = "none"', "none"),
    ("a type's strategy over the policy of all", f'policy = "{MARKED}"', 'strategy = "cull"', "cull"),
    ("the policy of all over the default of the type", f'policy = "{MARKED}"', "", MARKED),
    ("a parameter of all in the steps that have it", "keep_recent = 2", 'policy = "micro@0.7+kv@0.8"',
     "microcompact(keep_recent=2)@0.7+key_value@0.8"),
    ("a parameter in all steps that have it", "", 'policy = "window@0.7+kv@0.8"\npreserve_recent = 3',
     "sliding_window(preserve_recent=3)@0.7+key_value(preserve_recent=3)@0.8"),
    ("a parameter inside the policy over that of all", "keep_recent = 2", 'policy = "micro(keep_recent=7)@0.7+kv@0.8"',
     "microcompact(keep_recent=7)@0.7+key_value@0.8"),
    ("a policy of one step", "", 'policy = "cull@0.6"', "cull@0.6"),
    ("a strategy as a policy", "", 'policy = "cull"', "cull"),
    ("the strategy none", "", 'strategy = "none"', "none"),
]  # fmt: skip


@pytest.mark.parametrize(("of_all", "of_the_type", "spec"), [c[1:] for c in POLICIES], ids=[c[0] for c in POLICIES])
def test_which_policy_a_type_has(read_from, of_all, of_the_type, spec):
    project = read_from(f"[compaction]\n{of_all}\n[compaction.per_type.subagent]\n{of_the_type}\n")
    assert repr(project.policy("subagent")) == spec
    assert repr(policy(spec)) == spec
    assert project.chooses


def test_a_policy_without_a_strategy_in_it_compacts_by_none():
    assert Project({"policy": "none"}).strategy("primary") == "none"


CLIMBING = "microcompact@0.5+cull@0.8+summary@0.95"


@pytest.mark.parametrize(
    ("tokens", "spec"),
    [
        (0, "microcompact"),
        (499, "microcompact"),
        (799, "microcompact"),
        (800, "cull"),
        (950, "summary"),
        (9_000, "summary"),
    ],
)
def test_of_a_policy_the_strategy_of_the_highest_mark_that_the_weight_reaches_is_taken(tokens, spec):
    assert Project({"policy": CLIMBING, "window": 1_000}).strategy("primary", tokens) == spec
    assert Project({"policy": CLIMBING}).strategy("primary", tokens) == "microcompact"


@pytest.mark.parametrize(
    "text", ["", "[llm]\nmodel = 'm'\n", "[compaction]\nmarks = [0.5]\nwindow = 9\npins = ['9']\n"]
)
def test_settings_that_choose_no_strategy_say_so(read_from, text):
    assert not read_from(text).chooses


SPECS = ("microcompact", "window", "kv", "summary(max_summary_tokens=900)", "micro@0.6+kv@0.8", "window@0.7+micro@0.9")
KEYS = {"preserve_recent": st.integers(0, 40), "keep_recent": st.integers(0, 9), "kv_target": st.integers(1, 40)}
TABLES = st.fixed_dictionaries({}, optional={"policy": st.sampled_from(SPECS), **KEYS})


@given(TABLES, TABLES)
def test_the_topmost_table_that_sets_a_parameter_decides_it_in_every_strategy_that_has_it(of_all, own):
    project = Project(of_all, {"x": own})
    layers = [table for table in (of_all, own) if table]
    steps = policy(next((t["policy"] for t in reversed(layers) if "policy" in t), "sliding_window")).steps
    known = {f.name for step in steps for f in fields(step.strategy)}
    if own.keys() & KEYS.keys() - known:
        with pytest.raises(SpecError, match="has no such parameter"):
            project.policy("x")
        return
    made = project.policy("x")
    assert [(step.mark, step.strategy.name) for step in made.steps] == [(s.mark, s.strategy.name) for s in steps]
    for step, plain in zip(made.steps, steps, strict=True):
        for name in (f.name for f in fields(step.strategy)):
            expected = next((t[name] for t in reversed(layers) if name in t), getattr(plain.strategy, name))
            assert getattr(step.strategy, name) == expected


# ---- models


def test_every_key_of_the_model_is_understood(read_from):
    given = {"kind": "batch", "model": "m", "base_url": "http://127.0.0.1:9/v1", "store": "b", "temperature": 0.5,
             "max_output": 900, "window": 8_000, "concurrency": 2, "timeout_seconds": 9.5, "retries": 0,
             "cap_tokens": 0, "cap_money": 1.5, "leave_out": ["seed"]}  # fmt: skip
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
    prices = {"my-model": {"input": 0.4, "output": 1.6, "cached": 0.1}, "o/m": {"input": 1, "output": 2}}
    rows = '"my-model" = { input = 0.4, output = 1.6, cached = 0.1 }\n"o/m" = { input = 1, output = 2 }\n'
    project = read_from(f"[llm]\n{text}\n[llm.prices]\n{rows}")
    assert project.llm == given | {"prices": prices}
    assert "my-model" not in project.described_model()
    assert (project.spec, str(project.folder)) == ("batch", "b")


def test_a_type_may_have_a_model_and_words_of_its_own(read_from, tmp_path):
    (tmp_path / "mine.toml").write_text('reflect_system = "You are the night clerk."\n', encoding="utf-8")
    project = read_from(
        "[compaction.per_type]\nprimary = { model = 'extractive' }\n"
        "subagent = { model = 'big', prompts = 'mine.toml' }\n"
        "[llm]\nkind = 'record:store'\nmodel = 'small'\nbase_url = 'http://127.0.0.1:9/v1'\ntemperature = 0\n"
    )
    assert project.of("primary").spec == "record:store"
    assert project.of("primary").llm["kind"] == "extractive"
    big = project.of("subagent")
    assert (big.spec, big.llm["model"], big.llm["temperature"]) == ("record:store", "big", 0)
    assert "night clerk" in big.prompts.reflect_system
    assert project.of("subconscious") == project
    assert project.described_models(["subagent", "subconscious"]).count("model=") == 2


def test_a_model_of_the_command_line_wins_over_that_of_a_type(read_from):
    project = read_from("[compaction.per_type]\nprimary = { model = 'big', window = 5 }\n")
    asked = project.asking(model="small")
    assert asked.of("primary").llm["model"] == "small"
    assert asked.window("primary") == 5
    assert project.asking(base_url="http://127.0.0.1:9/v1").of("primary").llm["model"] == "big"


def test_a_batch_of_a_types_own_model_has_a_folder_of_its_own(read_from):
    project = read_from(
        "[compaction.per_type]\nprimary = { model = 'big' }\n[llm]\nkind = 'batch:box'\nmodel = 'small'\n"
    )
    assert [project.of(kind).spec for kind in ("primary", "subagent")] == ["batch:box/primary", "batch:box"]
