"""The corpus of the study: sessions of agents, made by a seed, that readers, miner and matcher take as any others.

Each session is a story of its own. Scenes (`scenes.toml`) open one after the other, reads and words between them; most
come back later in a call that needs their values, some never. Nothing here knows what a fact is: what is at risk and
what is needed at a cut is found by the miner, as in any session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from msgspec.structs import replace

from compactlab.gate.alarms.scenes import Kind, Scene, kinds
from compactlab.gate.alarms.values import Values, cast
from compactlab.transcript import Message, Role, Text, ToolCall, ToolResult, Transcript

SESSIONS = 40
SCENES, READS = (24, 34), (14, 26)
"""How many scenes a session has, and how many reads between them: from, to."""
RETURNS, RESTATED = 0.8, 0.3
"""Shares of scenes whose values are used later if time is left, and of people's words that the agent says back."""
LATER = 0.3
"""Mean time from a scene to its use, as a share of the session."""
ANSWERS = ("Understood.", "Good, I take that along.", "Thank you, noted.", "Yes, will do.")
_ARGUMENTS = {"read": "path", "grep": "pattern", "bash": "command", "edit": "change", "write": "entry"}


def sessions(count: int = SESSIONS, seed: int = 0) -> tuple[Transcript, ...]:
    """Make *count* transcripts, the types of agents in turn, each a story of its own; equal for an equal *seed*.

    >>> [transcript.agent_type for transcript in sessions(3)]
    ['subagent', 'primary', 'subconscious']
    """
    of = kinds()
    return tuple(_session(of[at % len(of)], f"made-{at:02}", Random(f"{seed}|{at}")) for at in range(count))


def _session(kind: Kind, name: str, draw: Random) -> Transcript:
    numbered = tuple(replace(message, source=at) for at, message in enumerate(_Script(kind, draw).messages()))
    return Transcript(name, "compactlab", numbered, agent_type=kind.agent_type, cluster=name)


class _Script:
    """What happens in one session, and when: times are shares of the session."""

    def __init__(self, kind: Kind, draw: Random) -> None:
        self.kind, self.draw, self.cast = kind, draw, cast(draw)
        self.calls = 0

    def messages(self) -> Iterator[Message]:
        """The messages in order."""
        values = Values(self.draw, self.cast)
        rules = self.draw.sample(self.kind.rules, 2)
        values["rule"], values["rule2"] = (rule.format_map(values) for rule in rules)
        yield _text("system", self.kind.system.format_map(values))
        yield _text("user", self.draw.choice(self.kind.requests).format_map(values))
        yield _text("assistant", "I begin with what is there.")
        for _, messages in sorted(self._events(), key=lambda event: event[0]):
            yield from messages
        yield _text("assistant", "That is where it stands.")

    def _events(self) -> Iterator[tuple[float, list[Message]]]:
        for _ in range(self.draw.randint(*SCENES)):
            scene, values = self.draw.choice(self.kind.scenes), Values(self.draw, self.cast)
            start = 0.9 * self.draw.random()
            yield start, [*self._opened(scene, values)]
            then = start + self.draw.expovariate(1 / LATER)
            if self.draw.random() < RETURNS and then < 1:
                yield then, [*self._called(scene.tool, scene.use, scene.gave, values)]
        for _ in range(self.draw.randint(*READS)):
            read = self.draw.choice(self.kind.reads)
            drawn = [Values(self.draw, self.cast) for _ in range(self.draw.randint(2, 6))]
            lines = "".join(map(read.gave.format_map, drawn))
            yield self.draw.random(), [*self._called(read.by, read.asked, lines, drawn[0])]

    def _opened(self, scene: Scene, values: Values) -> Iterator[Message]:
        """How a scene begins; after a person's words the agent answers, at times with those words."""
        said = scene.opening.format_map(values)
        if scene.opens == "call":
            yield from self._called(scene.by, scene.asked, said, values)
            return
        if scene.opens == "person":
            yield _text("user", said)
            said = f"Understood: {said}" if self.draw.random() < RESTATED else self.draw.choice(ANSWERS)
        yield _text("assistant", said)

    def _called(self, tool: str, asked: str, gave: str, values: Values) -> Iterator[Message]:
        self.calls += 1
        name = f"call_{self.calls}"
        arguments = json.dumps({_ARGUMENTS.get(tool, "text"): asked.format_map(values)})
        words = (Text(self.draw.choice(self.kind.asides)),) if self.draw.random() < RESTATED else ()
        yield Message("assistant", (*words, ToolCall(name, tool, arguments)))
        yield Message("tool", (ToolResult(name, (Text(gave.format_map(values)),)),))


def _text(role: Role, text: str) -> Message:
    return Message(role, (Text(text),))
