"""The table of docs/how-to/verifying.md: the hash of every file of the worker's page.

`python tests/docs/fingerprints.py` writes it.
"""

from __future__ import annotations

import re
from pathlib import Path

from sottovoce.server.web.worker_page import PAGE as WORKER_PAGE
from sottovoce.server.web.worker_page import STATIC, fingerprint, worker_files

__all__ = ["PAGE", "with_table"]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "verifying.md"
_BLOCK = re.compile(r"(<!-- table: files -->\n).*?(<!-- end -->)", re.DOTALL)


def with_table(page: str) -> str:
    """The page with the hashes of the current files."""
    rows = (
        f"| `{name}` | `{fingerprint((STATIC / name).read_bytes())}` |\n"
        for name in (WORKER_PAGE, *worker_files())
    )
    table = "".join(["| file | SHA-256 |\n", "|---|---|\n", *rows])
    return _BLOCK.sub(lambda block: block[1] + table + block[2], page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
