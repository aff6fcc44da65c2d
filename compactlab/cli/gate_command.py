"""`compactlab gate`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from compactlab.cli.gate_tables import print_gated
from compactlab.cli.output import print_json, print_warnings, watched
from compactlab.errors import RunError, SpecError
from compactlab.gate import Baseline, Gated, Options, Rule, accepted, gate, read, save
from compactlab.gate.annotations import on_github
from compactlab.gate.junit import junit
from compactlab.gate.markdown import markdown
from compactlab.gate.outcome import EXIT_CODES
from compactlab.gate.suite import Suite, load
from compactlab.results import Results
from compactlab.settings import load as load_settings

POLICY = {"fail": EXIT_CODES["fail"], "pass": EXIT_CODES["pass"], None: EXIT_CODES["inconclusive"]}
"""What an inconclusive gate exits with, by `--inconclusive`."""


def main(options: Namespace) -> int:
    """Hold a run, or that of a suite, against a baseline; or make it the baseline, and say what that accepts."""
    suite = load(options.target) if Path(options.target).is_file() else None
    results = _run(options, suite)
    path = _baseline(options, suite)
    how = _how(options, suite)
    if options.update_baseline:
        return _renew(results, path, how, as_json=options.json)
    gated = gate(results, read(path), how, str(path))
    _write(gated, options)
    code = POLICY[options.inconclusive] if gated.verdict == "inconclusive" else gated.exit_code
    if options.json:
        print_json(as_data(gated) | {"exit_code": code})
    else:
        print_gated(gated, code)
    return code


def _baseline(options: Namespace, suite: Suite | None) -> Path:
    if options.baseline:
        return Path(options.baseline)
    if suite is None:
        raise SpecError("a run has no baseline of its own; expected --baseline FILE, or a suite file instead of a run")
    return suite.baseline


def _run(options: Namespace, suite: Suite | None) -> Results:
    """The run that was named, or that of the suite, made now or gone on with."""
    if suite is None:
        return Results(options.target)
    with watched() as progress:
        results = suite.run(options.out, progress)
    print_warnings(results.unread)
    if not options.json:
        sys.stdout.write(f"run: {results.folder}\n")
    if results.pending:
        raise RunError(f"{len(results.pending)} cases wait for a model: {results.pending[0]}; a gate takes a whole run")
    return results


def _how(options: Namespace, suite: Suite | None) -> Options:
    renamed = dict(suite.compare) if suite else {}
    for pair in options.renamed:
        old, sign, new = pair.partition("=>") if "=>" in pair else pair.partition("=")
        if not sign:
            raise SpecError(f"--as {pair!r}: expected OLD=NEW, or OLD=>NEW where a spec holds a =")
        renamed[old.strip()] = new.strip()
    if options.margin is not None and not 0 < options.margin < 1:
        raise SpecError(f"--margin {options.margin}: expected a share between 0 and 1, such as 0.05")
    how = Options(options.margin, renamed, project=load_settings(options.settings))
    return replace(how, settings=suite.settings, declared=suite.rule) if suite else how


def _write(gated: Gated, options: Namespace) -> None:
    """Write the files that were asked for; and where GitHub runs it, what it shows beside the code."""
    if options.junit:
        said = junit(gated, inconclusive="pass" if options.inconclusive == "pass" else "fail")
        Path(options.junit).write_text(said, encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(markdown(gated), encoding="utf-8")
    lines = on_github(gated, os.environ)
    if not options.json:
        sys.stdout.write("".join(f"{line}\n" for line in lines))


def _renew(results: Results, path: Path, how: Options, *, as_json: bool) -> int:
    """Write a run as the baseline; first say what it comes to against the old one, where it can be held to that."""
    old, gated, why = _against_old(results, path, how)
    rule = how.declared or (old.rule if old else Rule())
    if how.margin is not None:
        rule = msgspec.structs.replace(rule, margins=dict.fromkeys(rule.metrics, how.margin))
    new = accepted(results, rule, how)
    save(new, path)
    told = {"baseline": str(path), "cases": len(new.side.found), "rule": new.rule, "not_compared": why}
    if as_json:
        print_json({"accepted": as_data(gated) if gated else None} | told)
        return 0
    if gated:
        print_gated(gated, 0, accepted=True)
    lines = [why] if why else []
    if old and old.rule != new.rule:
        lines.append(f"the rule was: {old.rule.told}; and is now: {new.rule.told}")
    lines.append(f"wrote {path}: {len(new.side.found):,} cases; commit it, and review its difference")
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


def _against_old(results: Results, path: Path, how: Options) -> tuple[Baseline | None, Gated | None, str]:
    """The old baseline, what the run comes to against it, and why it cannot be held against it."""
    if not path.exists():
        return None, None, f"there was no baseline in {path}"
    try:
        old = read(path)
    except RunError as error:
        return None, None, f"the old baseline is let go: {error}"
    try:
        return old, gate(results, old, how, str(path)), ""
    except RunError as error:
        return old, None, f"the old baseline is let go, what became worse is not told: {error}"


def as_data(gated: Gated) -> dict[str, Any]:
    """A gate as plain data, with every fact that moved."""
    return {
        "verdict": gated.verdict,
        "checks": [msgspec.structs.asdict(check) for check in gated.checks],
        "faults": gated.faults,
        "signature": gated.signature,
        "baseline": gated.baseline,
        "notes": gated.notes,
    }
