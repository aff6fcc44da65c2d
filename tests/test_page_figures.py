"""The figures of a page: all that the run has, in two widths, told in words too; where it is shared, without names."""

import base64
import re

import pages
import pytest
import runs
from matplotlib.text import Text
from pages import parsed

from compactlab.plots import kept
from compactlab.plots.canvas import title_of, worded
from compactlab.plots.histories import of_run
from compactlab.report import Report
from compactlab.report.figures import FIGURES
from compactlab.report.page.figures import SAID
from compactlab.report.page.shared import Shared

SESSION = re.compile("|".join(runs.SHORT))


def pictures(path):
    """By address, the width of the picture and its bytes; and the words that stand for it."""
    found = [(tag, attrs) for tag, attrs in parsed(path).elements if tag in {"source", "img"}]
    data = [attrs.get("srcset") or attrs["src"] for _, attrs in found]
    return [base64.b64decode(one.partition(",")[2]) for one in data], [a["alt"] for tag, a in found if tag == "img"]


def test_something_is_said_of_every_figure_that_any_run_has():
    assert list(SAID) == list(dict.fromkeys(name for known in FIGURES.values() for name in known))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (pages.short_page, ["savings", "families", "positions", "kept"]),
        (pages.replay_page, ["survival", "survival_families", "money", "timeline"]),
    ],
)
def test_a_page_has_each_figure_of_its_run_in_two_widths(path, names):
    drawn, words = pictures(path())
    sizes = [float(re.search(rb'width="([\d.]+)pt"', picture)[1]) for picture in drawn]
    assert sizes == [302.4, 720.0] * len(names)
    assert all(SAID[name].shows in said and SAID[name].numbers in said for name, said in zip(names, words, strict=True))


def test_what_stands_for_a_figure_says_how_much_there_is():
    report = Report(runs.short().results)
    _, words = pictures(pages.short_page())
    for name, said in zip(("savings", "families", "positions", "kept"), words, strict=True):
        assert said.startswith(title_of(report.figure(name)))
        assert re.search(r"\d", said)


def test_the_figures_of_a_shared_page_name_no_session():
    results = runs.short().results
    shared = Shared(results, ())
    history = of_run(results)
    assert SESSION.search(title_of(kept.figure(history, "signed at /home/someone/run")))
    with worded(shared.line):
        figure = kept.figure(history._replace(name=f"{history.name} of ./here/it.jsonl"), "signed at /home/someone/run")
    said = " ".join(" ".join(text.get_text().split()) for text in figure.findobj(Text))
    assert not SESSION.search(said)
    assert not re.search("someone|here/it", said)
    assert said.count("[path]") == 2
    _, words = pictures(pages.shared_page())
    assert words
    assert not any(SESSION.search(one) for one in words)
    assert any(shared.name(name)[:-7] in words[-1] for name in runs.SHORT)
