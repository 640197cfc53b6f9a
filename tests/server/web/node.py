"""JavaScript outside a browser: the Node that Playwright carries."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import playwright

from sottovoce.server.web.worker_page import STATIC

__all__ = ["RANDOMIZER", "SEALER", "node", "randomizer", "sealer"]

RANDOMIZER = STATIC / "randomize.js"
SEALER = STATIC / "seal.js"
_HERE = Path(__file__).parent


def node(script: Path, *arguments: str, feed: str = "") -> str:
    """The output of a script, given a text to read."""
    program = Path(playwright.__file__).parent / "driver" / "node"
    done = subprocess.run(
        [program, script, *arguments], input=feed, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def randomizer(*jobs: dict[str, Any]) -> list[Any]:
    """The randomiser's result for each job, in one process. Jobs: see `randomizer.mjs`."""
    return _replies(_HERE / "randomizer.mjs", RANDOMIZER, jobs)


def sealer(*jobs: dict[str, Any]) -> list[Any]:
    """The sealing module's result for each job, in one process. Jobs: see `sealer.mjs`."""
    return _replies(_HERE / "sealer.mjs", SEALER, jobs)


def _replies(driver: Path, module: Path, jobs: tuple[dict[str, Any], ...]) -> list[Any]:
    replies = json.loads(node(driver, str(module), feed=json.dumps(jobs)))
    assert isinstance(replies, list)
    return replies


def check_stands_alone(module: Path) -> None:
    """A module that computes reports imports, keeps and sends nothing, and draws in one place."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", module.read_text("utf-8"), flags=re.DOTALL)
    words = set(re.findall(r"[A-Za-z_$][\w$]*", code))
    assert not words & {
        "import", "require", "eval", "Function", "fetch", "XMLHttpRequest", "WebSocket",
        "localStorage", "sessionStorage", "indexedDB", "navigator", "location", "console",
        "postMessage", "setTimeout", "Date", "performance",
    }  # fmt: skip
    assert "Math.random" not in code
    assert code.count("getRandomValues") == 1
