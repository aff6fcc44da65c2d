"""Family `setting`: keys with values that would say nothing by themselves."""

import json
import time

import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st

from compactlab.facts import mine
from compactlab.facts.assignments import setting
from compactlab.probes.mined import matcher_of
from compactlab.readers import read
from compactlab.transcript import Message, Text, ToolCall, ToolResult


def settings(block):
    return [fact.value for fact in mine([Message("assistant", (block,))]) if fact.family == "setting"]


def printed(text):
    return settings(ToolResult("c", (Text(text),)))


def ran(command):
    return settings(ToolCall("c", "bash", json.dumps({"command": command})))


TOML = '[pool]\nworkers = 6 # was 4\nmode = "transaction"\nbusy_timeout = 8\n'
PRINTED = [
    ("export LOG_LEVEL=debug", ["LOG_LEVEL=debug"]),
    ("MIX_ENV=test mix run", ["MIX_ENV=test"]),
    ("START_AT=10:30 run", ["START_AT=10:30"]),
    (TOML, ["workers=6", "mode=transaction", "busy_timeout=8"]),
    ('     1\t[pool]\n     2\tworkers = 6\n     3\tmode = "soft"\n', ["workers=6", "mode=soft"]),
    ("server:\n  workers: 6\n  log_format: text\n  colour: blue\n", ["workers=6", "log_format=text", "colour=blue"]),
    ('{\n  "workers": 6,\n  "log_format": "text",\n  "colour": "blue"\n}',
     ["workers=6", "log_format=text", "colour=blue"]),
    ("; proxy\n[db]\nauth = md5\nmax_conn = 600\npool_mode = session\n",
     ["auth=md5", "max_conn=600", "pool_mode=session"]),
    ("staging-01 = 64\nstaging-02 = 65\nstaging-03 = 66\n", ["staging-01=64", "staging-02=65", "staging-03=66"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PRINTED)
def test_settings_stand_in_assignments_and_lines_of_configuration(text, expected):
    assert printed(text) == expected


NONE = [
    "x = 3\n",
    "def run():\n    workers = size\n    mode = self.mode\n    total = first\n    return total\n",
    "name: str\nzone: ZoneInfo\nretries: int\ncolour: str\n",
    "a = 1",
    "    self.mode = mode\n    self.size = size\n    self.kind = kind\n",
    "DEBUG_MODE=true",
    "VERBOSE_LOG=1",
    "CACHE_DIR=$HOME/cache",
    'RUN_ID="$(date)"',
    "PATH=/usr/bin",
    "Note: this\nPlease: wait\n",
    '<input\n  phx-update="ignore"\n  phx-hook="Terminal"\n  data-kind="soft"\n>',
    "API_KEY=q9w8e7r6t5y4",
    "workers = 6\n",
    "rows: 1\nrows: 2\nrows: 3\nrows: 4\nrows: 5\nrows: 6\n",
    "OUTPUT_FILE=reports/month.csv",
]


@pytest.mark.parametrize("text", NONE)
def test_code_switches_secrets_and_values_of_other_families_are_no_settings(text):
    assert printed(text) == []


RAN = [
    ("pytest --max-batch 64", ["--max-batch=64"]),
    ("serve --mode=soft --workers=6", ["--mode=soft", "--workers=6"]),
    ("serve --mode soft", []),
    ("mix format --check-formatted 2>&1", []),
    ("pytest --tb=short", []),
    ("tool --at 9:30", []),
    ("LOG_LEVEL=debug serve", ["LOG_LEVEL=debug"]),
]


@pytest.mark.parametrize(("command", "expected"), RAN)
def test_options_of_commands_are_settings_where_their_value_is_sure(command, expected):
    assert ran(command) == expected


def test_the_arguments_of_a_call_are_no_lines_of_configuration():
    arguments = {"pattern_kind": "soft", "output_mode": "content", "head_limit": 5, "sort_by": "size"}
    assert settings(ToolCall("c", "grep", json.dumps(arguments))) == []
    assert settings(ToolCall("c", "write", json.dumps({"path": "a.toml", "content": TOML})))[:1] == ["workers=6"]


SPELLINGS = [
    "LEVEL_X=debug",
    "LEVEL_X = debug",
    "LEVEL_X: debug",
    'LEVEL_X = "debug"',
    "LEVEL_X='debug'",
    '"LEVEL_X": "debug"',
    "`LEVEL_X` is debug",
    "set LEVEL_X to debug",
    "`LEVEL_X`: `debug`",
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_setting_is_found_in_the_usual_spellings(text):
    matcher = matcher_of([setting("LEVEL_X", "debug")])
    assert len(matcher.hits(f"Here {text} stands.")) == 1


@pytest.mark.parametrize("text", ["LEVEL_X=info", "LEVEL_X=debugger", "MY_LEVEL_X=debug", "LEVEL_X, debug"])
def test_another_value_or_key_is_not_the_setting(text):
    assert matcher_of([setting("LEVEL_X", "debug")]).hits(text) == []


@given(st.from_regex(r"[A-Z]{3,8}_[A-Z]{2,8}", fullmatch=True), st.sampled_from(["debug", "soft", "17", "blue-ish"]))
def test_what_is_mined_is_found_where_it_was_mined(key, value):
    block = ToolResult("c", (Text(f"run with {key}={value} here"),))
    facts = [fact for fact in mine([Message("tool", (block,))]) if fact.family == "setting"]
    assert [fact.value for fact in facts] == [f"{key}={value}"]
    assert matcher_of(facts).block(block)


HAND = [
    ("subagent-etl", {"workers=6", "workers=4", "max_attempts=3", "METERFLOW_ENV=ci", "cores=4"}),
    ("subagent-orders", {"ttl_seconds=300", "max_entries=512", "log_cli_level=INFO"}),
    ("subagent-incident", {"max_client_conn=600", "backoff=fixed:100ms", "worker_threads=64"}),
]


@pytest.mark.parametrize(("name", "expected"), HAND)
def test_recorded_sessions_hold_the_settings_that_a_reader_sees(name, expected):
    (transcript,) = read(runs.FIXTURES / f"{name}.jsonl")
    found = {fact.value for fact in mine(transcript.messages) if fact.family == "setting"}
    assert expected <= found
    assert len(found) < 80


@pytest.mark.parametrize("piece", ["a_b = 3\n", "key: value\n", "A_B=c ", "--ab=cd ", '"ab": 3,\n', "[x]\n", "=", ":"])
def test_mining_is_linear(piece):
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    printed(text)
    assert time.process_time() - began < 6


def test_a_value_that_is_an_identifier_by_itself_makes_no_setting():
    lines = "SERVICE=label-service\nSERVICE_B=label-service\nLEVEL_OF=debug\n"
    facts = mine([Message("tool", (ToolResult("c", (Text(lines),)),))])
    assert [fact.value for fact in facts if fact.family == "setting"] == ["LEVEL_OF=debug"]
    assert "label-service" in [fact.value for fact in facts if fact.family == "identifier"]
