"""One process for an environment, kept alive, asked by lines of JSON.

We write a job, `{"call": ..., "messages": [...], ...}`; the worker answers with `{"entries": [...]}` or
`{"error": ...}`. In between it may ask back: `{"count": [texts]}` for weights by our counter, and
`{"system": ..., "prompt": ...}` for a reply of our model; the answer is `{"answer": ...}` or `{"error": ...}`.
The first line of a worker, `{"ready": {package: version}}`, says what it is made of.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from compactlab.environments import PeerError, is_installed, python_of

Job = dict[str, Any]
Answering = Callable[[Job], Any]
"""Answers a question of a worker; what it raises is told to the worker in a line."""

SECONDS = 120.0
"""How long a worker may think between two lines."""
_LAST_LINES = 400
_HERE = Path(__file__).parent


@dataclass
class Worker:
    """A process that takes jobs one by one; started by the first, started again after it ended."""

    command: Sequence[str]
    seconds: float = SECONDS
    versions: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self._errors: IO[str] | None = None

    def ask(self, job: Job, answering: Answering) -> list[Job]:
        """The entries that a job comes to; `PeerError` with the worker's own words, or with how it ended."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._write(job)
            while "entries" not in (line := self._read()):
                if "error" in line:
                    raise PeerError(str(line["error"]))
                self._write(_answered(line, answering))
            entries = line["entries"]
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise PeerError("a worker gave entries that are no list of objects")
            return entries

    def close(self) -> None:
        """End the process, if there is one; it ends by itself when we do."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def _start(self) -> None:
        self.close()
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  # lives as long as the process
        self._lines = queue.Queue()
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own arguments
                [*self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
                errors="surrogateescape",
            )
        except OSError as error:
            self._errors.close()
            raise PeerError(f"{self.command[0]}: cannot be started ({error.strerror})") from error
        threading.Thread(target=_listen, args=(self._process.stdout, self._lines), daemon=True).start()
        self.versions = {str(name): str(version) for name, version in dict(self._read().get("ready") or {}).items()}

    def _write(self, value: Job) -> None:
        stream = self._process.stdin if self._process else None
        try:
            if stream is not None:
                stream.write(json.dumps(value) + "\n")
                stream.flush()
        except (OSError, ValueError):
            self._ended()

    def _read(self) -> Job:
        try:
            text = self._lines.get(timeout=self.seconds)
        except queue.Empty:
            self.close()
            raise PeerError(f"a worker said nothing for {self.seconds:g} seconds and was ended") from None
        if not text:
            self._ended()
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.close()
            raise PeerError(f"a worker wrote {text[:80]!r}; expected a line of JSON") from error
        if not isinstance(line, dict):
            self.close()
            raise PeerError(f"a worker wrote {text[:80]!r}; expected an object")
        return line

    def _ended(self) -> None:
        """Raise what the process said last."""
        code = self._process.wait() if self._process else None
        said = ""
        if self._errors is not None:
            self._errors.seek(0)
            said = " ".join(self._errors.read().split())[-_LAST_LINES:]
        self.close()
        raise PeerError(f"a worker ended (exit {code}): {said or 'it said nothing'}")


def _listen(stream: IO[str], lines: queue.Queue[str]) -> None:
    """Pass the lines of a process on; an empty one says that there are no more."""
    try:
        for line in stream:
            lines.put(line)
    except ValueError:  # closed under our hands
        pass
    lines.put("")


def _answered(question: Job, answering: Answering) -> Job:
    try:
        return {"answer": answering(question)}
    except Exception as error:  # noqa: BLE001  # the worker's package decides what a failure of its model means
        return {"error": f"{type(error).__name__}: {error}"}


def worker(name: str) -> Worker:
    """The process of an environment; `PeerError` where it is not installed, with how to do that."""
    if not is_installed(name):
        raise PeerError(f"the environment {name} is not installed; expected compactlab peers install {name} before")
    return _kept(name, str(python_of(name)), os.getpid())


def served(python: str, file: Path) -> tuple[str, ...]:
    """The command that serves the calls of a worker's file in a Python; isolated: no file of ours is in its way."""
    return (python, "-I", str(_HERE / "serve.py"), str(file))


@lru_cache(maxsize=32)
def _kept(name: str, python: str, process: int) -> Worker:  # noqa: ARG001  # a forked process has workers of its own
    made = Worker(served(python, _HERE / "workers" / f"{name}.py"))
    atexit.register(made.close)
    return made
