"""`sottovoce simulate`: the whole of inference on a simulated campaign."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_a_simulation_saves_a_table_and_a_picture(run: Run, tmp_path: Path) -> None:
    done = run("simulate", "--folder", "out")
    assert done.returncode == 0, done.stderr
    assert "dawid-skene" in done.stdout
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_files_are_not_replaced_unasked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "answers.csv").write_text("mine")
    done = run("simulate")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (tmp_path / "demo" / "answers.csv").read_text() == "mine"
