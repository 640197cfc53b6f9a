"""Committees in one process: the whole protocol through bytes, and its arithmetic alone.

`run_in_memory` runs the protocol, for tests, simulations and measurements.

`CommitteeSum` is the arithmetic for vectors of bounded integers, to rehearse a private EM with it.
Workers, who are all present, share each round's vector over the field of 2⁶¹ − 1 and seal one share
to each keyholder; keyholders add up the unsealed shares and open each round once. It does nothing
else. No noise is added, so the opened sums have no guarantee; no contribution proves that it is in
range, so one worker can spoil a total; and nobody confirms sets, so a server could have several
opened. So no keyholder process offers it: it is for rehearsals in one process, where all parties
are honest.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import thread_time

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model.sum_rounds import Integers, SumSpec
from sottovoce.seams import Randomness
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.contribution import Admission
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession
from sottovoce.securesum.committee.messages import MOST_IN_BATCH
from sottovoce.securesum.committee.noise import read_elements
from sottovoce.securesum.committee.state_chain import START, Certified, Verdicts
from sottovoce.securesum.committee.terms import Session, sealing_info
from sottovoce.securesum.envelope import Ed25519PrivateKey
from sottovoce.securesum.field import P, elements, from_bytes, to_bytes, total
from sottovoce.securesum.hpke import X25519PrivateKey, seal, unseal
from sottovoce.securesum.shamir import interpolate, lies_on, share


class AddingKeyholder:
    """A seat: it adds up its shares of one round's vectors, and opens their sum once per round."""

    def __init__(self, session: str, seat: int) -> None:
        self.seat, self._session = seat, session
        self._key = X25519PrivateKey.generate()
        self._last = -1

    @property
    def public(self) -> bytes:
        """The key to which shares are sealed."""
        return self._key.public_key().public_bytes_raw()

    def open(self, round: int, spec: SumSpec, sealed: Mapping[int, bytes]) -> bytes:
        """Its share of the total of these workers' vectors."""
        if round <= self._last:
            raise SealedRefused("the server", f"round {round} was already opened")
        rows = []
        for worker, content in sealed.items():
            info = _info(self._session, round, worker, self.seat)
            row = read_elements(unseal(self._key, content, info))
            if row is None or len(row) != spec.values:
                raise SealedRefused(f"worker {worker}", f"its share is not {spec.values:,} values")
            rows.append(row)
        self._last = round
        return to_bytes(total(np.stack(rows), axis=0))


class CommitteeSum:
    """A committee of `seats` keyholders, of whom any `degree` + 1 can open a total."""

    def __init__(self, seats: int = 3, degree: int = 1) -> None:
        self._session, self._degree = secrets.token_hex(16), degree
        self.keyholders = [AddingKeyholder(self._session, seat) for seat in range(1, seats + 1)]
        self.seconds: dict[str, float] = {}

    def __call__(self, round: int, spec: SumSpec, vectors: Sequence[Integers]) -> Integers:
        """The totals of one round, through the bytes that would be sent."""
        check_fits(spec, len(vectors))
        sealed: list[list[bytes]] = []
        for worker, vector in enumerate(vectors, 1):
            with self._timed("workers"):
                sealed.append(self._contribution(round, worker, vector))
        opened = []
        for place, keyholder in enumerate(self.keyholders):
            with self._timed(f"keyholder {keyholder.seat}"):
                shares = {worker: each[place] for worker, each in enumerate(sealed, 1)}
                opened.append(keyholder.open(round, spec, shares))
        with self._timed("server"):
            return self._total(spec, len(vectors), opened)

    def _contribution(self, round: int, worker: int, vector: Integers) -> list[bytes]:
        rows = share(elements(vector), self._degree, len(self.keyholders))
        return [
            seal(to.public, to_bytes(row), _info(self._session, round, worker, to.seat))
            for to, row in zip(self.keyholders, rows, strict=True)
        ]

    def _total(self, spec: SumSpec, workers: int, opened: Sequence[bytes]) -> Integers:
        points = [keyholder.seat for keyholder in self.keyholders]
        rows = np.stack([from_bytes(content) for content in opened])
        if not lies_on(self._degree, points, rows):
            raise SealedRefused("the committee", "the opened shares are not of one total")
        totals = interpolate(points, rows).astype(np.int64)
        if (totals > workers * spec.greatest).any():
            raise SealedRefused("the committee", f"a total is impossible for {workers:,} workers")
        return totals

    @contextmanager
    def _timed(self, party: str) -> Iterator[None]:
        start = thread_time()
        yield
        self.seconds[party] = self.seconds.get(party, 0.0) + thread_time() - start


def check_fits(spec: SumSpec, workers: int) -> None:
    """Refuse sums that could exceed the field: they would wrap around."""
    if workers * spec.greatest >= P:
        raise UsageError(
            f"sums of {workers:,} workers up to {spec.greatest:,} each do not fit the committee's "
            "field of 2^61 - 1: lower the scale"
        )


def _info(session: str, round: int, worker: int, seat: int) -> bytes:
    """The HPKE info of a share: it cannot be used in another round, or for another worker."""
    return sealing_info(
        {"keyholder": seat, "phase": "add", "round": round, "session": session, "worker": worker}
    )


@dataclass(frozen=True, slots=True)
class CommitteeRun:
    """The result of a session: sums (tasks, slots), verdicts of each batch, CPU seconds by party.

    `workers` are those whose contributions are in the total; `refused` gives the reasons why
    uploads were not proposed.
    """

    totals: npt.NDArray[np.int64]
    verdicts: tuple[Verdicts, ...]
    workers: tuple[str, ...]
    refused: tuple[str, ...]
    seconds: Mapping[str, float]


@dataclass(slots=True)
class Committee:
    """A server and keyholders that are all present and honest; each call is one phase for all."""

    session: Session
    keyholders: Sequence[KeyholderSession]
    coordinator: Ed25519PrivateKey
    state: Certified = START
    confirms: list[bytes] = field(default_factory=list)
    verdicts: list[Verdicts] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def deal(self, randomness: Randomness) -> None:
        """All keyholders deal their noise, and the deals are checked."""
        deals = []
        for keyholder in self.keyholders:
            with self._timed(keyholder):
                deals.append(keyholder.deal(randomness).message)
        with self._timed():
            named = {server.read_message(self.session, each).digest: each for each in deals}
        self.take(named)

    def take(self, contents: Mapping[str, bytes]) -> None:
        """One batch, from proposal to certificate; contents by digest."""
        with self._timed():
            propose = server.propose(
                self.session,
                self.coordinator,
                self.state.number + 1,
                self.state.state,
                list(contents),
            )
            ordered = list(contents) if self.state.number < 0 else sorted(contents)
        checks = []
        for keyholder in self.keyholders:
            with self._timed():
                items = [server.item_for(contents[each], keyholder.seat) for each in ordered]
            with self._timed(keyholder):
                checks.append(keyholder.check(propose, items).message)
        self.confirms = []
        for keyholder in self.keyholders:
            with self._timed(keyholder):
                self.confirms.append(keyholder.confirm(self.state.number + 1, checks).message)
        with self._timed():
            self.verdicts.append(server.verdicts(self.session, propose, checks))
            self.state = server.certified(self.session, self.confirms)

    def open(self) -> npt.NDArray[np.int64]:
        """The total of the state that was reached."""
        with self._timed():
            close = server.close(self.session, self.coordinator, self.state)
        opens = []
        for keyholder in self.keyholders:
            with self._timed(keyholder):
                opens.append(keyholder.open(close, self.confirms).message)
        with self._timed():
            return server.opened_total(self.session, opens, self.state.count)

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
) -> CommitteeRun:
    """Deal, check and confirm in batches, and open. Invalid uploads are left out and named."""
    committee = Committee(session, [KeyholderSession(session, each) for each in keys], coordinator)
    committee.deal(randomness)
    with committee._timed():
        uploads, owners, refused = _read(session, contributions)
    for start in range(0, len(uploads), batch):
        committee.take({each: uploads[each] for each in sorted(uploads)[start : start + batch]})
    totals = committee.open()
    workers = tuple(owners[each] for seen in committee.verdicts[1:] for each in seen.passed)
    return CommitteeRun(
        totals, tuple(committee.verdicts), workers, tuple(refused), committee.seconds
    )


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
            refused.append(f"worker {read.worker!r}: it has already contributed")
            continue
        seen.add(read.worker)
        uploads[read.digest], owners[read.digest] = content, read.worker
    return uploads, owners, refused
