from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inpaintbench.errors import RunError, WorkspaceError
from inpaintbench.executors import STOP_ASKED
from inpaintbench.executors.base import Rejection, Step, Task
from inpaintbench.executors.ledgered import Waiting
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

HERE = str(Path(__file__).parent)
Changed = Callable[[Step, Task], tuple[Step, Task]]


@pytest.fixture(autouse=True)
def _chores_are_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", HERE)
    yield
    sys.modules.pop("chores", None)


STEP = Step("chore", "1", "attributes", Attribute, "chores:behave", time_limit_seconds=30)


def tasks(*hows: str, marks: Path | None = None) -> list[Task]:
    extra = {"marks": str(marks)} if marks else {}
    return [Task(f"t{place}", how, {"name": f"t{place}", "how": how, **extra}) for place, how in enumerate(hows)]


def files(workspace: Workspace) -> dict[str, bytes]:
    kept = (path for path in workspace.path.rglob("*") if path.is_file() and "ledger" not in path.parts and path.name != ".lock")
    return {str(path.relative_to(workspace.path)): path.read_bytes() for path in kept}


def test_rows_come_in_task_order_and_are_equal_for_any_worker_count(tmp_path: Path) -> None:
    made = {}
    for workers in (0, 1, 3):
        workspace = Workspace(tmp_path / str(workers))
        with LocalExecutor(workspace, workers=workers) as executor:
            slow_first = [Task(f"t{place}", "", {"name": f"t{place}", "seconds": 0.2 if place == 0 else 0}) for place in range(8)]
            outcome = executor.run(STEP, [*slow_first, *tasks("reject")])
        assert [row.subject_id for row in outcome.records] == [f"t{place}" for place in range(8)]
        made[workers] = files(workspace)
    assert made[0] == made[1] == made[3]
    assert len(made[0]) == 3 + 1 + 8  # the mark of the workspace, two tables and the hash of one, blobs


def test_what_is_done_is_not_done_again_and_changed_parameters_are(workspace: Workspace, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    todo = tasks("work", "reject", "work", marks=marks)
    for step, calls in ((STEP, 3), (STEP, 3), (replace(STEP, parameters={"factor": 2}), 6), (STEP, 6)):
        with LocalExecutor(workspace, workers=0) as executor:
            outcome = executor.run(step, todo)
        assert len(list(marks.iterdir())) == calls
        assert [row.value for row in outcome.records] == [2.0 * step.parameters.get("factor", 1)] * 2
    with LocalExecutor(workspace, workers=0, retry_rejected=True) as executor:
        executor.run(STEP, todo)
    assert len(list(marks.iterdir())) == 7


def test_a_lost_blob_is_made_again(workspace: Workspace) -> None:
    with LocalExecutor(workspace, workers=0) as executor:
        (row,) = executor.run(STEP, tasks("work")).records
        workspace.blobs.path(row.blob).unlink()
        assert executor.run(STEP, tasks("work")).records == [row]
    assert workspace.blobs.path(row.blob).exists()


def test_poisoned_tasks_are_quarantined_with_their_reason_and_the_rest_goes_on(workspace: Workspace) -> None:
    hows = ("work", "crash", "hang", "hang_in_c", "fail", "unpicklable", "reject", "killed", "work", "work")
    with LocalExecutor(workspace, workers=2) as executor:
        outcome = executor.run(replace(STEP, time_limit_seconds=2), tasks(*hows))
    assert [row.subject_id for row in outcome.records] == ["t0", "t8", "t9"]
    assert {row.subject_id: row.reason for row in outcome.rejected} == {
        "t1": "crashed the worker process (signal SIGSEGV)",
        "t2": "took longer than 2 s and was stopped",
        "t3": "took longer than 2 s and was stopped",
        "t4": "ZeroDivisionError: a fault of the program",
        "t5": outcome.rejected[4].reason,
        "t6": "not to be had",
        "t7": "crashed the worker process (signal SIGKILL)",
    }
    assert outcome.rejected[4].reason.startswith("Local: ")
    assert outcome.failures == 6
    assert workspace.table("rejected", Rejection, step="chore") == outcome.rejected


def test_faults_of_the_program_and_kills_from_outside_are_tried_again_but_poison_is_not(
    workspace: Workspace, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    for _ in range(2):
        with LocalExecutor(workspace, workers=1) as executor:
            executor.run(STEP, tasks("crash", "fail", "killed", marks=marks))
    names = sorted(path.name.partition("-")[0] for path in marks.iterdir())
    assert names == ["t0", "t1", "t1", "t2", "t2"]


def test_the_failure_budget_ends_the_run_and_keeps_what_is_done(workspace: Workspace) -> None:
    with (
        LocalExecutor(workspace, workers=0, max_failures=1) as executor,
        pytest.raises(RunError, match="chore: more than 1 failures, the last one: t4: ZeroDivisionError"),
    ):
        executor.run(STEP, tasks("work", "reject", "fail", "work", "fail", "work"))
    assert len(workspace.ledger("chore").read()) == 5


def test_a_full_disk_ends_the_run_at_once(workspace: Workspace) -> None:
    for workers in (0, 1):
        with (
            LocalExecutor(workspace, workers=workers) as executor,
            pytest.raises(WorkspaceError, match="No space left on device"),
        ):
            executor.run(STEP, tasks("disk_full", "work"))
        assert not (workspace.path / "tables").exists()


def test_progress_is_told_for_every_task(workspace: Workspace) -> None:
    seen: list[tuple[str, int, int]] = []
    with LocalExecutor(workspace, workers=0, progress=lambda *told: seen.append(told)) as executor:
        executor.run(STEP, tasks("work", "reject"))
    assert seen == [("chore", 0, 2), ("chore", 1, 2), ("chore", 2, 2)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends workers with a killed parent")
def test_workers_do_not_outlive_a_killed_run(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    program = (
        "from inpaintbench.executors.local import LocalExecutor\n"
        "from inpaintbench.workspace import Workspace\n"
        "from inpaintbench.executors.base import Step, Task\n"
        "from inpaintbench.types import Attribute\n"
        "if __name__ == '__main__':\n"
        f"    step = Step('chore', '1', 'attributes', Attribute, 'chores:behave')\n"
        f"    with LocalExecutor(Workspace({str(tmp_path / 'w')!r}), workers=1) as executor:\n"
        f"        executor.run(step, [Task('t', '', {{'name': 't', 'how': 'orphan', 'marks': {str(marks)!r}}})])\n"
    )
    (tmp_path / "program.py").write_text(program)
    run = subprocess.Popen([sys.executable, str(tmp_path / "program.py")], env={**os.environ, "PYTHONPATH": HERE})
    _wait_for(lambda: (marks / "child").exists() and (marks / "child").read_text())
    child = int((marks / "child").read_text())
    worker = _parent(child)
    run.send_signal(signal.SIGKILL)
    run.wait()
    try:
        _wait_for(lambda: not Path(f"/proc/{worker}").exists())
        assert not Path(f"/proc/{worker}").exists()
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("ends", [1, 2, 4])
def test_workers_that_are_killed_before_they_begin_cost_no_task(workspace: Workspace, ends: int) -> None:
    killed: set[int] = set()
    over = threading.Event()

    def kill_the_first() -> None:
        while len(killed) < ends and not over.is_set():
            for child in set(_spawned()) - killed:
                with contextlib.suppress(ProcessLookupError):  # who ends by itself is none of those
                    if len(killed) < ends:
                        os.kill(child, signal.SIGKILL)
                        killed.add(child)
            time.sleep(0.005)

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    try:
        with LocalExecutor(workspace, workers=2) as executor:
            outcome = executor.run(STEP, tasks(*["work"] * 6))
    finally:
        over.set()
        killer.join()
    assert len(killed) == ends
    assert [row.subject_id for row in outcome.records] == [f"t{place}" for place in range(6)]
    assert outcome.failures == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_that_never_begin_end_the_run(workspace: Workspace) -> None:
    over = threading.Event()

    def kill_all() -> None:
        while not over.is_set():
            for child in _spawned():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.005)

    killer = threading.Thread(target=kill_all)
    killer.start()
    try:
        with (
            LocalExecutor(workspace, workers=2) as executor,
            pytest.raises(RunError, match="the worker processes end before they begin any task"),
        ):
            executor.run(STEP, tasks("work", "work", "work"))
    finally:
        over.set()
        killer.join()


def _spawned() -> list[int]:
    """The worker processes of this process."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            for child in (thread / "children").read_text().split():
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))
    return found


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _wait_for(condition: object) -> None:
    for _ in range(300):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.1)
    pytest.fail("waited 30 s in vain")


def test_an_interrupt_that_python_dropped_still_ends_the_run(workspace: Workspace) -> None:
    def run() -> None:
        with LocalExecutor(workspace, workers=1) as executor:
            executor.run(STEP, tasks("hang", "hang"))

    threading.Timer(0.2, STOP_ASKED.set).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        STOP_ASKED.clear()
    assert workspace.ledger(STEP.name).read() == {}  # the run did not wait for a task's time limit


def values(workspace: Workspace, step: Step, task: Task) -> list[float]:
    with LocalExecutor(workspace, workers=0) as executor:
        return [row.value for row in executor.run(step, [task]).records]


def test_a_raised_version_is_computed_again_and_never_shows_the_numbers_of_the_old_one(workspace: Workspace) -> None:
    step, task = replace(STEP, function="chores:say"), Task("t", "content", {"name": "t", "says": 1.0})
    wiser = replace(task, payload={"name": "t", "says": 2.0})  # what the new version of the step would find
    assert values(workspace, step, task) == [1.0]
    assert values(workspace, step, wiser) == [1.0]  # nothing that the ledger knows of has changed
    assert values(workspace, replace(step, version="2"), wiser) == [2.0]
    assert [row.value for row in workspace.table("attributes", Attribute)] == [2.0]
    assert values(workspace, step, wiser) == [1.0]  # nor does the new one overwrite the old


@pytest.mark.parametrize(
    "changed",
    [
        lambda step, task: (replace(step, parameters={"factor": 1}), task),
        lambda step, task: (step, replace(task, content="other content")),
        lambda step, task: (step, replace(task, subject_id="u")),
    ],
    ids=["parameters", "content", "subject"],
)
def test_every_ingredient_of_the_key_makes_its_own_numbers(workspace: Workspace, changed: Changed) -> None:
    step, task = replace(STEP, function="chores:say"), Task("t", "content", {"name": "t", "says": 1.0})
    assert values(workspace, step, task) == [1.0]
    assert values(workspace, *changed(step, replace(task, payload={"name": "t", "says": 2.0}))) == [2.0]


def test_a_ledger_under_another_steps_name_is_not_taken_for_its_own(workspace: Workspace) -> None:
    step, task = replace(STEP, function="chores:say"), Task("t", "content", {"name": "t", "says": 1.0})
    assert values(workspace, step, task) == [1.0]
    ledger = workspace.path / "ledger"
    (ledger / "other.jsonl").write_bytes((ledger / "chore.jsonl").read_bytes())
    assert values(workspace, replace(step, name="other"), replace(task, payload={"name": "t", "says": 2.0})) == [2.0]


def test_what_is_refused_bears_its_name_or_else_its_id(workspace: Workspace) -> None:
    nameless, named = tasks("reject", "reject")
    with LocalExecutor(workspace, workers=0) as executor:
        outcome = executor.run(STEP, [nameless, replace(named, name="film.mp4")])
    assert [(row.subject_id, row.name) for row in outcome.rejected] == [("t0", "t0"), ("t1", "film.mp4")]


def test_two_contents_of_one_subject_are_two_pieces_of_work(workspace: Workspace) -> None:
    seen: list[tuple[str, int, int]] = []
    twice = [Task("t", content, {"name": "t", "says": value}) for content, value in (("a", 1.0), ("b", 2.0))]
    with LocalExecutor(workspace, workers=0, progress=lambda *told: seen.append(told)) as executor:
        outcome = executor.run(replace(STEP, function="chores:say"), twice)
    assert [row.value for row in outcome.records] == [1.0, 2.0]
    assert seen == [("chore", 0, 2), ("chore", 1, 2), ("chore", 2, 2)]


@pytest.mark.parametrize("apart", [False, True])
def test_few_processes_share_a_card_and_their_address_space_has_no_limit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    opened: list[tuple[int, int | None]] = []

    class Pool:
        def __init__(self, count: int, *, memory_bytes: int | None, card: str | None) -> None:
            assert card is None
            opened.append((count, memory_bytes))

        def close(self, *, kill: bool = False) -> None:
            """Nothing to end."""

    monkeypatch.setattr("inpaintbench.executors.local.Children", Pool)
    with LocalExecutor(workspace, workers=16, memory_bytes=1 << 31) as executor:
        for on_card, most in ((True, 4), (False, 16), (True, 4)):
            executor._open(apart=apart, on_card=on_card)
            assert sum(count for count, _ in opened) == most
            assert {limit for _, limit in opened} == {None if on_card else 1 << 31}
            opened.clear()
            executor._mend(executor._lanes[0], Waiting([], 0, reads_ahead=False, on_card=False))
            assert opened == [(1 if apart else most, None if on_card else 1 << 31)]
            opened.clear()
    with LocalExecutor(workspace, workers=2) as executor:
        executor._open(apart=apart, on_card=True)
        assert sum(count for count, _ in opened) == 2
        opened.clear()
    monkeypatch.setattr("inpaintbench.executors.local.cards", lambda: [None])
    with LocalExecutor(workspace, workers=16, memory_bytes=1 << 31) as executor:  # where others do what needs no card
        executor._open(apart=apart, on_card=True, in_parts=True)
        assert opened == [*([(1, 1 << 31)] * 16 if apart else [(16, 1 << 31)]), (1, None)]


def test_a_step_says_that_it_uses_a_card(workspace: Workspace) -> None:
    with LocalExecutor(workspace, workers=1, memory_bytes=1 << 30) as executor:
        outcome = executor.run(replace(STEP, on_card=True, function="chores:limit"), tasks("work"))
        assert [row.value for row in outcome.records] == [-1.0]
        other = executor.run(replace(STEP, name="after", function="chores:limit"), tasks("work"))
        assert [row.value for row in other.records] == [float(1 << 30)]
