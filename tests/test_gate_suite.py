"""Suite files: every key does something; what is unknown or wrong is an error with its line."""

import gates
import pytest

from compactlab.errors import SpecError
from compactlab.gate import MEASURES
from compactlab.gate.suite import KEYS, load

WHOLE = """
name = "mine"

[run]
transcripts = ["../logs", "more/*.jsonl"]
strategies = ["none", "sliding_window(preserve_recent=4)"]
mode = "cuts"
cuts = [0.3, 0.6]
counter = "chars/4"
seed = 3
replicates = 20
probes = ["p.jsonl"]
pins = ["role:system"]
budgets = [10, 20]
agent_type = "mine"
limit = 5
jobs = 1
settings = "own.toml"

[gate]
primary = "bound"
metrics = ["saved", "constraints", "bound"]

[gate.margins]
saved = 0.02

[gate.tolerances]
constraints = 2

[gate.compare]
"sliding_window" = "sliding_window(preserve_recent=4)"
"""


def written(folder, text, name="suite.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_whole_suite_is_read(tmp_path):
    written(tmp_path / "suites", '[compaction]\npins = ["index:0"]\n', "own.toml")
    suite = load(written(tmp_path / "suites", WHOLE))
    settings, rule = suite.settings, suite.rule
    assert suite.transcripts == (str(tmp_path / "logs"), str(tmp_path / "suites" / "more" / "*.jsonl"))
    assert (suite.name, suite.baseline) == ("mine", tmp_path / "baselines" / "mine.json")
    assert list(map(repr, settings.built)) == ["none", "sliding_window(preserve_recent=4)"]
    assert (settings.cuts, settings.counter, settings.seed, settings.replicates) == ((0.3, 0.6), "chars/4", 3, 20)
    assert (settings.budgets, settings.agent_type, settings.limit, settings.pins) == (
        (10, 20),
        "mine",
        5,
        ("role:system",),
    )
    assert settings.jobs == 1
    assert settings.probes == (tmp_path / "suites" / "p.jsonl",)
    assert settings.project.pins("primary") == ("index:0",)
    assert rule.metrics == ("bound", "saved", "constraints")
    assert rule.margins == {"bound": 0.05, "saved": 0.02, "constraints": 0.05}
    assert rule.tolerances == {"bound": 0, "constraints": 2}
    assert suite.compare == {"sliding_window": "sliding_window(preserve_recent=4)"}


def test_a_suite_of_replays_is_read_and_one_alone_has_its_baseline_beside_it(tmp_path):
    text = (
        '[run]\ntranscripts = ["."]\nmode = "replay"\nwindow = 4000\noverhead = 10\nreserve = 20\n'
        'policies = ["microcompact@0.8+summary@0.95", "settings"]\npriced_as = "gpt-5-mini"\n'
    )
    suite = load(written(tmp_path, text, "small.toml"))
    settings = suite.settings
    assert (settings.mode, settings.window, settings.overhead, settings.reserve) == ("replay", 4_000, 10, 20)
    assert (settings.labels, settings.priced_as) == (("microcompact@0.8+summary@0.95", "settings"), "gpt-5-mini")
    assert (suite.name, suite.baseline, suite.rule.metrics) == (
        "small",
        tmp_path / "baselines" / "small.json",
        ("irrecoverable",),
    )


def test_every_key_stands_in_one_of_the_suites_above():
    told = WHOLE + "window overhead reserve policies priced_as"
    assert all(key in told for table in KEYS.values() for key in table)
    assert len(KEYS["run"]) == 19
    assert set(MEASURES) >= {"irrecoverable", "bound", "loose", "constraints", "probes", "answers", "saved"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[run]\ntranscript = []", 2, "[run] key 'transcript' is unknown; did you mean 'transcripts'?"),
        ("[runs]", 1, "key 'runs' is unknown; did you mean 'run'?"),
        ("[run]\n\ntranscripts = []", 3, "[run] transcripts = []; expected a list of files, folders or patterns"),
        ("[run]\ntranscripts = [1]", 2, "expected a list of files"),
        (
            '[run]\ntranscripts = ["."]\nstrategies = [\n"cull", "cul"]',
            3,
            "[run] strategies: strategy 'cul' is unknown",
        ),
        ('[run]\ntranscripts = ["."]\ncuts = [0.5, 1.5]', 3, "[run] cuts = [0.5, 1.5]; expected a list of shares"),
        ('[run]\ntranscripts = ["."]\nseed = true', 3, "[run] seed = True; expected a whole number of 0 or more"),
        ('[run]\ntranscripts = ["."]\ncounter = "abacus"', 3, "[run] counter: "),
        ('[run]\ntranscripts = ["."]\npins = ["all"]', 3, "[run] pins: pin 'all'"),
        ('[run]\ntranscripts = ["."]\nmode = "all"', 3, "expected cuts, replay or recorded"),
        ('[run]\ntranscripts = ["."]\nmode = "replay"', 1, "[run] a replay needs a window"),
        ('[run]\ntranscripts = ["."]\noverhead = 3', 1, "[run] policies, overhead and reserve belong to a replay"),
        ('[run]\ntranscripts = ["."]\nsettings = "no.toml"', 1, "no.toml: cannot be read"),
        ("[run]\n[gate]", 1, "[run] has no transcripts"),
        (
            '[run]\ntranscripts = ["."]\n[gate]\nprimary = "beauty"',
            4,
            "[gate] primary = 'beauty'; expected one of irre",
        ),
        ('[run]\ntranscripts = ["."]\n[gate.margins]\nsaved = 0.1', 4, "[gate.margins] key 'saved' is unknown"),
        ('[run]\ntranscripts = ["."]\n[gate.margins]\nirrecoverable = 5', 4, "expected a share between 0 and 1"),
        (
            '[run]\ntranscripts = ["."]\n[gate]\nmetrics = ["saved"]\n[gate.tolerances]\nsaved = 1',
            6,
            "[gate.tolerances] key 'saved' is unknown",
        ),
        ('[run]\ntranscripts = ["."]\n[gate.compare]\ncull = 3', 4, "[gate.compare] cull = 3; expected a strategy"),
        ('[run]\ntranscripts = ["."]\n[gate]\nmargins = 0.05', 4, "expected a table of shares by metric"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, line, said):
    with pytest.raises(SpecError) as error:
        load(written(tmp_path, text))
    assert f"suite.toml: line {line}: " in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(("text", "said"), [("[run", "is not TOML"), (None, "cannot be read")])
def test_a_file_that_is_no_suite_says_so(tmp_path, text, said):
    path = written(tmp_path, text) if text else tmp_path / "none.toml"
    with pytest.raises(SpecError, match=said):
        load(path)


def test_a_suite_runs_into_a_folder_of_its_own_and_goes_on_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = f'[run]\ntranscripts = ["{gates.sessions(1)}"]\nstrategies = ["cull"]\n'
    text = f'{head}cuts = [0.5]\ncounter = "chars/4"\njobs = 1\n'
    suite, other = (load(written(tmp_path, text + more)) for more in ("", "seed = 1\n"))
    assert suite.folder != other.folder
    first = suite.run()
    before = (first.folder / "records.jsonl").stat()
    assert first.folder == suite.folder
    assert suite.run().folder == first.folder
    after = (first.folder / "records.jsonl").stat()
    assert (before.st_size, before.st_ino) == (after.st_size, after.st_ino)
