"""The reports of a campaign in memory, to which new ones are added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.codes import names_of as vocabulary
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Cells, Names, Policy, Reports
from sottovoce.server.database.stored_reports import Packed, factorized, worker_names
from sottovoce.tables.vocabulary import in_order

__all__ = ["Gathered"]


@dataclass(slots=True, eq=False)
class Gathered:
    """8 or 12 bytes a report and 24 a submission, up to a submission and a number of erasures."""

    names: Names
    erasures: int
    sequence: int = 0
    pseudonyms: bytearray = field(default_factory=bytearray)
    _parts: list[Packed] = field(default_factory=list)

    def add(self, packed: Packed) -> None:
        """Further submissions."""
        self.sequence = max(self.sequence, packed.sequence)
        self.pseudonyms += packed.pseudonyms
        self._parts.append(packed)

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts)

    @property
    def nbytes(self) -> int:
        """The memory they take, names of tasks included."""
        arrays = sum(p.count.nbytes + p.task.nbytes + p.code.nbytes for p in self._parts)
        return arrays + len(self.pseudonyms) + 100 * len(self.names)

    def reports(self, policy: Policy) -> tuple[Reports, npt.NDArray[np.int32]]:
        """The table that a reader of the exported file has, row by row, and its tasks' places.

        Equal to the last bit: rows are by worker and then by the task's place, names in the order
        in which they appear.
        """
        whole = self._joined()
        code, distinct = factorized(bytes(self.pseudonyms))
        worker = np.repeat(code, whole.count)
        order = np.argsort(worker.astype(np.int64) * len(self.names) + whole.task, kind="stable")
        places = np.arange(len(self.names), dtype=np.int32)
        task, places = in_order(whole.task[order].astype(np.int32), places)
        cells = Cells(
            worker[order], task, whole.code[order], vocabulary(worker_names(distinct)),
            self.names[places],
        )  # fmt: skip
        alphabet = mechanism_of(policy).alphabet
        return report_table(cells, alphabet, policy.domain, simulated=False), places

    def _joined(self) -> Packed:
        if len(self._parts) > 1:
            columns: dict[str, Any] = {
                name: np.concatenate([getattr(part, name) for part in self._parts])
                for name in ("count", "task", "code")
            }
            # Pseudonyms are kept once, beside the parts.
            self._parts = [Packed(self.sequence, b"", **columns)]
        return self._parts[0]
