"""Policies at rest: one JSON file each."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sottovoce.errors import DataError, UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.model import Policy

LONGEST = 64_000_000
"""Bytes of the longest file that is read as a policy."""


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """The policy in a file, whose mechanism or sealed sum keeps its promise.

    What is wrong with it is said with the file's name.
    """
    # Here, so that reading tables loads no mechanism.
    from sottovoce.mechanisms.policies import release_of

    place = Path(path)
    try:
        if place.stat().st_size > LONGEST:
            raise DataError("is too large to be a policy", file=str(place))
        policy = Policy.parse(place.read_bytes())
        release_of(policy)
        return policy
    except FileNotFoundError:
        raise DataError("there is no such file", file=str(place)) from None
    except IsADirectoryError:
        raise DataError("is a folder: name a policy's file", file=str(place)) from None
    except UsageError as error:
        raise DataError(str(error), file=str(place)) from None


def policy_text(policy: Policy) -> str:
    """The policy as people read it; the hash is that of the canonical text, not of this."""
    return json.dumps(policy.as_json(), indent=2, ensure_ascii=False) + "\n"


def write_policy(policy: Policy, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a policy to a file, whole or not at all."""
    with new_file(path, force=force) as temporary:
        temporary.write_text(policy_text(policy), encoding="utf-8")
