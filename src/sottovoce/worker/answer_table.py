"""Reads answers from a file. Errors never quote an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.errors import DataError
from sottovoce.model import Domain, Label
from sottovoce.tables.answer_column import Answers, answers_of
from sottovoce.tables.column_roles import Roles
from sottovoce.tables.faults import raise_first
from sottovoce.tables.input_file import local_file
from sottovoce.tables.relation import Relation, open_relation
from sottovoce.tables.vocabulary import Coded, fault_of, names_of
from sottovoce.worker.answers import FOREIGN


def read_answers(
    path: Path, domain: Domain, tasks: Iterable[str] | None = None
) -> dict[str, Label]:
    """The answers in a table with the columns task and answer: CSV, TSV, JSONL or Parquet.

    With `tasks`, an answer to another task is refused.
    """
    known = None if tasks is None else set(tasks)
    given: dict[str, Label] = {}
    with sound_rows(path, domain) as (table, task, answer):
        for place, (code, value) in enumerate(zip(task.codes, answer.values, strict=True)):
            name = str(task.names[code])
            wrong = "is answered twice; keep one row" if name in given else None
            if known is not None and name not in known:
                wrong = FOREIGN
            if wrong:
                raise DataError(f"task {name!r} {wrong}", file=table.name, row=table.row_of(place))
            given[name] = float(value) if domain.is_numeric else domain.labels[int(value)]
    return given


@contextmanager
def sound_rows(path: Path, domain: Domain) -> Iterator[tuple[Relation, Coded, Answers]]:
    """The rows of a table of answers, all valid."""
    roles = Roles({"task": ("task",), "answer": ("answer", "label", "value")}, "--answers", True)
    with local_file(path, None) as file, open_relation(file, roles) as table:
        if table.one(f"SELECT 1 FROM {table.relation} LIMIT 1") == ():
            raise DataError("the table has a header but no rows", file=table.name)
        answer, task = answers_of(table, domain), names_of(table, "task")
        raise_first(table, {"task": fault_of(task.codes), "answer": answer.faults}, domain)
        yield table, task, answer
