"""Worker processes that start clean, do not hear Ctrl-C themselves, and end at once when the run does.

A script needs no `if __name__ == "__main__"` around its call of `run`; strategies that it defines itself keep the run
in one process.
"""

from __future__ import annotations

import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context


@contextmanager
def pool_of(workers: int) -> Iterator[ProcessPoolExecutor | None]:
    """A pool of *workers*, or None where one process does it all. What still runs at the end is ended, not awaited."""
    if workers <= 1:
        yield None
        return
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
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
