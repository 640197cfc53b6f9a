"""The consent screen: requester, reports, privacy loss, trust assumptions.

For a sealed campaign: what is sealed, for whom, and what is opened. Also the worker's total budget,
from the command line.
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
from sottovoce.mechanisms.odds import opened_odds
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Unit
from sottovoce.model.budget import DEFAULT_BUDGET, Amount, Budget
from sottovoce.worker.client import LEDGER
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.offer import Offer
from sottovoce.worker.submission_preview import Preview


def consent_lines(offer: Offer, preview: Preview) -> Iterator[str]:
    """The screen, line by line. This program computes the numbers; quotes are the requester's."""
    yield from _who_asks(offer)
    if offer.sealed is None:
        yield from _what_leaves(offer)
        yield from _privacy_loss(offer, preview)
        yield from _whom_to_trust(offer)
    else:
        yield from what_is_sealed(offer, offer.sealed)
        yield from _privacy_loss(offer, preview)
        yield from who_holds_keys(offer, offer.sealed)


def summary_lines(preview: Preview) -> Iterator[str]:
    """A summary before the step that cannot be undone."""
    per_answer, per_worker = (preview.guarantee[unit] for unit in (Unit.ANSWER, Unit.WORKER))
    yield f"STAYS HERE: your {preview.answers:,} answers. They are not saved."
    if preview.sealed:
        yield (
            f"WILL BE SENT: {preview.reports:,} sealed answers in {preview.most_bytes:,} bytes. "
            f"Privacy loss of the opened totals: at most {per_answer} and {per_worker}."
        )
        return
    yield (
        f"WILL BE SENT: {preview.reports:,} randomised reports in at most {preview.most_bytes:,} "
        f"bytes. Privacy loss of all your reports to this campaign: at most {per_answer} and "
        f"{per_worker}."
    )


def quoted_lines(text: str) -> list[str]:
    """Text from the requester, marked as a quote and safe for a terminal."""
    return [f"  │ {line}" for line in printable(text, lines=True).split("\n")]


def amount_words(amount: Amount) -> str:
    """An amount of budget in words."""
    delta = f" and delta {amount.delta:g}" if amount.delta else ""
    return f"epsilon {amount.epsilon:g}{delta}"


def parsed_limits(text: str | None) -> tuple[float, float] | None:
    """The epsilon and delta of --budget."""
    if text is None:
        return None
    epsilon, _, delta = text.partition(",")
    try:
        return float(epsilon), float(delta or 0)
    except ValueError:
        raise UsageError(
            "--budget takes an epsilon such as 20, or an epsilon and a delta such as 20,1e-6"
        ) from None


def raise_budget(ledger: Ledger, limits: tuple[float, float]) -> None:
    """Raise the budget; a lower one could not be guaranteed any more."""
    budget = ledger.budget
    wanted = replace(budget, worker_epsilon=limits[0], worker_delta=limits[1])
    if not wanted.covers(budget):
        now = amount_words(budget.limit(Unit.WORKER))
        raise UsageError(f"--budget can only be raised; it is {now} per worker now")
    if wanted != budget:
        ledger.raise_budget(wanted)


def ledger_in(folder: Path | None, limits: tuple[float, float] | None) -> Ledger:
    """The worker's ledger; limits apply to a new ledger, or raise those of an existing one."""
    path = private_folder((folder or home_folder()).absolute()) / LEDGER
    is_new = not path.exists()
    first = Budget(*limits) if limits is not None and is_new else DEFAULT_BUDGET
    ledger = Ledger(path, first, adopt=True)
    if limits is not None and not is_new:
        raise_budget(ledger, limits)
    return ledger


def _who_asks(offer: Offer) -> Iterator[str]:
    yield "REQUESTER, in their own words:"
    for words in dict.fromkeys((offer.title, offer.question)):  # they may be the same
        yield from quoted_lines(words)
    yield f"Campaign {offer.campaign} at {offer.server}."
    yield ""


def _what_leaves(offer: Offer) -> Iterator[str]:
    yield "SENT FROM THIS MACHINE: randomised reports, drawn here from your answers."
    if offer.odds is not None:
        yield offer.odds.sentence
        yield from console.hundred(offer.odds.of_100).split("\n")
    given = len(offer.tasks)
    if offer.sends < given:
        yield (
            f"{offer.sends:,} of your {given:,} answers are chosen at random, randomised and sent; "
            "the others stay here."
        )
    if offer.hides_participation:
        yield "A skipped question looks like any other: a random report is sent for it."
    else:
        yield "The server sees which questions you answer; nothing is sent for a skipped one."
    yield (
        "The server stores the reports, the day they arrive, and a pseudonym that you have only in "
        "this campaign."
    )
    yield ""


def _privacy_loss(offer: Offer, preview: Preview) -> Iterator[str]:
    count = len(offer.tasks)
    yield "PRIVACY LOSS AT MOST, computed here from the policy:"
    yield f"  about one answer: {offer.per_answer}"
    yield f"  about all {count:,} answers together: {offer.per_worker}"
    yield from (f"  {warning}" for warning in offer.warnings)
    left = preview.left[Unit.WORKER]
    if left.epsilon < float("inf"):
        yield f"  remaining budget for all campaigns: {amount_words(left)} per worker"
    left = preview.left[Unit.ANSWER]
    if left.epsilon < float("inf"):
        yield f"  and {amount_words(left)} per answer"
    yield ""


def _whom_to_trust(offer: Offer) -> Iterator[str]:
    yield "TRUST: you trust only this program on this machine, which draws the noise. The server"
    yield "and the requester never get more than the reports. Both see that someone takes part. The"
    yield "server's operator can also see your network address. A link made for you alone also"
    yield "tells them who you are; the noise still hides your answers."
    yield f"Policy {offer.policy.hash}"
    yield "is pinned: if the campaign offers another policy, nothing is sent."
    yield ""


def what_is_sealed(offer: Offer, sealed: SealedSum) -> Iterator[str]:
    """Lines about the data sent, its readers, and the totals that are opened."""
    yield "SENT FROM THIS MACHINE: your raw answers, split into pieces and sealed here."
    yield (
        f"Each of {sealed.seats} keyholders can open one piece, which reveals nothing. To read an "
        f"answer, {sealed.degree + 1} of them would have to collude."
    )
    yield (
        f"They open only the total of at least {sealed.minimum:,} workers' answers to each "
        "question, once, with their noise added. Nothing else is ever opened."
    )
    yield opened_odds(offer.per_answer, "you")
    if sealed.hidden:
        yield "A skipped question looks like any other: a sealed value is sent for it."
    else:
        yield "The server sees which questions you answer; nothing is sent for a skipped one."
    yield (
        "The server stores the sealed pieces, the day they arrive, and a pseudonym that you have "
        "only in this campaign. You can send once."
    )
    yield ""


def who_holds_keys(offer: Offer, sealed: SealedSum) -> Iterator[str]:
    """The keyholders that a worker trusts, by name and fingerprint."""
    yield "TRUST: you trust this program on this machine, and that at most"
    yield f"{sealed.degree} of these keyholders collude, with each other or with the server:"
    for number, each in enumerate(sealed.keyholders, 1):
        yield f"  {number}  {each.fingerprint}  {printable(each.name)}"
    yield "Compare the fingerprints with those that the keyholders publish: the names come from the"
    yield f"requester. Without {sealed.degree + 1} of them the server and the requester can open"
    yield "nothing. Both see that someone takes part. The server's operator can also see your"
    yield "network address."
    yield f"Policy {offer.policy.hash}"
    yield "is pinned: if the campaign offers another policy, nothing is sent."
    yield ""
