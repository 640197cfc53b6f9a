"""Where secrets may be sent."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce.http_client.addresses import checked_address


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://Answers.Example", "https://answers.example"),
        ("https://answers.example:443/", "https://answers.example"),
        ("https://answers.example:8443/ask/", "https://answers.example:8443/ask"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.1:8000/lab", "http://127.0.0.1:8000/lab"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_is_written_in_one_way(given: str, kept: str) -> None:
    assert checked_address(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        "answers.example",
        "ftp://answers.example",
        "https://",
        "https://user:password@answers.example",
        "https://answers.example?token=1",
        "https://answers.example#svi_secret",
        "https://answers.example/a/../b",
        "https://answers.example/a b",
        "https://answers.example:port",
        "https://[::1",
        "https://ünicode.example",
        "https://answers.example/%2e%2e",
        None,
        7,
    ],
)
def test_what_is_no_address_is_refused_without_quoting_it(given: object) -> None:
    with pytest.raises(UsageError) as caught:
        checked_address(given)
    assert "secret" not in str(caught.value)
    assert "password" not in str(caught.value)


@pytest.mark.parametrize("host", ["answers.example", "10.0.0.7", "localhost.example"])
def test_plain_http_to_another_machine_must_be_allowed(host: str) -> None:
    with pytest.raises(UsageError, match="plain http"):
        checked_address(f"http://{host}")
    assert checked_address(f"http://{host}", allow_http=True) == f"http://{host}"
