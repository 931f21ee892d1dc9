"""The funnel page: what its template shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inpaintbench.curation.calibration import LIMITATION, Calibration
from inpaintbench.curation.funnel.effort import SlowItem, StepEffort
from inpaintbench.curation.funnel.licences import LicenceCount
from inpaintbench.curation.funnel.listings import FAILURES, effort_table, failure_table, licence_table, slowest_table
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import legend
from inpaintbench.curation.funnel.rule_cards import Side, calibration_table, calibration_words, distributions, rule_cards
from inpaintbench.curation.funnel.stages import FailureGroup, Stage
from inpaintbench.curation.judging import Judged
from inpaintbench.pages import Link, page
from inpaintbench.types import item_rng

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
