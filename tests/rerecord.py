"""Record the expected results again: `python tests/rerecord.py`. Review the difference before it is committed."""

import re
import tempfile
from pathlib import Path

from compactlab import run
from compactlab.report import Report
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


def readme_table(report):
    """The README's table: the columns that need no explanation, what beats the bars, and the signature."""
    summary = report.summary
    lines = ["| " + " | ".join(COLUMNS) + " |", "|:--" + "|--:" * (len(COLUMNS) - 1) + "|"]
    for row in summary.rows:
        kept = (row.probes["kept"] + row.probes["both"]) / row.asked
        luck, best = row.over_random, row.same_size.get("oracle")
        cells = [
            f"*{row.name}*" if row.is_control else f"`{row.name}`",
            f"{row.after / row.before:.0%}",
            f"{row.bound.mean:.2f} ± {row.bound.half:.2f}",
            "-" if luck is None else f"{luck.mean:+.2f} ± {luck.half:.2f}",
            "-" if best is None else f"{best.mean:.2f}",
            f"{row.loose.mean:.2f}",
            f"{row.irrecoverable.mean:.2f} ± {row.irrecoverable.half:.2f}",
            f"{row.rules.mean:.2f} ± {row.rules.half:.2f}",
            f"{kept:.0%}",
            str(row.errors),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *report.sentences, "", f"`{signature(summary)}`", ""])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report = Report(run(ROOT / "fixtures" / "transcripts", Path(folder) / "run"))
        EXPECTED.write_text(report.markdown(), encoding="utf-8")
        table = readme_table(report)
    readme = ROOT / "README.md"
    readme.write_text(TABLE.sub(lambda _: table, readme.read_text(encoding="utf-8")), encoding="utf-8")
