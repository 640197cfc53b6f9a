"""What browsers are told not to do, in words only: a client checks a server by them."""

from __future__ import annotations

__all__ = [
    "COMMON",
    "NOTHING",
    "PAGE",
    "REFERENCE",
    "SERVICE_WORKER",
    "SHOWN",
    "TWO_YEARS",
]

COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# For what is shown in a window of its own; each header of the interface costs time at each report.
SHOWN = {
    **COMMON,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types sottovoce"
)
# Swagger UI sets innerHTML, which trusted types forbid; an inline script does not run even so.
REFERENCE = PAGE.partition("; require-trusted-types-for")[0]
NOTHING = "default-src 'none'; frame-ancestors 'none'"
# It asks for the page's files in the page's stead, and serves pages beside its own folder.
SERVICE_WORKER = {
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'; frame-ancestors 'none'",
    "Service-Worker-Allowed": "../c/",
}
TWO_YEARS = "max-age=63072000"
