"""A suite: a file that says what is run, and how it is judged.

    [run]
    transcripts = ["../../fixtures/transcripts"]
    strategies = ["microcompact", "sliding_window(preserve_recent=20)"]

    [gate]
    primary = "irrecoverable"
    metrics = ["saved"]

Paths are relative to the file. `[run]` takes what `compactlab run` takes (`docs/ci.md` has every key); models stand in
the file that `settings` names, none else is read. `[gate]` names the primary metric and further `metrics`; its tables
`margins` (shares) and `tolerances` (numbers of things) hold for a metric each, `compare` says which strategy of the
baseline one of another spec stands for. Unknown keys and bad values are errors with their line.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from compactlab import catalog
from compactlab.errors import CompactlabError, SpecError, UnknownName
from compactlab.gate.baseline import Rule
from compactlab.gate.measures import MEASURES, PRIMARY
from compactlab.harness import Settings, run
from compactlab.harness.answers import Progress
from compactlab.harness.corpus import Corpus
from compactlab.harness.options import OWN
from compactlab.harness.spool import Spool
from compactlab.pins import check
from compactlab.policy import policy
from compactlab.results import Results
from compactlab.settings import Project
from compactlab.settings import load as load_settings
from compactlab.settings.reading import Reading
from compactlab.tokens import counter

FOLDER = "suites"
BASELINES = "baselines"
RUNS = Path("runs")


@dataclass(frozen=True)
class Suite:
    """What a suite file says: paths of transcripts, how to run, how to judge, which strategies stand for others."""

    path: Path
    name: str
    transcripts: tuple[str, ...]
    settings: Settings
    rule: Rule
    compare: Mapping[str, str]

    @property
    def baseline(self) -> Path:
        """Where its baseline lies: `baselines/NAME.json`, beside the folder `suites` or else beside the file."""
        is_one_of_many = self.path.absolute().parent.name == FOLDER
        home = self.path.parent / ".." if is_one_of_many else self.path.parent
        return Path(os.path.normpath(home)) / BASELINES / f"{self.name}.json"

    def run(self, out: str | Path | None = None, progress: Progress | None = None) -> Results:
        """Run it into *out*, or go on there; by default a folder of `runs/` for this suite over these sessions."""
        return run(self.transcripts, out or self.folder, self.settings, progress)

    @property
    def folder(self) -> Path:
        """The folder of its run: another one where the sessions or the settings are others."""
        with Spool() as spool:
            manifest = Corpus.read(self.transcripts, self.settings, spool).manifest
        same = msgspec.structs.replace(manifest, plugins={}, compactlab="", asked_by="")
        return RUNS / f"{self.name}-{same.digest()}"


class _Key(NamedTuple):
    """What a key should hold, in words and as a test; what else is tried with each of its values."""

    expected: str
    fits: Callable[[Any], bool]
    each: Callable[[Any], object] | None = None


def _texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_text, value))


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _table(value: object) -> bool:
    return isinstance(value, dict)


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _between(value: object, top: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < top


def _all_between(top: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(_between(one, top) for one in value)


_TOKENS = "a whole number of tokens, {} or more"
_RUN = {
    "transcripts": _Key("a list of files, folders or patterns", _texts),
    "strategies": _Key("a list of strategies", _texts, catalog.strategy),
    "policies": _Key("a list of policies", _texts, lambda one: one == OWN or policy(one)),
    "mode": _Key("cuts, replay or recorded", lambda value: value in {"cuts", "replay", "recorded"}),
    "cuts": _Key("a list of shares between 0 and 1", _all_between(1)),
    "window": _Key(_TOKENS.format(1), _whole(1)),
    "budgets": _Key("a list of per cents between 0 and 100", _all_between(100)),
    "counter": _Key("the name of a counter", _text, counter),
    "seed": _Key("a whole number of 0 or more", _whole(0)),
    "replicates": _Key("a whole number of 1 or more", _whole(1)),
    "probes": _Key("a list of files", _texts),
    "pins": _Key("a list of pins", _texts, lambda pin: check([pin])),
    "settings": _Key("a settings file", _text),
    "agent_type": _Key("a type of agent", _text),
    "jobs": _Key("a whole number of processes, 0 for one a core", _whole(0)),
    "limit": _Key("a whole number of 1 or more", _whole(1)),
    "overhead": _Key(_TOKENS.format(0), _whole(0)),
    "reserve": _Key(_TOKENS.format(0), _whole(0)),
    "priced_as": _Key("the name of a model", _text),
}
_KNOWN = ", ".join(MEASURES)
_GATE = {
    "primary": _Key(f"one of {_KNOWN}", lambda value: _text(value) and value in MEASURES),
    "metrics": _Key(f"a list of {_KNOWN}", lambda value: _texts(value) and {*value} <= MEASURES.keys()),
    "margins": _Key("a table of shares by metric", _table),
    "tolerances": _Key("a table of numbers by metric", _table),
    "compare": _Key("a table of strategies, old to new", _table),
}
_TOP = {"name": _Key("a text", _text), "run": _Key("a table", _table), "gate": _Key("a table", _table)}
_MARGIN = _Key("a share between 0 and 1", lambda value: _between(value, 1))
_TOLERANCE = _Key("a whole number of 0 or more", _whole(0))
_NEW = _Key("a strategy", _text)
KEYS = {"": _TOP, "run": _RUN, "gate": _GATE}
"""Every key of a suite, by its table."""


def load(path: str | Path) -> Suite:
    """Read a suite file; `SpecError` with file, line and key for what cannot be read, is unknown or has a bad value."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise SpecError(f"{file}: cannot be read ({error.strerror})") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(f"{file}: is not TOML ({error})") from error
    return _File(file, Reading(str(file), text)).suite(content)


class _File(NamedTuple):
    """A suite file being checked; `reading` knows in which line a key stands."""

    path: Path
    reading: Reading

    def suite(self, content: dict[str, Any]) -> Suite:
        """Check the whole file and build what it says."""
        self._checked((), content, _TOP)
        given, judged = content.get("run", {}), content.get("gate", {})
        self._checked(("run",), given, _RUN)
        self._checked(("gate",), judged, _GATE)
        if "transcripts" not in given:
            raise SpecError(f"{self.reading.where(('run',))}: [run] has no transcripts; expected a list of paths")
        return Suite(
            self.path,
            str(content.get("name", self.path.stem)),
            tuple(self._beside(one) for one in given["transcripts"]),
            self._settings(given),
            self._rule(judged),
            self._each("compare", judged, None, _NEW),
        )

    def _settings(self, given: dict[str, Any]) -> Settings:
        plain: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in given.items()}
        del plain["transcripts"]
        if "probes" in plain:
            plain["probes"] = tuple(Path(self._beside(file)) for file in plain["probes"])
        file = plain.pop("settings", None)
        try:
            project = load_settings(self._beside(file)) if file else Project()
            return Settings(**plain, project=project)
        except CompactlabError as error:
            raise SpecError(f"{self.reading.where(('run',))}: [run] {error}") from error

    def _rule(self, judged: dict[str, Any]) -> Rule:
        metrics = tuple(dict.fromkeys((judged.get("primary", PRIMARY), *judged.get("metrics", ()))))
        margins = self._each("margins", judged, metrics, _MARGIN)
        things = tuple(metric for metric in metrics if MEASURES[metric].things)
        return Rule(metrics, margins, self._each("tolerances", judged, things, _TOLERANCE)).spelled_out

    def _each(self, table: str, judged: dict[str, Any], known: tuple[str, ...] | None, one: _Key) -> dict[str, Any]:
        """A table of `[gate]` whose keys are metrics that are judged, or any names."""
        keys: dict[str, Any] = judged.get(table, {})
        self._checked(("gate", table), keys, dict.fromkeys(keys if known is None else known, one))
        return keys

    def _checked(self, table: tuple[str, ...], keys: dict[str, Any], known: Mapping[str, _Key]) -> None:
        for key, value in keys.items():
            where = f"{self.reading.where((*table, key))}: " + (f"[{'.'.join(table)}] " if table else "")
            if key not in known:
                raise SpecError(where + catalog.unknown("key", key, known))
            if not known[key].fits(value):
                raise SpecError(f"{where}{key} = {value!r}; expected {known[key].expected}")
            try:
                for one in value if isinstance(value, list) else [value]:
                    (known[key].each or bool)(one)
            except (SpecError, UnknownName) as error:
                raise SpecError(f"{where}{key}: {error}") from error

    def _beside(self, path: str) -> str:
        """A path as it is seen from the suite's own folder."""
        return path if path.startswith("hf:") else os.path.normpath(self.path.parent / path)
