"""A model whose replies are written beforehand: for tests, and for showing what a strategy does with a reply."""

from __future__ import annotations

from collections.abc import Sequence

from compactlab.llm import ModelError, Reply, Request


class Scripted:
    """Gives its replies in order, the last one again and again; an exception among them is raised.

    Requests are kept in `requests`, so that a test can read what was asked.
    """

    name = "scripted"

    def __init__(self, *replies: str | Reply | Exception, window: int | None = None) -> None:
        self.window = window
        self.requests: list[Request] = []
        self._replies: Sequence[str | Reply | Exception] = replies

    def reply(self, request: Request) -> Reply:
        """The next reply of the script."""
        if not self._replies:
            raise ModelError("scripted: no reply was written")
        answer = self._replies[min(len(self.requests), len(self._replies) - 1)]
        self.requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer, self.name)
