"""`compactlab gate`: what it prints, writes and exits with."""

import json

import gates
import pytest
from msgspec.structs import replace

from compactlab.cli import main
from compactlab.gate import save

WORSE = ("none", "microcompact", "sliding_window(preserve_recent=9)")


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(gates.baseline(), tmp_path / "base.json")
    return "base.json"


def gated(capsys, *arguments):
    code = main(["gate", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_a_pass_a_failure_and_their_files(base, capsys, tmp_path):
    code, out, _ = gated(capsys, gates.made().folder, "--baseline", base)
    assert (code, "PASS (exit 0)" in out) == (0, True)
    files = ("--junit", "gate.xml", "--markdown", "gate.md")
    code, out, err = gated(capsys, gates.made(*WORSE).folder, "--baseline", base, *files)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[-1].startswith("FAIL (exit 1): Worse than the baseline")
    assert "--update-baseline" in lines[-1]
    assert "lost by sliding_window(preserve_recent=9)" in out
    assert out.count("stood in message 2: ") == 5
    assert "<testsuite" in (tmp_path / "gate.xml").read_text(encoding="utf-8")
    assert "sliding_window(preserve_recent=9)" in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_json_has_every_fact(base, capsys):
    code, out, _ = gated(capsys, gates.made(*WORSE).folder, "--baseline", base, "--json")
    told = json.loads(out)
    assert (code, told["exit_code"], told["verdict"]) == (1, 1, "fail")
    [check] = [
        c for c in told["checks"] if c["verdict"] == "fail" and c["agent_type"] == "all" and c["metric"] == "bound"
    ]
    assert {fact["session"] for fact in check["lost"]} == {f"warden-{n}" for n in range(5)}
    assert set(check["lost"][0]) >= {"value", "home", "home_text", "used", "used_text", "regain", "cut"}


@pytest.mark.parametrize(
    ("policy", "expected"), [((), 3), (("--inconclusive", "fail"), 1), (("--inconclusive", "pass"), 0)]
)
def test_what_is_not_shown_has_a_code_of_its_own_or_that_of_the_policy(tmp_path, capsys, policy, expected):
    save(gates.baseline("none", of_each=1), tmp_path / "few.json")
    run = gates.made("none", of_each=1).folder
    code, out, _ = gated(capsys, run, "--baseline", tmp_path / "few.json", *policy)
    assert (code, f"INCONCLUSIVE (exit {expected})" in out) == (expected, True)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "a run has no baseline of its own; expected --baseline FILE"),
        (("--baseline", "none.json"), "none.json: cannot be read"),
        (("--baseline", "base.json", "--margin", "2"), "--margin 2.0: expected a share between 0 and 1"),
        (("--baseline", "base.json", "--as", "cull"), "--as 'cull': expected OLD=NEW"),
        (("--baseline", "base.json", "--as", "cull=ladder"), "no strategy 'cull' stands in the baseline"),
    ],
)
@pytest.mark.usefixtures("base")
def test_wrong_usage_is_never_a_pass(capsys, more, said):
    code, _, err = gated(capsys, gates.made().folder, *more)
    assert code == 2
    assert said in err


def test_another_scorer_is_exit_2_with_the_way_out(tmp_path, capsys):
    made = gates.baseline()
    save(made._replace(of={**made.of, "scorer": "2"}), tmp_path / "old.json")
    code, _, err = gated(capsys, gates.made().folder, "--baseline", tmp_path / "old.json")
    assert (code, "scorer 2 there, 3 here" in err, "--update-baseline" in err) == (2, True, True)


def test_a_new_baseline_says_what_it_accepts_before_it_is_written(base, capsys):
    run = gates.made(*WORSE).folder
    code, out, _ = gated(capsys, run, "--baseline", base, "--update-baseline")
    assert code == 0
    assert "accepted: sliding_window(preserve_recent=9), irrecoverable: worse: 5 facts fewer" in out
    assert out.splitlines()[-1].startswith("wrote base.json: 30 cases; commit it")
    assert gated(capsys, run, "--baseline", base)[0] == 0


def test_a_baseline_of_another_scorer_is_renewed_and_said_to_be_let_go(base, capsys, tmp_path):
    made = gates.baseline()
    save(made._replace(of={**made.of, "scorer": "2"}, rule=replace(gates.RULE, metrics=("bound",))), tmp_path / base)
    code, out, _ = gated(capsys, gates.made().folder, "--baseline", base, "--update-baseline", "--json")
    told = json.loads(out)
    assert (code, told["accepted"], told["rule"]["metrics"]) == (0, None, ["bound"])
    assert "the old baseline is let go, what became worse is not told" in told["not_compared"]


def test_a_suite_is_run_and_held_against_its_own_baseline(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = '[run]\ntranscripts = ["{}"]\nstrategies = ["{}"]\ncuts = [0.6]\ncounter = "chars/4"\njobs = 1\n'
    for name, strategy in (("one", "sliding_window"), ("two", "sliding_window(preserve_recent=9)")):
        suite = 'name = "mine"\n' + text.format(gates.sessions(), strategy)
        (tmp_path / f"{name}.toml").write_text(suite, encoding="utf-8")
    code, out, _ = gated(capsys, "one.toml", "--update-baseline")
    assert (code, "there was no baseline" in out) == (0, True)
    assert gated(capsys, "one.toml")[0] == 0
    code, out, _ = gated(capsys, "two.toml", "--out", "own-folder")
    assert (code, "run: own-folder" in out) == (1, True)


def test_github_is_told_where_it_runs_the_gate(base, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    _, out, _ = gated(capsys, gates.made(*WORSE).folder, "--baseline", base)
    assert "::error " in out
    assert "sliding_window" in (tmp_path / "summary.md").read_text(encoding="utf-8")
