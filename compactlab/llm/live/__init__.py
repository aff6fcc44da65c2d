"""A model behind an HTTP endpoint that takes OpenAI's Chat Completions: OpenAI's own, another vendor's, a local server.

Every failure is one `ModelError` with one line that says the status and the server's words, and never the key; a
request that is longer than the model reads is `TooLong`. Statuses 408, 409, 429 and from 500 on, connections that fail
or break off, and time-outs are tried again. What a reply is worth is judged elsewhere: one that was cut off, filtered
or refused, or calls a tool, comes back with its finish reason.
"""

from __future__ import annotations

import os
import re
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from compactlab.errors import SpecError
from compactlab.llm import OPTIONAL, ModelError, Reply, Request, TooLong
from compactlab.llm.faults import Fault, shortened
from compactlab.llm.live._tries import Tries, run
from compactlab.llm.live.spending import Cap, Spent, Use
from compactlab.llm.locks import slot
from compactlab.llm.prices import cost
from compactlab.tokens import DEFAULT_COUNTER, clean, counter

__all__ = ["OPENAI", "Cap", "Live", "Spent", "Use"]

OPENAI = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent to a server of one's own where no key is given."""
SHORTEST_KEY = 8
"""Shorter ones are stand-ins such as `none` and `ollama`, which may be words of a message."""
_PORT = r":(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])"
_URL = re.compile(rf"https?://([^\s/@]+@)?([\w.-]+|\[[\da-fA-F:.]+\])({_PORT})?(/[!-~]*)?", re.ASCII)
_KEYS = re.compile(r"\bsk-[\w*-]{6,}|(?<=Bearer )[\w*.~+/=-]{6,}|(?<=://)[^\s/@]+(?=@)")


@dataclass(frozen=True)
class Live:
    """The model called *model* at *base_url* with *api_key*, or what OPENAI_BASE_URL and OPENAI_API_KEY say.

    At most *concurrency* requests to one endpoint at a time, over all processes of one user on this machine. A try ends
    after *timeout_seconds*, whatever the server does. Waits between tries double from *back_off_seconds* to 30 seconds;
    a `Retry-After` is kept, and one of more than two minutes ends the tries. What a model does not take, such as a
    temperature, `compactlab.llm.build.Adjusted` leaves out. The object may be pickled; what is open belongs to one call
    of `reply` alone.
    """

    model: str
    base_url: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    _: KW_ONLY
    concurrency: int = 4
    timeout_seconds: float = 300.0
    retries: int = 4
    window: int | None = None
    cap: Cap = field(default_factory=Cap)
    back_off_seconds: float = 0.5

    def __post_init__(self) -> None:
        least = {"concurrency": 1, "retries": 0, "timeout_seconds": 0.001, "back_off_seconds": 0}
        for name, minimum in least.items():
            if not getattr(self, name) >= minimum:
                raise SpecError(f"live: {name} is {getattr(self, name)!r}; expected a number of {minimum} or more")
        if not self.model:
            raise SpecError("live: no model is named")

    @property
    def name(self) -> str:
        """The model's name, as the endpoint knows it."""
        return self.model

    @property
    def endpoint(self) -> str:
        """The URL that requests go to, without a name and a password in it."""
        return _KEYS.sub("[key]", self._url())

    def require(self) -> None:
        """Raise `SpecError` where no request could be sent: no `openai` installed, no URL, no key for OpenAI itself."""
        try:
            import openai  # noqa: F401  # only whether it is there
        except ImportError as error:
            raise SpecError("a live model needs the openai package: pip install 'compactlab[models]'") from error
        if not _URL.fullmatch(self._url()):
            raise SpecError(f"live: the base URL is {self.endpoint!r}; expected http://HOST:PORT/PATH, or https")
        key = self._key()
        if key == NO_KEY and self._is_openai():
            raise SpecError("live: no key is given; set OPENAI_API_KEY, or name a base URL that needs none")
        if not (key.isascii() and key.isprintable()):
            raise SpecError("live: the key holds characters that cannot be sent")

    def reply(self, request: Request) -> Reply:
        """Ask the endpoint; `ModelError` for everything that is no reply, `TooLong` for a request that does not fit."""
        try:
            self.require()
        except SpecError as error:
            raise ModelError(f"{self.model}: {error}") from error
        body = self._body(request)
        weigh = counter(DEFAULT_COUNTER)
        asked = sum(weigh([message["content"] for message in body["messages"]]))
        with slot(self._url(), self.concurrency):
            call = self.cap.hold(self.model, Use(asked, 0, request.max_output))
            tries = Tries(self.model, body, self.timeout_seconds, self.retries, self.back_off_seconds)
            try:
                reply = run(tries.reply(self._url(), self._key()))
            except Fault as fault:
                self.cap.end(call, self.model, Use(tries.billed * asked, 0, 0), replied=False)
                raise self._error(fault, tries.made) from None
            read = (reply.input_tokens or asked) + tries.billed * asked
            written = reply.output_tokens or weigh([reply.text])[0]
            self.cap.end(call, self.model, Use(read, reply.cached_tokens, written), replied=True)
        return reply

    def cost(self, reply: Reply) -> float | None:
        """What a reply cost, by the price of the model asked for, else of the one that answered; None if unknown."""
        found = cost(replace(reply, model=self.model), self.cap.prices)
        return cost(reply, self.cap.prices) if found is None else found

    def spent(self) -> Spent:
        """Calls, tokens and money so far, of all processes that share the cap's file."""
        return self.cap.spent()

    def _body(self, request: Request) -> dict[str, Any]:
        said = (("system", request.system), ("user", request.prompt))
        messages = [{"role": role, "content": clean(text)} for role, text in said if text]
        options = {"temperature": request.temperature, "seed": request.seed}
        kept = {key: value for key, value in options.items() if value is not None}
        longest = "max_completion_tokens" if self._is_openai() else "max_tokens"
        return {"model": self.model, "messages": messages, longest: request.max_output, **kept}

    def _error(self, fault: Fault, tries: int) -> ModelError:
        said = shortened(self._without_key(fault.said))
        refuses = [name for name in OPTIONAL if fault.status in {400, 422} and re.search(rf"\b{name}\b", said)]
        hint = f'; leave_out = ["{refuses[0]}"] asks without it' if refuses and not fault.too_long else ""
        line = f"{self.model}: {said}{hint}{fault.note}" + (f" (tried {tries} times)" if tries > 1 else "")
        return TooLong(line) if fault.too_long else ModelError(line)

    def _without_key(self, text: str) -> str:
        key = self._key()
        return _KEYS.sub("[key]", text.replace(key, "[key]") if len(key) >= SHORTEST_KEY else text)

    def _is_openai(self) -> bool:
        return urlsplit(self._url()).hostname == urlsplit(OPENAI).hostname

    def _url(self) -> str:
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).strip()

    def _key(self) -> str:
        return (self.api_key or os.environ.get("OPENAI_API_KEY") or "").strip() or NO_KEY
