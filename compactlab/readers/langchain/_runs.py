"""Runs that LangSmith recorded: a conversation is what the model runs of one thread or trace were given and answered.

Each model run repeats the messages before it; they are told once. Runs of tools supply results that no later model run
shows. Where there are no model runs with messages, the messages of the outermost run are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from compactlab.errors import TranscriptError
from compactlab.readers._fields import array, count, first_string, mapping, objects, string
from compactlab.readers._items import Repeats
from compactlab.readers._lanes import Lanes, Request
from compactlab.readers._lines import read_json
from compactlab.readers.langchain._wires import Maker, fields_of, usage_of
from compactlab.shapes._langchain_content import result_content
from compactlab.shapes.parts import json_text
from compactlab.transcript import Intake, Origin, ToolCall, ToolResult, Transcript, Usage

if TYPE_CHECKING:
    from compactlab.readers._files import Source

MODEL_RUNS = {"llm", "chat_model"}
THREADS = ("thread_id", "session_id", "conversation_id")


class Run(NamedTuple):
    """A run with what it was given and what came of it, and where it stands."""

    kind: str
    group: str
    is_thread: bool
    order: tuple[str, int]
    record: dict[str, Any]
    about: dict[str, Any]
    source: int


def is_run(record: object) -> bool:
    """Whether a record is a run."""
    given = mapping(record)
    return isinstance(given.get("run_type"), str) and bool({"inputs", "outputs", "dotted_order"} & given.keys())


def run(record: dict[str, Any], source: int) -> Run:
    """Read one run, whose fields may be JSON texts."""
    kind = string(record.get("run_type"))
    read = kind in {*MODEL_RUNS, "tool"} or not record.get("parent_run_id")
    said = {name: _decoded(record.get(name)) if read else None for name in ("inputs", "outputs")}
    record = {**record, **said, "extra": _decoded(record.get("extra"))}
    about = mapping(mapping(record["extra"]).get("metadata"))
    thread = first_string(about, *THREADS)
    group = thread or first_string(record, "trace_id", "id")
    order = (first_string(record, "dotted_order", "start_time"), source)
    return Run(kind, group, bool(thread), order, record, about, source)


def listed(value: object) -> list[Any]:
    """The runs of an export, or of what a client sends: those that began and those that ended; empty if it is none."""
    given = mapping(value)
    for held in (array(given.get("runs")), array(given.get("traces"))):
        if held and is_run(held[0]):
            return held
    sent = [*objects(given.get("post")), *objects(given.get("patch"))]
    return sent if sent and {"trace_id", "dotted_order"} <= sent[0].keys() else []


class Runs:
    """Runs as they come in: children out of their parents, and what two records say of one run put together."""

    def __init__(self) -> None:
        self.found: list[Run] = []
        self._places: dict[str, int] = {}

    def knows(self, record: object) -> bool:
        """Whether a record is a run, or tells more of one that is known."""
        return is_run(record) or any(name in self._places for name in _names(record))

    def add(self, record: dict[str, Any], source: int) -> None:
        """Take in a run that stands in the record *source*, and those inside it."""
        pending: list[tuple[dict[str, Any], dict[str, Any]]] = [(record, {})]
        while pending:
            given, above = pending.pop()
            inner = objects(given.get("child_runs"))
            own = {**above, **{name: value for name, value in given.items() if name != "child_runs"}}
            self._take(own, source)
            below = {"parent_run_id": own.get("id") or True, "trace_id": own.get("trace_id") or own.get("id")}
            pending += [(child, below) for child in reversed(inner) if is_run(child)]

    def _take(self, record: dict[str, Any], source: int) -> None:
        names = _names(record)
        place = next((self._places[name] for name in names if name in self._places), len(self.found))
        if place == len(self.found):
            self.found.append(run(record, source))
        else:
            known = self.found[place]
            more = {name: value for name, value in record.items() if value not in (None, "", {}, [])}
            self.found[place] = run({**known.record, **more}, known.source)
        self._places |= dict.fromkeys(names, place)


def _names(record: object) -> list[str]:
    return [name for key in ("id", "dotted_order") if (name := first_string(record, key))]


def _decoded(value: object) -> Any:  # noqa: ANN401  # JSON is any value
    if not isinstance(value, str):
        return value
    try:
        return read_json(value.encode("utf-8", "surrogatepass"))
    except TranscriptError:
        return value


def transcripts(source: Source, runs: Sequence[Run], where: Origin) -> Iterator[Transcript]:
    """The transcripts of each thread, or of each trace that belongs to none; runs without messages are counted."""
    threads = {trace: each.group for each in runs if each.is_thread and (trace := string(each.record.get("trace_id")))}
    groups: dict[str, list[Run]] = {}
    for each in runs:
        key = each.group if each.is_thread else threads.get(string(each.record.get("trace_id")), each.group)
        groups.setdefault(key, []).append(each)
    for key, group in groups.items():
        own = key if len(groups) > 1 or key else ""
        yield from _Group(source, sorted(group, key=lambda each: each.order)).transcripts(own, where)


class _Group:
    """The runs of one thread or trace, in their order."""

    def __init__(self, source: Source, runs: Sequence[Run]) -> None:
        self.source = source
        self.runs = runs
        self.maker = Maker()
        self.repeats = Repeats(self.maker.items)
        self.lanes = Lanes(branches=any(each.is_thread for each in runs))
        self.skipped: Counter[str] = Counter()
        self.header: dict[str, Any] = {}
        self.tools: tuple[str | dict[str, Any], ...] = ()

    def transcripts(self, own: str, where: Origin) -> Iterator[Transcript]:
        for each in self.runs:
            if each.kind in MODEL_RUNS:
                self._model(each)
            elif each.kind == "tool":
                self._tool(each)
            else:
                self.skipped[f"run of type {each.kind}"] += 1
        if not self.lanes.lanes:
            self._outermost()
        self.skipped["request that goes on with another"] += self.lanes.repeated
        self.skipped["result that no call asked for"] += self.lanes.unasked
        intake = Intake(len(self.runs), dict(+self.skipped), dict(self.maker.unknown))
        fields = {"origins": (where,), "header": self.header, "tools": self.tools}
        for number, told in enumerate(self.lanes.transcripts(self.source, "langchain", own, fields)):
            yield told if number else _counted(told, intake)

    def _model(self, each: Run) -> None:
        given = given_to(each.record.get("inputs"))
        answer = answer_of(each.record.get("outputs"))
        if not given and not answer:
            self.skipped["model run without messages"] += 1
            return
        parameters = mapping(mapping(each.record.get("extra")).get("invocation_params"))
        model = first_string(each.about, "ls_model_name") or first_string(parameters, "model", "model_name")
        if model:
            self.header.setdefault("model", model)
        self.tools = tuple(objects(parameters.get("tools"))) or self.tools
        items = [item for wire in answer[:1] for item in self.maker.items(wire, each.source)]
        self.skipped["message of another branch"] += len(answer[1:])
        usage = None if items and items[-1].usage else _usage(each.record)
        agent = first_string(each.about, "lc_agent_name")
        self.lanes.take(Request(self.repeats.items(given, each.source), items, usage, agent))

    def _tool(self, each: Run) -> None:
        output = mapping(each.record.get("outputs")).get("output", each.record.get("outputs"))
        fields = fields_of(output) or {}
        error = string(each.record.get("error"))
        content = fields.get("content", output) if output else error
        call_id = first_string(fields, "tool_call_id") or first_string(each.record.get("extra"), "tool_call_id")
        failed = fields.get("status") == "error" or (bool(error) and not output)
        result = ToolResult(call_id, result_content(content), is_error=failed)
        asked = ToolCall(call_id, string(each.record.get("name")), json_text(each.record.get("inputs")))
        self.lanes.result(result, asked, first_string(each.record, "end_time") or None, each.source)

    def _outermost(self) -> None:
        """Read the messages of the outermost run, which for a graph are its last state."""
        for each in self.runs:
            if each.kind not in MODEL_RUNS and not each.record.get("parent_run_id"):
                after = _messages(each.record.get("outputs"))
                given = after if len(after) > 1 else [*given_to(each.record.get("inputs")), *after]
                if given:
                    self.lanes.take(Request(self.repeats.items(given, each.source)))


def _counted(told: Transcript, intake: Intake) -> Transcript:
    from msgspec.structs import replace

    skipped = Counter(told.intake.skipped) + Counter(intake.skipped)
    return replace(told, intake=replace(intake, skipped=dict(skipped), repaired=told.intake.repaired))


def given_to(inputs: object) -> list[Any]:
    """Messages that a run was given: a list, a list of lists (one a prompt: the first counts), or prompts of text."""
    given = mapping(inputs)
    system = given.get("system") or given.get("instructions")
    lead = [{"type": "system", "content": system}] if isinstance(system, str | list) and system else []
    listed = _messages(given)
    if listed:
        return [*lead, *listed]
    texts = [text for text in array(given.get("prompts")) if isinstance(text, str)][:1]
    asked = texts or [text for text in (given.get("input"), given.get("question")) if isinstance(text, str)][:1]
    return [*lead, *({"type": "human", "content": text} for text in asked)] if asked else []


def _messages(holder: object) -> list[Any]:
    given = mapping(holder)
    for name in ("messages", "input", "output"):
        listed = array(given.get(name))
        if listed and isinstance(listed[0], list) and fields_of(listed[0]) is None:
            listed = listed[0]
        if listed and fields_of(listed[0]) is not None:
            return listed
    return []


def answer_of(outputs: object) -> list[Any]:
    """What a model run answered: the first message is the answer, others are further choices."""
    given = mapping(outputs)
    generations = array(given.get("generations"))
    generations = generations[0] if generations and isinstance(generations[0], list) else generations
    found = [_generated(each) for each in objects(generations)]
    if not found:
        found = [each["message"] for each in objects(given.get("choices")) if fields_of(each.get("message"))]
    if not found:
        inner = [given.get(name) for name in ("message", "output")]
        found = [each for each in (*inner, given) if isinstance(each, dict) and fields_of(each) is not None][:1]
    return found or _messages(given)[-1:]


def _generated(generation: dict[str, Any]) -> Any:  # noqa: ANN401  # JSON is any value
    message = generation.get("message")
    return message if fields_of(message) else {"type": "ai", "content": generation.get("text")}


def _usage(record: dict[str, Any]) -> Usage | None:
    sent, made = count(record.get("prompt_tokens")) or 0, count(record.get("completion_tokens")) or 0
    if sent or made:
        return Usage(None, sent, made)
    outputs = mapping(record.get("outputs"))
    about = {"token_usage": mapping(outputs.get("llm_output")).get("token_usage") or outputs.get("usage")}
    return usage_of({"usage_metadata": outputs.get("usage_metadata"), "response_metadata": about})
