"""Can a strategy learn what it will be measured by? A run in which every label holds a word that stands nowhere else.

The session is cut, and behind the cut every message of a person or the agent gets a sentence with a word of its own:
the miner, which reads the whole session, takes it for a fact, and the agent needs it. Questions, answers, aliases and
older values of the hand-made probes get one each. Then all strategies run as in any run, with the stand-in for a model,
which can only quote what it is sent, and what each made is searched. So that the search is known to see, one word is
said by a person before the cut, in a rule: it must be found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from compactlab.facts import mine
from compactlab.harness import Settings, run
from compactlab.harness.cuts import spoken_by_agent
from compactlab.probes.hand import Probe
from compactlab.readers import write
from compactlab.study.evidence.figure import Figure, counted
from compactlab.study.session import Session
from compactlab.transcript import Message, Messages, Text, Transcript

SHARE = 0.6
KNOWN = "zqk-0000"
"""The word that a strategy may see."""


class Planted(NamedTuple):
    """A session and its probes with words of their own in every label; `mined` of them the miner takes for facts."""

    transcript: Transcript
    probes: tuple[Probe, ...]
    words: tuple[str, ...]
    mined: int


class Seen(NamedTuple):
    """Words planted, those that are mined facts, contexts searched, words found in one, contexts with the known one."""

    words: int
    mined: int
    contexts: int
    found: int
    known: int


def look(session: Session) -> Seen:
    """Plant, run and search one session."""
    planted = plant(session.transcript, session.probes)
    if planted is None:
        return Seen(0, 0, 0, 0, 0)
    contexts = list(left(planted))
    return Seen(
        len(planted.words),
        planted.mined,
        len(contexts),
        sum(word in text for text in contexts for word in planted.words),
        sum(KNOWN in text for text in contexts),
    )


def plant(transcript: Transcript, probes: Sequence[Probe]) -> Planted | None:
    """Put a word of its own into every message behind the cut and every part of a probe; None where nothing is cut."""
    spoken = spoken_by_agent(transcript)
    if len(spoken) < 3:
        return None
    cut = spoken[int(SHARE * len(spoken))]
    said = [i for i, message in enumerate(transcript.messages) if i >= cut and message.role != "tool"]
    words = [f"zqx-{number:04d}" for number in range(1, 1 + len(said) + 4 * len(probes))]
    later = dict(zip(said, words, strict=False))
    messages = tuple(_with(m, f"See {later[i]}.") if i in later else m for i, m in enumerate(transcript.messages))
    told = tuple(_probe(p, words[len(later) + 4 * n :]) for n, p in enumerate(probes))
    facts = {form for fact in mine(messages) for form in fact.forms}
    made = replace(transcript, messages=_with_rule(messages, cut))
    return Planted(made, told, tuple(words), sum(word in facts for word in later.values()))


def _with(message: Message, words: str) -> Message:
    return replace(message, blocks=(*message.blocks, Text(words)))


def _with_rule(messages: Messages, cut: int) -> Messages:
    """The messages with a rule that holds the known word, said by a person behind the first answer of the agent."""
    at = next(i for i, message in enumerate(messages) if message.role == "assistant")
    person = next((i for i in range(at, cut) if messages[i].by_person), None)
    if person is None:
        return messages
    return (*messages[:person], _with(messages[person], f"Never touch {KNOWN}."), *messages[person + 1 :])


def _probe(probe: Probe, words: Sequence[str]) -> Probe:
    question, answer, alias, older = words[:4]
    return replace(
        probe,
        question=f"{probe.question} {question}",
        answer=f"{probe.answer} {answer}",
        aliases=(*probe.aliases, alias),
        superseded=(*probe.superseded, older),
    )


def left(planted: Planted) -> Iterator[str]:
    """What every strategy made at the cut, as text, from a run on disk like any other."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(planted.transcript, folder / "planted.jsonl")
        lines = b"\n".join(map(msgspec.json.encode, planted.probes))
        (folder / "planted.probes.jsonl").write_bytes(lines)
        results = run(folder / "planted.jsonl", folder / "run", Settings(cuts=(SHARE,), jobs=1))
        with (Path(results.folder) / "compactions.jsonl").open(encoding="utf-8") as rows:
            for row in map(json.loads, rows):
                if row["left"].get("messages") is not None:
                    yield json.dumps(row["left"]["messages"], ensure_ascii=False)


def figures(looked: Sequence[Seen]) -> list[Figure]:
    """How many planted words reached a context, and that the search would have seen them."""
    words, mined, contexts, found, known = (sum(column) for column in zip(*looked, strict=True))
    searched = sum(seen.words * seen.contexts for seen in looked)
    return [
        counted("leaks", "words in labels alone, each looked for in each context: found", found, searched, "none"),
        counted("leaks", "of these words, those that the miner takes for facts", mined, words),
        counted("leaks", "contexts that repeat a word that a person said before the cut", known, contexts),
    ]
