"""How far a program is, by the bar that tqdm draws into its log: ``37%|###   | 37/100 [00:12<00:20, 3.00it/s]``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_BAR = re.compile(
    r"\d+%\|[^|\r\n]*\| *(?P<done>[\d.]+)(?P<done_unit>[kMGT]?)/(?P<total>[\d.]+)(?P<total_unit>[kMGT]?)"
    r" \[(?P<spent>[\d:]+)<(?P<left>[\d:]+|\?)"
)
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
# What is read of a log: a bar is drawn anew many times a second.
_TAIL_BYTES = 1 << 14
# How the log of a program goes on when the next begins, and how its last line begins when it has ended (see ``starting.start``).
_STARTED, _ENDED = "$ cd ", ("ended with exit status ", "took longer than ", "was killed by signal ")


class Bar(NamedTuple):
    """A bar as it was drawn last; a program may draw one after the other, so what is left is that of its present step."""

    done: float
    total: float
    seconds: float
    """Since its first step."""
    left_seconds: float | None
    """None before the first step is done, and after the last: nobody knows then."""


def last_bar(text: str) -> Bar | None:
    """The last bar in what a program said; None where it drew none."""
    found = None
    for found in _BAR.finditer(text):  # noqa: B007 - the last one counts
        pass
    if found is None:
        return None
    done, total = (float(found[name]) * _UNITS[found[f"{name}_unit"]] for name in ("done", "total"))
    left = None if found["left"] == "?" or done >= total else _seconds(found["left"])
    return Bar(done, total, _seconds(found["spent"]), left)


def bar_in(log: Path) -> Bar | None:
    """The last bar in a log; None where the program that runs has drawn none yet, or has ended."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
        said = file.read().decode(errors="replace")
    if said.rstrip().rpartition("\n")[2].startswith(_ENDED):
        return None
    return last_bar(said.rpartition(f"\n{_STARTED}")[2])


def _seconds(clock: str) -> float:
    """``00:12`` or ``1:02:03`` -> seconds."""
    seconds = 0
    for part in clock.split(":"):
        seconds = 60 * seconds + int(part)
    return float(seconds)
