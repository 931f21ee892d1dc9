"""The tables of the page: times, slowest items, failures, licences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.curation.funnel.effort import SlowItem, StepEffort
from inpaintbench.curation.funnel.licences import LicenceCount
from inpaintbench.curation.funnel.stages import FailureGroup
from inpaintbench.pages import Cell, Table
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import DASH, breakable, duration, number, percent, share

# Rows of the table; `curation rejected` lists all.
FAILURES = 40


def effort_table(steps: Sequence[StepEffort]) -> Table | None:
    """Where the time went; None before any step."""
    most = max((step.total_seconds for step in steps), default=0.0) or 1.0
    rows: list[list[object]] = [
        [
            breakable(step.step),
            number(step.tasks),
            Cell(duration(step.total_seconds), title=f"{number(step.total_seconds)} s", bar=step.total_seconds / most)
            if step.timed
            else DASH,
            *(number(value) if step.timed else DASH for value in (step.median_seconds, step.largest_seconds)),
            number(step.peak_mebibytes),
        ]
        for step in steps
    ]
    heads = ("Step", "tasks", "compute time", "median s", "slowest s", "peak MiB")
    return simple(heads, rows, label="Time by step", numeric=(1, 2, 3, 4, 5)) if rows else None


def slowest_table(slowest: Sequence[SlowItem], names: Mapping[str, str]) -> Table:
    """The tasks that took longest."""
    rows: list[list[object]] = [
        [breakable(item.name or names.get(item.subject_id, item.subject_id) or "not told"), breakable(item.step),
         number(item.seconds), number(item.peak_mebibytes)]
        for item in slowest
    ]  # fmt: skip
    return simple(("Item", "Step", "seconds", "peak MiB"), rows, label="Slowest items", numeric=(2, 3))


def failure_table(groups: Sequence[FailureGroup]) -> Table | None:
    """Refusals by step and reason; None where there are none."""
    rows: list[list[object]] = [
        [breakable(group.step), group.reason, number(group.count),
         breakable(", ".join(group.examples) + (" …" if group.count > len(group.examples) else ""))]
        for group in groups[:FAILURES]
    ]  # fmt: skip
    return simple(("Step", "Reason", "n", "Such as"), rows, label="Failures", numeric=(2,)) if rows else None


def licence_table(counts: Sequence[LicenceCount]) -> Table | None:
    """Licences of the sources; None without sources."""
    sources = sum(one.sources for one in counts)
    rows: list[list[object]] = [
        [
            Cell(one.licence) if one.licence else Cell(note="none stated"),
            number(one.sources),
            percent(share(one.sources, sources)),
            *map(number, (one.authors, one.clips, one.kept)),
            ", ".join(f"{n:,} {words}" for words, n in one.since),
        ]
        for one in counts
    ]
    heads = ("Licence", "sources", "share", "authors", "clips", "kept", "since then")
    return simple(heads, rows, label="Licences", numeric=(1, 2, 3, 4, 5)) if rows else None
