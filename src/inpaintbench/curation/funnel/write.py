"""Pages of a workspace, as HTML without network: the funnel, what other thresholds would change, and clips to be answered for."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from inpaintbench.curation.calibration import LIMITATION, Calibration, calibrate_judged
from inpaintbench.curation.facts import Facts, Flags, last_places
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import legend
from inpaintbench.curation.funnel.rule_cards import (
    Side,
    calibration_table,
    calibration_words,
    distributions,
    drawable,
    of_attribute,
    rule_cards,
)
from inpaintbench.curation.funnel.stages import (
    FAILURES,
    FailureGroup,
    LicenceCount,
    SlowItem,
    Stage,
    StepEffort,
    effort_table,
    efforts,
    failure_table,
    failures,
    licence_counts,
    licence_table,
    slowest_table,
    stages,
)
from inpaintbench.curation.judging import Judged, stored_selection
from inpaintbench.curation.sheets import COLUMNS, KEEP_REJECT
from inpaintbench.curation.what_if import WhatIf
from inpaintbench.errors import InputError
from inpaintbench.pages import Link, Tile, page
from inpaintbench.pages.words import count, percent, share
from inpaintbench.types import Source, item_rng
from inpaintbench.workspace import Workspace, write_atomically


def write_funnel(workspace: Workspace, path: Path | str, *, title: str = "Curation funnel") -> Path:
    """Write one HTML file that shows what became of all footage of a workspace and why, and give its path.

    It needs nothing beside it and no network; pictures lead to the clips of the workspace by relative addresses. Nothing is
    decoded but one frame of each clip that is shown; tables that are not there are shown as empty. Equal workspaces give equal
    bytes, ledgers included.
    """
    judged = stored_selection(workspace, Facts.of_workspace(workspace))
    thumbnails = Thumbnails(workspace, judged, source_names(workspace), Path(path).parent)
    found = stages(workspace, judged)
    steps, slowest = efforts(workspace)
    html = funnel_page(
        judged, found, thumbnails, title=title, subtitle=[workspace.path.resolve().name, *_told(judged, found)],
        calibrations=calibrate_judged(judged), effort=(steps, _named(slowest, thumbnails)),
        failures=failures(workspace), licences=licence_counts(workspace, judged),
    )  # fmt: skip
    return _write(path, html)


def _told(judged: Judged, found: Sequence[Stage]) -> list[str]:
    """What there is, in a line: the sources that gave clips, of all that were obtained."""
    n, kept, waits = len(judged.facts), int(judged.kept.sum()), int(judged.waiting.sum())
    obtained, cut = (next(stage.count for stage in found if stage.name == name) for name in ("obtained", "cut into clips"))
    sources = count(obtained, "source") if cut in (0, obtained) else f"{cut:,} of {count(obtained, 'source')} cut"
    waiting = [f"{waits:,} waiting"] if waits else []
    return [sources, count(n, "clip"), f"{kept:,} kept ({percent(share(kept, n))})", *waiting]


def write_what_if(workspace: Workspace, change: WhatIf, path: Path | str, *, shown: int = 36) -> Path:
    """Write one HTML file with pictures of the clips that ``change`` would gain and lose, at most ``shown`` each."""
    thumbnails = Thumbnails(workspace, change.now, source_names(workspace), Path(path).parent)
    asked = " and ".join(rule.words for rule in change.rules)
    subtitle = [workspace.path.resolve().name, "nothing has been changed in the workspace"]
    return _write(path, what_if_page(change, thumbnails, title=f"What if {asked}?", subtitle=subtitle, shown=shown))


def source_names(workspace: Workspace) -> dict[str, str]:
    """Source id -> what people call it."""
    rows: pa.Table = workspace.columns("sources", Source, columns=["source_id", "uri"])
    uris = map(display_name, rows["uri"].to_pylist())
    return dict(zip(rows["source_id"].to_pylist(), uris, strict=True))


def _named(items: Sequence[SlowItem], thumbnails: Thumbnails) -> list[SlowItem]:
    """Slow items with the names of their sources; a clip is called ``SOURCE:FRAME``."""
    places = last_places(thumbnails.judged.clip_ids, pa.array([item.subject_id for item in items], pa.string())).tolist()
    return [
        replace(item, name=item.name or (thumbnails.name(place) if place >= 0 else thumbnails.names.get(item.subject_id, "")))
        for item, place in zip(items, places, strict=True)
    ]


def _write(path: Path | str, html: str) -> Path:
    target = Path(path)
    try:
        write_atomically(target, html.encode("utf-8", "replace"))
    except OSError as error:
        raise InputError(f"the page {str(path)!r} cannot be written: {error.strerror}") from error
    return target


_KEPT_SHOWN = 16
NOTE = (
    "Numbers are those of the workspace's tables. Pictures are small lossy copies of one frame; each leads to its clip, as "
    "long as this page and the workspace stay where they are. The id below a picture is for `inpaintbench curation why "
    "WORKSPACE ID`, which tells everything about the clip."
)
_LINKS = tuple(
    Link(f"#{title.lower()}", title)
    for title in ("Funnel", "Rules", "Calibration", "Distributions", "Time", "Failures", "Licences")
)


def funnel_page(
    judged: Judged, found: Sequence[Stage], thumbnails: Thumbnails, *, title: str, subtitle: Sequence[str],
    calibrations: Sequence[Calibration], effort: tuple[Sequence[StepEffort], Sequence[SlowItem]],
    failures: Sequence[FailureGroup], licences: Sequence[LicenceCount],
) -> str:  # fmt: skip
    """The whole page as text."""
    waits = any(one.waiting.any() for one in judged.verdicts)
    ruled, unruled = distributions(judged)
    parts: dict[str, Any] = {
        "kept": _kept(judged, thumbnails),
        "cards": rule_cards(judged, thumbnails),
        "legend": legend(waiting=waits),
        "calibration": calibration_table(calibrations),
        "calibration_notes": (calibration_words(calibrations), LIMITATION),
        "own_legend": legend(waiting=waits, other=True),
        "ruled": ruled,
        "unruled": unruled,
        "steps": effort_table(effort[0]),
        "slowest": slowest_table(effort[1], thumbnails.names),
        "failures": failure_table(failures),
        "further_failures": max(0, len(failures) - FAILURES),
        "licences": licence_table(licences),
        "cut": next((stage.count for stage in found if stage.name == "cut into clips"), 0),
    }
    return page(
        "curation/funnel/page.html", title=title, subtitle=subtitle, links=_LINKS, rules=thumbnails.rules(), note=NOTE,
        stages=found, **parts,
    )  # fmt: skip


def _kept(judged: Judged, thumbnails: Thumbnails) -> Side:
    kept = np.flatnonzero(judged.kept)
    shown = np.sort(item_rng(0, "funnel", "kept").choice(kept, size=min(_KEPT_SHOWN, len(kept)), replace=False)).tolist()
    return Side(len(kept), tuple(thumbnails.tile(place, state="kept") for place in shown))


_WHAT_IF_LINKS = tuple(Link(f"#{title.lower()}", title) for title in ("Counts", "Gained", "Lost"))


@dataclass(frozen=True)
class _Moved:
    """Clips on one side of the change."""

    total: int
    tiles: tuple[Tile, ...]
    which: str
    """The threshold that they are ordered by."""
    why: str
    """What their lines tell."""


def what_if_page(change: WhatIf, thumbnails: Thumbnails, *, title: str, subtitle: Sequence[str], shown: int) -> str:
    """The whole page as text."""
    told = [("kept now", change.now.kept), ("kept then", change.then.kept), ("gained", change.gained), ("lost", change.lost)]
    bounds: dict[str, list[float]] = {}
    for rule in change.rules:
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
    gained = _tiles(change, change.gained, thumbnails, shown=shown, state="kept")
    lost = _tiles(change, change.lost, thumbnails, shown=shown, state="dropped")
    return page(
        "curation/funnel/what_if.html", title=title, subtitle=subtitle, links=_WHAT_IF_LINKS, rules=thumbnails.rules(), note=NOTE,
        n=len(change.now.facts),
        counts=[(name, int(flags.sum())) for name, flags in told],
        rules_asked=[(subject, *_asked(change, subject)) for subject in bounds],
        staying=len(change.now.verdicts) - len(change.replaced),
        legend=legend(waiting=bool(change.then.waiting.any()), other=True),
        # The new thresholds, coloured by what would become of the clips.
        distributions=[of_attribute(change.then, subject, bounds=limits) for subject, limits in bounds.items()],
        gained=_Moved(int(change.gained.sum()), gained, "that lets them in", "with why they are dropped now"),
        lost=_Moved(int(change.lost.sum()), lost, "that drops them", "with every reason then"),
    )  # fmt: skip


def _asked(change: WhatIf, subject: str) -> tuple[list[str], list[str]]:
    """What is asked of an attribute now and then."""
    now = [one.label for one in change.now.verdicts if one.rule and one.rule.subject == subject]
    return now, [rule.words for rule in change.rules if rule.subject == subject]


def _tiles(change: WhatIf, moved: Flags, thumbnails: Thumbnails, *, shown: int, state: str) -> tuple[Tile, ...]:
    places = change.places(moved)[:shown]
    return tuple(thumbnails.tile(place, lines=_lines(change, place), state=state) for place in places)


def _lines(change: WhatIf, place: int) -> list[str]:
    """Every reason, and the values of what no reason tells."""
    reasons = change.why(place)
    values = [f"{name} {value}" for name, value in change.values(place)]
    return [*reasons, *(told for told in values if not any(why.startswith(told.partition(" ")[0]) for why in reasons))]


PAGE, TO_ANSWER = "review.html", "to_answer.csv"
# Pictures on the page; the CSV has all clips.
_MOST_WAITING = 600


def write_review(workspace: Workspace, judged: Judged) -> tuple[Path, Path]:
    """Write the clips that wait for a ``keep_reject`` answer: a page of pictures, and a CSV with an empty column ``answer``.

    The CSV is made anew each time, with the clips that are still without an answer; fill in a copy of it.

    Returns:
        Both paths, in the folder of the workspace.
    """
    places = np.flatnonzero(judged.waiting).tolist()
    thumbnails = Thumbnails(workspace, judged, source_names(workspace))
    tiles = [thumbnails.tile(place, lines=[judged.clip_ids[place].as_py()], state="waiting") for place in places[:_MOST_WAITING]]
    html = page(
        "curation/review.html", title="Clips that wait for an answer",
        subtitle=[workspace.path.resolve().name, count(len(places), "clip")],
        rules=thumbnails.rules(), tiles=tiles, further=len(places) - len(tiles), table=TO_ANSWER,
        note=f"Write keep or reject into the column answer of {TO_ANSWER}, and why into the column reason.",
    )  # fmt: skip
    write_atomically(workspace.path / PAGE, html.encode("utf-8", "replace"))
    write_atomically(workspace.path / TO_ANSWER, _table(thumbnails, places))
    return workspace.path / PAGE, workspace.path / TO_ANSWER


def _table(thumbnails: Thumbnails, places: list[int]) -> bytes:
    judged = thumbnails.judged
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "source", "start_frame"])
    for place in places:
        start = judged.facts.clips["start_frame"][place].as_py()
        writer.writerow([judged.clip_ids[place].as_py(), KEEP_REJECT, "", "", "", thumbnails.source(place), start])
    return text.getvalue().encode("utf-8", "replace")
