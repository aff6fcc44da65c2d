"""Every key of the settings changes what a command does."""

import json

import pytest
import runs

from compactlab.cli import main
from compactlab.harness import Settings, run
from compactlab.readers import read
from compactlab.results import Results
from compactlab.settings import FILE, load

SHORT_SESSION = runs.FIXTURES / "primary-move.jsonl"


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


CHANGES = [
    ("strategy", "strategy = 'sliding_window'", ""),
    ("policy", "policy = 'cull@0.7+sliding_window@0.8'", ""),
    ("window", "policy = 'cull@0.7+sliding_window@0.8'\nwindow = 9_000", "policy = 'cull@0.7+sliding_window@0.8'"),
    ("preserve_recent", "strategy = 'sliding_window'\npreserve_recent = 20", "strategy = 'sliding_window'"),
    ("min_messages", "strategy = 'sliding_window'\nmin_messages = 20", "strategy = 'sliding_window'"),
    ("keep_recent", "strategy = 'microcompact'\nkeep_recent = 1", "strategy = 'microcompact'"),
    ("kv_target", "strategy = 'key_value'\nkv_target = 2", "strategy = 'key_value'"),
    ("pins", "pins = ['pattern:Bea']", ""),
    ("model", "model = 'other_words:Echo'", ""),
    ("prompts", "model = 'other_words:Echo'\nprompts = 'mine.toml'", "model = 'other_words:Echo'"),
]


@pytest.mark.parametrize(("changed", "plain"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_every_key_of_a_type_changes_what_compact_leaves(capsys, tmp_path, monkeypatch, changed, plain):
    monkeypatch.syspath_prepend(tmp_path)
    written(tmp_path, ECHO, "other_words.py")
    written(tmp_path, "summary_system = 'You are the night clerk.'\n", "mine.toml")
    left = []
    for text in (changed, plain):
        out = tmp_path / "out.jsonl"
        file = written(tmp_path, f"[compaction.per_type.primary]\n{text}\n")
        compacted(capsys, "--settings", file, "-o", out)
        left.append(out.read_text(encoding="utf-8"))
    assert left[0] != left[1]
    assert ("night clerk" in left[0]) == ("prompts" in changed)


ECHO = """
from compactlab.llm import Reply
from replies import SUMMARY


class Echo:
    name, window = "echo", None

    def reply(self, request):
        return Reply(SUMMARY.replace("A list of boxes.", request.system), "echo")
"""


def test_the_window_of_the_settings_is_that_of_inspect(capsys, tmp_path):
    file = written(tmp_path, "[compaction]\nwindow = 20_000\n[compaction.per_type]\nsubagent = { window = 9_000 }\n")
    for more, window in ([], 20_000), (["--type", "subagent"], 9_000), (["--window", "7000"], 7_000):
        assert main(["inspect", str(SHORT_SESSION), "--settings", str(file), "--json", *more]) == 0
        [found] = json.loads(capsys.readouterr().out)
        assert found["window"] == window
    assert main(["inspect", str(SHORT_SESSION), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["window"] == 128_000


def test_the_types_of_the_settings_say_what_a_transcript_is(capsys, tmp_path):
    file = written(tmp_path, "[agent_types]\n'*/primary-mo*' = 'subagent'\n")
    assert compacted(capsys, "--settings", file)["strategy"] == "sliding_window(preserve_recent=2)"
