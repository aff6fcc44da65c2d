"""Checks a settings file, key by key; what is wrong is said with the file, the line and the key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab import catalog
from compactlab.errors import SpecError, UnknownName
from compactlab.llm import OPTIONAL
from compactlab.llm.build import Spec
from compactlab.llm.prices import own_price
from compactlab.pins import check
from compactlab.pressure import shares

if TYPE_CHECKING:
    from compactlab.settings import Project

PARAMETERS = ("preserve_recent", "min_messages", "keep_recent", "kv_target")
_KEYS = ("strategy", "pins", "marks", *PARAMETERS)
_MODEL_TEXTS = ("kind", "model", "base_url", "store", "prompts")
_MODEL_WHOLE = {"max_output": 1, "window": 1, "concurrency": 1, "retries": 0, "cap_tokens": 0}
_MODEL_NUMBERS = {"temperature": 0.0, "timeout_seconds": 0.001, "cap_money": 0.0}
"""The least that each may be."""
_MODEL_KEYS = (*_MODEL_TEXTS, *_MODEL_WHOLE, *_MODEL_NUMBERS, "leave_out", "prices")
_ROLE_KEYS = tuple(key for key in _MODEL_KEYS if key not in {"prompts", "store", "cap_tokens", "cap_money", "prices"})
"""What the tables of reader and judge may hold: store, caps and prices are those of the whole run."""


class Tables(NamedTuple):
    """What a file says, table by table."""

    compaction: dict[str, Any]
    per_type: dict[str, dict[str, Any]]
    llm: dict[str, Any]
    reader: dict[str, Any]
    judge: dict[str, Any]
    agent_types: dict[str, str]


@dataclass(frozen=True)
class Reading:
    """A settings file being checked; knows its text, to say in which line a key stands."""

    path: str
    text: str

    def tables(self, content: dict[str, Any]) -> Tables:
        """Check a whole file; `SpecError` for the first fault."""
        self._known("", content, ("compaction", "llm", "reader", "judge", "agent_types"))
        compaction = dict(self._table("", "compaction", content.get("compaction", {})))
        per_type = dict(self._table("compaction", "per_type", compaction.pop("per_type", {})))
        self._checked("compaction", compaction)
        for agent_type, keys in per_type.items():
            table = f"compaction.per_type.{agent_type}"
            self._checked(table, self._table("compaction.per_type", agent_type, keys))
        models = {name: self._model(name, content.get(name, {})) for name in ("llm", "reader", "judge")}
        return Tables(compaction, per_type, **models, agent_types=self._agent_types(content.get("agent_types", {})))

    def fits(self, project: Project, agent_type: str) -> None:
        """Check that the strategy of a type takes the parameters that the file gives it."""
        try:
            project.strategy(agent_type)
        except SpecError as error:
            key = str(error).partition(" ")[0]
            own = key in project.per_type.get(agent_type, {})
            table = f"compaction.per_type.{agent_type}" if own else "compaction"
            raise SpecError(f"{self._where(table, key)}: [{table}] {error}") from error

    def _model(self, table: str, given: object) -> dict[str, Any]:
        llm = self._table("", table, given)
        self._known(table, llm, _MODEL_KEYS if table == "llm" else _ROLE_KEYS)
        for key, value in llm.items():
            if key == "prices":
                self._prices(value)
            elif expected := _expected(key, value):
                raise self._fault(table, key, value, expected)
        try:
            Spec(llm.get("kind", "extractive" if table == "llm" else "live"))
        except SpecError as error:
            raise self._fault(table, "kind", llm["kind"], str(error).partition("expected ")[2]) from error
        return llm

    def _prices(self, given: object) -> None:
        for model, price in self._table("llm", "prices", given).items():
            try:
                own_price(model, price)
            except SpecError as error:
                raise SpecError(f"{self._where('llm.prices', model)}: [llm.prices] {error}") from error

    def _agent_types(self, given: object) -> dict[str, str]:
        types = self._table("", "agent_types", given)
        for pattern, agent_type in types.items():
            if not isinstance(agent_type, str) or not agent_type:
                raise self._fault("agent_types", pattern, agent_type, "a type of agent")
        return types

    def _checked(self, table: str, keys: dict[str, Any]) -> None:
        self._known(table, keys, _KEYS)
        for key, value in keys.items():
            if key in PARAMETERS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise self._fault(table, key, value, "a whole number of 0 or more")
            if key in {"pins", "marks"} and not isinstance(value, list):
                raise self._fault(table, key, value, "a list")
            try:
                if key == "strategy":
                    catalog.strategy(value if isinstance(value, str) else repr(value))
                elif key == "pins":
                    check(value)
                elif key == "marks":
                    shares(value)
            except (SpecError, UnknownName, TypeError) as error:
                raise self._fault(table, key, value, str(error)) from error

    def _table(self, parent: str, name: str, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise SpecError(f"{self._where(parent, name)}: {name} is {value!r}; expected a table")
        return value

    def _known(self, table: str, keys: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in keys:
            if key not in known:
                where = f"{self._where(table, key)}: " + (f"[{table}] " if table else "")
                raise SpecError(where + catalog.unknown("key", key, known))

    def _fault(self, table: str, key: str, value: object, expected: str) -> SpecError:
        return SpecError(f"{self._where(table, key)}: [{table}] {key} = {value!r}; expected {expected}")

    def _where(self, table: str, key: str) -> str:
        """File and line of a key: the line that sets it, in the table that is meant where it stands in several."""
        header, best = "", (-1, 1)
        inner = table.rpartition(".")[2]
        for number, line in enumerate(self.text.split("\n"), 1):
            bare = line.partition("#")[0]
            if opened := re.match(r"\s*\[([^\[\]]+)\]", bare):
                header = opened[1].replace('"', "").replace(" ", "")
            sets = re.search(rf"(?<![\w-])[\"']?{re.escape(key)}[\"']?\s*=", bare)
            names = header.rpartition(".")[2] == key or header == f"{table}.{key}".strip(".")
            if sets or (opened and names):
                rank = 2 * (header == table) + bool(inner and re.search(rf"\b{re.escape(inner)}\b", bare))
                best = max(best, (rank, number), key=lambda found: found[0])
        return f"{self.path}: line {best[1]}"


def _expected(key: str, value: Any) -> str:  # noqa: ANN401  # any TOML
    """What a key of a model's table should hold; nothing where it does."""
    if key in _MODEL_TEXTS:
        return "" if isinstance(value, str) and value else "a text"
    if key == "leave_out":
        fits = isinstance(value, list) and set(map(str, value)) <= set(OPTIONAL)
        return "" if fits else f"a list of {', '.join(OPTIONAL)}"
    least = _MODEL_WHOLE.get(key, _MODEL_NUMBERS.get(key, 0))
    kinds, number = (int, "a whole number") if key in _MODEL_WHOLE else ((int, float), "a number")
    fits = isinstance(value, kinds) and not isinstance(value, bool) and least <= value < float("inf")
    return "" if fits else f"{number} of {least:g} or more"
