"""How one value may have become another: a digit changed, digits transposed, rounded, another folder, another number.

Pure functions on two values of one family, for metric M7 (mutated facts): from the likeliest slip to the least likely.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Literal

Slip = Literal["changed", "transposed", "changed twice", "rounded", "moved", "renumbered"]
SLIPS: tuple[Slip, ...] = ("changed", "transposed", "changed twice", "rounded", "moved", "renumbered")
"""From the likeliest to the least likely."""

SCALES = {"hundred": 2, "k": 3, "thousand": 3, "m": 6, "million": 6, "bn": 9, "billion": 9}
"""Words behind a number, and the power of ten that they stand for."""

_LONG = 5
"""Characters from which a value with two changed ones is still like what it was."""


def slip(value: str, other: str, family: str, scale: int = 0) -> Slip | None:
    """Tell how *value* may have become *other*, which is multiplied by ten to the *scale*; None if they are far apart.

    >>> slip("5433", "5434", "number"), slip("5433", "4533", "number"), slip("30717.807", "30718", "number")
    ('changed', 'transposed', 'rounded')
    >>> slip("30717.807", "30.7", "number", 3), slip("12 ms", "190 ms", "number"), slip("a/b/x.py", "a/x.py", "path")
    ('rounded', 'renumbered', 'moved')
    >>> slip("5433", "9120", "number"), slip("5433", "5433", "number")
    (None, None)
    """
    if value == other:
        return None
    if family in {"number", "quantity"}:
        return _other_number(value, other, scale)
    if family == "date" and (" " in value) != (" " in other):
        value, other = value.rpartition(" ")[2], other.rpartition(" ")[2]
    if family in {"path", "url"} and _is_moved(value, other):
        return _changed(value, other) or "moved"
    return _changed(value, other)


def _other_number(value: str, other: str, scale: int) -> Slip | None:
    """How one number may have become another; a unit may be left out on either side, or be the same."""
    (first, unit), (second, other_unit) = _parted(value), _parted(other)
    if unit != other_unit and unit and other_unit:
        return None
    if first == second:
        return None
    changed = _changed(first, second)
    if changed:
        return changed
    if _is_rounded(first, second, scale):
        return "rounded"
    return "renumbered" if unit and other_unit else None


def _changed(value: str, other: str) -> Slip | None:
    """One or two letters or digits changed at equal length, or two neighbours transposed."""
    if len(value) != len(other) or len(value) < 2:
        return None
    places = [i for i, (a, b) in enumerate(zip(value, other, strict=True)) if a != b]
    if len(places) > 2 or not all(value[i].isalnum() and other[i].isalnum() for i in places):
        return None
    if len(places) == 1:
        return "changed"
    first, second = places
    if value[first] == other[second] and value[second] == other[first] and second - first <= 2:
        return "transposed"
    return "changed twice" if len(value) >= _LONG else None


def _parted(value: str) -> tuple[str, str]:
    """A number and its unit."""
    number, _, unit = value.partition(" ")
    return number, unit


def _is_rounded(value: str, other: str, scale: int) -> bool:
    """True if *other* has fewer significant digits and is what *value* rounds to, or is cut to, at that many."""
    try:
        exact, short = Decimal(value), Decimal(other).scaleb(scale)
    except InvalidOperation:
        return False
    digits = len(Decimal(other).normalize().as_tuple().digits)
    if not exact.is_finite() or not short or digits >= len(exact.normalize().as_tuple().digits):
        return False
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return short in {exact.quantize(step, ROUND_HALF_UP), exact // step * step}


def _is_moved(value: str, other: str) -> bool:
    """The same file in another folder, or the same folder and name with another ending."""
    folder, _, base = value.rstrip("/").rpartition("/")
    other_folder, _, other_base = other.rstrip("/").rpartition("/")
    if base == other_base:
        return bool(folder and other_folder)
    stem, dot, _ = base.rpartition(".")
    other_stem, other_dot, _ = other_base.rpartition(".")
    return bool(dot and other_dot and stem) and (folder, stem) == (other_folder, other_stem)
