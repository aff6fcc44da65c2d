"""The rows of a run: keys, records, needed facts, the manifest, and how a line of them is written and read back."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, TypeVar

import msgspec

from compactlab.errors import RunError
from compactlab.matching import Verdict

SCORER_VERSION = "3"
"""Changes whenever the same compaction would score differently; runs of two versions are not comparable."""

Mode = Literal["cuts", "replay", "recorded"]


class Key(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which block: session, cut (a share of its assistant messages, or a window), strategy or control.

    `size_of` is the strategy whose size a control has; `budget` the share of the weight, in per cent, that the strategy
    was to meet, empty without one; `replicate` counts, from 0, the repetitions of a strategy that asks a model or draws
    by a seed. The strategy `facts` is no strategy: its block says what was at risk and needed at the cut.
    """

    session: str
    cut: str
    strategy: str
    size_of: str = ""
    budget: str = ""
    replicate: int = 0


class Record(msgspec.Struct, frozen=True, rename={"pass_": "pass"}):
    """One row: `value` of `n` for a metric (see `compactlab.metrics.Score`); for the metric `outcome`, n rows follow.

    `model` names what wrote the text of a compaction that asked one, and `reason` then says what was amiss with its
    replies, also where the compaction was applied: that it was asked twice, or that a fallback was taken. `index` is
    the position of the assistant message at the cut; `draws` how many draws a value is the mean of. `fell_back` tells
    of an applied pass that had to do without its model. `pass` (in Python `pass_`) counts the compactions of a replay
    that the things spoken of went through, 0 where a row speaks of the whole.
    """

    session: str
    agent_type: str
    cluster: str
    cut: str
    index: int
    strategy: str
    metric: str
    value: float = 0.0
    n: int = 1
    size_of: str = ""
    budget: str = ""
    family: str = ""
    use: str = ""
    home: str = ""
    group: str = ""
    draws: int = 1
    replicate: int = 0
    pass_: int = 0
    outcome: str = ""
    fell_back: bool = False
    reason: str = ""
    model: str = ""
    made_by: str = ""

    @property
    def key(self) -> Key:
        return Key(self.session, self.cut, self.strategy, self.size_of, self.budget, self.replicate)


class NeededFact(msgspec.Struct, frozen=True):
    """A load-bearing fact under one strategy: its `verdict`, of those of `matching`, and whether it stands `bound`.

    `home` and `used` are the positions of the messages that held it first and that needed it, with the words around it;
    `use` is action, bulk or text; `regain` is reobtainable or irrecoverable. `tenth` says in which tenth of the weight
    before the cut its first home begins (1 the oldest), `age` how many turns of the agent ago it was last mentioned.
    """

    session: str
    cut: str
    strategy: str
    budget: str
    verdict: Verdict
    bound: bool
    family: str
    value: str
    home: int
    home_text: str
    used: int
    used_text: str
    use: str
    regain: str
    tenth: int
    age: int


class Manifest(msgspec.Struct, frozen=True):
    """What a run was made of; two runs compare only if scorer version, counter and corpus digest agree.

    `model` is what wrote the text of strategies that ask one, with the settings that change its replies; empty where
    none asks. `asked_by` is how it was reached, without anything secret: live, from a store, in a batch. `reader` and
    `judge` are the models that answered hand-made probes and graded the answers. `mode` says what a `cut` of the
    records is: a place where a session was cut, a whole session replayed, or a compaction that a harness recorded.
    `settings` is, for each type of agent, the policy that the row `settings` of a replay stands for.
    """

    compactlab: str
    scorer: str
    counter: str
    counter_version: str
    seed: int
    cuts: tuple[str, ...]
    strategies: tuple[str, ...]
    corpus: str
    sessions: tuple[str, ...]
    families: tuple[str, ...]
    plugins: dict[str, str]
    budgets: tuple[str, ...] = ()
    model: str = ""
    asked_by: str = ""
    mode: Mode = "cuts"
    reader: str = ""
    judge: str = ""
    replicates: int = 1
    settings: dict[str, str] = {}

    def digest(self) -> str:
        """Eight hex digits that name the run's folder."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:8]


_DEFAULTS = {f.encode_name: f.default for f in msgspec.structs.fields(Record) if not f.required}
Row = TypeVar("Row", bound=msgspec.Struct)


class Block(msgspec.Struct, frozen=True):
    """All rows of one key, the first its outcome; what the strategy left; how many seconds it took.

    `fires` are those of a replay: the seconds of each, and the tokens that it was given.

    A block that `lacks` a reply is not written: `pending` where the reply may still come, `missing` where it cannot be
    had; its one row says which.
    """

    records: tuple[Record, ...]
    compaction: dict[str, Any] | None = None
    seconds: float | None = None
    fires: tuple[tuple[float, int], ...] = ()
    lacks: Literal["", "pending", "missing"] = ""

    @property
    def key(self) -> Key:
        return self.records[0].key


def encode(row: object) -> bytes:
    """One line of JSON; lone surrogates, which msgspec refuses, come out escaped."""
    plain = _lean(row) if isinstance(row, Record) else row
    try:
        return msgspec.json.encode(plain) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(plain)).encode() + b"\n"


def columns(record: Record) -> dict[str, Any]:
    """The fields of a record by the names under which they are written and shown."""
    return dict(zip(Record.__struct_encode_fields__, msgspec.structs.astuple(record), strict=True))


def _lean(record: Record) -> dict[str, Any]:
    """The fields that differ from their defaults: equal rows give equal bytes, whichever process made them."""
    values = columns(record)
    return {name: value for name, value in values.items() if name not in _DEFAULTS or value != _DEFAULTS[name]}


def decoded(line: bytes, kind: type[Row]) -> Row:
    """Read a line that `encode` wrote; `RunError` for one that it did not."""
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError:
        pass
    try:
        return msgspec.convert(json.loads(line), kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise RunError(f"a line cannot be read ({error})") from error
