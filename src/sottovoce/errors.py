"""Every error raised on purpose, as a tree.

A message says what was asked, what was found and the way out. Its numbers are attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import partial
from typing import Any, NoReturn

__all__ = [
    "AlreadyReported", "BudgetExceeded", "DataError", "LedgerBusy", "LedgerDamaged", "LedgerError",
    "LedgerUnwritable", "NotInstalled", "OutputExists", "PolicyChanged", "Reason", "Refused",
    "SealedAborted", "SealedRefused", "SottovoceError", "SpendRefused", "Stopped", "Unreachable",
    "UsageError", "absent",
]  # fmt: skip


class SottovoceError(Exception):
    """The root of the tree: catch this to catch everything Sottovoce refuses."""


class DataError(SottovoceError):
    """A table that cannot be used as it is: what was read, where, and what to do about it."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        places = [file] if file else []
        if row is not None:
            places.append(f"row {row:,}")
        if column is not None:
            places.append(f"column {column!r}")
        super().__init__(f"{', '.join(places)}: {message}" if places else message)
        self.file = file
        self.row = row
        self.column = column


class UsageError(SottovoceError):
    """A request that makes no sense, whatever the data: a wrong name, an impossible pairing."""


class OutputExists(UsageError):  # noqa: N818 - reads as the fact it states
    """Something is already where the output should go."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} exists; say --force (force=True) to replace it")
        self.path = path


class NotInstalled(UsageError, ImportError):  # noqa: N818 - reads as the fact it states
    """An optional library is needed and absent."""

    def __init__(self, library: str, *, purpose: str, extra: str | None = None) -> None:
        way = f"pip install 'sottovoce[{extra}]'" if extra else f"pip install {library}"
        super().__init__(f"{purpose} needs {library}, which is not installed: {way}")
        self.library = library
        self.extra = extra
        self.name = library


class _Absent(type):
    """Classes that stand for something of a library, and raise when they are called."""

    missing: Callable[[], NotInstalled]

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        raise cls.missing()

    def __getattr__(cls, name: str) -> _Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls


def absent(library: str, *, purpose: str, extra: str | None = None) -> Any:
    """What stands for a library that is not installed, or for something in it.

    Modules that use the library can then be imported, and `NotInstalled` is raised when one of its
    functions or classes is called. It is an exception, so that it may stand for those as well.
    """
    missing = partial(NotInstalled, library, purpose=purpose, extra=extra)
    return _Absent(f"absent_{library}", (Exception,), {"missing": staticmethod(missing)})


class SpendRefused(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A submission that would betray more than the worker allows: nothing is spent or reported."""


class BudgetExceeded(SpendRefused):
    """A submission would break a worker's guarantee."""

    def __init__(
        self, worker: str, *, asked: float, left: float, unit: str, quantity: str = "epsilon"
    ) -> None:
        super().__init__(
            f"worker {worker!r} asked to spend {quantity} {asked:g} per {unit} but has {left:g} "
            "left; answer less, leave this campaign out, or raise the budget"
        )
        self.worker = worker
        self.asked = asked
        self.left = left
        self.unit = unit
        self.quantity = quantity


class AlreadyReported(SpendRefused):
    """A second report about the same thing: whoever has both sees through part of the noise."""

    def __init__(self, requester: str, policy: str, *, task: str | None = None) -> None:
        if task is None:
            refused = "this mechanism takes all answers of a worker in one submission, and one was"
        else:
            refused = f"a report for task {task!r} was"
        super().__init__(
            f"{refused} made for requester {requester!r} under policy {policy[:12]}; send that one "
            "again: a new one would weaken the noise"
        )
        self.requester = requester
        self.policy = policy
        self.task = task


class LedgerError(SottovoceError):
    """A ledger that cannot be used now: nothing is reported."""


class LedgerDamaged(LedgerError):  # noqa: N818 - reads as the fact it states
    """A ledger that is not what was written: what was spent is no longer known."""

    def __init__(self, path: str, *, line: int, fault: str) -> None:
        super().__init__(
            f"{path}, line {line:,}: {fault}; restore the ledger from a copy, since what was spent "
            "is no longer known"
        )
        self.path = path
        self.line = line
        self.fault = fault


class LedgerBusy(LedgerError):  # noqa: N818 - reads as the fact it states
    """Another process holds the ledger for too long."""

    def __init__(self, path: str, *, seconds: float) -> None:
        super().__init__(
            f"{path}: another process has held this file for {seconds:g} seconds; end it, or "
            "try again later"
        )
        self.path = path
        self.seconds = seconds


class LedgerUnwritable(LedgerError):  # noqa: N818 - reads as the fact it states
    """The system refuses to read or write the ledger."""

    def __init__(self, path: str, *, reason: str) -> None:
        super().__init__(f"{path}: the ledger cannot be kept here ({reason}); nothing is reported")
        self.path = path
        self.reason = reason


class Reason(StrEnum):
    """Why a server refuses a request: the same word in its answer, its metrics and the client."""

    MALFORMED = "malformed"
    """Not what the interface describes."""
    OVERSIZE = "oversize"
    """Longer than anything that could be right."""
    UNSUPPORTED = "unsupported"
    """A method, a kind of content or an encoding the server does not take."""
    NO_CREDENTIAL = "no_credential"
    """Nothing was shown that allows this."""
    BAD_CREDENTIAL = "bad_credential"
    """What was shown is unknown, or for something else."""
    INVITE_EXPIRED = "invite_expired"
    INVITE_USED = "invite_used"
    """A single-use invite that another worker has used."""
    NOT_FOUND = "not_found"
    NOT_OPEN = "not_open"
    """The campaign is a draft, or closed."""
    NOT_A_DRAFT = "not_a_draft"
    """Only drafts can be changed."""
    QUOTA_REACHED = "quota_reached"
    FOREIGN_POLICY = "foreign_policy"
    """Made under another policy than the campaign's."""
    SIMULATED = "simulated"
    """Noise from a seed protects nobody: simulated reports are for simulated campaigns."""
    NOT_ADMITTED = "not_admitted"
    """Reports that the policy's mechanism does not send, or on tasks that were not given."""
    ALREADY_REPORTED = "already_reported"
    """A second report of a worker on the same thing."""
    CONFLICT = "conflict"
    """Another report has this identifier."""
    ERASED = "erased"
    """The worker has taken this report back."""
    BUSY = "busy"
    """Too much is waiting: try again later."""
    UNAVAILABLE = "unavailable"
    """Storage is full or does not answer: nothing was stored."""


class Refused(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A server's refusal, on either side of the wire; it never quotes what was sent."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        field: str | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = field
        self.row = row
        self.column = column


class SealedRefused(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A message of a sealed sum that breaks the protocol: who sent it, and what is wrong with it.

    It quotes no share and no key.
    """

    def __init__(self, culprit: str, reason: str) -> None:
        super().__init__(f"{culprit}: {reason}")
        self.culprit = culprit
        self.reason = reason


class SealedAborted(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A sealed sum that cannot be opened any more: why, and who did wrong where that is known."""

    def __init__(self, reason: str, culprits: Iterable[str] = ()) -> None:
        self.reason = reason
        self.culprits: tuple[str, ...] = tuple(culprits)
        named = f"{', '.join(self.culprits)}: " if self.culprits else ""
        super().__init__(f"{named}{reason}")


class PolicyChanged(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A server offers another policy than the one this client has pinned: nothing is sent."""

    def __init__(self, campaign: str, *, pinned: str, offered: str) -> None:
        super().__init__(
            f"campaign {campaign!r} promised policy {pinned[:12]} and now offers {offered[:12]}; "
            "nothing is sent: ask the requester why, a policy must not change once open"
        )
        self.campaign = campaign
        self.pinned = pinned
        self.offered = offered


class Unreachable(SottovoceError):  # noqa: N818 - reads as the fact it states
    """No server answers; what was to be sent is kept, and the same bytes can be sent later."""

    def __init__(self, address: str, *, reason: str) -> None:
        super().__init__(f"{address} does not answer ({reason}); try again later")
        self.address = address
        self.reason = reason


class Stopped(SottovoceError):  # noqa: N818 - reads as the fact it states
    """Ctrl-C, with what is left of the work; the exit code is that of an interrupt."""
