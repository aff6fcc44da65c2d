"""What a settings file says: what each type of agent does, beside the models that are asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from compactlab.policy import Policy
from compactlab.pressure import Marks, pressure
from compactlab.settings.choice import CHOOSING, DEFAULTS, FALLBACK, PARAMETERS, Choice, Layer, chosen
from compactlab.settings.models import Models, named


@dataclass(frozen=True)
class Project(Models):
    """What a settings file says; `path` is empty where there is none and the defaults hold.

    `text` is the file as it was read, to say where a value stands.
    """

    compaction: dict[str, Any] = field(default_factory=dict)
    per_type: dict[str, dict[str, Any]] = field(default_factory=dict)
    agent_types: dict[str, str] = field(default_factory=dict)
    memory: dict[str, str] = field(default_factory=dict)
    text: str = field(default="", repr=False, compare=False)

    @property
    def originals(self) -> Literal["git", "local"]:
        """Where the originals of what a pass took out of a memory rest."""
        return "local" if self.memory.get("originals") == "local" else "git"

    @property
    def wordings(self) -> Path | None:
        """The file with the words in which an agent hears of her memory, beside the settings; None for our own."""
        return Path(self.path).parent / self.memory["wordings"] if "wordings" in self.memory else None

    @property
    def types(self) -> tuple[str, ...]:
        """The types of agents that are known by name: those of the seeds, and those that the settings name."""
        return tuple(dict.fromkeys((*DEFAULTS, *self.per_type, *self.agent_types.values())))

    @property
    def chooses(self) -> bool:
        """Whether the settings say what any type of agent does: a strategy, a policy, or a parameter of one."""
        return any(
            key in keys for keys in (self.compaction, *self.per_type.values()) for key in (*CHOOSING, *PARAMETERS)
        )

    def choice(self, agent_type: str) -> Choice:
        """What a type of agent does, and which tables say so; see `compactlab.settings.choice`."""
        own = self.per_type.get(agent_type, {})
        is_named = {"strategy", "policy"} & {*self.compaction, *own}
        default = {} if is_named else DEFAULTS.get(agent_type, FALLBACK)
        of_all, of_type = ("compaction",), ("compaction", "per_type", agent_type)
        return chosen([Layer(default), Layer(self.compaction, of_all), Layer(own, of_type)])

    def policy(self, agent_type: str) -> Policy:
        """The policy of a type of agent; a strategy alone is one that runs at its lowest mark.

        >>> Project().policy("subconscious")
        sliding_reflect(preserve_recent=4)
        >>> Project({"policy": "microcompact@0.8+summary@0.95", "keep_recent": 3}).policy("primary")
        microcompact(keep_recent=3)@0.8+summary@0.95
        """
        return self.choice(agent_type).policy

    def strategy(self, agent_type: str, tokens: int = 0) -> str:
        """The spec of the strategy for a type of agent, with its parameters.

        Of a policy it is that of the highest mark which *tokens* reach in the window of the type, or the first.

        >>> Project().strategy("subagent"), Project({"strategy": "cull"}).strategy("subagent")
        ('sliding_window(preserve_recent=2)', 'cull')
        >>> climbing = Project({"policy": "microcompact@0.8+summary@0.95", "window": 1_000})
        >>> climbing.strategy("subagent"), climbing.strategy("subagent", tokens=950)
        ('microcompact', 'summary')
        """
        steps = self.policy(agent_type).at(self.marks.of(agent_type))
        window = self.window(agent_type)
        reached = [mark for mark in steps if window and pressure(tokens, window) >= mark]
        first = next(iter(steps), None)
        return "none" if first is None else repr(steps[reached[-1] if reached else first])

    def pins(self, agent_type: str) -> tuple[str, ...]:
        """The pins for a type of agent: those of all types, then its own."""
        return (*self.compaction.get("pins", ()), *self.per_type.get(agent_type, {}).get("pins", ()))

    def window(self, agent_type: str) -> int | None:
        """The window of a type of agent, in tokens; None where the settings name none."""
        window: int | None = self.per_type.get(agent_type, {}).get("window", self.compaction.get("window"))
        return window

    @property
    def windows(self) -> str:
        """The windows of the settings in words; empty where they name none.

        >>> Project({"window": 128_000}, {"subagent": {"window": 32_000}}).windows
        '128000, of subagent 32000'
        """
        own = [f"of {kind} {keys['window']}" for kind, keys in sorted(self.per_type.items()) if "window" in keys]
        return ", ".join([*([str(self.compaction["window"])] if "window" in self.compaction else []), *own])

    @property
    def marks(self) -> Marks:
        """The marks of pressure, and those that types of agents have of their own."""
        plain = Marks(tuple(self.compaction["marks"])) if "marks" in self.compaction else Marks()
        own = {kind: tuple(keys["marks"]) for kind, keys in self.per_type.items() if "marks" in keys}
        return replace(plain, by_agent_type=own)

    def of(self, agent_type: str) -> Self:
        """The project as a type of agent has it: with the model and the prompts of its own, where it has them.

        >>> project = Project(per_type={"primary": {"model": "big"}}, llm={"model": "small"}, llm_spec="live")
        >>> [project.of(kind).llm["model"] for kind in ("primary", "subagent")]
        ['big', 'small']
        """
        own = self.per_type.get(agent_type, {})
        project = self.with_model(agent_type, named(own["model"])) if "model" in own else self
        return replace(project, llm=project.llm | {"prompts": own["prompts"]}) if "prompts" in own else project

    def described_models(self, agent_types: Iterable[str]) -> str:
        """The model's spec with what the settings add, and those of types that have their own; nothing secret."""
        own = [(kind, self.of(kind)) for kind in sorted(agent_types) if "model" in self.per_type.get(kind, {})]
        return "; ".join([self.described_model(), *(f"of {kind} {asked.described_model()}" for kind, asked in own)])

    def asking(self, spec: str = "", model: str = "", base_url: str = "") -> Self:
        """The same project with another model, as a command line names it; types then have none of their own."""
        asked = super().asking(spec, model, base_url)
        if not (spec or model):
            return asked
        bare = {kind: {key: v for key, v in keys.items() if key != "model"} for kind, keys in self.per_type.items()}
        return replace(asked, per_type=bare)
