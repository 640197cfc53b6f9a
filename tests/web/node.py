"""JavaScript outside a browser: the Node that Playwright carries."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import playwright

from sottovoce.web.assets import STATIC

__all__ = ["RANDOMIZER", "node", "randomizer"]

RANDOMIZER = STATIC / "randomize.js"
_DRIVER = Path(__file__).with_name("randomizer.mjs")


def node(script: Path, *arguments: str, feed: str = "") -> str:
    """What a script prints, given a text to read."""
    program = Path(playwright.__file__).parent / "driver" / "node"
    done = subprocess.run(
        [program, script, *arguments], input=feed, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def randomizer(*jobs: dict[str, Any]) -> list[Any]:
    """What the randomiser makes of each job, in one process. Jobs: see `randomizer.mjs`."""
    replies = json.loads(node(_DRIVER, str(RANDOMIZER), feed=json.dumps(jobs)))
    assert isinstance(replies, list)
    return replies
