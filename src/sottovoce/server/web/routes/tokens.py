"""Requesters' tokens."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from sottovoce.model.campaign import LONGEST_NAME
from sottovoce.server.credentials import (
    list_tokens,
    make_token,
    redeem_setup,
    revoke_token,
    token_id,
)
from sottovoce.server.web.bodies import Asked, Day
from sottovoce.server.web.requests import BoundedRoute, Requester, Setup, TheService

router = APIRouter(tags=["tokens"], route_class=BoundedRoute)

TokenId = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{16}$",
        description="The first 16 hexadecimal digits of the token's SHA-256.",
        examples=["0c5f1e7d2b9a48c6"],
    ),
]


class TokenNameBody(Asked):
    """The name of a token."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Ada's laptop"])


class NewTokenBody(BaseModel):
    """A new token. It is shown only once: the server stores its hash."""

    token: str = Field(examples=["svk_cq7Wd0m…"])
    id: str

    @classmethod
    def of(cls, token: str) -> NewTokenBody:
        """A token with its identifier."""
        return cls(token=token, id=token_id(token))


class TokenBody(BaseModel):
    """A token, without its secret."""

    id: str
    name: str
    created_on: Day


class TokensBody(BaseModel):
    """All tokens, the oldest first."""

    tokens: list[TokenBody]


@router.post("/setup", status_code=201)
def post_setup(secret: Setup, service: TheService, body: TokenNameBody) -> NewTokenBody:
    """Make the first token with the one-time secret (sva_…) that the server printed."""
    return NewTokenBody.of(redeem_setup(service, secret, body.name))


@router.get("/tokens")
def get_tokens(_: Requester, service: TheService) -> TokensBody:
    """List tokens, without their secrets."""
    return TokensBody(tokens=[TokenBody(**asdict(token)) for token in list_tokens(service)])


@router.post("/tokens", status_code=201)
def post_token(_: Requester, service: TheService, body: TokenNameBody) -> NewTokenBody:
    """Make another token."""
    return NewTokenBody.of(make_token(service, body.name))


@router.delete("/tokens/{token_id}", status_code=204)
def remove_token(_: Requester, service: TheService, token_id: TokenId) -> None:
    """Revoke a token at once, even the one that makes this request."""
    revoke_token(service, token_id)
