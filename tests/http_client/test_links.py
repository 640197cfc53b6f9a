"""Links to a campaign's pages, with and without a secret behind the #."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce.http_client.addresses import page_address, parsed_link
from sottovoce.model import Credential

INVITE = "svi_" + "A" * 43


def test_a_link_without_a_secret_names_server_and_campaign() -> None:
    found = page_address("https://Answers.example/lab/c/leaf0/", "c", allow_http=False)
    assert found == ("https://answers.example/lab", "leaf0")


def test_a_link_with_a_secret_gives_all_three() -> None:
    found = parsed_link(
        f"https://answers.example/c/leaf0#{INVITE}", "c", Credential.INVITE, allow_http=False
    )
    assert found == ("https://answers.example", "leaf0", INVITE)


@pytest.mark.parametrize("address", ["https://host/k/leaf0", "https://host/c/", "leaf0"])
def test_another_link_is_refused_with_an_example_of_its_kind(address: str) -> None:
    with pytest.raises(UsageError, match=r"not a link to a campaign, .* https://host/c/leaf0$"):
        page_address(address, "c", allow_http=False)
    with pytest.raises(
        UsageError, match=r"not a link to a campaign, .* https://host/c/leaf0#svi_…$"
    ):
        parsed_link(f"{address}#{INVITE}", "c", Credential.INVITE, allow_http=False)


def test_plain_http_has_to_be_allowed() -> None:
    with pytest.raises(UsageError, match="plain http"):
        page_address("http://host.example/c/leaf0", "c", allow_http=False)
    assert page_address("http://host.example/c/leaf0", "c", allow_http=True)[1] == "leaf0"
