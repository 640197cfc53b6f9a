"""The nouns: frozen, validated at birth, without I/O."""

from sottovoce.model.arrays import CodedArray, Codes, FloatArray, Names, StartsArray
from sottovoce.model.domain import Domain, Kind, Label
from sottovoce.model.gold import Gold, Score
from sottovoce.model.part import LabelPart, NumberPart, Part, labels_of, numbers_of
from sottovoce.model.reports import Reading, Repeats, Reports
from sottovoce.model.result import Provenance, Result

__all__ = [
    "CodedArray",
    "Codes",
    "Domain",
    "FloatArray",
    "Gold",
    "Kind",
    "Label",
    "LabelPart",
    "Names",
    "NumberPart",
    "Part",
    "Provenance",
    "Reading",
    "Repeats",
    "Reports",
    "Result",
    "Score",
    "StartsArray",
    "labels_of",
    "numbers_of",
]
