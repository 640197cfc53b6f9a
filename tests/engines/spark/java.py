"""The system's Java."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

__all__ = ["OLDEST", "java_missing"]

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@cache
def java_missing() -> str | None:
    """Why there is no Java for Spark here; None if there is one.

    Looks where Spark's own scripts look: JAVA_HOME if that is set, else the path.
    """
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return _why("there is none on the path")
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return _why(f"{program} does not run")
    found = _VERSION.search(told.stderr)
    if found is None or int(found[1]) < OLDEST:
        return _why(f"{program} is older")
    return None


def _why(reason: str) -> str:
    return f"no Java {OLDEST}: {reason}; run tests/engines/spark/install.sh, or set JAVA_HOME"
