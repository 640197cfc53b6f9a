"""The wheel where nothing but its dependencies is installed, and the studies' wheel with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.wheel_environment import WheelEnvironment, built_wheel

from sottovoce.version import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def studies_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(ROOT / "studies", tmp_path_factory.mktemp("studies-wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and no extra."""
    environment = WheelEnvironment(tmp_path_factory.mktemp("bare") / "venv")
    environment.install(wheel)
    return environment.python


def ran(python: Path, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(python), "-W", "error", *arguments],
        cwd=folder,
        env={**kept, "NUMBA_CACHE_DIR": str(folder / "numba")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_public_name_resolves_and_a_missing_extra_is_said_at_first_use(
    python: Path, tmp_path: Path
) -> None:
    code = """
import contextlib, io
from inspect import getmembers
import sottovoce
from sottovoce import *

assert all(hasattr(sottovoce, name) for name in sottovoce.__all__)
assert set(sottovoce.__all__) <= set(globals())
assert {name for name, _ in getmembers(sottovoce)} >= set(sottovoce.__all__)
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    help(sottovoce)
assert "class Client" in shown.getvalue()
link = "http://127.0.0.1:1/c/abcdefghjkmnpqrs#svi_" + 43 * "A"
uses = [
    lambda: Client(link, folder="home"),
    lambda: Requester("http://127.0.0.1:1", "svk_" + 43 * "A"),
    lambda: simulate_sealed(
        {"worker": ["a", "b"], "task": ["t", "t"], "label": ["x", "y"]}, epsilon=1.0
    ),
]
for use in uses:
    try:
        use()
    except ImportError as error:
        assert isinstance(error, NotInstalled)
        print(error)
"""
    done = ran(python, ["-c", code], tmp_path)
    assert done.stderr == ""
    talking, asking, sealing = done.stdout.splitlines()
    assert talking == asking
    assert talking.endswith("needs httpx, which is not installed: pip install 'sottovoce[client]'")
    assert sealing.endswith("which is not installed: pip install 'sottovoce[secure]'")


def test_help_is_the_same_as_with_every_extra(python: Path, tmp_path: Path) -> None:
    bare = ran(python, ["-m", "sottovoce", "--help"], tmp_path)
    full = ran(Path(sys.executable), ["-m", "sottovoce", "--help"], tmp_path)
    assert (bare.returncode, bare.stdout) == (0, full.stdout)


def test_the_wheel_has_nothing_of_the_studies(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in ZipFile(wheel).namelist()}
    assert tops == {"sottovoce", f"sottovoce-{__version__}.dist-info"}
    assert not [name for name in ZipFile(wheel).namelist() if "studies" in name]


def test_without_the_studies_reproduce_says_in_one_line_how_to_get_them(
    python: Path, tmp_path: Path
) -> None:
    done = ran(python, ["-m", "sottovoce", "reproduce", "--list"], tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "sottovoce: `sottovoce reproduce` needs sottovoce-studies, which is not installed: "
        "pip install sottovoce-studies"
    ]


def test_the_studies_wheel_has_all_modules_their_types_and_data_and_no_tests(
    studies_wheel: Path,
) -> None:
    info = f"sottovoce_studies-{__version__}.dist-info"
    found = {name for name in ZipFile(studies_wheel).namelist() if not name.startswith(info)}
    source = ROOT / "studies" / "src"
    files = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert found == {name for name in files if "__pycache__" not in name}
    assert "sottovoce_studies/py.typed" in found
    assert {f"sottovoce_studies/data/p{paper}.json" for paper in (1, 2, 4)} <= found


def test_the_studies_need_this_release(studies_wheel: Path) -> None:
    metadata = f"sottovoce_studies-{__version__}.dist-info/METADATA"
    lines = ZipFile(studies_wheel).read(metadata).decode("utf-8").splitlines()
    assert f"Version: {__version__}" in lines
    assert f"Requires-Dist: sottovoce[plots,secure]=={__version__}" in lines


def test_both_wheels_together_reproduce(python: Path, studies_wheel: Path, tmp_path: Path) -> None:
    ZipFile(studies_wheel).extractall(tmp_path / "studies")
    code = (
        f"import sys; sys.path.append({str(tmp_path / 'studies')!r}); "
        "from sottovoce.cli import main; main()"
    )
    listed = ran(python, ["-c", code, "reproduce", "--list"], tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "never-worse" in listed.stdout
    # The numbers that the paper prints are in the wheel.
    done = ran(python, ["-c", code, "reproduce", "p4-table-ii"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "verdict: " in done.stdout
