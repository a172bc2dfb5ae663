"""What can go wrong, by whose fault: the document's, the plan's, or ours."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault of a document: where it is and a sentence on what to do about it."""

    path: str
    """Field, as `training.transport.connections` or `wan.links[2].rtt_ms`; "" is the whole document."""
    message: str
    """What was given and what is allowed."""

    def __str__(self) -> str:
        return f"{self.path or 'document'}: {self.message}"


class ScenarioError(ValueError):
    """The document is wrong and its author can put it right; carries every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InfeasibleError(ScenarioError):
    """The document is well-formed, but what it describes cannot run; says the limit."""


class SimulationError(RuntimeError):
    """The engine broke one of its own promises; always our fault, never the user's."""
