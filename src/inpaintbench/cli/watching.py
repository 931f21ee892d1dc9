"""What a run tells of released programs while they work on one item: how far they are, and that one will outlast its limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.eval.adapters.progress import RUNNING, Call, Progress, ended_well, progress_of, running, usual
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
    begun: float = 0.0
    warned: bool = False
    estimated: bool = False
    """An estimate was told."""
    rough_seconds: float | None = None
    """What it would take altogether, by a rough estimate that was told."""
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
    over = False
    while not over:
        over, at_work = ended.wait(_LOOK_SECONDS), set()
        for beside in logs.glob(f"*/*{RUNNING}"):
            with suppress(OSError, ValueError):  # it ends, or has just begun
                if (call := running(beside)) is not None:
                    item = items.setdefault((beside, round(call.begun)), _Item(call.begun + _FIRST_SECONDS, call.begun))
                    at_work.add(beside)
                    _tell(beside, call, item)
        for (beside, _), item in items.items():
            if item.rough_seconds is not None and beside not in at_work and ended_well(beside.with_suffix(".txt")):
                took, rough = time.time() - item.begun, item.rough_seconds
                console.note(f"{_called(beside)}: took {duration(took)}, where roughly {duration(rough)} were estimated")
                item.rough_seconds = None


def _called(beside: Path) -> str:
    return f"{beside.parent.name}, item {beside.stem}"


def _tell(beside: Path, call: Call, item: _Item) -> None:
    now, label, name = time.time(), beside.parent.name, beside.stem
    progress = progress_of(beside.with_suffix(".txt"), call)
    spent, here = now - call.begun, now - call.since
    left, of = None if progress is None else item.left_seconds(call, progress, now), " of this step" * (call.windows == 1)
    share = None
    if left is None and (before := usual(call.program, call.pixels)) is not None and before.seconds > here:
        left, share, of = before.seconds - here, before.share, ", as clips of its size took"
    first = left is not None and not item.estimated and spent >= _FIRST_SECONDS
    if not first and now < item.next_told + (_PATIENCE_SECONDS if left is None else 0):
        return
    item.estimated |= left is not None
    item.next_told = now + min(max(spent, _FIRST_SECONDS), _RAREST_SECONDS)
    if left is not None:
        left += call.to_come * (here + left)
    places = [f"window {call.window} of {call.windows}"] * (call.windows > 1)
    places += [] if progress is None else [f"{progress.done:g} of {progress.total:g}"]
    if left is None:
        known = f"of at most {duration(call.limit_seconds)}"
    elif share is None:
        known = f"about {duration(left)} left{of}"
    else:
        item.rough_seconds = item.rough_seconds or spent + left
        size = f"{1 / share:.2g} times smaller" if share < 1 else f"{share:.2g} times larger"
        known = f"roughly {duration(left)} left, by a clip that was {size}"
    console.note(f"{_called(beside)}: {' and '.join(places)}{' ' if places else ''}after {duration(spent)}, {known}")
    if not item.warned and left is not None and spent + left > call.limit_seconds:
        item.warned = True
        will, limit = "will" if share is None else "may", duration(call.limit_seconds)
        console.warn(f"{label} {will} outlast its limit of {limit} on item {name}; --time-limit SECONDS gives it more")
