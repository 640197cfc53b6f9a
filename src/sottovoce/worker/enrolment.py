"""The files of one campaign on a worker's device: its link, receipt, policy and tasks."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from sottovoce.errors import DataError, PolicyChanged, UsageError
from sottovoce.files.locks import exclusive
from sottovoce.files.private_files import private_folder, write_durably
from sottovoce.http_client.addresses import parsed_link
from sottovoce.model import Credential, Policy, check_credential, pseudonym

FORMAT = "sottovoce-enrolment/1"

FILE, BLOCK, LOCK = "campaign.json", "tasks.json", "lock"

PATIENCE = 30.0
"""Seconds to wait for another process of the same worker."""


@dataclass(frozen=True, slots=True)
class WorkerLink:
    """A campaign on a server, and the secret that lets a worker take part.

    >>> link = WorkerLink.parse("https://answers.example/lab/c/leaf0#svi_" + "A" * 43)
    >>> link
    WorkerLink(server='https://answers.example/lab', campaign='leaf0')
    """

    server: str
    campaign: str
    invite: str = field(repr=False)

    @classmethod
    def parse(cls, link: str, invite: str | None = None, *, allow_http: bool = False) -> Self:
        """Parse a link with its invite, or a link and a separate invite. Errors quote nothing."""
        return cls(*parsed_link(link, "c", Credential.INVITE, invite, allow_http=allow_http))

    @property
    def requester(self) -> str:
        """The campaign's name in the worker's ledger."""
        return f"{self.server}/campaigns/{self.campaign}"


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A worker's receipt for one campaign, and the pinned policy.

    The receipt is drawn once and is on disk before it is used: it determines the worker's pseudonym
    in the campaign, and is the only way to see or delete reports.
    """

    folder: Path
    requester: str
    campaign: str
    receipt: str = field(repr=False)
    policy: Policy | None = field(repr=False)

    @classmethod
    def at(cls, home: Path, link: WorkerLink) -> Self:
        """The enrolment in a campaign; makes one if there is none. The folder must be locked."""
        folder = folder_of(home, link)
        try:
            content = (folder / FILE).read_bytes()
        except FileNotFoundError:
            return cls._new(folder, link)
        except OSError as error:
            raise UsageError(f"{folder / FILE} cannot be read ({error.strerror})") from None
        return cls._of(folder, link, content)

    @classmethod
    def _new(cls, folder: Path, link: WorkerLink) -> Self:
        receipt = Credential.RECEIPT + secrets.token_urlsafe(32)
        made = cls(folder, link.requester, link.campaign, receipt, None)
        made._save()
        return made

    @classmethod
    def _of(cls, folder: Path, link: WorkerLink, content: bytes) -> Self:
        try:
            document = json.loads(content)
            if document["format"] != FORMAT or document["requester"] != link.requester:
                raise ValueError
            receipt = check_credential(document["receipt"], Credential.RECEIPT)
            pinned = document["policy"]
            policy = None if pinned is None else Policy.parse(pinned)
        except (ValueError, KeyError, TypeError, UsageError):
            raise DataError(
                "this file was changed or damaged; restore it from a copy, because without it "
                "reports to this campaign can be neither seen nor deleted",
                file=str(folder / FILE),
            ) from None
        return cls(folder, link.requester, link.campaign, receipt, policy)

    @property
    def worker(self) -> str:
        """The worker's pseudonym in the campaign."""
        return pseudonym(self.campaign, self.receipt)

    def pinned(self, offered: Policy) -> Self:
        """Pin this policy durably; refuse it if another is pinned."""
        if self.policy is None:
            made = replace(self, policy=offered)
            made._save()
            return made
        if self.policy.hash != offered.hash:
            raise PolicyChanged(self.campaign, pinned=self.policy.hash, offered=offered.hash)
        return self

    def block(self, after: int) -> Any:
        """The server's reply with this worker's tasks, if it was kept after that many submissions.

        So the tasks are the same after a restart, until some are reported on.
        """
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads((self.folder / BLOCK).read_bytes())
            if kept["after"] == after:
                return kept["block"]
        return None

    def keep_block(self, after: int, block: Any) -> None:
        """Keep the server's reply with this worker's tasks."""
        document = {"after": after, "block": block}
        write_durably(self.folder / BLOCK, json.dumps(document).encode())

    def _save(self) -> None:
        document: dict[str, Any] = {
            "format": FORMAT,
            "requester": self.requester,
            "receipt": self.receipt,
            "policy": None if self.policy is None else self.policy.text(),
        }
        write_durably(self.folder / FILE, json.dumps(document, indent=1).encode())


def folder_of(home: Path, link: WorkerLink) -> Path:
    """The folder of a campaign; made if it does not exist."""
    name = hashlib.sha256(link.requester.encode()).hexdigest()[:32]
    return private_folder(home / "campaigns" / name)


@contextmanager
def held(home: Path, link: WorkerLink) -> Iterator[None]:
    """Lock a campaign against other processes of the same worker until the block ends."""
    with exclusive(folder_of(home, link) / LOCK, PATIENCE):
        yield
