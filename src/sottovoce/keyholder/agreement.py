"""A keyholder's agreement: one campaign, its policy and its tasks, pinned permanently."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from sottovoce.errors import DataError, LedgerBusy, SealedRefused, UsageError
from sottovoce.files.locks import exclusive
from sottovoce.files.private_files import private_folder, write_durably
from sottovoce.keyholder.fact_log import FactLog, LogDamaged
from sottovoce.model import Policy
from sottovoce.model.canonical_json import canonical_bytes
from sottovoce.model.keyholder import Keyholder
from sottovoce.securesum.committee.terms import Session

FORMAT = "sottovoce-agreement/1"
CAMPAIGNS, FILE, LOG, LOCK = "campaigns", "agreement.json", "facts.jsonl", "lock"
EVIDENCE = "evidence"
JOINED, REFUSED = "joined", "refused"


@dataclass(frozen=True, slots=True)
class Agreement:
    """One seat in one campaign, in its own folder.

    The folder is named after the campaign and the policy's hash, for which contributions are
    sealed. Even if the server moves or shows other tasks, the same contributions lead to the same
    folder and log, so they are opened only once.
    """

    folder: Path = field(repr=False)
    server: str
    session: Session
    seat: int

    @classmethod
    def find(cls, home: Path, server: str, session: Session, seat: int) -> Self | None:
        """The agreement for this campaign and policy; None if there is none.

        The offer must be the same as then, and all files must still exist.
        """
        folder = _folder(home, session)
        if not (folder / FILE).exists():
            return None
        found = cls.read(folder)
        if (found.session.id, found.seat) != (session.id, seat):
            refused = SealedRefused(
                "the server", "it offers other tasks or another seat than agreed"
            )
            found.write_down(refused, {"tasks": list(session.names), "seat": seat})
            raise refused
        return cls(folder, server, found.session, seat)

    @classmethod
    def join(cls, home: Path, server: str, session: Session, seat: int) -> Self:
        """Store an agreement durably. The log starts first: an agreement without one is damaged."""
        made = cls(private_folder(_folder(home, session)), server, session, seat)
        if not made.log.facts():
            made.log.add({"fact": JOINED, "session": session.id, "seat": seat})
        document = {
            "format": FORMAT,
            "server": server,
            "campaign": session.campaign,
            "policy": session.policy.text(),
            "tasks": list(session.names),
            "seat": seat,
        }
        write_durably(made.folder / FILE, json.dumps(document, indent=1).encode("ascii"))
        return cls.read(made.folder)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the agreement in a folder, if its log matches it."""
        path = folder / FILE
        try:
            document = json.loads(path.read_bytes())
            if document["format"] != FORMAT:
                raise ValueError
            session = Session(
                document["campaign"], Policy.parse(document["policy"]), tuple(document["tasks"])
            )
            made = cls(folder, document["server"], session, int(document["seat"]))
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", file=str(path)) from None
        except (ValueError, KeyError, TypeError, UsageError):
            raise DataError("this file was changed or damaged", file=str(path)) from None
        facts = made.log.facts()
        joined = {"fact": JOINED, "session": session.id, "seat": made.seat}
        if not facts or facts[0].fact != joined:
            raise LogDamaged(str(folder / LOG), line=1, fault="the log belongs to another campaign")
        return made

    @classmethod
    def all(cls, home: Path) -> list[Path]:
        """All agreements in a keyholder's folder."""
        return sorted(path.parent for path in (home / CAMPAIGNS).glob(f"*/{FILE}"))

    @property
    def log(self) -> FactLog:
        """The log of this campaign."""
        return FactLog(self.folder / LOG)

    def write_down(self, refused: SealedRefused, evidence: Any) -> None:
        """Record a refusal once, and keep the refused message as evidence."""
        content = canonical_bytes(evidence)
        name = hashlib.sha256(content).hexdigest()
        write_durably(private_folder(self.folder / EVIDENCE) / f"{name}.json", content)
        fact = {
            "fact": REFUSED,
            "culprit": refused.culprit,
            "reason": refused.reason,
            "evidence": name,
        }
        if self.log.facts()[-1].fact != fact:
            self.log.add(fact)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the seat against a second process until the block ends."""
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(self.folder / LOCK, 0.0))
            except LedgerBusy:
                raise UsageError(
                    f"campaign {self.session.campaign} is already served by another process"
                ) from None
            yield


def check_seat(session: Session, seat: int, own: Keyholder) -> None:
    """Refuse a campaign whose policy does not have this keyholder's keys at its seat."""
    seats = [
        number
        for number, each in enumerate(session.sealed.keyholders, 1)
        if (each.sealing, each.signing) == (own.sealing, own.signing)
    ]
    if not seats:
        raise UsageError(
            f"the policy of campaign {session.campaign} does not name your keys, "
            f"{own.fingerprint}; ask the requester which card they received"
        )
    if seats != [seat]:
        raise SealedRefused(
            "the server", f"it says that your seat is {seat}, and the policy says {seats[0]}"
        )


def _folder(home: Path, session: Session) -> Path:
    name = canonical_bytes([session.campaign, session.policy.hash])
    return home / CAMPAIGNS / hashlib.sha256(name).hexdigest()[:32]
