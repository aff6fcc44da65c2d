"""The models of a run: the one that strategies ask, the reader, the judge; those that are the same are built once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from compactlab.answering import Examiner
from compactlab.llm import Model, Purpose
from compactlab.llm.build import Spec
from compactlab.settings import Project

if TYPE_CHECKING:
    from compactlab.harness import Settings

AT_ONCE = 4
"""Calls of a reader that are made at once, where a server answers and the settings name no `concurrency`."""


@dataclass(frozen=True)
class Asked:
    """What a run asks, with the names under which it stands in the manifest; `model` None where no strategy asks.

    `typed` are the models of types of agents that have one of their own, or words of their own to ask it in.
    """

    project: Project
    model: Model | None = None
    examiner: Examiner | None = None
    replicates: int = 1
    typed: Mapping[str, Model] = field(default_factory=dict)

    def of(self, agent_type: str) -> Asked:
        """What is asked for sessions of a type."""
        return replace(self, model=self.typed.get(agent_type, self.model), typed={})

    @cached_property
    def all(self) -> tuple[Model, ...]:
        """Each model once."""
        examiner = self.examiner
        models = [self.model, *self.typed.values(), *([examiner.reader, examiner.judge] if examiner else [])]
        return tuple({id(model): model for model in models if model is not None}.values())

    @property
    def names(self) -> dict[str, str]:
        """Fields of the manifest: each model by its name and the settings that change its replies."""
        named = [self.project.identity(self.model)] if self.model is not None else []
        named += [f"of {kind} {self.project.of(kind).identity(model)}" for kind, model in self.typed.items()]
        given = {"model": ", ".join(named)}
        if self.examiner is not None:
            reader, judge = self.project.role("reader"), self.project.role("judge")
            given |= {"reader": reader.identity(self.examiner.reader)} if reader else {}
            given |= {"judge": judge.identity(self.examiner.judge)} if judge and self.examiner.judge else {}
        return given


def models(settings: Settings, ledger: Path, agent_types: Collection[str] = ()) -> Asked:
    """Build the models that *settings* name, for sessions of these types of agents.

    *ledger* is where all of them add up what they spent.
    """
    project, built = settings.project, dict[str, Model]()

    def of(role: Project | None, *purposes: Purpose) -> Model | None:
        if role is None:
            return None
        key = f"{role.spec} {sorted(role.llm.items())}" + (f" {purposes}" if Spec(role.spec).kind == "replay" else "")
        if key not in built:
            built[key] = role.model(ledger, purposes) if purposes else role.model(ledger)
        return built[key]

    asking = [kind for kind in sorted(set(agent_types)) if settings.asks_model([kind])]
    own = [kind for kind in asking if project.of(kind) != project]
    typed = {kind: made for kind in own if (made := of(project.of(kind)))}
    model = of(project) if set(asking) - set(own) else None
    reader = of(project.role("reader"), "answer")
    judge = of(project.role("judge"), "judge")
    if reader is None:
        return Asked(project, model, replicates=settings.replicates, typed=typed)
    examiner = Examiner(reader, judge, settings.replicates, settings.seed, _at_once(project))
    return Asked(project, model, examiner, settings.replicates, typed)


def _at_once(project: Project) -> int:
    """How many questions may be asked at once: several of a server, one of what runs here or is anybody's own."""
    role = project.role("reader")
    kinds = {Spec(text).kind for text in (role.spec, role.llm.get("kind", "live"))} if role else set()
    return int(role.llm.get("concurrency", AT_ONCE)) if role and kinds <= {"live", "record"} else 1
