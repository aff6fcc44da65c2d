"""The palette: styles stay what they are, and stay apart in grey, and for eyes without red or green cones."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlab import catalog
from compactlab.harness import DEFAULT_STRATEGIES
from compactlab.plots.palette import CONTROLS, DASHES, GREY, MARKERS, OTHERS, STRATEGIES, base, styles
from compactlab.summary.pool import CONTROLS as OWN_SIZE
from compactlab.summary.pool import OF_A_SIZE

XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009
EYES = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour, eyes="normal"):
    """A colour in CIE L*a*b*, as those eyes see it."""
    light = np.clip(EYES[eyes] @ linear(colour), 0, 1)
    parts = XYZ @ light / (XYZ @ np.ones(3))
    f = np.where(parts > 216 / 24389, np.cbrt(parts), (24389 / 27 * parts + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one, other, eyes="normal"):
    return float(np.linalg.norm(lab(one, eyes) - lab(other, eyes)))


def test_the_colour_space_is_that_of_the_standard():
    assert lab("#ffffff") == pytest.approx([100, 0, 0], abs=0.02)
    assert lab("#ff0000") == pytest.approx([53.24, 80.09, 67.20], abs=0.05)
    assert apart("#ff0000", "#008800") > 100
    assert apart("#d00000", "#707000", "deuteranopia") < 60


def test_every_strategy_of_the_package_and_every_control_has_a_style_of_its_own():
    assert set(catalog.names("strategies")) <= set(STRATEGIES)
    assert list(STRATEGIES)[: len(DEFAULT_STRATEGIES)] == list(DEFAULT_STRATEGIES)
    assert {*OWN_SIZE, *OF_A_SIZE} == set(CONTROLS)
    every = [*STRATEGIES.values(), *CONTROLS.values()]
    assert len({style.marker for style in every}) == len(every)
    assert {style.colour for style in CONTROLS.values()} == {GREY}
    assert len({style.colour for style in STRATEGIES.values()} | {GREY, *OTHERS}) == len(STRATEGIES) + 1 + len(OTHERS)


@pytest.mark.parametrize("eyes", EYES)
def test_no_two_colours_come_near_each_other(eyes):
    colours = [style.colour for style in STRATEGIES.values()]
    pairs = {(a, b): apart(a, b, eyes) for a, b in itertools.combinations(colours, 2)}
    assert min(pairs.values()) > (30 if eyes == "normal" else 18)
    pairs = {(a, b): apart(a, b, eyes) for a, b in itertools.combinations([*colours, GREY, *OTHERS], 2)}
    assert min(pairs.values()) > (27 if eyes == "normal" else 14)


def test_neighbours_differ_in_a_grey_print():
    lightness = [lab(STRATEGIES[name].colour)[0] for name in DEFAULT_STRATEGIES]
    assert min(abs(a - b) for a, b in itertools.pairwise(lightness)) > 14


def test_every_colour_stands_out_from_white_by_three_to_one():
    for colour in (*(style.colour for style in STRATEGIES.values()), *OTHERS):
        assert 1.05 / (XYZ[1] @ linear(colour) + 0.05) >= 2.99


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("cull", "cull"),
        ("cull(keep=(1, 2))", "cull"),
        ("cull@0.9", "cull"),
        ("cull(keep=1)@0.9", "cull"),
        ("microcompact@0.8+summary@0.9", ""),
        ("cull(a=1)@0.8+cull(a=2)@0.9", ""),
        ("mine:Slide", ""),
        ("", ""),
        ("(", ""),
    ],
)
def test_a_spec_is_of_one_strategy_or_of_none(spec, name):
    assert base(spec) == name


def test_parameters_keep_the_colour_and_change_the_marker():
    found = styles(["ladder", "ladder(cull, sliding_window)", "ladder(cull, summary)", "ladder@0.6"])
    assert len({style.colour for style in found.values()}) == 1
    assert len({style.marker for style in found.values()}) == 4


NAMES = st.lists(st.one_of(st.text(max_size=12), st.sampled_from([*STRATEGIES, *CONTROLS])), max_size=25, unique=True)


@given(NAMES)
def test_styles_are_the_same_in_any_order_and_no_two_are_alike(names):
    found = styles(names)
    assert list(found) == names
    assert found == styles(names[::-1]) == styles([*names, *names])
    assert len({style[:2] for style in found.values()}) == len(names)
    for name, style in found.items():
        assert style == (STRATEGIES | CONTROLS).get(name, style)
        assert style.dash in DASHES or name in CONTROLS
        assert style.marker in MARKERS or name in CONTROLS


@given(st.text(min_size=1, max_size=20), NAMES)
def test_a_name_alone_has_the_style_that_it_has_beside_others_unless_that_is_taken(name, others):
    alone = styles([name])[name]
    beside = styles([name, *others])
    if alone[:2] not in {style[:2] for other, style in beside.items() if other != name}:
        assert beside[name] == alone
