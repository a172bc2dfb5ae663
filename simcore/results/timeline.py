"""The timeline: who was busy with what, when.

One iteration of one cell is stored once; cells are identical and the iteration repeats, so the
whole horizon is that template shifted by iteration and by cell, plus the prefill fills.
"""

from dataclasses import dataclass

from simcore.costs.layout import Channel, Layout
from simcore.results.segments import Segments

__all__ = ["Channel", "Layout", "Timeline"]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Segments of the whole horizon, the repeating part stored once."""

    layout: Layout
    iteration_time_ns: int
    num_iterations: int
    iteration: Segments
    """One iteration of one cell, template rows, sorted by (row, start)."""
    fills: Segments
    """Prefill of the whole horizon, row ids, sorted by (row, start)."""

    @property
    def horizon_ns(self) -> int:
        """Return the length of all iterations together, in nanoseconds."""
        return self.iteration_time_ns * self.num_iterations

    @property
    def num_segments(self) -> int:
        """Return how many segments the horizon has when the template is written out."""
        return len(self.iteration) * self.layout.num_cells * self.num_iterations + len(self.fills)
