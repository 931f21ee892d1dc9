"""What people are asked to look at before a build goes on: a page of pictures and a CSV to fill in."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from inpaintbench.curation.answers import COLUMNS, KEEP_REJECT
from inpaintbench.curation.funnel.markup import count, tile, tiles
from inpaintbench.curation.funnel.page import page
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.rule_cards import source_name
from inpaintbench.curation.funnel.write import source_names
from inpaintbench.curation.judging import Judged
from inpaintbench.workspace import Workspace, write_atomically

PAGE, TO_ANSWER = "review.html", "to_answer.csv"
_SHOWN = 600
"""Pictures on the page; the CSV has all clips."""


def write_review(workspace: Workspace, judged: Judged) -> tuple[Path, Path]:
    """Write the clips that wait for a ``keep_reject`` answer: a page of pictures, and a CSV with an empty column ``answer``.

    The CSV is made anew each time, with the clips that are still without an answer; fill in a copy of it.

    Returns:
        Both paths, in the folder of the workspace.
    """
    places = np.flatnonzero(judged.waiting).tolist()
    names, thumbnails = source_names(workspace), Thumbnails(workspace, judged)
    figures = [
        tile(thumbnails, place, name=source_name(judged, place, names), lines=[judged.clip_ids[place].as_py()], state="waiting")
        for place in places[:_SHOWN]
    ]
    more = f'<p class="note">and {len(places) - _SHOWN:,} more in {TO_ANSWER}</p>' if len(places) > _SHOWN else ""
    body = f'<section id="clips"><h2>Keep or reject?</h2>{tiles(figures)}{more}</section>'
    note = f"Write keep or reject into the column answer of {TO_ANSWER}, and why into the column reason."
    html = page(
        title="Clips that wait for an answer", subtitle=[workspace.path.resolve().name, count(len(places), "clip")], body=body,
        links={}, thumbnails=thumbnails, note=note,
    )  # fmt: skip
    write_atomically(workspace.path / PAGE, html.encode("utf-8", "replace"))
    write_atomically(workspace.path / TO_ANSWER, _table(judged, places, names))
    return workspace.path / PAGE, workspace.path / TO_ANSWER


def _table(judged: Judged, places: list[int], names: dict[str, str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "source", "start_frame"])
    for place in places:
        start = judged.facts.clips["start_frame"][place].as_py()
        writer.writerow([judged.clip_ids[place].as_py(), KEEP_REJECT, "", "", "", source_name(judged, place, names), start])
    return text.getvalue().encode("utf-8", "replace")
