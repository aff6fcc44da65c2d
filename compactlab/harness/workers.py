"""Worker processes that start clean, do not hear Ctrl-C themselves, and end at once when the run does."""

from __future__ import annotations

import signal
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


def _start(pool: ProcessPoolExecutor, workers: int) -> None:
    """Start all workers with Ctrl-C switched off, which a new process takes over: only the main one is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for _ in range(workers):
            pool.submit(int)
    finally:
        signal.signal(signal.SIGINT, handler)
