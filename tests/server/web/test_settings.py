from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.errors import UsageError
from sottovoce.server.web.settings import Settings


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("https://example.org", ""),
        ("https://example.org/", ""),
        ("http://[::1]:8000/ask/", "/ask"),
        ("https://example.org/a/b", "/a/b"),
    ],
)
def test_a_public_url_is_a_host_and_perhaps_a_prefix(url: str, prefix: str) -> None:
    settings = Settings(Path("x"), public_url=url)
    assert settings.prefix == prefix
    assert settings.public_url == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "example.org",
        "ftp://example.org",
        "https://",
        "https://ada:secret@example.org",
        "https://example.org?x=1",
        "https://example.org/a//b",
        "https://example.org:port",
        "https://example.org/a b",
        "https://example.org/api",
        "https://example.org/c/x",
        "https://example.org/campaigns",
        "https://example.org/lab",
    ],
)
def test_a_public_url_with_which_no_link_can_be_made_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="the public URL"):
        Settings(Path("x"), public_url=url)


def test_a_databases_password_is_not_shown() -> None:
    assert "secret" not in repr(Settings(Path("x"), "postgresql://ada:secret@host/name"))
