"""Campaigns on a server, from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Unpack, cast
from urllib.parse import quote

from sottovoce.errors import Reason, Refused
from sottovoce.hooks import filled
from sottovoce.http_client.connection import Connection
from sottovoce.model import Credential, Domain, Policy, Result, check_credential
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.requester.downloads import all_pages, download, whole_result
from sottovoce.requester.servers import PAUSE, RETRIES, token_from_setup
from sottovoce.requester.terms import (
    AskedTerms,
    TaskRows,
    calibration_document,
    task_documents,
    terms_document,
)
from sottovoce.requester.views import (
    CampaignView,
    ForecastView,
    InviteCounts,
    KeyholderLinkView,
    MethodsView,
    NewToken,
    NewWebhook,
    OverviewView,
    RejectionsView,
    ResultsView,
    RoundsView,
    TokenView,
    TruthView,
    WebhookView,
    WorkerView,
)

if TYPE_CHECKING:
    from sottovoce.live.requester import LiveSessions
    from sottovoce.mechanisms.policies import Target


Order: TypeAlias = Literal["place", "confidence"]
"""The order of truths: task order, or the least certain first."""


class Requester:
    """A requester's client for a server. The token is in no repr, error or log.

    Raises `Refused` if the server refuses a request, and `Unreachable` if it does not respond.
    `retries` is how often a request without a response is sent again. Plain http is allowed to this
    machine only, unless `allow_http`.

        with Requester("https://answers.example", token) as requester:
            made = requester.create(
                "Which tree is this?", "tasks.csv",
                domain=Domain.categorical(["oak", "birch"]), target=Target(1.0, answers=20),
            )
            requester.open(made["id"])
            [link] = requester.invite(made["id"])
    """

    def __init__(
        self, url: str, token: str, *, allow_http: bool = False, retries: int = RETRIES
    ) -> None:
        self.token: str = check_credential(token, Credential.TOKEN)
        self._connection = Connection(
            url, token, allow_http=allow_http, retries=retries, pause=PAUSE
        )

    @classmethod
    def from_setup(cls, link: str, name: str, *, allow_http: bool = False) -> Self:
        """Make the first requester of a server from the one-time link that it prints.

        Save `token`: the link works only once.
        """
        address, token = token_from_setup(link, name, allow_http=allow_http)
        return cls(address, token, allow_http=allow_http)

    @property
    def live(self) -> LiveSessions:
        """Live sessions, in which workers who are online together compute sums."""
        sessions: LiveSessions = filled("requester.live").LiveSessions(self._connection)
        return sessions

    @property
    def address(self) -> str:
        """The server's address."""
        return self._connection.address

    def __repr__(self) -> str:
        return f"Requester({self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection. Done at the end of a `with` block."""
        self._connection.close()

    def create(
        self, question: str, tasks: TaskRows | None = None, **terms: Unpack[AskedTerms]
    ) -> CampaignView:
        """Create a draft with these terms; `tasks` are a file or rows, and may be added later.

        Terms are `policy`, or `domain` and `target` with perhaps `mechanism` and `parameters`, or
        with `sealed` for answers that only keyholders together could read; and `title`, `unit`,
        `quota` and `closes_on`.
        """
        document = terms_document(question, **terms)
        if tasks is not None:
            document["tasks"] = task_documents(tasks)
        return cast(CampaignView, self._connection.post("/campaigns", document))

    def change(self, campaign: str, question: str, **terms: Unpack[AskedTerms]) -> CampaignView:
        """Replace all terms of a draft, given as for `create`; its tasks stay."""
        document = terms_document(question, **terms)
        return cast(CampaignView, self._connection.put(_path(campaign), document))

    def set_tasks(self, campaign: str, tasks: TaskRows) -> int:
        """Replace a draft's tasks; returns their number."""
        answer = self._connection.put(_path(campaign, "tasks"), task_documents(tasks))
        return int(answer["tasks"])

    def sample(self) -> CampaignView:
        """Make an open sample campaign; simulated workers report to it within seconds.

        It accepts no real reports, and its results and exports are marked as simulated.
        """
        return cast(CampaignView, self._connection.post("/sample"))

    def forecast(
        self,
        domain: Domain,
        target: Target,
        *,
        tasks: int,
        workers: int,
        ability: Literal["mixed", "able", "expert"] = "mixed",
        mechanism: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> ForecastView:
        """Forecast the score of a planned campaign, with a 90 % band.

        A worker would get up to `target.answers` of the tasks. The returned policy is that of a
        draft with the same terms.
        """
        asked = {
            **calibration_document(domain, target, mechanism, parameters),
            "tasks": tasks,
            "workers": workers,
            "ability": ability,
        }
        return cast(ForecastView, self._connection.post("/forecasts", asked))

    def open(self, campaign: str, *, over_budget: bool = False) -> CampaignView:
        """Open a campaign: it accepts reports, and its terms and tasks are fixed.

        One that all devices refuse at their default budget is refused, unless `over_budget`.
        """
        path = _path(campaign, "open") + "?over_budget=true" * over_budget
        return cast(CampaignView, self._connection.post(path))

    def close(self, campaign: str) -> CampaignView:
        """Close a campaign. It cannot be opened again."""
        return cast(CampaignView, self._connection.post(_path(campaign, "close")))

    def delete(self, campaign: str) -> None:
        """Delete a campaign with all its reports and results. This cannot be undone."""
        self._connection.delete(_path(campaign))

    def campaigns(self) -> list[CampaignView]:
        """Every campaign, the newest first."""
        return cast("list[CampaignView]", self._connection.get("/campaigns")["campaigns"])

    def campaign(self, campaign: str) -> CampaignView:
        """The current state of a campaign."""
        return cast(CampaignView, self._connection.get(_path(campaign)))

    def invite(
        self,
        campaign: str,
        kind: Literal["open", "single"] = "open",
        count: int = 1,
        expires_on: date | None = None,
    ) -> list[str]:
        """Make links for workers: one that anyone can use, or `count` for one worker each.

        Each contains a secret that the server does not store: these are the only copies.
        """
        body: dict[str, Any] = {"kind": kind, "count": count}
        if expires_on is not None:
            body["expires_on"] = expires_on.isoformat()
        return cast("list[str]", self._connection.post(_path(campaign, "invites"), body)["links"])

    def invites(self, campaign: str) -> InviteCounts:
        """Count the invites, and the used ones."""
        return cast(InviteCounts, self._connection.get(_path(campaign, "invites")))

    def revoke_invites(self, campaign: str) -> int:
        """Revoke every invite of a campaign; returns their number."""
        return int(self._connection.delete(_path(campaign, "invites"))["revoked"])

    def keyholder_links(self, campaign: str) -> list[KeyholderLinkView]:
        """Make a link for each keyholder of a sealed campaign; earlier links no longer work."""
        answer = self._connection.post(_path(campaign, "keyholders"))
        return cast("list[KeyholderLinkView]", answer["links"])

    def rounds(self, campaign: str) -> RoundsView:
        """The progress of a sealed campaign: keyholders online, checks done, obstacles."""
        return cast(RoundsView, self._connection.get(_path(campaign, "rounds")))

    def open_without(self, campaign: str) -> RoundsView:
        """Discard contributions that are not certified, and have the rest opened.

        For a closed campaign with keyholders who do not come back.
        """
        path = _path(campaign, "rounds/open-without")
        return cast(RoundsView, self._connection.post(path))

    def publish(self, campaign: str) -> CampaignView:
        """Publish the truths of a closed campaign to its workers. This cannot be undone."""
        return cast(CampaignView, self._connection.post(_path(campaign, "publish")))

    def rejections(self, campaign: str) -> RejectionsView:
        """Count refused reports by reason, the most frequent first; seconds old."""
        return cast(RejectionsView, self._connection.get(_path(campaign, "rejections")))

    def overview(self, campaign: str) -> OverviewView:
        """An overview of a campaign: coverage, certainty, weights, effect of more answers."""
        return cast(OverviewView, self._connection.get(_path(campaign, "overview")))

    def methods(self, campaign: str) -> MethodsView:
        """A methods section for a paper, with a BibTeX entry of the software."""
        return cast(MethodsView, self._connection.get(_path(campaign, "methods")))

    def results_page(
        self, campaign: str, *, offset: int = 0, limit: int = 1000, order: Order = "place"
    ) -> ResultsView:
        """A page of truths, with the summary and the number of reports not included yet."""
        query = {"offset": offset, "limit": limit, "sort": order}
        return cast(ResultsView, self._connection.get(_path(campaign, "results"), query=query))

    def truths(self, campaign: str, *, order: Order = "place") -> Iterator[TruthView]:
        """Every truth, fetched page by page."""
        query = {"sort": order}
        return all_pages(self._connection, _path(campaign, "results"), "truths", query)

    def workers(self, campaign: str) -> Iterator[WorkerView]:
        """Every worker's weight, fetched page by page."""
        return all_pages(self._connection, _path(campaign, "results/workers"), "workers")

    def results(self, campaign: str) -> Result:
        """All truths and weights as `sottovoce.infer` returns them: to score, write or plot."""
        found = self.campaign(campaign)
        policy, simulated = Policy.of_json(found["policy"]), found["simulated"]
        path = _path(campaign, "results")
        return whole_result(self._connection, path, policy, simulated=simulated)

    def export(
        self,
        campaign: str,
        name: str,
        path: str | os.PathLike[str],
        *,
        raw: bool = False,
        force: bool = False,
    ) -> int | None:
        """Download an export such as `reports.parquet`, completely or not at all.

        Returns its number of rows; None for an export that is not a table. CSV cells that a
        spreadsheet would run as formulas are escaped, unless `raw`.
        """
        place = _path(campaign, f"exports/{quote(name, safe='')}")
        return download(self._connection, place, name, path, raw=raw, force=force)

    def add_webhook(self, campaign: str, address: str) -> NewWebhook:
        """Notify this address when the campaign closes or converges.

        Messages are signed with the returned secret: see `sottovoce.verify_signature`.
        """
        body = {"address": address}
        return cast(NewWebhook, self._connection.post(_path(campaign, "webhooks"), body))

    def webhooks(self, campaign: str) -> list[WebhookView]:
        """The webhooks of a campaign."""
        found = self._connection.get(_path(campaign, "webhooks"))["webhooks"]
        return cast("list[WebhookView]", found)

    def remove_webhook(self, campaign: str, webhook: str) -> None:
        """Remove a webhook."""
        self._connection.delete(_path(campaign, f"webhooks/{quote(webhook, safe='')}"))

    def make_token(self, name: str) -> NewToken:
        """Make another token with the same rights."""
        return cast(NewToken, self._connection.post("/tokens", {"name": name}))

    def tokens(self) -> list[TokenView]:
        """Every token, without its secret."""
        return cast("list[TokenView]", self._connection.get("/tokens")["tokens"])

    def revoke_token(self, token: str) -> None:
        """Revoke a token by its identifier."""
        self._connection.delete(f"/tokens/{quote(token, safe='')}")


def _path(campaign: str, below: str = "") -> str:
    if not (isinstance(campaign, str) and CAMPAIGN_ID.fullmatch(campaign)):
        raise Refused(Reason.NOT_FOUND, "the campaign does not exist")
    return f"/campaigns/{campaign}" + (f"/{below}" if below else "")
