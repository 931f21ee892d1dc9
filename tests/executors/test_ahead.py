"""Reading the next item while one is worked on: spared time alone, whatever becomes of the reading."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.errors import RunError
from inpaintbench.executors.base import Outcome, Step, Task
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

HERE = str(Path(__file__).parent)
STEP = Step(
    "chore", "1", "attributes", Attribute, "chores:behave_ahead", time_limit_seconds=60,
    together="chores:behave_ahead_together", ahead="chores:read_ahead",
)  # fmt: skip
OTHER = replace(STEP, name="other", parameters={"factor": 3})


@pytest.fixture(autouse=True)
def _chores_are_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", HERE)
    yield
    sys.modules.pop("chores", None)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def tasks(marks: Path, *ways: dict[str, Any]) -> list[Task]:
    return [Task(f"t{place}", "", {"name": f"t{place}", "marks": str(marks), **payload}) for place, payload in enumerate(ways)]


def seen(marks: Path) -> Counter[str]:
    """What was done, without its time; begins anew."""
    found = Counter(path.name.rpartition("-")[0] for path in marks.iterdir())
    for path in marks.iterdir():
        path.unlink()
    return found


def run(
    folder: Path, todo: Sequence[Task], *, workers: int, steps: Sequence[Step] = (STEP,), **options: Any
) -> dict[str, Outcome]:
    with LocalExecutor(Workspace(folder), workers=workers, **options) as executor:
        return executor.run_together([(step, todo) for step in steps], label="all")


def tables(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "tables").rglob("*.parquet")}


@pytest.mark.parametrize("workers", [0, 1])
def test_every_item_but_the_first_is_read_ahead_once_and_the_tables_are_the_same(
    tmp_path: Path, marks: Path, workers: int
) -> None:
    todo = tasks(marks, {}, {"reading_seconds": 0.2}, {"how": "reject"}, {})
    for number, steps in enumerate([(STEP,), (STEP, OTHER)]):
        run(tmp_path / f"ahead {number}", todo, workers=workers, steps=steps)
        found = seen(marks)
        # What fails at once is done one by one, and reads for itself then.
        expected = {"alone-t0", "given-t1", "given-t2", "given-t3", "read-t1", "read-t2", "read-t3"}
        assert {name for name in found if name[0] in "agr"} - {"alone-t2"} == expected
        assert {found[f"read-t{place}"] for place in (1, 2, 3)} == {1}
        run(tmp_path / f"plain {number}", todo, workers=0, steps=steps, ahead=False)
        assert not any("read" in name or "given" in name for name in seen(marks))
        assert tables(tmp_path / f"ahead {number}") == tables(tmp_path / f"plain {number}")


@pytest.mark.long
def test_several_workers_do_every_item_once_also_one_that_was_announced_to_a_slow_one(tmp_path: Path, marks: Path) -> None:
    todo = tasks(marks, {"seconds": 4}, *[{"seconds": 0.1}] * 6)
    done = run(tmp_path / "ahead", todo, workers=2)["chore"]
    assert [row.subject_id for row in done.records] == [f"t{place}" for place in range(7)]
    found = seen(marks)
    assert [found[f"t{place}"] for place in range(7)] == [1] * 7
    assert found["read-t1"] == found["alone-t1"] == 1  # announced to the first worker, done by the other
    run(tmp_path / "plain", tasks(marks, *[{}] * 7), workers=0, ahead=False)
    assert tables(tmp_path / "ahead") == tables(tmp_path / "plain")


def test_what_cannot_be_read_ahead_is_read_by_whoever_does_it(tmp_path: Path, marks: Path) -> None:
    done = run(tmp_path / "run", tasks(marks, {}, {"reading": "fail"}, {"reading": "unpicklable"}, {}), workers=0)["chore"]
    assert (len(done.records), done.rejected, done.failures) == (4, [], 0)
    found = seen(marks)
    assert {name for name in found if name.startswith(("alone", "given"))} == {"alone-t0", "alone-t1", "alone-t2", "given-t3"}


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_worker_that_dies_while_it_reads_ahead_costs_nobody_but_the_guilty_a_row(tmp_path: Path, marks: Path) -> None:
    """The second crashes however it is done; the fourth crashes a worker that reads it ahead, the sixth is killed once."""
    todo = tasks(
        marks, {"seconds": 0.5}, {"reading": "segfault", "how": "crash"}, {"seconds": 0.5}, {"reading": "segfault"},
        {}, {"how": "killed_once"}, {"reading_seconds": 3},
    )  # fmt: skip
    done = run(tmp_path / "run", todo, workers=1)["chore"]
    assert [row.subject_id for row in done.records] == ["t0", "t2", "t3", "t4", "t5", "t6"]
    assert [(row.subject_id, row.reason) for row in done.rejected] == [("t1", "crashed the worker process (signal SIGSEGV)")]
    assert done.failures == 1
    found = seen(marks)
    assert found["t1"] == 1  # what is suspected is done with nothing beside it, and blamed at once
    assert found["t5"] == 2


def test_no_thread_is_left_when_a_run_ends_early(tmp_path: Path, marks: Path) -> None:
    todo = tasks(marks, {"how": "fail"}, {"reading_seconds": 0.5})
    with pytest.raises(RunError, match="more than 0 failures"):
        run(tmp_path / "run", todo, workers=0, max_failures=0)
    assert seen(marks)["read-t1"] == 1
    assert "ahead" not in {thread.name for thread in threading.enumerate()}


def test_an_executor_goes_on_after_a_run_that_ended_with_an_error(tmp_path: Path, marks: Path) -> None:
    """What that run had announced or begun is no part of the next."""
    with LocalExecutor(Workspace(tmp_path / "run"), workers=1, max_failures=0) as executor:
        with pytest.raises(RunError):
            executor.run(STEP, tasks(marks, {"how": "fail"}, {"seconds": 60}, {}))
        later = tmp_path / "later"  # what the first run still reads may leave its mark after that run has ended
        later.mkdir()
        done = executor.run(replace(STEP, name="after"), tasks(later, {}))
    assert [row.subject_id for row in done.records] == ["t0"]
    assert set(seen(later)) == {"alone-t0", "t0"}
