"""Forecasts that come at once: a page's tests need not wait for simulations."""

from __future__ import annotations

import json
import math
from typing import Any

from playwright.sync_api import Page, Route

__all__ = ["quick_forecasts"]

CLEAN, CONSTANT, BUDGET = 0.93, 0.3, 50.0


def quick_forecasts(page: Page) -> list[dict[str, Any]]:
    """Answers this page's questions with made-up forecasts; returns the questions as they come."""
    questions: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        question = json.loads(route.request.post_data or "{}")
        questions.append(question)
        route.fulfill(json=_forecast(question))

    page.route("**/api/v1/forecasts", answer)
    return questions


def _forecast(question: dict[str, Any]) -> dict[str, Any]:
    privacy, domain = question["privacy"], question["domain"]
    epsilon, answers = privacy["epsilon"], privacy["answers"]
    numeric = domain["kind"] == "numeric"
    sealed = privacy.get("mechanism") == "sealed-sum"
    gained = 1 - math.exp(-((epsilon * (3 if sealed else 1) / 2) ** 1.6))
    clean, constant = (0.4, 2.5) if numeric else (CLEAN, CONSTANT)
    expected = constant + (clean - constant) * gained
    spread = 0.08 * abs(clean - constant)
    return {
        "score": "mean error" if numeric else "accuracy",
        "expected": expected,
        "band": [expected - spread, min(1.0, expected + spread) if not numeric else expected],
        "trials": 20,
        "clean": clean,
        "constant": constant,
        "mechanism": privacy.get("mechanism") or "randomized-response",
        "guarantee": {
            "per_answer": _held(epsilon, answers),
            "per_worker": _held(epsilon * answers, answers),
            "odds": None if sealed else _odds(epsilon, len(domain.get("labels", "ab"))),
            "warning": "This hides little." if epsilon >= 4 else None,
        },
        "devices": _devices(epsilon, answers, question["workers"]),
        "policy": {},
        "in_browser": privacy.get("mechanism") != "two-layer",
        "simulated": True,
        "notes": ["Made up for a test."],
    }


def _held(epsilon: float, answers: int) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": 0.0, "exact": True, "answers": answers}


def _devices(epsilon: float, answers: int, workers: int) -> dict[str, Any]:
    most = min(answers, int(BUDGET / epsilon))
    return {
        "budget": BUDGET,
        "answered": most,
        "most": most,
        "workers": math.ceil(workers * answers / most) if most else None,
        "warning": f"Devices stop after {most} tasks." if most < answers else None,
    }


def _odds(epsilon: float, labels: int) -> str:
    kept = round(100 * math.exp(epsilon) / (math.exp(epsilon) + labels - 1))
    return (
        f"Of 100 workers with the same answer {kept} send it and {100 - kept} send another label."
    )
