"""Links that workers are given."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce.worker.enrolment import WorkerLink

INVITE = "svi_" + "A" * 43


@pytest.mark.parametrize(
    ("text", "server"),
    [
        (f"https://answers.example/c/leaf0#{INVITE}", "https://answers.example"),
        (f"  https://answers.example/lab/c/leaf0/#{INVITE}\n", "https://answers.example/lab"),
        (f"http://127.0.0.1:8000/c/leaf0#{INVITE}", "http://127.0.0.1:8000"),
    ],
)
def test_a_link_names_server_campaign_and_invite(text: str, server: str) -> None:
    link = WorkerLink.parse(text)
    assert (link.server, link.campaign, link.invite) == (server, "leaf0", INVITE)
    assert link.requester == f"{server}/campaigns/leaf0"


def test_an_invite_may_be_given_separately() -> None:
    assert WorkerLink.parse("https://answers.example/c/leaf0", INVITE).invite == INVITE
    assert WorkerLink.parse(f"https://answers.example/c/leaf0#{INVITE}", INVITE).invite == INVITE


@pytest.mark.parametrize(
    ("text", "beside", "said"),
    [
        ("https://answers.example/c/leaf0", None, "not an invite link, which looks like"),
        (f"https://answers.example/c/leaf0#{INVITE}", "svi_" + "B" * 43, "another is given"),
        (f"https://answers.example/leaf0#{INVITE}", None, "not a link to a campaign"),
        (f"https://answers.example/c/LEAF#{INVITE}", None, "not a link to a campaign"),
        (f"https://answers.example/c/../x#{INVITE}", None, "not a link to a campaign"),
        (f"https://answers.example/c/leaf0?x=1#{INVITE}", None, "not a link to a campaign"),
        ("https://answers.example/c/leaf0#svi_short-secret", None, "the invite link is incomplete"),
        ("https://answers.example/c/leaf0#svk_" + "A" * 43, None, "the invite link is incomplete"),
        (f"http://answers.example/c/leaf0#{INVITE}", None, "plain http"),
        (f"ftp://answers.example/c/leaf0#{INVITE}", None, "https://host"),
    ],
)
def test_what_is_no_link_is_refused_without_quoting_it(
    text: str, beside: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        WorkerLink.parse(text, beside)
    assert "short-secret" not in str(caught.value)
    assert INVITE not in str(caught.value)
