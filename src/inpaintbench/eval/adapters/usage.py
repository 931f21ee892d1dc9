"""What a program takes while it runs: time, memory of its processes, memory of graphics cards."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CARDS = ["--query-gpu=index,memory.used", "--format=csv,noheader,nounits"]
# How often cards are asked, in milliseconds; one answer may take seconds on machines of many cards.
_CARD_PERIOD, _CARD_SECONDS = 500, 20


class Usage(NamedTuple):
    """What one item took."""

    seconds: float
    peak_mebibytes: int | None = None
    """Most memory of all processes of the program together; None where nobody can tell."""
    card_mebibytes: int | None = None
    """Most memory that was taken on graphics cards beside what was taken before; None where there is none."""


def both(one: Usage | None, other: Usage) -> Usage:
    """What two programs took that ran one after the other."""
    if one is None:
        return other
    peaks = (_most([getattr(one, name), getattr(other, name)]) for name in ("peak_mebibytes", "card_mebibytes"))
    return Usage(one.seconds + other.seconds, *peaks)


def forget_card_peak() -> None:
    """Let the memory that this process takes on its card count anew."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()


def card_peak_mebibytes() -> int | None:
    """Most memory that this process has taken on its card since ``forget_card_peak``; None where it uses none."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return int(torch.cuda.max_memory_reserved()) >> 20


@lru_cache(maxsize=1)
def machine() -> str:
    """Cores of this machine, and the names of its cards."""
    names = _ask_cards(["--query-gpu=name", "--format=csv,noheader"]) if has_card() else []
    return ", ".join([f"{os.cpu_count()} cores", *dict.fromkeys(names)])


def has_card() -> bool:
    """Return whether an NVIDIA card is there, without a library that would open it."""
    return any(Path("/dev").glob("nvidia[0-9]*"))


class Memory:
    """Most memory of the processes of a group, as often as it is looked at; ``besides`` are processes that do not count."""

    def __init__(self, group: int, *, besides: Collection[int] = ()) -> None:
        self._group, self._besides = group, besides
        self.peak_mebibytes: int | None = None

    def look(self) -> None:
        """Take what the processes hold now; pages that several share count once for each."""
        held = [pages for pages in map(self._pages, _PROC.glob("[0-9]*/stat")) if pages is not None]
        if held:
            self.peak_mebibytes = _most([self.peak_mebibytes, sum(held) * _PAGE_BYTES >> 20])

    def _pages(self, path: Path) -> int | None:
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            return None
        counts = int(fields[2]) == self._group and int(path.parent.name) not in self._besides
        return int(fields[21]) if counts else None


class Cards:
    """Most memory on the graphics cards while a block runs; others who use them meanwhile count too."""

    def __init__(self) -> None:
        self.peak_mebibytes: int | None = None
        self.watcher: int | None = None
        """Id of the process that watches."""

    @contextlib.contextmanager
    def watched(self, group: int) -> Iterator[None]:
        """Watch them by a process of this group, so that it never outlives the others."""
        before = _held(_ask_cards(_CARDS)) if has_card() else {}
        if not before:
            yield
            return
        words = ["nvidia-smi", *_CARDS, f"--loop-ms={_CARD_PERIOD}"]
        with tempfile.TemporaryFile("w+") as told:
            with subprocess.Popen(words, stdout=told, stderr=subprocess.DEVNULL, process_group=group) as process:
                self.watcher = process.pid
                try:
                    yield
                finally:
                    process.kill()
            told.seek(0)
            most = _held(told)
        self.peak_mebibytes = sum(max(most.get(card, 0) - held, 0) for card, held in before.items())


def _ask_cards(query: list[str]) -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        done = subprocess.run([program, *query], capture_output=True, text=True, timeout=_CARD_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


def _held(lines: Iterable[str]) -> dict[str, int]:
    """Card -> most mebibytes; lines of another form, such as a torn last one, do not count."""
    found: dict[str, int] = {}
    for line in lines:
        card, _, held = line.partition(",")
        if held.strip().isdigit():
            found[card] = max(found.get(card, 0), int(held))
    return found


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
