"""Several steps over the same tasks, and shards of one run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inpaintbench.errors import WorkspaceError
from inpaintbench.executors.base import Step, Task
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Attribute
from inpaintbench.workspace import Shard, Workspace

HERE = str(Path(__file__).parent)
STEP = Step("chore", "1", "attributes", Attribute, "chores:behave", time_limit_seconds=2)
OTHER = replace(STEP, name="other", parameters={"factor": 3})
ONLY_FOR_OTHERS = replace(STEP, name="picky", function="chores:behave_unless_told", parameters={"how": "hang"})


@pytest.fixture(autouse=True)
def _chores_are_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", HERE)
    yield
    sys.modules.pop("chores", None)


def tasks(count: int, marks: Path) -> list[Task]:
    return [Task(f"t{place}", "", {"name": f"t{place}", "marks": str(marks)}) for place in range(count)]


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def tables(workspace: Workspace) -> dict[str, bytes]:
    return {str(path.relative_to(workspace.path)): path.read_bytes() for path in (workspace.path / "tables").rglob("*.parquet")}


@pytest.mark.parametrize("workers", [0, 2])
def test_together_gives_what_each_step_gives_alone(tmp_path: Path, marks: Path, workers: int) -> None:
    alone, together = Workspace(tmp_path / "alone"), Workspace(tmp_path / "together")
    with LocalExecutor(alone, workers=workers) as executor:
        expected = {step.name: executor.run(step, tasks(4, marks)) for step in (STEP, OTHER)}
    with LocalExecutor(together, workers=workers) as executor:
        found = executor.run_together([(STEP, tasks(4, marks)), (OTHER, tasks(4, marks))], label="both")
    for name, outcome in expected.items():
        assert (found[name].records, found[name].rejected) == (outcome.records, outcome.rejected)
    assert tables(alone) == tables(together)
    assert len(tables(alone)) == 2


def test_together_does_only_what_is_missing(workspace: Workspace, marks: Path) -> None:
    with LocalExecutor(workspace, workers=0) as executor:
        executor.run(STEP, tasks(3, marks))
        executor.run_together([(STEP, tasks(4, marks)), (OTHER, tasks(4, marks))], label="both")
    assert len(list(marks.iterdir())) == 3 + 3 + 2
    for step in (STEP, OTHER):
        assert all(
            entry["seconds"] >= 0 and entry["peak_mebibytes"] > 10 for entry in workspace.ledger(step.name).read().values()
        )


def at_once(names: str, **parameters: object) -> list[Step]:
    return [replace(STEP, name=name, together="chores:behave_together", parameters=parameters) for name in names]


@pytest.mark.parametrize("workers", [0, 1])
def test_steps_done_at_once_see_all_that_one_subject_lacks(workspace: Workspace, marks: Path, workers: int) -> None:
    first, second, third = at_once("abc")
    with LocalExecutor(workspace, workers=workers) as executor:
        executor.run_together([(first, tasks(2, marks)), (second, tasks(1, marks))], label="some")
        outcomes = executor.run_together([(step, tasks(2, marks)) for step in (first, second, third)], label="all")
    how = {name: [row.name for row in outcome.records] for name, outcome in outcomes.items()}
    # t1 had only the first at first, and t0 lacked only the third at the end: a job for the step's own function.
    assert how == {"a": ["jobs", "length"], "b": ["jobs", "jobs"], "c": ["length", "jobs"]}
    assert all(entry["seconds"] >= 0 for entry in workspace.ledger("c").read().values())


def test_what_fails_at_once_is_done_one_by_one(workspace: Workspace, marks: Path) -> None:
    good, bad = at_once("a")[0], at_once("b", spoils=True)[0]
    with LocalExecutor(workspace, workers=1) as executor:
        outcomes = executor.run_together([(good, tasks(1, marks)), (bad, tasks(1, marks))], label="both")
    assert [[row.name for row in outcome.records] for outcome in outcomes.values()] == [["length"], ["length"]]
    assert len(list(marks.glob("together-*"))) == 1


@pytest.mark.long
def test_only_the_guilty_step_of_a_task_is_refused(workspace: Workspace, marks: Path) -> None:
    with LocalExecutor(workspace, workers=2) as executor:
        outcomes = executor.run_together([(step, tasks(2, marks)) for step in (STEP, ONLY_FOR_OTHERS, OTHER)], label="all")
    assert [len(outcomes[name].records) for name in ("chore", "picky", "other")] == [2, 0, 2]
    assert {row.reason for row in outcomes["picky"].rejected} == {"took longer than 2 s and was stopped"}


def test_a_worker_that_asks_for_too_much_memory_is_refused_with_the_limit(workspace: Workspace) -> None:
    greedy = Task("greedy", "", {"name": "greedy", "how": "greedy"})
    modest = Task("modest", "", {"name": "modest", "how": "work"})
    with LocalExecutor(workspace, workers=1, memory_bytes=1 << 30) as executor:
        outcome = executor.run(replace(STEP, time_limit_seconds=60), [greedy, modest])
    assert [row.subject_id for row in outcome.records] == ["modest"]
    assert [row.reason for row in outcome.rejected] == ["needs more memory than there is (limit 1.0 GiB)"]


def test_shards_share_the_work_and_a_last_run_writes_the_tables(tmp_path: Path, marks: Path) -> None:
    whole, parts = Workspace(tmp_path / "whole"), tmp_path / "parts"
    with LocalExecutor(whole, workers=0) as executor:
        executor.run(STEP, tasks(20, marks))
    shares = []
    for number in (1, 2, 3):
        workspace = Workspace(parts, shard=Shard(number, 3))
        with LocalExecutor(workspace, workers=0) as executor:
            mine = [task for task in tasks(20, marks) if workspace.takes(task.subject_id)]
            executor.run(STEP, mine)
        shares.append(len(mine))
        assert not (parts / "tables").exists()
    assert sum(shares) == 20
    assert min(shares) > 0
    before = len(list(marks.iterdir()))
    with LocalExecutor(Workspace(parts), workers=0) as executor:
        executor.run(STEP, tasks(20, marks))
    assert len(list(marks.iterdir())) == before
    assert tables(Workspace(parts)) == tables(whole)


def test_shards_hold_a_workspace_together_but_not_with_a_whole_run_and_no_shard_twice(tmp_path: Path) -> None:
    one, two = (Workspace(tmp_path / "w", shard=Shard(number, 2)) for number in (1, 2))
    with one.locked(), two.locked():
        for other in (Workspace(tmp_path / "w"), Workspace(tmp_path / "w", shard=Shard(1, 2))):
            with pytest.raises(WorkspaceError, match="in use by another run"), other.locked():
                pass
    with Workspace(tmp_path / "w").locked(), pytest.raises(WorkspaceError, match="in use"), one.locked():
        pass
