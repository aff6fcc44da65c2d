"""From what was found to facts: one per value, other names of a thing joined to it, no form in two facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from compactlab.facts.fact import FAMILIES, Fact

_RANK = {family: rank for rank, family in enumerate(FAMILIES)}
Place = tuple[int, int]


@dataclass
class _Entry:
    first: Place
    fact: Fact
    forms: dict[str, None] = field(default_factory=dict)


def merged(found: Iterable[tuple[Place, Fact]]) -> tuple[Fact, ...]:
    """Make the distinct facts of *found*, in order of first place.

    A file named without its folder, or a digest cut short, is a form of the only longer one that ends or starts so.
    """
    entries: dict[tuple[str, str], _Entry] = {}
    for place, made in found:
        entry = entries.setdefault((made.family, made.value), _Entry(place, made))
        entry.first = min(entry.first, place)
        entry.forms |= dict.fromkeys(made.forms)
    _join(entries, "path", _endings)
    _join(entries, "hash", _starts)
    ranked = sorted(entries.values(), key=lambda entry: (_RANK[entry.fact.family], entry.first, entry.fact.value))
    kept = sorted(_distinct(ranked), key=lambda entry: (entry.first, _RANK[entry.fact.family], entry.fact.value))
    return tuple(_made(entry) for entry in kept)


def _made(entry: _Entry) -> Fact:
    made = entry.fact
    return Fact(made.family, made.value, tuple(entry.forms), made.exact, made.needs_anchor)


def _endings(value: str) -> list[str]:
    """The shorter names of a path: what follows each slash but a leading one."""
    parts = value.lstrip("/").split("/")
    return ["/".join(parts[start:]) for start in range(0 if value.startswith("/") else 1, len(parts))]


def _starts(value: str) -> list[str]:
    return [value[:length] for length in range(7, min(len(value), 13))]


def _join(entries: dict[tuple[str, str], _Entry], family: str, shorter: object) -> None:
    values = [value for kind, value in entries if kind == family]
    longer: dict[str, list[str]] = defaultdict(list)
    known = set(values)
    for value in values:
        for short in shorter(value):  # type: ignore[operator]
            if short in known:
                longer[short].append(value)
    for short in sorted(longer, key=lambda value: (len(value), value)):
        owners = [value for value in longer[short] if value not in longer]
        if len(owners) == 1:
            gone = entries.pop((family, short))
            entry = entries[family, owners[0]]
            entry.first = min(entry.first, gone.first)
            entry.forms |= gone.forms


def _distinct(ranked: list[_Entry]) -> list[_Entry]:
    """Leave each form to the first entry that has it; an entry whose value is taken goes."""
    exact: set[str] = set()
    folded: set[str] = set()
    everything: set[str] = set()
    kept: list[_Entry] = []
    for entry in ranked:
        seen, key = (exact | folded, str) if False else ((exact, str) if entry.fact.exact else (everything, str.casefold))
        taken = {form for form in entry.forms if key(form) in seen or form.casefold() in folded}
        if entry.fact.value in taken:
            continue
        entry.forms = {form: None for form in entry.forms if form not in taken}
        kept.append(entry)
        everything |= {form.casefold() for form in entry.forms}
        exact |= set(entry.forms)
        if not entry.fact.exact:
            folded |= {form.casefold() for form in entry.forms}
    return kept
