"""Each rule with its counts, its threshold in the distribution, and the clips on both sides of it; distributions; calibration."""

from __future__ import annotations

import io
import math
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import cv2
import numpy as np
import pyarrow as pa
from PIL import Image

from inpaintbench import video
from inpaintbench.curation.calibration import Calibration, Share, nearest
from inpaintbench.curation.facts import Flags
from inpaintbench.curation.funnel.plots import Distribution, distribution, states, told
from inpaintbench.curation.judging import Judged, RuleCount, Verdict
from inpaintbench.curation.rules import Rule, value_text
from inpaintbench.curation.why import unit_and_direction
from inpaintbench.errors import MediaError, VerifyError
from inpaintbench.pages import Cell, Column, Row, Table, Tile, data_uri
from inpaintbench.pages.words import breakable, number, percent, percents
from inpaintbench.workspace import Workspace

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
