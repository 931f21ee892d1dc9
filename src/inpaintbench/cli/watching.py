"""What a run tells of released programs while they work on one item: how far they are, and that one will outlast its limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.eval.adapters.progress import RUNNING, Call, Progress, progress_of, running, usual_seconds
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.pages.words import duration

# How often programs are looked at, when an item is told of first, and how rarely at last: twice as late each time.
_LOOK_SECONDS, _FIRST_SECONDS, _RAREST_SECONDS = 5.0, 30.0, 600.0
# How long one waits for an estimate.
_PATIENCE_SECONDS = 20.0


@dataclass
class _Item:
    """What is known of one that is worked on."""

    next_told: float
    warned: bool = False
    step: tuple[float, float] = (0.0, 0.0)
    """Its present step: since when its window is worked on, and how much there is to do."""
    seen: tuple[float, float] = (0.0, 0.0)
    """When that step was seen first, and how far it was then."""

    def left_seconds(self, call: Call, progress: Progress, now: float) -> float | None:
        """About what is left of the present step, by the program's own word or its pace since the step was seen first."""
        if self.step != (call.since, progress.total) or progress.done < self.seen[1]:
            self.step, self.seen = (call.since, progress.total), (now, progress.done)
        if progress.left_seconds is not None or progress.done == self.seen[1]:
            return progress.left_seconds
        return (progress.total - progress.done) * (now - self.seen[0]) / (progress.done - self.seen[1])


@contextmanager
def programs_watched(logs: Path, methods: Sequence[MethodSpec]) -> Iterator[None]:
    """Tell on standard error, while the block runs, how far programs are: within a minute of an item's start, then ever rarer.

    Args:
        logs: folder of the run with a folder of logs a method.
        methods: those of the run; where none is a program nothing is looked at.
    """
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(logs, ended), daemon=True)
    programs = any(method.leaf == "command" for method in methods)
    if programs:
        watcher.start()
    try:
        yield
    finally:
        ended.set()
        if programs:
            watcher.join()


def _watch(logs: Path, ended: threading.Event) -> None:
    items: dict[tuple[Path, float], _Item] = {}
    while not ended.wait(_LOOK_SECONDS):
        for beside in logs.glob(f"*/*{RUNNING}"):
            with suppress(OSError, ValueError):  # it ends, or has just begun
                if (call := running(beside)) is not None:
                    item = items.setdefault((beside, round(call.begun)), _Item(call.begun + _FIRST_SECONDS))
                    _tell(beside, call, item)


def _tell(beside: Path, call: Call, item: _Item) -> None:
    now, label, name = time.time(), beside.parent.name, beside.name.removesuffix(RUNNING)
    progress = progress_of(beside.with_name(f"{name}.txt"), call)
    spent, here = now - call.begun, now - call.since
    left, of = None if progress is None else item.left_seconds(call, progress, now), " of this step" * (call.windows == 1)
    if left is None and (usual := usual_seconds(beside.parent, call.pixels) or 0) > here:
        left, of = usual - here, ", as clips of its size took"
    if now < item.next_told + (_PATIENCE_SECONDS if left is None else 0):
        return
    item.next_told = now + min(max(spent, _FIRST_SECONDS), _RAREST_SECONDS)
    if left is not None:
        left += call.to_come * (here + left)
    places = [f"window {call.window} of {call.windows}"] * (call.windows > 1)
    places += [] if progress is None else [f"{progress.done:g} of {progress.total:g}"]
    known = f"about {duration(left)} left{of}" if left is not None else f"of at most {duration(call.limit_seconds)}"
    console.note(f"{label}, item {name}: {' and '.join(places)}{' ' if places else ''}after {duration(spent)}, {known}")
    if not item.warned and left is not None and spent + left > call.limit_seconds:
        item.warned = True
        console.warn(
            f"{label} will outlast its limit of {duration(call.limit_seconds)} on item {name}; --time-limit SECONDS gives it more"
        )
