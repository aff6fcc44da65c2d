"""The transfer matrix: each square shows its value, its number, and whether the goal was missed."""

import json

import corpora
import figures
import pytest
from matplotlib.colors import rgb_to_hsv, to_rgb

from compactlab.plots import transfer
from compactlab.plots.transfer import Measure, of_cells
from compactlab.stats import Estimate
from compactlab.tuning.held_out import Cell, Row
from compactlab.tuning.tried import Tried

VALUES = {
    "primary": {"primary": Estimate(0.8, 0.1, 7, 6), "subagent": Estimate(0.25, None, 4, 4)},
    "subagent": {"primary": None, "subagent": Estimate(1.0, 0.0, 5, 5)},
}


def squares(axes):
    """By place, what is written in a square, its colour, and whether it is framed."""
    words = {tuple(text.get_position()): text.get_text() for text in axes.texts}
    return {
        (round(p.get_x() + 0.47), round(p.get_y() + 0.47)): (
            words[round(p.get_x() + 0.47), round(p.get_y() + 0.47)],
            p.get_facecolor(),
            p.get_linewidth() > 2,
        )
        for p in axes.patches
    }


def test_each_square_has_its_value_its_interval_and_its_number():
    figure = transfer.figure(Measure("saved (share)", VALUES, misses=frozenset({("primary", "subagent")})), "signed")
    (axes,) = figure.axes
    found = squares(axes)
    assert {at: of[0] for at, of in found.items()} == {
        (0, 0): "0.80 ± 0.10\nn = 7",
        (1, 0): "0.25\nn = 4\nmisses the goal",
        (0, 1): "-",
        (1, 1): "1.00 ± 0.00\nn = 5",
    }
    assert {at for at, of in found.items() if of[2]} == {(0, 0), (1, 1)}
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("tried on", "tuned on", "saved (share)")
    assert figures.signature(figure) == "signed"


def test_more_is_darker_and_what_lies_beyond_the_bounds_is_at_their_end():
    row = {str(i): Estimate(i / 10, None, 1, 1) for i in range(-3, 14)}
    (axes,) = transfer.figure(Measure("m", {"a": row}), "s").axes
    shades = [of[1] for _, of in sorted(squares(axes).items())]
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in map(to_rgb, shades)]
    assert light == sorted(light, reverse=True)
    assert len(set(light)) == 11
    assert rgb_to_hsv(to_rgb(shades[0]))[2] > 0.9


@pytest.mark.parametrize("width", [4.6, 6, 10])
@pytest.mark.parametrize("number", [0, 1, 3, 6])
def test_nothing_lies_outside_of_the_figure_or_covers_anything(width, number):
    names = [f"a type of agent, number $_{i}_<" for i in range(number)]
    values = {one: {other: Estimate(0.5, 0.1, 9, 9) for other in names} for one in names}
    measures = (Measure("net savings (share)", values), Measure("retention (share)", values))
    assert figures.faults(transfer.figure(measures, "signed " * 40, width)) == []


def test_the_matrices_of_a_tuning_are_what_its_policies_saved_and_kept_there():
    def row(saved, kept):
        return Row("cull", tuple(Tried("cull", s, s, 9_000, saved, kept=kept, uses=10, fires=1) for s in "abcde"))

    cells = [
        Cell("primary", "primary", row(0.5, 9), holds=True, held_out=True),
        Cell("primary", "subagent", row(0.75, 2), holds=False, held_out=False),
    ]
    saved, kept = of_cells(cells)
    assert {name: e.mean for name, e in saved.values["primary"].items()} == {"primary": 0.5, "subagent": 0.75}
    assert {name: e.mean for name, e in kept.values["primary"].items()} == {"primary": 0.9, "subagent": 0.2}
    assert saved.misses == kept.misses == {("primary", "subagent")}
    assert of_cells([]) == ()


def test_tuning_draws_the_matrix_where_there_is_advice_and_says_so_where_there_is_none(tmp_path, said):
    made, picture = corpora.corpus(tmp_path / "made", sessions=4), tmp_path / "transfer.svg"
    given = ["tune", made, "--window", corpora.WINDOW, "--counter", "chars/4", "--jobs", 1, "--out", tmp_path / "tried"]
    given += ["--json", "--figure", picture, "--policy"]
    code, out, err = said(*given, "cull@0.8")
    assert (code, json.loads(out)["transfer"], picture.exists()) == (0, [], False)
    assert f"{picture} is not drawn" in err
    code, out, err = said(*given, "sliding_window@0.5", "microcompact@0.7")
    assert (code, err, len(json.loads(out)["transfer"])) == (0, "", 4)
    words = picture.read_text(encoding="utf-8")
    assert all(f"<!-- {told} -->" in words for told in (corpora.COURIER, corpora.WARDEN, "n = 4", "misses the goal"))


@pytest.mark.parametrize(
    ("more", "expected"),
    [(["--figure", "matrix.docx"], "expected a figure's ending"), (["--figure", "m.png", "--type", "x"], "no --type")],
)
def test_a_matrix_that_could_not_be_drawn_is_refused_before_anything_is_tried(tmp_path, said, more, expected):
    code, out, err = said("tune", tmp_path / "nothing-here", *more)
    assert (code, out) == (2, "")
    assert expected in err
