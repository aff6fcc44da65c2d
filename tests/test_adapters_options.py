"""What Pydantic AI, OpenHands and hermes-agent are called with, none of them needed for it, and what the page says."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from histories import agent, system, user
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from peers import steps
from test_adapters import needs

import compactlab
from compactlab import catalog
from compactlab.adapters import adapter, adapters
from compactlab.adapters.hermes_agent import Compress
from compactlab.compaction import Guard, compact
from compactlab.errors import SpecError
from compactlab.llm.scripted import Scripted
from compactlab.strategies import Context
from compactlab.tokens import Meter

ROOT = Path(__file__).parent.parent
CHARS = Meter("chars/4")
WORK = [system(), user("Move the orders table."), agent("I begin."), *steps(30), user("And now?")]


def given_by(spec, history, *replies, target=None):
    """What a package gives, unguarded, and the model that it asked."""
    model = Scripted(*(replies or ("The port is 5433.",)))
    off = f"{spec[:-1]},guard='off')" if spec.endswith(")") else f"{spec}(guard='off')"
    numbered = [replace(message, source=i) for i, message in enumerate(history)]
    return compact(numbered, off, target=target, guard=Guard(CHARS, model=model)), model


@pytest.mark.parametrize(
    ("spec", "target", "expected"),
    [
        ("peer:pydantic_ai.sliding_window", None, {"keep_messages": 40, "keep_tokens": None}),
        ("peer:pydantic_ai.sliding_window(keep_tokens=900)", None, {"keep_tokens": 900}),
        ("peer:pydantic_ai.summarizing(keep_tokens=900)", 500, {"keep_messages": 20, "keep_tokens": 250}),
        ("peer:pydantic_ai.clear_tool_results(exclude_tools=('read',))", 500, {"keep_pairs": 3, "min_clear_tokens": 0}),
        ("peer:pydantic_ai.tiered", None, {"target_tokens": 2_000}),
        ("peer:pydantic_ai.tiered(target_tokens=900)", None, {"target_tokens": 900}),
        ("peer:pydantic_ai.tiered(target_tokens=900)", 500, {"target_tokens": 500}),
        ("peer:openhands.llm_summarizing", None, {"max_size": 240, "max_tokens": None, "requested": True}),
        ("peer:openhands.llm_summarizing(max_tokens=900)", None, {"max_tokens": 900, "requested": True}),
        ("peer:openhands.llm_summarizing", 500, {"max_tokens": 500, "requested": False}),
        ("peer:openhands.llm_summarizing", 4_900, {"max_tokens": 3_999, "requested": False}),
        ("peer:hermes_agent.compress", None, {"config_context_length": 4_705, "target": None}),
        ("peer:hermes_agent.compress(protect_last_n=4)", 500, {"protect_last_n": 4, "target": 500}),
    ],
)
def test_a_target_takes_the_place_of_what_the_package_comes_down_to(spec, target, expected):
    options = catalog.strategy(spec).options(Context(CHARS, target), 4_000)
    assert {name: options[name] for name in expected} == expected


def test_a_known_window_is_the_window_of_hermes():
    assert Compress().options(Context(CHARS, window=200_000), 4_000)["config_context_length"] == 200_000


def fires_at(window, share):
    """Tokens at which hermes-agent 0.19 fires: a share, at least 64,000, or 85 % of a window that is no larger."""
    least = max(int(window * (max(share, 0.75) if window < 512_000 else share)), 64_000)
    return int(window * 0.85) if least >= window else least


@given(st.integers(100, 2_000_000), st.sampled_from([0.3, 0.5, 0.75, 0.9]))
def test_without_a_window_the_messages_stand_where_hermes_fires(weight, share):
    window = Compress(threshold_percent=share).window_of(weight)
    reached = fires_at(window, share)
    in_a_gap = 54_400 <= weight < 64_000 or 0.75 * 512_000 > weight >= share * 512_000
    assert window > 0
    assert in_a_gap or abs(reached - weight) <= 2 + 0.001 * weight


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("peer:pydantic_ai.clear_tool_results(exclude_tools='read')", "exclude_tools is 'read'; expected a tuple"),
        ("peer:pydantic_ai.clear_tool_results(placeholder=3)", "placeholder is 3; expected a text"),
        ("peer:openhands.llm_summarizing(max_size=-1)", "max_size is -1"),
        ("peer:hermes_agent.compress(summary_target_ratio='much')", "summary_target_ratio is 'much'"),
        ("peer:openhands.recent", "did you mean"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_told_before_anything_runs(spec, told):
    with pytest.raises(SpecError if "(" in spec else compactlab.errors.UnknownName, match=told):
        catalog.strategy(spec)


@pytest.mark.parametrize("environment", ["pydantic_ai", "openhands", "hermes_agent"])
def test_without_its_environment_a_pass_fails_and_says_what_to_install(environment, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPACTLAB_PEERS", str(tmp_path))
    for name in (name for name in needs if f":{environment}." in name):
        done, _ = given_by(name, WORK)
        assert done.receipt.outcome == "failed"
        assert f"compactlab peers install {environment}" in done.receipt.reason
        assert adapter(name).environment == environment


# ---- the page


@pytest.mark.parametrize("title", ["Pydantic AI", "OpenHands", "hermes-agent"])
def test_the_page_has_every_parameter_with_its_default(title):
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    section = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL)[1]
    shown, call_ = {}, ""
    for first, name, default in re.findall(r"^\| (?:`(\w+)`)? ?\| `(\w+)` \| `(.*?)` \|", section, re.MULTILINE):
        call_ = first or call_
        shown[call_, name] = default
    own = [cls for cls in adapters().values() if cls.environment == title.lower().replace(" ", "_").replace("-", "_")]
    parts = {(cls.call, field.name): repr(field.default) for cls in own for field in fields(cls)}
    assert shown == {key: default for key, default in parts.items() if key[1] != "guard"}
    assert all(f"`{cls.call}`" in section or cls.call == "compress" for cls in own)
    assert "**Known faults**" in section
