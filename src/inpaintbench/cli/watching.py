"""What a run tells of released programs while they work on one item: how far they are, and that one will outlast its limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.cli import console
from inpaintbench.eval.adapters.progress import bar_in
from inpaintbench.pages.words import duration

# How often logs are looked at, when an item is told of first, and how rarely at last: twice as late each time.
_LOOK_SECONDS, _FIRST_SECONDS, _RAREST_SECONDS = 5.0, 30.0, 600.0


@dataclass
class _Item:
    """What is known of one that is worked on."""

    begun: float
    next_told: float
    warned: bool = False


@contextmanager
def programs_watched(logs: Path, limits: Mapping[str, float]) -> Iterator[None]:
    """Tell on standard error, while the block runs, how far programs are: within a minute of an item's start, then ever rarer.

    Args:
        logs: folder with ``LABEL/ITEM.txt``, which is written while a program runs.
        limits: label -> seconds that an item may take; of other labels nothing is told.
    """
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(logs, limits, ended), daemon=True)
    if limits:
        watcher.start()
    try:
        yield
    finally:
        ended.set()
        if limits:
            watcher.join()


def _watch(logs: Path, limits: Mapping[str, float], ended: threading.Event) -> None:
    since = time.time()
    items: dict[tuple[Path, int], _Item] = {}
    while not ended.wait(_LOOK_SECONDS):
        for label, limit in limits.items():
            for log in logs.joinpath(label).glob("*.txt"):
                with suppress(OSError):  # a log of an earlier try goes
                    status = log.stat()
                    if status.st_mtime >= since:  # else it is of an earlier run
                        now = time.monotonic()
                        item = items.setdefault((log, status.st_ino), _Item(now, now + _FIRST_SECONDS))
                        _tell(label, log, item, limit)


def _tell(label: str, log: Path, item: _Item, limit: float) -> None:
    now = time.monotonic()
    if now < item.next_told or (bar := bar_in(log)) is None:
        return
    spent = now - item.begun
    item.next_told = now + min(max(spent, _FIRST_SECONDS), _RAREST_SECONDS)
    left = "" if bar.left_seconds is None else f", about {duration(bar.left_seconds)} left of this step"
    console.note(f"{label}, item {log.stem}: {bar.done:g} of {bar.total:g} after {duration(spent)}{left}")
    if not item.warned and spent + (bar.left_seconds or 0) > limit:
        item.warned = True
        console.warn(
            f"{label} will outlast its limit of {duration(limit)} on item {log.stem}; --time-limit SECONDS gives it more"
        )
