"""Everybody's strategies on one corpus: `python benchmarks/head_to_head.py [FOLDER]` writes the table of docs/peers.md.

All of ours, all peers, and the real packages whose environments are installed, over the recorded sessions at four cuts,
each at the size that it comes to by itself. The run is kept in FOLDER and goes on there; without one it is thrown away.
Review the difference before it is committed.
"""

import re
import sys
import tempfile
from pathlib import Path

from compactlab import run
from compactlab.adapters import adapters
from compactlab.environments import is_installed
from compactlab.harness import Settings
from compactlab.report import Report
from compactlab.report.section import sample
from compactlab.signature import signature

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "peers.md"
COLUMNS = ("strategy", "tokens kept", "bound", "over random", "irrecoverable", "rules kept", "probes kept", "failed")
TABLE = re.compile(
    r"(?<=<!-- head to head: made by benchmarks/head_to_head.py -->\n).*(?=<!-- /head to head -->)", re.DOTALL
)


def packages():
    """The adapters whose environments are installed."""
    return tuple(name for name, cls in adapters().items() if is_installed(cls.environment))


def interval(estimate, form=".2f"):
    if estimate is None:
        return "-"
    half = "" if estimate.half is None else f" ± {estimate.half:.2f}"
    return f"{estimate.mean:{form}}{half}"


def cells(row):
    """A line of the table."""
    kept = f"{1 - row.saved.mean:.0%} ± {100 * row.saved.half:.0f}" if row.saved else "-"
    shares = (row.bound, row.irrecoverable, row.rules, row.answers["kept"])
    bound, *rest = map(interval, shares)
    name = f"*{row.name}*" if row.is_control else f"`{row.label}`"
    return (name, kept, bound, interval(row.over_random, "+.2f"), *rest, str(row.errors))


def table(report):
    """The table as Markdown, with what it rests on."""
    summary = report.summary
    lines = ["| " + " | ".join(COLUMNS) + " |", "|:--" + "|--:" * (len(COLUMNS) - 1) + "|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in summary.rows]
    over = sample({"all": [row.bound for row in summary.rows]})
    return "\n".join([*lines, "", over, "", f"`{signature(summary)}`", ""])


def main(folder):
    """Run, or go on, and write the table."""
    settings = Settings(("all",), peers=("all", *packages()))
    done = run(
        ROOT / "fixtures" / "transcripts", folder, settings, lambda at, of, name: print(at, of, name, flush=True)
    )
    made = table(Report(done))
    PAGE.write_text(TABLE.sub(lambda _: made, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch) / "run")
