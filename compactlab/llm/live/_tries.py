"""Tries of one request, on a loop of its own: each bounded in time as a whole, those that may pass asked again.

The `openai` client sends; its own retries are off. A loop and a client serve one request alone, so nothing is left to
be shared over threads or forks, and a deadline cuts off whatever a server does, also one that sends a byte a second.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from compactlab.llm import Reply
from compactlab.llm.completions import read
from compactlab.llm.faults import Fault, refused

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LONGEST_WAIT_SECONDS = 120.0
"""A server that asks for a longer wait than this is not asked again."""
LONGEST_BACK_OFF_SECONDS = 30.0
LONGEST_CONNECT_SECONDS = 20.0
_NEWER = re.compile(r"max_tokens.{0,200}max_completion_tokens", re.DOTALL)

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to its end, also where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


@dataclass
class Tries:
    """The tries of one request; `made` and `billed` are counted while they are made."""

    model: str
    body: dict[str, Any]
    timeout_seconds: float
    retries: int
    back_off_seconds: float
    made: int = 0
    billed: int = 0

    async def reply(self, endpoint: str, key: str) -> Reply:
        """The first reply that comes; the last `Fault` where none does."""
        import openai

        patience = openai.Timeout(self.timeout_seconds, connect=min(LONGEST_CONNECT_SECONDS, self.timeout_seconds))
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=key, max_retries=0, timeout=patience) as client:
            retried = 0
            while True:
                self.made += 1
                start = time.perf_counter()
                try:
                    reply = read(await self._sent(client), self.model)
                except Fault as fault:
                    self.billed += fault.billed
                    if self._knows_newer_name(fault):
                        continue
                    wait = self._wait(fault, retried)
                    if wait is None:
                        raise
                    retried += 1
                    await asyncio.sleep(wait)
                else:
                    return replace(reply, latency_seconds=time.perf_counter() - start, attempts=self.made)

    async def _sent(self, client: AsyncOpenAI) -> bytes:
        """The body that a server gives with a good status."""
        import openai

        late = Fault(f"no whole reply within {self.timeout_seconds:g} seconds", again=True, billed=True)
        create = client.chat.completions.with_raw_response.create  # imported on first use, which takes a while
        try:
            async with asyncio.timeout(self.timeout_seconds):
                answer = await create(**self.body)
                content: bytes = answer.content
                return content
        except (TimeoutError, openai.APITimeoutError) as error:
            late.billed = not _while_connecting(error)
            raise late from None
        except openai.APIStatusError as error:
            raise refused(error.status_code, error.response.headers, error.response.content) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            said = f"the connection failed ({type(cause).__name__}: {cause})"
            raise Fault(said, again=True, billed=not _while_connecting(error)) from None

    def _wait(self, fault: Fault, retried: int) -> float | None:
        """Seconds until the next try; None where there is none, with the reason added to the fault."""
        if not fault.again or retried >= self.retries:
            return None
        asked = fault.wait_seconds or 0.0
        if asked > LONGEST_WAIT_SECONDS:
            fault.note = f" (it asks to wait {asked:,.0f} seconds)"
            return None
        return max(asked, self._back_off(retried))

    def _back_off(self, retried: int) -> float:
        """Twice as long each time, less up to a half that the request's own digest says: the same in every run."""
        digest = sha256(repr((sorted(self.body.items(), key=str), retried)).encode("utf-8", "replace")).digest()
        longest: float = min(LONGEST_BACK_OFF_SECONDS, self.back_off_seconds * 2.0**retried)
        return longest * (1 - digest[0] / 512)

    def _knows_newer_name(self, fault: Fault) -> bool:
        """Take the other name of the most tokens to write, where that is what a server complains of."""
        if "max_tokens" not in self.body or not _NEWER.search(fault.said):
            return False
        self.body["max_completion_tokens"] = self.body.pop("max_tokens")
        return True


def _while_connecting(error: BaseException) -> bool:
    return type(error.__cause__).__name__.startswith("Connect")
