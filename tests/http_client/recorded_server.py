"""A server that says what a test tells it to say, and remembers what it heard."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROBLEM = "application/problem+json"


@dataclass
class Reply:
    """One reply. `cut` hangs up after that many bytes of the body; -1 hangs up before any reply."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


def problem(status: int, reason: str, detail: str = "no", **more: Any) -> Reply:
    content = {"status": status, "reason": reason, "detail": detail, **more}
    return Reply(status, json.dumps(content).encode(), {"Content-Type": PROBLEM})


@dataclass
class Speaker:
    """Replies in order; the last is repeated."""

    replies: list[Reply]
    url: str = ""
    heard: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def speaking(*replies: Reply) -> Iterator[Speaker]:
    speaker = Speaker(list(replies))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            speaker.heard.append((self.command, self.path, headers, body))
            reply = speaker.next()
            if reply.cut is not None and reply.cut < 0:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])
            self.close_connection = reply.cut is not None

        do_GET = do_PUT = do_POST = do_DELETE = handle_any  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    speaker.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield speaker
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
