"""A keyholder goes on only with the policy and tasks that it agreed to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.keyholder.relay import small_session

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.keyholder.agreement import FILE, LOG, Agreement, check_seat
from sottovoce.keyholder.fact_log import LogDamaged
from sottovoce.keyholder.seat import SeatRecord
from sottovoce.model.keyholder import Keyholder
from sottovoce.securesum.committee.terms import Session

SERVER = "https://answers.example"
SESSION = small_session()
OWN = SESSION.sealed.keyholders[0]


def test_the_same_campaign_at_another_address_is_the_same_agreement(home: Path) -> None:
    joined = Agreement.join(home, SERVER, SESSION, 1)
    found = Agreement.find(home, "https://other.example", SESSION, 1)
    assert found is not None
    assert found.folder == joined.folder


def test_other_tasks_under_the_same_policy_are_refused(home: Path) -> None:
    Agreement.join(home, SERVER, SESSION, 1)
    other = Session(SESSION.campaign, SESSION.policy, (*SESSION.names, "one more"))
    with pytest.raises(SealedRefused, match="other tasks or another seat"):
        Agreement.find(home, SERVER, other, 1)
    [folder] = Agreement.all(home)
    [refusal] = SeatRecord.of(folder).refusals
    assert refusal.fact["culprit"] == "the server"


def test_an_agreement_whose_log_is_gone_is_damage(home: Path) -> None:
    folder = Agreement.join(home, SERVER, SESSION, 1).folder
    for file in folder.glob(f"{LOG}*"):
        file.unlink()
    with pytest.raises(LogDamaged, match="must not continue"):
        Agreement.find(home, SERVER, SESSION, 1)


def test_a_log_that_began_with_other_tasks_is_not_gone_on_with(home: Path) -> None:
    folder = Agreement.join(home, SERVER, SESSION, 1).folder
    (folder / FILE).unlink()  # as if it had been killed in between
    other = Session(SESSION.campaign, SESSION.policy, (*SESSION.names, "one more"))
    with pytest.raises(LogDamaged, match="another campaign"):
        Agreement.join(home, SERVER, other, 1)


def test_an_agreement_that_was_changed_is_damage(home: Path) -> None:
    path = Agreement.join(home, SERVER, SESSION, 1).folder / FILE
    path.write_text(path.read_text().replace('"task 0"', '"task 9"'))
    with pytest.raises(LogDamaged, match="another campaign"):
        Agreement.find(home, SERVER, SESSION, 1)


def test_a_seat_is_served_by_one_process(home: Path) -> None:
    agreement = Agreement.join(home, SERVER, SESSION, 1)
    with agreement.held():
        with pytest.raises(UsageError, match="another process"), agreement.held():
            pass


def test_a_policy_that_names_other_keys_is_refused() -> None:
    stranger = Keyholder(OWN.name, OWN.signing, OWN.sealing)
    with pytest.raises(UsageError, match="does not name your keys"):
        check_seat(SESSION, 1, stranger)
    half = replace(OWN, signing=SESSION.sealed.keyholders[1].signing)
    with pytest.raises(UsageError, match="does not name your keys"):
        check_seat(SESSION, 1, half)


def test_another_seat_than_the_policys_is_refused() -> None:
    check_seat(SESSION, 1, OWN)
    with pytest.raises(SealedRefused, match="your seat is 2, and the policy says 1"):
        check_seat(SESSION, 2, OWN)
