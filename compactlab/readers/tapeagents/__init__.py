"""TapeAgents tapes: JSON, a list of tapes, JSON lines, or the tables `Tapes` and `LLMCalls` of `tapedata.sqlite`.

Steps that answer one prompt are one message of the assistant: thoughts are its words, actions its calls. The
observation after an action is its result; one that no action asked for is a synthetic message. Which node comes next
is left out, and so are screenshots, which lie elsewhere and which no model was shown. A tape that another one in the
same place goes on with is told once. Seen are tapes of 2024 (steps with a `role`) and of 2025 (steps with a `kind`).
Tapes in YAML are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import TranscriptError
from compactlab.readers import _archives
from compactlab.readers._fields import array, count, first_string, mapping, objects, string
from compactlab.readers._files import Source
from compactlab.readers._lines import read_json
from compactlab.readers._sessions import transcript
from compactlab.readers.tapeagents import _steps
from compactlab.transcript import Intake, Message, Origin, Text, Transcript, Usage

if TYPE_CHECKING:
    from pathlib import Path

NAME = "tapeagents"
WHERE = "EXPERIMENT/tapes/*.json and EXPERIMENT/tapedata.sqlite"
DATABASE = "tapedata.sqlite"
_TABLES = {"tapes": {"tape_id", "steps"}, "llmcalls": {"prompt_id", "prompt", "output"}}
_MARKS = {"author_tape_id", "n_added_steps", "parent_id", "author"}


class _Tape(NamedTuple):
    """A tape, and where it stands in the file."""

    tape: dict[str, Any]
    where: str

    @property
    def about(self) -> dict[str, Any]:
        return mapping(self.tape.get("metadata"))


def sniff(source: Source) -> float:
    """Look for steps of kinds beside a tape's metadata, or for the tables of tapes."""
    if source.tables:
        return 0.95 if _table(source, "tapes") else 0.0
    first = source.values[0] if source.values else None
    return 0.95 if _is_tape(first) or (isinstance(first, list) and bool(first) and _is_tape(first[0])) else 0.0


def _is_tape(value: object) -> bool:
    tape = mapping(value)
    steps = tape.get("steps")
    if not isinstance(steps, list) or not isinstance(tape.get("metadata"), dict):
        return False
    kinds = [_steps.kind(step) for step in objects(steps)[:5]]
    return bool(kinds) and all(kinds) and ("context" in tape or bool(_MARKS & tape["metadata"].keys()))


def _table(source: Source, name: str) -> str:
    """The name of one of the tables, in its own spelling; empty if there is none with its columns."""
    return next((own for own, columns in source.tables.items() if own.lower() == name and columns >= _TABLES[name]), "")


def read(source: Source) -> Iterator[Transcript]:
    """Read one transcript a tape."""
    if source.tables:
        tapes = list(_stored(source))
        _take_up(source, {first_string(each.about, "id") for each in tapes})
        yield from _told(source, tapes, _usage_of(source), Intake())
        return
    lines = source.lines()
    unknown: Counter[str] = Counter()
    tapes = []
    for where, value in _values(source, lines):
        if _is_tape(value):
            tapes.append(_Tape(value, where))
        else:
            unknown["record that is no tape"] += 1
    beside = source.path.parent.parent / DATABASE
    counts = _usage_of(Source(beside)) if beside.is_file() else {}
    yield from _told(source, tapes, counts, lines.intake(unknown=unknown))


def _values(source: Source, lines: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # `Lines`, or any like it
    document = source.document
    if document is None:
        yield from ((f"line {line.number}: ", line.value) for line in lines)
    elif isinstance(document, list):
        yield from ((f"tape {index}: ", tape) for index, tape in enumerate(document))
    else:
        yield "", document


def _stored(source: Source) -> Iterator[_Tape]:
    with _archives.database(source.path) as connection:
        for row in _archives.rows(connection, f'SELECT * FROM "{_table(source, "tapes")}" ORDER BY rowid'):  # noqa: S608  # a known name
            tape = {name: _loaded(row.get(name)) for name in ("metadata", "context", "steps")}
            about = {"id": row["tape_id"], **mapping(tape["metadata"])}
            yield _Tape({**tape, "metadata": about}, f"tape {row['tape_id']}: ")


def _loaded(text: object) -> Any:  # noqa: ANN401  # JSON is any value
    try:
        return read_json(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    except TranscriptError:
        return None


def _take_up(source: Source, ids: set[str]) -> None:
    """Mark the tapes that lie in files beside a database as told, if it has them too."""
    for path in _beside(source.path):
        tape = Source(path)
        if first_string(mapping(mapping(tape.document).get("metadata")), "id") in ids:
            source.beside(path)


def _beside(database: Path) -> Sequence[Path]:
    folder = database.parent / "tapes"
    return sorted(folder.glob("*.json")) if folder.is_dir() else ()


def _usage_of(source: Source) -> dict[str, Usage]:
    """Token counts by prompt, where a database has them."""
    found: dict[str, Usage] = {}
    try:
        table = _table(source, "llmcalls")
        names = source.tables.get(table, frozenset())
        if not {"prompt_length_tokens", "output_length_tokens"} <= names:
            return {}
        with _archives.database(source.path) as connection:
            asked = f'SELECT prompt_id, prompt_length_tokens AS sent, output_length_tokens AS made FROM "{table}"'  # noqa: S608  # a known name
            for row in _archives.rows(connection, asked):
                sent, made = count(row["sent"]) or 0, count(row["made"]) or 0
                if sent or made:
                    found[str(row["prompt_id"])] = Usage(None, sent, made)
    except TranscriptError:
        return found
    return found


def _told(source: Source, tapes: Sequence[_Tape], counts: dict[str, Usage], whole: Intake) -> Iterator[Transcript]:
    """Tell each tape that no other one goes on with."""
    later = {string(each.about.get("parent_id")): each for each in tapes}
    live = [each for each in tapes if not _goes_on(later.get(string(each.about.get("id"))), each)]
    for number, each in enumerate(live):
        made = _transcript(source, each, counts)
        if number == len(live) - 1:
            skipped = Counter(made.intake.skipped) + Counter(whole.skipped)
            skipped["tape that another one goes on with"] += len(tapes) - len(live)
            unknown = Counter(made.intake.unknown) + Counter(whole.unknown)
            intake = replace(made.intake, skipped=dict(+skipped), unknown=dict(unknown), problems=whole.problems)
            made = replace(made, intake=replace(intake, repaired=whole.repaired))
        yield made


def _goes_on(later: _Tape | None, tape: _Tape) -> bool:
    steps = array(tape.tape.get("steps"))
    return later is not None and later is not tape and array(later.tape.get("steps"))[: len(steps)] == steps


def _transcript(source: Source, each: _Tape, counts: dict[str, Usage]) -> Transcript:
    context, path = each.tape.get("context"), str(source.path)
    lead: tuple[Message, ...] = ()
    origins: tuple[Origin, ...] = (Origin(path, f"{each.where}steps[{{}}]"),)
    if isinstance(context, str) and context:
        lead = (Message("user", (Text(context),), source=0, synthetic=True),)
        origins = (Origin(path, f"{each.where}context"), Origin(path, f"{each.where}steps[{{}}]", first=1))
    steps = array(each.tape.get("steps"))
    told = _steps.read(steps, len(lead))
    usage = tuple(
        replace(counts[prompt], position=position + len(lead))
        for prompt, position in told.prompts.items()
        if prompt in counts
    )
    about = {key: each.about.get(key) for key in ("author", "result", "error", "terminated", "attempt_number")}
    return transcript(
        source,
        NAME,
        (*lead, *told.messages),
        first_string(each.about, "id") if each.where else "",
        tools=tuple(tool for tool in array(mapping(context).get("tools")) if isinstance(tool, str | dict)),
        usage=usage,
        origins=origins,
        header={key: value for key, value in about.items() if _is_short(value)},
        intake=Intake(len(steps), told.skipped, told.unknown),
    )


def _is_short(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= 300)
