"""On PostgreSQL a campaign's reports are in a table of their own, and nobody waits for it long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, func, select, text
from tests.server.database.intake_batches import (
    POLICY,
    TODAY,
    add,
    another,
    counted,
    recounted,
    submission,
    taken,
)

from sottovoce.model import State, Terms
from sottovoce.server.database import Database, Writer
from sottovoce.server.database.campaigns import add_campaign, change_campaign, delete_campaign
from sottovoce.server.database.intake import IntakeOutcome, hold, take
from sottovoce.server.database.integrity import check
from sottovoce.server.database.postgresql import count_partitions, hold_partitions
from sottovoce.server.database.schema import reports

STORED = IntakeOutcome()


pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


@contextmanager
def another_process(database: Database) -> Iterator[Database]:
    """Connections that nobody else has."""
    made = Database(database.url)
    try:
        yield made
    finally:
        made.close()


def partitions(database: Database) -> list[str]:
    with database.reading() as connection:
        query = "SELECT relname FROM pg_class WHERE relname ~ '^reports_[0-9]+$' AND relkind = 'r'"
        return sorted(connection.execute(text(query)).scalars())


def reported(connection: Connection, number: int) -> int:
    query = select(func.count()).where(reports.c.campaign == number)
    return connection.execute(query).scalar_one()


def lock_is_waited_for(database: Database) -> bool:
    with database.reading() as connection:
        waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return bool(connection.execute(waiting).scalar_one())


def filled(database: Database, id: str = "leaf", count: int = 3) -> int:
    """The number of a new campaign with this many submissions."""
    with database.writing() as connection:
        number = add(connection, id)
        first = submission(number, invite=id.encode() + b"o" * 32)
        take(connection, [another(first) for _ in range(count)])
    return number


def delete(database: Database, number: int) -> None:
    with database.writing() as connection:
        delete_campaign(connection, number)


def test_a_draft_has_no_partition_and_an_opened_campaign_keeps_one(database: Database) -> None:
    with database.writing() as connection:
        number = add_campaign(connection, "leaf", Terms("Leaf", "Oak?", POLICY), TODAY).number
    assert partitions(database) == []
    for state in (State.OPEN, State.CLOSED, State.OPEN):
        with database.writing() as connection:
            change_campaign(connection, number, state=state)
            assert count_partitions(connection) == 1
    assert partitions(database) == [f"reports_{number}"]


def test_a_deleted_campaign_takes_its_partition_along_and_no_other(database: Database) -> None:
    first, second = filled(database, "leaf"), filled(database, "tree", 5)
    delete(database, first)
    assert partitions(database) == [f"reports_{second}"]
    with database.reading() as connection:
        assert reported(connection, second) == 5


def test_who_reads_a_campaign_that_is_deleted_goes_on_to_see_it(database: Database) -> None:
    number = filled(database)
    with another_process(database) as reader, reader.reading() as connection:
        assert reported(connection, number) == 3
        delete(database, number)
        assert reported(connection, number) == 3
    with database.reading() as connection:
        assert reported(connection, number) == 0


def test_who_holds_all_partitions_sees_what_is_deleted_before_it_is_read(
    database: Database,
) -> None:
    number = filled(database)
    with another_process(database) as reader, reader.reading() as connection:
        hold_partitions(connection)
        connection.execute(text("SELECT 1"))  # from now on it sees this state
        delete(database, number)
        assert reported(connection, number) == 3


def test_deleting_does_not_wait_for_who_reads_another_campaign(database: Database) -> None:
    first, second = filled(database, "leaf"), filled(database, "tree")
    with another_process(database) as reader, reader.reading() as connection:
        assert reported(connection, second) == 3
        delete(database, first)  # it would be refused after ten seconds
    with database.reading() as connection:
        assert reported(connection, first) == 0


def test_a_partition_that_could_not_be_dropped_goes_with_the_next(database: Database) -> None:
    first, second = filled(database, "leaf"), filled(database, "tree")
    with another_process(database) as reader, reader.reading() as connection:
        assert reported(connection, second) == 3
        delete(database, first)
    assert partitions(database) == [f"reports_{first}", f"reports_{second}"]
    delete(database, second)
    assert partitions(database) == []


def test_opening_does_not_wait_for_who_reads_or_writes(database: Database) -> None:
    number = filled(database)
    with another_process(database) as other, other.reading() as reading, other.writing() as writing:
        assert reported(reading, number) == 3
        assert take(writing, [submission(number)]) == [STORED]
        later = filled(database, "tree")  # it would be refused after ten seconds
        assert take(writing, [submission(number)]) == [STORED]
    with database.reading() as connection:
        assert (reported(connection, number), reported(connection, later)) == (5, 3)


def test_campaigns_come_and_go_while_servers_take_reports(database: Database) -> None:
    number = filled(database, count=0)

    def come_and_go(server: int) -> None:
        with another_process(database) as own:
            for turn in range(6):
                made = filled(own, f"c{server}-{turn}")
                if turn % 2:
                    delete(own, made)

    def send(_: int) -> int:
        with another_process(database) as own:
            writing = Writer(own)
            outcomes = [o for _ in range(12) for o in taken(writing, [submission(number)])]
            writing.close()
        return outcomes.count(STORED)

    with ThreadPoolExecutor(6) as threads:
        changes = [threads.submit(come_and_go, server) for server in range(3)]
        stored = sum(threads.map(send, range(3)))
        for change in changes:
            change.result()
    assert stored == 36
    with database.reading() as connection:
        assert reported(connection, number) == 36
        assert count_partitions(connection) >= 1 + 3 * 3  # one could perhaps not be dropped
        assert counted(connection) == recounted(connection, number)


def test_a_batch_does_not_read_a_table_that_was_never_analysed_from_end_to_end(
    database: Database,
) -> None:
    number = filled(database, count=0)
    with database.writing() as connection:
        connection.execute(
            text(f"""
                INSERT INTO reports (campaign, report_id, worker, day, digest, tasks, codes)
                SELECT {number}, decode(md5('r' || i), 'hex'), decode(md5('w' || i), 'hex'), 1,
                    '', decode('00000000', 'hex'), decode('00000000', 'hex')
                FROM generate_series(1, 4000) AS i""")
        )
    with another_process(database) as other, other.writing() as connection:
        assert take(connection, [submission(number) for _ in range(64)]) == [STORED] * 64
        read = text(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables "
            "WHERE relid = to_regclass(:name)"
        )
        assert connection.execute(read, {"name": f"reports_{number}"}).scalar_one() == 0


def test_a_campaign_without_its_partition_is_a_fault(database: Database) -> None:
    number = filled(database, count=0)
    with database.writing() as connection:
        connection.execute(text(f"ALTER TABLE reports DETACH PARTITION reports_{number}"))
    assert "campaign leaf: it has no partition for reports" in check(database)


def test_what_comes_while_a_server_waits_for_its_turn_is_stored_with_what_waits(
    database: Database,
) -> None:
    number = filled(database, count=0)

    async def send(writing: Writer, other: Database) -> list[IntakeOutcome]:
        with other.writing() as connection:
            hold(connection, [number])
            futures = [writing.take(submission(number))]
            while not lock_is_waited_for(database):
                await asyncio.sleep(0.01)
            futures += [writing.take(submission(number)) for _ in range(9)]
        return await asyncio.gather(*futures)

    with another_process(database) as other, another_process(database) as own:
        writing = Writer(own)
        assert asyncio.run(send(writing, other)) == [STORED] * 10
        writing.close()
    with database.reading() as connection:
        transactions = text(f"SELECT count(DISTINCT xmin::text) FROM reports_{number}")
        assert connection.execute(transactions).scalar_one() == 1
