"""What one task came to, as plain data, whatever it did; and what is kept of a unit that was read ahead."""

from __future__ import annotations

import gc
import resource
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from inpaintbench.errors import InputError, NetworkError, Rejected, UnknownNameError
from inpaintbench.executors.base import Job, Step, Task
from inpaintbench.executors.children import Ahead, perform_all
from inpaintbench.types import Attribute

RAISED: dict[str, BaseException] = {
    "rejected": Rejected("has no frames"),
    "input": InputError("is no video"),
    "network": NetworkError("the site does not answer"),
    "memory": MemoryError(),
    "exit": SystemExit(3),
    "disk": OSError(28, "No space left on device", "x.parquet"),
    "unknown": UnknownNameError("no metric is called 'psrn', did you mean 'psnr'?"),
    "bug": ZeroDivisionError("division by zero"),
}


def fail(payload: Mapping[str, Any], **_: Any) -> list[Any]:
    raise RAISED[payload["how"]]


def none(jobs: Sequence[Any], **_: Any) -> list[list[Any]]:
    return []


def one_more(jobs: Sequence[Any], **_: Any) -> list[list[Any]]:
    return [[] for _ in (*jobs, None)]


class Read:
    """Something large that was read ahead."""


def read(jobs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], **_: Any) -> Read:
    return Read()


def job(name: str, *, how: str = "", ahead: str = "") -> Job:
    return Job(Step("chore", "1", "attributes", Attribute, "fail", ahead=ahead), Task(name, "", {"name": name, "how": how}), "")


@pytest.fixture(autouse=True)
def _this_file_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.executors.children.load", lambda address: globals()[address])


@pytest.mark.parametrize(
    ("how", "status", "failure", "reason"),
    [
        ("rejected", "rejected", None, "has no frames"),
        ("input", "rejected", None, "is no video"),
        # A failure is tried again by the next run; what an input is can only change with the input.
        ("network", "failed", True, "the site does not answer"),
        # Every other subject would meet the same name.
        ("unknown", "fatal", None, "no metric is called 'psrn', did you mean 'psnr'?"),
        ("exit", "failed", True, "it ended its process with exit status 3"),
        ("bug", "failed", True, "ZeroDivisionError: division by zero"),
        ("disk", "fatal", None, "No space left on device: x.parquet"),
    ],
)
def test_what_a_task_raised_becomes_a_status_and_a_sentence(
    how: str, status: str, failure: bool | None, reason: str, tmp_path: Path
) -> None:
    (told,) = perform_all([job("t", how=how)], str(tmp_path))
    assert (told["status"], told.get("failure"), told["reason"]) == (status, failure, reason)
    assert ("test_performing.py" in told.get("trace", "")) == (how == "bug")


@pytest.mark.parametrize(
    ("soft", "reason"),
    [
        (3 * 2**30, "needs more memory than there is (limit 3.0 GiB)"),
        (resource.RLIM_INFINITY, "needs more memory than there is"),
    ],
)
def test_too_much_memory_names_the_limit_that_was_met(
    soft: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The soft limit is the one that allocations meet."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, 8 * 2**30))
    (told,) = perform_all([job("t", how="memory")], str(tmp_path))
    assert (told["status"], told["failure"], told["reason"]) == ("rejected", True, reason)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("together", "results"), [("none", 0), ("one_more", 2)])
def test_a_step_that_gives_too_few_or_too_many_results_has_failed(jobs: int, together: str, results: int, tmp_path: Path) -> None:
    step = Step("chore", "1", "attributes", Attribute, "", together=together)
    told = perform_all([Job(step, Task(f"t{place}", "", {}), "") for place in range(jobs)], str(tmp_path))
    reason = f"ValueError: {together} gave {results} results for 1"
    assert [(one["status"], one["failure"], one["reason"]) for one in told] == [("failed", True, reason)] * jobs


def test_what_was_read_ahead_is_given_once_and_then_let_go() -> None:
    ahead, first, second = Ahead(), [job("a", ahead="read")], [job("b", ahead="read")]
    assert ahead.swap([], first, "") is None
    given = ahead.swap(first, [job("c")], "")
    assert isinstance(given, Read)
    kept = weakref.ref(given)
    del given
    gc.collect()
    assert kept() is None
    ahead.swap([], second, "")
    ahead.drop()
    assert ahead.swap(second, [], "") is None


def test_a_unit_that_comes_twice_is_read_twice() -> None:
    ahead, unit = Ahead(), [job("a", ahead="read")]
    ahead.swap([], unit, "")
    assert ahead.swap(unit, unit, "") is not ahead.swap(unit, [], "")


def test_what_was_read_for_a_unit_that_another_worker_took_is_let_go() -> None:
    ahead, taken = Ahead(), [job("a", ahead="read")]
    ahead.swap([], taken, "")
    for thread in threading.enumerate():
        if thread.name == "ahead":
            thread.join()
    ahead.swap([job("b")], [job("c")], "")
    assert ahead.swap(taken, [], "") is None
