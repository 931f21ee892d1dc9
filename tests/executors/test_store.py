"""What stands in a ledger and what is done again: results made for want of something, spoilt ones, and those of release 0.2."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from inpaintbench.executors.base import Outcome, Step, Task, Tasks
from inpaintbench.executors.ledgered import Results, Waiting
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.tables import UNEXPECTED
from inpaintbench.types import Attribute, Score, content_id
from inpaintbench.workspace import Blobs, Workspace

CALLS: list[str] = []
HAVE: set[str] = set()
"""What there is now."""


@pytest.fixture(autouse=True)
def _this_file_is_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "made_here", sys.modules[__name__])
    yield
    CALLS.clear()
    HAVE.clear()


def measure(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Score]:
    """A row that needs nothing and one that needs the weights ``w``; ``payload["how"]`` spoils or refuses them."""
    CALLS.append(payload["name"])
    if payload.get("how") == "raise":
        raise ZeroDivisionError("a fault of the program")
    details = {UNEXPECTED: "RuntimeError"} if payload.get("how") == "spoil" and "mended" not in HAVE else {"frames": 3}
    weighted = (2.0, None) if "w" in HAVE else (None, "weights missing")
    return [score(payload["name"], "plain", 1.0, None, details), score(payload["name"], "weighted", *weighted, {})]


def score(name: str, metric: str, value: float | None, reason: str | None, details: Mapping[str, Any]) -> Score:
    return Score("m", name, metric, "hole", "p", "f", value, reason, details)


def refused(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], reason: str) -> list[Score]:
    return [score(payload["name"], metric, None, reason, {}) for metric in ("plain", "weighted")]


def step(**changes: Any) -> Step:
    lacks = {} if "w" in HAVE else {"w": "missing"}
    base = Step("score", "1", "scores", Score, "made_here:measure", parameters={"weights": {"w": "ready"}}, lacks=lacks)
    return replace(base, **changes)


def tasks(*names: str, **hows: str) -> list[Task]:
    return [Task(name, "content", {"name": name, "how": hows.get(name)}) for name in names]


def run(workspace: Workspace, given: Step, todo: list[Task]) -> Outcome:
    with LocalExecutor(workspace, workers=0) as executor:
        return executor.run(given, todo)


def weighted(outcome: Outcome) -> list[float | None]:
    return [row.value for row in outcome.records if row.metric == "weighted"]


def test_what_was_made_for_want_of_something_is_tried_again_when_it_is_there(workspace: Workspace) -> None:
    for _ in range(2):
        assert weighted(run(workspace, step(), tasks("a"))) == [None]
    assert CALLS == ["a"]
    assert weighted(run(workspace, step(lacks={"w": "damaged"}), tasks("a"))) == [None]  # for another reason now
    assert CALLS == ["a", "a"]
    HAVE.add("w")
    assert weighted(run(workspace, step(), tasks("a", "b"))) == [2.0, 2.0]
    HAVE.remove("w")
    assert weighted(run(workspace, step(), tasks("a", "b", "c"))) == [2.0, 2.0, None]  # what was made with it stands
    assert CALLS == ["a", "a", "a", "b", "c"]


def test_another_lack_takes_nothing_from_what_stands(workspace: Workspace) -> None:
    both = {"w": "missing", "v": "missing"}
    run(workspace, step(lacks={"v": "missing"}), tasks("a"))
    run(workspace, step(lacks=both), tasks("a"))
    assert CALLS == ["a"]
    run(workspace, step(lacks={}), tasks("a"))
    assert CALLS == ["a", "a"]


def test_a_spoilt_row_is_in_the_table_and_tried_again_in_every_run(workspace: Workspace) -> None:
    todo = tasks("a", "b", a="spoil")
    for _ in range(2):
        assert run(workspace, step(), todo).records[0].details == {UNEXPECTED: "RuntimeError"}
    assert CALLS == ["a", "b", "a"]
    HAVE.add("mended")
    for _ in range(2):
        assert run(workspace, step(), todo).records[0].details == {"frames": 3}
    assert CALLS == ["a", "b", "a", "a"]


def test_who_is_refused_has_the_rows_that_the_step_says_in_the_order_of_the_tasks(workspace: Workspace) -> None:
    outcome = run(workspace, step(unmeasured="made_here:refused"), tasks("a", "b", "c", b="raise"))
    assert [row.item_id for row in outcome.records] == ["a", "a", "b", "b", "c", "c"]
    reason = "ZeroDivisionError: a fault of the program"
    assert [row.reason for row in outcome.records if row.item_id == "b"] == [reason, reason]
    assert [(row.subject_id, row.reason) for row in outcome.rejected] == [("b", reason)]
    assert workspace.table("scores", Score) == outcome.records


def old_entry(name: str, states: Mapping[str, str], rows: list[Any], **also: Any) -> str:
    """As release 0.2 wrote it: states of weights in the key, rows as their records are."""
    key = content_id(name, "content", "score", "1", {"weights": states})
    told = {"key": key, "subject_id": name, "name": "", "finished_at": 1.0, "status": "done", "seconds": 0.1}
    return json.dumps({**told, "rows": [asdict(row) for row in rows], **also}) + "\n"


def write_old(workspace: Workspace, *entries: str) -> None:
    ledger = workspace.path / "ledger"
    ledger.mkdir()
    (ledger / "score.jsonl").write_text("".join(entries))


@pytest.mark.parametrize("there", [True, False])
def test_a_ledger_of_release_0_2_goes_on(workspace: Workspace, tmp_path: Path, *, there: bool) -> None:
    HAVE.update({"w"} if there else ())
    fresh = Workspace(tmp_path / "fresh")
    expected = run(fresh, step(), tasks("a", "b"))
    states = {"w": "ready" if there else "missing"}
    write_old(workspace, old_entry("a", states, expected.records[:2]), '{"key": "torn\n')
    CALLS.clear()
    assert run(workspace, step(), tasks("a", "b")).records == expected.records
    assert CALLS == ["b"]
    table = Path("tables", "scores", "score.parquet")
    assert (workspace.path / table).read_bytes() == (fresh.path / table).read_bytes()
    HAVE.add("w")
    assert weighted(run(workspace, step(), tasks("a", "b"))) == [2.0, 2.0]


def test_what_release_0_2_measured_with_weights_stands_without(workspace: Workspace) -> None:
    HAVE.add("w")
    made = measure({"name": "a"}, parameters={}, blobs=workspace.blobs)
    HAVE.remove("w")
    write_old(workspace, old_entry("a", {"w": "ready"}, made))
    assert run(workspace, step(), tasks("a")).records == made
    assert CALLS == ["a"]


def test_spoilt_and_refused_ones_of_release_0_2_are_tried_again(workspace: Workspace) -> None:
    ready = {"w": "ready"}
    spoilt = old_entry("a", ready, [score("a", "plain", None, "could not be measured", {UNEXPECTED: "RuntimeError"})])
    crash = {"status": "rejected", "reason": "crashed the worker process (signal SIGSEGV)"}
    told = json.loads(old_entry("b", ready, []))
    del told["rows"]
    write_old(workspace, spoilt, json.dumps({**told, **crash}) + "\n")
    assert len(run(workspace, step(unmeasured="made_here:refused"), tasks("a", "b")).records) == 4
    assert CALLS == ["a", "b"]
    assert run(workspace, replace(step(), unmeasured=""), tasks("a")).rejected == []


LEVELS = [
    Attribute("a", "level", "high", None, "made", "1"),
    Attribute("a", "share", 0.1 + 0.2, None, "made", "1"),
    Attribute("a", "psnr", float("inf"), None, "made", "1"),
    Attribute("a", "none", None, 'a "reason" in é', "made", "1"),
]


def levels(payload: Mapping[str, Any], *, parameters: Mapping[str, Any], blobs: Blobs) -> list[Attribute]:
    CALLS.append("levels")
    return LEVELS


@pytest.mark.parametrize("old", [True, False])
def test_texts_and_numbers_of_one_column_and_infinite_ones_survive_the_ledger(workspace: Workspace, *, old: bool) -> None:
    if old:
        key = content_id("a", "content", "score", "1", {"weights": {"w": "missing"}})
        entry = {"key": key, "status": "done", "rows": [asdict(record) for record in LEVELS]}
        write_old(workspace, json.dumps(entry) + "\n")
    for _ in range(2):
        given = step(record=Attribute, table="attributes", function="made_here:levels")
        assert run(workspace, given, tasks("a")).records == LEVELS
    assert workspace.table("attributes", Attribute) == LEVELS
    assert len(CALLS) == (not old)


def test_tasks_over_a_table_are_those_of_a_list_and_are_made_when_they_are_done(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    HAVE.add("w")
    listed, made = tasks(*"abcd"), []

    def payload(place: int) -> Mapping[str, Any]:
        made.append(place)
        return listed[place].payload

    ids = pa.array([task.subject_id for task in listed])
    columns = Tasks(ids, pa.array([task.content for task in listed]), payload)
    assert (list(columns), columns[1:3], columns[-1]) == (listed, listed[1:3], listed[-1])
    with LocalExecutor(workspace, workers=0) as executor:
        executor.run(step(), listed[1:2])
        made.clear()
        other = step(name="other")
        first = executor.run_together([(step(), columns), (other, columns)], label="both")
        assert (CALLS, made) == (list("baabccdd"), [0, 1, 2, 3])
        made.clear()
        working = executor._results

        def watched(waiting: Waiting) -> Results:
            for done, (unit, results) in enumerate(working(waiting)):
                assert len(made) == done + 1  # others are not made yet
                yield unit, results

        with monkeypatch.context() as patched:
            patched.setattr(executor, "_results", watched)
            executor.run(step(name="third"), columns)
        assert made == [0, 1, 2, 3]
        assert executor.run(step(), listed).records == first["score"].records
        made.clear()
        assert executor.run(step(), columns).records == first["score"].records
        assert made == []


def test_chosen_subjects_are_done_beside_what_others_have_already(workspace: Workspace) -> None:
    run(workspace, step(), tasks("a"))
    with LocalExecutor(workspace, workers=0) as executor:
        executor.only = {"b"}
        outcome = executor.run(step(), tasks("a", "b", "c"))
    assert CALLS == ["a", "b"]
    assert [row.item_id for row in outcome.records] == ["a", "a", "b", "b"]
