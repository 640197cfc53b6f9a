"""Virtual environments that have a wheel and exactly what it requires, without a network.

The dependencies are links to those of the environment that runs the tests: the distributions that
pip would install.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement

__all__ = ["WheelEnvironment", "built_wheel"]

_COMMAND = """#!{python}
from sottovoce.cli import main

main()
"""


def built_wheel(project: Path, place: Path) -> Path:
    """The wheel of a project."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    (wheel,) = place.glob("*.whl")
    return wheel


class WheelEnvironment:
    """A virtual environment into which wheels are installed with their requirements."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        paths = {"base": str(folder), "platbase": str(folder)}
        self._libraries = Path(sysconfig.get_path("purelib", vars=paths))
        self.bin = folder / "bin"
        self.python = self.bin / "python"

    def install(self, wheel: Path, extras: Iterable[str] = ()) -> None:
        """Unpack a wheel, and link everything that it requires with these extras."""
        with ZipFile(wheel) as archive:
            archive.extractall(self._libraries)
            (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
            required = Parser().parsestr(archive.read(metadata).decode("utf-8"))
        own = str(required["Name"])
        lines = [str(line) for line in required.get_all("Requires-Dist") or ()]
        for name, target in _linked(own, lines, set(extras)).items():
            link = self._libraries / name
            if not link.exists():
                link.symlink_to(target)
        command = self.bin / "sottovoce"
        command.write_text(_COMMAND.format(python=self.python))
        command.chmod(0o700)

    def environment(self) -> dict[str, str]:
        """Variables for its processes, without those that name Python's other folders."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return {**kept, "PATH": os.pathsep.join([str(self.bin), os.environ["PATH"]])}


def _linked(own: str, lines: list[str], extras: set[str]) -> dict[str, Path]:
    """Everything that the requirements, and theirs in turn, have in the folder of libraries."""
    found: dict[str, Path] = {}
    seen: set[tuple[str, str]] = set()
    wanted = [(own, extra) for extra in ("", *extras)]
    while wanted:
        name, extra = wanted.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # needed on other systems only
            continue
        requires = lines if name == own else installed.requires or ()
        for requirement in map(Requirement, requires):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                wanted += [(requirement.name, each) for each in ("", *requirement.extras)]
        if name not in (own, "sottovoce", "sottovoce-studies"):
            found |= _files_of(name)
    return found


def _files_of(name: str) -> dict[str, Path]:
    installed = distribution(name)
    tops = {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}
    return {top: Path(str(installed.locate_file(top))) for top in tops}
