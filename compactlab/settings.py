"""`compactlab.toml`: which strategy, with which parameters, for which type of agent; pins, marks, and the model.

    [compaction]
    pins = ["role:system"]

    [compaction.per_type]
    primary = { strategy = "summary", preserve_recent = 10 }
    subagent = { strategy = "sliding_window", min_messages = 2, marks = [0.7, 0.8, 0.9] }

    [agent_types]
    "logs/verifier/*" = "subconscious"

    [llm]
    kind = "live"
    model = "gpt-4o-mini"

`[agent_types]` gives transcripts whose path matches a pattern their type; the first pattern that matches wins.

A key under a type wins over the same key under `[compaction]`. A strategy may be a whole spec; the keys
`preserve_recent` (or `min_messages`), `keep_recent` and `kv_target` set its parameter of that name, and are an error
where it has none. Unknown keys and bad values are errors that name the key and its line.

`[llm]` says what writes the text of strategies that ask a model. `kind` is a spec of `compactlab.llm.build`; `model`,
`base_url`, `window`, `concurrency`, `timeout_seconds` and `retries` are of a model that is called; `store` is the store
or folder of the kinds `record`, `replay` and `batch`; `temperature` and `max_output` hold for every request;
`leave_out = ["temperature"]` is for models that do not take one; `cap_tokens` and `cap_money` are the most that one run
may spend. A key for the model's server is never in a file.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from compactlab import catalog
from compactlab.errors import SpecError, UnknownName
from compactlab.llm import Model
from compactlab.llm.build import Spec, build, described
from compactlab.llm.prompts import DEFAULT as PROMPTS
from compactlab.llm.prompts import Prompts
from compactlab.llm.prompts import load as load_prompts
from compactlab.pins import check
from compactlab.pressure import Marks, shares

FILE = "compactlab.toml"
_PARAMETERS = ("preserve_recent", "min_messages", "keep_recent", "kv_target")
_KEYS = ("strategy", "pins", "marks", *_PARAMETERS)
_MODEL_TEXTS = ("kind", "model", "base_url", "store", "prompts")
_MODEL_WHOLE = {"max_output": 1, "window": 1, "concurrency": 1, "retries": 0, "cap_tokens": 0}
_MODEL_NUMBERS = {"temperature": 0.0, "timeout_seconds": 0.001, "cap_money": 0.0}
"""The least that each may be."""
_LEFT_OUT = ("temperature", "seed")
_MODEL_KEYS = (*_MODEL_TEXTS, *_MODEL_WHOLE, *_MODEL_NUMBERS, "leave_out")
WITH_EFFECT = ("temperature", "max_output", "window", "leave_out")
"""What changes a model's replies; where and how it is called does not."""

# As the seed documents say; any other type of agent gets the plain slide, which needs no model.
DEFAULTS: dict[str, dict[str, Any]] = {
    "primary": {"strategy": "summary", "preserve_recent": 10},
    "subconscious": {"strategy": "sliding_reflect", "preserve_recent": 4},
    "subagent": {"strategy": "sliding_window", "preserve_recent": 2},
}
FALLBACK = {"strategy": "sliding_window"}


@dataclass(frozen=True)
class Project:
    """What a settings file says; `path` is empty where there is none and the defaults hold."""

    compaction: dict[str, Any] = field(default_factory=dict)
    per_type: dict[str, dict[str, Any]] = field(default_factory=dict)
    llm: dict[str, Any] = field(default_factory=dict)
    path: str = ""
    agent_types: dict[str, str] = field(default_factory=dict)
    llm_spec: str = ""

    def strategy(self, agent_type: str) -> str:
        """The spec of the strategy for a type of agent, with its parameters.

        >>> Project().strategy("subagent"), Project({"strategy": "cull"}).strategy("subagent")
        ('sliding_window(preserve_recent=2)', 'cull')
        """
        own = self.per_type.get(agent_type, {})
        default = {} if "strategy" in {**self.compaction, **own} else DEFAULTS.get(agent_type, FALLBACK)
        layers = [default, self.compaction, own]
        spec: str = next(layer["strategy"] for layer in reversed(layers) if "strategy" in layer)
        built = catalog.strategy(spec)
        known = {f.name for f in fields(built)}
        asked_for = own if "strategy" in own else {}
        for layer in layers:
            for key in (key for key in _PARAMETERS if key in layer):
                name = built.parameter_aliases.get(key, key)
                if layer is not own and (name not in known or (asked_for and _sets(spec, (key, name)))):
                    continue
                built = _with(built, name, key, layer[key])
        return repr(built)

    def pins(self, agent_type: str) -> tuple[str, ...]:
        """The pins for a type of agent: those of all types, then its own."""
        return (*self.compaction.get("pins", ()), *self.per_type.get(agent_type, {}).get("pins", ()))

    @property
    def marks(self) -> Marks:
        """The marks of pressure, and those that types of agents have of their own."""
        plain = Marks(tuple(self.compaction["marks"])) if "marks" in self.compaction else Marks()
        own = {kind: tuple(keys["marks"]) for kind, keys in self.per_type.items() if "marks" in keys}
        return replace(plain, by_agent_type=own)

    @property
    def spec(self) -> str:
        """The spec of the model: that of the command line, or the kind in `[llm]`, or the stand-in written by code."""
        return self.llm_spec or str(self.llm.get("kind", "extractive"))

    def model(self, ledger: Path | None = None) -> Model:
        """The model that `[llm]` names; see `compactlab.llm.build.build` for *ledger* and the errors."""
        return build(self.spec, self.llm, ledger)

    def asking(self, spec: str = "", model: str = "", base_url: str = "") -> Project:
        """The same project with another model, as a command line names it; a model or address alone is a live one."""
        given = {key: value for key, value in (("model", model), ("base_url", base_url)) if value}
        if spec:
            Spec(spec)
        elif given and self.spec == "extractive":
            spec = "live"
        return replace(self, llm=self.llm | given, llm_spec=spec or self.llm_spec)

    @property
    def folder(self) -> Path:
        """The store or folder that the model's spec names; the working folder where it names none."""
        return Path(Spec(self.spec).rest or self.llm.get("store", ""))

    @cached_property
    def prompts(self) -> Prompts:
        """The words that a model is asked in: those of the file that `[llm] prompts` names, beside the settings."""
        if "prompts" not in self.llm:
            return PROMPTS
        return load_prompts(Path(self.path).parent / self.llm["prompts"])

    def described_model(self) -> str:
        """The model's spec with what the settings add, without anything secret."""
        return described(self.spec, self.llm)

    def identity(self, model: Model) -> str:
        """The name of *model* with the settings that change its replies: what two runs must share to be one.

        >>> from compactlab.llm.scripted import Scripted
        >>> Project(llm={"temperature": 0, "retries": 3}).identity(Scripted())
        'scripted(temperature=0)'
        """
        given = {key: self.llm[key] for key in WITH_EFFECT if key in self.llm}
        given |= {"prompts": self.prompts.version} if self.prompts != PROMPTS else {}
        changed = ", ".join(f"{key}={value}" for key, value in given.items())
        return f"{model.name}({changed})" if changed else model.name


def load(path: str | Path | None = None) -> Project:
    """Read a settings file: *path*, or `compactlab.toml` in the working folder, or the defaults if there is none.

    Raises `SpecError` with file, line and key for what cannot be read, is unknown, or has a bad value.
    """
    file = Path(path or FILE)
    if path is None and not file.is_file():
        return Project()
    try:
        text = file.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise SpecError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{file}: cannot be read (not UTF-8 text)") from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: is not TOML ({error})") from error
    return _Reading(str(file), text).project(content)


def _sets(spec: str, names: tuple[str, ...]) -> bool:
    """Whether a spec gives one of its parameters itself."""
    return any(re.search(rf"\b{name}\s*=", spec) for name in names)


def _with(built: Any, name: str, key: str, value: object) -> Any:  # noqa: ANN401  # any strategy
    try:
        return replace(built, **{name: value})
    except (TypeError, ValueError) as error:
        raise SpecError(f"{key} = {value!r}: strategy {built.name} does not take it ({error})") from error


@dataclass(frozen=True)
class _Reading:
    """A settings file being checked; knows its text, to say in which line a key stands."""

    path: str
    text: str

    def project(self, content: dict[str, Any]) -> Project:
        self._known("", content, ("compaction", "llm", "agent_types"))
        compaction = dict(self._table("", "compaction", content.get("compaction", {})))
        per_type = dict(self._table("compaction", "per_type", compaction.pop("per_type", {})))
        self._checked("compaction", compaction)
        for agent_type, keys in per_type.items():
            table = f"compaction.per_type.{agent_type}"
            self._checked(table, self._table("compaction.per_type", agent_type, keys))
        llm = self._model(content.get("llm", {}))
        project = Project(compaction, per_type, llm, self.path, self._agent_types(content.get("agent_types", {})))
        for agent_type in (*DEFAULTS, *per_type):
            self._fits(project, agent_type)
        _ = project.prompts  # a fault in that file is told at once
        return project

    def _model(self, given: object) -> dict[str, Any]:
        llm = self._table("", "llm", given)
        self._known("llm", llm, _MODEL_KEYS)
        for key, value in llm.items():
            if key in _MODEL_TEXTS:
                if not isinstance(value, str) or not value:
                    raise self._fault("llm", key, value, "a text")
                continue
            if key == "leave_out":
                if not isinstance(value, list) or not set(map(str, value)) <= set(_LEFT_OUT):
                    raise self._fault("llm", key, value, f"a list of {', '.join(_LEFT_OUT)}")
                continue
            kinds, least = (int, _MODEL_WHOLE[key]) if key in _MODEL_WHOLE else ((int, float), _MODEL_NUMBERS[key])
            if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value < float("inf"):
                number = "a whole number" if key in _MODEL_WHOLE else "a number"
                raise self._fault("llm", key, value, f"{number} of {least:g} or more")
        try:
            Spec(llm.get("kind", "extractive"))
        except SpecError as error:
            raise self._fault("llm", "kind", llm["kind"], str(error).partition("expected ")[2]) from error
        return llm

    def _agent_types(self, given: object) -> dict[str, str]:
        types = self._table("", "agent_types", given)
        for pattern, agent_type in types.items():
            if not isinstance(agent_type, str) or not agent_type:
                raise self._fault("agent_types", pattern, agent_type, "a type of agent")
        return types

    def _fits(self, project: Project, agent_type: str) -> None:
        """Check that the strategy of a type takes the parameters that the file gives it."""
        try:
            project.strategy(agent_type)
        except SpecError as error:
            key = str(error).partition(" ")[0]
            own = key in project.per_type.get(agent_type, {})
            table = f"compaction.per_type.{agent_type}" if own else "compaction"
            raise SpecError(f"{self._where(table, key)}: [{table}] {error}") from error

    def _checked(self, table: str, keys: dict[str, Any]) -> None:
        self._known(table, keys, _KEYS)
        for key, value in keys.items():
            if key in _PARAMETERS and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
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
