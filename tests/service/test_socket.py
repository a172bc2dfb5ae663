"""The socket of a page: early, late and returning clients, bells heard and lost, and who is refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async

from tests.service.conftest import RunMaker, claimed
from tests.service.page import Page
from webapp import engine
from webapp.accounts.models import User
from webapp.runs import consumers, doorbell, recorder, tasks
from webapp.runs.models import Chunk, Run
from webapp.runs.services import run_cancel

pytestmark = pytest.mark.django_db(transaction=True)


@asynccontextmanager
async def opened(user: User) -> AsyncIterator[Page]:
    page = await database_sync_to_async(Page)(user)
    assert await page.open() == (True, None)
    try:
        yield page
    finally:
        await page.close()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write so often that a run has more chunks than one read takes."""
    monkeypatch.setattr(recorder, "WRITE_BYTES", 2 * engine.SEGMENT_BYTES)
    monkeypatch.setattr(recorder, "SEGMENTS_PER_WRITE", 2)


@pytest.fixture
def no_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doorbell alone wake consumers."""
    monkeypatch.setattr(consumers, "BELL_TIMEOUT_S", 3_600.0)


def computed(run: Run) -> Run:
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    return run


async def test_a_late_client_gets_every_chunk_once_in_order(
    make_run: RunMaker, owner: User, small_chunks: None
) -> None:
    run = await database_sync_to_async(lambda: computed(make_run()))()
    assert run.last_seq > 2 * consumers.CHUNKS_PER_READ
    async with opened(owner) as page:
        await page.follow(run)
        end = await page.until_end()
        assert page.texts[0] == {
            "t": "hello",
            "run": str(run.pk),
            "status": "succeeded",
            "last_seq": run.last_seq,
            "pace": None,
            "attempt": 1,
        }
        assert page.seqs == list(range(1, run.last_seq + 1))
        assert end == {"t": "end", "run": str(run.pk), "status": "succeeded", "last_seq": run.last_seq}


async def test_a_client_that_is_there_first_is_woken_by_the_database(
    make_run: RunMaker, owner: User, no_time_out: None, small_chunks: None
) -> None:
    run = await database_sync_to_async(make_run)()
    async with opened(owner) as page:
        await page.follow(run)
        assert (await page.next())["status"] == "queued"
        await asyncio.to_thread(computed, run)
        await page.until_end()
        run = await database_sync_to_async(Run.objects.get)(pk=run.pk)
        assert page.seqs == list(range(1, run.last_seq + 1))
        statuses = [text["status"] for text in page.texts if text["t"] in ("hello", "status")]
        assert statuses == sorted(set(statuses), key=["queued", "running", "succeeded"].index)


async def test_a_lost_bell_is_made_up_for_by_the_time_out(
    make_run: RunMaker, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def deaf(*_: object) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(doorbell, "listening", deaf)
    monkeypatch.setattr(consumers, "BELL_TIMEOUT_S", 0.05)
    run = await database_sync_to_async(make_run)()
    async with opened(owner) as page:
        await page.follow(run)
        await page.next()
        await asyncio.to_thread(computed, run)
        await page.until_end()
        assert page.seqs == list(range(1, page.texts[-1]["last_seq"] + 1))


async def test_a_consumer_listens_before_it_reads(
    make_run: RunMaker, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    listening, snapshot = doorbell.listening, consumers._snapshot

    @asynccontextmanager
    async def noted(*arguments: Any) -> AsyncIterator[None]:
        async with listening(*arguments):
            happened.append("listens")
            yield

    def read(*arguments: Any) -> consumers.Snapshot:
        happened.append("reads")
        return snapshot(*arguments)

    monkeypatch.setattr(doorbell, "listening", noted)
    monkeypatch.setattr(consumers, "_snapshot", read)
    run = await database_sync_to_async(lambda: computed(make_run()))()
    async with opened(owner) as page:
        await page.follow(run)
        await page.until_end()
    assert happened[:2] == ["listens", "reads"]


async def test_a_client_that_returns_goes_on_where_it_was(
    make_run: RunMaker, owner: User, small_chunks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await database_sync_to_async(lambda: make_run(pace=0.2))()
    worker = asyncio.create_task(asyncio.to_thread(computed, run))
    received: list[int] = []
    while True:
        async with opened(owner) as page:
            await page.follow(run, after=received[-1] if received else 0)
            is_over = False
            for _ in range(5):
                is_over = (await page.next())["t"] == "end"
                if is_over:
                    break
            received += page.seqs
            if is_over:
                break
    run = await worker
    assert received == list(range(1, run.last_seq + 1))


async def test_a_client_outlives_its_worker(
    make_run: RunMaker, owner: User, small_chunks: None, no_time_out: None
) -> None:
    run = await database_sync_to_async(make_run)()

    def attempt_that_is_lost() -> None:
        claim = claimed(run)
        batches = engine.batches(claim.document)
        made = recorder.Recorder(claim, ring=doorbell.ring)
        with pytest.raises(engine.SimulationError):  # the batches end too early
            made.record(batch for batch, _ in zip(batches, range(6), strict=False))
        Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED)

    async with opened(owner) as page:
        await page.follow(run)
        await asyncio.to_thread(attempt_that_is_lost)
        await page.until(lambda message: message["t"] == "frame")
        await asyncio.to_thread(computed, run)
        end = await page.until_end()
        assert (end["status"], page.seqs) == ("succeeded", list(range(1, end["last_seq"] + 1)))


async def test_a_cancel_ends_the_stream(make_run: RunMaker, owner: User, no_time_out: None) -> None:
    run = await database_sync_to_async(make_run)()
    async with opened(owner) as page:
        await page.follow(run)
        await page.next()
        await database_sync_to_async(run_cancel)(run=run)
        assert (await page.until_end())["status"] == "cancelled"


async def test_a_missing_chunk_is_told_as_a_gap(make_run: RunMaker, owner: User, small_chunks: None) -> None:
    def run_with_a_hole() -> Run:
        run = computed(make_run())
        Chunk.objects.filter(run=run, seq__in=[3, run.last_seq]).delete()
        return run

    run = await database_sync_to_async(run_with_a_hole)()
    async with opened(owner) as page:
        await page.follow(run)
        await page.until_end()
        gaps = [(text["after"], text["next"]) for text in page.texts if text["t"] == "gap"]
        assert gaps == [(2, 4), (run.last_seq - 1, run.last_seq + 1)]


async def test_one_socket_follows_several_runs(make_run: RunMaker, owner: User) -> None:
    runs = await database_sync_to_async(lambda: [computed(make_run()) for _ in range(2)])()
    async with opened(owner) as page:
        for run in runs:
            await page.follow(run)
        ended = {(await page.until_end())["run"] for _ in runs}
        assert ended == {str(run.pk) for run in runs}
        assert sorted(page.seqs) == sorted([*range(1, runs[0].last_seq + 1), *range(1, runs[1].last_seq + 1)])


async def test_nobody_outside_the_workspace_can_follow(make_run: RunMaker, outsider: User) -> None:
    run = await database_sync_to_async(make_run)()
    async with opened(outsider) as page:
        for run_id in (run.pk, uuid4()):
            await page.say({"t": "sub", "run": str(run_id), "after": 0})
            assert await page.next() == {"t": "err", "run": str(run_id), "message": "there is no such run"}


@pytest.mark.parametrize(
    "message",
    [
        "",
        "no json",
        "[]",
        '{"t": "sub"}',
        '{"t": "sub", "run": 7}',
        '{"t": "dance", "run": "3f0f4a3e-4b0b-4d3c-9b0e-6a3f0f4a3e4b"}',
        '{"t": "sub", "run": "3f0f4a3e-4b0b-4d3c-9b0e-6a3f0f4a3e4b", "after": -1}',
        '{"t": "sub", "run": "3f0f4a3e-4b0b-4d3c-9b0e-6a3f0f4a3e4b", "after": true}',
        '{"t": "sub", "run": "3f0f4a3e-4b0b-4d3c-9b0e-6a3f0f4a3e4b", "after": 1e400}',
        "[" * 100_000,
    ],
)
async def test_nonsense_is_answered_and_the_socket_lives_on(make_run: RunMaker, owner: User, message: str) -> None:
    run = await database_sync_to_async(make_run)()
    async with opened(owner) as page:
        await page.say(message)
        reply = await page.next()
        assert (reply["t"], reply["run"]) == ("err", None)
        await page.follow(run)
        assert (await page.next())["t"] == "hello"


async def test_strangers_and_foreign_pages_are_refused(db: None, owner: User) -> None:
    stranger = Page(None)
    assert await stranger.open() == (False, consumers.CLOSE_NOT_SIGNED_IN)
    foreign = await database_sync_to_async(Page)(owner, origin=b"http://evil.example")
    assert await foreign.open() == (False, 4403)
    other_port = await database_sync_to_async(Page)(owner, origin=b"http://testserver:8001")
    assert await other_port.open() == (False, 4403)


async def test_a_fault_while_following_is_told_and_closes(
    make_run: RunMaker, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(consumers, "_snapshot", broken)
    run = await database_sync_to_async(make_run)()
    async with opened(owner) as page:
        await page.follow(run)
        assert (await page.next())["t"] == "err"
        assert await page.close_code() == consumers.CLOSE_SERVER_ERROR
