"""MemoryBank: chats of people with a companion over many days, one entry of a file a person.

Each person's days, in their recorded order, are one session; every message has its day as timestamp. The summaries and
portraits that the bank itself made of the days are left out, for they stood in no chat; traits of the person are in the
header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, mapping, string
from compactlab.readers._sessions import transcript
from compactlab.shapes.openai_chat import content
from compactlab.transcript import Intake, Message, Origin, Role, Transcript

if TYPE_CHECKING:
    from compactlab.readers._files import Source

NAME = "memorybank"
WHERE = "eval_data/LANGUAGE/memory_bank_LANGUAGE.json of MemoryBank, memories/ of its chats"
_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_TRAITS = ("personality", "hobbies", "speaking_style")
_LONGEST = 300


def sniff(source: Source) -> float:
    """Look for people whose history has days, with pairs of query and response."""
    people = list(mapping(source.document).values())[:5]
    days = [day for person in people for day in list(mapping(mapping(person).get("history")).items())[:3]]
    if not days or not all(_DAY.match(day) and isinstance(said, list) for day, said in days):
        return 0.0
    pairs = [any(_pair(entry) is not None for entry in said[:3]) for _, said in days if said]
    return 0.95 if pairs and all(pairs) else 0.0


def read(source: Source) -> Iterator[Transcript]:
    """Read one transcript a person."""
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    for name, person in mapping(source.document).items():
        if not isinstance(mapping(person).get("history"), dict):
            unknown["entry without a history"] += 1
            continue
        if held is not None:
            yield held
        held = _transcript(source, name, person)
    if held is not None:
        counted = dict(Counter(held.intake.unknown) + unknown)
        yield replace(held, intake=replace(held.intake, unknown=counted))


def _transcript(source: Source, name: str, person: dict[str, Any]) -> Transcript:
    messages: list[Message] = []
    origins: list[Origin] = []
    unknown: Counter[str] = Counter()
    records = 0
    for day, said in mapping(person.get("history")).items():
        place = f"{name}.history.{day}".replace("{", "{{").replace("}", "}}")
        origins.append(Origin(str(source.path), f"{place}[{{}}]", first=records))
        for entry in array(said):
            pair = _pair(entry)
            if pair is None:
                unknown["entry that is no pair"] += 1
            else:
                messages += _exchange(pair, day, records)
            records += 1
    traits = mapping(person.get("meta_information"))
    made = transcript(
        source,
        NAME,
        tuple(messages),
        name.strip(),
        title=name.strip(),
        agent_type="primary",
        header={key: traits[key] for key in _TRAITS if 0 < len(string(traits.get(key))) <= _LONGEST},
        intake=Intake(records, unknown=dict(unknown)),
    )
    return replace(made, origins=tuple(origins) or made.origins)


def _pair(entry: object) -> tuple[object, object] | None:
    """What was said and what was answered; None if an entry has neither."""
    if isinstance(entry, list):
        return (entry[0], entry[1]) if len(entry) == 2 else None
    given = mapping(entry)
    return (given.get("query"), given.get("response")) if {"query", "response"} & given.keys() else None


def _exchange(pair: tuple[object, object], day: str, source: int) -> Iterator[Message]:
    roles: tuple[Role, Role] = ("user", "assistant")
    for role, said in zip(roles, pair, strict=True):
        blocks = tuple(content(said))
        if blocks:
            yield Message(role, blocks, source=source, timestamp=day)
