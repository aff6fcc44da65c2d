"""Other people's packages, each in a Python of its own: their requirements conflict with each other and with ours.

An environment is a folder below `folder()`, made by `install`: by uv where it is there, by venv and pip elsewhere, with
this Python, or with another one of the machine where the package needs that. What runs in it is `serve.py` and one file
of `workers`, which import nothing of compactlab: they are asked over a pipe, see `compactlab.environments.process`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from compactlab.environments.interpreters import Version, interpreter, spelled
from compactlab.errors import CompactlabError, UnknownName

FOLDER = "COMPACTLAB_PEERS"
LONGEST_WORDS = 300
_HERE = Path(__file__).parent


class PeerError(CompactlabError, RuntimeError):
    """An environment is not there, could not be made, or what runs in it failed."""


class Environment(NamedTuple):
    """What an environment is made of, what it is for, and which Pythons it runs on: from *least* on, and *below*."""

    requirements: tuple[str, ...]
    what: str
    least: Version = (3, 11)
    below: Version = (4, 0)


ENVIRONMENTS = {
    "langchain": Environment(("langchain>=1.0",), "trim_messages, ClearToolUsesEdit, SummarizationMiddleware"),
    "inspect_ai": Environment(("inspect-ai>=0.3.150",), "CompactionEdit, CompactionTrim, CompactionSummary"),
    "agent_framework": Environment(("agent-framework-core>=1.0",), "the strategies that its apply_compaction takes"),
    "strands": Environment(("strands-agents>=1.0",), "its conversation managers"),
    "openharness": Environment(("openharness-ai>=0.1.9",), "its compaction services, beside our `openharness`"),
    "pydantic_ai": Environment(("pydantic-ai-harness>=0.60",), "the compaction capabilities of Pydantic AI's harness"),
    "openhands": Environment(("openhands-sdk>=1.50",), "its condensers, beside our `openhands_*`", least=(3, 12)),
    "hermes_agent": Environment(("hermes-agent>=0.19",), "its ContextCompressor, beside our `hermes`", below=(3, 14)),
}


def folder() -> Path:
    """Where environments lie: the folder that `COMPACTLAB_PEERS` names, or the system's place for a user's cache."""
    if own := os.environ.get(FOLDER):
        return Path(own)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "compactlab" / "peers"


def python_of(name: str) -> Path:
    """The Python of an environment, whether it is there or not; `UnknownName` for one that nobody knows."""
    require_known(name)
    inside = Path("Scripts", "python.exe") if sys.platform == "win32" else Path("bin", "python")
    return folder() / name / inside


def is_installed(name: str) -> bool:
    """Tell whether an environment was made, to its end."""
    return python_of(name).exists() and not _unfinished(name).exists()


def require_known(name: str) -> Environment:
    """What an environment is made of; `UnknownName`, with those that are known."""
    if name not in ENVIRONMENTS:
        raise UnknownName(f"environment {name!r} is unknown; known are {', '.join(sorted(ENVIRONMENTS))}")
    return ENVIRONMENTS[name]


def install(name: str) -> Path:
    """Make an environment, or bring it up to date, and give its Python; takes the user's own index and proxy.

    Raises `PeerError` with what the installer said was wrong. One that is broken off is made anew the next time.
    """
    wanted = require_known(name)
    place = folder() / name
    if place.exists() and not is_installed(name):
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    _unfinished(name).touch()
    uv = shutil.which("uv")
    if not python_of(name).exists():
        _make(name, uv)
    _do([*_filling(name, uv), "--quiet", "--upgrade", *wanted.requirements], ", ".join(wanted.requirements))
    _unfinished(name).unlink()
    return python_of(name)


def fingerprint(name: str) -> str:
    """Sixteen hexadecimal digits that change with what is installed and with what we ask it by; empty without it."""
    if not is_installed(name):
        return ""
    packages = sorted(path.name for path in (folder() / name).glob("**/site-packages/*.dist-info"))
    asked_by = (_HERE / "serve.py", _HERE / "workers" / f"{name}.py")
    said = "\n".join((*packages, *(path.read_text(encoding="utf-8") for path in asked_by)))
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _unfinished(name: str) -> Path:
    return folder() / f"{name}.unfinished"


def _make(name: str, uv: str | None) -> None:
    """Make an empty environment; uv may fetch a Python where none that will do was found."""
    _, _, least, below = ENVIRONMENTS[name]
    what, place, python = f"the environment {name}", str(folder() / name), interpreter(least, below)
    if not python:
        what += f" needs Python {spelled(least, below)}, of which none was found: it"
        python = f"{least[0]}.{least[1]}"
        if not uv:
            raise PeerError(f"{what} could not be made; expected one on PATH, as python{python}")
    _do([uv, "venv", "--quiet", "--python", python, place] if uv else [python, "-m", "venv", place], what)


def _filling(name: str, uv: str | None) -> list[str]:
    """The command that installs into an environment; where uv made it and is gone since, pip is put there first."""
    python = str(python_of(name))
    if uv:
        return [uv, "pip", "install", "--python", python]
    if not any((folder() / name).glob("**/site-packages/pip")):
        _do([python, "-m", "ensurepip"], f"pip for the environment {name}")
    return [python, "-m", "pip", "install", "--disable-pip-version-check"]


def _do(command: list[str], what: str) -> None:
    done = subprocess.run(  # noqa: S603  # our own arguments
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[-LONGEST_WORDS:] or "the installer said nothing"
        raise PeerError(f"{what} could not be installed (is there a network?): {said}")
