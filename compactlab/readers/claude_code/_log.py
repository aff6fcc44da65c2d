"""One file of a session, gone through line by line: its records by uuid, and what stands in it beside them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from compactlab.readers._fields import objects, string, strings
from compactlab.readers.claude_code import _attachments, _kinds
from compactlab.readers.claude_code._records import Record, record
from compactlab.transcript import Intake, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactlab.readers import Line, Source

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}


@dataclass
class Log:
    """The records of a file, first one first, and what they tell about each other.

    `leaves` are the titles of branches, by the record that is the last of each, `replaced` the texts that the model was
    sent in place of large results, by call, `retracted` the records that were taken back.
    """

    nodes: dict[str, Record] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    leaves: dict[str, str] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    retracted: set[str] = field(default_factory=set)
    own: dict[str, Any] = field(default_factory=dict)
    version: str = ""
    lines: int = 0
    intake: Intake = field(default_factory=Intake)
    origins: tuple[Origin, ...] = ()

    @property
    def main(self) -> list[Record]:
        return [node for node in self.nodes.values() if not node.sidechain]

    @property
    def title(self) -> str:
        """The user's own, else a generated one, else that of a branch that ends in this file, or of the last branch."""
        here = [title for leaf, title in self.leaves.items() if leaf in self.nodes]
        named = (self.titles.get("custom-title"), self.titles.get("ai-title"), *here[-1:], self.titles.get("summary"))
        return next((title for title in named if title), "")

    def follow(self, earlier: Log, root: Record, leaf: str) -> None:
        """Put *earlier*, the file before this one, in front: *root* goes on where the record *leaf* of it ends."""
        first = earlier.lines
        own = {uuid: node for uuid, node in self.nodes.items() if uuid not in earlier.nodes}
        moved = {uuid: replace(node, index=node.index + first) for uuid, node in own.items()}
        moved[root.uuid] = replace(root, index=root.index + first, parent=leaf)
        self.nodes = earlier.nodes | moved
        self.origins = (*earlier.origins, *(replace(origin, first=origin.first + first) for origin in self.origins))
        self.lines += first
        self.replaced = earlier.replaced | self.replaced
        self.retracted |= earlier.retracted
        self.version = earlier.version or self.version
        self.intake = _joined(earlier.intake, self.intake)


def load(source: Source) -> Log:
    """Go through the lines of a file."""
    log, lines = Log(), source.lines()
    counts = _Counts()
    for line in lines:
        if isinstance(line.value, dict):
            _take(log, counts, line)
        else:
            counts.unknown["no object"] += 1
        log.lines = line.number
    intake = lines.intake(counts.skipped, counts.unknown)
    log.intake = replace(intake, repaired=dict(Counter(intake.repaired) + counts.repaired))
    log.origins = (Origin(str(source.path), "line {}", base=1),)
    return log


class _Counts:
    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()


def _take(log: Log, counts: _Counts, line: Line) -> None:
    value = line.value
    uuid = string(value.get("uuid"))
    if uuid and uuid in log.nodes:
        counts.skipped["repeated uuid"] += 1
        return
    if value.get("type") == "progress":
        counts.skipped["progress"] += 1
        if uuid:
            log.nodes[uuid] = record(line)
        return
    read = record(line)
    is_said = read.is_message or read.is_boundary
    if uuid or is_said:
        log.nodes[read.uuid] = read
    if is_said:
        counts.repaired["message without uuid"] += not uuid
    elif not (value.get("type") == _kinds.OWN and isinstance(value.get("id"), str)):
        known = _kinds.is_known(value) or (value.get("type") == "attachment" and _attachments.is_known(value))
        (counts.skipped if known else counts.unknown)[_kinds.kind(value)] += 1
    if not log.version:
        log.version = string(value.get("version"))
    _tell(log, value)


def _tell(log: Log, value: dict[str, Any]) -> None:
    """Note what a record says about others."""
    kind = value.get("type")
    if isinstance(kind, str) and kind in _TITLES and isinstance(value.get(_TITLES[kind]), str):
        log.titles[kind] = value[_TITLES[kind]]
    if kind == "summary" and isinstance(value.get("leafUuid"), str):
        log.leaves[value["leafUuid"]] = string(value.get("summary"))
    elif kind == "content-replacement":
        for made in objects(value.get("replacements")):
            if isinstance(made.get("replacement"), str):
                log.replaced[string(made.get("toolUseId"))] = made["replacement"]
    elif kind == _kinds.OWN:
        log.own = log.own or value
    log.retracted.update(strings(value.get("retractedMessageUuids")), strings(value.get("supersedesUuids")))


def _joined(one: Intake, two: Intake) -> Intake:
    def added(name: str) -> dict[str, int]:
        counts: Mapping[str, int] = getattr(one, name)
        return dict(Counter(counts) + Counter(getattr(two, name)))

    return Intake(
        one.records + two.records,
        added("skipped"),
        added("unknown"),
        added("repaired"),
        (*one.problems, *two.problems),
    )
