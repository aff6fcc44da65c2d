"""What is wrong with a settings file is said with its file, its line, its key, and what was expected."""

import re

import pytest

from compactlab.errors import SpecError
from compactlab.settings import load


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
    ("a policy that falls", "[compaction]\npolicy = 'cull@0.9+summary@0.8'\n", "policy", "policy"),
    ("a policy of an unknown strategy", "[compaction]\npolicy = 'cull@0.8+sumary@0.9'\n", "sumary", "policy"),
    ("a policy that is no text", "[compaction]\npolicy = 0.8\n", "policy", "policy"),
    ("a strategy and a policy", "[compaction]\nstrategy = 'cull'\npolicy = 'cull'\n", "policy", "policy"),
    ("one parameter by two names", "[compaction]\npreserve_recent = 3\nmin_messages = 3\n", "min_messages",
     "min_messages"),
    ("a parameter that the strategy sets too",
     "[compaction.per_type.x]\nkeep_recent = 4\nstrategy = 'micro(keep_recent=3)'\n", "keep_recent", "keep_recent ="),
    ("a parameter that no step of the policy has",
     "[compaction.per_type.x]\npolicy = 'cull@0.8+summary@0.9'\nkv_target = 3\n", "kv_target", "kv_target"),
    ("a parameter of no compaction", "[compaction.per_type.x]\npolicy = 'none'\nkv_target = 3\n", "kv_target",
     "kv_target"),
    ("a window of nothing", "[compaction]\nwindow = 0\n", "window", "window"),
    ("a window that is a share", "[compaction.per_type.x]\nwindow = 0.5\n", "window", "window"),
    ("a model of all types in the wrong table", "[compaction]\nmodel = 'm'\n", "llm", "model"),
    ("prompts of all types in the wrong table", "[compaction]\nprompts = 'p.toml'\n", "llm", "prompts"),
    ("a model of a type that is no text", "[compaction.per_type.x]\nmodel = 3\n", "model", "model"),
    ("prompts of a type that are not there", "[compaction.per_type.x]\nprompts = 'no.toml'\n", "prompts", "prompts"),
    ("prompts of all that are not there", "[llm]\nprompts = 'no.toml'\n", "prompts", "prompts"),
    ("a strategy behind a list of several lines", "[compaction]\npins = [\n  'role:user',\n]\nstrategy = 'culls'\n",
     "strategy", "strategy"),
    ("a key that a text holds too", "[llm]\nmodel = 'kind = x'\n# kind = 'y'\nkind = 'gpt'\nstore = 'kind = z'\n",
     "kind", "kind = 'gpt'"),
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


SLIPS = [
    ("[compaction]\nstrategi = 'cull'\n", "strategy"),
    ("[compaction]\nmarkes = [0.8]\n", "marks"),
    ("[compaction]\npreserve_recents = 3\n", "preserve_recent"),
    ("[compaction]\nkv_targets = 3\n", "kv_target"),
    ("[compaction]\npolicies = 'none'\n", "policy"),
    ("[compaction.per_type.primary]\nmodle = 'm'\n", "model"),
    ("[compaction.per_typ]\n", "per_type"),
    ("[compation]\n", "compaction"),
    ("[agent_type]\n", "agent_types"),
    ("[llm]\ntemprature = 0\n", "temperature"),
    ("[judge]\nbaseurl = 'x'\n", "base_url"),
    ("[llm]\nkind = 'exractive'\n", "extractive"),
    ("[compaction]\nstrategy = 'sliding_windw'\n", "sliding_window"),
    ("[compaction]\npolicy = 'microcompct@0.8'\n", "microcompact"),
]


@pytest.mark.parametrize(("text", "meant"), SLIPS, ids=[meant for _, meant in SLIPS])
def test_a_typing_error_is_refused_with_the_nearest_known_name(read_from, text, meant):
    with pytest.raises(SpecError, match=rf"line \d+: .*did you mean '{meant}'"):
        read_from(text)


def test_what_is_nested_too_deep_is_no_traceback(read_from):
    with pytest.raises(SpecError, match="nested too deep"):
        read_from("a = " + "[" * 5_000 + "]" * 5_000)
