"""A step of two parts: many processes do the part that needs no card, one a card the rest, and nothing else is different."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.executors import local
from inpaintbench.executors.base import Step, Task, task_key
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Attribute
from inpaintbench.workspace import Workspace

HERE = str(Path(__file__).parent)
ONE = Step(
    "parts", "1", "attributes", Attribute, "", {"names": ["heavy", "light", "weighty"]}, time_limit_seconds=30,
    together="chores:in_parts", on_card=True,
)  # fmt: skip
TWO = replace(ONE, before=replace(ONE, parameters={"names": ["light"]}, on_card=False))
OTHER = replace(TWO, name="parts.other", parameters={"names": ["light", "other"]})
RUN = """
import sys
from pathlib import Path
from test_in_parts import OTHER, TWO, tasks
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.workspace import Workspace

if __name__ == "__main__":
    folder, marks = map(Path, sys.argv[1:])
    with LocalExecutor(Workspace(folder), workers=3) as executor:
        executor.run_together([(step, tasks(marks, 30, seconds=0.02)) for step in (TWO, OTHER)], label="both")
"""


@pytest.fixture(autouse=True)
def _chores_are_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{Path(local.__file__).parents[2]}")
    yield
    sys.modules.pop("chores", None)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    (tmp_path / "marks").mkdir()
    return tmp_path / "marks"


def tasks(marks: Path, count: int, **payload: Any) -> list[Task]:
    return [Task(f"t{place}", "", {"name": f"t{place}", "marks": str(marks), **payload}) for place in range(count)]


def seen(marks: Path) -> dict[str, list[tuple[str, int]]]:
    """Part -> task and process of each time that it was begun."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path in marks.iterdir():
        part, name, process, _ = path.name.split("-")
        found.setdefault(part, []).append((name, int(process)))
    return found


def tables(workspace: Workspace) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (workspace.path / "tables").rglob("*.parquet")}


def one_lane(tmp_path: Path, *work: tuple[Step, list[Task]]) -> dict[str, bytes]:
    workspace = Workspace(tmp_path / "one lane")
    with LocalExecutor(workspace, workers=0) as executor:
        executor.run_together([(replace(step, before=None), given) for step, given in work], label="both")
    return tables(workspace)


@pytest.mark.parametrize("ahead", [True, False])
def test_many_processes_do_what_needs_no_card_and_one_the_rest(tmp_path: Path, marks: Path, ahead: bool) -> None:
    workspace, step = Workspace(tmp_path / "run"), replace(TWO, ahead="chores:nothing" if ahead else "")
    with LocalExecutor(workspace, workers=3, ahead=ahead) as executor:
        outcomes = executor.run_together([(one, tasks(marks, 12, seconds=0.1)) for one in (step, OTHER)], label="both")
    assert [row.name for row in outcomes["parts"].records] == ["heavy", "light", "weighty"] * 12
    done = seen(marks)
    assert {part: len(of) for part, of in done.items()} == {"before the card": 24, "on the card": 24}
    first, rest = ({process for _, process in done[part]} for part in ("before the card", "on the card"))
    assert (len(first), len(rest)) == (3, 1)
    assert first.isdisjoint(rest)
    assert tables(workspace) == one_lane(tmp_path, (TWO, tasks(marks, 12)), (OTHER, tasks(marks, 12)))


@pytest.mark.parametrize("workers", [0, 1])
def test_one_process_does_all_where_there_are_no_others(tmp_path: Path, marks: Path, workers: int) -> None:
    workspace = Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=workers) as executor:
        executor.run(TWO, tasks(marks, 3))
    assert {part: len({process for _, process in of}) for part, of in seen(marks).items()} == {"whole": 1}
    assert tables(workspace) == one_lane(tmp_path, (TWO, tasks(marks, 3)))


def test_the_ledger_knows_nothing_of_parts(tmp_path: Path, marks: Path) -> None:
    """What was done in two is not done again in one, and the other way round."""
    assert task_key(ONE, tasks(marks, 1)[0]) == task_key(TWO, tasks(marks, 1)[0])
    workspace = Workspace(tmp_path / "run")
    for step, count in ((TWO, 3), (ONE, 5), (TWO, 6)):
        with LocalExecutor(workspace, workers=2) as executor:
            executor.run(step, tasks(marks, count))
    assert {part: len(of) for part, of in seen(marks).items()} == {"before the card": 4, "on the card": 4, "whole": 2}
    entries = workspace.ledger("parts", Attribute).read()
    assert len(entries) == 6
    assert all(entry["seconds"] >= 0 and entry["peak_mebibytes"] > 0 and len(entry["rows"]) == 3 for entry in entries.values())


@pytest.mark.parametrize("part", ["before the card", "on the card"])
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("crash", "crashed the worker process (signal SIGSEGV)"),
        ("killed", "crashed the worker process (signal SIGKILL)"),
        ("hang", "took longer than 2 s and was stopped"),
        ("reject", "not to be had"),
        ("fail", "ZeroDivisionError: a fault of the program"),
    ],
)
def test_a_subject_that_fails_in_either_part_is_refused_and_no_other(
    tmp_path: Path, marks: Path, part: str, how: str, reason: str
) -> None:
    given = tasks(marks, 5)
    # Where the first part raises, the second finds no rows, does all of it, and meets the same.
    given[2] = replace(given[2], payload={**given[2].payload, part: how, "whole": how})
    work = [(replace(step, time_limit_seconds=2), given) for step in (TWO, OTHER)]
    with LocalExecutor(Workspace(tmp_path / "run"), workers=2) as executor:
        outcomes = executor.run_together(work, label="both")
    for outcome in outcomes.values():
        assert [(one.subject_id, one.reason) for one in outcome.rejected] == [("t2", reason)]
        assert {row.subject_id for row in outcome.records} == {"t0", "t1", "t3", "t4"}


@pytest.mark.parametrize("part", ["before the card", "on the card"])
def test_a_process_that_dies_with_several_steps_is_followed_by_another(tmp_path: Path, marks: Path, part: str) -> None:
    """Its steps are then done one by one, and those that were not guilty have their rows."""
    given = [replace(one, payload={**one.payload, part: "killed_once"}) for one in tasks(marks, 2)]
    work = [(TWO, given), (OTHER, given)]
    workspace = Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=2) as executor:
        outcomes = executor.run_together(work, label="both")
    assert not any(outcome.rejected for outcome in outcomes.values())
    assert tables(workspace) == one_lane(tmp_path, *work)
    done = seen(marks)
    assert {part: len(of) for part, of in done.items() if part != "whole"} == {
        "before the card": 6 if part == "before the card" else 4, "on the card": 4 if part == "before the card" else 6,
    }  # fmt: skip


def test_no_more_is_done_ahead_of_the_card_than_it_will_soon_take(tmp_path: Path, marks: Path) -> None:
    given = [replace(one, payload={**one.payload, "on the card": "slow"}) for one in tasks(marks, 40)]
    most = 0
    with LocalExecutor(Workspace(tmp_path / "run"), workers=2, progress=lambda *_: None) as executor:
        for done in executor.run(TWO, given).records[::3]:
            assert done.name == "heavy"
    began = {part: {name: int(path.name.rsplit("-", 1)[1]) for path in marks.iterdir() for name in [path.name.split("-")[1]]
                    if path.name.startswith(part)} for part in ("before the card", "on the card")}  # fmt: skip
    for moment in began["before the card"].values():
        ahead = sum(one <= moment for one in began["before the card"].values())
        most = max(most, ahead - sum(one <= moment for one in began["on the card"].values()))
    # Those that wait, and what every process holds: two units each, one of which may be done when the last place is taken.
    assert most <= local._HANDED_ON + 2 * 2 + 2


@pytest.mark.parametrize(
    ("visible", "devices", "expected"),
    [
        (None, 0, [None]), (None, 1, [None]), (None, 3, ["0", "1", "2"]),
        ("1", 3, [None]), ("2,0", 3, ["2", "0"]), ("GPU-5,GPU-7", 0, ["GPU-5", "GPU-7"]),
    ],
)  # fmt: skip
def test_each_card_has_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, devices: int, expected: list[str | None]
) -> None:
    for name in (*(f"nvidia{place}" for place in range(devices)), "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    monkeypatch.setattr(local, "_DEVICES", tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert local.cards() == expected


def test_a_process_sees_its_card_alone(tmp_path: Path, marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "cards", lambda: ["5", "7"])
    step = replace(TWO, parameters={"names": ["heavy", "visible", "light"]})
    with LocalExecutor(Workspace(tmp_path / "run"), workers=2) as executor:
        rows = executor.run(step, tasks(marks, 16, seconds=0.1)).records
    assert {row.value for row in rows if row.name == "visible"} == {5.0, 7.0}
    assert len({process for _, process in seen(marks)["on the card"]}) == 2


def test_a_run_that_is_killed_at_any_moment_goes_on_to_the_same_tables(tmp_path: Path, marks: Path) -> None:
    program, moments = tmp_path / "run.py", random.Random(7)
    program.write_text(RUN)
    command = [sys.executable, str(program), str(tmp_path / "run"), str(marks)]
    for kills in range(4):
        before = len(list(marks.iterdir()))
        running = subprocess.Popen(command)
        begun = moments.randrange(2, 25)
        while running.poll() is None and len(list(marks.iterdir())) < before + begun:
            time.sleep(0.002)
        assert running.poll() is None, f"it ended before kill {kills}"
        running.kill()
        running.wait()
    subprocess.run(command, check=True)
    given = tasks(marks, 30)
    assert tables(Workspace(tmp_path / "run")) == one_lane(tmp_path, (TWO, given), (OTHER, given))
