"""Writes into the worker's page what its files must hash to.

Run it as `python -m tests.server.web.integrity`. A browser then runs none that
differs, whatever stands between it and the server.
"""

from __future__ import annotations

import base64
import hashlib
import re

from sottovoce.server.web.worker_page import PAGE, STATIC

__all__ = ["with_integrity"]

# An icon cannot be checked, and is no code.
_TAG = re.compile(
    r'<(?:script type="module"|link rel="(?:stylesheet|modulepreload|alternate)")[^>]*>'
)
_ADDRESS = re.compile(r'(?:src|href)="\.\./static/([^"]+)"')
_OLD = re.compile(r' integrity="[^"]*"')


def with_integrity(page: str) -> str:
    """The page, with the right `integrity` on every script and stylesheet."""

    def written(tag: re.Match[str]) -> str:
        bare = _OLD.sub("", tag[0])
        address = _ADDRESS.search(bare)
        assert address is not None, f"not a file of ours: {bare}"
        digest = hashlib.sha256((STATIC / address[1]).read_bytes()).digest()
        return bare.replace(">", f' integrity="sha256-{base64.b64encode(digest).decode()}">')

    return _TAG.sub(written, page)


if __name__ == "__main__":
    place = STATIC / PAGE
    place.write_text(with_integrity(place.read_text("utf-8")), "utf-8")
