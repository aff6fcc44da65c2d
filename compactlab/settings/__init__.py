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
may spend. `[llm.prices]` holds prices that win over those of `compactlab.llm.prices`, in money for a million tokens:
`"my-model" = { input = 0.4, output = 1.6, cached = 0.1 }`. A key for the model's server is never in a file.

`[reader]` and `[judge]` name, with the same keys, the models that answer hand-made probes and grade the answers; what
they do not say is as in `[llm]`. The store of a run, or its batch folder, is theirs too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.llm import Model, Purpose
from compactlab.llm.build import STORED, WRITING, Spec, build, described
from compactlab.llm.prompts import DEFAULT as PROMPTS
from compactlab.llm.prompts import Prompts
from compactlab.llm.prompts import load as load_prompts
from compactlab.pressure import Marks
from compactlab.settings.reading import PARAMETERS, Reading

Role = Literal["reader", "judge"]
FILE = "compactlab.toml"
SHORT_ANSWER = 160
"""Tokens that the small local model may write as a reader or judge, which ends in loops when it may write more."""
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
    reader: dict[str, Any] = field(default_factory=dict)
    judge: dict[str, Any] = field(default_factory=dict)

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
            for key in (key for key in PARAMETERS if key in layer):
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

    def model(self, ledger: Path | None = None, purposes: Collection[Purpose] = WRITING) -> Model:
        """The model that `[llm]` names; see `compactlab.llm.build.build` for the parameters and the errors."""
        return build(self.spec, self.llm, ledger, purposes)

    def role(self, name: Role) -> Project | None:
        """The project whose model is that of the reader or the judge; None where none is named.

        Where replies come from a store or a batch folder, those of this model do too; a batch holds one model, so that
        another one has a folder of its own inside.

        >>> project = Project({}, {}, {"model": "big"}, llm_spec="batch:box").examining("small", "big")
        >>> [(role.spec, role.llm["model"]) for name in ("reader", "judge") if (role := project.role(name))]
        [('batch:box/reader', 'small'), ('batch:box', 'big')]
        """
        own = self.reader if name == "reader" else self.judge
        if not own:
            return None
        kind = Spec(own.get("kind", "live" if "model" in own else self.spec))
        named = {"model": kind.rest} if kind.kind == "live" and kind.rest else {}
        short = {"max_output": SHORT_ANSWER} if kind.kind == "local" else {}
        llm = self.llm | short | own | named
        base = Spec(self.spec)
        if kind.kind in STORED and "model" not in own:
            llm.pop("model", None)
        if base.kind not in STORED or kind.kind in STORED:
            return replace(self, llm=llm, llm_spec=str(kind))
        is_another = base.kind == "batch" and llm.get("model") != self.llm.get("model")
        place = self.folder / name if is_another else self.folder
        behind = {"kind": str(kind)} if kind.kind not in STORED else {}
        if base.kind == "replay" and "model" not in own and kind.kind != "live":
            llm.pop("model", None)
        return replace(self, llm=llm | behind, llm_spec=f"{base.kind}:{place}")

    def examining(self, reader: str = "", judge: str = "") -> Project:
        """The same project with a reader and a judge, as a command line names them: a model's name, or a spec."""
        own = (_named(reader) if reader else self.reader, _named(judge) if judge else self.judge)
        if own[1] and not own[0]:
            raise SpecError("a judge is named and no reader; expected --reader MODEL, or a table [reader]")
        return replace(self, reader=own[0], judge=own[1])

    def asking(self, spec: str = "", model: str = "", base_url: str = "") -> Project:
        """The same project with another model, as a command line names it; a model or address alone is a live one.

        An address beside a reader and no model is the reader's: strategies then ask nobody.
        """
        given = {key: value for key, value in (("model", model), ("base_url", base_url)) if value}
        if spec:
            Spec(spec)
        elif given and self.spec == "extractive" and ("model" in given | self.llm or not self.reader):
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


def _named(text: str) -> dict[str, Any]:
    """A model as a command line names it: by a spec, or by its name alone."""
    try:
        Spec(text)
    except SpecError:
        return {"model": text}
    return {"kind": text}


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
    reading = Reading(str(file), text)
    project = Project(path=str(file), **reading.tables(content)._asdict())
    for agent_type in (*DEFAULTS, *project.per_type):
        reading.fits(project, agent_type)
    _ = project.prompts  # a fault in that file is told at once
    return project


def _sets(spec: str, names: tuple[str, ...]) -> bool:
    """Whether a spec gives one of its parameters itself."""
    return any(re.search(rf"\b{name}\s*=", spec) for name in names)


def _with(built: Any, name: str, key: str, value: object) -> Any:  # noqa: ANN401  # any strategy
    try:
        return replace(built, **{name: value})
    except (TypeError, ValueError) as error:
        raise SpecError(f"{key} = {value!r}: strategy {built.name} does not take it ({error})") from error
