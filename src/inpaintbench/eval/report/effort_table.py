"""What methods took, and in what their runs differ from each other: time, memory, lossy results, other tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from inpaintbench.eval.scoring.effort import REPAINTED_DB, Effort
from inpaintbench.pages import Cell, Column, Row, Table
from inpaintbench.pages.tables import Tag
from inpaintbench.pages.words import DASH, number, span

EFFORT_LEAD = (
    "Time of an item with the start of its program, over its frames; compare it on one machine alone, and where as many workers "
    "ran. Memory is the most that the processes of an item held; on cards, what was taken beside what was taken before."
)


def effort_table(efforts: Mapping[str, Effort], methods: Iterable[str], *, references: Iterable[str] = ()) -> Table:
    """A row for each method whose time is known."""
    floors = set(references)
    rows = [
        Row(
            (
                Cell(method, method, method=method, reference=method in floors),
                Cell(time_words(effort), effort.seconds_a_frame),
                Cell(memory_words(effort.peak_mebibytes), effort.peak_mebibytes),
                Cell(memory_words(effort.card_mebibytes), effort.card_mebibytes),
                Cell(effort.items, effort.items),
                Cell(effort.machine),
            ),
            kind="floor" if method in floors else "",
            key=method,
        )
        for method in methods
        if (effort := efforts.get(method)) and effort.seconds_a_frame is not None
    ]
    heads = ("Seconds a frame", "Peak memory", "On cards", "Items")
    columns = [Column(head, numeric=True, sorts=True, falling=False) for head in heads]
    whole = (Column("Method", sorts=True, falling=False), *columns, Column("Machine"))
    return Table(whole, tuple(rows), label="Time and memory", kind="list")


def time_words(effort: Effort) -> str:
    """Seconds a frame with three digits that count; a dash where nobody knows."""
    seconds = effort.seconds_a_frame
    return DASH if seconds is None else number(seconds, 4 if seconds < 0.1 else 3 if seconds < 1 else 2 if seconds < 10 else 1)


def memory_words(mebibytes: int | None) -> str:
    """Memory in MiB, from 1 GiB on in GiB."""
    if mebibytes is None:
        return DASH
    return f"{mebibytes} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:.1f} GiB"


def form_tags(effort: Effort | None) -> tuple[Tag, ...]:
    """Tags with the dB that a method's file form keeps, and with those of known pixels that it changed beyond that; none where it
    loses and changes nothing."""
    if effort is None:
        return ()
    found = []
    if effort.ceiling_low is not None and effort.ceiling_high is not None:
        found.append(Tag(f"lossy, at most {effort.ceiling_high:.1f} dB", "warn", f"{ceiling_words(effort)} on its scores"))
    if effort.known_low is not None and effort.known_low < (effort.ceiling_low or math.inf) - REPAINTED_DB:
        found.append(Tag(f"known pixels {effort.known_low:.1f} dB", "warn", f"it {known_words(effort)}"))
    return tuple(found)


def ceiling_words(effort: Effort) -> str:
    """What a lossy form keeps, half a sentence."""
    kept = span(f"{effort.ceiling_low:.1f}", f"{effort.ceiling_high:.1f}")
    return f"read from lossy files: inputs written alike keep {kept} dB, a ceiling"


def known_words(effort: Effort) -> str:
    """How far known pixels came back from the input, a sentence without its subject."""
    away = span(f"{effort.known_low:.1f}", f"{effort.known_high:.1f}")
    return f"gives known pixels {away} dB from the input; they are put back before anything but whole frames is scored"


def task_notes(efforts: Mapping[str, Effort], methods: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Method and sentences, for each whose task differs from the published one or whose results lose something."""
    told = []
    for method in methods:
        effort = efforts.get(method)
        if effort is not None:
            lossy = () if effort.ceiling_low is None else (f"Its results are {ceiling_words(effort)} on its scores.",)
            known = () if effort.known_low is None else (f"It {known_words(effort)}.",)
            if sentences := (*lossy, *known, *effort.task):
                told.append((method, sentences))
    return told
