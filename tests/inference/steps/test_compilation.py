"""Kernels compile in every installation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_without_a_folder_for_its_cache_a_kernel_still_compiles(tmp_path: Path) -> None:
    """A read-only installation of a user without a home, as in a container."""
    module = tmp_path / "doubling.py"
    module.write_text("def double(x):\n    return 2 * x\n")
    code = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []
from doubling import double
from sottovoce.inference.steps.arithmetic import compiled
print(compiled(double)(21))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "42\n", done.stderr
