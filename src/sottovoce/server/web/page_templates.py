"""Pages from templates. All values are escaped."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from sottovoce.mechanisms.registry import RELEASES, always_hides, is_sealed
from sottovoce.version import __version__


@cache
def listed_mechanisms() -> str:
    """The mechanisms for the requester's pages, as JSON, in the order to list them.

    Pages use no mechanism's name: they list every registered mechanism.
    """
    listed = [
        asdict(kind.listing)
        | {
            "name": name,
            "takes": sorted(kind.takes),
            "can_hide": kind.hiding is not None,
            "always_hides": always_hides(name),
            "in_browser": cast("bool", kind.in_browser),  # on the class, but for samples
            "needs_keyholders": is_sealed(name),
        }
        for name, kind in RELEASES.items()
        if kind.listing is not None
    ]
    return json.dumps(sorted(listed, key=lambda one: one["place"]), ensure_ascii=False)


TEMPLATES = Environment(
    loader=PackageLoader("sottovoce.server.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals["mechanisms"] = listed_mechanisms


def page(request: Request, template: str, code: int = 200, **values: object) -> HTMLResponse:
    """A page; `base` in it is the path under which the server is reached."""
    content = TEMPLATES.get_template(template).render(
        base=request.app.state.settings.prefix, version=__version__, **values
    )
    return HTMLResponse(content, code)


def wants_page(request: Request) -> bool:
    """Whether to send an HTML page: to a browser, except under the API."""
    path = request.scope["path"][len(request.scope.get("root_path", "")) :]
    return not path.startswith("/api/") and "text/html" in request.headers.get("accept", "")
