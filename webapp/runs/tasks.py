"""The Celery task that computes a run."""

from webapp.celery import app


@app.task(name="runs.execute")
def run_execute(run_id: str) -> None:
    """Compute the run unless somebody else does."""
