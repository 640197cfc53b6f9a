"""A setup secret works once; tokens work until they are revoked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from tests.server.drafts import TODAY, running

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.model import Credential, check_credential, digest
from sottovoce.server.credentials import (
    check_token,
    list_tokens,
    make_setup,
    make_token,
    redeem_setup,
    revoke_token,
    token_id,
)
from sottovoce.server.database import Database
from sottovoce.server.database.schema import tokens
from sottovoce.server.service import Service


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as made:
        yield made


def refusal_of(service: Service, credential: str) -> Reason:
    with pytest.raises(Refused) as refused:
        check_token(service, credential)
    assert len(credential) < 9 or credential[4:] not in str(refused.value)
    return refused.value.reason


def test_setup_makes_a_token_that_works(service: Service) -> None:
    token = redeem_setup(service, make_setup(service), "Ada")
    check_credential(token, Credential.TOKEN)
    assert check_token(service, token) == token_id(token)
    assert [(each.id, each.name, each.created_on) for each in list_tokens(service)] == [
        (token_id(token), "Ada", TODAY)
    ]


def test_setup_works_once(service: Service) -> None:
    secret = make_setup(service)
    redeem_setup(service, secret, "Ada")
    with pytest.raises(Refused, match="used or replaced") as refused:
        redeem_setup(service, secret, "Eve")
    assert refused.value.reason is Reason.BAD_CREDENTIAL
    assert len(list_tokens(service)) == 1


def test_a_new_setup_replaces_the_one_before(service: Service) -> None:
    earlier, later = make_setup(service), make_setup(service)
    with pytest.raises(Refused):
        redeem_setup(service, earlier, "Eve")
    redeem_setup(service, later, "Ada")


def test_a_name_that_is_none_does_not_use_up_the_setup(service: Service) -> None:
    secret = make_setup(service)
    for name in ("", "  ", "x" * 201, "a\0b"):
        with pytest.raises(UsageError, match="name"):
            redeem_setup(service, secret, name)
    redeem_setup(service, secret, "Ada")


def test_of_many_who_redeem_at_once_one_gets_a_token(service: Service) -> None:
    """Over two services, as two processes on one PostgreSQL would be."""
    secret = make_setup(service)
    start = threading.Barrier(8)

    def redeem(which: Service, name: str) -> str | None:
        start.wait()
        try:
            return redeem_setup(which, secret, name)
        except Refused:
            return None

    with running(service.database) as other, ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(redeem, (service, other)[place % 2], f"worker {place}")
            for place in range(8)
        ]
        given = [future.result() for future in asked]
    assert sum(token is not None for token in given) == 1
    assert len(list_tokens(service)) == 1


def test_only_hashes_are_kept(service: Service) -> None:
    setup, token = make_setup(service), make_token(service, "Ada")
    with service.database.reading() as connection:
        kept = set(connection.execute(select(tokens.c.digest)).scalars())
    assert kept == {digest(setup), digest(token)}


def test_a_revoked_token_ends_at_once_and_others_stay(service: Service) -> None:
    first, second = make_token(service, "one"), make_token(service, "two")
    revoke_token(service, token_id(first))
    assert refusal_of(service, first) is Reason.BAD_CREDENTIAL
    assert check_token(service, second) == token_id(second)


def test_a_token_that_is_not_there_is_not_revoked(service: Service) -> None:
    make_token(service, "Ada")
    for id in ("0" * 16, "f" * 16, "", "zz", "0" * 15, "0" * 64, "../../etc"):
        with pytest.raises(Refused) as refused:
            revoke_token(service, id)
        assert refused.value.reason is Reason.NOT_FOUND
    assert len(list_tokens(service)) == 1


def test_a_setup_secret_is_no_token_and_not_in_the_list(service: Service) -> None:
    secret = make_setup(service)
    assert refusal_of(service, secret) is Reason.BAD_CREDENTIAL
    assert refusal_of(service, Credential.TOKEN + secret[4:]) is Reason.BAD_CREDENTIAL
    assert list_tokens(service) == []
    with pytest.raises(Refused):
        revoke_token(service, token_id(secret))


def test_what_is_no_token_is_refused(service: Service) -> None:
    make_token(service, "Ada")
    for length in (0, 42, 43, 44, 9999):
        assert refusal_of(service, "svk_" + "A" * length) is Reason.BAD_CREDENTIAL
    assert refusal_of(service, "svi_" + "A" * 43) is Reason.BAD_CREDENTIAL
