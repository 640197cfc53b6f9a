"""The README, top to bottom, in environments that have exactly what its blocks installed."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.docs.consoles import Console, matches, typed_in
from tests.wheel_environment import WheelEnvironment, built_wheel

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
SOURCES = {".": ROOT, "./studies": ROOT / "studies"}

DOCTEST = """
import doctest, sys
options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
sys.exit(doctest.testfile("block.txt", module_relative=False, optionflags=options).failed)
"""


def test_it_is_short() -> None:
    assert len(README.split()) <= 1_200
    assert len(README.splitlines()) <= 180


def test_every_block_runs_with_what_the_blocks_above_it_installed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    environment = WheelEnvironment(tmp_path / "venv")
    wheel = _once(lambda source: built_wheel(source, tmp_path / source.name / "dist"))
    ran = set()
    with Console(tmp_path / "work", environment.bin) as console:
        for kind, block in BLOCKS:
            if kind == "sh" and block.startswith("pip install "):
                _install(environment, block, wheel)
            elif kind == "python":
                _run_python(environment, block, tmp_path / "work")
            elif kind == "console":
                _run_console(console, block)
            ran.add(kind)
    assert ran == {"sh", "python", "console"}


def test_the_other_blocks_are_targets_of_make() -> None:
    rest = [block for kind, block in BLOCKS if kind == "sh" and not block.startswith("pip ")]
    targets = re.findall(r"^make (\S+)", "".join(rest), re.MULTILINE)
    assert targets == ["demo", "test"]
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", made, re.MULTILINE) for target in targets)


def _once(build: Callable[[Path], Path]) -> Callable[[Path], Path]:
    built: dict[Path, Path] = {}
    return lambda source: built.setdefault(source, built.get(source) or build(source))


def _install(environment: WheelEnvironment, block: str, wheel: Callable[[Path], Path]) -> None:
    for wanted in shlex.split(block)[2:]:
        source, _, extras = wanted.partition("[")
        environment.install(wheel(SOURCES[source]), extras.rstrip("]").split(",") if extras else ())


def _run_python(environment: WheelEnvironment, block: str, folder: Path) -> None:
    (folder / "block.txt").write_text(block, encoding="utf-8")
    done = subprocess.run(
        [str(environment.python), "-c", DOCTEST],
        cwd=folder,
        env=environment.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _run_console(console: Console, block: str) -> None:
    for typed in typed_in(f"```console\n{block}```\n"):
        seen = console.run(typed.command)
        assert matches(typed, seen), "\n".join([f"$ {typed.command}", *seen])


def test_an_environment_has_nothing_that_was_not_installed(tmp_path: Path) -> None:
    environment = WheelEnvironment(tmp_path / "venv")
    environment.install(built_wheel(ROOT, tmp_path / "dist"))
    code = "import numpy, sottovoce\nimport {}"
    for absent in ("httpx", "matplotlib", "pytest"):
        done = subprocess.run(
            [str(environment.python), "-c", code.format(absent)],
            env=environment.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.endswith(f"ModuleNotFoundError: No module named {absent!r}\n")
