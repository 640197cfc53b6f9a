"""Send requests to a server over several connections with minimal client work.

    python serving_load.py PORT CONNECTIONS COUNT SEED [ADDRESS_FILE]

Sends COUNT submissions, each of a different worker, to the campaign in ADDRESS_FILE, or COUNT empty
requests without it. Everything is prepared before the measurement. Prints one JSON object: requests
per second, and latencies.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvloop

from sottovoce.model import Submission, assigned, pseudonym

EMPTY = b"PUT /empty HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"


class Sender(asyncio.Protocol):
    """One connection: a request, its reply, the next request."""

    def __init__(self, requests: Iterator[bytes], seen: list[float]) -> None:
        self.requests, self.seen = requests, seen
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.received = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def send(self) -> None:
        request = next(self.requests, None)
        if request is None:
            self.done.set_result(None)
            self.transport.close()
            return
        self.start = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        self.seen.append(time.perf_counter() - self.start)
        self.received = b""
        if head[9:11] != b"20":
            self.done.set_exception(RuntimeError(f"{head!r} {body!r}"))
            return
        self.send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError(f"the connection was lost: {error}"))


def submissions(address: dict[str, Any], count: int, seed: int) -> list[bytes]:
    """Requests that are all different. They contain no secrets, so seeded randomness is enough."""
    generator = random.Random(seed)  # noqa: S311
    return [_submission(address, generator) for _ in range(count)]


def _submission(address: dict[str, Any], generator: random.Random) -> bytes:
    receipt = "svr_" + hashlib.sha256(generator.randbytes(16)).hexdigest()[:43]
    worker = pseudonym(address["campaign"], receipt)
    names, block = address["tasks"], address["block"]
    tasks = tuple(names[i] for i in assigned(address["campaign"], worker, len(names), block))
    reports = tuple(generator.choices(address["labels"], k=block))
    content = Submission(address["policy"], worker, tasks, reports).text()
    return (
        f"PUT /api/v1/campaigns/{address['campaign']}/reports/{generator.randbytes(16).hex()} "
        f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {address['invite']}\r\n"
        f"Sottovoce-Receipt: {receipt}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n{content}"
    ).encode()


async def send(port: int, connections: int, requests: list[bytes]) -> dict[str, float]:
    """Send all requests; return the median, 99th percentile and maximum latency in seconds."""
    seen: list[float] = []
    left = iter(requests)
    loop = asyncio.get_running_loop()
    pairs = [
        await loop.create_connection(lambda: Sender(left, seen), "127.0.0.1", port)
        for _ in range(connections)
    ]
    start, busy = time.perf_counter(), time.process_time()
    for _, sender in pairs:
        sender.send()
    await asyncio.gather(*(sender.done for _, sender in pairs))
    took = time.perf_counter() - start
    seen.sort()
    return {
        "rate": len(requests) / took,
        "load_cpu": time.process_time() - busy,
        "median": seen[len(seen) // 2],
        "p99": seen[int(len(seen) * 0.99)],
        "slowest": seen[-1],
    }


def main(port: str, connections: str, count: str, seed: str, *file: str) -> None:
    if file:
        requests = submissions(json.loads(Path(file[0]).read_text()), int(count), int(seed))
    else:
        requests = [EMPTY] * int(count)
    print(json.dumps(uvloop.run(send(int(port), int(connections), requests))))


if __name__ == "__main__":
    main(*sys.argv[1:])
