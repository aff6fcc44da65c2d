"""Claude Code session files: JSON lines that form a tree by `uuid` and `parentUuid`, seen in versions 1.0 to 2.1.

One file holds a session and, in older versions, the sidechains of its agents; newer ones have files of their own.
Each becomes a transcript: the live branch, one message a model response, results after their calls. History before a
compaction stays in `messages`; the boundaries are its `compactions`. System prompt and tool schemas are not stored in
these files. `toolUseResult`, which repeats results in another form, is never read.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from compactlab.readers.claude_code._messages import build
from compactlab.readers.claude_code._tree import Record, branch, sidechains, tree
from compactlab.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compactlab.readers import Sample, Source

NAME = "claude_code"
_LEADING = {"summary", "file-history-snapshot", "queue-operation"}


def sniff(sample: Sample) -> float:
    """Look for records that are linked by `uuid` and `parentUuid`, behind leading ones that never are."""
    if any(_is_linked(value) for value in sample.values):
        return 1.0
    first = sample.values[0]
    if not isinstance(first, dict) or str(first.get("type")) not in _LEADING:
        return 0.0
    return 0.9 if any(_is_linked(line.value) for line in sample.source.lines.lines) else 0.0


def _is_linked(value: object) -> bool:
    return isinstance(value, dict) and {"uuid", "parentUuid", "sessionId", "type"} <= value.keys()


def read(source: Source) -> Iterator[Transcript]:
    """Read the session of a file (agent type `primary`) and its sidechains (`subagent`); one without messages is none.

    All share a cluster, the id of the session in which the file began: a fork copies the records of another session.
    """
    nodes, skipped = tree(source.lines.lines)
    skipped.update(source.lines.skipped)
    problems = source.lines.problems
    session = _session(nodes) or source.path.stem
    main = [node for node in nodes.values() if not node.sidechain]
    cluster = _first_session(main) or session
    groups = [("", main), *sidechains(nodes)]
    for name, group in groups:
        live = branch(group, nodes)
        built = build(live.records, nodes)
        if not built.messages:
            continue
        counted = skipped + Counter(built.skipped)
        counted["message of another branch"] += live.others
        yield Transcript(
            id=f"{session}-{name}" if name else session,
            format=NAME,
            messages=built.messages,
            path=str(source.path),
            title="" if name else _title(source),
            agent_type="subagent" if name else "primary",
            cluster=cluster,
            compactions=built.compactions,
            skipped=dict(+counted),
            problems=problems,
            header=_header(group),
        )
        skipped, problems = Counter(), ()


def _session(nodes: dict[str, Record]) -> str:
    """Id of the session: the last one named on the main chain (records copied by a fork keep their old one)."""
    main = [node for node in nodes.values() if not node.sidechain] or list(nodes.values())
    return next((str(node.value["sessionId"]) for node in reversed(main) if node.value.get("sessionId")), "")


def _first_session(group: Sequence[Record]) -> str:
    return next((str(node.value["sessionId"]) for node in group if node.value.get("sessionId")), "")


def _title(source: Source) -> str:
    """Title of the session: the user's own, else a generated one, else that of the last summary record."""
    found: dict[str, str] = {}
    for line in source.lines.lines:
        value: Any = line.value
        for kind, key in (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")):
            if isinstance(value, dict) and value.get("type") == kind and isinstance(value.get(key), str):
                found[kind] = value[key]
    return next((found[kind] for kind in ("custom-title", "ai-title", "summary") if kind in found), "")


def _header(group: Sequence[Record]) -> dict[str, Any]:
    """Version of the tool and the models that spoke."""
    version = next((node.value["version"] for node in group if isinstance(node.value.get("version"), str)), None)
    spoke = dict.fromkeys(str(node.message.get("model", "")) for node in group if node.kind == "assistant")
    models = [model for model in spoke if model not in {"", "<synthetic>"}]
    return ({} if version is None else {"version": version}) | ({"models": models} if models else {})
