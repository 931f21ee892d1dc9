"""Write the report of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inpaintbench.annotate.events import Event
from inpaintbench.annotate.report.page import render
from inpaintbench.annotate.report.records import Material, ReportVote
from inpaintbench.annotate.study import Study
from inpaintbench.errors import WorkspaceError
from inpaintbench.workspace import write_atomically

PAGE = "study.html"
_DOWNLOADS = ("*.csv", "*.json", "*.jsonl", "*.parquet")


def write_report(
    folder: Path,
    *,
    study: Study,
    votes: Sequence[ReportVote],
    events: Sequence[Event] = (),
    overview: Mapping[str, Any] | None = None,
    rankings: Mapping[str, Any] | None = None,
    automatic: Mapping[tuple[str, str], Any] | None = None,
    dimensions: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> Path:
    """Write ``study.html``, one page that needs nothing beside it and no network, and give its path.

    Equal input gives equal bytes. Tables that lie in ``folder`` already are linked as downloads.

    Args:
        folder: made when it is not there.
        study: as prepared.
        votes: the answers that stand, in the order of the journal.
        events: all of the study; for skips and dropped frames.
        overview: ``done`` and ``why``, and ``raters`` as rows with ``rater_id`` and ``paused``; nothing else is read.
        rankings: question -> ``methods`` (rows with ``name``, ``strength``, ``low``, ``high``, ``rank``, ``rank_low``,
            ``rank_high``, ``win_share``, ``votes``), ``stable``, ``position_bias`` and ``notes``.
        automatic: (subject, question) -> the machine's answer, where tasks suggest none: an option's value, or a number in
            the unit of the options, of which the nearest is taken.
        dimensions: ``questions``, ``correlation`` (rows of numbers or None), ``n`` and ``notes``.
        names: rater -> what the page calls them; pseudonyms by default.

    Raises:
        WorkspaceError: the folder cannot be written.
    """
    material = Material(study, votes, events, overview or {}, rankings or {}, automatic or {}, dimensions or {}, names or {})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = sorted(path.name for pattern in _DOWNLOADS for path in folder.glob(pattern) if path.is_file())
        write_atomically(folder / PAGE, render(material, downloads=beside).encode("utf-8", "replace"))
    except OSError as error:
        raise WorkspaceError(f"report {str(folder)!r} cannot be written: {error.strerror}") from error
    return folder / PAGE
