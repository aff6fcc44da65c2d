"""Writes what tuning advises into a settings file, and leaves all else in it as it stands: comments, order, spaces.

The table is `[compaction.per_type.TYPE]`. A policy of one strategy is written as `strategy` and its parameters, one of
several as `policy`, either with `marks`: an agent is warned where something would be done. What the advice rests on
stands as a comment behind the first key, without a date: the same sessions give the same file. Keys that said something
else of the same are taken out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from compactlab.errors import SpecError
from compactlab.policy import Step, policy
from compactlab.pressure import Marks
from compactlab.settings import Project, load
from compactlab.settings.choice import CHOOSING, PARAMETERS
from compactlab.stats import Estimate
from compactlab.strategies import Strategy
from compactlab.tuning.tuner import ForType, Tuning

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import AbstractTable, Item

    Make = Callable[[], AbstractTable]

OWN = (*CHOOSING, *PARAMETERS)
"""Keys that an advice writes, or takes out; `marks` besides, unless nothing is to be done."""


def written(tuning: Tuning, path: str | Path) -> tuple[str, ...]:
    """Write the advice for each type that has one into the file *path*, made where there is none; name these types.

    The file is read back as settings before it takes the place of the old one. Raises `SpecError`, and leaves the file
    as it was, where it is not TOML or the whole would not be settings.
    """
    file = Path(path)
    advised = [one for one in tuning.types if one.advice]
    if not advised:
        return ()
    text = _with(file, advised, tuning.options.project.marks)
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        _check(load(beside), advised, tuning.options.project.marks)
        beside.replace(file)
    except SpecError as error:
        raise SpecError(
            f"{file}: is left as it was, since with the advice {error}".replace(str(beside), "it")
        ) from error
    finally:
        beside.unlink(missing_ok=True)
    return tuple(one.agent_type for one in advised)


def _check(project: Project, advised: Sequence[ForType], marks: Marks) -> None:
    """Refuse what does not come to the advised policies when it is read."""
    for one in advised:
        wanted = policy(one.advice or "").at(marks.of(one.agent_type))
        got = project.policy(one.agent_type).at(project.marks.of(one.agent_type))
        if got != wanted:
            raise SpecError(f"what is set for {one.agent_type} reads as {got}; expected {wanted}")


def keys(spec: str, marks: Marks) -> dict[str, Any]:
    """The keys that say a policy in the settings of a type of agent, whose marks are *marks*.

    Output narrows above the highest mark, so that it stays among them.

    >>> keys("sliding_window(preserve_recent=40)@0.7", Marks())
    {'strategy': 'sliding_window', 'preserve_recent': 40, 'marks': [0.7, 0.95]}
    >>> keys("microcompact@0.5+summary@0.8", Marks())
    {'policy': 'microcompact(keep_recent=5)@0.5+summary(preserve_recent=10)@0.8', 'marks': [0.5, 0.8, 0.95]}
    >>> keys("none", Marks())
    {'strategy': 'none'}
    """
    built = policy(spec)
    if not built.steps:
        return {"strategy": "none"}
    [*before, step] = built.steps
    own_marks = sorted({*(mark for mark in built.at(marks) if mark < marks.last), marks.last})
    if before or (step.mark is not None and step.mark > marks.last):
        return {"policy": "+".join(map(_told, built.steps)), "marks": own_marks}
    own = _parameters(step.strategy)
    given = {"strategy": _spec(step.strategy, set(own)), **own}
    return given if step.mark is None else given | {"marks": own_marks}


def _parameters(strategy: Strategy) -> dict[str, Any]:
    """The parameters of a strategy that have keys of their own in a settings file."""
    return {f.name: getattr(strategy, f.name) for f in fields(strategy) if f.name in PARAMETERS}


def _told(step: Step) -> str:
    """A step with those parameters written out, be they the default ones: tables above cannot then set them."""
    return f"{_spec(step.strategy, set(), set(_parameters(step.strategy)))}@{step.mark!r}"


def _spec(strategy: Strategy, without: AbstractSet[str], always: AbstractSet[str] = frozenset()) -> str:
    """The spec of a strategy: what differs from its defaults, or is in *always*, but nothing of *without*."""
    bare = type(strategy)()
    given = {f.name: getattr(strategy, f.name) for f in fields(strategy) if f.name not in without}
    told = [f"{key}={value!r}" for key, value in given.items() if key in always or value != getattr(bare, key)]
    return strategy.name + (f"({', '.join(told)})" if told else "")


def evidence(one: ForType) -> str:
    """What the advice for a type rests on, in a line: sessions, window, and what it came to when held out."""
    row = one.held_out
    on = f"tuned on {len(one.sessions)} sessions of {one.stories} stories in a window of {one.window:,}"
    if row is None:
        return f"{on}; could not be held out"
    model = next((tried.model for tried in row.tried if tried.model), "")
    by = f"; text by {model}" if model else ""
    where = f"held out on {len(row.tried)} of them" if one.unchosen else "held out"
    told = f"saves {_percent(row.saved)}, keeps {_percent(row.kept)} of needed facts and {_percent(row.rules)} of rules"
    return f"{on}; {where} it {told}{by}"


def _percent(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    half = "" if estimate.half is None else f" ± {100 * estimate.half:.0f}"
    return f"{100 * estimate.mean:.0f}{half} %"


def _with(file: Path, advised: Sequence[ForType], marks: Marks) -> str:
    """The text of the file with the advice for each type. New tables are inline where the old ones take no others."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{file}: is not TOML ({error})") from error
    for make in (tomlkit.table, tomlkit.inline_table):
        try:
            document = tomlkit.parse(text)
            _put(document, advised, marks, make)
            told = document.as_string().rstrip("\n") + "\n"
            if tomllib.loads(told) == document.unwrap():
                return told
        except SpecError as error:
            raise SpecError(f"{file}: {error}") from error
        except (TOMLKitError, ValueError):
            continue
    raise SpecError(f"{file}: its table compaction takes no others; expected [compaction.per_type.TYPE]")


def _put(document: TOMLDocument, advised: Sequence[ForType], marks: Marks, make: Make) -> None:
    """Put the advice for each type into its table, and what it rests on behind it.

    In an inline table no comment can stand: it stands behind the whole of the outermost one.
    """
    import tomlkit

    told: dict[int, tuple[Item, list[str]]] = {}
    for one in advised:
        places = _tables(document, one.agent_type, make)
        outer = next((place for place in places if _is_inline(place)), None)
        is_new = not places[-1]
        first = _set(places[-1], keys(one.advice or "", marks.of(one.agent_type)))
        if outer is None:
            first.comment(evidence(one))
            if is_new:
                places[-1].add(tomlkit.nl())
        else:
            told.setdefault(id(outer), (outer, []))[1].append(
                evidence(one) if outer is places[-1] else f"{one.agent_type}: {evidence(one)}"
            )
    for item, lines in told.values():
        item.comment("; ".join(lines))


def _is_inline(place: Any) -> bool:  # noqa: ANN401  # any table of tomlkit
    import tomlkit

    return isinstance(place, tomlkit.items.InlineTable)


def _set(table: AbstractTable, given: Mapping[str, Any]) -> Item:
    """Put keys into the table of a type, and take those out that said something else; give the first."""
    import tomlkit

    for key in [key for key in table if key in OWN and key not in given]:
        table.remove(key)
    for key, value in given.items():
        table[key] = tomlkit.item(value)
    first: Any = table[next(iter(given))]
    return cast("Item", first)


def _tables(document: TOMLDocument, agent_type: str, make: Make) -> list[AbstractTable]:
    """The tables down to that of a type; where one is missing it is made, those above the last without a header."""
    import tomlkit

    place: Any = document
    found: list[AbstractTable] = []
    path = ("compaction", "per_type", agent_type)
    for depth, name in enumerate(path):
        if name not in place:
            place[name] = make() if depth == len(path) - 1 else tomlkit.table(is_super_table=True)
        place = place[name]
        if not hasattr(place, "keys"):
            raise SpecError(f"{'.'.join(path[: depth + 1])} is {place!r}; expected a table")
        found.append(place)
    return found
