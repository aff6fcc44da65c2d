"""A small real model on this machine, served OpenAI-compatible on loopback by llama.cpp: no key, no network.

A poor summariser, which is what tests need: the faults of its replies are real. One thread, since spinning threads on
a busy machine cost more than they bring; no cache of prompts, since a reply must not depend on what was asked before.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.llm import ModelError, Reply, Request
from compactlab.llm.gguf import context_length
from compactlab.llm.weights import NotInstalled, find, weights

LOOPBACK = "127.0.0.1"
WINDOW = 8_192
SUFFIX = " (local)"
NO_KEY = "none"
TIMEOUT_SECONDS = 600.0
"""A request as long as the window takes two to three minutes on a slow core."""
_NO_ENGINE = "xllamacpp, which runs the local model, is not installed: pip install 'compactlab[local]'"
_NO_WEIGHTS = "the weights of the local model are not installed: compactlab llm install"
_CHILD = "from compactlab.llm.local import _serve_for_parent; _serve_for_parent()"


class Served(NamedTuple):
    """A server that runs: its base URL, and its window, which is never more than the model was made for."""

    base_url: str
    window: int


@contextmanager
def serve(
    model_path: Path, host: str = LOOPBACK, port: int = 0, window: int = WINDOW, *, exposed: bool = False
) -> Iterator[Served]:
    """Serve a GGUF file in this process while the block runs, on one thread; port 0 takes a free one.

    The server asks for no key, so any *host* but loopback is a `SpecError` unless *exposed* says that this is meant.
    Other sites' pages may not read from it. `ModelError` where the file or the address cannot be used.
    """
    _require_address(host, port, exposed=exposed)
    if window <= 0:
        raise SpecError(f"window {window}: expected a number of tokens above 0")
    if not model_path.is_file():
        raise NotInstalled(f"{model_path}: no such file; expected the weights of a model (GGUF)")
    if not find_spec("xllamacpp"):
        raise NotInstalled(_NO_ENGINE)
    window = min(window, context_length(model_path) or window)
    server = _server(model_path, host, port, window)
    try:
        yield Served(f"{server.listening_address}/v1", window)
    finally:
        del server  # stops it


def _require_address(host: str, port: int, *, exposed: bool) -> None:
    if not 0 <= port < 65_536:
        raise SpecError(f"port {port}: expected 0 to 65535, 0 for a free one")
    try:
        is_loopback = host == "localhost" or ip_address(host).is_loopback
    except ValueError as error:
        raise SpecError(f"host {host!r}: expected an address such as {LOOPBACK}") from error
    if not is_loopback and not exposed:
        raise SpecError(f"host {host}: others could use the model, which asks for no key; expected {LOOPBACK}")


def _server(model_path: Path, host: str, port: int, window: int) -> Any:  # noqa: ANN401  # the engine has no types
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(model_path)
    params.model_alias = {_name(model_path)}
    params.hostnames, params.port = [host], port
    params.n_ctx, params.n_parallel, params.fit_params = window, 1, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 2
    params.cache_prompt, params.cache_ram_mib = False, 0
    params.ui = params.endpoint_slots = False
    params.cors_origins = f"http://{LOOPBACK}"
    params.verbosity = 0
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        where = f"port {port} of {host}, or " if port else ""
        raise ModelError(f"{where}{model_path} cannot be used: {error}") from error


def _name(model_path: Path) -> str:
    known = weights()
    return known.model if known and Path(known.path) == model_path else model_path.stem.casefold()


class Local:
    """The installed model, or that of *model_path*, behind a server of its own, which runs from the first use on.

    The server is a process of its own and ends with this one, however that ends. A copy in another process (pickled, or
    forked) uses the same server; it answers one request at a time. `NotInstalled` at once where weights or engine are
    missing. *timeout_seconds* is for one reply.
    """

    def __init__(
        self, model_path: Path | None = None, *, window: int = WINDOW, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        path = model_path or find()
        if path is None:
            raise NotInstalled(_NO_WEIGHTS)
        if not path.is_file():
            raise NotInstalled(f"{path}: no such file; expected the weights of a model (GGUF)")
        if not find_spec("xllamacpp"):
            raise NotInstalled(_NO_ENGINE)
        self.name = f"{_name(path)}{SUFFIX}"
        self.window = min(window, context_length(path) or window)
        self._path, self._timeout = path, timeout_seconds
        self._server: _Child | None = None
        self._url = ""
        self._lock = threading.Lock()

    @property
    def base_url(self) -> str:
        """Where the server listens; starts it."""
        return self._started()

    def reply(self, request: Request) -> Reply:
        """Answer a request; errors as those of `Live`."""
        from compactlab.llm.live import Live

        url, name = self._started(), self.name.removesuffix(SUFFIX)
        live = Live(name, url, NO_KEY, concurrency=1, timeout_seconds=self._timeout, retries=0, window=self.window)
        return replace(live.reply(request), model=self.name)

    def close(self) -> None:
        """End the server, if this process started it; the next use starts another."""
        with self._lock:
            if self._server is not None:
                self._server.close()
                self._server, self._url = None, ""

    def _started(self) -> str:
        with self._lock:
            if self._server is not None and self._server.has_ended:
                self._server.close()
                self._server, self._url = None, ""
            if not self._url:
                self._server = _Child(self._path, self.window)
                self._url = self._server.base_url
            return self._url

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: the server runs here, and is told of by its address."""
        self._started()
        return {key: value for key, value in vars(self).items() if key not in {"_lock", "_server"}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _server=None, _lock=threading.Lock())


class _Child:
    """A server in a process that ends when this one closes its standard input, or is no more."""

    def __init__(self, model_path: Path, window: int) -> None:
        self._log: IO[bytes] = TemporaryFile()  # noqa: SIM115  # open as long as the process
        self._parent = os.getpid()
        self._process = subprocess.Popen(  # noqa: S603  # our own arguments
            [sys.executable, "-c", _CHILD, str(model_path), str(window)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            encoding="utf-8",
        )
        atexit.register(self.close)
        said = self._process.stdout.readline() if self._process.stdout else ""
        if not said.startswith("http"):
            self._process.wait()
            self._log.seek(0)
            lines = self._log.read().decode(errors="replace").strip().splitlines()
            self.close()
            raise ModelError(f"the server of {model_path} did not start: {lines[-1] if lines else 'it said nothing'}")
        self.base_url = said.strip()

    @property
    def has_ended(self) -> bool:
        return os.getpid() == self._parent and self._process.poll() is not None

    def close(self) -> None:
        """End the process; nothing where it was started by the process that this one was forked from."""
        if os.getpid() != self._parent:
            return
        atexit.unregister(self.close)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


def _serve_for_parent() -> None:
    """Serve the file of the first argument until standard input ends: what the child process runs."""
    with serve(Path(sys.argv[1]), window=int(sys.argv[2])) as served:
        sys.stdout.write(f"{served.base_url}\n")
        sys.stdout.flush()
        sys.stdin.read()
        os._exit(0)  # a reply on its way is of use to nobody
