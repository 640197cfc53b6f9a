"""Faults that axe-core finds in a page."""

from __future__ import annotations

import json
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

__all__ = ["axe"]

OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},  # of WCAG 2.2, and off by default
}


def axe(page: Page, **options: Any) -> None:
    """Raises with what axe-core finds in the page as it is now: WCAG 2.2 AA and good practice.

    Transitions are over before it looks: a colour half-way is nobody's contrast.
    """
    page.evaluate("() => Promise.allSettled(document.getAnimations().map((a) => a.finished))")
    # A page's policy forbids scripts that are put into it; the debugger's are not.
    debugger = page.context.new_cdp_session(page)
    try:
        if _evaluate(debugger, "typeof axe") == "undefined":  # a page is looked at more than once
            _evaluate(debugger, AXE_SCRIPT + ";undefined")
        text = _evaluate(
            debugger,
            f"axe.run(document, {json.dumps({**OPTIONS, **options})})"
            ".then((found) => JSON.stringify(found.violations))",
        )
    finally:
        debugger.detach()
    found = json.loads(text)
    assert not found, f"axe finds {len(found)} faults in {page.url}:\n" + "\n".join(
        map(_in_words, found)
    )


def _evaluate(debugger: Any, expression: str) -> Any:
    answer = debugger.send(
        "Runtime.evaluate",
        {"expression": expression, "awaitPromise": True, "returnByValue": True},
    )
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")


def _in_words(violation: dict[str, Any]) -> str:
    nodes = "".join(
        f"\n    {node['html'][:200]}\n      {' '.join(node['failureSummary'].split())}"
        for node in violation["nodes"]
    )
    return f"  {violation['id']} ({violation['impact']}): {violation['help']}{nodes}"
