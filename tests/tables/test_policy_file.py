"""Policies at rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sottovoce.errors import DataError, OutputExists, UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain
from sottovoce.tables import policy_file, policy_text, read_policy, write_policy

POLICY = make_policy(Domain.categorical(["schön", "日本"]), "randomized-response", Target(1.0))


def test_a_policy_comes_back_from_its_file(tmp_path: Path) -> None:
    write_policy(POLICY, tmp_path / "policy.json")
    assert read_policy(tmp_path / "policy.json") == POLICY


def test_the_file_is_for_people_and_keeps_the_hash(tmp_path: Path) -> None:
    write_policy(POLICY, tmp_path / "policy.json")
    text = (tmp_path / "policy.json").read_text(encoding="utf-8")
    assert text == policy_text(POLICY)
    assert "schön" in text
    assert len(text.splitlines()) > 10
    assert read_policy(tmp_path / "policy.json").hash == POLICY.hash


def test_a_file_that_exists_is_kept_without_force(tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text("mine")
    with pytest.raises(OutputExists):
        write_policy(POLICY, tmp_path / "policy.json")
    assert (tmp_path / "policy.json").read_text() == "mine"
    write_policy(POLICY, tmp_path / "policy.json", force=True)
    assert read_policy(tmp_path / "policy.json") == POLICY


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff\xff", "is not JSON"),
        (b"[" * 99_999, "nested too deeply"),
        (b"[]", "must be a JSON object"),
        (json.dumps({**POLICY.as_json(), "more": 1}).encode(), "unknown fields: 'more'"),
        (POLICY.text().replace("{", '{"format":1,', 1).encode(), "'format' twice"),
        (b"worker,task,answer\na,b,c\n", "is not JSON"),
    ],
)
def test_what_is_wrong_is_said_with_the_files_name(
    content: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "policy.json").write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        read_policy(tmp_path / "policy.json")
    assert str(error.value).startswith(f"{tmp_path / 'policy.json'}: ")


def test_a_folder_and_nothing_are_no_policies(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        read_policy(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_policy(tmp_path / "none.json")


def test_an_endless_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_file, "LONGEST", 100)
    write_policy(POLICY, tmp_path / "policy.json")
    with pytest.raises(DataError, match="too large"):
        read_policy(tmp_path / "policy.json")


def test_a_policy_needs_a_folder_that_exists(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="create it first"):
        write_policy(POLICY, tmp_path / "none" / "policy.json")
    assert list(tmp_path.iterdir()) == []
