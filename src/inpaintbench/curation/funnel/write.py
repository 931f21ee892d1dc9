"""Read a workspace, draw, and write a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from inpaintbench.curation.calibration import calibrate_judged
from inpaintbench.curation.facts import Facts, last_places
from inpaintbench.curation.footage import display_name
from inpaintbench.curation.funnel.effort import SlowItem, efforts
from inpaintbench.curation.funnel.licences import licence_counts
from inpaintbench.curation.funnel.page import funnel_page
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.stages import Stage, failures, stages
from inpaintbench.curation.funnel.what_if_page import what_if_page
from inpaintbench.curation.judging import Judged, stored_selection
from inpaintbench.curation.what_if import WhatIf
from inpaintbench.errors import InputError
from inpaintbench.pages.words import count, percent, share
from inpaintbench.types import Source
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
