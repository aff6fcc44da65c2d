"""Finds the plug-ins: what lies in the folders readers, strategies, peers and metrics is known by its file name.

There is no list to keep: a new file is enough. Outside code joins as an object in Python, or as `module:Class` on the
command line. A strategy's spec is its table label, its argument on the command line and its `repr`:

>>> strategy("sliding_window(preserve_recent=4)")
sliding_window(preserve_recent=4)
>>> strategy("sliding_window(preserve_recent=10)")
sliding_window
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib
import pkgutil
import re
import sys
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from compactlab.errors import SpecError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from compactlab.strategies import Strategy

Kind = Literal["readers", "strategies", "peers", "metrics"]
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^'"]""", re.DOTALL)


def names(kind: Kind) -> tuple[str, ...]:
    """Names of all plug-ins of a kind, sorted."""
    return _names(tuple(importlib.import_module(f"compactlab.{kind}").__path__))


@lru_cache(maxsize=16)
def _names(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(m.name for m in pkgutil.iter_modules(folders) if not m.name.startswith("_")))


def load(kind: Kind, name: str) -> ModuleType:
    """Import the plug-in *name*; `UnknownName`, with the known ones, if there is none."""
    if name not in names(kind):
        raise UnknownName(unknown(kind.rstrip("s").replace("strategie", "strategy"), name, names(kind)))
    return importlib.import_module(f"compactlab.{kind}.{name}")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Word the message for a name that does not exist.

    >>> unknown("strategy", "sliding_windw", ["none", "sliding_window"])
    "strategy 'sliding_windw' is unknown; did you mean 'sliding_window'? Known are none, sliding_window"
    """
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}? Known are " if near else "; known are "
    return f"{what} {name!r} is unknown{hint}{', '.join(known)}"


def digest(kind: Kind, name: str) -> str:
    """Digest of a plug-in's source: rows that it made are stale when this changes."""
    return source_digest(load(kind, name).__name__)


@lru_cache(maxsize=256)
def source_digest(module_name: str) -> str:
    """First 16 hex digits of the SHA-256 of a module's source file, or of its name where there is no file.

    The parts that a folder of plug-ins shares, files that begin with an underscore, count as the source of each.
    """
    file = getattr(importlib.import_module(module_name), "__file__", None)
    if not file:
        return hashlib.sha256(module_name.encode()).hexdigest()[:16]
    shared = sorted(Path(file).parent.glob("_[a-z]*.py")) if module_name.startswith(f"{__package__}.") else []
    return hashlib.sha256(b"".join(path.read_bytes() for path in (Path(file), *shared))).hexdigest()[:16]


def strategy(spec: str) -> Strategy:
    """Build a strategy from its spec: `NAME`, `NAME(field=literal, ...)` or `module:Class(field=literal, ...)`.

    Raises `UnknownName` for a name that stands nowhere, `SpecError` for a wrong field, value or form.
    """
    name, steps, arguments = _parsed(spec)
    cls = strategy_class(name)
    known = [field.name for field in fields(cls)]
    named = [cls.parameter_aliases.get(field, field) for field in arguments] + (["steps"] if steps else [])
    if steps and "steps" not in known:
        parameters = ", ".join(known) or "none"
        raise SpecError(f"strategy {spec!r}: parameters are written as name=value; they are: {parameters}")
    if len(named) != len(set(named)):
        raise SpecError(f"strategy {spec!r}: a parameter is given twice, under two names")
    arguments = dict(zip(named, (*arguments.values(), steps), strict=False))
    try:
        return cls(**arguments)
    except (TypeError, ValueError) as error:
        reason = str(error).replace(f"{cls.__name__}.__init__() ", "")
        raise SpecError(f"strategy {spec!r}: {reason}; its parameters are: {', '.join(known) or 'none'}") from error


def _parsed(spec: str) -> tuple[str, tuple[str, ...], dict[str, object]]:
    """Take a spec apart: its name, the specs inside it (of a ladder), and its fields by name."""
    name, bracket, rest = spec.strip().partition("(")
    name = name.strip()
    if not bracket:
        return name, (), {}
    try:
        parts = _split(rest)
        steps = tuple(part for part in parts if not re.match(r"[^\W\d]\w*\s*=", part))
        call = ast.parse(f"_({', '.join(part for part in parts if part not in steps)})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("there is something after the bracket")  # noqa: TRY301, TRY004  # joins the same report
        given = [str(keyword.arg) for keyword in call.keywords]
        if len(given) != len(set(given)):
            raise ValueError("a parameter is given twice")  # noqa: TRY301  # same
        return name, steps, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        expected = "expected NAME or NAME(field=value, ...)"
        raise SpecError(f"strategy {spec!r} cannot be read ({error}); {expected}") from error


def _split(rest: str) -> list[str]:
    """Cut what follows the opening bracket at its commas, up to the closing one; brackets and quotes inside hold.

    >>> _split("cull, window(min_messages=3), errors='a,b')")
    ['cull', 'window(min_messages=3)', "errors='a,b'"]
    """
    depth, cuts = 0, [0]
    for token in _TOKEN.finditer(rest):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
        if (token[0] == "," and not depth) or depth < 0:
            cuts.append(token.end())
        if depth < 0:
            break
    if depth >= 0 or rest[cuts[-1] :].strip():
        raise ValueError("the brackets do not fit" if depth >= 0 else "there is something after the bracket")
    parts = (rest[start : end - 1].strip() for start, end in pairwise(cuts))
    return [part for part in parts if part]


@lru_cache(maxsize=256)
def strategy_class(name: str) -> type[Strategy]:
    """Find the class behind a catalog name or `module:Class`; `UnknownName` or `SpecError` say what was sought."""
    if name.startswith("peer:"):
        return cast("type[Strategy]", importlib.import_module("compactlab.adapters").adapter(name))
    if ":" in name:
        return _outside_class(name)
    module = load(*_place_of(name))
    own: list[type[Strategy]] = [
        cls for cls in vars(module).values() if _is_strategy(cls) and cls.__module__ == module.__name__
    ]
    if len(own) != 1:
        raise SpecError(f"{module.__file__}: {len(own)} strategy classes found; expected exactly one")
    return own[0]


def _place_of(name: str) -> tuple[Kind, str]:
    """The kind and catalog name behind a name: itself, with `_` for `-`, or the one whose `ALIASES` hold it.

    A strategy of ours comes before a peer of the same name.
    """
    plain = name.replace("-", "_")
    known = names("strategies")
    if plain in known:
        return "strategies", plain
    aliases = {alias: n for n in known for alias in getattr(load("strategies", n), "ALIASES", ())}
    if plain in aliases:
        return "strategies", aliases[plain]
    if plain in names("peers"):
        return "peers", plain
    raise UnknownName(unknown("strategy", name, (*known, *names("peers"))))


def is_peer(label: str) -> bool:
    """Tell whether a spec, or the label of a row that begins with one, is of a peer: of the folder `peers`."""
    name = re.match(r"\w*", label)
    return label.startswith("peer:") or (name is not None and name[0] in names("peers"))


def peer_specs() -> tuple[str, ...]:
    """Specs of all peers: each at its defaults, and what its module names as `VARIANTS`.

    One whose module says `ASKS_IN_JSON` is left out: the stand-in for a model cannot answer it, so it is named alone.
    """
    modules = {name: load("peers", name) for name in names("peers")}
    asked = {name: module for name, module in modules.items() if not getattr(module, "ASKS_IN_JSON", False)}
    return tuple(spec for name, module in asked.items() for spec in (name, *getattr(module, "VARIANTS", ())))


def peers_named(word: str) -> tuple[str, ...]:
    """Specs that a word for peers stands for: `all` (`peer_specs`), `installed` (the real packages), or one itself.

    What `all` stands for is the same on every machine; `PeerError` where no real package is installed.

    >>> peers_named("jcode(guard='off')")
    ("jcode(guard='off')",)
    """
    if word == "all":
        return peer_specs()
    if word == "installed":
        return tuple(importlib.import_module("compactlab.adapters").installed())
    return (word,)


def _outside_class(name: str) -> type[Strategy]:
    if not re.fullmatch(r"[^\W\d][\w.]*:[^\W\d]\w*", name):
        raise SpecError(f"strategy {name!r}: expected module:Class")
    cls = outside("strategy", name, _is_strategy)
    if not _is_strategy(cls):
        raise SpecError(f"strategy {name!r}: expected a frozen dataclass that subclasses compactlab.Strategy")
    return cast("type[Strategy]", cls)


def outside(what: str, spec: str, is_one: Callable[[object], bool]) -> Any:  # noqa: ANN401  # whatever bears that name
    """Import what `module:Class` names; an error says what was sought, and which names of the module *is_one* takes."""
    module_name, _, class_name = spec.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a console script does not see the user's own folder otherwise
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise UnknownName(f"{what} {spec!r}: module {module_name!r} cannot be imported ({error})") from error
    except Exception as error:  # a module of the user's own may fail in any way
        raise SpecError(f"{what} {spec!r}: module {module_name!r} fails ({type(error).__name__}: {error})") from error
    found = getattr(module, class_name, None)
    if found is None:
        own = [name for name, value in vars(module).items() if is_one(value)]
        raise UnknownName(unknown(f"class of {module_name}", class_name, own))
    return found


def _is_strategy(candidate: object) -> bool:
    from compactlab.strategies import Strategy

    return (
        isinstance(candidate, type)
        and issubclass(candidate, Strategy)
        and candidate is not Strategy
        and is_dataclass(candidate)
    )
