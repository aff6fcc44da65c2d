"""docs/readers.md: its table is that of the readers there are. Run this file to make it anew."""

from pathlib import Path

import pytest

from compactlab import catalog
from compactlab.cli.list_command import described

PAGE = Path(__file__).parent.parent / "docs" / "readers.md"
START, END = "<!-- table: made by tests/test_docs_readers.py -->\n", "<!-- /table -->"


def table():
    rows = [described("readers", name) for name in catalog.names("readers")]
    lines = [f"| `{row['name']}` | {row['what']} | {row['where']} | {row['written']} |\n" for row in rows]
    return "| reader | what it reads | where such files lie | written |\n|:--|:--|:--|:--|\n" + "".join(lines)


def test_the_page_lists_the_readers_that_there_are():
    assert PAGE.read_text("utf-8").partition(START)[2].partition(END)[0] == table()


@pytest.mark.parametrize("name", catalog.names("readers"))
def test_every_reader_says_what_it_reads_and_where_such_files_lie(name):
    row = described("readers", name)
    assert row["what"]
    assert "\n" not in row["where"]


if __name__ == "__main__":
    before, start, rest = PAGE.read_text("utf-8").partition(START)
    PAGE.write_text(before + start + table() + END + rest.partition(END)[2], "utf-8")
