"""Pages of a workspace, as HTML without network: the funnel, what other thresholds would change, and clips to be answered for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from inpaintbench.curation.calibration import LIMITATION, calibrate_judged
from inpaintbench.curation.facts import Facts, Flags
from inpaintbench.curation.funnel import rule_cards, stages
from inpaintbench.curation.funnel.plots import legend
from inpaintbench.curation.funnel.rule_cards import Thumbnails
from inpaintbench.curation.judging import Judged, WhatIf, stored_selection, unasked
from inpaintbench.curation.sheets import COLUMNS, KEEP_REJECT
from inpaintbench.errors import InputError
from inpaintbench.files import display_name, write_atomically
from inpaintbench.pages import Link, page
from inpaintbench.pages.words import count, percent, share
from inpaintbench.table_files import csv_bytes
from inpaintbench.tables import last_places
from inpaintbench.types import Source, item_rng
from inpaintbench.workspace import Workspace

NOTE = (
    "Numbers are those of the workspace's tables. Pictures are small lossy copies of one frame; each leads to its clip, as "
    "long as this page and the workspace stay where they are. The id below a picture is for `inpaintbench curation why "
    "WORKSPACE ID`, which tells everything about the clip."
)
REVIEW_PAGE, TO_ANSWER = "review.html", "to_answer.csv"
# Pictures of kept clips on the funnel page, drawn at random: two rows on a wide screen.
_KEPT_SHOWN = 16
# Pictures on the page of clips that wait, about 10 MB; the CSV has all clips.
_MOST_WAITING = 600


def write_funnel(workspace: Workspace, path: Path | str, *, title: str = "Curation funnel") -> Path:
    """Write one HTML file that shows what became of all footage of a workspace and why, and give its path.

    It needs nothing beside it and no network; pictures lead to the clips of the workspace by relative addresses. Nothing is
    decoded but one frame of each clip that is shown; tables that are not there are shown as empty. Equal workspaces give equal
    bytes, ledgers included.
    """
    judged = stored_selection(workspace, Facts.of_workspace(workspace))
    thumbnails = Thumbnails(workspace, judged, source_names(workspace), Path(path).parent)
    bars, failures, calibrations = stages.stages(workspace, judged), stages.failures(workspace), calibrate_judged(judged)
    steps, slowest = stages.efforts(workspace)
    waits = any(verdict.waiting.any() for verdict in judged.verdicts)
    ruled, unruled = rule_cards.distributions(judged)
    # In the order of the page, which decides the order of the pictures in its style sheet.
    all_kept = np.flatnonzero(judged.kept)
    drawn = item_rng(0, "funnel", "kept").choice(all_kept, size=min(_KEPT_SHOWN, len(all_kept)), replace=False)
    pictures = tuple(thumbnails.tile(place, state="kept") for place in np.sort(drawn).tolist())
    cards = rule_cards.rule_cards(judged, thumbnails)
    # The sources that gave clips, of all that were obtained, and the clips that are kept.
    n, kept, waiting = len(judged.facts), int(judged.kept.sum()), int(judged.waiting.sum())
    counted = {stage.name: stage.count for stage in bars}
    obtained, cut = counted["obtained"], counted["cut into clips"]
    sources = count(obtained, "source") if cut in (0, obtained) else f"{cut:,} of {count(obtained, 'source')} cut"
    summary = [sources, count(n, "clip"), f"{kept:,} kept ({percent(share(kept, n))})"]
    summary += [f"{waiting:,} waiting"] if waiting else []
    # Slow items with the names of their sources; a clip is called SOURCE:FRAME.
    subjects = pa.array([item.subject_id for item in slowest], pa.string())
    for at, place in enumerate(last_places(judged.clip_ids, subjects).tolist()):
        item = slowest[at]
        name = thumbnails.name(place) if place >= 0 else thumbnails.names.get(item.subject_id, "")
        slowest[at] = replace(item, name=item.name or name)
    html = page(
        "curation/funnel/page.html", title=title, subtitle=[workspace.path.resolve().name, *summary],
        links=_links("Funnel", "Rules", "Calibration", "Distributions", "Time", "Failures", "Licences"), note=NOTE,
        stages=bars, cut=cut, kept=rule_cards.Side(len(all_kept), pictures), cards=cards,
        unasked=[rule.words for rule in unasked(workspace)], rules=thumbnails.rules(),
        legend=legend(waiting=waits), own_legend=legend(waiting=waits, other=True), ruled=ruled, unruled=unruled,
        calibration=rule_cards.calibration_table(calibrations),
        calibration_notes=(rule_cards.calibration_words(calibrations), LIMITATION),
        steps=stages.effort_table(steps), slowest=stages.slowest_table(slowest, thumbnails.names),
        failures=stages.failure_table(failures), further_failures=max(0, len(failures) - stages.FAILURES),
        licences=stages.licence_table(stages.licence_counts(workspace, judged)),
    )  # fmt: skip
    return _write(path, html)


def _links(*titles: str) -> tuple[Link, ...]:
    return tuple(Link(f"#{title.lower()}", title) for title in titles)


def write_what_if(workspace: Workspace, change: WhatIf, path: Path | str, *, shown: int = 36) -> Path:
    """Write one HTML file with pictures of the clips that ``change`` would gain and lose, at most ``shown`` each."""
    thumbnails = Thumbnails(workspace, change.now, source_names(workspace), Path(path).parent)
    flags = {"kept now": change.now.kept, "kept then": change.then.kept, "gained": change.gained, "lost": change.lost}
    bounds: dict[str, list[float]] = {}
    for rule in change.rules:
        bounds.setdefault(rule.subject, []).extend(rule_cards.drawable(rule))
    gained = _moved(change, change.gained, thumbnails, shown=shown, state="kept")
    lost = _moved(change, change.lost, thumbnails, shown=shown, state="dropped")
    html = page(
        "curation/funnel/what_if.html", title=f"What if {' and '.join(rule.words for rule in change.rules)}?",
        subtitle=[workspace.path.resolve().name, "nothing has been changed in the workspace"],
        links=_links("Counts", "Gained", "Lost"), rules=thumbnails.rules(), note=NOTE, n=len(change.now.facts),
        counts=[(name, int(clips.sum())) for name, clips in flags.items()],
        rules_asked=[
            (
                subject,
                [one.label for one in change.now.verdicts if one.rule and one.rule.subject == subject],
                [rule.words for rule in change.rules if rule.subject == subject],
            )
            for subject in bounds
        ],
        staying=len(change.now.verdicts) - len(change.replaced),
        legend=legend(waiting=bool(change.then.waiting.any()), other=True),
        # The new thresholds, coloured by what would become of the clips.
        distributions=[rule_cards.of_attribute(change.then, subject, bounds=limits) for subject, limits in bounds.items()],
        gained=gained, lost=lost,
    )  # fmt: skip
    return _write(path, html)


def _moved(change: WhatIf, clips: Flags, thumbnails: Thumbnails, *, shown: int, state: str) -> rule_cards.Side:
    tiles = []
    for place in change.places(clips)[:shown]:
        # Every reason, and the values that no reason tells.
        reasons = change.why(place)
        told = [name for name, _ in change.values(place) if any(reason.startswith(name) for reason in reasons)]
        values = [f"{name} {value}" for name, value in change.values(place) if name not in told]
        tiles.append(thumbnails.tile(place, lines=[*reasons, *values], state=state))
    return rule_cards.Side(int(clips.sum()), tuple(tiles))


def write_review(workspace: Workspace, judged: Judged) -> tuple[Path, Path]:
    """Write the clips that wait for a ``keep_reject`` answer: a page of pictures, and a CSV with an empty column ``answer``.

    The CSV is made anew each time, with the clips that are still without an answer; fill in a copy of it.

    Returns:
        Both paths, in the folder of the workspace.
    """
    places = np.flatnonzero(judged.waiting).tolist()
    ids, starts = judged.clip_ids, judged.facts.clips["start_frame"]
    thumbnails = Thumbnails(workspace, judged, source_names(workspace))
    tiles = [thumbnails.tile(place, lines=[ids[place].as_py()], state="waiting") for place in places[:_MOST_WAITING]]
    html = page(
        "curation/review.html", title="Clips that wait for an answer",
        subtitle=[workspace.path.resolve().name, count(len(places), "clip")],
        rules=thumbnails.rules(), tiles=tiles, further=len(places) - len(tiles), table=TO_ANSWER,
        note=f"Write keep or reject into the column answer of {TO_ANSWER}, and why into the column reason.",
    )  # fmt: skip
    rows = [[ids[place].as_py(), KEEP_REJECT, "", "", "", thumbnails.source(place), starts[place].as_py()] for place in places]
    page_path, table_path = workspace.path / REVIEW_PAGE, workspace.path / TO_ANSWER
    write_atomically(page_path, html.encode("utf-8", "replace"))
    write_atomically(table_path, csv_bytes([*COLUMNS, "source", "start_frame"], rows, errors="replace"))
    return page_path, table_path


def source_names(workspace: Workspace) -> dict[str, str]:
    """Source id -> what people call it."""
    rows: pa.Table = workspace.columns("sources", Source, columns=["source_id", "uri"])
    return dict(zip(rows["source_id"].to_pylist(), map(display_name, rows["uri"].to_pylist()), strict=True))


def _write(path: Path | str, html: str) -> Path:
    try:
        write_atomically(Path(path), html.encode("utf-8", "replace"))
    except OSError as error:
        raise InputError(f"the page {str(path)!r} cannot be written: {error.strerror}") from error
    return Path(path)
