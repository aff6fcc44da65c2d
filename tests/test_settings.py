"""`compactlab.toml`: every key, right and wrong; which wins; and that commands do what it says."""

import json
import re

import pytest
import runs

from compactlab import catalog
from compactlab.cli import main
from compactlab.errors import SpecError
from compactlab.harness import Settings, run
from compactlab.llm.extractive import Extractive
from compactlab.pressure import Marks
from compactlab.readers import read
from compactlab.results import Results
from compactlab.settings import DEFAULTS, FALLBACK, FILE, Project, load

SHORT_SESSION = runs.FIXTURES / "primary-move.jsonl"


@pytest.fixture
def read_from(tmp_path):
    def read_text(text):
        file = tmp_path / "compactlab.toml"
        file.write_text(text, encoding="utf-8")
        return load(file)

    return read_text


def at(text, needle):
    """Line of *text*, from 1, where *needle* stands last."""
    return max(n for n, line in enumerate(text.split("\n"), 1) if needle in line)


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
preserve_recent = 7
keep_recent = 3
kv_target = 9

[compaction.per_type]
primary = { strategy = "summary", preserve_recent = 12, pins = ["pattern:always"] }
subconscious = { strategy = "sliding_reflect", min_messages = 4 }
subagent = { strategy = "microcompact", marks = [0.5, 0.6, 0.7] }

[compaction.per_type."my reviewer"]
strategy = "key_value"

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
    ("an alias", "", 'strategy = "sliding-window"', "sliding_window"),
    ("a ladder", "", 'strategy = "ladder(micro, window(min_messages=2))"',
     "ladder(microcompact, sliding_window(preserve_recent=2))"),
]  # fmt: skip


@pytest.mark.parametrize(("of_all", "of_the_type", "spec"), [c[1:] for c in WINS], ids=[c[0] for c in WINS])
def test_which_key_wins(read_from, of_all, of_the_type, spec):
    project = read_from(f"[compaction]\n{of_all}\n[compaction.per_type.subagent]\n{of_the_type}\n")
    assert project.strategy("subagent") == spec
    assert repr(catalog.strategy(spec)) == spec


# ---- what is wrong with it

BAD = [
    ("an unknown table", "[compact]\nx = 1\n", "compact", "[compact]"),
    ("an unknown key", "[compaction]\nstrategi = 'cull'\n", "strategi", "strategi ="),
    ("an unknown key of a type", "[compaction.per_type]\nprimary = { keep = 3 }\n", "keep", "keep"),
    ("an unknown key of the model", "[llm]\nkind = 'extractive'\ntemp = 1\n", "temp", "temp"),
    ("a key that is part of another", "[compaction]\npins = []\npin = ['role:user']\n", "pin", "pin ="),
    ("an unknown strategy", "[compaction]\nstrategy = 'sliding'\n", "strategy", "strategy"),
    ("a strategy that is no text", "[compaction]\nstrategy = 5\n", "strategy", "strategy"),
    ("a spec with a bad parameter", "[compaction]\nstrategy = 'cull(x=1)'\n", "strategy", "strategy"),
    ("a strategy wrong in the second table",
     "[compaction]\nstrategy = 'cull'\n\n[compaction.per_type]\nprimary = { strategy = 'culls' }\n", "strategy",
     "culls"),
    ("a negative number", "[compaction]\npreserve_recent = -1\n", "preserve_recent", "preserve_recent"),
    ("a number that is none", "[compaction]\nkeep_recent = '5'\n", "keep_recent", "keep_recent"),
    ("a share for a number", "[compaction]\nkv_target = 1.5\n", "kv_target", "kv_target"),
    ("true for a number", "[compaction]\nmin_messages = true\n", "min_messages", "min_messages"),
    ("a parameter that the strategy has not", "[compaction.per_type.subagent]\nkv_target = 3\n", "kv_target",
     "kv_target"),
    ("a parameter below its least", "[compaction.per_type.x]\nstrategy = 'kv'\nkv_target = 0\n", "kv_target",
     "kv_target"),
    ("pins that are no list", "[compaction]\npins = 'role:user'\n", "pins", "pins"),
    ("a pin that cannot be read", "[compaction]\npins = ['roll:user']\n", "pins", "pins"),
    ("a pin of a bad role", "[compaction]\npins = ['role:person']\n", "pins", "pins"),
    ("a pattern that cannot be read", "[compaction]\npins = ['pattern:(']\n", "pins", "pins"),
    ("a pin that is a number", "[compaction]\npins = [5]\n", "pins", "pins"),
    ("a pin that is true", "[compaction]\npins = [true]\n", "pins", "pins"),
    ("marks that are no list", "[compaction]\nmarks = 0.8\n", "marks", "marks"),
    ("marks that fall", "[compaction]\nmarks = [0.9, 0.8]\n", "marks", "marks"),
    ("no marks", "[compaction]\nmarks = []\n", "marks", "marks"),
    ("marks below 0", "[compaction]\nmarks = [-0.5]\n", "marks", "marks"),
    ("marks of words", "[compaction]\nmarks = ['high']\n", "marks", "marks"),
    ("a type that is no table", "[compaction.per_type]\nprimary = 'summary'\n", "primary", "primary"),
    ("types that are no table", "[compaction]\nper_type = 3\n", "per_type", "per_type"),
    ("a compaction that is no table", "compaction = 3\n", "compaction", "compaction"),
    ("a kind of model that there is not", "[llm]\nkind = 'gpt'\n", "kind", "kind"),
    ("a model that is no text", "[llm]\nmodel = 3\n", "model", "model"),
    ("a temperature that is no number", "[llm]\ntemperature = 'warm'\n", "temperature", "temperature"),
    ("true for an output", "[llm]\nmax_output = true\n", "max_output", "max_output"),
    ("an output of nothing", "[llm]\nmax_output = 0\n", "max_output", "max_output"),
    ("a share of a window", "[llm]\nwindow = 0.5\n", "window", "window"),
    ("a negative cap", "[llm]\ncap_money = -1\n", "cap_money", "cap_money"),
    ("a time without an end", "[llm]\ntimeout_seconds = inf\n", "timeout_seconds", "timeout_seconds"),
    ("no time at all", "[llm]\ntimeout_seconds = 0\n", "timeout_seconds", "timeout_seconds"),
    ("a store that is no text", "[llm]\nstore = ''\n", "store", "store"),
    ("what may not be left out", "[llm]\nleave_out = ['model']\n", "leave_out", "leave_out"),
    ("prices that are no table", "[llm]\nprices = 3\n", "prices", "prices"),
    ("a price without one of its parts", "[llm.prices]\na = {input=1,output=1}\nb = {input=1}\n", "output", "b ="),
    ("a price that is no table", "[llm]\nmodel = 'a'\n[llm.prices]\n'a' = 3\n", "a", "'a' ="),
    ("a price of words", "[llm.prices]\n\"o/m.1:free\" = {input='low',output=1}\n", "o/m.1:free", "o/m"),
    ("a price in a table of its own", '[llm.prices."gpt-4.1"]\ninput = -1\noutput = 1\n', "gpt-4.1", "gpt"),
    ("a price with a part too many", "[llm]\nprices.a = {input=1,output=1,cache=1}\n", "cache", "prices.a"),
    ("a price without an end", "[llm.prices]\na = {input=inf,output=1}\n", "a", "a ="),
    ("prices of a judge", "[judge.prices]\na = {input=1,output=1}\n", "prices", "prices"),
    ("a key for the server", "[llm]\napi_key = 'x'\n", "api_key", "api_key"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "needle"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
def test_what_is_wrong_is_said_with_file_line_and_key(read_from, tmp_path, text, key, needle):
    with pytest.raises(SpecError) as raised:
        read_from(text)
    said = str(raised.value)
    assert said.startswith(str(tmp_path / "compactlab.toml"))
    assert re.search(rf"\b{key}\b", said.removeprefix(str(tmp_path)))
    assert f"line {at(text, needle)}:" in said
    assert "\n" not in said


@pytest.mark.parametrize("text", ["[compaction\n", "strategy = \n", "a = 1\na = 2\n", "\x00"])
def test_what_is_no_toml_is_said_with_its_line(read_from, text):
    with pytest.raises(SpecError, match=r"compactlab\.toml: is not TOML \(.*line"):
        read_from(text)


def test_a_file_that_is_not_there_or_cannot_be_read_is_an_error_where_it_was_named(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        load(tmp_path / "nowhere.toml")
    with pytest.raises(SpecError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# \xe4\n")
    with pytest.raises(SpecError, match="cannot be read"):
        load(tmp_path / "latin.toml")


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


# ---- commands


def compacted(capsys, *arguments):
    assert main(["compact", str(SHORT_SESSION), "--json", *map(str, arguments)]) == 0
    return json.loads(capsys.readouterr().out)


def written(folder, text, name=FILE):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_compact_without_a_strategy_takes_the_default_of_the_type(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, spec in [
        ("primary-move", "summary"),
        ("subconscious-novel", "sliding_reflect(preserve_recent=4)"),
        ("subagent-etl", "sliding_window(preserve_recent=2)"),
    ]:
        assert main(["compact", str(runs.FIXTURES / f"{name}.jsonl"), "--json"]) == 0
        receipt = json.loads(capsys.readouterr().out)
        assert (receipt["strategy"], receipt["outcome"]) == (spec, "applied")


def test_compact_takes_the_settings_of_the_working_folder_or_of_the_file_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "[compaction.per_type.primary]\nstrategy = 'window'\nmin_messages = 6\n")
    assert compacted(capsys)["strategy"] == "sliding_window(preserve_recent=6)"
    other = written(tmp_path, "[compaction]\nstrategy = 'cull'\n", "other.toml")
    assert compacted(capsys, "--settings", other)["strategy"] == "cull"
    assert compacted(capsys, "--settings", other, "--strategy", "kv")["strategy"] == "key_value"


def test_pins_of_the_settings_and_of_the_command_line_are_both_kept(capsys, tmp_path):
    file = written(tmp_path, "[compaction]\npins = ['index:10']\n[compaction.per_type.primary]\npins = ['index:20']\n")
    receipt = compacted(capsys, "--settings", file, "--strategy", "window", "--pin", "30", "index:40")
    pinned = [c["position"] for c in receipt["changes"] if c.get("why") == "pinned"]
    assert set(pinned) >= {10, 20, 30, 40}
    assert receipt["pinned_tokens"] > 0


@pytest.mark.parametrize("text", ["[compaction]\npins = [5]\n", "[compaction]\nmarks = 1\n", "[nonsense]\n", "["])
def test_a_bad_file_is_one_line_on_standard_error_and_exit_code_two(capsys, tmp_path, text):
    file = written(tmp_path, text)
    assert main(["compact", str(SHORT_SESSION), "--settings", str(file)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"compactlab: {file}")
    assert said.err.count("\n") == 1


def cut_at(folder, name, text, window=20_000):
    """Where the run of a recorded session is cut under the settings *text*."""
    project = load(written(folder, text, f"{name}.toml"))
    settings = Settings(strategies=("none",), window=window, project=project, jobs=1)
    run(SHORT_SESSION, folder / name, settings)
    [cut] = {record.index for record in Results(folder / name).records}
    return cut


def test_marks_of_the_settings_change_where_a_window_cuts(tmp_path):
    [transcript] = read(SHORT_SESSION)
    cuts = {mark: cut_at(tmp_path, f"m{mark}", f"[compaction]\nmarks = [{mark}, 0.99]\n") for mark in (0.3, 0.5, 0.8)}
    plain = cut_at(tmp_path, "plain", "")
    own = cut_at(tmp_path, "own", "[compaction]\nmarks = [0.9]\n[compaction.per_type.primary]\nmarks = [0.5]\n")
    other = cut_at(tmp_path, "other", "[compaction.per_type.subagent]\nmarks = [0.5]\n")
    assert cuts[0.3] < cuts[0.5] < cuts[0.8] == plain == other
    assert own == cuts[0.5]
    for mark, cut in cuts.items():
        before, after = (runs.meter().messages(transcript.messages[:end]) for end in (cut - 2, cut))
        assert before - 2_000 < mark * 20_000 <= after
