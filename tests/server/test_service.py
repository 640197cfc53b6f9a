from __future__ import annotations

from sottovoce.server.service import FeatureParts


class _Counting:
    def __init__(self, start: int = 0) -> None:
        self.start, self.closed = start, 0

    def close(self) -> None:
        self.closed += 1


class _Other(_Counting):
    """Of another class, so another part."""


def test_a_part_is_made_once_for_each_class() -> None:
    parts = FeatureParts()
    assert parts.of(_Counting) is parts.of(_Counting)
    assert type(parts.of(_Other)) is _Other


def test_a_part_that_was_given_is_the_one_that_is_found() -> None:
    given = _Counting(7)
    assert FeatureParts(given).of(_Counting) is given


def test_all_parts_are_closed_with_the_service() -> None:
    parts = FeatureParts(_Counting())
    both = parts.of(_Counting), parts.of(_Other)
    parts.close()
    assert [each.closed for each in both] == [1, 1]
