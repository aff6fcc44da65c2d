"""Finds a Python to make an environment with: this one where it will do, else one of the path, else one of pyenv's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

Version = tuple[int, int]

NEWEST = (3, 19)
"""No newer one is looked for, where a package sets no upper bound."""
SECONDS = 20.0
"""How long a program may take to say its version."""


def interpreter(least: Version, below: Version) -> str:
    """A Python whose version is at least *least* and below *below*, the oldest of those found; empty if there is none.

    This one is taken if it is such a one. Others must say their version themselves: what stands on a path by the name
    `python3.12` may be a shim that runs nothing.
    """
    if least <= sys.version_info[:2] < below:
        return sys.executable
    wanted = ((3, minor) for minor in range(least[1], NEWEST[1] + 1) if (3, minor) < below)
    return next((found for version in wanted for found in _places(version) if _version(found) == version), "")


def spelled(least: Version, below: Version) -> str:
    """The versions of such a range, in short.

    >>> spelled((3, 12), (4, 0)), spelled((3, 11), (3, 14))
    ('3.12+', '3.11-3.13')
    """
    first = f"{least[0]}.{least[1]}"
    return f"{first}+" if below[0] > least[0] else f"{first}-{below[0]}.{below[1] - 1}"


def _places(version: Version) -> Iterator[str]:
    """Programs that may be a Python of that version."""
    name = f"python{version[0]}.{version[1]}"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if found := shutil.which(name, path=folder or os.curdir):
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    inside = "python.exe" if sys.platform == "win32" else "bin/python"
    yield from map(str, sorted(pyenv.glob(f"versions/{version[0]}.{version[1]}.*/{inside}")))


def _version(program: str) -> Version | None:
    """What a program says its version is; None where it says none."""
    asked = [program, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(  # noqa: S603  # our own arguments
            asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=SECONDS
        )
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return major, minor
