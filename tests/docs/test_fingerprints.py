"""The published hashes are those of the files."""

from __future__ import annotations

from tests.docs.fingerprints import PAGE, with_table

from sottovoce.server.web.worker_page import worker_files


def test_the_published_hashes_are_those_of_the_files() -> None:
    published = PAGE.read_text("utf-8")
    assert with_table(published) == published, "run make docs"


def test_every_file_has_a_line() -> None:
    published = PAGE.read_text("utf-8")
    assert all(f"| `{name}` |" in published for name in worker_files())
