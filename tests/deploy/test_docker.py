"""The container's files, and their commands run outside a container."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from sottovoce.server.database import Database

ROOT = Path(__file__).parents[2]
PASSWORD = "0123abcd"  # noqa: S105 - made up
START = 60.0
"""Seconds in which a server has started, on a busy machine."""


def _instructions(text: str) -> list[tuple[str, str]]:
    """A Dockerfile's instructions and their arguments."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    split = (line.partition(" ") for line in joined.splitlines() if line.strip())
    return [(word, rest.strip()) for word, _, rest in split]


DOCKERFILE = _instructions((ROOT / "Dockerfile").read_text())


def _only(word: str) -> str:
    [found] = [rest for instruction, rest in DOCKERFILE if instruction == word]
    return found


def _compose(**environment: str) -> dict[str, Any]:
    """The compose file with its variables filled in."""
    text = (ROOT / "compose.yaml").read_text()
    filled = re.sub(r"\$\{(\w+)(:\?[^}]*)?\}", lambda m: environment[m[1]], text)
    document: dict[str, Any] = yaml.safe_load(filled)
    return document


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made as the first stage makes it from what it copies."""
    folder = tmp_path_factory.mktemp("build")
    first = DOCKERFILE[: [word for word, _ in DOCKERFILE].index("FROM", 1)]
    for copied in (rest.split() for word, rest in first if word == "COPY"):
        for name in copied[:-1]:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / name)
    [command] = [rest for word, rest in first if word == "RUN"]
    arguments = shlex.split(command.replace("/wheels", str(folder / "wheels")))
    assert arguments[0] == "pip"
    made = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True
    )
    if made.returncode and "hatchling" in made.stderr and "No matching" in made.stderr:
        pytest.skip("needs a package index that has hatchling")
    assert made.returncode == 0, made.stderr
    [found] = (folder / "wheels").iterdir()
    return found


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel, which borrows the libraries of the one that tests."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(
        sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)})
    )
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install",
         "--quiet", "--no-deps", "--no-index", wheel],
        check=True,
    )  # fmt: skip
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def _running(
    bin: Path, arguments: Sequence[str], folder: Path, **environment: str
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The image's entry point with these arguments, its folder and its port put elsewhere."""
    port = _free_port()
    [program] = json.loads(_only("ENTRYPOINT"))
    command = [str(bin / program)]
    command += [str(folder) if argument == "/data" else argument for argument in arguments]
    clean = {name: value for name, value in os.environ.items() if "SOTTOVOCE" not in name}
    image = dict(pair.split("=") for pair in _only("ENV").split())
    image["NUMBA_CACHE_DIR"] = str(folder / "numba")
    with open(folder.parent / "out.txt", "wb") as out:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=folder,
            env={**clean, **image, **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(port, process, folder.parent / "out.txt")
            yield port, process
        finally:
            process.send_signal(getattr(signal, _only("STOPSIGNAL")))
            process.wait(30)


def _wait(port: int, process: subprocess.Popen[bytes], out: Path) -> None:
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        assert process.poll() is None, out.read_text()
        with suppress(urllib.error.URLError, OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5)
            return
        time.sleep(0.2)
    raise AssertionError(out.read_text())


def _health(bin: Path, port: int) -> int:
    """How the image's HEALTHCHECK ends."""
    command = json.loads(_only("HEALTHCHECK").partition("CMD")[2])
    assert command[0] == "python"
    code = [part.replace(":8000/", f":{port}/") for part in command[1:]]
    return subprocess.run([bin / "python", *code], capture_output=True).returncode


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


def test_the_image_runs_as_nobody_in_particular_and_keeps_only_data() -> None:
    words = [word for word, _ in DOCKERFILE]
    assert _only("USER") == "sottovoce"
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert _only("VOLUME") == "/data"
    assert _only("EXPOSE") == "8000"
    everywhere = "0.0.0.0"  # noqa: S104 - inside the container
    assert json.loads(_only("CMD")) == ["serve", "--host", everywhere, "--data", "/data"]


def test_what_the_image_copies_is_let_through() -> None:
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }
    copied = {
        name
        for word, rest in DOCKERFILE
        if word == "COPY" and not rest.startswith("--from")
        for name in rest.split()[:-1]
    }
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)


def test_the_image_runs_the_python_that_was_tested() -> None:
    tested = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
    bases = [rest.split()[0] for word, rest in DOCKERFILE if word == "FROM"]
    if sys.version_info[:2] == (3, 11):
        assert bases == [tested, tested]


@pytest.mark.slow
def test_the_command_runs_and_is_healthy(installed: Path, tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    with _running(installed, json.loads(_only("CMD")), folder) as (port, process):
        assert _health(installed, port) == 0
        assert (folder / "sottovoce.db").is_file()
    assert process.returncode == 0
    assert _health(installed, port) != 0
    backed_up = subprocess.run(
        [installed / "sottovoce", "backup", tmp_path / "b", "--data", folder],
        capture_output=True,
        text=True,
    )
    assert backed_up.returncode == 0, backed_up.stderr


@pytest.mark.slow
def test_the_image_installs_from_nothing(wheel: Path, tmp_path: Path) -> None:
    folder, wheels = tmp_path / "venv", tmp_path / "wheels"
    venv.create(folder, with_pip=True, symlinks=True)
    wheels.mkdir()
    shutil.copy(wheel, wheels)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    [command] = [rest for word, rest in DOCKERFILE if word == "RUN" and "pip install" in rest]
    here = tmp_path / "constraints.txt"
    command = command.replace("/tmp/constraints.txt", str(here)).replace("/wheels", str(wheels))  # noqa: S108
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", command], check=True, env={**os.environ, "PATH": path})
    assert not wheels.exists()
    data = _folder(tmp_path)
    with _running(folder / "bin", json.loads(_only("CMD")), data) as (port, _):
        assert _health(folder / "bin", port) == 0


@pytest.fixture
def role(postgresql: str) -> Iterator[str]:
    """The server's folder, after it has what compose's variables make."""
    made = _compose(POSTGRES_PASSWORD=PASSWORD, SOTTOVOCE_PUBLIC_URL="x")
    wanted = made["services"]["db"]["environment"]
    user, name = wanted["POSTGRES_USER"], wanted["POSTGRES_DB"]
    server = Database.at(postgresql)
    with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(
            f"CREATE ROLE {user} LOGIN PASSWORD '{wanted['POSTGRES_PASSWORD']}'"
        )
        connection.exec_driver_sql(f"CREATE DATABASE {name} OWNER {user}")
        yield str(server.url.query["host"])
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
        connection.exec_driver_sql(f"DROP ROLE {user}")
    server.close()


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["one", "several"])
def test_composed_services_run_on_postgresql(
    profile: str, installed: Path, role: str, tmp_path: Path
) -> None:
    made = _compose(POSTGRES_PASSWORD=PASSWORD, SOTTOVOCE_PUBLIC_URL="https://example.org/ask")
    service = made["services"][profile]
    assert service["profiles"] == [profile]
    url = service["environment"]["SOTTOVOCE_DATABASE_URL"]
    assert f":{PASSWORD}@db:5432/" in url
    here = url.replace("db:5432", "") + f"?host={role}"
    folder = _folder(tmp_path)
    command = ["2" if argument == "4" else argument for argument in service["command"]]
    with _running(installed, command, folder, SOTTOVOCE_DATABASE_URL=here) as (port, process):
        assert _health(installed, port) == 0
        answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/ask/api/v1/openapi.json")
        assert json.load(answer)["servers"][0]["url"].endswith("/ask")
    assert process.returncode == 0
    assert PASSWORD not in (tmp_path / "out.txt").read_text()
    assert not (folder / "sottovoce.db").exists()


def test_composed_services_are_bounded_and_wait_for_the_database() -> None:
    made = _compose(POSTGRES_PASSWORD=PASSWORD, SOTTOVOCE_PUBLIC_URL="x")
    services = made["services"]
    assert set(services) == {"one", "several", "db"}
    for service in services.values():
        assert {"cpus", "memory"} <= service["deploy"]["resources"]["limits"].keys()
        assert service["restart"] == "unless-stopped"
    for name in ("one", "several"):
        assert services[name]["depends_on"]["db"]["condition"] == "service_healthy"
        assert services[name]["ports"] == ["127.0.0.1:8000:8000"]  # TLS stands before it
        assert services[name]["read_only"] is True
    assert services["db"]["image"] == "postgres:18"
    assert "pg_isready" in services["db"]["healthcheck"]["test"][1]
    assert set(made["volumes"]) == {"data", "postgresql"}


def test_no_secret_is_in_the_files() -> None:
    text = (ROOT / "compose.yaml").read_text()
    named = set(re.findall(r"\$\{(\w+)", text))
    example = (ROOT / "deploy" / "example.env").read_text()
    given = dict(line.split("=") for line in example.splitlines() if line[:1] not in ("#", ""))
    assert named <= given.keys()
    assert given["POSTGRES_PASSWORD"] == ""
    assert given["COMPOSE_PROFILES"] == "one"
