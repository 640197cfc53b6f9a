"""Install hints print a command that works for the way this package was installed."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from sottovoce.errors import NotInstalled, install_command


@pytest.fixture
def installed_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A record of the installation; `direct_url.json` in it is pip's (PEP 610)."""
    place = tmp_path / "sottovoce-1.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Name: sottovoce\nVersion: 1\n")
    monkeypatch.setattr(metadata, "distribution", lambda _: metadata.PathDistribution(place))
    return place / "direct_url.json"


def record(file: Path, url: str, **info: object) -> None:
    file.write_text(json.dumps({"url": url, **info}))


def test_from_a_checkout_the_hint_names_its_folder(installed_from: Path) -> None:
    record(installed_from, "file:///home/ada/my%20work", dir_info={})
    assert install_command("server") == "pip install '/home/ada/my work[server]'"
    assert install_command(distribution="sottovoce-studies") == (
        "pip install '/home/ada/my work/studies'"
    )


def test_an_editable_checkout_stays_editable(installed_from: Path) -> None:
    record(installed_from, "file:///src", dir_info={"editable": True})
    assert install_command("plots") == "pip install -e '/src[plots]'"


@pytest.mark.parametrize("recorded", [False, True])
def test_from_an_index_or_a_wheel_the_hint_names_the_distribution(
    installed_from: Path, recorded: bool
) -> None:
    if recorded:
        record(installed_from, "file:///tmp/sottovoce-1-py3-none-any.whl", archive_info={})
    assert install_command("client") == "pip install 'sottovoce[client]'"
    assert install_command(distribution="sottovoce-studies") == "pip install sottovoce-studies"


def test_a_library_of_others_comes_from_the_index(installed_from: Path) -> None:
    record(installed_from, "file:///src", dir_info={})
    assert str(NotInstalled("polars", purpose="a frame")).endswith("pip install polars")
