"""Pages from templates. Whatever is put into one is escaped."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from sottovoce.version import __version__

__all__ = ["page", "wants_page"]

TEMPLATES = Environment(
    loader=PackageLoader("sottovoce.server.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(request: Request, template: str, code: int = 200, **values: object) -> HTMLResponse:
    """A page; `base` in it is the path under which the server is reached."""
    content = TEMPLATES.get_template(template).render(
        base=request.app.state.settings.prefix, version=__version__, **values
    )
    return HTMLResponse(content, code)


def wants_page(request: Request) -> bool:
    """Whether a person is looking: a browser, anywhere but at the interface."""
    path = request.scope["path"][len(request.scope.get("root_path", "")) :]
    return not path.startswith("/api/") and "text/html" in request.headers.get("accept", "")
