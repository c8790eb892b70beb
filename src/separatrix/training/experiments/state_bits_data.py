"""How many bits of its state each trained model of a sweep uses, against BHBK24 Theorem 3.

The best run of every cell is taken with the weights that were kept, its state is rounded to p bits at the cut of the
task's communication problem (``models.state_precision``), and the least p is looked for from which on at most one point
of accuracy is lost. Theorem 3 says m ≥ c·N/p for a constant c that it does not name; the table shows m·p/N.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from separatrix.models import PrecisionReport, state_precision
from separatrix.training.record import Record
from separatrix.training.sweep import Cell
from separatrix.training.trained import trained_model

LOSS = 0.01
"""Accuracy that may be lost by rounding."""


@dataclass(frozen=True)
class StateBits:
    """One cell: its best run and what rounding does to it; ``bits`` None where even the most bits tried lose."""

    record: Record
    report: PrecisionReport

    @property
    def bits(self) -> int | None:
        """The least number of bits for each number of the state that suffices."""
        return self.report.bits_used(loss=LOSS)

    @property
    def bits_for_each_position(self) -> float | None:
        """m·p/N, which Theorem 3 bounds from below by a constant."""
        return None if self.bits is None else self.report.state_numbers * self.bits / self.record.spec.length

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "run": self.record.spec.name, "accuracy": self.record.result.accuracy, "bits": self.bits,
            "bits_for_each_position": self.bits_for_each_position, "report": self.report.as_data(),
        }  # fmt: skip


def state_bits(
    cells: Sequence[Cell], found: Mapping[str, Record], files: Path, device: torch.device, examples: int = 512
) -> list[StateBits]:
    """Return all cells whose best run is recorded and kept its weights in the folder ``files``."""
    measured: list[StateBits] = []
    for cell in cells:
        record = cell.best(found)
        if record is None or record.weights is None or not (files / record.weights).is_file():
            continue
        spec, model = record.spec, trained_model(record, files).to(device)
        report = state_precision(model, spec.the_task(), spec.length, examples=examples, seed=spec.seed)
        measured.append(StateBits(record, report))
    return measured
