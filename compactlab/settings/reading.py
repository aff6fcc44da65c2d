"""Checks a settings file, key by key; what is wrong is said with the file, the line and the key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab import catalog
from compactlab.errors import SpecError, UnknownName
from compactlab.llm import OPTIONAL
from compactlab.llm.build import KINDS, Spec
from compactlab.llm.prices import own_price
from compactlab.pins import check
from compactlab.policy import policy
from compactlab.pressure import shares
from compactlab.settings.choice import CHOOSING, PARAMETERS, Misfit
from compactlab.settings.lines import Path, lines

if TYPE_CHECKING:
    from compactlab.settings.project import Project

COMPACTION_KEYS = (*CHOOSING, *PARAMETERS, "marks", "window", "pins")
"""What `[compaction]` may hold, for all types of agents; a type's own table too."""
TYPE_KEYS = ("model", "prompts")
"""What a type's own table may hold beside them: for all types both stand in `[llm]`."""
_MODEL_TEXTS = ("kind", "model", "base_url", "store", "prompts")
_MODEL_WHOLE = {"max_output": 1, "window": 1, "concurrency": 1, "retries": 0, "cap_tokens": 0}
_MODEL_NUMBERS = {"temperature": 0.0, "timeout_seconds": 0.001, "cap_money": 0.0}
"""The least that each may be."""
MODEL_KEYS = (*_MODEL_TEXTS, *_MODEL_WHOLE, *_MODEL_NUMBERS, "leave_out", "prices")
ROLE_KEYS = tuple(key for key in MODEL_KEYS if key not in {"prompts", "store", "cap_tokens", "cap_money", "prices"})
"""What the tables of reader and judge may hold: store, caps and prices are those of the whole run."""
MEMORY_KEYS = ("originals", "wordings")
TABLES = ("compaction", "agent_types", "llm", "reader", "judge", "memory")


class Tables(NamedTuple):
    """What a file says, table by table."""

    compaction: dict[str, Any]
    per_type: dict[str, dict[str, Any]]
    llm: dict[str, Any]
    reader: dict[str, Any]
    judge: dict[str, Any]
    agent_types: dict[str, str]
    memory: dict[str, str]


@dataclass(frozen=True)
class Reading:
    """A settings file being checked; knows its text, to say in which line a key stands."""

    path: str
    text: str

    def tables(self, content: dict[str, Any]) -> Tables:
        """Check a whole file; `SpecError` for the first fault."""
        self._known((), content, TABLES)
        compaction = dict(self._table(("compaction",), content.get("compaction", {})))
        self._known(("compaction",), compaction, (*COMPACTION_KEYS, "per_type"))
        per_type = dict(self._table(("compaction", "per_type"), compaction.pop("per_type", {})))
        self._checked(("compaction",), compaction, COMPACTION_KEYS)
        for agent_type, keys in per_type.items():
            self.of_type(("compaction", "per_type", agent_type), keys)
        models = {name: self._model(name, content.get(name, {})) for name in ("llm", "reader", "judge")}
        types, memory = self._agent_types(content.get("agent_types", {})), self._memory(content.get("memory", {}))
        return Tables(compaction, per_type, **models, agent_types=types, memory=memory)

    def of_type(self, table: Path, keys: object, more: tuple[str, ...] = ()) -> None:
        """Check the table of one type of agent, which may hold *more* keys."""
        self._checked(table, self._table(table, keys), (*COMPACTION_KEYS, *TYPE_KEYS, *more))

    def fits(self, project: Project, agent_type: str) -> None:
        """Check that what a type does takes the parameters that the file gives it, and that its prompts can be read."""
        try:
            project.choice(agent_type)
        except Misfit as error:
            table = (*error.table, error.key)
            raise SpecError(f"{self.where(table)}: [{_dotted(error.table)}] {error}") from error
        try:
            _ = project.of(agent_type).prompts
        except SpecError as error:
            own = "prompts" in project.per_type.get(agent_type, {})
            table = ("compaction", "per_type", agent_type) if own else ("llm",)
            raise SpecError(f"{self.where((*table, 'prompts'))}: [{_dotted(table)}] prompts: {error}") from error

    def where(self, key: Path) -> str:
        """File and line of a key, or of the innermost of its tables that the file names."""
        known = (key[:length] for length in range(len(key), 0, -1))
        return f"{self.path}: line {next((self._lines[path] for path in known if path in self._lines), 1)}"

    @cached_property
    def _lines(self) -> dict[Path, int]:
        return lines(self.text)

    def _model(self, table: str, given: object) -> dict[str, Any]:
        llm = self._table((table,), given)
        self._known((table,), llm, MODEL_KEYS if table == "llm" else ROLE_KEYS)
        for key, value in llm.items():
            if key == "prices":
                self._prices(value)
            elif expected := _expected(key, value):
                raise self._fault((table, key), value, f"; expected {expected}")
        kind = llm.get("kind", "extractive" if table == "llm" else "live")
        try:
            Spec(kind)
        except SpecError as error:
            hint = str(error) if ":" in kind else catalog.unknown("kind of model", kind, (*KINDS, "module:Class"))
            raise self._fault((table, "kind"), kind, f": {hint}") from error
        return llm

    def _prices(self, given: object) -> None:
        for model, price in self._table(("llm", "prices"), given).items():
            try:
                own_price(model, price)
            except SpecError as error:
                raise SpecError(f"{self.where(('llm', 'prices', model))}: [llm.prices] {error}") from error

    def _agent_types(self, given: object) -> dict[str, str]:
        types = self._table(("agent_types",), given)
        for pattern, agent_type in types.items():
            if not isinstance(agent_type, str) or not agent_type:
                raise self._fault(("agent_types", pattern), agent_type, "; expected a type of agent")
        return types

    def _memory(self, given: object) -> dict[str, str]:
        memory = self._table(("memory",), given)
        self._known(("memory",), memory, MEMORY_KEYS)
        for key, value in memory.items():
            if key == "originals" and value not in {"git", "local"}:
                raise self._fault(("memory", key), value, "; expected git or local")
            if not isinstance(value, str) or not value:
                raise self._fault(("memory", key), value, "; expected a file")
        return memory

    def _checked(self, table: Path, keys: dict[str, Any], known: tuple[str, ...]) -> None:
        self._known(table, keys, known)
        for key, value in keys.items():
            if expected := _amiss(key, value):
                raise self._fault((*table, key), value, f"; expected {expected}")
            try:
                _CHECKS.get(key, _anything)(value)
            except (SpecError, UnknownName) as error:
                raise self._fault((*table, key), value, f": {error}") from error
        for one, other in (CHOOSING, PARAMETERS[:2]):
            if one in keys and other in keys:
                where = self.where((*table, other))
                raise SpecError(f"{where}: [{_dotted(table)}] has both {one} and {other}; expected one of them")

    def _table(self, path: Path, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise SpecError(f"{self.where(path)}: {path[-1]} is {value!r}; expected a table")
        return value

    def _known(self, table: Path, keys: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in keys:
            if key in known:
                continue
            where = f"{self.where((*table, key))}: " + (f"[{_dotted(table)}] " if table else "")
            if key in TYPE_KEYS and table == ("compaction",):
                raise SpecError(f"{where}{key}: expected in [llm] for all types, or in the table of one type")
            raise SpecError(where + catalog.unknown("key" if table else "table", key, known))

    def _fault(self, key: Path, value: object, what: str) -> SpecError:
        return SpecError(f"{self.where(key)}: [{_dotted(key[:-1])}] {key[-1]} = {value!r}{what}")


def _dotted(table: Path) -> str:
    return ".".join(table)


def _anything(_: object) -> None:
    """Nothing more is to be checked."""


_CHECKS: dict[str, Callable[[Any], object]] = {
    "strategy": catalog.strategy,
    "policy": policy,
    "pins": check,
    "marks": shares,
}
"""What raises an error for a value of the right kind that cannot be."""


def _amiss(key: str, value: object) -> str:
    """What a key of a table of compaction should hold; nothing where it does."""
    if key in {"pins", "marks"}:
        return "" if isinstance(value, list) else "a list"
    if key in PARAMETERS or key == "window":
        least = 1 if key == "window" else 0
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return "" if fits else f"a whole number{' of tokens,' if key == 'window' else ' of'} {least} or more"
    return "" if isinstance(value, str) and value else "a text"


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
