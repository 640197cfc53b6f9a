"""What a keyholder has agreed to: one campaign, its policy and its tasks, pinned for good."""

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
    """One seat in one campaign, in a folder of its own.

    The folder is named by the campaign and the policy's hash, which is what contributions are
    sealed for: wherever the server moves, and whatever tasks it shows, the same contributions lead
    to the same folder and its log. So they are opened once.
    """

    folder: Path = field(repr=False)
    server: str
    session: Session
    seat: int

    @classmethod
    def find(cls, home: Path, server: str, session: Session, seat: int) -> Self | None:
        """What was agreed for this campaign and policy; None where nothing was.

        The same must be offered as then, and everything must still be there.
        """
        folder = _folder(home, session)
        if not (folder / FILE).exists():
            return None
        found = cls.read(folder)
        if (found.session.id, found.seat) != (session.id, seat):
            refused = SealedRefused(
                "the server", "it offers other tasks or another seat than were agreed to"
            )
            found.write_down(refused, {"tasks": list(session.names), "seat": seat})
            raise refused
        return cls(folder, server, found.session, seat)

    @classmethod
    def join(cls, home: Path, server: str, session: Session, seat: int) -> Self:
        """Agree, durably. The log begins first: an agreement without its log is damage."""
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
        """The agreement in a folder, if it and its log belong together."""
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
            raise DataError("this is not what was written", file=str(path)) from None
        facts = made.log.facts()
        joined = {"fact": JOINED, "session": session.id, "seat": made.seat}
        if not facts or facts[0].fact != joined:
            raise LogDamaged(str(folder / LOG), line=1, fault="the log is not this campaign's")
        return made

    @classmethod
    def all(cls, home: Path) -> list[Path]:
        """The folders of all campaigns that were agreed to."""
        return sorted(path.parent for path in (home / CAMPAIGNS).glob(f"*/{FILE}"))

    @property
    def log(self) -> FactLog:
        """What was done here."""
        return FactLog(self.folder / LOG)

    def write_down(self, refused: SealedRefused, evidence: Any) -> None:
        """Write down who was refused for what, and keep what it sent: once, however often."""
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
        """Keep a second process with the same seat out until the block ends."""
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(self.folder / LOCK, 0.0))
            except LedgerBusy:
                raise UsageError(
                    f"campaign {self.session.campaign} is served by another process already"
                ) from None
            yield


def check_seat(session: Session, seat: int, own: Keyholder) -> None:
    """Refuse a campaign in which other keys than one's own sit where the server says one sits."""
    seats = [
        number
        for number, each in enumerate(session.sealed.keyholders, 1)
        if (each.sealing, each.signing) == (own.sealing, own.signing)
    ]
    if not seats:
        raise UsageError(
            f"the policy of campaign {session.campaign} does not name your keys, "
            f"{own.fingerprint}: ask the requester which card it was given"
        )
    if seats != [seat]:
        raise SealedRefused(
            "the server", f"it says that your seat is {seat}, and the policy says {seats[0]}"
        )


def _folder(home: Path, session: Session) -> Path:
    name = canonical_bytes([session.campaign, session.policy.hash])
    return home / CAMPAIGNS / hashlib.sha256(name).hexdigest()[:32]
