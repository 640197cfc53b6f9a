"""The consent screen: requester, reports, privacy loss, trust assumptions.

Of a sealed campaign: what is sealed, for whom, and what gets opened. Also what a worker allows all
campaigns together to learn, as it is said on the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sottovoce.cli import console
from sottovoce.errors import UsageError
from sottovoce.files.private_files import private_folder
from sottovoce.files.user_folders import home_folder
from sottovoce.http_client.replies import printable
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Unit
from sottovoce.worker.budget import Amount, Budget
from sottovoce.worker.client import DEFAULT_BUDGET, LEDGER
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.offer import Offer
from sottovoce.worker.submission_preview import Preview


def consent_lines(offer: Offer, preview: Preview) -> Iterator[str]:
    """The whole screen, line by line. Numbers are this program's; quoted words the requester's."""
    yield from _who_asks(offer)
    if offer.sealed is None:
        yield from _what_leaves(offer)
        yield from _what_it_betrays(offer, preview)
        yield from _whom_to_trust(offer)
    else:
        yield from what_is_sealed(offer, offer.sealed)
        yield from _what_it_betrays(offer, preview)
        yield from who_holds_keys(offer, offer.sealed)


def summary_lines(preview: Preview) -> Iterator[str]:
    """What is about to happen, said once more before it cannot be undone."""
    per_answer, per_worker = (preview.guarantee[unit] for unit in (Unit.ANSWER, Unit.WORKER))
    yield f"WHAT STAYS HERE: your {preview.answers:,} answers. They are written nowhere."
    if preview.sealed:
        yield (
            f"WHAT LEAVES: {preview.reports:,} sealed answers in {preview.most_bytes:,} bytes. "
            f"What is opened of all workers' together betrays at most {per_answer} and "
            f"{per_worker}."
        )
        return
    yield (
        f"WHAT LEAVES: {preview.reports:,} randomised reports in at most {preview.most_bytes:,} "
        f"bytes. All your reports to this campaign then betray at most {per_answer} and "
        f"{per_worker}."
    )


def quoted_lines(text: str) -> list[str]:
    """Somebody else's words, marked as such, with nothing in them that could act on a terminal."""
    return [f"  │ {line}" for line in printable(text, lines=True).split("\n")]


def amount_words(amount: Amount) -> str:
    """How much is left."""
    delta = f" and delta {amount.delta:g}" if amount.delta else ""
    return f"epsilon {amount.epsilon:g}{delta}"


def parsed_limits(text: str | None) -> tuple[float, float] | None:
    """What --budget says: an epsilon and a delta."""
    if text is None:
        return None
    epsilon, _, delta = text.partition(",")
    try:
        return float(epsilon), float(delta or 0)
    except ValueError:
        raise UsageError("--budget is an epsilon, as 20, or with a delta, as 20,1e-6") from None


def raise_budget(ledger: Ledger, limits: tuple[float, float]) -> None:
    """Allow more than before: less could not be kept any more."""
    budget = ledger.budget
    wanted = replace(budget, worker_epsilon=limits[0], worker_delta=limits[1])
    if not wanted.covers(budget):
        now = amount_words(budget.limit(Unit.WORKER))
        raise UsageError(f"--budget only raises what you allow, which is {now} per worker now")
    if wanted != budget:
        ledger.raise_budget(wanted)


def ledger_in(folder: Path | None, limits: tuple[float, float] | None) -> Ledger:
    """The worker's ledger; limits that were said are those of a new one, or raise those it has."""
    path = private_folder((folder or home_folder()).absolute()) / LEDGER
    is_new = not path.exists()
    first = Budget(*limits) if limits is not None and is_new else DEFAULT_BUDGET
    ledger = Ledger(path, first, adopt=True)
    if limits is not None and not is_new:
        raise_budget(ledger, limits)
    return ledger


def _who_asks(offer: Offer) -> Iterator[str]:
    yield "WHO ASKS, in the requester's own words:"
    for words in dict.fromkeys((offer.title, offer.question)):  # they may be the same
        yield from quoted_lines(words)
    yield f"Campaign {offer.campaign} at {offer.server}."
    yield ""


def _what_leaves(offer: Offer) -> Iterator[str]:
    yield "WHAT LEAVES THIS MACHINE: reports, drawn at random from your answers here."
    if offer.odds is not None:
        yield offer.odds.sentence
        yield from console.hundred(offer.odds.of_100).split("\n")
    given = len(offer.tasks)
    if offer.sends < given:
        yield (
            f"Of your answers to {given:,} questions, {offer.sends:,} are chosen at random and "
            "sent; the others stay here."
        )
    if offer.hides_participation:
        yield "A question you skip looks like any other: something is sent in its place."
    else:
        yield "Which questions you answer is seen; a question you skip is left out."
    yield (
        "The server stores the reports, the day they arrive, and a name that was made up for you "
        "in this campaign only."
    )
    yield ""


def _what_it_betrays(offer: Offer, preview: Preview) -> Iterator[str]:
    count = len(offer.tasks)
    yield "WHAT IT BETRAYS AT MOST, computed here from the policy:"
    yield f"  about one answer: {offer.per_answer}"
    yield f"  about all {count:,} answers together: {offer.per_worker}"
    yield from (f"  {warning}" for warning in offer.warnings)
    left = preview.left[Unit.WORKER]
    if left.epsilon < float("inf"):
        yield f"  left of your budget for all campaigns: {amount_words(left)} per worker"
    left = preview.left[Unit.ANSWER]
    if left.epsilon < float("inf"):
        yield f"  and {amount_words(left)} per answer"
    yield ""


def _whom_to_trust(offer: Offer) -> Iterator[str]:
    yield "WHOM YOU TRUST: this program on this machine, which draws the noise. Nobody else:"
    yield "whatever the server or the requester do, they have no more than what is sent. They do"
    yield "see that somebody takes part, and from which network address. A link that was made for"
    yield "you alone tells them who; the noise still hides what you answered."
    yield f"Policy {offer.policy.hash}"
    yield "is pinned: if the campaign ever offers another, nothing is sent."
    yield ""


def what_is_sealed(offer: Offer, sealed: SealedSum) -> Iterator[str]:
    """What leaves, who can read it, and what becomes of it."""
    yield "WHAT LEAVES THIS MACHINE: your answers as they are, cut into pieces and sealed here."
    yield (
        f"Each of {sealed.seats} keyholders can open one piece, which says nothing. To read an "
        f"answer, {sealed.degree + 1} of them would have to break their word together."
    )
    yield (
        f"What they open, once, is the total of at least {sealed.minimum:,} workers' answers to "
        "each question, with noise of their own in it. Nothing else is ever opened."
    )
    if sealed.hidden:
        yield "A question you skip looks like any other: something is sealed in its place."
    else:
        yield "Which questions you answer is seen; a question you skip is left out."
    yield (
        "The server stores the sealed pieces, the day they arrive, and a name that was made up for "
        "you in this campaign only. You send once."
    )
    yield ""


def who_holds_keys(offer: Offer, sealed: SealedSum) -> Iterator[str]:
    """Whom a worker trusts: by name and fingerprint."""
    yield "WHOM YOU TRUST: this program on this machine, and that of these keyholders no more than"
    yield f"{sealed.degree} would betray you, to each other or to the server:"
    for number, each in enumerate(sealed.keyholders, 1):
        yield f"  {number}  {each.fingerprint}  {printable(each.name)}"
    yield "They publish these fingerprints where you can compare them: the names here are only"
    yield "what the requester says. The server and the requester can open nothing without"
    yield f"{sealed.degree + 1} of them. They do see that somebody takes part, and from which"
    yield "network address."
    yield f"Policy {offer.policy.hash}"
    yield "is pinned: if the campaign ever offers another, nothing is sent."
    yield ""
