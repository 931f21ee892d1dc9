"""The pages: parts filled into one template, with its style inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template

import numpy as np

from inpaintbench.curation.calibration import Calibration
from inpaintbench.curation.funnel.effort import SlowItem, StepEffort
from inpaintbench.curation.funnel.licences import LicenceCount
from inpaintbench.curation.funnel.listings import effort_tables, failure_table, licence_table
from inpaintbench.curation.funnel.markup import breakable, count, percent, tile, tiles
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import legend
from inpaintbench.curation.funnel.rule_cards import calibration_table, distributions, rule_cards, source_name
from inpaintbench.curation.funnel.stages import FailureGroup, Stage
from inpaintbench.curation.judging import Judged
from inpaintbench.types import item_rng

_KEPT_SHOWN = 16
_REASONS = 3
_NOTE = (
    "Numbers are those of the workspace's tables. Pictures are small lossy copies of one frame; each leads to its clip, as "
    "long as this page and the workspace stay where they are. The id below a picture is for <code>inpaintbench curation why "
    "WORKSPACE ID</code>, which tells everything about the clip."
)


def funnel_body(
    judged: Judged, found: Sequence[Stage], thumbnails: Thumbnails, names: Mapping[str, str], *,
    calibrations: Sequence[Calibration], effort: tuple[Sequence[StepEffort], Sequence[SlowItem]],
    failures: Sequence[FailureGroup], licences: Sequence[LicenceCount],
) -> tuple[str, dict[str, str]]:  # fmt: skip
    """The sections of the funnel page, and their links: anchor -> title."""
    waits = any(one.waiting.any() for one in judged.verdicts)
    sections = {
        "funnel": ("Funnel", funnel(found) + _kept(judged, thumbnails, names)),
        "rules": ("Rules", legend(waiting=waits) + rule_cards(judged, thumbnails, names)),
        "calibration": ("Calibration", calibration_table(calibrations)),
        "distributions": ("Distributions", legend(waiting=waits, other=True) + distributions(judged)),
        "time": ("Time", effort_tables(*effort, names)),
        "failures": ("Failures", failure_table(failures)),
        "licences": ("Licences", licences_told(found, licences)),
    }
    return joined(sections)


def licences_told(found: Sequence[Stage], licences: Sequence[LicenceCount]) -> str:
    """The licences, and of which sources they are."""
    cut = next((stage.count for stage in found if stage.name == "cut into clips"), 0)
    which = f'<p class="note">Of the {count(cut, "source")} that became clips.</p>' if cut and licences else ""
    return which + licence_table(licences)


def joined(sections: Mapping[str, tuple[str, str]]) -> tuple[str, dict[str, str]]:
    """Sections, anchor -> title and HTML, as one body, each with a way back to the top; and their links."""
    up = '<p class="up"><a href="#top">Back to the top</a></p>'
    body = "\n".join(f'<section id="{name}"><h2>{title}</h2>{html}{up}</section>' for name, (title, html) in sections.items())
    return body, {name: title for name, (title, _) in sections.items()}


def funnel(found: Sequence[Stage]) -> str:
    """A bar a stage; sources and clips have a scale each."""
    most = {unit: max([1, *(stage.count for stage in found if stage.unit == unit)]) for unit in ("source", "clip")}
    rows = []
    for before, stage in zip([None, *found[:-1]], found, strict=True):
        whole = most[stage.unit]
        waits = f'<i class="waiting" style="width:{100 * stage.waiting / whole:.2f}%"></i>' if stage.waiting else ""
        full = f'<i class="kept" style="width:{100 * stage.count / whole:.2f}%"></i>' if stage.count else ""
        bar = f'<span class="level">{full}{waits}</span>'
        share = percent(stage.count, before.count) if before and before.unit == stage.unit else ""
        if before is None or before.unit != stage.unit:
            rows.append(f'<li class="unit">{"Sources" if stage.unit == "source" else "From here on clips"}</li>')
        rows.append(
            f'<li class="stage"><span class="what">{escape(stage.name)}</span>{bar}'
            f'<span class="n"><b>{stage.count:,}</b> <small>{share}</small></span>{_lost(stage)}</li>'
        )
    return f'<ol class="funnel">{"".join(rows)}</ol>'


def _lost(stage: Stage) -> str:
    told = [f"{escape(reason)} <b>{n:,}</b>" for reason, n in stage.lost[:_REASONS]]
    told += [f"and {count(len(stage.lost) - _REASONS, 'more reason')}"] if len(stage.lost) > _REASONS else []
    if stage.several and len(stage.lost) > 1:
        told = [f"{count(stage.several, 'clip')} dropped, and a clip can have several reasons: {told[0]}", *told[1:]]
    told = [f"{count(stage.waiting, 'clip')} waiting for an answer", *told] if stage.waiting else told
    return f'<span class="gone-why">{" · ".join(told)}</span>' if told else ""


def _kept(judged: Judged, thumbnails: Thumbnails, names: Mapping[str, str]) -> str:
    kept = np.flatnonzero(judged.kept)
    if not len(kept):
        return ""
    shown = np.sort(item_rng(0, "funnel", "kept").choice(kept, size=min(_KEPT_SHOWN, len(kept)), replace=False)).tolist()
    figures = [tile(thumbnails, at, name=source_name(judged, at, names), lines=[], state="kept") for at in shown]
    which = "all" if len(shown) == len(kept) else f"{len(shown)} of {len(kept):,} at random"
    return f'<h3 class="strip">Kept clips <small>{which}</small></h3>{tiles(figures)}'


def page(
    *, title: str, subtitle: Sequence[str], body: str, links: Mapping[str, str], thumbnails: Thumbnails, note: str = _NOTE
) -> str:
    """The whole page as HTML text; ``subtitle`` is plain text, ``body`` finished HTML."""
    parts = {
        "title": escape(title),
        "heading": breakable(title),
        "subtitle": " · ".join(map(escape, subtitle)),
        "links": "".join(f'<a href="#{name}">{escape(words)}</a>' for name, words in links.items()),
        "body": body,
        "note": note,
        "pictures": thumbnails.rules(),
        "style": _asset("style.css"),
    }
    return Template(_asset("page.html")).substitute(parts)


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
