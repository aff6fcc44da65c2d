"""Replies kept in a store, so that a run can be had again without a model, a key or a network.

A store is a folder with `replies.jsonl`, or one file whose name ends in `.jsonl`: a line a reply, sorted by model,
purpose and key, so that two versions of it can be compared. The key is a digest of everything that has an effect:
purpose, model, instructions, prompt, most output, temperature, seed, repetition, version of the prompts. Beside it
stand the same in readable form, the prompt as its digest and the beginning of its material; never a header, an address
or a credential.

Failures are lines too: a replay then takes the same fallback that the recording took; a recording asks again.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from compactlab.errors import SpecError, TranscriptError
from compactlab.llm import Model, ModelError, Reply, Request, TooLong
from compactlab.llm.jsonl import Lines
from compactlab.llm.prompts import rendered
from compactlab.redaction import redacted
from compactlab.tokens import clean

FORMAT = 1
"""Part of every key: changes if the same request would be sent otherwise."""
SHOWN = 80
"""Characters of the material that a line shows."""
FILE = "replies.jsonl"


KEPT_FAILURES = (ModelError, TooLong)


class Missing(ModelError):  # noqa: N818  # says what is the matter
    """The store holds no reply to a request, and nobody may be asked."""


class Asked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request as it stands in a line: its key, and everything that the key is a digest of.

    `system` and `prompt` are digests of these texts, `characters` is how long the prompt is, `begins` how its material
    does. `window` is that of the model, by which material is parted; no part of the key.
    """

    key: str
    purpose: str
    model: str
    prompt_version: str
    max_output: int
    temperature: float | None
    seed: int | None
    replicate: int
    system: str
    prompt: str
    characters: int
    begins: str
    window: int | None = None


class Stored(Asked, frozen=True, kw_only=True, omit_defaults=True):
    """A reply as a line: what was asked, and what came back, or as `error` the name of the failure."""

    text: str
    finish_reason: str = "stop"
    answered_by: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    error: str = ""

    def given(self) -> Reply:
        """The reply; raises the failure that was recorded in its stead."""
        if self.error:
            raise (TooLong if self.error == TooLong.__name__ else ModelError)(self.text)
        usage = (self.input_tokens, self.output_tokens, self.cached_tokens)
        return Reply(self.text, self.answered_by or self.model, self.finish_reason, *usage)


WHAT_COUNTS = ("purpose", "model", "system", "prompt", "max_output", "temperature", "seed", "replicate",
               "prompt_version")  # fmt: skip
_NEARNESS = {"prompt": 8, "purpose": 4, "begins": 2, "system": 2, "model": 2}


def asked_of(request: Request, model: str, window: int | None = None) -> Asked:
    """Write down a request to *model*, with its key.

    >>> first = Request("answer", "", "How many?", (), prompt_version="1")
    >>> asked_of(first, "m").key, asked_of(replace(first, replicate=1), "m").key
    ('a3e069afe71379b1107eaf0ee760afe1', '610df0333dc12ea07dd24aba6c1814e3')
    """
    warmth = None if request.temperature is None else float(request.temperature)
    counted = (request.purpose, model, request.system, request.prompt, request.max_output, warmth, request.seed,
               request.replicate, request.prompt_version)  # fmt: skip
    material = rendered(request.material[:SHOWN]) if request.material else request.prompt
    return Asked(
        key=_digest([FORMAT, *counted])[:32],
        purpose=request.purpose,
        model=model,
        prompt_version=request.prompt_version,
        max_output=request.max_output,
        temperature=warmth,
        seed=request.seed,
        replicate=request.replicate,
        system=_digest(request.system)[:16],
        prompt=_digest(request.prompt)[:16],
        characters=len(request.prompt),
        begins=redacted(clean(material[: 10 * SHOWN]))[:SHOWN],
        window=window,
    )


def answered(asked: Asked, reply: Reply) -> Stored:
    """The line of a reply to what was asked, without secrets that the model may have written."""
    by = "" if reply.model == asked.model else reply.model
    usage = {name: getattr(reply, name) for name in ("input_tokens", "output_tokens", "cached_tokens")}
    fields = msgspec.structs.asdict(asked)
    return Stored(
        **fields, text=redacted(clean(reply.text)), finish_reason=reply.finish_reason, answered_by=by, **usage
    )


class Recorded:
    """Answers from the store at *path*; what it lacks is asked of *behind* and kept, or, without one, is `Missing`.

    *name* and *window* are those of the model that is replayed; they may be left out where the store holds replies of
    one alone, or replies of one alone to requests of these *purposes*.
    """

    def __init__(
        self,
        path: Path | str,
        behind: Model | None = None,
        *,
        name: str = "",
        window: int | None = None,
        purposes: Collection[str] = (),
    ) -> None:
        self.store = opened(path)
        self._behind = behind
        if behind is not None:
            self.name = behind.name
            return
        if not self.store.path.exists():
            raise TranscriptError(f"{self.store.path}: no such file; expected a store of recorded replies")
        lines = self.store.values()
        self.name = name or only_model(lines, self.store.path, purposes)
        self._window = window if window is not None else _only_window(lines, self.name, self.store.path)

    @property
    def window(self) -> int | None:
        """The window of the model behind; in a replay the one that was recorded."""
        return self._window if self._behind is None else self._behind.window

    def reply(self, request: Request) -> Reply:
        """The reply in the store, or that of the model behind, which then stands there."""
        asked = asked_of(request, self.name, None if self._behind is None else self._behind.window)
        stored = self.store.get(asked.key)
        if self._behind is None:
            if stored is None:
                raise Missing(
                    f"no reply in {self.store.path} to this request: {difference(asked, self.store.values())}"
                )
            return stored.given()
        if stored is not None and not stored.error:
            return stored.given()
        return self._recorded(request, asked, self._behind)

    def _recorded(self, request: Request, asked: Asked, behind: Model) -> Reply:
        """Ask the model behind and keep what it gives, failures too; of two at once all take the first."""
        try:
            reply = behind.reply(request)
        except ModelError as error:
            if type(error) not in KEPT_FAILURES:  # it tells of this machine or this run
                raise
            failure = Stored(
                **msgspec.structs.asdict(asked), text=redacted(clean(str(error))), error=type(error).__name__
            )
            self.store.add(failure)
            return failure.given()
        given = self.store.add(answered(asked, reply)).given()
        return replace(given, latency_seconds=reply.latency_seconds, attempts=reply.attempts)

    def settle(self) -> None:
        """Sort the store, so that it does not tell which process was first; for the end of a recording."""
        if self._behind is not None and self.store.path.exists():
            self.store.keep(lambda _: True, by_model_and_purpose)


def opened(path: Path | str) -> Lines[Stored]:
    """The lines of the store at *path*; `TranscriptError` if it is none."""
    file = Path(path) if str(path).endswith(".jsonl") else Path(path) / FILE
    return Lines(file, Stored, key_of, is_better)


def key_of(line: Asked) -> str:
    """The key of a line."""
    return line.key


def is_better(new: Stored, old: Stored) -> bool:
    """True of a reply that comes after a failure, or of another failure; a reply that is there stays."""
    return bool(old.error) and new != old


def by_model_and_purpose(line: Asked) -> tuple[str, str, str]:
    """The order of lines in a store that is settled."""
    return line.model, line.purpose, line.key


def only_model(lines: Iterable[Asked], path: Path, purposes: Collection[str] = ()) -> str:
    """The one model that lines name, or lines of these *purposes*; `SpecError` for none or several."""
    lines = tuple(lines)
    wanted = {line.model for line in lines if line.purpose in purposes}
    names = sorted(wanted or {line.model for line in lines})
    if len(names) != 1:
        found = f"replies of {', '.join(names)}" if names else "no replies"
        raise SpecError(f"{path}: holds {found}; expected the name of the model (--model, or model in [llm])")
    return names[0]


def _only_window(lines: Iterable[Asked], model: str, path: Path) -> int | None:
    windows = {line.window for line in lines if line.model == model}
    if len(windows) > 1:
        found = ", ".join(sorted(map(str, windows)))
        raise SpecError(f"{path}: replies of {model} were recorded with the windows {found}; expected window in [llm]")
    return next(iter(windows), None)


class Held(NamedTuple):
    """How many replies and failures of one model to one kind of request a store holds."""

    model: str
    purpose: str
    replies: int
    failures: int


def contents(path: Path | str) -> tuple[Held, ...]:
    """What a store holds, by model and purpose; `TranscriptError` for a path that is no store or batch folder."""
    place = Path(path)
    if not place.exists():
        raise TranscriptError(f"{place}: no such file or folder; expected a store of replies, or a batch folder")
    groups: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for line in opened(place).values():
        groups[line.model, line.purpose].append(bool(line.error))
    return tuple(Held(*group, failed.count(False), failed.count(True)) for group, failed in sorted(groups.items()))


class Difference(NamedTuple):
    """Which fields of the nearest line differ from what was asked."""

    nearest: Asked
    fields: tuple[str, ...]


def nearest(asked: Asked, lines: Sequence[Asked]) -> Difference | None:
    """The line that is most like a request; None where there is none at all."""
    if not lines:
        return None

    def far(line: Asked) -> tuple[int, str]:
        return sum(_NEARNESS.get(name, 1) for name in _differing(asked, line, (*WHAT_COUNTS, "begins"))), line.key

    found = min(lines, key=far)
    return Difference(found, _differing(asked, found, WHAT_COUNTS))


def difference(asked: Asked, lines: Sequence[Asked]) -> str:
    """Say why a request has no reply: what of it differs from the nearest line."""
    what = f"{asked.purpose} by {asked.model}, beginning {asked.begins[:40]!r}"
    near = nearest(asked, lines)
    if near is None:
        return f"{what}; the store is empty"
    said = [_said(name, asked, near.nearest) for name in near.fields]
    return f"{what}; the nearest stored ({near.nearest.key[:8]}) differs in {', '.join(said) or 'nothing but its key'}"


def _said(name: str, asked: Asked, line: Asked) -> str:
    here, there = getattr(asked, name), getattr(line, name)
    if name == "prompt":
        here, there = f"{asked.characters:,} characters", f"{line.characters:,}"
        if asked.begins != line.begins:
            there += f" beginning {line.begins[:40]!r}"
    return f"{name} ({here}, stored {there})"


def _differing(one: Asked, other: Asked, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if getattr(one, name) != getattr(other, name))


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
