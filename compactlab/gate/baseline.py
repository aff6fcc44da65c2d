"""A baseline: a small JSON file that a run is held against, with its rule, its origin, and one line a case.

It is sorted and diffs well. The facts themselves are not in it: their positions are, with a digest of them. Shares are
written as value/n. Of what varies there is one entry for each replicate, in the same line.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from compactlab.errors import RunError
from compactlab.gate.measures import MEASURES, PRIMARY, Share
from compactlab.gate.rule import MARGIN
from compactlab.gate.sides import FACTS, Case, Found, Run, Side
from compactlab.records import Manifest

FORMAT = "compactlab-baseline 1"
MAKE = "compactlab gate RUN --baseline FILE --update-baseline makes one"
COUNTED = ("invalid", "inverted", "overflow")
COMPARED = ("scorer", "corpus", "counter", "counter_version", "mode", "cuts", "budgets", "families", "reader", "judge")
"""Fields of the manifest that must be the same on both sides."""
TOLD = ("compactlab", "seed", "replicates", "model", "settings")
"""Fields that may differ, and are told of where they do."""


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is compared and what is let pass: metrics of `MEASURES`, the first the primary one.

    `margins` are shares, by metric; `tolerances` numbers of things that a strategy without chance may lose in all.
    """

    metrics: tuple[str, ...] = (PRIMARY,)
    margins: dict[str, float] = {}
    tolerances: dict[str, int] = {}

    def margin(self, metric: str) -> float:
        """The margin of a metric, .05 unless another one is stated."""
        return self.margins.get(metric, MARGIN)

    def tolerance(self, metric: str) -> int:
        """How many things of a metric may be lost in all, 0 unless another number is stated."""
        return self.tolerances.get(metric, 0)

    @property
    def told(self) -> str:
        """The rule in words.

        >>> Rule(("irrecoverable", "saved"), {"saved": 0.02}).told
        'irrecoverable (margin 0.05, 0 facts), saved (margin 0.02)'
        """
        parts = ((m, MEASURES[m], self.margin(m), self.tolerance(m)) for m in self.metrics)
        return ", ".join(
            f"{metric} (margin {margin:g}{f', {measure.counted(tolerance)}' if measure.things else ''})"
            for metric, measure, margin, tolerance in parts
        )

    @property
    def spelled_out(self) -> Rule:
        """The same rule with every margin and tolerance written down, those of its metrics alone."""
        margins = {metric: self.margin(metric) for metric in self.metrics}
        things = [metric for metric in self.metrics if MEASURES[metric].things]
        return Rule(self.metrics, margins, {metric: self.tolerance(metric) for metric in things})


class Baseline(NamedTuple):
    """A baseline: its rule, what it was made of (fields of a manifest), where it is from, and its cases."""

    rule: Rule
    of: dict[str, Any]
    origin: dict[str, str]
    side: Side

    @property
    def told(self) -> str:
        """Where it is from, in one line."""
        return ", ".join(f"{name} {value}" for name, value in sorted(self.origin.items()) if value)


def of_run(run: Run, rule: Rule, folder: Path) -> Baseline:
    """Make the baseline of a run that lies in *folder*."""
    origin = {
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "run": folder.name,
        "revision": revision(),
    }
    return Baseline(rule.spelled_out, described(run.pool.manifest), {k: v for k, v in origin.items() if v}, run.side)


def described(manifest: Manifest) -> dict[str, Any]:
    """The fields of a manifest that a baseline keeps."""
    plain = msgspec.json.decode(msgspec.json.encode(manifest))
    return {name: plain[name] for name in (*COMPARED, *TOLD)}


def revision() -> str:
    """The commit of the working folder, with a `+` where tracked files differ; empty outside of a repository."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        return commit + ("+" if commit and _git("status", "--porcelain", "--untracked-files=no") else "")
    except OSError:  # no git on this machine
        return ""


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout.strip() if done.returncode == 0 else ""


def encoded(baseline: Baseline) -> str:
    """Write a baseline: sorted, one line a case, the same again for the same."""
    head = {
        "format": FORMAT,
        "of": baseline.of,
        "origin": baseline.origin,
        "rule": msgspec.to_builtins(baseline.rule),
    }
    lines = [f'"{name}": {_json(value)}' for name, value in sorted(head.items())]
    by_place: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for (session, cut), facts in baseline.side.facts.items():
        by_place[session][cut][FACTS] = _json(facts)
    for case, found in baseline.side.found.items():
        entries = [_entry(one) for one in found]
        by_place[case.session][case.cut][case.row] = _json(entries[0] if len(entries) == 1 else entries)
    cases = _nested(by_place, lambda cuts: _nested(cuts, lambda rows: _nested(rows, str, 3), 2), 1)
    return "{\n" + ",\n".join([f'"cases": {cases}', *lines]) + "\n}\n"


def _nested(table: dict[str, Any], inner: Callable[[Any], str], depth: int) -> str:
    pad = " " * depth
    rows = (f"{pad}{_json(name)}: {inner(table[name])}" for name in sorted(table))
    return "{\n" + ",\n".join(rows) + f"\n{pad[1:]}}}"


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _entry(found: Found) -> dict[str, Any]:
    """What one pass found, without what is as it mostly is."""
    plain: dict[str, Any] = {name: f"{value:.12g}/{n:.12g}" for name, (value, n) in found.shares.items()}
    plain |= {f"{name} facts": spans(getattr(found, name)) for name in ("bound", "loose") if getattr(found, name)}
    plain |= {name: getattr(found, name) for name in COUNTED if getattr(found, name)}
    return plain | ({"outcome": found.outcome} if found.outcome != "applied" else {})


def spans(positions: Iterable[int]) -> str:
    """Rising positions as spans.

    >>> spans([0, 1, 2, 5, 7, 8])
    '0-2,5,7-8'
    """
    found: list[list[int]] = []
    for position in positions:
        if found and found[-1][1] == position - 1:
            found[-1][1] = position
        else:
            found.append([position, position])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in found)


def _positions(text: str) -> Iterator[int]:
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def read(path: Path) -> Baseline:
    """Read a baseline file; `RunError` says what it is instead, or which format another version wrote."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        written_as = plain["format"]
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror}); {MAKE}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise RunError(f"{path}: is no baseline ({type(error).__name__}: {error}); {MAKE}") from error
    if written_as != FORMAT:
        raise RunError(f"{path}: is of the format {written_as!r}, expected {FORMAT!r}; {MAKE}")
    try:
        return _read_parts(plain)
    except (ValueError, LookupError, TypeError, AttributeError) as error:  # any JSON
        raise RunError(f"{path}: cannot be read ({type(error).__name__}: {error}); {MAKE}") from error


def _read_parts(plain: dict[str, Any]) -> Baseline:
    rule = msgspec.convert(plain["rule"], Rule)
    of = {name: plain["of"][name] for name in (*COMPARED, *TOLD)}
    if not rule.metrics or not {*rule.metrics} <= MEASURES.keys():
        raise ValueError(f"metrics {list(rule.metrics)}; known are {', '.join(MEASURES)}")
    return Baseline(rule, of, {str(k): str(v) for k, v in plain["origin"].items()}, _side(plain["cases"]))


def _side(cases: dict[str, dict[str, dict[str, Any]]]) -> Side:
    found: dict[Case, tuple[Found, ...]] = {}
    facts: dict[tuple[str, str], str] = {}
    for session, cuts in cases.items():
        for cut, rows in cuts.items():
            for row, entry in rows.items():
                if row == FACTS:
                    facts[session, cut] = str(entry)
                else:
                    found[Case(session, cut, row)] = tuple(map(_read, entry if isinstance(entry, list) else [entry]))
    return Side(found, facts)


def _read(entry: dict[str, Any]) -> Found:
    shares = {name: _share(entry[name]) for name in MEASURES if name in entry}
    bound, loose = (tuple(_positions(entry.get(f"{name} facts", ""))) for name in ("bound", "loose"))
    invalid, inverted, overflow = (int(entry.get(name, 0)) for name in COUNTED)
    return Found(shares, bound, loose, str(entry.get("outcome", "applied")), invalid, inverted, overflow)


def _share(text: str) -> Share:
    value, _, n = text.partition("/")
    return float(value), float(n)
