"""Webhook routes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from sottovoce.server.campaigns import webhooks
from sottovoce.server.campaigns.webhooks import LONGEST_ADDRESS
from sottovoce.server.database.webhooks import DeliveryState
from sottovoce.server.web.bodies import Asked
from sottovoce.server.web.requests import BoundedRoute, CampaignId, Requester, TheService
from sottovoce.server.web.settings import Settings

router = APIRouter(tags=["webhooks"], route_class=BoundedRoute)

WebhookId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", examples=["0c5f1e7d2b9a48c6"])]


class NewWebhookBody(Asked):
    """The address that gets the campaign's events as signed POST requests."""

    address: str = Field(
        max_length=LONGEST_ADDRESS, examples=["https://example.org/hooks/sottovoce"]
    )


class RegisteredBody(BaseModel):
    """A new webhook. The secret signs its messages and is shown only once."""

    id: str
    secret: str


class DeliveryBody(BaseModel):
    """The delivery of one event; `given_up` after eight attempts in about a day."""

    id: str
    event: str
    state: DeliveryState
    attempts: int


class WebhookBody(BaseModel):
    """A webhook and its deliveries, newest first."""

    id: str
    address: str
    deliveries: list[DeliveryBody]


class WebhooksBody(BaseModel):
    """All webhooks of a campaign."""

    webhooks: list[WebhookBody]


@router.post("/campaigns/{campaign_id}/webhooks", status_code=201)
def post_webhook(
    request: Request,
    _: Requester,
    service: TheService,
    campaign_id: CampaignId,
    body: NewWebhookBody,
) -> RegisteredBody:
    """Notify this address when the campaign closes and when its truths no longer change."""
    settings: Settings = request.app.state.settings
    made = webhooks.register(
        service, campaign_id, body.address, allow_http=settings.allow_http_webhooks
    )
    return RegisteredBody(**asdict(made))


@router.get("/campaigns/{campaign_id}/webhooks")
def get_webhooks(_: Requester, service: TheService, campaign_id: CampaignId) -> WebhooksBody:
    """List a campaign's webhooks and their deliveries."""
    listed = webhooks.list_webhooks(service, campaign_id)
    return WebhooksBody.model_validate({"webhooks": listed}, from_attributes=True)


@router.delete("/campaigns/{campaign_id}/webhooks/{webhook_id}", status_code=204)
def delete_webhook(
    _: Requester, service: TheService, campaign_id: CampaignId, webhook_id: WebhookId
) -> None:
    """Remove a webhook, including its waiting deliveries."""
    webhooks.remove(service, campaign_id, webhook_id)
