"""Record the expected results again: `python tests/rerecord.py`. Review the difference before it is committed."""

import re
import tempfile
from pathlib import Path

from compactlab import run
from compactlab.report import Report
from compactlab.report.section import sample
from compactlab.signature import signature

ROOT = Path(__file__).parent.parent
EXPECTED = ROOT / "fixtures" / "expected" / "report.md"
COLUMNS = (
    "strategy",
    "tokens kept",
    "bound",
    "over random",
    "oracle",
    "loose",
    "irrecoverable",
    "rules kept",
    "probes kept",
    "errors",
)
TABLE = re.compile(r"(?<=<!-- table: made by tests/rerecord.py -->\n).*(?=<!-- /table -->)", re.DOTALL)


def with_interval(estimate):
    return "-" if estimate is None else f"{estimate.mean:.2f} ± {estimate.half:.2f}"


def readme_table(report):
    """The README's table: the columns that need no explanation, what beats the bars, and the signature."""
    summary = report.summary
    lines = ["| " + " | ".join(COLUMNS) + " |", "|:--" + "|--:" * (len(COLUMNS) - 1) + "|"]
    for row in summary.rows:
        luck, best = row.over_random, row.same_size.get("oracle")
        cells = [
            f"*{row.name}*" if row.is_control else f"`{row.name}`",
            f"{1 - row.saved.mean:.0%} ± {100 * row.saved.half:.0f}",
            with_interval(row.bound),
            "-" if luck is None else f"{luck.mean:+.2f} ± {luck.half:.2f}",
            *map(with_interval, (best, row.loose, row.irrecoverable, row.rules, row.answers["kept"])),
            str(row.errors),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    over = sample({"all": [row.bound for row in summary.rows]})
    return "\n".join([*lines, "", over, *report.sentences, "", f"`{signature(summary)}`", ""])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report = Report(run(ROOT / "fixtures" / "transcripts", Path(folder) / "run"))
        EXPECTED.write_text(report.markdown(), encoding="utf-8")
        table = readme_table(report)
    readme = ROOT / "README.md"
    readme.write_text(TABLE.sub(lambda _: table, readme.read_text(encoding="utf-8")), encoding="utf-8")
