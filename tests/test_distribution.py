"""The wheel, the source archive and the files that describe the project agree with each other."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml  # type: ignore[import-untyped]

from sottovoce.version import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return place


def test_twine_accepts_both_archives(built: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2


def test_the_description_of_the_package_has_absolute_links_only(built: Path) -> None:
    with ZipFile(next(built.glob("*.whl"))) as wheel:
        text = wheel.read(f"sottovoce-{__version__}.dist-info/METADATA").decode("utf-8")
    metadata = Parser().parsestr(text)
    description = re.sub(r"```.*?```", "", str(metadata.get_payload()), flags=re.DOTALL)
    links = re.findall(r'\]\(([^)]+)\)|src="([^"]+)"', description)
    assert len(links) > 20
    assert [link for link in links if not "".join(link).startswith("https://")] == []
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL") or ())
    assert {"Documentation", "Source", "Issues", "Changelog"} <= set(urls)


def test_the_source_archive_has_what_operators_and_contributors_need(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Dockerfile", "compose.yaml", "deploy/example.env", "Makefile", "constraints.txt",
        "SECURITY.md", "CITATION.cff", "CODE_OF_CONDUCT.md", ".pre-commit-config.yaml",
        ".github/PULL_REQUEST_TEMPLATE.md", "studies/pyproject.toml", "docs/index.md",
    } <= names  # fmt: skip
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name]


def test_the_release_is_cited_and_in_the_changelog() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{__version__}] - {citation['date-released']}" in changelog


def test_hooks_before_a_commit_download_nothing() -> None:
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [source["repo"] for source in settings["repos"]] == ["local"]
    assert all(hook["language"] == "system" for hook in settings["repos"][0]["hooks"])
