"""M8, the artifact trail: which operations on files a compacted history still tells, against the tool traffic.

An operation is a pair (path, op). Found: pairs at risk that a kept call or words tell, of all at risk (recall);
claimed: pairs told that are true, of all that are told (precision); pairs that the protected set tells are left out. A
kept call tells what it did, though its result be cleared; one that failed claims what it would have done once its error
is gone. Words of the agent that stood before are believed where they are right; those that compaction made are judged,
but for what they repeat from words that stood before: who wrote those may have seen more than the calls tell.
`artifact_last_write` is 1 if the file written last before the cut is still the one told last, `artifact_tests` 1 if the
state of the last test run stands in its result or in made words, and these do not end on its contrary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compactlab.metrics import Case, Score, Trial
from compactlab.traffic.artifacts import ALWAYS, KINDS, WRITES, Kind, Operation, Traffic
from compactlab.traffic.effects import effects
from compactlab.traffic.outcomes import State, outcomes, state_of_tests, words_on_tests
from compactlab.traffic.reported import Report, reported
from compactlab.transcript import Block, Message, Reasoning, Text, ToolCall, ToolResult, readable

Pair = tuple[str, Kind]


@dataclass
class Trail:
    """The truth before a cut, what each block tells of it, and what failed calls would have done."""

    truth: frozenset[Pair]
    own: frozenset[Block]
    failing: dict[ToolCall, tuple[Pair, ...]]
    names: dict[str, str]
    writes: tuple[Operation, ...]
    traffic: Traffic
    known: dict[Block, tuple[Pair, ...]] = field(default_factory=dict)
    heard: set[Pair] = field(default_factory=set)

    def listen(self, messages: Iterable[Message]) -> None:
        """Learn what the words of *messages* tell that no call did."""
        texts = {block for message in messages for block in message.blocks if isinstance(block, Text | Reasoning)}
        told = (self._pair(report) for block in texts for report in reported(readable(block)))
        self.heard.update(pair for pair in told if pair not in self.truth)

    def told(self, messages: Iterable[Message]) -> list[Pair]:
        """All pairs that *messages* tell, in reading order."""
        found = [pair for message in messages for block in message.blocks for pair in self._of(block, message)]
        return found + self._misled(messages) if self.failing else found

    def written_last(self, messages: Iterable[Message]) -> str | None:
        """The path that *messages* tell as written last: by the last call that stands, by words where none does."""
        told = [(block, pair) for m in messages for block in m.blocks for pair in self._of(block, m)]
        writes = [(isinstance(block, ToolCall), path) for block, (path, op) in told if op in WRITES]
        by_call = [path for is_call, path in writes if is_call]
        return next(reversed(by_call or [path for _, path in writes]), None)

    def _of(self, block: Block, message: Message) -> tuple[Pair, ...]:
        pairs = self.known.get(block)
        return self._learn(block, message) if pairs is None else pairs

    def _learn(self, block: Block, message: Message) -> tuple[Pair, ...]:
        pairs: Iterable[Pair] = ()
        if isinstance(block, ToolCall):
            pairs = self._edited(block) if block not in self.own else ()
        elif isinstance(block, Text | Reasoning) and (message.role == "assistant" or block not in self.own):
            pairs = (self._pair(report) for report in reported(readable(block)))
            pairs = [pair for pair in pairs if pair in self.truth or not (block in self.own or pair in self.heard)]
        self.known[block] = _once(pairs)
        return self.known[block]

    def _edited(self, call: ToolCall) -> Iterator[Pair]:
        """What a call tells that compaction shortened: its operations, a write being what it was on that path."""
        for effect in effects(call):
            path = self.traffic.paths.of(effect.path, effect.directory)
            if path:
                op = ALWAYS.get(effect.verb) or ("deleted" if effect.verb == "clear" else None)
                yield self._pair(Report(path, op or "written"))

    def _pair(self, report: Report) -> Pair:
        path = self.names.get(report.path) or self.traffic.paths.of(report.path) or report.path
        if report.op == "written":
            return path, "created" if (path, "created") in self.truth else "modified"
        return path, report.op

    def _misled(self, messages: Iterable[Message]) -> list[Pair]:
        """What failed calls seem to have done whose error is no longer seen."""
        turns = [message for message in messages if message.role in {"assistant", "tool"}]
        blocks = [block for message in turns for block in message.blocks if isinstance(block, ToolCall | ToolResult)]
        seen = {
            block.call_id for block in blocks if isinstance(block, ToolResult) and (block.is_error or block in self.own)
        }
        kept = [block for block in blocks if isinstance(block, ToolCall) and block.id not in seen]
        return [pair for call in kept for pair in self.failing.get(call, ())]


def trail_of(case: Case) -> Trail:
    """Make the trail of a case, once."""
    return case.cached("artifacts", lambda: _trail(case))


def _trail(case: Case) -> Trail:
    traffic = Traffic(case.base)
    told_by: dict[Block, list[Pair]] = defaultdict(list)
    for made in traffic.operations:
        told_by[made.call].append((made.path, made.op))
    truth = frozenset((made.path, made.op) for made in traffic.operations)
    failing = {call: tuple(pair for pair in pairs if pair not in truth) for call, pairs in traffic.failed.items()}
    trail = Trail(
        truth,
        case.own,
        {call: pairs for call, pairs in failing.items() if pairs},
        names_of({path for path, _ in truth}),
        tuple(made for made in traffic.operations if made.op in WRITES),
        traffic,
        {block: _once(pairs) for block, pairs in told_by.items()},
    )
    trail.listen(case.base)
    return trail


def _once(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Each pair once, where it is told last."""
    return tuple(dict.fromkeys(reversed(list(pairs))))[::-1]


def names_of(paths: Iterable[str]) -> dict[str, str]:
    """Give for each name that is the end of one path alone the path: the base name, and all between it and the whole.

    >>> sorted(names_of(["/srv/a/x.py", "/srv/b/x.py"]))
    ['/srv/a/x.py', '/srv/b/x.py', 'a/x.py', 'b/x.py', 'srv/a/x.py', 'srv/b/x.py']
    """
    owners: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        parts = path.lstrip("/").split("/")
        for start in range(len(parts)):
            owners["/".join(parts[start:])].add(path)
        owners[path].add(path)
    names = {name: next(iter(found)) for name, found in owners.items() if len(found) == 1}
    return names | {path: path for path in paths}


def measure(trial: Trial) -> Iterator[Score]:
    """Yield recall and precision by operation, the last write, and the state of the last test run."""
    case = trial.case
    trail = trail_of(case)
    safe = case.cached("artifacts: safe", lambda: frozenset(trail.told(case.protected)))
    told = trail.told(trial.messages)
    yield from _trail_scores(trail.truth - safe, frozenset(told) - safe)
    if trail.writes and not any((made.path, made.op) in safe for made in trail.writes[-1:]):
        yield Score("artifact_last_write", float(trail.written_last(trial.messages) == trail.writes[-1].path))
    yield from _tests(trial)


def _trail_scores(risk: frozenset[Pair], told: frozenset[Pair]) -> Iterator[Score]:
    for op in KINDS:
        wanted = {pair for pair in risk if pair[1] == op}
        claimed = {pair for pair in told if pair[1] == op}
        right = float(len(wanted & claimed))
        if wanted:
            yield Score("artifact_found", right, len(wanted), group=op)
        if claimed:
            yield Score("artifact_claimed", right, len(claimed), group=op)


def _tests(trial: Trial) -> Iterator[Score]:
    last = trial.case.cached("artifacts: tests", lambda: _last_run(trial.case))
    if last is None:
        return
    result, state = last
    known: dict[Block, State | None] = trial.case.cached("artifacts: states", dict)
    told: list[State | None] = []
    for block in trial.made:
        if block not in known:
            known[block] = _state_in(block, result.call_id)
        told.append(known[block])
    own = any(result in message.blocks for message in trial.messages)
    contrary = next((one for one in reversed(told) if one is not None), state) != state
    yield Score("artifact_tests", float(own or (state in told and not contrary)))


def _state_in(block: Block, call_id: str) -> State | None:
    """The state of tests that a made block tells: a summary line in what is left of the run's result, or words."""
    if isinstance(block, ToolResult):
        return state_of_tests(block.text) if block.call_id == call_id else None
    return words_on_tests(readable(block)) if isinstance(block, Text) else None


def _last_run(case: Case) -> tuple[ToolResult, State] | None:
    """The last test run before the cut, if the protected set does not hold it."""
    runs = [run for run in case.cached("outcomes", lambda: outcomes(case.base)) if run.tests]
    if not runs or runs[-1].position in case.held or runs[-1].tests is None:
        return None
    return runs[-1].result, runs[-1].tests
