"""A workspace with an owner, an outsider with another, and runs of a small scenario with prefill."""

from collections.abc import Callable
from uuid import UUID

import pytest

from tests.casts import GOLDEN_CASTS, Document
from tests.service import stand_in
from webapp import engine
from webapp.accounts.models import User, Workspace
from webapp.accounts.services import owner_ensure
from webapp.runs import tasks
from webapp.runs.models import Run
from webapp.runs.services import Claim, run_claim, run_enqueue

RunMaker = Callable[..., Run]


@pytest.fixture(autouse=True)
def _twin_instead_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute runs of this process by the twin, so that nothing is compiled."""
    monkeypatch.setattr(engine, "batches", stand_in.twin_batches)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Return the runs that the broker was told of."""
    told: list[UUID] = []
    monkeypatch.setattr(tasks.run_execute, "apply_async", lambda args, **_: told.append(UUID(args[0])))
    return told


@pytest.fixture
def owner_and_workspace(db: None) -> tuple[User, Workspace]:
    return owner_ensure(username="ada", workspace_slug="engines", workspace_name="Engines")


@pytest.fixture
def owner(owner_and_workspace: tuple[User, Workspace]) -> User:
    return owner_and_workspace[0]


@pytest.fixture
def workspace(owner_and_workspace: tuple[User, Workspace]) -> Workspace:
    return owner_and_workspace[1]


@pytest.fixture
def outsider(db: None) -> User:
    user, _ = owner_ensure(username="bob", workspace_slug="elsewhere", workspace_name="Elsewhere")
    return user


@pytest.fixture
def document() -> Document:
    return GOLDEN_CASTS["prefill-two-shards"]


@pytest.fixture
def make_run(owner: User, workspace: Workspace, document: Document, published: list[UUID]) -> RunMaker:
    """Return what queues a run; options as `run_enqueue` takes them."""

    def make(**options: object) -> Run:
        return run_enqueue(**{"workspace": workspace, "requested_by": owner, "document": document, **options})  # type: ignore[arg-type]

    return make


def claimed(run: Run, pid: int = 1) -> Claim:
    """Return a worker's claim of the run, which must be queued."""
    claim = run_claim(run_id=run.pk, host="here", pid=pid)
    assert claim is not None
    return claim
