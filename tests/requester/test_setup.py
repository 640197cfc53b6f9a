"""The one-time link of a new server."""

from __future__ import annotations

import pytest

from sottovoce import Requester, UsageError
from sottovoce.errors import Refused
from sottovoce.requester.servers import parse_link
from sottovoce.testing import RunningServer

SECRET = "sva_" + "A" * 43


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("http://127.0.0.1:8000/setup", "http://127.0.0.1:8000"),
        ("https://answers.example/lab/setup", "https://answers.example/lab"),
        ("https://answers.example/setup/", "https://answers.example"),
    ],
)
def test_a_link_is_an_address_and_a_secret(page: str, address: str) -> None:
    assert parse_link(f" {page}#{SECRET}\n") == (address, SECRET)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("https://answers.example/setup", "not the link that `sottovoce serve` prints"),
        (f"https://answers.example/c/leaf0#{SECRET}", "not the link"),
        ("https://answers.example/setup#svi_" + "A" * 43, "the setup link is incomplete"),
        ("https://answers.example/setup#sva_short", "the setup link is incomplete"),
        (f"http://answers.example/setup#{SECRET}", "plain http"),
    ],
)
def test_another_link_is_refused_without_its_secret(link: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        parse_link(link)
    assert "sva_AAA" not in str(caught.value)
    assert "svi_AAA" not in str(caught.value)


def test_a_secret_that_the_server_does_not_know_makes_no_token(server: RunningServer) -> None:
    with pytest.raises(Refused, match="used or replaced"):
        Requester.from_setup(f"{server.url}/setup#{SECRET}", "Ada")
