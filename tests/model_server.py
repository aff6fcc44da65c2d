"""A server on loopback that takes Chat Completions and does what a test tells it, good or bad."""

import json
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from compactlab.llm import ModelError, Request
from compactlab.llm.live import Live

LONGEST_SECONDS = 20
"""What trickles or hangs ends by then, also where a test forgot to close."""


def completion(text="Hello.", *, finish="stop", usage=(7, 2), **message):
    """The body of a good reply; further keywords go into its message."""
    said = {"role": "assistant", "content": text, **message}
    body = {"object": "chat.completion", "model": "served-model", "choices": [{"index": 0, "message": said}]}
    body["choices"][0]["finish_reason"] = finish
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return body


def error(message, **fields):
    """An error body as OpenAI and most others write it."""
    return {"error": {"message": message, "type": "error", **fields}}


@dataclass(frozen=True)
class Answer:
    """What a request gets: a body (bytes as they are, all else as JSON) with a status, and how it is sent.

    `how` is `whole`, `reset` (half of the body, then the connection is torn), `closed` (nothing at all, closed),
    `hang` (nothing, for long), `trickle` (a byte of the body now and then), `headers` (the same with the head).
    """

    body: object = field(default_factory=completion)
    status: int = 200
    headers: dict = field(default_factory=dict)
    how: str = "whole"
    delay: float = 0.0

    @property
    def content(self):
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server.owner
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = server.begin(self.path, headers, raw)
        try:
            server.closing.wait(answer.delay)
            getattr(self, f"_{answer.how}")(answer)
        except OSError:  # the other side is gone, as it may
            self.close_connection = True
        finally:
            server.finish()

    def _head(self, answer):
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()

    def _whole(self, answer):
        self._head(answer)
        self.wfile.write(answer.content)

    def _reset(self, answer):
        self._head(answer)
        self.wfile.write(answer.content[: len(answer.content) // 2])
        self.wfile.flush()
        time.sleep(0.05)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def _closed(self, _):
        self.close_connection = True

    def _hang(self, _):
        self.server.owner.closing.wait(LONGEST_SECONDS)
        self.close_connection = True

    def _trickle(self, answer):
        self._head(answer)
        self._drop_by_drop(answer.content)

    def _headers(self, _):
        self._drop_by_drop(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(10_000)))

    def _drop_by_drop(self, content):
        end = time.monotonic() + LONGEST_SECONDS
        for byte in content:
            if self.server.owner.closing.wait(0.02) or time.monotonic() > end:
                break
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_):
        pass


class ModelServer:
    """Gives its answers in order, the last one again and again; keeps what it was asked, and when.

    An answer may be a function of the request's body that gives the body of the reply.

    `asked` holds (path, headers, body) of each request, `times` when each came, `most` how many were there at once.
    """

    def __init__(self, *answers):
        self.answers = [a if isinstance(a, Answer) or callable(a) else Answer(a) for a in answers]
        self.asked, self.times = [], []
        self.most = self._now = 0
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._server.daemon_threads = True
        self._server.request_queue_size = 64
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def begin(self, path, headers, raw):
        """Take a request in; give the answer that it gets."""
        with self._lock:
            self.times.append(time.monotonic())
            self.asked.append((path, headers, json.loads(raw)))
            self._now += 1
            self.most = max(self.most, self._now)
            answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
            return Answer(answer(self.asked[-1][2])) if callable(answer) else answer

    def finish(self):
        """A request is answered."""
        with self._lock:
            self._now -= 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


KEY = "very-secret-key-0123456789abcdef"
ASKED = Request("summary", "Be brief.", "What now?", (), max_output=64, temperature=0.5, seed=11)


def live(server, **changes):
    changes = {"timeout_seconds": 5, "retries": 2, "back_off_seconds": 0.01, **changes}
    return Live("my-model", server.url, KEY, **changes)


def outcome(*answers, request=ASKED, **changes):
    """The reply or the error that answers lead to, and the server that gave them; no error shows the key."""
    with ModelServer(*answers) as server:
        start = time.monotonic()
        try:
            came = live(server, **changes).reply(request)
        except ModelError as fault:
            came = fault
        assert time.monotonic() - start < LONGEST_SECONDS
    if isinstance(came, ModelError):
        assert KEY not in str(came)
        assert "\n" not in str(came)
        assert came.__cause__ is None
    return came, server
