"""Simulated errors on disk, so that the same question is answered at once the second time."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.files.user_folders import cache_folder
from sottovoce.version import __version__

__all__ = ["key_of", "plans_folder", "recall", "remember", "stamp_of"]


def plans_folder() -> Path:
    """Name the cache: `SOTTOVOCE_CACHE`, or sottovoce in the user's cache folder; plans in it."""
    if chosen := os.environ.get("SOTTOVOCE_CACHE"):
        return Path(chosen).expanduser() / "plans"
    return cache_folder() / "plans"


def key_of(content: Any) -> str:
    """SHA-256 of everything that decides a result: what was asked, and the software that answers.

    `content` is plain: mappings, sequences, texts, numbers.
    """
    text = json.dumps([software(), content], sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def recall(key: str) -> tuple[float, ...]:
    """The errors kept under a key; none where there is no file, or one that makes no sense."""
    try:
        document = json.loads((plans_folder() / f"{key}.json").read_bytes())
        errors = tuple(map(float, document["errors"]))
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, RecursionError):
        return ()
    return errors if all(math.isfinite(error) and error >= 0 for error in errors) else ()


def remember(key: str, errors: tuple[float, ...]) -> None:
    """Keep errors under a key, whole or not at all; where nothing can be kept, nothing is."""
    try:
        folder = plans_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with new_file(folder / f"{key}.json", force=True) as temporary:
            temporary.write_text(json.dumps({"errors": errors}))
    except (OSError, RuntimeError, UsageError):  # a full disk, another user's folder, no home
        return


DECIDING = (
    "model", "privacy", "mechanisms", "inference", "files", "stores", "securesum", "datasets",
    "engines", "api", "planning",
)  # fmt: skip
"""The folders whose code decides what a simulation finds: all layers up to this one."""


@cache
def software() -> tuple[str, str, str]:
    """The versions that decide a simulation, and a stamp of the code that does.

    Two installations of one version may differ, where somebody works on them. What is above the
    simulations, such as pages and commands, has no part in the stamp.
    """
    root = Path(__file__).parents[1]
    files = [path for folder in DECIDING for path in sorted((root / folder).rglob("*.py"))]
    return __version__, np.__version__, stamp_of([*sorted(root.glob("*.py")), *files], root)


def stamp_of(files: Sequence[Path], root: Path) -> str:
    """SHA-256 of the names and contents of files, in their order."""
    stamp = hashlib.sha256()
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        stamp.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return stamp.hexdigest()
