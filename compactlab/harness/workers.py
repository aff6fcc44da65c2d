"""Who does the work of a run: this process, processes of this machine, or a cluster of dask.

Worker processes start clean, do not hear Ctrl-C themselves, and end at once when the run does. A script needs no
`if __name__ == "__main__"` around its call of `run`; strategies that it defines itself keep the run in one process.

On a cluster the workers read sessions from a folder beside the run, which must be one for all of them, and import the
same compactlab. Work of a worker that dies is given to another.
"""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, NamedTuple, TypeVar

from compactlab.errors import RunError, SpecError
from compactlab.sweeping import SELDOM, swept_seldom

DASK = "dask"
RETRIES = 10
"""How often work is given to another worker, where one dies over it."""
CONNECT_SECONDS = 10
START_SECONDS = 60
"""The longest wait for a cluster's first worker."""
Given = TypeVar("Given")
Made = TypeVar("Made")


def checked(executor: str) -> str:
    """Refuse an executor that is none: empty for this machine, `dask` for workers on it, `dask:ADDRESS` for a cluster.

    >>> checked("dask:tcp://10.0.0.1:8786")
    'dask:tcp://10.0.0.1:8786'
    """
    name, sign, address = executor.partition(":")
    if executor and (name != DASK or (sign and not address)):
        raise SpecError(f"executor {executor!r}: expected dask, or dask:ADDRESS of a scheduler")
    return executor


def in_order(
    pool: Executor | None, work: Callable[[Given], Made], given: Iterable[Given], ahead: int
) -> Iterator[tuple[Given, Made]]:
    """Do the same work with all that is given; give each with what was made of it, in order, *ahead* of them at a time.

    >>> list(in_order(None, abs, [-2, 1], 4))
    [(-2, 2), (1, 1)]
    """
    if pool is None:
        yield from ((one, work(one)) for one in given)
        return
    waiting: deque[tuple[Given, Future[Made]]] = deque()
    for one in given:
        waiting.append((one, pool.submit(work, one)))
        if len(waiting) >= ahead:
            first, future = waiting.popleft()
            yield first, future.result()
    for one, future in waiting:
        yield one, future.result()


class Hands(NamedTuple):
    """What does the work of a run, None for this process, and how many pieces it can do at once."""

    executor: Executor | None
    at_once: int


@contextmanager
def hands(executor: str, workers: int) -> Iterator[Hands]:
    """Get processes to work: *workers* of this machine, or what a cluster has. `RunError` where there is none."""
    if executor:
        with _cluster(executor.partition(":")[2], workers) as cluster:
            yield cluster
    else:
        with pool_of(workers) as pool:
            yield Hands(pool, workers)


@contextmanager
def _cluster(address: str, workers: int) -> Iterator[Hands]:
    """A cluster of dask at an address, or one of *workers* on this machine."""
    try:
        import distributed
    except ImportError as error:
        raise RunError("a cluster needs the package distributed: pip install 'compactlab[dask]'") from error
    connect: Any = distributed.Client
    local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    try:
        with _nameless_main():
            client = connect(address, timeout=CONNECT_SECONDS) if address else connect(**local)
    except (OSError, ValueError) as error:
        raise RunError(f"{DASK}:{address}: cannot be reached ({error or type(error).__name__})") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=START_SECONDS)
        except TimeoutError as error:
            raise RunError(f"{DASK}:{address}: has no worker after {START_SECONDS} seconds") from error
        yield Hands(client.get_executor(pure=False, retries=RETRIES), sum(client.ncores().values()))


@contextmanager
def pool_of(workers: int) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of *workers*, or None where one process does it all. What still runs at the end is ended, not awaited."""
    if workers <= 1:
        with swept_seldom():
            yield None
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=gc.set_threshold, initargs=SELDOM)
    try:
        _start(pool, workers)
        yield pool
        pool.shutdown()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(active_children()) - others:
            child.terminate()


def can_be_sent(value: object) -> bool:
    """True if a value can go to another process."""
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True


def _start(pool: ProcessPoolExecutor, workers: int) -> None:
    """Start all workers, each without an ear for Ctrl-C and without the wish to run the main script again."""
    with _deaf(), _nameless_main():
        for _ in range(workers):
            pool.submit(int)


@contextmanager
def _deaf() -> Iterator[None]:
    """Switch Ctrl-C off, which a new process inherits: only the main one is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _nameless_main() -> Iterator[None]:
    """Hide where the main script lies: a worker would import it, and with it whatever it does when it is run."""
    main = vars(sys.modules["__main__"])
    hidden: dict[str, object] = {name: main[name] for name in ("__spec__", "__file__") if name in main}
    main.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        main.update(hidden)
