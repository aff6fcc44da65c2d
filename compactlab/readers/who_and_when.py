"""Who&When: logs of agent teams that failed, with the agent and the step that a person found at fault.

Read are the hand-crafted cases (Magentic-One, the role is the agent's name) and the algorithm-generated ones (AG2, a
`name` beside the role), one a file, a list of them, or JSON lines; also as others hand them on, with a `trajectory`
of steps that have an `agent_name`. The story is what the team shared: all agents are the assistant, and where there are
several each says its name in a block of its own. What a terminal printed and what the runner itself said is synthetic.
The annotation is in the header; the right answer is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import array, first_string, mapping, objects, string
from compactlab.readers._sessions import transcript
from compactlab.shapes.openai_chat import content
from compactlab.transcript import Block, Intake, Message, Origin, Role, Text, Transcript

if TYPE_CHECKING:
    from compactlab.readers._files import Source

NAME = "who_and_when"
WHERE = "in the folders of the Who&When data set"
_ANNOTATION = ("mistake_agent", "mistake_step", "mistake_reason", "is_correct", "is_corrected", "level")
_PEOPLE = {"human", "user"}
_TERMINALS = {"computerterminal", "computer_terminal", "terminal", "codeexecutor"}
_LONGEST = 2_000


def sniff(source: Source) -> float:
    """Look for a history of speakers beside the annotation of a mistake."""
    first = source.values[0] if source.values else None
    return 0.97 if _is_case(first) or (isinstance(first, list) and bool(first) and _is_case(first[0])) else 0.0


def _is_case(value: object) -> bool:
    case = mapping(value)
    said = objects(_said(case)[:1])
    spoken = bool(said) and "content" in said[0] and bool(_name(said[0]))
    return spoken and bool({"mistake_agent", "mistake_step"} & case.keys())


def _said(case: dict[str, Any]) -> list[Any]:
    return array(case.get(_key(case)))


def _key(case: dict[str, Any]) -> str:
    return "history" if "history" in case else "trajectory"


def read(source: Source) -> Iterator[Transcript]:
    """Read one transcript a case."""
    lines = source.lines()
    unknown: Counter[str] = Counter()
    held: Transcript | None = None
    for where, case in _cases(source, lines):
        if not _is_case(case):
            unknown["record that is no case"] += 1
            continue
        if held is not None:
            yield held
        held = _transcript(source, mapping(case), where)
    if held is not None:
        read_lines = lines.intake()
        own = held.intake
        counted = dict(Counter(own.unknown) + unknown)
        yield replace(
            held, intake=replace(own, unknown=counted, skipped=read_lines.skipped, problems=read_lines.problems)
        )


def _cases(source: Source, lines: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # `Lines`, or any like it
    document = source.document
    if document is None:
        yield from ((f"line {line.number}: ", line.value) for line in lines)
    elif isinstance(document, list):
        yield from ((f"case {index}: ", case) for index, case in enumerate(document))
    else:
        yield "", document


def _transcript(source: Source, case: dict[str, Any], where: str) -> Transcript:
    said = _said(case)
    unknown: Counter[str] = Counter()
    names = dict.fromkeys(_name(mapping(entry)) for entry in said)
    agents = [name for name in names if name.lower() not in _PEOPLE]
    prompts = _prompts(case)
    messages = list(prompts)
    for index, entry in enumerate(said):
        if not isinstance(entry, dict) or not _name(entry):
            unknown["entry without a speaker"] += 1
            continue
        asked = index == 0 and _asks(entry, string(case.get("question")))
        messages.append(_message(entry, index + len(prompts), named=len(agents) > 1, asked=asked))
    path = str(source.path)
    origins = [Origin(path, f"{where}system_prompt")] if prompts else []
    return transcript(
        source,
        NAME,
        tuple(messages),
        first_string(case, "question_ID", "question_id", "id"),
        title=string(case.get("question"))[:_LONGEST],
        origins=(*origins, Origin(path, f"{where}{_key(case)}[{{}}]", first=len(prompts))),
        header={key: case[key] for key in _ANNOTATION if isinstance(case.get(key), str | int | float)},
        intake=Intake(records=len(said), unknown=dict(unknown)),
    )


def _name(entry: dict[str, Any]) -> str:
    return first_string(entry, "name", "agent_name", "role")


def _asks(entry: dict[str, Any], question: str) -> bool:
    """Whether the first entry hands on what a person asked."""
    return bool(question.strip()) and question.strip() in string(entry.get("content"))


def _message(entry: dict[str, Any], source: int, *, named: bool, asked: bool) -> Message:
    name = _name(entry)
    agent = name.partition(" (")[0].lower()
    role: Role = "assistant"
    synthetic = "(termination condition)" in name
    if agent in _PEOPLE or asked:
        role, synthetic, named = "user", False, False
    elif agent in _TERMINALS:
        role, synthetic = "user", True
    speaker: tuple[Block, ...] = (Text(f"{name}:"),) if named else ()
    return Message(role, (*speaker, *content(entry.get("content"))), source=source, synthetic=synthetic)


def _prompts(case: dict[str, Any]) -> tuple[Message, ...]:
    """The system prompts of the agents, each led by the agent's name, as the recorded message before all others."""
    given = case.get("system_prompt")
    if isinstance(given, str) and given:
        return (Message("system", (Text(given),), source=0),)
    blocks = tuple(
        part
        for name, prompt in mapping(given).items()
        if isinstance(prompt, str)
        for part in (Text(f"{name}:"), Text(prompt))
    )
    return (Message("system", blocks, source=0),) if blocks else ()
