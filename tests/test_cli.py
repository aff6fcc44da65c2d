"""The command line: each command, what it refuses, and how it ends."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
import runs

import compactlab
from compactlab import catalog
from compactlab.cli import COMMANDS, parser
from compactlab.readers import read
from compactlab.report.table import COLUMNS
from compactlab.results import Results
from compactlab.tokens import counter_names

MOVE = "primary-move"
MOVES = runs.FIXTURES / f"{MOVE}.jsonl"
NAMES = [command.name for command in COMMANDS]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of one's own with short transcripts where the examples look for them."""
    folder = tmp_path / "fixtures" / "transcripts"
    folder.mkdir(parents=True)
    for path in runs.short_transcripts().iterdir():
        shutil.copy(path, folder)
    for name in ("primary-garden", "subagent-etl"):
        shutil.copy(runs.short_transcripts() / f"{MOVE}.jsonl", folder / f"{name}.jsonl")
    suite = tmp_path / "benchmarks" / "suites" / "fixtures.toml"
    suite.parent.mkdir(parents=True)
    lines = (
        "[run]",
        'transcripts = ["../../fixtures/transcripts"]',
        'strategies = ["cull"]',
        "cuts = [0.6]",
        "jobs = 1",
    )
    suite.write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def transcript(name=MOVE):
    return runs.short_transcripts() / f"{name}.jsonl"


def quick(out):
    return ("--cut", "0.5", "--strategies", "none", "sliding_window", "--counter", "chars/4", "--jobs", 1, "--out", out)


def test_run_prints_a_table_and_names_its_folder(said, tmp_path):
    code, out, err = said("run", transcript(), *quick(tmp_path / "run"))
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"run: {tmp_path / 'run'}"
    lines = [line.split()[0] for line in out.splitlines() if line.split()]
    assert {"strategy", "none", "sliding_window", "bag", "null"} <= set(lines)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    written = {"manifest.json", "records.jsonl", "compactions.jsonl", "timings.jsonl", "origins.jsonl"}
    kinds = ("savings", "front", "families", "positions", "kept")
    assert names == {*written, "report.md", *(f"{kind}.{ending}" for kind in kinds for ending in ("png", "svg"))}


def test_run_prints_json(said, tmp_path):
    code, out, err = said("run", transcript(), *quick(tmp_path / "run"), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["run"] == str(tmp_path / "run")
    assert [row["label"] for row in found["summary"]["rows"]] == ["none", "sliding_window", "bag", "null"]
    assert found["summary"]["sessions"] == 1


def test_run_cuts_where_it_is_told(said, tmp_path):
    for number, (options, cuts) in enumerate(
        (
            (("--cut", "0.3,0.6"), ("0.3", "0.6")),
            (("--cut", " 0.3 , 0.6, "), ("0.3", "0.6")),
            (("--window", "4000"), ("window 4000",)),
            ((), ("0.4", "0.55", "0.7", "0.85")),
        )
    ):
        folder = tmp_path / f"run{number}"
        code, _, err = said("run", transcript(), "--strategies", "none", "--jobs", 1, "--out", folder, *options)
        assert (code, err) == (0, "")
        assert Results(folder).manifest.cuts == cuts


def test_run_goes_on_with_the_folder_that_it_is_given_again(said, tmp_path):
    once = said("run", transcript(), *quick(tmp_path / "run"))
    records = (tmp_path / "run" / "records.jsonl").read_bytes()
    again = said("run", transcript(), *quick(tmp_path / "run"))
    assert once == again
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == records


def test_run_takes_probes_that_lie_elsewhere(said, tmp_path):
    alone = tmp_path / "elsewhere.jsonl"
    shutil.copy(transcript(), alone)
    given = runs.FIXTURES / f"{MOVE}.probes.jsonl"
    said("run", alone, *quick(tmp_path / "without"))
    code, out, _ = said("run", alone, "--probes", given, *quick(tmp_path / "with"), "--json")
    assert code == 0
    assert all(row["asked"] > 0 for row in json.loads(out)["summary"]["rows"])
    assert not any(r.metric == "probe_kept" for r in Results(tmp_path / "without").records)


def test_run_runs_a_strategy_of_ones_own(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_for_cli.py").write_text(
        "from dataclasses import dataclass\n"
        "from compactlab.strategies import Compacted, Strategy\n\n"
        "@dataclass(frozen=True, repr=False)\n"
        "class Mine(Strategy):\n"
        "    last: int = 3\n\n"
        "    def compact(self, messages, context):\n"
        "        return Compacted((*messages[:2], *messages[-self.last:]))\n",
        encoding="utf-8",
    )
    spec = "mine_for_cli:Mine(last=5)"
    code, out, err = said("run", transcript(), "--strategies", spec, "--cut", "0.7", "--jobs", 1, "--out", "run")
    assert (code, err) == (0, "")
    assert "mine_for_cli:Mine(last=5)" in out
    assert Results(tmp_path / "run").manifest.strategies == (spec,)


def test_report_prints_the_table_of_a_run_again(said):
    folder = runs.short().results.folder
    code, out, err = said("report", folder)
    assert (code, err) == (0, "")
    assert all(row.label in out for row in runs.short().summary.rows)
    assert f"corpus {runs.short().summary.manifest.corpus}" in " ".join(out.split())


def test_report_prints_json(said):
    code, out, err = said("report", runs.short().results.folder, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["label"] for row in found["rows"]] == [row.label for row in runs.short().summary.rows]
    assert found["rows"][0]["bound"]["mean"] == runs.short().summary.rows[0].bound.mean


def test_report_writes_markdown_and_figures(said, tmp_path):
    folder = runs.short().results.folder
    code, out, err = said("report", folder, "--markdown", tmp_path / "t.md", "--figure", tmp_path / "f.svg")
    assert (code, out, err) == (0, "", "")
    assert (tmp_path / "t.md").read_text(encoding="utf-8").startswith(f"| {' | '.join(COLUMNS)} |")
    assert (tmp_path / "f.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_inspect_says_what_a_transcript_holds(said):
    code, out, err = said("inspect", transcript(), "--window", 10_000)
    assert (code, err) == (0, "")
    for part in (
        f"{MOVE} (compactlab, primary)",
        "44 messages",
        "units",
        "tokens by o200k_base",
        "mark 0.80:",
        "of 10,000",
    ):
        assert part in out


def test_inspect_prints_json(said):
    code, out, err = said("inspect", runs.short_transcripts(), "--json", "--counter", "chars/4")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [one["id"] for one in found] == list(runs.SHORT)
    for one in found:
        assert one["messages"] == 44 == sum(one["roles"].values())
        assert one["tokens"] == sum(one["by_kind"].values()) == one["curve"][-1]["tokens"]
        assert one["counter"] == "chars/4"
        assert [point["tokens"] for point in one["curve"]] == sorted(point["tokens"] for point in one["curve"])


def test_facts_are_listed_with_their_homes(said):
    code, out, err = said("facts", transcript())
    assert (code, err) == (0, "")
    assert " facts: " in out.splitlines()[-1]
    code, out, err = said("facts", transcript(), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert len(found) > 50
    assert found[0].keys() == {"session", "family", "value", "messages", "first"}
    assert all(one["session"] == MOVE for one in found)


def test_facts_of_one_family_alone(said):
    code, out, _ = said("facts", transcript(), "--family", "path", "--json")
    assert code == 0
    assert {one["family"] for one in json.loads(out)} == {"path"}


def test_compact_prints_a_receipt_and_writes_what_is_asked_for(said, tmp_path):
    out_file, receipt = tmp_path / "out.jsonl", tmp_path / "receipt.json"
    options = ("--strategy", "sliding_window(preserve_recent=4)", "-o", out_file, "--receipt", receipt)
    code, out, err = said("compact", transcript(), *options)
    assert (code, err) == (0, "")
    assert out.startswith("sliding_window(preserve_recent=4): applied")
    (compacted,) = read(out_file)
    assert 4 < len(compacted.messages) < 44
    assert json.loads(receipt.read_text(encoding="utf-8"))["outcome"] == "applied"


def test_compact_prints_json(said):
    code, out, err = said("compact", transcript(), "--strategy", "none", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["outcome"] == "skipped"


def test_compact_keeps_to_a_target(said):
    code, out, _ = said("compact", transcript(), "--strategy", "sliding_window", "--target", 4000, "--json")
    assert code == 0
    assert json.loads(out)["tokens_after"] <= 4000


@pytest.mark.parametrize("kind", ["strategies", "readers", "metrics"])
def test_list_names_every_plug_in_and_what_it_is(said, kind):
    code, out, err = said("list", kind)
    assert (code, err) == (0, "")
    code, raw, err = said("list", kind, "--json")
    assert (code, err) == (0, "")
    found = json.loads(raw)
    assert [one["name"] for one in found] == list(catalog.names(kind))
    assert all(one["what"] for one in found)
    assert all(one["name"] in out for one in found)


def test_list_names_the_counters(said):
    code, out, _ = said("list", "counters")
    assert code == 0
    assert all(name in out for name in counter_names())
    assert json.loads(said("list", "counters", "--json")[1]) == [{"name": name} for name in counter_names()]


def words(example):
    """The words of an example after the program, the run in it one that exists."""
    program, *arguments = shlex.split(example)
    assert program == "compactlab"
    return [str(runs.short().results.folder) if word.startswith("runs/") else word for word in arguments]


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_the_example_in_the_help_of_a_command_runs(command, here, said):
    if command.name == "gate":
        assert said(*words(command.example)[:2], "--update-baseline")[0] == 0
    code, out, err = said(*words(command.example), *(["--jobs", 1] if command.name == "run" else []))
    assert (code, err) == (3 if command.name == "gate" else 0, "")  # of so few stories nothing can be told
    assert out or any(here.glob("*.svg"))


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_the_help_of_a_command_names_its_example_and_every_argument(command, said):
    code, out, err = said(command.name, "--help")
    flat = " ".join(out.split())
    assert (code, err) == (0, "")
    assert " ".join(command.example.split()) in flat
    assert all(name in flat for names, _ in command.arguments for name in names if name.startswith("-"))


def test_help_and_version_of_the_program(said):
    code, out, _ = said("--help")
    assert code == 0
    assert all(name in out for name in NAMES)
    assert said("--version") == (0, f"compactlab {compactlab.__version__}\n", "")


def test_the_parser_knows_the_commands_and_nothing_else():
    assert parser().parse_args(["list", "readers"]).command == "list"
    with pytest.raises(SystemExit):
        parser().parse_args([])


FILES = {
    "file": b"x",
    "empty.jsonl": b"",
    "blank.jsonl": b"\n \n",
    "diary.txt": b"Dear diary,\n",
    "other.json": b'{"a": 1}',
    "blob.bin": bytes(range(256)),
    "words.probes.jsonl": b"x\n",
    "latin.probes.jsonl": b'{"id": "\xff"}',
    "open.toml": b"[",
    "latin.toml": b"a='\xff'",
    "broken/manifest.json": b"{",
    "half/records.jsonl": b"x\n",
}
BAD = [
    ("a missing path", "run {t}/missing", "missing"),
    ("a missing path to inspect", "inspect {t}/missing", "missing"),
    ("a missing path of facts", "facts {t}/missing", "missing"),
    ("a missing path to compact", "compact {t}/missing --strategy none", "missing"),
    ("an empty file", "run {t}/empty.jsonl", "empty.jsonl"),
    ("a blank file", "run {t}/blank.jsonl", "blank.jsonl"),
    ("no transcript", "run {t}/diary.txt", "diary.txt"),
    ("JSON that is no transcript", "run {t}/other.json", "other.json"),
    ("binary", "inspect {t}/blob.bin", "blob.bin"),
    ("an empty folder", "run {t}/nothing", "no transcript"),
    ("a folder without a transcript", "facts {t}", "no transcript"),
    ("a folder under a file", "run {t}/file/inner", "inner"),
    ("the same session twice", "run {move} {move}", "more than once"),
    ("a device", "run /dev/null", "/dev/null"),
    ("an unknown strategy", "run {move} --strategies sliding_windw", "did you mean 'sliding_window'"),
    ("an unknown strategy to compact", "compact {move} --strategy x", "unknown"),
    ("an unknown parameter", "run {move} --strategies cull(depth=3)", "depth"),
    ("a bad parameter", "run {move} --strategies \"microcompact(keep_recent='a')\"", "keep_recent"),
    ("a negative parameter", "run {move} --strategies microcompact(keep_recent=-1)", "-1"),
    ("an open bracket", "run {move} --strategies cull(", "cull("),
    ("more after the bracket", "run {move} --strategies none()x", "none()x"),
    ("no literal", "run {move} --strategies cull(a=open(3))", "cull("),
    ("a strategy without a name", "run {move} --strategies ''", "strategy"),
    ("no such module", "run {move} --strategies no_such_module:X", "no_such_module"),
    ("no such class", "run {move} --strategies json:X", "X"),
    ("no strategy class", "run {move} --strategies json:JSONDecoder", "json:JSONDecoder"),
    ("no module", "run {move} --strategies :X", ":X"),
    ("a relative module", "run {move} --strategies .x:X", ".x:X"),
    ("cut shares that are none", "run {move} --cut half", "half"),
    ("a cut share of one", "run {move} --cut 0.5,1", "between 0 and 1"),
    ("a negative cut share", "run {move} --cut=-0.5", "between 0 and 1"),
    ("no number as cut share", "run {move} --cut nan", "between 0 and 1"),
    ("no cut share", "run {move} --cut ,", "between 0 and 1"),
    ("an empty cut", "run {move} --strategies none --cut ''", "between 0 and 1"),
    ("a cut and a window", "run {move} --cut 0.5 --window 9", "both"),
    ("a window of nothing", "run {move} --window 0", "window 0"),
    ("a negative window", "run {move} --window -8", "window -8"),
    ("a window of nothing to inspect", "inspect {move} --window 0", "window 0"),
    ("negative workers", "run {move} --strategies none --jobs -2", "-2"),
    ("an unknown counter", "run {move} --counter abacus", "abacus"),
    ("an unknown counter to inspect", "inspect {move} --counter abacus", "abacus"),
    ("an unknown counter to compact", "compact {move} --strategy none --counter abacus", "abacus"),
    ("missing probes", "run {move} --probes {t}/missing.jsonl", "missing.jsonl"),
    ("probes that are none", "run {move} --probes {t}/words.probes.jsonl", "line 1"),
    ("probes in bad UTF-8", "run {move} --probes {t}/latin.probes.jsonl", "line 1"),
    ("a folder as probes", "run {move} --probes {t}", "cannot be read"),
    ("a file as folder of the run", "run {move} --out {t}/file", "holds no run"),
    ("a run under a file", "run {move} --out {t}/file/run", "cannot be written"),
    ("a run among other files", "run {move} --out {t}", "holds no run"),
    ("another run", "run {move} --out {run}", "another"),
    ("settings that are missing", "run {move} --settings {t}/missing.toml", "missing.toml"),
    ("settings that are none", "run {move} --settings {t}/open.toml", "open.toml"),
    ("settings in bad UTF-8", "run {move} --settings {t}/latin.toml", "latin.toml"),
    ("a bad pin", "run {move} --pin everything", "everything"),
    ("a bad pattern of a pin", "run {move} --pin pattern:(", "pattern:("),
    ("a report of nothing", "report {t}/missing", "missing"),
    ("a report of an empty folder", "report {t}/nothing", "holds no run"),
    ("a report of a file", "report {t}/file", "holds no run"),
    ("a report of a broken manifest", "report {t}/broken", "manifest.json"),
    ("a report without records", "report {t}/bare", "records"),
    ("a report of broken records", "report {t}/half", "records"),
    ("Markdown nowhere", "report {run} --markdown {t}/no/x.md", "x.md"),
    ("a figure nowhere", "report {run} --figure {t}/no/x.png", "x.png"),
    ("a figure of no kind", "report {run} --figure {t}/x.xyz", "xyz"),
    ("a kind of no figure", "report {run} --kind kept", "--figure FILE"),
    ("a figure of another mode", "report {run} --figure {t}/x.png --kind money", "expected one of savings"),
    ("an unknown family", "facts {move} --family paths", "did you mean 'path'"),
    ("two sessions to compact", "compact {short} --strategy none", "3 sessions"),
    ("a target of nothing", "compact {move} --strategy none --target 0", "--target 0"),
    ("an output nowhere", "compact {move} --strategy none -o {t}/no/x", "no/x"),
    ("a receipt nowhere", "compact {move} --strategy none --receipt {t}/no/r.json", "r.json"),
]


@pytest.fixture
def bad(tmp_path):
    """A folder of things that are not what they should be."""
    folder = tmp_path / "bad"
    for name in ("nothing", "broken", "half", "bare"):
        (folder / name).mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    for name in ("half", "bare"):
        shutil.copy(runs.short().results.folder / "manifest.json", folder / name)
    return folder


@pytest.mark.parametrize(("line", "part"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_is_wrong_is_said_in_one_line_and_the_code_is_2(line, part, bad, said, monkeypatch):
    monkeypatch.chdir(bad / "nothing")
    places = {"t": bad, "move": transcript(), "short": runs.short_transcripts(), "run": runs.short().results.folder}
    arguments = [word.format_map(places) for word in shlex.split(line)]
    code, out, err = said(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("compactlab: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert part in err
    assert "Traceback" not in err
    assert list((bad / "nothing").iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_refused(tmp_path, said):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0)
    try:
        code, out, err = said("run", folder)
    finally:
        folder.chmod(0o700)
    assert (code, out) == (2, "")
    assert "locked" in err
    assert err.count("\n") == 1


def test_a_module_of_ones_own_that_is_broken_is_named(tmp_path, said, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_for_cli.py").write_text("def f(:\n", encoding="utf-8")
    code, out, err = said("run", transcript(), "--strategies", "broken_for_cli:Mine")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "broken_for_cli" in err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["run"],
        ["list"],
        ["list", "nonsense"],
        ["run", "x", "--window", "abc"],
        ["inspect", "x", "--no"],
    ],
)
def test_wrong_usage_is_code_2_and_its_last_line_says_what(arguments, said):
    code, out, err = said(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("compactlab")
    assert "error: " in err.splitlines()[-1]
    assert "Traceback" not in err


def test_a_name_that_no_terminal_can_show_is_refused_in_one_line(said, tmp_path):
    code, out, err = said("run", str(tmp_path / "odd\udcff\nname"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_files_that_were_passed_over_are_named_on_standard_error(said, tmp_path):
    shutil.copy(transcript(), tmp_path)
    for number in range(7):
        (tmp_path / f"note{number}.txt").write_bytes(FILES["diary.txt"])
    code, out, err = said("inspect", tmp_path)
    assert code == 0
    assert MOVE in out
    lines = err.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("compactlab: passed over ") for line in lines)
    assert lines[-1] == "compactlab: passed over 2 more files"


def test_a_folder_of_which_a_file_is_no_transcript_is_run_and_the_file_named(said, tmp_path):
    shutil.copy(transcript(), tmp_path)
    (tmp_path / "note.txt").write_bytes(FILES["diary.txt"])
    code, out, err = said("run", tmp_path, *quick(runs.scratch() / "passed-over"))
    assert code == 0
    assert "run: " in out
    assert "note.txt" in err


def test_the_package_runs_as_a_module():
    done = runs.command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"compactlab {compactlab.__version__}\n", "")
    done = runs.command("run", "missing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_progress_is_silent_where_no_one_watches(tmp_path):
    done = runs.command("run", transcript(), *quick(tmp_path / "run"), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [("facts", MOVES), ("facts", MOVES, "--json"), ("list", "readers"), ("list", "readers", "--json")],
)
def test_a_pipe_that_is_closed_early_is_no_error(arguments):
    read_end, write_end = os.pipe()
    os.close(read_end)
    program = [sys.executable, "-m", "compactlab", *map(str, arguments)]
    with os.fdopen(write_end) as pipe:
        done = subprocess.run(program, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.skipif(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, reason="started where Ctrl-C is ignored")
@pytest.mark.parametrize(("jobs", "file", "seconds"), [(1, "records", 0), (2, "records", 0), (2, "manifest", 0.4)])
def test_ctrl_c_ends_with_130_one_line_and_a_run_that_goes_on(tmp_path, jobs, file, seconds):
    out = tmp_path / "run"
    options = ("--strategies", "none", "sliding_window", "--cut", "0.7", "--jobs", str(jobs), "--out", str(out))
    program = [sys.executable, "-m", "compactlab", "run", str(runs.short_transcripts()), *options]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while process.poll() is None and not any(path.stat().st_size for path in out.glob(f"{file}*")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.decode().splitlines() == [
        "compactlab: interrupted; a run goes on with the same command and --out its folder"
    ]
    assert stdout == b""
    done = runs.command(*program[3:])
    assert (done.returncode, done.stderr) == (0, "")
