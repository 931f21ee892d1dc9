"""How far programs are: what one says while it runs, the frames that it has written, and what other clips took before.

While a program works on an item a file beside its log says so (``ITEM.running``), and the process that started it holds a lock on
that file: whoever dies leaves none. What it took is then written down for the next items of any run on this machine
(``times.jsonl`` of the user's cache); the made clip that the check before a run begins with is the first of them.
"""

from __future__ import annotations

import fcntl
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from inpaintbench.files import write_atomically
from inpaintbench.models.weights import cache_folder

_BAR = re.compile(
    r"\d+%\|[^|\r\n]*\| *(?P<done>[\d.]+)(?P<done_unit>[kMGT]?)/(?P<total>[\d.]+)(?P<total_unit>[kMGT]?)"
    r" \[(?P<spent>[\d:]+)<(?P<left>[\d:]+|\?)"
)
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
# How programs count that draw no bar: 12/80, 12 of 80, 15%, frame 12, 12th frame, 0012.png. What has no total is of the frames.
_COUNTS = (
    r"(?<![\d./])(?P<done>\d+) ?(?:/|(?:out )?of) ?(?P<total>\d+)(?![\d/]|\.\d)",
    r"(?<![\d.])(?P<done>\d{1,3}(?:\.\d+)?) ?(?P<percent>%)(?!\|)",
    r"(?i:\bframes?[ _:#=]{0,3})(?P<done>\d+)\b",
    r"\b(?P<done>\d+)(?:st|nd|rd|th) frame\b",
    r"(?P<done>\d+)\.(?:png|jpe?g)\b",
)
# What is read of a log: a bar is drawn anew many times a second.
_TAIL_BYTES = 1 << 14
# How the log of a program goes on when the next begins, and how its last line begins when it has ended (see ``starting.start``).
_STARTED, _ENDED = "$ cd ", ("ended with exit status ", "took longer than ", "was killed by signal ")
RUNNING, _TIMES = ".running", "times.jsonl"
# How much larger or smaller an item of like size may be; bytes of the last ones that are looked at, and of those that are kept.
_LIKE, _LAST_BYTES, _KEPT_BYTES = 2.0, 1 << 16, 1 << 18


class Progress(NamedTuple):
    """How far a program is; it may take one step after the other, so what is left is that of its present step."""

    done: float
    total: float
    left_seconds: float | None = None
    """As the program says; None where it does not."""


class Call(NamedTuple):
    """What a program works on: all frames of an item, or one window of them."""

    begun: float
    """When the item was begun, in seconds as ``time.time`` counts; ``since`` is the same of the window."""
    since: float
    limit_seconds: float
    """For the item."""
    frames: int
    """That the program is given."""
    pixels: int
    """Of all of them."""
    window: int = 1
    windows: int = 1
    to_come: int = 0
    """Windows after this one."""
    folder: str = ""
    written: str = ""
    """File of a frame that it writes, below ``folder``, with a place for the number; empty where it writes a video."""
    says: Sequence[str] = ()
    """Patterns of what it prints, as the field ``progress`` of its layout has them."""
    program: str = ""
    """Which one it is, with its weights and this machine: what it took is told of no other."""


class Usual(NamedTuple):
    """What a program took before, carried over to a clip of another size."""

    seconds: float
    share: float | None = None
    """Size of the nearest clip that was timed, as a share of this one's, where none is of like size: a rough estimate then."""


@contextmanager
def told(log: Path | None, call: Call) -> Iterator[None]:
    """Let others see, beside ``log``, what is worked on while the block runs, and what it took where it ends well."""
    if log is None:
        yield
        return
    log.parent.mkdir(parents=True, exist_ok=True)
    beside = log.with_name(f"{log.stem}{RUNNING}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(call))
            file.flush()
            yield
    finally:
        beside.unlink(missing_ok=True)
    times = cache_folder(_TIMES)
    with suppress(OSError):  # nowhere to keep it, or no room
        times.parent.mkdir(parents=True, exist_ok=True)
        with times.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([call.program, call.pixels, round(time.time() - call.since, 1)])}\n")
        if times.stat().st_size > _KEPT_BYTES:
            write_atomically(times, times.read_bytes()[-_LAST_BYTES:].partition(b"\n")[2])


def running(beside: Path) -> Call | None:
    """What is worked on as the file says; None where nobody does any more.

    Raises:
        OSError: it is gone. ValueError: it is not written yet.
    """
    with beside.open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Call(*json.loads(file.read()))
    return None


def usual(program: str, pixels: int) -> Usual | None:
    """What so many pixels take a program: as the last clip of like size by its size, else by a line through clips of other sizes,
    or in proportion to the one that there is; None where there is none."""
    path, known = cache_folder(_TIMES), []
    with suppress(OSError), path.open("rb") as file:
        file.seek(max(path.stat().st_size - _LAST_BYTES, 0))
        for line in file.read().splitlines():
            with suppress(ValueError, TypeError):  # a torn one
                name, before, seconds = json.loads(line)
                known += [(int(before), float(seconds))] if name == program and before else []
    for before, seconds in reversed(known):
        if 1 / _LIKE <= pixels / before <= _LIKE:
            return Usual(seconds * pixels / before)
    if not known:
        return None
    sizes, took = np.array(known, float).T
    nearest = sizes[np.abs(np.log(sizes / pixels)).argmin()]
    rate, start = np.polyfit(sizes, took, 1) if np.ptp(sizes) else (took.mean() / sizes[0], 0.0)
    if rate <= 0 or start < 0:  # times that say nothing of a start, or of growth
        rate, start = (took.sum() / sizes.sum(), 0.0) if start < 0 else (0.0, took.mean())
    return Usual(float(start + rate * pixels), float(nearest / pixels))


def ended_well(log: Path) -> bool:
    """Return whether the program of a log came to its end."""
    return log.exists() and log.read_bytes()[-_TAIL_BYTES:].rstrip().rpartition(b"\n")[2].startswith(_ENDED[0].encode() + b"0,")


def progress_of(log: Path, call: Call) -> Progress | None:
    """How far the program of a log is; None where it says nothing, or has ended, and has written none of several frames."""
    said = ""
    if log.exists():
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
            said = file.read().decode(errors="replace")
    if said.rstrip().rpartition("\n")[2].startswith(_ENDED):
        said = ""
    if (found := progress_in(said.rpartition(f"\n{_STARTED}")[2], frames=call.frames, says=call.says)) is not None:
        return found
    written = sum(1 for _ in Path(call.folder).glob(re.sub(r"\{.*?\}", "*", call.written))) if call.written else 0
    return Progress(written, call.frames) if 0 < written < call.frames else None


def progress_in(said: str, *, frames: int, says: Sequence[str] = ()) -> Progress | None:
    """How far a program is by what it said; None where it counts nothing, or has counted to the end.

    A bar that tqdm draws (``37%|###   | 37/100 [00:12<00:20, 3.00it/s]``) goes before what else counts after it. Numbers count
    where they rose, or are of as many as there are frames.

    Args:
        said: by its present step.
        frames: that it was given.
        says: patterns of its own, with groups ``done`` and, where it is not the frames, ``total``.
    """
    bar = None
    for bar in _BAR.finditer(said):  # noqa: B007 - the last one counts
        pass
    if bar is not None:
        done, total = (float(bar[name]) * _UNITS[bar[f"{name}_unit"]] for name in ("done", "total"))
        if done < total:
            return Progress(done, total, None if bar["left"] == "?" else _seconds(bar["left"]))
        said = said[bar.end() :]
    last: tuple[int, Progress | None] = (-1, None)
    for pattern in says or _COUNTS:
        counts = []
        for found in re.finditer(pattern, said):
            named = found.groupdict()
            total = 100 if named.get("percent") else float(named.get("total") or frames)
            if float(found["done"]) <= total > 1:
                counts.append((found.end(), float(found["done"]), total))
        if not counts:
            continue
        end, done, total = counts[-1]
        rose = any(before < done for _, before, of in counts[:-1] if of == total)
        if says or rose or ("total" in pattern and total == frames):
            last = max(last, (end, Progress(done, total) if done < total else None), key=lambda one: one[0])
    return last[1]


def _seconds(clock: str) -> float:
    """``00:12`` or ``1:02:03`` -> seconds."""
    seconds = 0
    for part in clock.split(":"):
        seconds = 60 * seconds + int(part)
    return float(seconds)
