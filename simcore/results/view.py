"""What of a timeline lies in a window: how many segments, and which."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.results.order import template_rows
from simcore.results.row_table import Positions, RowTable, row_table, slice_blocks
from simcore.results.segments import Segments, concatenated
from simcore.results.timeline import Timeline


@dataclass(frozen=True, slots=True)
class View:
    """Some rows of a timeline from t0 up to but without t1; the horizon's last instant belongs to its end."""

    timeline: Timeline
    t0_ns: int
    t1_ns: int
    rows: NDArray[np.int64]
    """Row ids, in the order in which they are shown; shape (num_rows,)."""
    template_row: NDArray[np.int64]
    """The row of the template that each row repeats; shape (num_rows,)."""
    template: RowTable
    """One iteration of one cell."""
    fills: RowTable
    """Prefill, by row id."""

    @property
    def seen_until_ns(self) -> int:
        """Return t1, or just after the horizon where the window reaches it."""
        horizon_ns = self.timeline.horizon_ns
        return horizon_ns + 1 if self.t1_ns >= horizon_ns else self.t1_ns

    def iterations_before(self, instant_ns: int) -> int:
        """Return how many iterations end before the instant."""
        period_ns, num_iterations = self.timeline.iteration_time_ns, self.timeline.num_iterations
        if period_ns == 0:
            return num_iterations if instant_ns > 0 else 0
        return min(max((instant_ns - 1) // period_ns, 0), num_iterations)

    def num_segments(self) -> int:
        """Return how many segments overlap the window, without writing the template out."""
        template_rows, copies = np.unique(self.template_row, return_counts=True)
        started = self._counted(template_rows, self.seen_until_ns, self.template.starting_from)
        gone = self._counted(template_rows, self.t0_ns, self.template.seen_after)
        low, high = self.fill_slices()
        return int(((started - gone) * copies).sum()) + int((high - low).sum())

    def _counted(self, template_rows: Positions, instant_ns: int, search: Callable[..., Positions]) -> Positions:
        """Return how many segments of each row come before what `search` finds, over all iterations."""
        whole = self.iterations_before(instant_ns)
        counts = whole * self.template.num_segments(template_rows)
        if whole < self.timeline.num_iterations:
            phase_ns = instant_ns - whole * self.timeline.iteration_time_ns
            counts += search(template_rows, phase_ns) - self.template.first[template_rows]
        return counts

    def fill_slices(self) -> tuple[Positions, Positions]:
        """Return where each row's fills of the window begin and end."""
        return self.fills.seen_after(self.rows, self.t0_ns), self.fills.starting_from(self.rows, self.seen_until_ns)

    def segments(self) -> Segments:
        """Return the segments that overlap the window, row after row, each by start; written out in full."""
        training, training_at = self._training()
        low, high = self.fill_slices()
        at, position = _joined(low, high)
        segments = concatenated([training, self.fills.segments.take(position)])
        return segments.take(np.lexsort((segments.start_ns, np.concatenate([training_at, at]))))

    def _training(self) -> tuple[Segments, Positions]:
        """Return the repeated segments of the window, and the index in `rows` of each."""
        period_ns = self.timeline.iteration_time_ns
        last = min(self.iterations_before(self.seen_until_ns), self.timeline.num_iterations - 1)
        iterations = np.arange(self.iterations_before(self.t0_ns), last + 1)[:, None]
        used = np.flatnonzero(self.template.num_segments(self.template_row))
        template_rows = self.template_row[used][None, :]
        low = self.template.seen_after(template_rows, self.t0_ns - iterations * period_ns)
        high = self.template.starting_from(template_rows, self.seen_until_ns - iterations * period_ns)
        pair, position = _joined(low.ravel(), high.ravel())
        iteration, index = np.divmod(pair, max(len(used), 1))
        at = used[index]
        found = self.template.segments.take(position)
        shifted = Segments(
            row=self.rows[at].astype(np.uint32),
            kind=found.kind,
            start_ns=found.start_ns + (iteration + (iterations[0, 0] if len(iterations) else 0)) * period_ns,
            duration_ns=found.duration_ns,
            item=found.item,
            part=found.part,
        )
        return shifted, at


def view_of(timeline: Timeline, t0_ns: int, t1_ns: int, rows: NDArray[np.int64]) -> View:
    """Return the view of `rows` (row ids) of a timeline from t0 up to but without t1."""
    layout = timeline.layout
    return View(
        timeline=timeline,
        t0_ns=t0_ns,
        t1_ns=t1_ns,
        rows=rows,
        template_row=template_rows(layout, rows),
        template=row_table(timeline.iteration, layout.num_cell_workers + len(layout.channels)),
        fills=row_table(timeline.fills, layout.num_rows),
    )


def _joined(low: Positions, high: Positions) -> tuple[Positions, Positions]:
    """Return (which slice, position) of all slices low:high, one after the other."""
    blocks = list(slice_blocks(low, high, int(np.maximum(high - low, 0).sum()) or 1))
    return blocks[0] if blocks else (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
