"""What all figures share: words are drawn as they are, nothing is cut off, the same figure gives the same bytes."""

import itertools
import xml.etree.ElementTree as ET
from dataclasses import replace

import figures
import pytest
import runs
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from compactlab.errors import SpecError
from compactlab.plots import savings
from compactlab.plots.canvas import (
    begun,
    dodged,
    filled,
    finished,
    key,
    reach,
    shown,
    title_of,
    titled,
    worded,
    write,
)
from compactlab.plots.palette import Style
from compactlab.stats import Estimate

NASTY = (
    "own(x='$^{')",
    "$a$ and $b$",
    "_hidden",
    "__init__",
    "</svg><script>alert(1)</script>",
    "a & b <!-- c --> ]]>",
    "line\nbreak\ttab\x00null",
    "日本語の名前",
    "half \ud83d pair",
    "\u202egnitirw thgir",
    "emoji 🙂",
    "\\frac{1}{2} \\textbf{x}",
    "x" * 300,
    " ",
)


def named(names):
    summary = runs.short().summary
    return replace(summary, rows=tuple(replace(summary.rows[0], label=name) for name in names))


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_name_of_any_signs_is_drawn_as_words(name, ending, tmp_path):
    path = tmp_path / f"figure.{ending}"
    savings.save(named([name, "plain"]), path)
    assert path.stat().st_size > 1_000
    if ending == "svg":
        tags = {element.tag.rpartition("}")[2] for element in ET.parse(path).iter()}  # noqa: S314  # our own file
        assert "script" not in tags
        assert "path" in tags


def test_a_name_that_begins_with_an_underscore_stands_in_the_legend():
    figure = savings.figure(named(["_hidden", "$a$b$"]))
    assert figures.legend(figure)[:2] == ["_hidden", "$a$b$"]


def test_nothing_is_taken_for_mathematics():
    figure = savings.figure(named(["$a$", "$^{"]))
    assert not any(text.get_parse_math() or text.get_usetex() for text in figure.findobj(Text))


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_text_becomes_one_that_can_be_drawn(text):
    found = shown(text)
    assert len(found) == len(text)
    assert all(sign == "\n" or sign.isprintable() for sign in found)
    assert shown(found) == found


@given(st.text(alphabet="ab_(),=@+ \n", max_size=120), st.integers(1, 40))
def test_a_text_is_broken_into_lines_that_are_no_longer_than_said_and_lose_no_letter(text, letters):
    found = filled(text, letters)
    assert all(len(line) <= letters for line in found.split("\n"))
    assert "".join(found.split()) == "".join(text.split())


@given(st.floats(0, 1), st.one_of(st.none(), st.floats(0, 2)))
def test_an_interval_stays_within_its_bounds(mean, half):
    (below,), (above,) = reach(Estimate(mean, half, 9, 9))
    assert 0 <= below <= (half or 0) + 1e-9
    assert mean - below >= -1e-9
    assert mean + above <= 1 + 1e-9


@given(st.integers(0, 30), st.floats(0.01, 1))
def test_places_beside_each_other_are_even_and_within_their_room(number, room):
    found = dodged(number, room)
    assert len(found) == number
    assert all(-room - 1e-9 <= place <= room + 1e-9 for place in found)
    steps = [b - a for a, b in itertools.pairwise(found)]
    assert steps == pytest.approx([2 * room / max(1, number - 1)] * len(steps))
    assert sum(found) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("SVG", b"<?xml")]
)
def test_a_figure_is_written_as_its_ending_says(tmp_path, ending, start):
    savings.save(runs.short().summary, tmp_path / f"figure.{ending}")
    assert (tmp_path / f"figure.{ending}").read_bytes().startswith(start)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, ending):
    for name in "ab":
        savings.save(runs.short().summary, tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


@pytest.mark.parametrize("name", ["figure", "figure.docx", "figure."])
def test_an_ending_that_is_none_of_a_figure_is_refused(tmp_path, name):
    with pytest.raises(SpecError, match="expected a figure's ending"):
        write(begun(6, 4), tmp_path / name)


@pytest.mark.parametrize("width", [0, -1, 2.9, 41, float("nan")])
def test_a_width_that_is_none_is_refused(width):
    with pytest.raises(SpecError, match="expected inches from 3 to 40"):
        begun(width, 4)


def test_a_figure_with_more_names_than_room_grows():
    for width in (6, 10):
        figure = begun(width, 3)
        titled(figure.add_subplot(), "A title that is much longer than the figure is wide " * 3)
        finished(figure, "signature " * 60, [key(Style("#000000", "o"), f"name {i}") for i in range(40)])
        assert figure.get_figheight() > 3
        assert figure.get_figwidth() == width
        assert figures.faults(figure) == []


def test_all_that_is_written_on_a_figure_can_be_said_in_other_words():
    def words(text):
        return text.replace("secret", "[left out]").replace("_", "-")

    def figure():
        made = begun(5, 4)
        axes = made.add_subplot()
        axes.set_yticks([0], [filled("a secret_of many letters", 12)])
        axes.set_xlabel("secret axis")
        axes.text(0, 0, "a secret in it")
        titled(made, "The secret title of a figure that is not wide")
        return finished(made, "signed in secret", [key(Style("#000000", "o"), "a secret_name that is rather long")])

    with worded(words):
        said = [text.get_text() for text in figure().findobj(Text)]
    assert sum("left" in text for text in said) >= 6
    assert not any("secret" in text or "_" in text for text in said)
    assert title_of(figure()) == "The secret title of a figure that is not wide"
    assert title_of(begun(5, 4)) == ""


def test_words_are_as_they_were_behind_a_figure_that_could_not_be_drawn():
    with pytest.raises(ZeroDivisionError), worded(str.upper):
        raise ZeroDivisionError
    assert shown("as it is") == "as it is"


def test_a_policy_is_broken_behind_a_step_and_not_in_front_of_its_mark():
    assert filled("microcompact@0.8+cull@0.9+summary@0.95", 30).split("\n") == [
        "microcompact@0.8+cull@0.9+",
        "summary@0.95",
    ]
