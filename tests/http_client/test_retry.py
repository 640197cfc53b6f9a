"""How long to wait before trying again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from sottovoce.errors import UsageError
from sottovoce.http_client.connection import LONGEST_PAUSE, RetryPolicy


def test_pauses_double_and_differ() -> None:
    patience = RetryPolicy(pause=1.0)
    pauses = [patience.before(3) for _ in range(200)]
    assert all(2.0 <= pause <= 4.0 for pause in pauses)
    assert len(set(pauses)) > 100


def test_the_server_may_ask_for_more() -> None:
    assert RetryPolicy(pause=0.1).before(1, "7") == 7.0


def test_the_server_may_name_a_moment() -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    assert 17 < RetryPolicy(pause=0.1).before(1, moment) <= 20


@pytest.mark.parametrize("asked", ["86400", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_nobody_waits_for_ever(asked: str) -> None:
    assert RetryPolicy(pause=0.1).before(1, asked) == LONGEST_PAUSE


@pytest.mark.parametrize("asked", ["", "soon", "-5", "1.5", "Mon", "٣"])
def test_what_cannot_be_read_is_not_waited_for(asked: str) -> None:
    assert RetryPolicy(pause=0.1).before(1, asked) <= 0.1


@pytest.mark.parametrize(("retries", "pause"), [(-1, 1.0), (101, 1.0), (1, -1.0), (1, 61.0)])
def test_patience_has_limits(retries: int, pause: float) -> None:
    with pytest.raises(UsageError, match="retries must be from"):
        RetryPolicy(retries, pause)
