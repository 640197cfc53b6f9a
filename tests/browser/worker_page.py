"""A worker at its page: what it presses, in either language, and what its device keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

__all__ = ["AtPage"]

WORDS = {
    "en": {
        "agree": "I agree, start", "no": "No thanks", "next": "Next", "skip": "Skip",
        "back": "Back", "draw": "Draw and continue", "send": "Send", "done": "Done",
        "data": "My data", "again": "Try now", "more": "Answer more", "seal": "Seal and continue",
    },
    "ja": {
        "agree": "同意して始める", "no": "参加しない", "next": "次へ", "skip": "とばす",
        "back": "戻る", "draw": "送る内容を決めて進む", "send": "送信する", "done": "完了",
        "data": "自分のデータ", "again": "今すぐ送る", "more": "続けて答える",
        "seal": "封印して進む",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AtPage:
    """A worker at a page."""

    page: Page
    language: str = "en"

    @property
    def heading(self) -> Locator:
        return self.page.locator("h1")

    def button(self, name: str) -> Locator:
        """A button of the view itself: the footer has some in every view."""
        words = WORDS[self.language][name]
        return self.page.locator("main").get_by_role("button", name=words, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def open(self, link: str) -> None:
        """The link, until its first view is there."""
        self.page.goto(link)
        self.heading.wait_for()

    def reload(self) -> None:
        self.page.reload()
        self.heading.wait_for()

    def answer(self, *answers: str | None) -> None:
        """One answer after the other, None for skipping; ends at the view that follows."""
        for answer in answers:
            place = self.page.locator(".progress").inner_text()
            if answer is None:
                self.press("skip")
            else:
                self._give(answer)
                self.press("next")
            self._is_gone(place)

    def _give(self, answer: str) -> None:
        number = self.page.locator("input.number")
        if number.count():
            number.fill(answer)
        else:
            self.page.get_by_role("radio", name=answer, exact=True).check()

    def _is_gone(self, place: str) -> None:
        expect(self.page.locator(".progress", has_text=place)).to_have_count(0)

    def draw(self, *answers: str | None) -> None:
        """From the first view to the draw."""
        self.press("agree")
        self.page.locator(".progress").wait_for()
        self.answer(*answers)
        self.press("draw")
        self.button("send").wait_for()

    def send(self) -> None:
        """Send what is drawn, and wait for the receipt."""
        self.press("send")
        self.button("done").wait_for()

    def kept(self) -> dict[str, Any]:
        """The campaign's data in the storage of this device."""
        text = self.page.evaluate("() => localStorage.getItem('sottovoce ' + location.pathname)")
        kept: dict[str, Any] = json.loads(text)
        return kept

    def parcel(self) -> dict[str, Any]:
        """The one submission that was drawn."""
        [parcel] = self.kept()["parcels"]
        assert isinstance(parcel, dict)
        return parcel
