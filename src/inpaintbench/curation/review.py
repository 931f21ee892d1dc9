"""What people are asked to look at before a build goes on: a page of pictures and a CSV to fill in."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.write import source_names
from inpaintbench.curation.judging import Judged
from inpaintbench.curation.sheets import COLUMNS, KEEP_REJECT
from inpaintbench.pages import page
from inpaintbench.pages.words import count
from inpaintbench.workspace import Workspace, write_atomically

PAGE, TO_ANSWER = "review.html", "to_answer.csv"
# Pictures on the page; the CSV has all clips.
_SHOWN = 600


def write_review(workspace: Workspace, judged: Judged) -> tuple[Path, Path]:
    """Write the clips that wait for a ``keep_reject`` answer: a page of pictures, and a CSV with an empty column ``answer``.

    The CSV is made anew each time, with the clips that are still without an answer; fill in a copy of it.

    Returns:
        Both paths, in the folder of the workspace.
    """
    places = np.flatnonzero(judged.waiting).tolist()
    thumbnails = Thumbnails(workspace, judged, source_names(workspace))
    tiles = [thumbnails.tile(place, lines=[judged.clip_ids[place].as_py()], state="waiting") for place in places[:_SHOWN]]
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
