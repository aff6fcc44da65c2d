"""The commands and their arguments, as one table: nothing heavy is loaded to show the help."""

from __future__ import annotations

from typing import Any, NamedTuple

from compactlab.cli.memory_arguments import ARGUMENTS as _MEMORY
from compactlab.cli.memory_arguments import EXAMPLE, HELP

_Argument = tuple[tuple[str, ...], dict[str, Any]]


class Command(NamedTuple):
    """One command: its one-line help, its arguments, an example, and the module and function that do it."""

    name: str
    help: str
    arguments: tuple[_Argument, ...]
    example: str


def _arg(*names: str, **options: Any) -> _Argument:  # noqa: ANN401  # argparse's own options
    return names, options


_COUNTER = _arg("--counter", default="o200k_base", metavar="NAME", help="token counter (default %(default)s)")
_PIN = _arg("--pin", nargs="+", default=[], metavar="PIN", help="protect messages: role:ROLE, index:N, pattern:REGEX")
_SETTINGS = _arg("--settings", metavar="FILE", help="settings file (default: compactlab.toml, if there is one)")
_JSON = _arg("--json", action="store_true", help="print JSON instead of text")
_PATH = _arg("path", metavar="PATH", help="file, folder, pattern, - for standard input, or hf:OWNER/NAME[:SPLIT]")
_TYPE = _arg("--type", default="", metavar="TYPE", help="take all as agents of this type (primary, subagent, ...)")
_LIMIT = _arg("--limit", type=int, metavar="N", help="read at most N transcripts")
_FORMAT = _arg("--format", metavar="NAME", help="name the reader instead of recognising it")
_LLM = (
    _arg("--llm", default="", metavar="SPEC", help="what writes text: extractive, live, local, record:STORE, "
         "replay:STORE, batch:FOLDER or module:Class (default: [llm] of the settings, else extractive: no model)"),
    _arg("--model", default="", metavar="NAME", help="name of the model, as its server knows it"),
    _arg("--base-url", default="", metavar="URL", help="an OpenAI-compatible server (default: OPENAI_BASE_URL)"),
)  # fmt: skip
_READ = (_PATH, _FORMAT, _TYPE, _LIMIT, _SETTINGS)

TABLES = ("main", "budgets", "answers", "pairs", "repetitions", "sessions", "spread", "families", "rules", "distortion",
          "artifacts", "position", "age", "density", "miners", "recorded", "replay", "decay", "cliffs", "survival",
          "survival_families", "triggers", "money", "speed")  # fmt: skip

FIGURES = ("savings", "front", "families", "positions", "kept", "survival", "survival_families", "money", "timeline")

COMMANDS = (
    Command(
        "run",
        "compact transcripts with each strategy, score what was kept, print the table",
        (
            _arg("paths", nargs="+", metavar="PATH", help="files, folders, patterns, or hf:OWNER/NAME[:SPLIT]"),
            _TYPE,
            _LIMIT,
            _arg(
                "--strategies",
                nargs="+",
                metavar="SPEC",
                help="strategies as NAME, NAME(field=value), module:Class or all (default: all of the seeds')",
            ),
            _arg(
                "--peers",
                nargs="+",
                metavar="NAME",
                help="strategies of other harnesses beside them: all, installed (real packages), or specs",
            ),
            _arg("--guard", choices=("on", "off", "both"), default="on", help="whether it mends what peers give"),
            _arg("--cut", metavar="SHARES", help="cut at these shares of the assistant messages (0.4,0.55,0.7,0.85)"),
            _arg("--window", type=int, metavar="N", help="cut where 0.80 of a window of N tokens is reached instead"),
            _arg("--replay", action="store_true", help="replay whole sessions in the window, compacted at its marks"),
            _arg(
                "--policy",
                nargs="+",
                metavar="SPEC",
                help="strategies at marks, as STRATEGY@0.8+OTHER@0.95, or `settings`: what those say of each type "
                "(default: each strategy at the lowest mark, one at each of three, and the settings)",
            ),
            _arg("--overhead", type=int, default=0, metavar="N", help="tokens that each request of a replay carries"),
            _arg("--reserve", type=int, default=0, metavar="N", help="tokens of the window set aside for output"),
            _arg("--priced-as", metavar="MODEL", help="model by whose prices a replay counts money"),
            _arg("--recorded", action="store_true", help="score the compactions that a real harness did instead"),
            _arg("--budgets", metavar="SHARES", help="sizes in per cent that each strategy is to meet: 5,10,20,30,50"),
            _COUNTER,
            _PIN,
            _SETTINGS,
            _arg("--probes", nargs="+", default=[], metavar="FILE", help="hand-made probes beside those found"),
            *_LLM,
            _arg("--reader", metavar="MODEL", help="a model that answers the hand-made probes from what was kept"),
            _arg("--judge", metavar="MODEL", help="a model that grades its answers where exact match cannot"),
            _arg(
                "--replicates", type=int, default=1, metavar="N", help="repeat what asks models or draws (%(default)s)"
            ),
            _arg("--out", metavar="DIR", help="folder of the run; the same again goes on (default runs/TIME-DIGEST)"),
            _arg("--seed", type=int, default=0, metavar="N", help="seed of the random control (default %(default)s)"),
            _arg("--jobs", type=int, default=0, metavar="N", help="worker processes (default: one a core)"),
            _arg("--executor", default="", metavar="NAME", help="dask, or dask:ADDRESS: let a cluster work"),
            _JSON,
        ),
        'compactlab run fixtures/transcripts --strategies microcompact "sliding_window(preserve_recent=4)"',
    ),
    Command(
        "report",
        "print the table of a run again, or write it as Markdown, figure or JSON",
        (
            _arg("run", metavar="RUN", help="folder of a run"),
            _arg("--markdown", metavar="FILE", help="write the table and its legend as Markdown"),
            _arg("--html", metavar="FILE", help="write one page: the tables, the figures, what became of each message"),
            _arg("--share", action="store_true", help="leave all texts, names and paths out of that page"),
            _arg("--transcripts", nargs="+", default=[], metavar="PATH", help="where they are now, if they were moved"),
            _arg("--figure", metavar="FILE", help="write a figure (png, svg or pdf): the main one, or that of --kind"),
            _arg("--kind", default="", choices=FIGURES, metavar="NAME", help=f"which figure: {', '.join(FIGURES)}"),
            _arg("--lost", metavar="SPEC", help="list the needed facts that this strategy lost, instead of the table"),
            _arg(
                "--table", nargs="+", choices=TABLES, metavar="NAME", help=f"print these instead: {', '.join(TABLES)}"
            ),
            _JSON,
        ),
        "compactlab report runs/20261130-120000-1a2b3c4d --figure savings.svg",
    ),
    Command(
        "tune",
        "find the policy that suits a type of agent: chosen on some sessions, tried on the others",
        (
            _arg("paths", nargs="+", metavar="PATH", help="files, folders, patterns, or hf:OWNER/NAME[:SPLIT]"),
            _arg("--type", default="", metavar="TYPE", help="tune for this type alone (default: for each)"),
            _LIMIT,
            _arg("--window", type=int, metavar="N", help="window in tokens (default: by settings or sessions)"),
            _arg("--quality", type=float, default=0.8, metavar="Q", help="least retention, lower bound (%(default)s)"),
            _arg("--constraints", type=float, default=0.9, metavar="C", help="same of people's rules (%(default)s)"),
            _arg("--policy", nargs="+", metavar="SPEC", help="candidates instead of the usual ones"),
            _arg("--trials", type=int, default=0, metavar="N", help="candidates to try (default: 1,200, or 60)"),
            _arg("--no-model", action="store_true", help="leave out strategies that ask a model or its stand-in"),
            *_LLM,
            _arg("--write", metavar="FILE", help="write the advice into this settings file; its comments stay"),
            _arg("--figure", metavar="FILE", help="draw the advice of each type tried on the others (png, svg or pdf)"),
            _COUNTER,
            _SETTINGS,
            _arg("--out", metavar="DIR", help="folder of what was tried; the same again goes on"),
            _arg("--seed", type=int, default=0, metavar="N", help="seed of the search (default %(default)s)"),
            _arg("--jobs", type=int, default=0, metavar="N", help="worker processes (default: one a core)"),
            _JSON,
        ),
        "compactlab tune fixtures/transcripts --write compactlab.toml",
    ),
    Command(
        "gate",
        "hold a run against a baseline: fail where it is worse, and name the facts that were lost",
        (
            _arg("target", metavar="RUN|SUITE.toml", help="folder of a run, or a suite file, which is run first"),
            _arg("--baseline", metavar="FILE", help="baseline (default: NAME.json in baselines/, beside the suites)"),
            _arg("--margin", type=float, metavar="X", help="loss that is let pass, for all metrics (by the baseline)"),
            _arg("--junit", metavar="FILE", help="write the checks as JUnit XML"),
            _arg("--markdown", metavar="FILE", help="write a summary for a pull request"),
            _arg("--update-baseline", action="store_true", help="say what became worse, and make it the baseline"),
            _arg("--inconclusive", choices=("fail", "pass"), help="what to make of no verdict (default: exit 3)"),
            _arg("--as", dest="renamed", nargs="+", default=[], metavar="OLD=NEW", help="OLD is called NEW in the run"),
            _SETTINGS,
            _arg("--out", metavar="DIR", help="folder of a suite's run (default: one of its own in runs/)"),
            _JSON,
        ),
        "compactlab gate benchmarks/suites/fixtures.toml --junit gate.xml --markdown gate.md",
    ),
    Command(
        "inspect",
        "say what a transcript holds: messages, tokens by kind, pressure, recorded compactions, what was not read",
        (
            *_READ,
            _COUNTER,
            _arg(
                "--window", type=int, metavar="N", help="window of the pressure curve (default: settings, else 128000)"
            ),
            _JSON,
        ),
        "compactlab inspect fixtures/transcripts/subagent-etl.jsonl --window 100000",
    ),
    Command(
        "facts",
        "list the facts that a transcript holds, by family",
        (*_READ, _arg("--family", metavar="NAME", help="this family only"), _JSON),
        "compactlab facts fixtures/transcripts/primary-garden.jsonl --family name",
    ),
    Command(
        "compact",
        "compact a transcript by one strategy and print the receipt",
        (
            *_READ,
            _arg(
                "--strategy", metavar="SPEC", help="NAME, NAME(field=value) or module:Class (default: by the settings)"
            ),
            *_LLM,
            _arg("--target", type=int, metavar="N", help="weight in tokens that the result should not pass"),
            _arg("--focus", default="", metavar="TEXT", help="what matters in this pass, where a model is asked"),
            _COUNTER,
            _PIN,
            _arg("--dry-run", action="store_true", help="say what would happen to each message, and write nothing"),
            _arg("-o", "--output", metavar="OUT", help="write the compacted transcript to this file"),
            _arg("--to", metavar="FORMAT", help="format of that file (default: the one that was read, if it can be)"),
            _arg("--receipt", metavar="FILE", help="write the receipt as JSON to this file"),
            _JSON,
        ),
        "compactlab compact fixtures/transcripts/primary-move.jsonl --strategy sliding_window -o compacted.jsonl",
    ),
    Command(
        "convert",
        "write transcripts in another format, read them back, and say what that format could not hold",
        (
            *_READ,
            _arg("--to", required=True, metavar="FORMAT", help="one of those that `list readers` calls written"),
            _arg("-o", "--output", required=True, metavar="OUT", help="file; folder for formats of one session a file"),
        ),
        "compactlab convert fixtures/transcripts/primary-move.jsonl --to openai_chat -o move.json",
    ),
    Command(
        "validate",
        "recompute what the numbers rest on: evidence that the scorer is right, the findings of a study",
        (
            _arg(
                "paths", nargs="*", metavar="PATH", help="transcript files, or folders of them (fixtures/transcripts)"
            ),
            _arg(
                "--cases", metavar="FILE", help="source distribution of compaction-guard 0.1.0: its labelled cases too"
            ),
            _arg("--study", action="store_true", help="the sixteen findings of the study, then and now"),
            _arg("--probes", action="store_true", help="where mined facts and hand-made probes disagree, and why"),
            _arg("--alarms", action="store_true", help="how often the gate is wrong, on sessions that are made for it"),
            _arg("--sessions", type=int, default=40, metavar="N", help="how many are made (default %(default)s)"),
            _arg("--draws", type=int, default=400, metavar="N", help="draws of each strategy (default %(default)s)"),
            _arg("--markdown", metavar="FILE", help="write the table and its sentences as Markdown instead"),
            _arg("--jobs", type=int, default=0, metavar="N", help="worker processes (default: one a core)"),
            _JSON,
        ),
        "compactlab validate fixtures/transcripts",
    ),
    Command(
        "llm",
        "import replies of a batch, install and serve a small local model, say which model would be asked",
        (
            _arg("action", choices=("import", "install", "serve", "status"), help="import FOLDER FILE, or one alone"),
            _arg("folder", nargs="?", metavar="FOLDER", help="folder of a batch (import, status), or a store (status)"),
            _arg(
                "file", nargs="?", metavar="FILE", help="results, as OpenAI gives them or as {custom_id, text} (import)"
            ),
            _arg("--gguf", metavar="FILE", help="weights of another model (install, serve)"),
            _arg("--host", default="127.0.0.1", help="address to serve on (%(default)s)"),
            _arg("--port", type=int, default=0, metavar="N", help="port to serve on (default: a free one)"),
            _arg("--window", type=int, metavar="N", help="window in tokens to serve with"),
            *_LLM,
            _SETTINGS,
            _JSON,
        ),
        "compactlab llm status",
    ),
    Command("memory", HELP, (*_MEMORY, _COUNTER, *_LLM, _SETTINGS, _JSON), EXAMPLE),
    Command(
        "peers",
        "install packages of others, each in an environment of its own, or say which there are and what they do",
        (
            _arg("action", choices=("install", "status"), help="install NAME ..., or status alone"),
            _arg("names", nargs="*", metavar="NAME", help="environments to install, or all"),
            _JSON,
        ),
        "compactlab peers status",
    ),
    Command(
        "settings",
        "say what holds for each type of agent, which models are asked, and where each value comes from",
        (
            _SETTINGS,
            _arg("--type", default="", metavar="TYPE", help="of this type of agent alone"),
            _arg("--window", type=int, metavar="N", help="as `run` and the others take it"),
            _PIN,
            *_LLM,
            _arg("--reader", default="", metavar="MODEL", help="as `run` takes it"),
            _arg("--judge", default="", metavar="MODEL", help="as `run` takes it"),
            _JSON,
        ),
        "compactlab settings --type subagent",
    ),
    Command(
        "list",
        "list what there is to choose from",
        (_arg("kind", choices=("strategies", "peers", "readers", "counters", "metrics"), help="what to list"), _JSON),
        "compactlab list strategies",
    ),
)
