"""`tune`: reads the sessions, tries the candidates, chooses for each type of agent, and holds the choice out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from compactlab.llm.build import settle
from compactlab.records import Manifest
from compactlab.stats import Estimate
from compactlab.tuning.candidates import NONE, listed, with_mark
from compactlab.tuning.choosing import Bounds, Choice, Goal, choose, levels
from compactlab.tuning.held_out import Cell, Fold, Held, Row, best_of, folds_of, regret, transfer
from compactlab.tuning.materials import Materials, Progress
from compactlab.tuning.options import LEAST_SESSIONS, LEAST_STORIES, Options
from compactlab.tuning.search import searched
from compactlab.tuning.trials import Trials
from compactlab.tuning.tried import Material, Tried

HELD_OUT, ADVISED, MOST = "tuned, held out", "advised", "most savings"
SETTINGS, NOTHING, BEST = "by the settings", "do not compact", "best of each session"


@dataclass(frozen=True)
class ForType:
    """What tuning came to for one type of agent. `reason` says why there is no advice; empty where there is one.

    `story` names the story of each session, `window` is in tokens. `candidates` is how many policies were tried on all
    its sessions, `complete` whether these are all there were. `rows` are what policies came to, `levels` what would be
    chosen by other goals.
    """

    agent_type: str
    window: int
    story: dict[str, str]
    candidates: int = 0
    complete: bool = True
    choice: Choice | None = None
    reason: str = ""
    folds: tuple[Fold, ...] = ()
    rows: tuple[Row, ...] = ()
    levels: tuple[tuple[Goal, Bounds | None], ...] = ()

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions of the type, in the order of their names."""
        return tuple(self.story)

    @property
    def stories(self) -> int:
        """How many stories they tell."""
        return len(set(self.story.values()))

    @property
    def advice(self) -> str | None:
        """The policy that is advised; None where there is none."""
        return self.choice.policy if self.choice and not self.reason else None

    @property
    def held_out(self) -> Row | None:
        """What the policies chosen without a session came to on it; None where no round chose one."""
        return next((row for row in self.rows if row.label == HELD_OUT), None)

    @property
    def unchosen(self) -> tuple[str, ...]:
        """The stories without which the others had no candidate that holds: their sessions are not held out."""
        return tuple(story for fold in self.folds if not fold.policy for story in fold.stories)

    @cached_property
    def regret(self) -> Estimate | None:
        """What each session's own best policy would have saved more, mean over held-out sessions."""
        return regret(self.folds)


@dataclass(frozen=True)
class Tuning:
    """What tuning came to: each type of agent, and the policies of all tried on each other's sessions."""

    options: Options
    folder: Path
    manifest: Manifest
    types: tuple[ForType, ...]
    transfer: tuple[Cell, ...]
    unread: tuple[str, ...]


def tune(
    paths: str | Path | Iterable[str | Path],
    options: Options | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Tune for the types of agents whose sessions lie at *paths*; what is tried is kept in the folder *out*.

    Without *out* the folder is `runs/tune-<digest>`. The same again, or with another goal, does not try again what lies
    there. *progress* is called with candidates tried, candidates in all, and what they are tried for. The same sessions
    and options give the same result. Raises `TranscriptError`, `SpecError` or `RunError` before anything is tried, and
    `ModelError` where a model gives no reply.
    """
    options = options or Options()
    if progress:
        progress(0, 0, "reading")
    read = Materials.read([paths] if isinstance(paths, str | Path) else paths, options, Path(out) if out else None)
    try:
        with Trials(partial(_mined, read, progress), read.journal, read.workers) as trials:
            tuner = _Tuner(read, trials, progress)
            types = tuple(tuner.of_type(agent_type) for agent_type in read.by_type)
            cells = tuner.transfer(types)
    finally:
        for model in read.models.values():
            settle(model)
    return Tuning(options, read.folder, read.manifest, types, cells, read.unread)


def _mined(read: Materials, progress: Progress | None) -> list[Material]:
    if progress:
        progress(0, 0, "mining facts")
    return read.mined()


@dataclass
class _Tuner:
    """Tunes for one type of agent after the other, all with the same trials."""

    read: Materials
    trials: Trials
    progress: Progress | None

    @property
    def goal(self) -> Goal:
        return self.read.options.goal

    def of_type(self, agent_type: str) -> ForType:
        """Choose for one type, and hold the choice out."""
        sessions = self.read.sessions(agent_type)
        story = self.read.stories(agent_type)
        empty = ForType(agent_type, self.read.windows[agent_type], story)
        if few := _too_few(empty):
            return replace(empty, reason=few)
        rounds = folds_of(story.values())
        tasks = _Tasks(self, agent_type, len(rounds))
        whole = tasks.candidates(sessions)
        folds = tuple(self._fold(tasks, stories, story) for stories in rounds)
        rows = self.trials.of(whole, sessions)
        choice = choose(rows, self.goal)
        return replace(
            empty,
            candidates=len(whole),
            complete=tasks.complete,
            choice=choice,
            reason="" if choice.policy else "no candidate holds the constraints",
            folds=folds,
            rows=self._table(agent_type, choice, folds),
            levels=levels(rows, self.goal),
        )

    def _fold(self, tasks: _Tasks, left_out: tuple[str, ...], story: dict[str, str]) -> Fold:
        """Choose by the other stories alone, and try what was chosen on those left out."""
        training = [session for session, of in story.items() if of not in left_out]
        held = [session for session, of in story.items() if of in left_out]
        rows = self.trials.of(tasks.candidates(training), training)
        choice = choose(rows, self.goal)
        best = (best_of(self.trials.on(session), self.goal) for session in held)
        tried = self.trials.of([choice.policy], held) if choice.policy else []
        return Fold(left_out, tuple(held), choice.policy, tuple(tried), tuple(one for one in best if one is not None))

    def _table(self, agent_type: str, choice: Choice, folds: Sequence[Fold]) -> tuple[Row, ...]:
        """The held-out row, and beside it policies on all sessions: what is advised, saves most, is set, does nothing.

        The best policy of each session stands last: nobody can know it.
        """
        sessions = self.read.sessions(agent_type)
        project = self.read.options.project
        wanted = {
            ADVISED: choice.policy,
            MOST: choice.best if choice.best != choice.policy else None,
            SETTINGS: with_mark(project.policy(agent_type), project.marks.of(agent_type)),
            NOTHING: NONE,
        }
        held = tuple(row for fold in folds for row in fold.tried)
        best = tuple(row for fold in folds for row in fold.best)
        rows = [Row(label, tuple(self.trials.of([spec], sessions))) for label, spec in wanted.items() if spec]
        return (*([Row(HELD_OUT, held)] if held else []), *rows, *([Row(BEST, best)] if best else []))

    def transfer(self, types: Sequence[ForType]) -> tuple[Cell, ...]:
        """Try the advice of each type on the sessions of every other one; nothing where there is one type only."""
        chosen = {one.agent_type: one.advice for one in types if one.advice}
        held = {one.agent_type: Held(one.held_out, one.unchosen) for one in types if one.held_out}
        names = [one.agent_type for one in types]
        return transfer(chosen, held, names, self._attempt, self.goal) if len(names) > 1 else ()

    def _attempt(self, policy: str, agent_type: str) -> list[Tried]:
        return self.trials.of([policy], self.read.sessions(agent_type))


def _too_few(found: ForType) -> str:
    """Say that there are too few sessions, or stories, to hold anything out; empty where there are enough."""
    sessions = "1 session" if len(found.sessions) == 1 else f"{len(found.sessions)} sessions"
    stories = "1 story" if found.stories == 1 else f"{found.stories} stories"
    if len(found.sessions) >= LEAST_SESSIONS and found.stories >= LEAST_STORIES:
        return ""
    return f"{sessions} of {stories}: too few, expected {LEAST_SESSIONS} of {LEAST_STORIES}"


class _Tasks:
    """Which candidates are tried on some sessions of a type, and how far the whole of it is."""

    def __init__(self, tuner: _Tuner, agent_type: str, folds: int) -> None:
        options = tuner.read.options
        self.tuner, self.agent_type = tuner, agent_type
        self.grid = listed(options.policies) if options.policies else options.space.policies
        self.complete = bool(options.policies) or len(self.grid) <= options.most
        self.total = len(self.grid) if self.complete else options.most * (folds + 1)
        self.done = 0.0

    def candidates(self, sessions: Sequence[str]) -> tuple[str, ...]:
        """All of the grid, or what a search by these sessions comes to."""
        attempt = partial(self._attempt, sessions)
        if self.complete:
            attempt(self.grid)
            return self.grid
        options = self.tuner.read.options
        return searched(options.space, options.most, options.goal, attempt, options.seed)

    def _attempt(self, sessions: Sequence[str], specs: Sequence[str]) -> list[Tried]:
        known = self.done + (0 if self.complete else len(specs))

        def watch(rows: int) -> None:
            self.done += rows / len(sessions)
            self._tell()

        found = self.tuner.trials.of(specs, sessions, watch)
        self.done = max(self.done, known)
        self._tell()
        return found

    def _tell(self) -> None:
        if self.tuner.progress:
            self.tuner.progress(min(round(self.done), self.total), self.total, f"candidates for {self.agent_type}")
