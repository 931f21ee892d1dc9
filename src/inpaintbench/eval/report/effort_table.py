"""What methods took, and in what their runs differ from each other: time, memory, lossy results, other tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from inpaintbench.eval.scoring.effort import Effort
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


def ceiling_tag(effort: Effort | None) -> tuple[Tag, ...]:
    """A tag with the dB that a method's file form keeps; none where it loses nothing."""
    if effort is None or effort.ceiling_low is None or effort.ceiling_high is None:
        return ()
    return (Tag(f"lossy, at most {effort.ceiling_high:.1f} dB", "warn", f"{ceiling_words(effort)} on its scores"),)


def ceiling_words(effort: Effort) -> str:
    """What a lossy form keeps, half a sentence."""
    kept = span(f"{effort.ceiling_low:.1f}", f"{effort.ceiling_high:.1f}")
    return f"read from lossy files: inputs written alike keep {kept} dB, a ceiling"


def task_notes(efforts: Mapping[str, Effort], methods: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Method and sentences, for each whose task differs from the published one or whose results lose something."""
    told = []
    for method in methods:
        effort = efforts.get(method)
        if effort is not None:
            lossy = () if effort.ceiling_low is None else (f"Its results are {ceiling_words(effort)} on its scores.",)
            if sentences := (*lossy, *effort.task):
                told.append((method, sentences))
    return told
