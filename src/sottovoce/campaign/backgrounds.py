"""A thread that runs beside the server for as long as a block does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["beside"]


@contextmanager
def beside(work: Callable[[threading.Event], None], name: str) -> Iterator[None]:
    """Run `work` in a thread while the block runs; it must return soon after the event is set."""
    done = threading.Event()
    thread = threading.Thread(target=work, args=(done,), name=f"sottovoce-{name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
