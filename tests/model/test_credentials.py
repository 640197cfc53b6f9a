"""Credentials: one form, one hash, and no error that quotes one."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import Credential, check_credential, digest, pseudonym

SECRET = "A" * 43


@pytest.mark.parametrize("kind", Credential)
def test_a_new_credential_has_the_form(kind: Credential) -> None:
    made = kind + secrets.token_urlsafe(32)
    assert check_credential(made, kind) == made


@pytest.mark.parametrize(
    "text",
    ["", "svi_", "svr_" + SECRET, "svi_" + SECRET + "A", "svi_" + SECRET[:-1], "svi_" + "é" * 43,
     "svi_" + SECRET + "\n", " svi_" + SECRET, "svi_" + "\0" * 43, "SVI_" + SECRET, None, 7],
)  # fmt: skip
def test_anything_else_is_refused(text: Any) -> None:
    with pytest.raises(UsageError, match="the invite link is incomplete or changed: after # it"):
        check_credential(text, Credential.INVITE)


def test_a_refused_credential_is_not_quoted() -> None:
    with pytest.raises(UsageError) as refused:
        check_credential("svk_CANARY", Credential.TOKEN)
    assert str(refused.value) == (
        "the token is incomplete or changed: it must have svk_ and 43 characters; copy it again"
    )


def test_a_digest_is_sha256() -> None:
    assert digest("abc").hex().startswith("ba7816bf8f01cfea")


@given(st.text())
def test_everything_has_a_digest_and_a_pseudonym(text: str) -> None:
    """An error would quote what was shown."""
    assert len(digest(text)) == 32
    assert len(bytes.fromhex(pseudonym("leaf", text))) == 16


def test_a_pseudonym_is_of_one_campaign_and_one_receipt() -> None:
    receipts = ["svr_" + SECRET, "svr_" + "B" * 43]
    names = {pseudonym(campaign, each) for campaign in ("leaf", "tree") for each in receipts}
    assert len(names) == 4
    assert pseudonym("leaf", receipts[0]) == pseudonym("leaf", receipts[0])
