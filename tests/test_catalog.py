"""Plug-ins by the name of their file; strategies from their specs; errors that say what to write instead."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab import catalog
from compactlab.errors import SpecError, UnknownName
from compactlab.strategies import Compacted, Strategy
from compactlab.strategies.ladder import Ladder
from compactlab.strategies.microcompact import ClearToolResults
from compactlab.strategies.none import KeepAll
from compactlab.strategies.sliding_window import KeepRecent

OWN = """
import sys
from dataclasses import dataclass
from compactlab.strategies import Compacted, Strategy

@dataclass(frozen=True, repr=False)
class Keep(Strategy):
    share: float = 0.5
    words: tuple[str, ...] = ("yes", "no")
    label: str = "a (b), c=d"
    strict: bool = True

    def compact(self, messages, context):
        return Compacted(messages)

@dataclass(frozen=True, repr=False)
class Bare(Strategy):
    pass

class NoDataclass:
    pass

number = 5
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module of the user's own in the folder one stands in."""
    (tmp_path / "my_own_ideas.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield "my_own_ideas"
    sys.modules.pop("my_own_ideas", None)
    catalog.strategy_class.cache_clear()


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        ("readers", {"compactlab", "claude_code", "openai_chat", "anthropic_messages"}),
        ("strategies", {"none", "microcompact", "sliding_window"}),
        ("metrics", {"tokens", "retention", "load_bearing", "hand_made", "structure"}),
    ],
)
def test_what_lies_in_a_folder_is_known_by_its_file(kind, some):
    found = catalog.names(kind)
    assert some <= set(found)
    assert list(found) == sorted(found)
    assert not [name for name in found if name.startswith("_")]
    assert [catalog.load(kind, name).__name__ for name in found] == [f"compactlab.{kind}.{name}" for name in found]


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            "strategies",
            "sliding_windw",
            "strategy 'sliding_windw' is unknown; did you mean 'sliding_window'? Known are",
        ),
        ("readers", "claude", "reader 'claude' is unknown"),
        ("metrics", "retenton", "metric 'retenton' is unknown; did you mean 'retention'?"),
        ("strategies", "_private", "strategy '_private' is unknown"),
        ("strategies", "", "strategy '' is unknown"),
        ("strategies", "../errors", "strategy '../errors' is unknown"),
        ("strategies", "none.KeepAll", "strategy 'none.KeepAll' is unknown"),
    ],
)
def test_an_unknown_name_lists_the_known_ones_and_the_nearest(kind, name, message):
    with pytest.raises(UnknownName) as caught:
        catalog.load(kind, name)
    assert str(caught.value).startswith(message)
    assert all(known in str(caught.value) for known in catalog.names(kind))


SPECS = [
    ("none", KeepAll()),
    ("  none  ", KeepAll()),
    ("none()", KeepAll()),
    ("none( )", KeepAll()),
    ("sliding_window", KeepRecent()),
    ("sliding_window(preserve_recent=4)", KeepRecent(4)),
    (" sliding_window ( preserve_recent = 4 ) ", KeepRecent(4)),
    ("sliding_window(preserve_recent=4,)", KeepRecent(4)),
    ("sliding_window(preserve_recent=0)", KeepRecent(0)),
    ("sliding_window(preserve_recent=1_000)", KeepRecent(1000)),
    ("sliding_window(\n  preserve_recent=4\n)", KeepRecent(4)),
    ("sliding_window(preserve_recent=10)", KeepRecent()),
    ("microcompact(keep_recent=3)", ClearToolResults(3)),
    ("microcompact(tools=('read', \"bash\"))", ClearToolResults(tools=("read", "bash"))),
    ("microcompact(tools=('read',), keep_recent=3)", ClearToolResults(3, ("read",))),
    ("microcompact(tools=())", ClearToolResults(tools=())),
    ("microcompact(tools=('a, b', 'c)d', '='))", ClearToolResults(tools=("a, b", "c)d", "="))),
    ("microcompact(tools=('it\\'s', '請', '\\n'))", ClearToolResults(tools=("it's", "請", "\n"))),
]


@pytest.mark.parametrize(("spec", "expected"), SPECS, ids=[case[0] for case in SPECS])
def test_a_spec_is_read(spec, expected):
    assert catalog.strategy(spec) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("sliding-window", KeepRecent()),
        ("window(preserve_recent=4)", KeepRecent(4)),
        ("sliding-window(min_messages=4)", KeepRecent(4)),
        ("micro", ClearToolResults()),
    ],
)
def test_a_strategy_is_known_by_its_older_names_too_and_prints_its_own(spec, expected):
    built = catalog.strategy(spec)
    assert built == expected
    assert repr(built) == repr(expected)


def test_a_parameter_given_by_both_of_its_names_is_refused():
    with pytest.raises(SpecError, match="preserve_recent"):
        catalog.strategy("sliding_window(min_messages=4, preserve_recent=5)")


PRINTED = [
    (KeepAll(), "none"),
    (Ladder(("microcompact(keep_recent=5)", "window")), "ladder(microcompact, sliding_window)"),
    (KeepRecent(), "sliding_window"),
    (KeepRecent(10), "sliding_window"),
    (KeepRecent(4), "sliding_window(preserve_recent=4)"),
    (ClearToolResults(3), "microcompact(keep_recent=3)"),
    (ClearToolResults(tools=("read",)), "microcompact(tools=('read',))"),
    (ClearToolResults(3, ("it's",)), 'microcompact(keep_recent=3, tools=("it\'s",))'),
]


@pytest.mark.parametrize(("strategy", "spec"), PRINTED, ids=[case[1] for case in PRINTED])
def test_a_strategy_prints_its_name_and_what_differs_from_the_defaults(strategy, spec):
    assert repr(strategy) == spec
    assert catalog.strategy(spec) == strategy


@given(st.integers(0, 10**12), st.lists(st.text(max_size=12), max_size=4))
def test_whatever_is_printed_reads_back(keep, tools):
    strategy = ClearToolResults(keep, tuple(tools))
    assert catalog.strategy(repr(strategy)) == strategy


UNREADABLE = [
    ("sliding_window(4)", "preserve_recent"),
    ("sliding_window(preserve_recent)", "preserve_recent"),
    ("sliding_window(preserve_recent=)", "cannot be read"),
    ("sliding_window(preserve_recent=4", "cannot be read"),
    ("sliding_window(preserve_recent=4))", "cannot be read"),
    ("sliding_window(preserve_recent=4) + 1", "preserve_recent"),
    ("sliding_window(preserve_recent=4).name", "preserve_recent"),
    ("sliding_window(preserve_recent=4)(preserve_recent=5)", "preserve_recent"),
    ("sliding_window(preserve_recent=4)[0]", "preserve_recent"),
    ("sliding_window(preserve_recent=4, preserve_recent=5)", "preserve_recent"),
    ("sliding_window(preserve_recent=four)", "cannot be read"),
    ("sliding_window(preserve_recent=2+2)", "cannot be read"),
    ("sliding_window(preserve_recent=len('four'))", "cannot be read"),
    ("sliding_window(preserve_recent=f'{4}')", "cannot be read"),
    ("sliding_window(**{'preserve_recent': 4})", "parameters"),
    ("sliding_window(*[4])", "preserve_recent"),
    ("sliding_window(preserve_recent:=4)", "preserve_recent"),
    ("sliding_window(lambda: 0)", "preserve_recent"),
    ("sliding_window(preserve_recent=4\0)", "cannot be read"),
    ("sliding_window(" + "(" * 500 + ")" * 500 + ")", "written as name=value"),
    ("ladder(microcompact)(microcompact)", "microcompact"),
    ("ladder(microcompact, 4)", "ladder"),
    ("ladder(steps=(1,))", "ladder"),
    ("ladder(microcompact, steps=('cull',))", "ladder"),
]


@pytest.mark.parametrize(("spec", "message"), UNREADABLE, ids=[ascii(case[0])[:60] for case in UNREADABLE])
def test_a_spec_of_another_form_is_refused_with_the_form_that_is_expected(spec, message):
    with pytest.raises((SpecError, UnknownName), match=re.escape(message)):
        catalog.strategy(spec)


INJECTED = [
    "none(__import__('os').system('touch ran'))",
    "none(x=__import__('os').system('touch ran'))",
    "none(x=open('ran', 'w'))",
    "none(x=[open('ran', 'w') for _ in '1'])",
    "none(x=(lambda: open('ran', 'w'))())",
    "none(x={open('ran', 'w'): 1})",
    "none(x=f\"{open('ran', 'w')}\")",
    "none() if open('ran', 'w') else none()",
    "none); open('ran', 'w'); (",
    "ladder(__import__('os').system('touch ran'))",
    "ladder(none, open('ran', 'w'))",
    "ladder(none(x=open('ran', 'w')))",
    "ladder(steps=(\"open('ran', 'w')\",))",
    "none(\n)\nopen('ran', 'w')",
    "none(**open('ran', 'w'))",
    "none(x=().__class__.__base__.__subclasses__())",
    "__import__('os').system('touch ran')",
    "open('ran', 'w')",
]


@pytest.mark.parametrize("spec", INJECTED)
def test_nothing_in_a_spec_is_run(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((SpecError, UnknownName)):
        catalog.strategy(spec)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("spec", "known"),
    [
        ("sliding_window(preserve=4)", "preserve_recent"),
        ("microcompact(keep=4)", "keep_recent, tools, errors, max_result_tokens"),
        ("none(keep=4)", "none"),
        ("sliding_window(preserve_recent=4, keep=3)", "preserve_recent"),
        ("sliding_window(self=4)", "preserve_recent"),
        ("sliding_window(None=4)", ""),
    ],
)
def test_an_unknown_parameter_lists_the_known_ones(spec, known):
    with pytest.raises(SpecError) as caught:
        catalog.strategy(spec)
    assert known in str(caught.value)


VALUES = [
    ("sliding_window", "preserve_recent", "-1"),
    ("sliding_window", "preserve_recent", "'x'"),
    ("sliding_window", "preserve_recent", "True"),
    ("sliding_window", "preserve_recent", "1.5"),
    ("sliding_window", "preserve_recent", "4.0"),
    ("sliding_window", "preserve_recent", "None"),
    ("sliding_window", "preserve_recent", "(4,)"),
    ("sliding_window", "preserve_recent", "{}"),
    ("microcompact", "keep_recent", "-1"),
    ("microcompact", "keep_recent", "'5'"),
    ("microcompact", "keep_recent", "False"),
    ("microcompact", "keep_recent", "1e3"),
    ("microcompact", "tools", "'read'"),
    ("microcompact", "tools", "['read']"),
    ("microcompact", "tools", "('read')"),
    ("microcompact", "tools", "{'read'}"),
    ("microcompact", "tools", "(1, 2)"),
    ("microcompact", "tools", "None"),
    ("microcompact", "errors", "'cleared'"),
    ("microcompact", "errors", "True"),
    ("microcompact", "errors", "[]"),
    ("microcompact", "max_result_tokens", "49"),
    ("microcompact", "max_result_tokens", "'x'"),
    ("microcompact", "max_result_tokens", "True"),
]


@pytest.mark.parametrize(("name", "parameter", "value"), VALUES)
def test_a_bad_value_is_refused_by_the_name_of_its_parameter(name, parameter, value):
    with pytest.raises(SpecError, match=parameter):
        catalog.strategy(f"{name}({parameter}={value})")


@pytest.mark.parametrize(("cls", "value"), [(KeepRecent, -1), (KeepRecent, True), (ClearToolResults, "x")])
def test_a_bad_value_is_refused_in_python_too(cls, value):
    with pytest.raises(SpecError, match="whole number"):
        cls(value)


def test_a_class_of_another_module_is_found_by_module_and_class(own):
    built = catalog.strategy(f"{own}:Keep(share=0.25, words=('a',), strict=False)")
    assert isinstance(built, Strategy)
    assert (built.share, built.words, built.strict) == (0.25, ("a",), False)
    assert repr(built) == "my_own_ideas:Keep(share=0.25, words=('a',), strict=False)"
    assert catalog.strategy(repr(built)) == built
    assert repr(catalog.strategy(f"{own}:Keep(label='a (b), c=d')")) == "my_own_ideas:Keep"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("no_such_module_here:Keep", UnknownName, "module 'no_such_module_here' cannot be imported"),
        ("{own}:Kep", UnknownName, "did you mean 'Keep'?"),
        ("{own}:number", SpecError, "expected a frozen dataclass"),
        ("{own}:NoDataclass", SpecError, "expected a frozen dataclass"),
        ("{own}:Strategy", SpecError, "expected a frozen dataclass"),
        ("{own}:", SpecError, "expected module:Class"),
        (":Keep", (UnknownName, SpecError), "Keep"),
        (":", (UnknownName, SpecError), "':'"),
        ("a b:Keep", SpecError, "expected module:Class"),
        ("..relative:Keep", (UnknownName, SpecError), "relative"),
        (".relative:Keep", (UnknownName, SpecError), "relative"),
        ("{own}:Keep(1)", SpecError, "share, words, label, strict"),
        ("{own}:Keep(shre=1)", SpecError, "share, words, label, strict"),
    ],
)
def test_what_is_wrong_with_a_class_of_another_module_is_said(own, spec, error, message):
    with pytest.raises(error, match=re.escape(message)):
        catalog.strategy(spec.format(own=own))


@pytest.mark.parametrize(
    "code", ["def f(:\n", "import no_such_module_here", "from compactlab import nothing_of_this_name"]
)
def test_a_module_that_cannot_be_loaded_is_said_in_one_line(tmp_path, monkeypatch, code):
    (tmp_path / "my_broken_ideas.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises((UnknownName, SpecError), match="my_broken_ideas"):
        catalog.strategy("my_broken_ideas:Keep")


def test_a_class_made_in_python_prints_where_it_stands():
    assert repr(Local()) == f"{__name__}:Local"


class Local(KeepAll):
    """A strategy of this file."""

    def compact(self, messages, context):  # noqa: ARG002
        return Compacted(messages)


def test_the_digest_of_a_plug_in_follows_its_source_and_nothing_else():
    digests = {name: catalog.digest("strategies", name) for name in catalog.names("strategies")}
    assert len(set(digests.values())) == len(digests)
    assert all(re.fullmatch(r"[0-9a-f]{16}", digest) for digest in digests.values())
    assert digests["none"] == catalog.source_digest("compactlab.strategies.none")


def test_a_module_without_a_file_has_a_digest_of_its_name():
    assert re.fullmatch(r"[0-9a-f]{16}", catalog.source_digest("sys"))
