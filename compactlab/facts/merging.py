"""From what was found to facts: one per value, other names of a thing joined to it, no form in two facts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from compactlab.facts.code import path_of
from compactlab.facts.fact import FAMILIES, Fact
from compactlab.facts.numbers import YEARS

# File names that so many projects have that one of them alone names no path.
COMMON_FILES: frozenset[str] = frozenset(
    """admin.py api.py base.py cli.py client.py config.json config.py config.toml config.yaml config.yml constants.py
    data.csv data.json db.py errors.py exceptions.py forms.py handlers.py helpers.py models.py notes.md notes.txt
    output.txt routes.py schema.py schema.sql server.py settings.json settings.py types.py types.ts urls.py views.py
    """.split()
)
MONEY: frozenset[str] = frozenset("pounds euros dollars francs".split())
MODERN = 1800
SHORTEST_NUMBER = 4  # characters
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
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
    _shorten(entries)
    _join(entries, "hash", _starts)
    _drop_years(entries)
    _join_numbers(entries)
    _join_days(entries)
    _join_names(entries)
    _drop_settings(entries)
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


def _shorten(entries: dict[tuple[str, str], _Entry]) -> None:
    """Let each path go by its endings too: those that are paths by themselves, no other path's, and no common name."""
    paths = [entry for (family, _), entry in entries.items() if family == "path"]
    owners: dict[str, list[_Entry]] = defaultdict(list)
    for entry in paths:
        for ending in dict.fromkeys(ending for form in entry.forms for ending in (form, *_endings(form))):
            owners[ending.rstrip("/")].append(entry)
    for ending, named in owners.items():
        if (
            len(named) == 1
            and ending not in named[0].forms
            and ending not in COMMON_FILES
            and path_of(ending) == ending
        ):
            named[0].forms[ending] = None


def _starts(value: str) -> list[str]:
    return [value[:length] for length in range(7, min(len(value), 13))]


def _join(entries: dict[tuple[str, str], _Entry], family: str, shorter: Callable[[str], list[str]]) -> None:
    values = [value for kind, value in entries if kind == family]
    longer: dict[str, list[str]] = defaultdict(list)
    known = set(values)
    for value in values:
        for short in shorter(value):
            if short in known:
                longer[short].append(value)
    for short in sorted(longer, key=lambda value: (len(value), value)):
        owners = [value for value in longer[short] if value not in longer]
        if len(owners) == 1:
            gone = entries.pop((family, short))
            entry = entries[family, owners[0]]
            entry.first = min(entry.first, gone.first)
            entry.forms |= gone.forms


def _join_numbers(entries: dict[tuple[str, str], _Entry]) -> None:
    """Let a bare number be a form of the only measure or count that has it; it stands by itself if several have."""
    measures: dict[str, list[_Entry]] = defaultdict(list)
    for entry in [entry for entry in entries.values() if entry.fact.family in {"number", "quantity"}]:
        value = entry.fact.value
        number, _, unit = value.partition(" ")
        forms = (*entry.forms, number, f"{number}.00") if unit in MONEY else (*entry.forms, number)
        for form in dict.fromkeys(forms):
            if form != value and ("number", form) in entries:
                measures[form].append(entry)
    for form, owners in measures.items():
        single = entries["number", form]
        # `189.00` is `189 euros`; a bare `189` is anything.
        ways = [way for way in single.forms if "." in way or len(single.fact.value) >= SHORTEST_NUMBER]
        if len(owners) == 1 and ways:
            _take(entries, "number", form, owners[0], ways)
        for owner in owners if len(owners) > 1 else ():
            owner.forms = {way: None for way in owner.forms if way not in single.forms}


def _take(entries: dict[tuple[str, str], _Entry], family: str, value: str, owner: _Entry, forms: Iterable[str]) -> None:
    """Give an entry to *owner*, as other *forms* of it."""
    gone = entries.pop((family, value))
    owner.first = min(owner.first, gone.first)
    owner.forms |= dict.fromkeys(forms)


def _join_days(entries: dict[tuple[str, str], _Entry]) -> None:
    """Let a day without its year be a form of the only day of the session that is it with a year.

    That year is the one that most days have, or one beside it: a day of long ago is not what is meant without a year.
    """
    dated = [entry for (family, value), entry in entries.items() if family == "date" and _ISO_DAY.fullmatch(value)]
    years = Counter(year for entry in dated if (year := int(entry.fact.value[:4])) >= MODERN)
    usual = max(years, key=lambda year: (years[year], year), default=0)
    owners: dict[str, list[_Entry]] = defaultdict(list)
    for entry in dated:
        for form in entry.forms:
            owners[form.removesuffix(f" {entry.fact.value[:4]}")].append(entry)
    for value in [value for family, value in entries if family == "date" and value in owners]:
        owner, *others = {id(entry): entry for entry in owners[value]}.values()
        if not others and owner.fact.value != value and abs(int(owner.fact.value[:4]) - usual) <= 1:
            _take(entries, "date", value, owner, entries["date", value].forms)


def _drop_years(entries: dict[tuple[str, str], _Entry]) -> None:
    """Take away the numbers that are years, in a session that has days of such a time."""
    days = [int(value[:4]) for family, value in entries if family == "date" and _ISO_DAY.fullmatch(value)]
    near = {year + beside for year in set(days) if year < YEARS.start for beside in range(-10, 11)}
    for year in near:
        entries.pop(("number", str(year)), None)


def _join_names(entries: dict[tuple[str, str], _Entry]) -> None:
    """Let the first word of the only longer name that begins with it be a form of that, where that came first."""
    longer: dict[str, list[_Entry]] = defaultdict(list)
    for (family, value), entry in entries.items():
        if family == "name" and " " in value:
            longer[value.partition(" ")[0]].append(entry)
    for short, owners in longer.items():
        single = entries.get(("name", short))
        if single and len(owners) == 1 and owners[0].first <= single.first:
            _take(entries, "name", short, owners[0], single.forms)


def _drop_settings(entries: dict[tuple[str, str], _Entry]) -> None:
    """Leave a value that is an identifier by itself to that family."""
    for family, value in list(entries):
        if family == "setting" and ("identifier", value.partition("=")[2]) in entries:
            del entries[family, value]


def _distinct(ranked: list[_Entry]) -> list[_Entry]:
    """Leave each form to the first entry that has it.

    An entry whose value is taken goes, and so does one that has a form in common with an entry of another family: it
    is the same thing under another name.
    """
    exact: dict[str, str] = {}
    folded: dict[str, str] = {}
    everything: dict[str, str] = {}
    kept: list[_Entry] = []
    for entry in ranked:
        family, known = entry.fact.family, exact if entry.fact.exact else everything
        taken = {
            form: owner
            for form in entry.forms
            if (owner := folded.get(form.casefold()) or known.get(form if entry.fact.exact else form.casefold()))
        }
        if entry.fact.value in taken or any(owner != family for owner in taken.values()):
            continue
        entry.forms = {form: None for form in entry.forms if form not in taken}
        kept.append(entry)
        exact |= dict.fromkeys(entry.forms, family)
        everything |= {form.casefold(): family for form in entry.forms}
        folded |= {} if entry.fact.exact else {form.casefold(): family for form in entry.forms}
    return kept
