"""Run steps on this machine, in spawned worker processes that may hang or crash without harm to the run: who is given what."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from inpaintbench.errors import RunError
from inpaintbench.executors.base import Progress
from inpaintbench.executors.children import AHEAD, Children, default_memory_bytes, perform_all, result
from inpaintbench.executors.ledgered import LedgeredExecutor, Results, Unit, Waiting, check_for_stop, check_shared
from inpaintbench.workspace import Workspace

_LOOK_SECONDS = 0.5
# Where Linux shows the cards of NVIDIA.
_DEVICES = Path("/dev")
_MOST_BREAKS = 5  # of a pool, with no result between them
# Processes that share a graphics card where no other does a part of the work: each has a context of its own there, of half a GiB,
# and loads every network. One computes while others decode, composite and measure on the processor.
_MOST_ON_CARD = 4
_QUEUED = 2  # units for each worker: keeps them busy without holding the whole run in memory
# Units for each card whose first part is done and which none has begun: one is read ahead, the others come at once. They are
# lost where the run is killed.
_HANDED_ON = 4


class _Kind(NamedTuple):
    """What processes a lane has, and what they do."""

    processes: int
    room: int
    """Units at once."""
    part: int = 0
    """Of units: 1 = the part before the card, 2 = what is left after it, 0 = all."""
    on_card: bool = False
    card: str | None = None
    """The only card that they see; None = all that this process sees."""


@dataclass
class _Lane:
    """Processes that units are given to, whichever of them is free.

    Where steps read ahead every process has a lane of its own, so that it can be told what comes next. That binds nobody: once
    nothing else waits, another lane takes the unit.
    """

    kind: _Kind
    children: Children
    running: dict[Future[Any], tuple[Unit, Unit | None]] = field(default_factory=dict)
    """Each with what is read ahead beside it."""
    following: Unit | None = None
    """Unit that its process was told of, and nobody has begun."""
    done: set[str] = field(default_factory=set)
    """Groups of the units that its process was given, where a step keeps them apart."""


class LocalExecutor(LedgeredExecutor):
    """Worker processes on this machine; use it as a context manager.

    Args:
        workspace: where results go.
        workers: processes. Where a step uses a graphics card they do what needs none, beside one more for each card, or at most
            four do all of it. 0 runs everything in this process, for debugging (a hanging input then hangs the run), but what has
            to be kept apart.
        memory_bytes: that each worker may have (Linux only); by default an equal share of the machine's, at least 2 GiB. Workers
            that open a graphics card have no such limit: its driver maps more of their address space than the machine has memory.
        ahead: let steps that can do so read their next item while they work on one; the results are the same without.
        max_failures: end the run after this many crashes, time-outs and unexpected errors; None = never.
        retry_rejected: do again what an earlier run refused.
        progress: told after every task.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        workers: int = 1,
        memory_bytes: int | None = None,
        ahead: bool = True,
        max_failures: int | None = None,
        retry_rejected: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(workspace, max_failures=max_failures, retry_rejected=retry_rejected, progress=progress)
        self.workers, self.ahead = workers, ahead
        self._memory_bytes = memory_bytes or default_memory_bytes(workers)
        self._lanes: list[_Lane] = []
        self._suspects: set[tuple[str, int]] = set()

    def _close(self, *, kill: bool) -> None:
        AHEAD.drop()
        for lane in self._lanes:
            lane.children.close(kill=kill)
        self._lanes = []

    def _results(self, waiting: Waiting) -> Results:
        folder, ahead = str(self.workspace.path.resolve()), self.ahead and waiting.reads_ahead and not waiting.apart
        self._suspects = set()
        if self.workers or waiting.apart:
            yield from self._outside(waiting, folder, ahead=ahead)
            return
        while waiting:
            unit = waiting.popleft()
            yield unit, perform_all(unit.jobs, folder, waiting.peek().jobs if ahead and waiting else ())
        AHEAD.drop()

    def _outside(self, waiting: Waiting, folder: str, *, ahead: bool) -> Results:
        breaks = 0
        if not waiting:
            return
        check_shared(self.workspace)
        # Nothing tells what groups processes from before have done.
        self._open(
            apart=ahead or waiting.apart,
            on_card=waiting.on_card,
            anew=waiting.apart,
            in_parts=waiting.in_parts and self.workers > 1,
        )
        # Of units that are done in two parts those whose first part is done, or needs no process of its own.
        handed_on = Waiting(reads_ahead=waiting.reads_ahead, on_card=True)

        def source(lane: _Lane) -> Waiting:
            return handed_on if lane.kind.part == 2 else waiting

        while waiting or handed_on or any(lane.running or lane.following for lane in self._lanes):
            for lane in self._lanes:
                self._fill(lane, source(lane), handed_on, folder, ahead=ahead)
            running = {future: lane for lane in self._lanes for future in lane.running}
            finished, _ = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            check_for_stop()
            self.workspace.commit_if_due()
            for future in finished:
                lane = running[future]
                unit, later = lane.running.pop(future)
                results = result(future, time_limit_seconds=unit.time_limit_seconds)
                if results is None or (future.exception() and self._suspicious(lane, unit, later)):
                    source(lane).put_first([unit])
                elif lane.kind.part == 1 and not future.exception():
                    for one in results:
                        self._heed(one)
                    handed_on.put_last([replace(unit, before=tuple(results))])
                else:
                    yield unit, results
                breaks = breaks if results is None else 0
            for broken in [lane for lane in self._lanes if lane.children.broken]:
                breaks += 1
                if breaks > _MOST_BREAKS * len(self._lanes):
                    raise RunError("the worker processes end before they begin any task; is there memory for them?")
                self._mend(broken, source(broken))

    def _fill(self, lane: _Lane, waiting: Waiting, handed_on: Waiting, folder: str, *, ahead: bool) -> None:
        """Give the lane what it has room for, and tell it what comes next."""
        alike = [other for other in self._lanes if other.kind.part == lane.kind.part]
        idle = sum(not other.running for other in alike if other is not lane)
        most = _HANDED_ON * (len(self._lanes) - len(alike)) if lane.kind.part == 1 else math.inf
        while len(lane.running) < lane.kind.room and len(handed_on) < most:
            unit = self._apart(lane, waiting) if waiting.apart else self._next(lane, waiting, alike)
            if unit is None:
                return
            if lane.kind.part == 1 and not unit.first_part:
                handed_on.put_last([unit])
                continue
            later = None
            if ahead and len(waiting) > idle and self._suspects.isdisjoint({unit.subject, waiting.peek().subject}):
                later = lane.following = waiting.popleft()
            jobs, following = ((one.first_part if lane.kind.part == 1 else one.told) if one else () for one in (unit, later))
            future = lane.children.schedule(
                jobs, workspace=folder, time_limit_seconds=unit.time_limit_seconds, following=following
            )
            lane.running[future] = unit, later

    def _next(self, lane: _Lane, waiting: Waiting, alike: Sequence[_Lane]) -> Unit | None:
        source = next((candidate for candidate in (lane, *alike) if candidate.following), None)
        if source is None or (waiting and source is not lane):
            return waiting.popleft() if waiting else None
        unit, source.following = source.following, None
        return unit

    def _apart(self, lane: _Lane, waiting: Waiting) -> Unit | None:
        """The next unit of a group that the lane's process has not done; that process ends where there is none."""
        unit = waiting.pop_unlike(lane.done)
        if unit is None and waiting:
            lane.children.close()
            lane.children, lane.done = self._children(lane.kind), set()
            unit = waiting.popleft()
        if unit is not None:
            lane.done.add(unit.group)
        return unit

    def _suspicious(self, lane: _Lane, unit: Unit, later: Unit | None) -> bool:
        """Return whether a worker died while it read ahead.

        Either may be guilty, and each is then done with nothing beside it.
        """
        if not lane.children.died_reading():
            return False
        self._suspects |= {piece.subject for piece in (unit, later) if piece}
        return True

    def _open(self, *, apart: bool, on_card: bool, anew: bool = False, in_parts: bool = False) -> None:
        """Open the processes of a run, unless they are open; ``apart`` = each has a lane of its own."""
        workers = max(min(self.workers, _MOST_ON_CARD) if on_card and not in_parts else self.workers, 1)
        one = _Kind(1, 1) if apart else _Kind(workers, workers * _QUEUED)
        kinds = [one._replace(part=int(in_parts), on_card=on_card and not in_parts)] * (workers if apart else 1)
        if in_parts:
            kinds += [_Kind(1, 1, part=2, on_card=True, card=card) for card in cards()]
        given_up = any(lane.running or lane.following for lane in self._lanes)  # by a run that ended with an error
        if anew or given_up or [lane.kind for lane in self._lanes] != kinds:
            self._close(kill=given_up)
            self._lanes = [_Lane(kind, self._children(kind)) for kind in kinds]

    def _children(self, kind: _Kind) -> Children:
        return Children(kind.processes, memory_bytes=None if kind.on_card else self._memory_bytes, card=kind.card)

    def _mend(self, lane: _Lane, waiting: Waiting) -> None:
        """New processes for a lane whose pool has ended; nothing that it was given is lost."""
        waiting.put_first(unit for unit, _ in lane.running.values())
        lane.running.clear()
        lane.children.close(kill=True)
        lane.children, lane.done = self._children(lane.kind), set()


def cards() -> list[str | None]:
    """Return the graphics cards as ``CUDA_VISIBLE_DEVICES`` names them, as far as can be told without opening any; None alone
    where there is no choice."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    found = named.split(",") if named else [str(place) for place in range(len(list(_DEVICES.glob("nvidia[0-9]*"))))]
    return [*found] if len(found) > 1 else [None]
