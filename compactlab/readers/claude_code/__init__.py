"""Claude Code session files: JSON lines that form a tree by `uuid` and `parentUuid`, seen in versions 1.0 to 2.1.

A file holds a session (`primary`) and, in older versions, the sidechains of its agents (`subagent`; `subconscious` for
those that work for the harness, such as the summariser). Newer ones have files of their own, which are transcripts of
their own. Each is the live branch, one message a model response, results after their calls. A compaction parts it: the
summary, what was attached after it and results that were cleared stand in `after` alone. A file of version 1.0 that
continues another has that one's story in front, where it lies in the same folder and ends where this one starts.

Attachments (reminders, files, output of hooks) are synthetic user messages, as far as their words are recorded. Not
read: the system prompt and tool schemas, which are not stored; `toolUseResult`, which repeats results in another form;
`progress`, which repeats sidechains; large results spilled into `tool-results`, of which the model saw the start.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import mapping, string
from compactlab.readers.claude_code import _beside, _kinds
from compactlab.readers.claude_code._log import Log, load
from compactlab.readers.claude_code._messages import SYNTHETIC_MODEL, build
from compactlab.readers.claude_code._tree import branch, sidechains
from compactlab.readers.claude_code._write import write as write
from compactlab.transcript import Intake, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compactlab.readers import Source
    from compactlab.readers.claude_code._records import Record

NAME = "claude_code"
WHERE = "~/.claude/projects/FOLDER/SESSION.jsonl, agents in SESSION/subagents/agent-ID.jsonl"
ONE_SESSION = True
CHAIN = 50  # files that may continue each other


def sniff(source: Source) -> float:
    """Look for records that are linked by `uuid` and `parentUuid`, behind leading ones that never are."""
    if any(_is_linked(value) for value in source.values):
        return 1.0
    kind = source.first.get("type")
    if not isinstance(kind, str) or kind not in _kinds.IDLE | {_kinds.OWN} or source.document is not None:
        return 0.0
    return 0.9 if any(_is_linked(line.value) for line in source.lines()) else 0.0


def _is_linked(value: object) -> bool:
    if not isinstance(value, dict) or not {"uuid", "parentUuid", "sessionId", "type"} <= value.keys():
        return False
    message = mapping(value.get("message"))
    return "parts" not in message or "content" in message


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file and its sidechains; one without messages is none.

    All share a cluster, the id of the session in which the file began: a fork copies the records of another session.
    """
    log = _continued(source, load(source), CHAIN)
    main = log.main
    session = _session(source, main or list(log.nodes.values()))
    cluster = _first_session(main) if main else _beside.cluster(source, session)
    sessions = dict.fromkeys(node.session for node in main if node.session and node.session != session)
    for path in _beside.copied(source, sessions, log.nodes):
        source.beside(path)
    told = log.intake
    for name, group in (("", main), *sidechains(log.nodes)):
        transcript = _transcript(log, group, told)
        if transcript.messages:
            told = Intake()
            placed = replace(transcript, path=str(source.path), cluster=cluster or session)
            yield _named(source, placed, log, (session, name))


def _continued(source: Source, log: Log, depth: int) -> Log:
    """Put the file that this one continues in front, if it is one of version 1.0 that begins with a summary."""
    may_go_on = depth and log.leaves and any(node.is_summary and not node.logical for node in log.nodes.values())
    live = branch(log.main, log.nodes).records[:1] if may_go_on else ()
    if not live or not live[0].is_summary or live[0].own is not None:
        return log
    root = live[0]
    wanted = {leaf for leaf in (root.parent, *log.leaves) if leaf and leaf not in log.nodes}
    found = _beside.earlier(source, wanted, root.timestamp or "")
    if found is not None and found[0] not in source.used:
        path, leaf = found
        beside = source.beside(path)
        log.follow(_continued(beside, load(beside), depth - 1), root, leaf)
    return log


def _transcript(log: Log, group: Sequence[Record], told: Intake) -> Transcript:
    """Make a transcript of one group of records, as yet without a name."""
    live = branch(group, log.nodes)
    retracted = {record.uuid for record in live.records if record.kind == "assistant" and record.uuid in log.retracted}
    built = build([record for record in live.records if record.uuid not in retracted], log.nodes, log.replaced)
    counted = Counter(told.skipped) + Counter(built.skipped) + Counter(live.others)
    counted["message taken back"] += len(retracted)
    return Transcript(
        id="",
        format=NAME,
        messages=built.messages,
        compactions=built.compactions,
        usage=built.usage,
        origins=log.origins,
        intake=replace(told, skipped=dict(+counted), repaired=dict(Counter(told.repaired) + Counter(built.repaired))),
        header=_header(log.version, group),
    )


def _named(source: Source, transcript: Transcript, log: Log, name: tuple[str, str]) -> Transcript:
    """Give a transcript its id, its title, its agent type and the summarisers of its compactions."""
    session, chain = name
    agent = chain.removeprefix("agent-") if chain.startswith("agent-") else ""
    given = _beside.agent(source, agent) if agent else {}
    called = {"agent": given["agent"]} if given.get("agent") else {}
    named = replace(
        transcript,
        id=f"{session}-{chain}" if chain else session,
        title=given.get("title", "") if chain else log.title,
        agent_type=("subconscious" if _beside.is_subconscious(agent) else "subagent") if chain else "primary",
        header=transcript.header | called,
    )
    if any(compaction.summary for compaction in named.compactions) and not chain:
        ids = _beside.matched(named.compactions, _beside.summarisers(source, session))
        found = tuple(replace(c, summariser=i) for c, i in zip(named.compactions, ids, strict=True))
        named = replace(named, compactions=found)
    return _own(named, log.own)


def _own(transcript: Transcript, own: dict[str, Any]) -> Transcript:
    """What our own writer kept of the transcript that it wrote."""
    if not own:
        return transcript
    tools = own.get("tools")
    return replace(
        transcript,
        id=string(own.get("id")) or transcript.id,
        agent_type=string(own.get("agent_type")) or transcript.agent_type,
        cluster=string(own.get("cluster")) or transcript.cluster,
        tools=tuple(tool for tool in tools if isinstance(tool, str | dict)) if isinstance(tools, list) else (),
    )


def _session(source: Source, group: Sequence[Record]) -> str:
    """Id of the session: the file's name, or the last one named (records copied by a fork keep their old one)."""
    if any(record.session == source.stem for record in group):
        return source.stem
    return next((record.session for record in reversed(group) if record.session), "") or source.stem


def _first_session(group: Sequence[Record]) -> str:
    return next((record.session for record in group if record.session), "")


def _header(version: str, group: Sequence[Record]) -> dict[str, Any]:
    """Version of the tool and the models that spoke."""
    models = dict.fromkeys(node.model for node in group if node.model and node.model != SYNTHETIC_MODEL)
    return {name: value for name, value in (("version", version), ("model", ", ".join(models))) if value}
