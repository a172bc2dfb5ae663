"""The engine's independent twin: MODEL.md once more, in plain Python, for clarity and not for speed.

It shares no code with `simcore.costs`, `simcore.schedules`, `simcore.kernel` or
`simcore.bubbletea`, so that a misreading in one of the two shows as a disagreement.
"""

from simcore.reference.records import Blocked, Operation, PrefillPiece, ReferenceResult, Transfer
from simcore.reference.simulation import simulate

__all__ = ["Blocked", "Operation", "PrefillPiece", "ReferenceResult", "Transfer", "simulate"]
