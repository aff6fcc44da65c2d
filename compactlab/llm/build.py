"""Builds a model from its spec, as settings and the command line give it.

- `extractive`: written by code, no model; what is taken where nothing else is said
- `live` or `live:MODEL`: an OpenAI-compatible server; its key is in OPENAI_API_KEY and never in a file
- `local` or `local:FILE.gguf`: a small model on this machine, or with `base_url` one that is served there already
- `record:STORE`, `replay:STORE`: replies kept, and given again without a model
- `batch:FOLDER`: requests written down, replies read back later
- `module:Class`: anybody's own
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from msgspec.structs import replace

from compactlab import catalog
from compactlab.errors import SpecError
from compactlab.llm import OPTIONAL, Model, Purpose, Reply, Request
from compactlab.llm.extractive import Extractive

KINDS = ("extractive", "live", "local", "record", "replay", "batch")
STORED = ("record", "replay", "batch")
"""Kinds that name a store or a folder."""
WRITING: tuple[Purpose, ...] = ("summary", "reflect", "merge")
"""What strategies ask a model for."""


class Spec:
    """A spec taken apart: its kind, and the model, file, store, folder or class that stands behind the colon.

    >>> spec = Spec("replay:replies")
    >>> spec.kind, spec.rest
    ('replay', 'replies')
    """

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        kind, colon, self.rest = text.strip().partition(":")
        self.is_outside = kind not in KINDS and bool(re.fullmatch(r"[^\W\d][\w.]*:[^\W\d]\w*", text.strip()))
        self.kind = text.strip() if self.is_outside else kind
        if kind in KINDS and (not colon or (self.rest and kind != "extractive")):
            return
        if not self.is_outside:
            expected = ", ".join((*KINDS, "module:Class"))
            raise SpecError(f"model {text!r}: expected one of {expected}; record, replay and batch as KIND:FOLDER")

    def __str__(self) -> str:
        return self._text


def build(
    spec: str,
    settings: Mapping[str, Any] | None = None,
    ledger: Path | None = None,
    purposes: Collection[Purpose] = WRITING,
) -> Model:
    """Build the model of *spec*; *settings* are the keys of `[llm]`.

    `temperature` and the most tokens of output, `max_output`, hold for every request, and what `leave_out` names is not
    sent; `prices` win over the table of prices. *ledger* is the file in which all processes of a run write what they
    spent, for the cap. Of a store that holds replies of several models, the one that is meant where none is named is
    that which answered requests of these *purposes*. Raises `SpecError`, `UnknownName`, `TranscriptError` for a store
    that is none, or `ModelError` for a model that cannot be had.

    >>> build("extractive").name
    'extractive'
    """
    given = dict(settings or {})
    model = _built(Spec(spec), given, ledger, purposes)
    if given.keys() & {"temperature", "max_output", "leave_out"}:
        left_out = tuple(given.get("leave_out", ()))
        return Adjusted(model, given.get("temperature"), given.get("max_output"), left_out)
    return model


def _built(spec: Spec, given: Mapping[str, Any], ledger: Path | None, purposes: Collection[Purpose] = WRITING) -> Model:
    if spec.is_outside:
        return _outside(spec.kind)
    if spec.kind == "live":
        return _live(spec.rest or given.get("model", ""), given, ledger)
    if spec.kind == "local":
        return _local(spec.rest, given)
    if spec.kind in STORED:
        place = Path(spec.rest or given.get("store", ""))
        if place == Path():
            raise SpecError(f"model {spec.kind!r}: expected {spec.kind}:FOLDER, or a store in [llm]")
        if spec.kind == "record":
            return _recording(place, _built(_behind(given), given, ledger))
        return _stored(spec.kind, place, given, purposes)
    return Extractive()


def _recording(place: Path, behind: Model) -> Model:
    from compactlab.llm.recorded import Recorded

    return Recorded(place, behind)


def _stored(kind: str, place: Path, given: Mapping[str, Any], purposes: Collection[Purpose]) -> Model:
    from compactlab.llm.batch import Batch, known_model
    from compactlab.llm.recorded import Recorded

    name, window = given.get("model", ""), given.get("window")
    if kind == "batch":
        return Batch(place, name or known_model(place, purposes), window=window)
    return Recorded(place, name=name, window=window, purposes=purposes)


def _behind(given: Mapping[str, Any]) -> Spec:
    """The model that a recording asks: what the settings name beside it, else a live one."""
    kind = Spec(given.get("kind", "live"))
    return kind if kind.is_outside or kind.kind in {"live", "local"} else Spec("live")


def _live(name: str, given: Mapping[str, Any], ledger: Path | None) -> Model:
    from compactlab.llm.live import Cap, Live

    if not name:
        raise SpecError("no model is named; expected --model NAME, or model in [llm]")
    names = ("concurrency", "timeout_seconds", "retries", "window")
    options = {key: given[key] for key in names if key in given}
    own: dict[str, Any] = {"path": ledger} if ledger else {}
    cap = Cap(given.get("cap_tokens"), given.get("cap_money"), prices=given.get("prices", {}), **own)
    live = Live(name, given.get("base_url"), cap=cap, **options)
    live.require()
    return live


def _local(file: str, given: Mapping[str, Any]) -> Model:
    from compactlab.llm.local import TIMEOUT_SECONDS, WINDOW, Local

    window, timeout = given.get("window", WINDOW), given.get("timeout_seconds", TIMEOUT_SECONDS)
    if "base_url" not in given:
        return Local(Path(file) if file else None, window=window, timeout_seconds=timeout)
    from compactlab.llm.live import Live

    name = given.get("model", "local")
    return Live(name, given["base_url"], "none", concurrency=1, timeout_seconds=timeout, window=window)


def _outside(spec: str) -> Model:
    """The object of a class that is not of this package, made without arguments."""
    cls = catalog.outside("model", spec, lambda value: isinstance(value, type))
    try:
        made = cls()
        fits = isinstance(made.name, str) and callable(made.reply) and isinstance(made.window, int | None)
    except Exception as error:  # so may its class
        raise SpecError(f"model {spec!r}: cannot be made ({type(error).__name__}: {error})") from error
    if not fits:
        raise SpecError(f"model {spec!r}: expected a class with name, window and reply, as compactlab.llm.Model says")
    model: Model = made
    return model


class Adjusted:
    """Passes requests on with another temperature, with at most *max_output*, and without what is left out.

    The one way to do so, from settings and from Python: a store of replies behind it knows what was really sent.
    *leave_out* names what a model does not take, of `temperature` and `seed`; `SpecError` for anything else.
    """

    def __init__(
        self,
        model: Model,
        temperature: float | None = None,
        max_output: int | None = None,
        leave_out: Sequence[str] = (),
    ) -> None:
        self.behind = model
        self._temperature, self._max_output = temperature, max_output
        if unknown := set(leave_out) - set(OPTIONAL):
            raise SpecError(f"leave_out names {sorted(unknown)}; expected some of {', '.join(OPTIONAL)}")
        self._without = dict.fromkeys(leave_out)

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self.behind.name

    @property
    def window(self) -> int | None:
        """The window of the model behind."""
        return self.behind.window

    def reply(self, request: Request) -> Reply:
        """Ask the model behind; a request for less output stays as it is."""
        most = request.max_output if self._max_output is None else min(request.max_output, self._max_output)
        warm = request.temperature if self._temperature is None else float(self._temperature)
        changes: dict[str, Any] = {"max_output": most, "temperature": warm, **self._without}
        return self.behind.reply(replace(request, **changes))

    def settle(self) -> None:
        """Bring a store behind into order."""
        settle(self.behind)


def settle(model: Model | None) -> None:
    """Bring the store of a model that has one into order; for the end of a run."""
    if (end := getattr(model, "settle", None)) is not None:
        end()


def described(spec: str, settings: Mapping[str, Any]) -> str:
    """A spec with what the settings add to it, fit to be shown: no key, and of an address no user and no query.

    >>> described("live", {"model": "m", "base_url": "https://me:secret@host/v1?key=1"})
    'live (model=m, base_url=https://host/v1)'
    """
    shown = {key: value for key, value in settings.items() if key not in {"kind", "base_url", "prices"}}
    if "base_url" in settings:
        shown["base_url"] = without_credentials(settings["base_url"])
    more = ", ".join(f"{key}={value}" for key, value in shown.items())
    return f"{spec} ({more})" if more else spec


def without_credentials(url: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
