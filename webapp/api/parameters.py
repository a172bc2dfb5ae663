"""Query parameters that several operations share."""

from ninja import P
from ninja.params import QueryEx

from webapp.api.paging import MAX_LIMIT

SearchText = QueryEx[str, P(max_length=200, description="Part of the name.")]
WorkspaceSlug = QueryEx[
    str | None, P(max_length=100, description="Needed only by those who belong to several; a token has one.")
]
Cursor = QueryEx[str | None, P(max_length=300, description="The `next_cursor` of the page before.")]
Limit = QueryEx[int, P(ge=1, le=MAX_LIMIT, description="Most items of a page.")]
ScenarioId = QueryEx[str | None, P(max_length=100, description="Id of a stored scenario.")]
WindowTime = QueryEx[str | None, P(description="Time in ns; absent: the start or end of the run.")]
WindowRows = QueryEx[str | None, P(description="Display rows, both included, as `0-63`; absent: all.")]
WindowWidth = QueryEx[str | None, P(description="Width in pixels, 1 to 10,000; at most 1,000 bins are sent.")]
"""Windows are read as text, so that every fault of one is reported, not the first."""
