"""Behaviour that must stay the same while modules move: recorded, and compared after every move.

`python -m tests.frozen.record` compares with tests/frozen/recorded and prints the differences, with
exit code 1; `--write` records again. Names of parts (`names commands …`) select those alone.

Truths and weights are compared to the bit, and the last bit depends on the processor: record them
on the machine that compares. They need SOTTOVOCE_DATA, a folder of real datasets.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from types import MappingProxyType
from typing import Any

from sqlalchemy import create_mock_engine
from tests.frozen.command_line import commands, ran_in, uses
from tests.frozen.public_names import names
from tests.frozen.recordings import RECORDED, Files, as_json, compare, is_sqlite, sha256
from tests.frozen.results import plans, truths
from tests.frozen.service import service

import sottovoce

__all__ = ["PARTS", "main"]

CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "frames": ("sottovoce.securesum.star.messages", "sottovoce.securesum.star.messages"),
    "terms": ("sottovoce.securesum.star.terms",),
    "envelope": ("sottovoce.securesum.envelope",),
    "tables": ("sottovoce.server.database.schema", "sottovoce.server.database.schema"),
    "randomizer": ("tests.server.web.randomizer_vectors", "tests.server.web.randomizer_vectors"),
    "sealing": ("tests.securesum.sealing_vectors", "tests.securesum.committee.sealing_vectors"),
}
"""The old and new paths of modules that are not public: add the new path here when you move or
rename one."""


def _internal(key: str, *names: str) -> Any:
    """The object under one of these names, old or new, in a module that may move."""
    for path in CANDIDATES[key]:
        try:
            module = import_module(path)
        except ModuleNotFoundError as error:
            if not path.startswith(str(error.name)):
                raise
            continue
        for name in names:
            if hasattr(module, name):
                return getattr(module, name)
    raise LookupError(f"{key}: say in CANDIDATES where {' or '.join(names)} is now")


VECTORS = Path(__file__).parents[1] / "vectors"
PACKAGE = Path(sottovoce.__file__).parent


# Hashes and bytes on the wire.


def _policies(document: Any) -> Iterator[sottovoce.Policy]:
    """Every policy anywhere in a file of vectors that this release accepts."""
    if isinstance(document, dict) and document.get("format") == "sottovoce-policy/1":
        with contextlib.suppress(sottovoce.SottovoceError):
            yield sottovoce.Policy.of_json(document)
    elif isinstance(document, dict | list):
        for each in document.values() if isinstance(document, dict) else document:
            yield from _policies(each)


def _frames() -> dict[str, str]:
    """Signed frames of a session whose keys are known."""
    written, place = _internal("frames", "written"), _internal("frames", "Place")
    private = _internal("envelope", "Ed25519PrivateKey")
    terms_of, b64 = _internal("terms", "StarTerms"), _internal("envelope", "b64")
    keys = [private.from_private_bytes(bytes([number]) * 32) for number in range(4)]
    public = [b64(key.public_key().public_bytes_raw()) for key in keys]
    terms = terms_of.of_json(
        {
            "coordinator": public[0], "format": "sottovoce-star/1", "key": None,
            "members": [
                {"number": number, "sealing": b64(bytes([number]) * 32), "signing": public[number]}
                for number in (1, 2, 3)
            ],
            "minimum": 3, "name": "frozen", "purpose": {"sums": 1}, "suite": "masked",
            "threshold": 2,
        }
    )  # fmt: skip
    server = written(terms, place(1, "share"), 0, keys[0], {"active": [1, 2, 3]}, b"payload")
    worker = written(terms, place(2, "confirm", 1), 3, keys[3], {"wörker": "é"})
    return {"session": terms.id, "server": server.hex(), "worker": worker.hex()}


def wire() -> Files:
    """Hashes of policies, and bytes of submissions, contributions and frames."""
    files = sorted(VECTORS.glob("*.json"))
    policies = {
        file.name: [each.hash for each in _policies(json.loads(file.read_text("utf-8")))]
        for file in files
    }
    submission = ("f4a3", "wörker \N{OWL}", ("t1", "t2", "é"), ("no", 1.5, 3))
    sent = [sottovoce.Submission(*submission, simulated=stamp).text() for stamp in (False, True)]
    randomizer = json.loads(_internal("randomizer", "text")())
    drawn = [draw["submission"] for case in randomizer["policies"] for draw in case["draws"]]
    return {
        "wire.json": as_json(
            {
                "vectors": {file.name: sha256(file.read_bytes()) for file in files},
                "policies": policies,
                "submissions": sent,
                "submissions drawn": {"count": len(drawn), "sha256": sha256("\n".join(drawn))},
                "contributions sealed": sha256(_internal("sealing", "text")()),
                "frames": _frames(),
            }
        )
    }


# The database.


def _postgresql() -> str:
    statements: list[str] = []

    def say(statement: Any, *_: Any, **__: Any) -> None:
        statements.append(str(statement.compile(dialect=engine.dialect)).strip())

    engine = create_mock_engine("postgresql+psycopg://", say)
    _internal("tables", "METADATA").create_all(engine, checkfirst=False)
    return ";\n".join(statements)


def _migration(file: Path) -> dict[str, Any]:
    tree = ast.parse(file.read_text("utf-8"))
    values = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and "revision" in target.id
    }
    return {"summary": ast.get_docstring(tree), **values}


def database() -> Files:
    """The tables that `sottovoce db upgrade` makes, and the list of migrations."""
    with TemporaryDirectory(prefix="frozen-") as made:
        said = ran_in("db upgrade --data data", Path(made))
        [file] = (each for each in (Path(made) / "data").iterdir() if is_sqlite(each))
        with contextlib.closing(sqlite3.connect(file)) as connection:
            made_by = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
            tables = [row[0] for row in connection.execute(made_by)]
            revision = connection.execute("SELECT * FROM sottovoce_schema").fetchall()
    migrations = {
        each.stem: _migration(each)
        for each in sorted(PACKAGE.rglob("r[0-9][0-9][0-9][0-9]_*.py"))
        if "migrations" in each.parts
    }
    about = {"file": file.name, "revision": revision, "migrations": migrations, "said": said}
    return {
        "sqlite.sql": ";\n".join(tables) + "\n",
        "postgresql.sql": _postgresql() + "\n",
        "migrations.json": as_json(about),
    }


def loggers() -> Files:
    """Names under which lines are logged."""
    pattern = re.compile(r'getLogger\(\s*"([^"]+)"')
    found = {
        name for file in PACKAGE.rglob("*.py") for name in pattern.findall(file.read_text("utf-8"))
    }
    return {"loggers.txt": "".join(f"{name}\n" for name in sorted(found))}


PARTS: Mapping[str, Callable[[], Files]] = MappingProxyType(
    {
        part.__name__: part
        for part in (names, commands, uses, wire, database, service, loggers, plans, truths)
    }
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, or compare with the recording; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen.record")
    parser.add_argument("parts", nargs="*", help=f"all, if none is named: {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="record again")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    os.environ |= {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    different = []
    for part in chosen.parts or PARTS:
        begun = perf_counter()
        for name, text in PARTS[part]().items():
            if chosen.write:
                RECORDED.mkdir(exist_ok=True)
                (RECORDED / name).write_text(text, "utf-8")
            elif not compare(name, text):
                different.append(name)
        sys.stderr.write(f"{part}: {perf_counter() - begun:.1f} s\n")
    if different:
        sys.stdout.write(f"different: {', '.join(different)}\n")
    elif not chosen.write:
        sys.stdout.write("nothing differs\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
