"""`compactlab settings`: what holds for each type, and where each value is from; what tuning advises beside it."""

import json

import pytest

from compactlab.cli import main
from compactlab.errors import CompactlabError, SpecError
from compactlab.settings import DEFAULTS, Project, advised, load
from compactlab.settings.effective import Effective, Value

TEXT = """\
[compaction]
pins = ["role:system"]
keep_recent = 3
window = 128_000

[compaction.per_type]
primary = { policy = "microcompact@0.7+summary(preserve_recent=6)@0.95", model = "gpt-5-mini" }
subconscious = { min_messages = 6, marks = [0.6, 0.9], pins = ["index:3"] }

[compaction.per_type."my reviewer"]
strategy = "key_value"
window = 32_000

[agent_types]
"logs/verifier/*" = "checker"

[llm]
kind = "live"
model = "gpt-4o-mini"
base_url = "http://me:secret@127.0.0.1:8000/v1?key=hidden"
temperature = 0

[llm.prices]
"my-model" = { input = 0.4, output = 1.6 }

[reader]
model = "gpt-5-mini"
"""


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A settings file in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compactlab.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "compactlab.toml"


def told(capsys, *arguments):
    assert main(["settings", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def at(needle):
    return f"compactlab.toml: line {next(n for n, line in enumerate(TEXT.split(chr(10)), 1) if needle in line)}"


def test_without_a_file_the_seeds_defaults_are_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = told(capsys)
    assert found["file"] == ""
    assert list(found["types"]) == [*DEFAULTS, "any other"]
    for kind, default in DEFAULTS.items():
        for key, value in default.items():
            assert found["types"][kind][key] == {"value": value, "origin": "default of the seeds"}
    assert found["types"]["any other"]["strategy"] == {"value": "sliding_window", "origin": "default"}
    assert found["types"]["any other"]["preserve_recent"] == {"value": 10, "origin": "default of the strategy"}
    assert found["llm"] == {"kind": {"value": "extractive", "origin": "default"}}
    assert found["reader"] == found["judge"] == {}


ORIGINS = [
    ("primary", "policy", "microcompact@0.7+summary(preserve_recent=6)@0.95", "primary ="),
    ("primary", "keep_recent", 3, "keep_recent ="),
    ("primary", "preserve_recent", 6, "the policy"),
    ("primary", "model", "gpt-5-mini", "primary ="),
    ("primary", "window", 128_000, "window = 128"),
    ("primary", "marks", [0.8, 0.9, 0.95], "default of the seeds"),
    ("subconscious", "strategy", "sliding_reflect", "default of the seeds"),
    ("subconscious", "preserve_recent", 6, "min_messages"),
    ("subconscious", "marks", [0.6, 0.9], "marks"),
    ("subconscious", "model", "gpt-4o-mini", 'model = "gpt-4o-mini"'),
    ("subagent", "strategy", "sliding_window", "default of the seeds"),
    ("subagent", "preserve_recent", 2, "default of the seeds"),
    ("subagent", "pins", ["role:system"], "pins"),
    ("my reviewer", "strategy", "key_value", "key_value"),
    ("my reviewer", "window", 32_000, "window = 32"),
    ("my reviewer", "kv_target", 16, "default of the strategy"),
    ("checker", "strategy", "sliding_window", "default"),
]


@pytest.mark.parametrize(("kind", "key", "value", "origin"), ORIGINS)
@pytest.mark.usefixtures("settings")
def test_each_value_is_told_with_its_file_and_line_or_as_a_default(capsys, kind, key, value, origin):
    where = at(origin) if origin in TEXT and origin != "the policy" else origin
    assert told(capsys)["types"][kind][key] == {"value": value, "origin": where}


@pytest.mark.usefixtures("settings")
def test_pins_of_all_and_of_the_type_and_of_the_command_are_told_together(capsys):
    found = told(capsys, "--pin", "12")["types"]["subconscious"]["pins"]
    assert found["value"] == ["role:system", "index:3", "12"]
    assert found["origin"] == f"{at('pins =')}; {at('index:3')}; command line"


@pytest.mark.usefixtures("settings")
def test_models_are_told_with_what_they_share_and_without_a_secret(capsys):
    found = told(capsys)
    assert found["llm"]["model"] == {"value": "gpt-4o-mini", "origin": at('model = "gpt-4o-mini"')}
    assert found["reader"]["temperature"] == {"value": 0, "origin": at("temperature")}
    assert found["reader"]["model"]["value"] == "gpt-5-mini"
    assert found["prices"]["my-model"] == {"value": {"input": 0.4, "output": 1.6}, "origin": at("my-model")}
    assert found["agent_types"]["logs/verifier/*"] == {"value": "checker", "origin": at("logs/")}
    assert main(["settings"]) == 0
    shown = json.dumps(found) + capsys.readouterr().out
    assert "127.0.0.1:8000" in shown
    assert "secret" not in shown
    assert "hidden" not in shown


GIVEN = [
    (["--window", "64000"], ("types", "my reviewer", "window"), 64_000),
    (["--model", "other"], ("llm", "model"), "other"),
    (["--model", "other"], ("types", "primary", "model"), "other"),
    (["--llm", "replay:store"], ("llm", "kind"), "replay:store"),
    (["--base-url", "http://127.0.0.1:9/v1"], ("llm", "base_url"), "http://127.0.0.1:9/v1"),
    (["--reader", "local"], ("reader", "kind"), "local"),
    (["--judge", "grader"], ("judge", "model"), "grader"),
]


@pytest.mark.parametrize(("arguments", "path", "value"), GIVEN)
@pytest.mark.usefixtures("settings")
def test_what_the_command_line_says_wins_and_is_told_as_such(capsys, arguments, path, value):
    found = told(capsys, *arguments)
    for key in path:
        found = found[key]
    assert found == {"value": value, "origin": "command line"}


@pytest.mark.usefixtures("settings")
def test_the_table_shows_one_type_or_all_and_what_each_runs(capsys):
    assert main(["settings", "--type", "primary"]) == 0
    one = capsys.readouterr().out
    assert "microcompact(keep_recent=3) at 0.7 + summary(preserve_recent=6) at 0.95" in one
    assert "my reviewer" not in one
    assert main(["settings"]) == 0
    assert all(kind in capsys.readouterr().out for kind in ["my reviewer"])


NOTES = [
    ("[compaction]\nkv_target = 9\n", "line 2: kv_target changes nothing"),
    ("[compaction.per_type]\nsubagents = { strategy = 'cull' }\n", "line 2: no transcript is taken as a 'subagents'"),
    ("[compaction.per_type]\nsubagents = { strategy = 'cull' }\n[agent_types]\n'a/*' = 'subagents'\n", ""),
    ("[compaction.per_type]\nreviewer = { strategy = 'cull' }\n", ""),
    ("[compaction]\npreserve_recent = 9\n", ""),
    ("[compaction]\nkv_target = 9\n[compaction.per_type]\nx = { strategy = 'kv' }\n", ""),
]


@pytest.mark.parametrize(("text", "note"), NOTES)
def test_what_may_not_be_meant_is_noted(capsys, tmp_path, text, note):
    file = tmp_path / "compactlab.toml"
    file.write_text(text, encoding="utf-8")
    found = told(capsys, "--settings", str(file))["notes"]
    assert [note in line for line in found] == ([True] if note else [])
    assert main(["settings", "--settings", str(file)]) == 0
    assert ("note: " in capsys.readouterr().out) == bool(note)


@pytest.mark.parametrize("arguments", [["--window", "0"], ["--pin", "roll:x"], ["--llm", "nobody"], ["--judge", "j"]])
def test_what_the_command_line_has_wrong_is_one_line_and_exit_code_two(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    assert main(["settings", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_told_is_what_runs(settings):
    project = load(settings)
    for kind in (*project.types, "nobody"):
        rows = Effective(project).of_type(kind)
        key = "policy" if "policy" in rows else "strategy"
        table = {name: row.value for name, row in rows.items() if name in {key, "keep_recent", "kv_target"}}
        if rows.get("preserve_recent", Value(0, "")).origin != "the policy":
            table |= {name: rows[name].value for name in ("preserve_recent",) if name in rows}
        assert Project(per_type={kind: table}).policy(kind) == project.policy(kind)


# ---- advice

ADVICE = """
[subagent]
policy = "microcompact@0.7+sliding_window@0.9"
keep_recent = 3
marks = [0.7, 0.9]
evidence = "6 sessions of 5 stories"
"""


def test_the_advice_of_the_package_can_be_read_and_is_never_applied():
    for kind, advice in advised().items():
        assert advice.policy.steps
        assert advice.evidence
        assert kind in DEFAULTS
    assert Project().strategy("subagent") == "sliding_window(preserve_recent=2)"


def test_advice_holds_keys_of_a_type_and_its_evidence():
    found = advised(ADVICE)["subagent"]
    assert repr(found.policy) == "microcompact(keep_recent=3)@0.7+sliding_window@0.9"
    assert "evidence" not in found.keys
    assert Project(per_type={"subagent": found.keys}).marks.of("subagent").values == (0.7, 0.9)


@pytest.mark.parametrize(
    "text",
    [ADVICE.replace("policy", "polices"), ADVICE.replace("evidence", "# evidence"), ADVICE.replace("0.7+", "0.95+"),
     ADVICE.replace("keep_recent", "kv_target"), "subagent = 3\n", "[x]\nevidence = 3\nstrategy = 'cull'\n"],
)  # fmt: skip
def test_advice_that_no_settings_could_hold_is_an_error_with_its_line(text):
    with pytest.raises(SpecError, match=r"advised.toml: line \d") as raised:
        advised(text)
    assert isinstance(raised.value, CompactlabError)


def test_advice_is_shown_beside_what_holds(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    from compactlab.cli import settings_command

    rows = settings_command.of_type(Effective(Project()), "subagent", advised(ADVICE)["subagent"])
    assert rows["advised"].origin == "tuning, not applied: 6 sessions of 5 stories"
    assert "keep_recent = 3" in rows["advised"].value
    assert rows["runs"].value == "sliding_window(preserve_recent=2) at 0.8"
    assert main(["settings"]) == 0
    assert ("advised by tuning: nothing yet" in capsys.readouterr().out) == (not advised())
