"""Run steps on a Ray cluster whose nodes share the workspace's file system or its address, or on a Ray started here."""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from inpaintbench.errors import InputError, MissingExtraError
from inpaintbench.executors import default_workers
from inpaintbench.executors.base import Job, Progress
from inpaintbench.executors.children import Children, default_memory_bytes, result
from inpaintbench.executors.ledgered import LedgeredExecutor, Results, Unit, Waiting, check_for_stop, check_shared
from inpaintbench.workspace import Workspace

# Address that starts a Ray on this machine.
HERE = "local"
_LOOK_SECONDS = 0.5
_AHEAD = 2
_ANSWER_SECONDS = 10.0
# Nodes that an item may lose; one that brings its node down ends here.
_TRIES = 4
_OBJECT_STORE_BYTES = 200 << 20  # only small records travel; pixels stay in the workspace


class RayExecutor(LedgeredExecutor):
    """Ray tasks, one a core; use it as a context manager.

    Ray has no time limit for a task, so each of its processes keeps one killable child that does the work, with the limits of
    the local executor. Only the process that runs this writes ledgers and tables; workers write blobs.

    Args:
        workspace: where results go; the same path on every node, or at an address.
        address: of an existing cluster, ``auto`` for the one this machine belongs to, or ``local``.
        workers: cores to use of a Ray that is started here; a cluster's own number counts otherwise.
        memory_bytes, max_failures, retry_rejected, progress: as for the local executor.

    Raises:
        MissingExtraError: Ray is not installed.
        InputError: no cluster answers at ``address``.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        address: str = HERE,
        workers: int | None = None,
        memory_bytes: int | None = None,
        max_failures: int | None = None,
        retry_rejected: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(workspace, max_failures=max_failures, retry_rejected=retry_rejected, progress=progress)
        check_shared(workspace)
        self._ray = _start(address, workers=workers or default_workers())
        self.workers = int(self._ray.cluster_resources().get("CPU", 1))
        self._memory_bytes = memory_bytes
        # A task that Ray itself tried again would be done twice; the ledger decides what is tried again.
        self._remote = self._ray.remote(num_cpus=1, max_retries=0)(_in_child)

    def _close(self, *, kill: bool) -> None:  # noqa: ARG002 - Ray ends its workers, and they their children, in any case
        self._ray.shutdown()

    def _results(self, waiting: Waiting) -> Results:
        folder = str(self.workspace.address or self.workspace.path.resolve())
        running: dict[Any, Unit] = {}
        lost: Counter[tuple[tuple[str, int], str]] = Counter()
        call = uuid.uuid4().hex if waiting.apart else ""
        while waiting or running:
            while waiting and len(running) < self.workers * _AHEAD:
                unit = waiting.popleft()
                limit = unit.time_limit_seconds
                running[self._remote.remote(unit.jobs, folder, limit, self._memory_bytes, (call, unit.group))] = unit
            finished, _ = self._ray.wait(list(running), num_returns=1, timeout=_LOOK_SECONDS)
            check_for_stop()
            self.workspace.commit_if_due()
            for reference in finished:
                try:
                    results: list[dict[str, Any]] = self._ray.get(reference)
                except self._ray.exceptions.RayError as error:  # a node was lost, not the input's doing
                    unit = running[reference]
                    lost[unit.subject, unit.jobs[0].key] += 1
                    if lost[unit.subject, unit.jobs[0].key] < _TRIES:
                        waiting.put_last([running.pop(reference)])
                        continue
                    reason = f"Ray lost the task: {str(error).splitlines()[0]}"
                    results = [{"status": "failed", "failure": True, "reason": reason}]
                yield running.pop(reference), results


def _start(address: str, *, workers: int) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # leaves graphics cards visible, and says nothing of it
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("running on Ray", "ray") from error
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    try:
        if colon:  # Ray itself would go on asking for minutes
            socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()
    except (OSError, ValueError) as error:
        raise InputError(f"no Ray cluster answers at {address!r}: {error}") from error
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    try:
        if address == HERE:
            ray.init(num_cpus=workers, object_store_memory=_OBJECT_STORE_BYTES, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise InputError(f"no Ray cluster answers at {address!r}: {str(error).splitlines()[0]}") from error
    return ray


# Call and groups of the tasks that this process's child has done, where they are kept apart.
_DONE: dict[str, set[str]] = {}


def _in_child(
    jobs: Sequence[Job], workspace: str, limit: float, memory_bytes: int | None, apart: tuple[str, str] = ("", "")
) -> list[dict[str, Any]]:
    on_card, (call, group) = any(job.step.on_card for job in jobs), apart
    if call and (call not in _DONE or group in _DONE[call] - {""}):
        if _child.cache_info().currsize:
            _child(memory_bytes, on_card=on_card).close()
        _child.cache_clear()
        _DONE.clear()
    if call:
        _DONE.setdefault(call, set()).add(group)
    future = _child(memory_bytes, on_card=on_card).schedule(jobs, workspace=workspace, time_limit_seconds=limit)
    results = result(future, time_limit_seconds=limit)
    if results is None:
        _child.cache_clear()
        results = [{"status": "failed", "failure": True, "reason": "the worker process ended before it began"}]
    return results


@lru_cache(maxsize=1)
def _child(memory_bytes: int | None, *, on_card: bool) -> Children:
    # Ray keeps its processes, so the child and what it has imported live on from task to task.
    return Children(1, memory_bytes=None if on_card else memory_bytes or default_memory_bytes(default_workers()))
