"""How to run: what `compactlab.run` takes, checked before anything is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.harness.cuts import SHARES
from compactlab.harness.workers import checked
from compactlab.llm.prices import price_of, prices
from compactlab.metrics.cache import PRICED
from compactlab.policy import MARKED, Policy, policy
from compactlab.records import Mode
from compactlab.replay import Window
from compactlab.settings import Project
from compactlab.strategies import Strategy
from compactlab.tokens import DEFAULT_COUNTER, counter

DEFAULT_STRATEGIES = (
    "none",
    "microcompact",
    "cull",
    "sliding_window",
    "sliding_reflect",
    "summary",
    "key_value",
    "ladder",
    "defer",
)

Guarding = Literal["on", "off", "both"]
"""How peers are run: under the guard, as they are, or each of them both ways."""

OWN = "settings"
"""The policy of a replay under which each session does what the settings say of its own type."""


@dataclass(frozen=True)
class Settings:
    """How to run: strategies as specs or objects, cuts as shares of the assistant messages or by a window in tokens.

    `all` among the strategies stands for each that the catalog knows. `budgets` are per cents of the weight before a
    cut that each strategy is to meet in turn. `pins` and those of `project` (what a settings file says) protect
    messages in every session; `jobs` 0 means one process a core, and `executor` is empty for processes of this machine,
    `dask` or `dask:ADDRESS` for a cluster (docs/scale.md). An `agent_type` holds for all sessions; at most `limit` are
    read from each path. What asks a model, or draws by a seed, is done `replicates` times: a strategy that does, and a
    reader's question (`project` names reader and judge).

    `peers` are strategies of other harnesses, which stand behind ours: their specs, `all` of `compactlab.peers`, which
    are the same on every machine, or those of the real packages that are `installed` on this one; `guard` says whether
    the guard repairs and rejects what they give.

    The mode `replay` replays whole sessions in the window, or in that which `project` gives their type, under
    `policies`: by default each strategy at the lowest mark, one strategy at each mark, and `settings`, where `project`
    says what types of agents do. `overhead` are tokens that each request carries beside messages and recorded schemas,
    `reserve` those of the window that are set aside for output; money is counted as for the model `priced_as`.
    The mode `recorded` scores compactions that real harnesses did, beside the strategies at the same places and sizes.
    """

    strategies: tuple[str | Strategy, ...] = DEFAULT_STRATEGIES
    cuts: tuple[float, ...] = SHARES
    window: int | None = None
    budgets: tuple[float, ...] = ()
    counter: str = DEFAULT_COUNTER
    seed: int = 0
    jobs: int = 0
    probes: tuple[Path, ...] = ()
    pins: tuple[str, ...] = ()
    project: Project = field(default_factory=Project)
    agent_type: str = ""
    limit: int | None = None
    replicates: int = 1
    mode: Mode = "cuts"
    policies: tuple[str | Strategy | Policy, ...] = ()
    overhead: int = 0
    reserve: int = 0
    priced_as: str = PRICED
    executor: str = ""
    peers: tuple[str | Strategy, ...] = ()
    guard: Guarding = "on"

    def __post_init__(self) -> None:
        if not self.strategies:
            raise SpecError("no strategy given; expected at least one")
        object.__setattr__(self, "strategies", tuple(_named(self.strategies)))
        object.__setattr__(self, "peers", tuple(_meant(self.peers)))
        if not self.cuts or not all(0 < share < 1 for share in self.cuts):
            raise SpecError(f"cut shares {list(self.cuts)}: expected numbers between 0 and 1, such as 0.4,0.55")
        if self.jobs < 0:
            raise SpecError(f"jobs {self.jobs}: expected a number of processes, or 0 for one a core")
        if self.replicates < 1:
            raise SpecError(f"replicates {self.replicates}: expected a number of 1 or more")
        if self.window is not None and self.window <= 0:
            raise SpecError(f"window {self.window}: expected a number of tokens above 0")
        if not all(0 < budget < 100 for budget in self.budgets):
            raise SpecError(f"budgets {list(self.budgets)}: expected per cents between 0 and 100, such as 10,20")
        if self.guard not in get_args(Guarding):
            raise SpecError(f"guard {self.guard!r}: expected one of {', '.join(get_args(Guarding))}")
        counter(self.counter)
        checked(self.executor)
        _ = self.competing
        self._check_mode()

    def _check_mode(self) -> None:
        """Refuse what has no meaning in the mode."""
        if self.mode == "replay":
            self._check_replay()
        elif self.policies or self.overhead or self.reserve:
            raise SpecError("policies, overhead and reserve belong to a replay; expected --replay")
        if self.mode != "cuts" and self.budgets:
            raise SpecError(f"budgets have no meaning in the mode {self.mode}; expected none")
        if self.mode == "recorded" and self.window is not None:
            raise SpecError("recorded compactions stand at their own places; expected no window")

    def _check_replay(self) -> None:
        """Refuse windows without room, a model without a price, and policies that there are not."""
        windows = {self.window_of(agent_type) for agent_type in ("", *self.project.types)} - {None}
        if not windows:
            raise SpecError("a replay needs a window; expected --window N, a number of tokens, or one in the settings")
        for window in windows:
            Window(window or 0, self.overhead, self.reserve).checked()
        if price_of(self.priced_as, prices(self.project.llm.get("prices"))) is None:
            expected = "a model of the table of prices, or of [llm.prices]"
            raise SpecError(f"no price of {self.priced_as!r} is known; expected {expected}")
        _ = self.labels

    @property
    def budget_names(self) -> tuple[str, ...]:
        """The budgets as they stand in records, each once, rising."""
        return tuple(f"{budget:g}" for budget in sorted(set(self.budgets)))

    @cached_property
    def built(self) -> tuple[Strategy, ...]:
        """The strategies as objects, each once."""
        made = [catalog.strategy(s) if isinstance(s, str) else s for s in (*self.strategies, *self.competing)]
        return tuple({repr(strategy): strategy for strategy in made}.values())

    @cached_property
    def competing(self) -> tuple[Strategy, ...]:
        """The peers as objects, under the guard or without."""
        found: list[Any] = [catalog.strategy(s) if isinstance(s, str) else s for s in self.peers]
        for one in found:
            if not catalog.is_peer(repr(one)):
                known = ", ".join(catalog.names("peers"))
                raise SpecError(f"{one!r} is no peer; expected all or one of {known}; installed for real packages")
        if self.guard == "on":
            return tuple(found)
        ways = ("on", "off") if self.guard == "both" else ("off",)
        return tuple(replace(one, guard=way) for one in found for way in ways)

    @cached_property
    def _shared(self) -> dict[str, Policy | None]:
        """The policies of a replay by their labels, each once; None where each session has that of its type."""
        alone = self.strategies == DEFAULT_STRATEGIES
        own = [OWN] if self.project.chooses else []
        wanted = (*(self.policies or (*self.strategies, *([MARKED] if alone else []), *own)), *self.competing)
        built = [None if one == OWN else policy(one) for one in wanted]
        return {OWN if one is None else repr(one): one for one in built}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the rows, in order: specs of strategies, or of the policies of a replay."""
        return tuple(self._shared if self.mode == "replay" else map(repr, self.built))

    def policies_of(self, agent_type: str) -> dict[str, Policy]:
        """The policies of a replay for sessions of a type, by their labels."""
        return {label: self.project.policy(agent_type) if one is None else one for label, one in self._shared.items()}

    def own_policies(self, agent_types: Collection[str]) -> dict[str, str]:
        """What the policy `settings` is for each of these types; nothing where no row is called so."""
        is_there = self.mode == "replay" and OWN in self._shared
        return {kind: repr(self.project.policy(kind)) for kind in sorted(set(agent_types)) if is_there}

    def window_of(self, agent_type: str) -> int | None:
        """The window of a replay for sessions of a type: that of the run, or that of the settings."""
        return self.window or self.project.window(agent_type)

    def asks_model(self, agent_types: Collection[str]) -> bool:
        """True if a strategy, or a policy of a replay of sessions of these types, asks a model."""
        if self.mode != "replay":
            return any(strategy.uses_model for strategy in self.built)
        return any(one.uses_model for kind in set(agent_types) for one in self.policies_of(kind).values())


def _named(strategies: Iterable[str | Strategy]) -> Iterator[str | Strategy]:
    """The strategies, `all` replaced by ours in the order of tables, then those whose files others added."""
    for given in strategies:
        if isinstance(given, str) and given.strip() == "all":
            yield from dict.fromkeys((*DEFAULT_STRATEGIES, *catalog.names("strategies")))
        else:
            yield given


def _meant(peers: Iterable[str | Strategy]) -> Iterator[str | Strategy]:
    """The peers, each word that stands for several replaced by them: on this machine, and not where a worker runs."""
    for given in peers:
        yield from catalog.peers_named(given.strip()) if isinstance(given, str) else (given,)
