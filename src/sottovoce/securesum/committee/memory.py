"""The whole protocol in one process, through bytes: for tests, simulations and measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedRefused
from sottovoce.seams import Randomness
from sottovoce.securesum.committee import coordinating
from sottovoce.securesum.committee.admitting import Admission
from sottovoce.securesum.committee.keyholding import KeyholderKeys, KeyholderSession
from sottovoce.securesum.committee.messages import MOST_IN_BATCH
from sottovoce.securesum.committee.rosters import START, Certified, Verdicts
from sottovoce.securesum.envelope import Ed25519PrivateKey
from sottovoce.securesum.session import Session

__all__ = ["Committee", "Run", "run_in_memory"]


@dataclass(frozen=True, slots=True)
class Run:
    """What a session came to: sums (tasks, slots), verdicts of each batch, CPU seconds by party.

    `workers` are those whose contributions are in the total; `refused` says why uploads were not
    even proposed.
    """

    totals: npt.NDArray[np.int64]
    verdicts: tuple[Verdicts, ...]
    workers: tuple[str, ...]
    refused: tuple[str, ...]
    seconds: Mapping[str, float]


@dataclass(slots=True)
class Committee:
    """A server and keyholders that are all there and honest; each call is one phase for all."""

    session: Session
    keyholders: Sequence[KeyholderSession]
    coordinator: Ed25519PrivateKey
    state: Certified = START
    confirms: list[bytes] = field(default_factory=list)
    verdicts: list[Verdicts] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def deal(self, randomness: Randomness) -> None:
        """Everybody deals its noise, and the deals are checked."""
        deals = []
        for keyholder in self.keyholders:
            with self._timed(keyholder):
                deals.append(keyholder.deal(randomness).message)
        with self._timed():
            named = {coordinating.read_message(self.session, each).digest: each for each in deals}
        self.take(named)

    def take(self, contents: Mapping[str, bytes]) -> None:
        """One batch, from proposal to certificate; contents by digest."""
        with self._timed():
            propose = coordinating.propose(
                self.session, self.coordinator, self.state.number + 1, self.state.state,
                list(contents),
            )  # fmt: skip
            ordered = list(contents) if self.state.number < 0 else sorted(contents)
        checks = []
        for keyholder in self.keyholders:
            with self._timed():
                items = [coordinating.item_for(contents[each], keyholder.seat) for each in ordered]
            with self._timed(keyholder):
                checks.append(keyholder.check(propose, items).message)
        self.confirms = []
        for keyholder in self.keyholders:
            with self._timed(keyholder):
                self.confirms.append(keyholder.confirm(self.state.number + 1, checks).message)
        with self._timed():
            self.verdicts.append(coordinating.verdicts(self.session, propose, checks))
            self.state = coordinating.certified(self.session, self.confirms)

    def open(self) -> npt.NDArray[np.int64]:
        """The total of the state that was reached."""
        with self._timed():
            close = coordinating.close(self.session, self.coordinator, self.state)
        opens = []
        for keyholder in self.keyholders:
            with self._timed(keyholder):
                opens.append(keyholder.open(close, self.confirms).message)
        with self._timed():
            return coordinating.opened_total(self.session, opens, self.state.count)

    @contextmanager
    def _timed(self, keyholder: KeyholderSession | None = None) -> Iterator[None]:
        party = "server" if keyholder is None else f"keyholder {keyholder.seat}"
        start = thread_time()
        yield
        self.seconds[party] = self.seconds.get(party, 0.0) + thread_time() - start


def run_in_memory(
    session: Session,
    contributions: Sequence[bytes],
    keys: Sequence[KeyholderKeys],
    coordinator: Ed25519PrivateKey,
    randomness: Randomness,
    batch: int = MOST_IN_BATCH,
) -> Run:
    """Deal, check and confirm in batches, and open. Uploads out of order are left out and named."""
    committee = Committee(session, [KeyholderSession(session, each) for each in keys], coordinator)
    committee.deal(randomness)
    with committee._timed():
        uploads, owners, refused = _read(session, contributions)
    for start in range(0, len(uploads), batch):
        committee.take({each: uploads[each] for each in sorted(uploads)[start : start + batch]})
    totals = committee.open()
    workers = tuple(owners[each] for seen in committee.verdicts[1:] for each in seen.passed)
    return Run(totals, tuple(committee.verdicts), workers, tuple(refused), committee.seconds)


def _read(
    session: Session, contributions: Sequence[bytes]
) -> tuple[dict[str, bytes], dict[str, str], list[str]]:
    """Uploads by digest, their workers by digest, and why others were refused."""
    admission = Admission(session)
    uploads: dict[str, bytes] = {}
    owners: dict[str, str] = {}
    refused: list[str] = []
    seen: set[str] = set()
    for content in contributions:
        try:
            read = admission.whole(content)
        except SealedRefused as error:
            refused.append(str(error))
            continue
        if read.worker in seen:
            refused.append(f"worker {read.worker!r}: it has contributed before")
            continue
        seen.add(read.worker)
        uploads[read.digest], owners[read.digest] = content, read.worker
    return uploads, owners, refused
