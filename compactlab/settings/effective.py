"""What holds once defaults, settings file and command line are laid over each other, and where each value is from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

from compactlab.llm.build import without_credentials
from compactlab.llm.prices import own_price, prices
from compactlab.llm.prompts import DEFAULT as PROMPTS
from compactlab.settings.choice import DEFAULTS, PARAMETERS, Choice
from compactlab.settings.lines import Path
from compactlab.settings.models import Role
from compactlab.settings.project import Project
from compactlab.settings.reading import Reading

SEEDS, PACKAGE, COMMAND = "default of the seeds", "default", "command line"
NEAR = 0.8
"""How like one of the seeds' types (`difflib`) another name is to be told of: it may be a slip, or meant."""


class Value(NamedTuple):
    """A value that holds, and where it comes from: file and line, a default, the command line."""

    value: Any
    origin: str


@dataclass(frozen=True)
class Effective:
    """A project as a command has it: *given* are values of the command line, `window`, `pins`, `llm`, `model`,
    `base_url`, `reader`, `judge`, those that were given; the models among them are in the project already.

    >>> Effective(Project()).of_type("subagent")["preserve_recent"]
    Value(value=2, origin='default of the seeds')
    >>> Effective(Project(), {"window": 64_000}).of_type("subagent")["window"]
    Value(value=64000, origin='command line')
    """

    project: Project
    given: Mapping[str, Any] = field(default_factory=dict)

    def of_type(self, agent_type: str) -> dict[str, Value]:
        """What holds for one type of agent, by key."""
        choice = self.project.choice(agent_type)
        named = SEEDS if agent_type in DEFAULTS else PACKAGE
        found = {
            choice.key: Value(choice.spec, self._where((*choice.by.table, choice.key)) if choice.by.table else named)
        }
        found |= self._parameters(choice, named)
        marks = self.project.marks.of(agent_type).values
        found["marks"] = Value(marks, self._of_type(agent_type, "marks") or SEEDS)
        found["window"] = Value(self.project.window(agent_type), self._of_type(agent_type, "window") or PACKAGE)
        if "window" in self.given:
            found["window"] = Value(self.given["window"], COMMAND)
        found["pins"] = self._pins(agent_type)
        return found | self._words(agent_type)

    def model(self, role: Role | None = None) -> dict[str, Value]:
        """What is said of the model of strategies, or of the reader or judge, by the keys of `[llm]`; prices apart."""
        asked = self.project.role(role) if role else self.project
        if asked is None:
            return {}
        own = {} if role is None else self.project.reader if role == "reader" else self.project.judge
        found = {"kind": Value(asked.spec, self._of_model("kind", role, own))}
        for key, value in asked.llm.items():
            if key not in {"kind", "prices", *(["prompts"] if role else [])}:
                shown = without_credentials(value) if key == "base_url" else value
                found[key] = Value(shown, self._of_model(key, role, own))
        return found

    @property
    def prices(self) -> dict[str, Value]:
        """The prices of one's own, in money for a million tokens, and how many the package has."""
        own: dict[str, Any] = self.project.llm.get("prices", {})
        found = {}
        for model, given in own.items():
            price = own_price(model, given)
            rates = {name: getattr(price, name) for name in ("input", "output", "cached", "stored")}
            found[model] = Value(
                {name: rate for name, rate in rates.items() if rate is not None}, self._where(("llm", "prices", model))
            )
        return found | {"others": Value(f"{len(prices().keys() - own.keys())} models", PACKAGE)}

    @property
    def agent_types(self) -> dict[str, Value]:
        """The type that transcripts get by their paths: the first pattern that matches."""
        return {
            pattern: Value(kind, self._where(("agent_types", pattern)))
            for pattern, kind in self.project.agent_types.items()
        }

    @property
    def memory(self) -> dict[str, Value]:
        """What holds for `compactlab memory`: where originals rest, whose words the agent hears."""
        defaults = {"originals": "git", "wordings": "of the package"}
        own = self.project.memory
        return {
            key: Value(own[key], self._where(("memory", key))) if key in own else Value(value, PACKAGE)
            for key, value in defaults.items()
        }

    @property
    def notes(self) -> Iterator[str]:
        """What is no fault and may still not be meant."""
        project = self.project
        for kind in project.per_type:
            near = difflib.get_close_matches(kind, DEFAULTS, n=1, cutoff=NEAR)
            if near and kind not in {*DEFAULTS, *project.agent_types.values()}:
                where = self._where(("compaction", "per_type", kind))
                yield f"{where}: no transcript is taken as a {kind!r} by itself; {near[0]!r} may be meant"
        taken = {name for kind in (*project.types, "") for name in self._keys_taken(kind)}
        for key in (key for key in PARAMETERS if key in project.compaction and key not in taken):
            yield f"{self._where(('compaction', key))}: {key} changes nothing; no type has a strategy that takes it"

    def _keys_taken(self, agent_type: str) -> set[str]:
        set_by = self.project.choice(agent_type).parameters.values()
        return {parameter.key for parameter in set_by if parameter.table == ("compaction",)}

    def _parameters(self, choice: Choice, named: str) -> dict[str, Value]:
        """The parameters that settings know, of all strategies of the policy; several values where they differ."""
        found: dict[str, Value] = {}
        for key in PARAMETERS:
            values = [
                (getattr(step.strategy, key), _default(step.strategy, key))
                for step in choice.steps
                if hasattr(step.strategy, key)
            ]
            if not values:
                continue
            held = tuple(dict.fromkeys(value for value, _ in values))
            value = held[0] if len(held) == 1 else held
            if (by := choice.parameters.get(key)) is not None:
                found[key] = Value(value, self._where((*by.table, by.key)) if by.table else named)
            elif all(value == default for value, default in values):
                found[key] = Value(value, "default of the strategy")
            else:
                found[key] = Value(value, f"the {choice.key}")
        return found

    def _pins(self, agent_type: str) -> Value:
        own = (("compaction",), ("compaction", "per_type", agent_type))
        tables = (self.project.compaction, self.project.per_type.get(agent_type, {}))
        origins = [self._where((*path, "pins")) for path, keys in zip(own, tables, strict=True) if keys.get("pins")]
        more = tuple(self.given.get("pins", ()))
        return Value(
            (*self.project.pins(agent_type), *more), "; ".join([*origins, *([COMMAND] if more else [])]) or PACKAGE
        )

    def _words(self, agent_type: str) -> dict[str, Value]:
        """Who writes the text of strategies that ask a model, and in which words it is asked."""
        asked, own = self.project.of(agent_type), self.project.per_type.get(agent_type, {})
        if not asked.choice(agent_type).policy.uses_model:
            return {}
        key = "model" if "model" in asked.llm and asked.spec.partition(":")[0] != "extractive" else "kind"
        origin = self._of_type(agent_type, "model") if "model" in own else self._of_model(key, None, {})
        name = (
            asked.llm["model"]
            if key == "model"
            else "extractive: code, no model"
            if asked.spec == "extractive"
            else asked.spec
        )
        file, version = asked.llm.get("prompts"), asked.prompts.version
        words = "of the package" if asked.prompts == PROMPTS else file
        by = (
            self._of_type(agent_type, "prompts")
            if "prompts" in own
            else self._where(("llm", "prompts"))
            if file
            else PACKAGE
        )
        return {"model": Value(name, origin), "prompts": Value(f"{words}, version {version}", by)}

    def _of_type(self, agent_type: str, key: str) -> str:
        """Where a key of compaction is set, for the type or for all; empty where it is not."""
        if key in self.project.per_type.get(agent_type, {}):
            return self._where(("compaction", "per_type", agent_type, key))
        return self._where(("compaction", key)) if key in self.project.compaction else ""

    def _of_model(self, key: str, role: Role | None, own: Mapping[str, Any]) -> str:
        """Where a key of a model comes from."""
        if role and role in self.given and key in {"kind", "model"}:
            return COMMAND
        if role and (key in own or (key == "kind" and own)):
            return self._where((role, key))
        if key in self.given or (key == "kind" and self.project.llm_spec):
            return COMMAND
        return self._where(("llm", key)) if key in self.project.llm else PACKAGE

    def _where(self, key: Path) -> str:
        return self._reading.where(key)

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self.project.path, self.project.text)


def _default(strategy: Any, name: str) -> object:  # noqa: ANN401  # any strategy
    return next(f.default for f in fields(strategy) if f.name == name)
