"""Pages of a workspace, as HTML without network: the funnel, its rules, other thresholds, and clips to be answered for."""

from __future__ import annotations

import io
import math
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from PIL import Image

from inpaintbench import video
from inpaintbench.curation.calibration import LIMITATION, Calibration, Share, calibrate_judged, nearest
from inpaintbench.curation.facts import Facts, Flags
from inpaintbench.curation.funnel import stages
from inpaintbench.curation.funnel.plots import Distribution, distribution, legend, states, told
from inpaintbench.curation.judging import Judged, RuleCount, Verdict, WhatIf, stored_selection, unasked
from inpaintbench.curation.rules import Rule, value_text
from inpaintbench.curation.sheets import COLUMNS, KEEP_REJECT
from inpaintbench.curation.why import unit_and_direction
from inpaintbench.errors import InputError, MediaError, VerifyError
from inpaintbench.files import display_name, write_atomically
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Column, Link, Row, Table, Tile, data_uri, page
from inpaintbench.pages.words import breakable, count, number, percent, percents, share
from inpaintbench.table_files import csv_bytes
from inpaintbench.tables import last_places
from inpaintbench.types import Source, item_rng
from inpaintbench.workspace import Workspace

cv2 = lazily("cv2")

_SHOWN = 6
_REASONS = 3


@dataclass(frozen=True)
class Side:
    """Clips with something in common, some of them as pictures."""

    total: int
    tiles: tuple[Tile, ...]
    order: str = ""
    """In which those that are shown come."""


@dataclass(frozen=True)
class RuleCard:
    """One rule on the funnel page."""

    title: str
    expression: str
    """The rule itself, where the title is its name."""
    n: int
    """Clips of the workspace."""
    counted: RuleCount
    reasons: tuple[tuple[str, int], ...]
    """Reason why clips have no value, the most frequent reasons."""
    distribution: Distribution | None
    refused: Side
    kept: Side

    @property
    def states(self) -> dict[str, int]:
        """State (kept, waiting, dropped) -> number of clips."""
        return {"kept": self.counted.kept, "waiting": self.counted.waiting, "dropped": self.counted.dropped}

    @property
    def label(self) -> str:
        """The states in words."""
        return told(self.states)


def rule_cards(judged: Judged, thumbnails: Thumbnails) -> list[RuleCard]:
    """One card a rule."""
    cards = []
    for verdict, counted in zip(judged.verdicts, judged.counts(), strict=True):
        rule, drawn = verdict.rule, None
        unknown = np.flatnonzero(~verdict.column.known & ~verdict.waiting)
        reasons = verdict.reasons(unknown) if len(unknown) else []
        if rule:
            column = judged.facts.of(rule.subject)
            unit, of = unit_and_direction(rule.subject)[0], states(verdict.keep, verdict.waiting)
            drawn = distribution(column, of, bounds=drawable(rule), unit=unit, name=rule.subject)
            # Those that the rule keeps for want of a value have no reason of their own in the selection.
            whys = column.reasons.take(pa.array(unknown)).to_pylist()
            reasons = [f"{rule.subject} has no value: {why or 'not measured'}" for why in whys]
        cards.append(RuleCard(
            title=rule.name if rule and rule.name else verdict.label, expression=rule.words if rule and rule.name else "",
            n=len(judged.facts), counted=counted, reasons=tuple(Counter(reasons).most_common(_REASONS)), distribution=drawn,
            refused=_side(verdict, ~verdict.keep | verdict.flagged, thumbnails),
            kept=_side(verdict, verdict.keep & ~verdict.flagged, thumbnails),
        ))  # fmt: skip
    return cards


def drawable(rule: Rule) -> list[float]:
    """The thresholds of a rule that have a place on an axis of numbers."""
    return [bound for bound in rule.bounds.values() if isinstance(bound, float) and math.isfinite(bound)]


def _side(verdict: Verdict, side: Flags, thumbnails: Thumbnails) -> Side:
    near = [place for place in nearest(verdict, 2 * _SHOWN) if side[place]][:_SHOWN]
    places = near or spread(np.flatnonzero(side).tolist(), _SHOWN)
    order = "nearest to the threshold first" if near else "spread over all"
    tiles = []
    for place in places:
        kept, unmarked = verdict.keep[place], verdict.keep[place] and not verdict.flagged[place]
        lines = [said(verdict, place)] if unmarked else verdict.reasons(np.array([place]))
        state = "kept" if kept else "waiting" if verdict.waiting[place] else "dropped"
        tiles.append(thumbnails.tile(place, lines=lines, state=state))
    return Side(int(side.sum()), tuple(tiles), order)


def said(verdict: Verdict, place: int) -> str:
    """Subject of the rule and the clip's value: ``cut_score 0.21``."""
    subject = verdict.rule.subject if verdict.rule else verdict.label
    text, value = verdict.column.texts[place].as_py(), float(verdict.column.numbers[place])
    if text is None and np.isnan(value):
        return f"{subject}: no value"
    return f"{subject} {value_text(value if text is None else text)}"


def spread(places: Sequence[int], shown: int) -> list[int]:
    """At most ``shown`` of ``places``, evenly from first to last."""
    if len(places) <= shown:
        return list(places)
    return [places[round(at)] for at in np.linspace(0, len(places) - 1, shown)]


def distributions(judged: Judged) -> tuple[list[Distribution], list[Distribution]]:
    """Distributions of attributes that rules ask for, and of every other one, coloured by what became of the clips."""
    bounds: dict[str, list[float]] = {}
    for rule in (verdict.rule for verdict in judged.verdicts if verdict.rule):
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
    others = [subject for subject in judged.facts.attributes_of_clips() if subject not in bounds]
    ruled = [of_attribute(judged, subject, bounds=limits) for subject, limits in bounds.items()]
    return ruled, [of_attribute(judged, subject, bounds=[]) for subject in others]


def of_attribute(judged: Judged, subject: str, *, bounds: Sequence[float]) -> Distribution:
    """The distribution of one attribute, coloured by what became of the clips."""
    unit, direction = unit_and_direction(subject)
    own = [verdict.refused for verdict in judged.verdicts if verdict.rule and verdict.rule.subject == subject]
    by_own_rule = np.logical_or.reduce([np.zeros(len(judged.facts), bool), *own])
    of = states(judged.kept, judged.waiting, by_own_rule=by_own_rule)
    return distribution(judged.facts.of(subject), of, bounds=bounds, unit=unit, name=subject, direction=direction)


def calibration_table(calibrations: Sequence[Calibration]) -> Table | None:
    """Each rule against the answers of people; None without."""
    heads = ["n", "drop and reject", "drop but keep", "keep but reject", "keep and keep"]
    shares = (Column(head, sorts=True) for head in ("Precision", "Recall"))
    columns = (Column("Rule", sorts=True, falling=False), *(Column(head, numeric=True, sorts=True) for head in heads), *shares)
    rows = tuple(
        Row((
            Cell(breakable(row.rule), row.rule),
            *(Cell(number(n), n) for n in (
                row.n, row.true_positives, row.false_positives, row.false_negatives, row.true_negatives,
            )),
            _share(row.precision), _share(row.recall),
        ))
        for row in calibrations
    )  # fmt: skip
    return Table(columns, rows, label="Calibration") if rows else None


def _share(share: Share) -> Cell:
    """A share with its 95 % interval where it has one: words, and a line from 0 to 1."""
    if share.value is None:
        return Cell(note=share.reason or "")
    words, of = percent(share.value, 0), f"{share.count} of {share.total}"
    if share.low is None or share.high is None:
        return Cell(words, share.value, note=of)
    return Cell(
        words, share.value, note=f"{percents(share.low, share.high)} · {of}", whisker=(share.value, share.low, share.high)
    )


def calibration_words(calibrations: Sequence[Calibration]) -> str:
    """Legend of the table's rows and interval lines."""
    few = next(
        (ratio.reason for rule in calibrations for ratio in (rule.precision, rule.recall) if ratio.total and ratio.reason), None
    )
    lines = f"Some shares have no interval: {few}." if few else "Lines are 95 % intervals over sources, from 0 to 100 %."
    return f"The rule first, people second. {lines}"


_SIDE, _QUALITY = 256, 70
# The picture shows this frame or the middle one, whichever comes first: half a second in, few frames are black.
_FRAME = 15
_ID_SHOWN = 10


@dataclass
class Thumbnails:
    """The pictures of a page; each is decoded when it is first asked for."""

    workspace: Workspace
    judged: Judged
    names: Mapping[str, str]
    """Source id -> what people call it."""
    folder: Path | None = None
    """Folder of the page, since links to clips begin there; None for the workspace."""
    _ratios: dict[int, float] = field(default_factory=dict)
    _data: dict[int, bytes] = field(default_factory=dict)

    def tile(self, place: int, *, lines: Sequence[str] = (), state: str) -> Tile:
        """The clip at ``place`` with ``lines`` below, its name and the beginning of its id; the picture leads to its file.

        ``state`` is kept, dropped or waiting.
        """
        clip_id, name = self.judged.clip_ids[place].as_py(), self.name(place)
        if place not in self._ratios:
            self._ratios[place] = self._draw(place)
        return Tile(
            label=name, picture=f"p{place}" if place in self._data else "", ratio=self._ratios[place], lines=tuple(lines),
            names=(name,), code="" if clip_id in lines else clip_id[:_ID_SHOWN], href=self._link(place),
            title=f"{name} · inpaintbench curation why {shlex.quote(str(self.workspace.path))} {clip_id}", state=state,
        )  # fmt: skip

    def name(self, place: int) -> str:
        """``SOURCE:FRAME`` of the clip at ``place``, which `curation why` understands."""
        return f"{self.source(place)}:{self.judged.facts.clips['start_frame'][place].as_py()}"

    def source(self, place: int) -> str:
        """Display name of the source of the clip at ``place``."""
        source_id = self.judged.facts.clips["source_id"][place].as_py()
        return self.names.get(source_id, source_id)

    def rules(self) -> str:
        """The style rules of all pictures that were asked for."""
        return "\n".join(
            f".p{place}{{background-image:url({data_uri(data, 'image/webp')})}}" for place, data in self._data.items()
        )

    def _link(self, place: int) -> str:
        """The address of the clip at ``place``, as the page has to give it."""
        blob = self.workspace.blobs.path(self.judged.facts.clips["blob"][place].as_py())
        return quote(os.path.relpath(blob.resolve(), (self.folder or self.workspace.path).resolve()))

    def _draw(self, place: int) -> float:
        row = {name: self.judged.facts.clips[name][place].as_py() for name in ("blob", "frames", "width", "height")}
        frame = min(_FRAME, int(row["frames"]) // 2)
        try:
            path = self.workspace.blobs.proved(row["blob"])
            pixels = next(islice(video.upright_frames(path), frame, None))[0]
        except (VerifyError, MediaError, OSError, StopIteration):
            return float(row["width"]) / float(row["height"])
        scale = min(1.0, _SIDE / max(pixels.shape[:2]))
        size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        buffer = io.BytesIO()
        Image.fromarray(small).save(buffer, "WEBP", quality=_QUALITY, method=4)
        self._data[place] = buffer.getvalue()
        return float(size[0] / size[1])


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
    ruled, unruled = distributions(judged)
    # In the order of the page, which decides the order of the pictures in its style sheet.
    all_kept = np.flatnonzero(judged.kept)
    drawn = item_rng(0, "funnel", "kept").choice(all_kept, size=min(_KEPT_SHOWN, len(all_kept)), replace=False)
    pictures = tuple(thumbnails.tile(place, state="kept") for place in np.sort(drawn).tolist())
    cards = rule_cards(judged, thumbnails)
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
        stages=bars, cut=cut, kept=Side(len(all_kept), pictures), cards=cards,
        unasked=[rule.words for rule in unasked(workspace)], rules=thumbnails.rules(),
        legend=legend(waiting=waits), own_legend=legend(waiting=waits, other=True), ruled=ruled, unruled=unruled,
        calibration=calibration_table(calibrations),
        calibration_notes=(calibration_words(calibrations), LIMITATION),
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
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
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
        distributions=[of_attribute(change.then, subject, bounds=limits) for subject, limits in bounds.items()],
        gained=gained, lost=lost,
    )  # fmt: skip
    return _write(path, html)


def _moved(change: WhatIf, clips: Flags, thumbnails: Thumbnails, *, shown: int, state: str) -> Side:
    tiles = []
    for place in change.places(clips)[:shown]:
        # Every reason, and the values that no reason tells.
        reasons = change.why(place)
        told = [name for name, _ in change.values(place) if any(reason.startswith(name) for reason in reasons)]
        values = [f"{name} {value}" for name, value in change.values(place) if name not in told]
        tiles.append(thumbnails.tile(place, lines=[*reasons, *values], state=state))
    return Side(int(clips.sum()), tuple(tiles))


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
