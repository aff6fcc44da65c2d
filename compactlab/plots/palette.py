"""How each strategy looks, in every figure: a colour, a marker and a line style of its own; controls are grey.

The strategies of the package have fixed styles. Light and dark colours take turns in their usual order, so that
neighbours differ in a grey print; no two colours come near each other for eyes without the red or the green cones
either, and marker and line style tell them apart without any colour. Every colour stands out from white by 3 to 1.

A strategy with parameters has the colour of its plain form and a marker picked by its spec. A name that is not known,
of a plug-in or a policy, is given a style by that name: the same today and tomorrow, whatever else is drawn, but where
two names of one figure come out alike the later one in the alphabet makes room.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

GREY = "#9a9a9a"
"""Of controls: what needs no strategy."""
INK = "#222222"
"""Of words and axes, and of what was not compacted."""
MARKERS = "osD^vPXph*<>8dH"
"""Markers that can be filled or hollow; those of controls are thin strokes."""
DASHES: tuple[tuple[float, ...], ...] = ((), (6.0, 2.0), (6.0, 2.0, 1.5, 2.0), (2.0, 1.5))
"""Line styles as lengths of ink and gap, in widths of the line; the first is solid."""


class Style(NamedTuple):
    """How the points and lines of one name look; `dash` is one of `DASHES`."""

    colour: str
    marker: str
    dash: tuple[float, ...] = ()

    @property
    def line(self) -> dict[str, Any]:
        """Arguments of a line without markers, as matplotlib takes them."""
        return {"color": self.colour, "linestyle": (0, self.dash) if self.dash else "-"}

    def point(self, *, full: bool = True) -> dict[str, Any]:
        """Arguments of a marker, filled or hollow."""
        face = self.colour if full else "white"
        return {"color": self.colour, "marker": self.marker, "markerfacecolor": face, "markeredgewidth": 1.2}

    def both(self, *, full: bool = True) -> dict[str, Any]:
        """Arguments of a line with markers."""
        return {**self.point(full=full), **self.line}


STRATEGIES = {
    "none": Style(INK, "o"),
    "microcompact": Style("#e07706", "s"),
    "cull": Style("#3a3f78", "D", DASHES[1]),
    "sliding_window": Style("#5b8fd9", "^"),
    "sliding_reflect": Style("#7d160c", "v", DASHES[2]),
    "summary": Style("#1f9a48", "P"),
    "key_value": Style("#7b2fb0", "X", DASHES[1]),
    "ladder": Style("#fd4d87", "p"),
    "defer": Style("#2a634f", "h", DASHES[3]),
    "recorded": Style("#1c3ee6", "*", DASHES[2]),
}
"""The strategies of the package in their usual order, and what a real harness left."""
CONTROLS = {
    "random": Style(GREY, "x", DASHES[3]),
    "random_lines": Style(GREY, "2", DASHES[2]),
    "regex_lines": Style(GREY, "1", (3.0, 1.0, 1.0, 1.0)),
    "oracle": Style(GREY, "_", DASHES[1]),
    "bag": Style(GREY, "+", DASHES[2]),
    "null": Style(GREY, "3", DASHES[3]),
}
OTHERS = ("#295469", "#925203", "#25a1c0")
"""Colours of names that are not known."""

_SPEC = re.compile(r"(\w+)(?:@[\d.]+)?(\(.*\))?(?:@[\d.]+)?", re.DOTALL)


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Give each name its style, no two of one figure alike in colour and marker while there are any left.

    >>> found = styles(["summary", "sliding_window(preserve_recent=20)", "own:Slide", "oracle"])
    >>> found["summary"].colour, found["sliding_window(preserve_recent=20)"].colour, found["oracle"].colour
    ('#1f9a48', '#5b8fd9', '#9a9a9a')
    >>> found["own:Slide"] == styles(["own:Slide"])["own:Slide"]
    True
    """
    wanted = list(dict.fromkeys(names))
    found = {name: STRATEGIES.get(name) or CONTROLS[name] for name in wanted if name in STRATEGIES | CONTROLS}
    for name in sorted(set(wanted) - found.keys()):
        found[name] = _free(name, {(style.colour, style.marker) for style in found.values()})
    return {name: found[name] for name in wanted}


def base(spec: str) -> str:
    """Give the name of the one strategy that a spec is of, with or without parameters and a mark; empty if of none.

    >>> base("cull(keep=(1, 2))@0.8"), base("microcompact@0.8+cull@0.9"), base("cull(keep=1)@0.8+cull(keep=2)@0.9")
    ('cull', '', '')
    """
    found = _SPEC.fullmatch(spec)
    if not found or (found[2] and not _is_one(found[2])):
        return ""
    return found[1]


def _is_one(brackets: str) -> bool:
    """True if the first bracket is closed by the last, and by none before."""
    depth = 0
    for at, sign in enumerate(brackets):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return at == len(brackets) - 1
    return False


def _free(name: str, taken: Collection[tuple[str, str]]) -> Style:
    """The style of a name that has no fixed one: the first from its own place on that is not taken."""
    plain = STRATEGIES.get(base(name))
    choices = list(_variants(plain) if plain else product(OTHERS, MARKERS))
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).digest()
    start, dash = int.from_bytes(digest[:4]) % len(choices), DASHES[digest[4] % len(DASHES)]
    colour, marker = next((c for c in choices[start:] + choices[:start] if c not in taken), choices[start])
    return Style(colour, marker, dash)


def _variants(plain: Style) -> Iterator[tuple[str, str]]:
    return ((plain.colour, marker) for marker in MARKERS if marker != plain.marker)
