"""Which models a project asks: that of strategies, the reader, the judge, each with what the settings say of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from compactlab.errors import SpecError
from compactlab.llm import Model, Purpose
from compactlab.llm.build import STORED, WRITING, Spec, build, described
from compactlab.llm.prompts import DEFAULT as PROMPTS
from compactlab.llm.prompts import Prompts
from compactlab.llm.prompts import load as load_prompts

Role = Literal["reader", "judge"]
SHORT_ANSWER = 160
"""Tokens that the small local model may write as a reader or judge, which ends in loops when it may write more."""
WITH_EFFECT = ("temperature", "max_output", "window", "leave_out")
"""What changes a model's replies; where and how it is called does not."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """What the tables `[llm]`, `[reader]` and `[judge]` say; `path` is the file, and empty where there is none."""

    llm: dict[str, Any] = field(default_factory=dict)
    llm_spec: str = ""
    reader: dict[str, Any] = field(default_factory=dict)
    judge: dict[str, Any] = field(default_factory=dict)
    path: str = ""

    @property
    def spec(self) -> str:
        """The spec of the model: that of the command line, or the kind in `[llm]`, or the stand-in written by code."""
        return self.llm_spec or str(self.llm.get("kind", "extractive"))

    def model(self, ledger: Path | None = None, purposes: Collection[Purpose] = WRITING) -> Model:
        """The model that `[llm]` names; see `compactlab.llm.build.build` for the parameters and the errors."""
        return build(self.spec, self.llm, ledger, purposes)

    def role(self, name: Role) -> Self | None:
        """The project whose model is that of the reader or the judge; None where none is named.

        >>> project = Models(llm={"model": "big"}, llm_spec="batch:box").examining("small", "big")
        >>> [(role.spec, role.llm["model"]) for name in ("reader", "judge") if (role := project.role(name))]
        [('batch:box/reader', 'small'), ('batch:box', 'big')]
        """
        own = self.reader if name == "reader" else self.judge
        if not own:
            return None
        kind = Spec(own.get("kind", "live" if "model" in own else self.spec))
        short = {"max_output": SHORT_ANSWER} if kind.kind == "local" else {}
        return self.with_model(name, short | own)

    def with_model(self, name: str, own: dict[str, Any]) -> Self:
        """The project that asks another model, which *own* says by the keys of `[llm]`; what it does not say stays.

        Where replies come from a store or a batch folder, those of that model do too; a batch holds one model, so that
        another one has a folder of its own inside, called *name*.
        """
        kind = Spec(own.get("kind", "live" if "model" in own else self.spec))
        named = {"model": kind.rest} if kind.kind == "live" and kind.rest else {}
        llm = self.llm | own | named
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

    def examining(self, reader: str = "", judge: str = "") -> Self:
        """The same project with a reader and a judge, as a command line names them: a model's name, or a spec."""
        own = (named(reader) if reader else self.reader, named(judge) if judge else self.judge)
        if own[1] and not own[0]:
            raise SpecError("a judge is named and no reader; expected --reader MODEL, or a table [reader]")
        return replace(self, reader=own[0], judge=own[1])

    def asking(self, spec: str = "", model: str = "", base_url: str = "") -> Self:
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
        """The words that a model is asked in: those of the file that `prompts` names, beside the settings."""
        if "prompts" not in self.llm:
            return PROMPTS
        return load_prompts(Path(self.path).parent / self.llm["prompts"])

    def described_model(self) -> str:
        """The model's spec with what the settings add, without anything secret."""
        return described(self.spec, self.llm)

    def identity(self, model: Model) -> str:
        """The name of *model* with the settings that change its replies: what two runs must share to be one.

        >>> from compactlab.llm.scripted import Scripted
        >>> Models(llm={"temperature": 0, "retries": 3}).identity(Scripted())
        'scripted(temperature=0)'
        """
        given = {key: self.llm[key] for key in WITH_EFFECT if key in self.llm}
        given |= {"prompts": self.prompts.version} if self.prompts != PROMPTS else {}
        changed = ", ".join(f"{key}={value}" for key, value in given.items())
        return f"{model.name}({changed})" if changed else model.name


def named(text: str) -> dict[str, Any]:
    """A model as one word says it: by a spec, or by its name alone.

    >>> named("gpt-5-mini"), named("local")
    ({'model': 'gpt-5-mini'}, {'kind': 'local'})
    """
    try:
        Spec(text)
    except SpecError:
        return {"model": text}
    return {"kind": text}
