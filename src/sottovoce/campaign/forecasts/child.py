"""The process in which forecasts are simulated: it reads and changes nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sottovoce.campaign.forecasts.question import Question
from sottovoce.campaign.forecasts.simulating import outlook
from sottovoce.campaign.processes.answering import answer_all
from sottovoce.errors import SottovoceError

__all__ = ["main"]


def main() -> None:
    """Forecast what the parent asks for, until it goes."""
    answer_all(lambda _: _answer)


def _answer(asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        found = outlook(Question.parse(asked["question"]))
    except SottovoceError as error:
        return {"refused": str(error)}, b""
    except (ArithmeticError, ValueError, MemoryError) as error:
        return {"failed": type(error).__name__}, b""
    return {**asdict(found), "policy": found.policy.text()}, b""
