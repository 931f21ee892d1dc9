from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from inpaintbench.executors.base import Job, Step, Task, Tasks
from inpaintbench.executors.ledgered import Unit, Waiting
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.executors.ray import RayExecutor
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

HERE = str(Path(__file__).parent)
STEP = Step("chore", "1", "attributes", Attribute, "chores:who", time_limit_seconds=30, apart=True)


@pytest.fixture(autouse=True)
def _chores_are_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (HERE, os.environ.get("PYTHONPATH")))))
    yield
    sys.modules.pop("chores", None)


def tasks(groups: Sequence[str], **payload: object) -> Tasks:
    names = [f"t{place:03d}" for place in range(len(groups))]
    return Tasks(pa.array(names), pa.array(names), lambda place: {"name": names[place], **payload}, groups=groups)


def processes(workspace: Workspace, step: Step, todo: Tasks, **options: int) -> dict[str, int]:
    """Task -> the process that did it."""
    with LocalExecutor(workspace, **options) as executor:
        return {row.subject_id: row.value for row in executor.run(step, todo).records}


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_no_process_does_two_tasks_of_a_group(workspace: Workspace, workers: int) -> None:
    groups = [f"g{place % 5}" for place in range(20)]
    found = processes(workspace, STEP, tasks(groups), workers=workers)
    seen = Counter((found[f"t{place:03d}"], group) for place, group in enumerate(groups))
    assert len(found) == 20
    assert set(seen.values()) == {1}
    assert os.getpid() not in found.values()
    if workers < 2:  # no more processes than the largest group takes
        assert len(set(found.values())) == 4


def test_one_process_goes_on_where_groups_differ_or_none_is_named(workspace: Workspace) -> None:
    found = processes(workspace, STEP, tasks([*(f"g{place}" for place in range(6)), *[""] * 6]), workers=1)
    assert len(set(found.values())) == 1


def test_processes_begin_anew_with_the_step(workspace: Workspace) -> None:
    with LocalExecutor(workspace, workers=1) as executor:
        first = executor.run(replace(STEP, name="one"), tasks(["g"])).records
        second = executor.run(replace(STEP, name="two"), tasks(["g"])).records
    assert first[0].value != second[0].value


def test_a_step_that_keeps_nothing_apart_takes_no_heed_of_groups(workspace: Workspace) -> None:
    found = processes(workspace, replace(STEP, apart=False), tasks(["g"] * 6), workers=1)
    assert len(set(found.values())) == 1


def test_a_process_that_is_killed_leaves_its_groups_to_others(workspace: Workspace, tmp_path: Path) -> None:
    groups = [f"g{place % 3}" for place in range(9)]
    todo = tasks(groups, once=str(tmp_path / "killed"))
    processes(workspace, STEP, todo, workers=2)  # the killed task fails, and the next run does it
    found = processes(workspace, STEP, todo, workers=2)
    seen = Counter((found[f"t{place:03d}"], group) for place, group in enumerate(groups))
    assert len(found) == 9
    assert set(seen.values()) == {1}


@pytest.mark.long
def test_on_ray_no_process_does_two_tasks_of_a_group(workspace: Workspace) -> None:
    groups = [f"g{place % 4}" for place in range(12)]
    with RayExecutor(workspace, workers=2) as executor:
        outcome = executor.run(STEP, tasks(groups))
        assert not outcome.rejected
        found = {row.subject_id: row.value for row in outcome.records}
    seen = Counter((found[f"t{place:03d}"], group) for place, group in enumerate(groups))
    assert len(found) == 12
    assert set(seen.values()) == {1}


def test_what_waits_is_looked_through_no_further_than_its_bound() -> None:
    many = [Unit((f"t{place}", 0), ()) for place in range(3000)]
    made: list[Unit] = []

    def units() -> Iterator[Unit]:
        for unit in many:
            made.append(unit)
            yield unit

    waiting = Waiting(units(), len(many), reads_ahead=False, on_card=False, apart=True)
    assert waiting.pop_unlike(set()) == many[0]
    assert len(made) < 1100
    assert len(waiting) == 2999


def test_the_group_of_a_unit_is_that_of_its_task() -> None:
    task = Task("t", "", {}, group="g")
    assert Unit(("t", 0), (Job(STEP, task, "key"),)).group == "g"
    assert Unit(("t", 0), (Job(replace(STEP, apart=False), task, "key"),)).group == ""
