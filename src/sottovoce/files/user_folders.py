"""The folders of a user: data, settings and caches, where the system has them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path
from platformdirs.unix import Unix

NAME = "sottovoce"


def home_folder() -> Path:
    """The folder of a worker's ledger and reports: `SOTTOVOCE_HOME`, or the user's data folder."""
    if chosen := os.environ.get("SOTTOVOCE_HOME"):
        return Path(chosen).expanduser()
    here = user_data_path(NAME, appauthor=False)
    if sys.platform == "darwin":  # earlier versions did not read XDG_DATA_HOME there
        return _begun(Path.home() / "Library" / "Application Support" / NAME, here)
    return here


def settings_folder() -> Path:
    """The folder with the servers that a requester has logged in to."""
    return _begun(
        Unix(NAME).user_config_path, user_config_path(NAME, appauthor=False, roaming=True)
    )


def cache_folder() -> Path:
    """The folder of cached datasets and simulated errors."""
    return _begun(Unix(NAME).user_cache_path, user_cache_path(NAME, appauthor=False))


def _begun(earlier: Path, here: Path) -> Path:
    """The folder of earlier versions, if it exists, so that its files stay in use."""
    return earlier if earlier.is_dir() else here
