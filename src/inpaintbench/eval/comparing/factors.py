"""What differs between the items of a dataset: axes of pairs, measured attributes, and labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import too_few
from inpaintbench.eval.results.measured import kept
from inpaintbench.manifest import JSON_COLUMNS, Rows, mapping_of
from inpaintbench.steps import LEVEL_OF, PAIR_OF
from inpaintbench.types import Dataset, Slice

if TYPE_CHECKING:
    from inpaintbench.eval.results.tables import Results

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Kind = Literal["paired", "measured", "labelled"]

# Share of a measured attribute's spread that those before it explain, from which on their effects cannot be told apart: errors
# are more than twice as large then.
_MOST_SHARED = 0.8
# Sources for a regression, and for each attribute of one: with six, one of twelve slopes between films was told where there was
# none, with more attributes leaving one source out changes all slopes beyond use.
_SOURCES_OF_SLOPES, _SOURCES_EACH = 9, 3
# Sources that decide a slope alike, by Kish's number: Student's t of fewer is so wide that nothing is ever told, and all other
# intervals, which hold beside this one, were wider for it.
_EFFECTIVE_SOURCES = 4
_SAME = "others that are told say nearly the same of these items"


class _Measured(NamedTuple):
    """A number of items that says what is to be inpainted; never an id, a version or a doubt about another number."""

    name: str
    label: str
    unit: str = ""
    scale: float = 1.0
    """Values in ``unit`` for one in the attribute's own."""
    of: tuple[str, ...] = ()
    """The axes that change it, and the slices that are cut from it."""
    skewed: bool = False
    """Taken as the logarithm of the value and the median of all: large ones by how many times as large they are, since else a few
    decide a slope alone, and small ones as they are, since a tenth of nearly nothing is noise."""
    unchanged: float | None = None
    """Its value of items on an axis in ``of`` that have none stated: those of which nothing is changed."""


_PERCENT = 100.0
# Axes that close the hole in some frames.
_CLOSED = ("hole_duration", "whole_frames")
MEASURED = (
    _Measured("camera_motion_per_frame", "camera motion", "% of the view a frame", _PERCENT, ("camera_motion",), skewed=True),
    _Measured("camera_motion_per_second", "camera motion", "% of the view a second", _PERCENT, ("camera_motion",), skewed=True),
    _Measured("camera_motion", "camera motion", "% of the view", _PERCENT, ("camera_motion",), skewed=True),
    _Measured(
        "hole.hole_fraction", "size of the hole", "% of the frame", _PERCENT,
        ("size", *_CLOSED, "mask_error", "blocks_kept", "hole_area", "object_size"), skewed=True,
    ),
    _Measured(
        "hole.centroid_displacement_pixels", "displacement of the hole", "pixels",
        of=("displacement", "hole_duration", "resolution"),
    ),
    _Measured("hole.pose_change", "change of the hole's shape", of=("pose", "speed", *_CLOSED)),
    _Measured("bg_scene_motion", "background scene motion", "% of the view", _PERCENT, ("bg_scene_motion",), skewed=True),
    _Measured(
        "hole.centroid_speed_pixels_per_frame", "speed of the hole", "pixels a frame",
        of=("displacement", "speed", *_CLOSED, "resolution"),
    ),
    _Measured("mask.mask_iou", "agreement of the mask with the exact one"),
    _Measured("mask.overlay_fraction", "size of the overlay", "% of the frame", _PERCENT, skewed=True),
    _Measured("mask.joints_hidden", "hidden joints", of=("blocks_kept",)),
    _Measured("degradation.wear_rms", "wear of the print", "%", _PERCENT, ("degradation",)),
    _Measured("mask.effect_levels", "strength of the side effect", "levels", of=("effect_strength",)),
    _Measured(
        "mask.effect_fraction", "size of the side effect", "% of the frame", _PERCENT, ("effect_strength",), skewed=True
    ),
    _Measured("warp_valid_share", "what optical flow explains", "% of the pixels", _PERCENT),
    _Measured(
        "mask.axis_camera_widths_per_frame", "motion of the camera path", "% of the view a frame", _PERCENT, ("camera_path",)
    ),
    _Measured("mask.axis_frame_step", "distance of neighbouring frames", "frames of the film", of=("speed",), unchanged=1.0),
    _Measured("mask.axis_share_of_frames", "frames with a hole", "%", _PERCENT, _CLOSED, unchanged=1.0),
    _Measured("mask.axis_mask_iou", "agreement of the mask with what is missing", of=("mask_error",), unchanged=1.0),
    _Measured("mask.axis_noise_levels", "noise of the known pixels", "levels", of=("known_noise",), unchanged=0.0),
    _Measured("mask.axis_blur_pixels", "blur of the known pixels", "pixels", of=("known_blur",), unchanged=0.0),
    _Measured("mask.axis_known_psnr_db", "PSNR of the known pixels", "dB", of=("known_noise", "known_blur", "known_compression")),
)  # fmt: skip
"""In the order in which they are taken where several say the same."""


class Factor(NamedTuple):
    """One thing that differs between items."""

    name: str
    """Of the axis, of the slices ``NAME-low`` and ``NAME-high``, or of the attribute."""
    kind: Kind
    """``"paired"``: items of one clip differ in it alone; ``"labelled"``: slices of other items; ``"measured"``: a number of each
    item."""
    levels: tuple[str, ...]
    """Least first; none of a measured one."""
    step: str
    """One step in words: ``low to high``; of a measured one a standard deviation around the mean, ``18.2 to 37.2 pixels``."""
    label: str = ""
    """What it is in words: ``size of the hole``."""


NO_FACTOR = Factor("", "labelled", (), "")
"""Of effects that are of none."""


class Step(NamedTuple):
    """Pairs of items that differ in one axis alone."""

    factor: Factor
    low_level: str
    high_level: str
    low: Places
    """``int64[pairs]``, places of the items of the lower level."""
    high: Places


@dataclass(frozen=True, eq=False)
class Factors:
    """The factors of a dataset as columns, a row for each item in the order of ``Results.sources``."""

    steps: tuple[Step, ...]
    """Of each axis every level against the first. Against its neighbour, an effect that grows from level to level would be cut
    into pieces, each harder to tell from chance than the whole."""
    columns: tuple[tuple[Factor, Array], ...]
    """Of measured and labelled factors, ``float64[items]``, NaN where unknown: a measured one in standard deviations from its
    mean, a labelled one -1/2 (low), 1/2 (high) or 0 (neither)."""
    measured: tuple[tuple[Factor, Array], ...]
    """Of every measured attribute that differs, the ones that an axis changes too, ``float64[items]`` in its own unit; none that
    says nearly the same as another."""
    beside: Array
    """``float64[items, k]``: what else a regression holds constant, levels of axes and whether an item has a label at all."""
    left_out: Mapping[str, str]
    """Factor -> why it is not looked at."""

    @property
    def all(self) -> tuple[Factor, ...]:
        """Every factor once."""
        return tuple(dict.fromkeys([*(step.factor for step in self.steps), *(factor for factor, _ in self.columns)]))

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """``bool[items]``: every column has a value."""
        missing = [np.isnan(values) for _, values in self.columns] or [np.zeros(len(self.beside), np.bool_)]
        return np.asarray(~np.any(missing, axis=0))


@kept
def factors_of(results: Results) -> Factors:
    """What differs between the items of a dataset and rests on enough sources; read once for each ``results``."""
    return _Finder(results).found()


def source_numbers(results: Results) -> Places:
    """``int64[items]``: a number for the source of each item, those of sources in the order of their names."""
    names = {source: index for index, source in enumerate(sorted(set(results.sources.values())))}
    return np.array([names[source] for source in results.sources.values()], np.int64)


# Regions of the mask that methods are given.
_OF_THE_MASK = ("hole", "band")


def not_compared_in(results: Results, region: str) -> frozenset[str]:
    """Axes whose levels are not compared in a region: it is where the given mask is, and these levels give others of one hole.

    A mask that is too small lacks the rim of what is missing, which is no less missing for it.
    """
    axes = results.dataset.facts.get("axes", ()) if region in _OF_THE_MASK else ()
    return frozenset(str(axis["name"]) for axis in axes if not axis.get("exact", True))


class _Finder:
    def __init__(self, results: Results) -> None:
        self.results, self.sources = results, source_numbers(results)
        self.places = {item_id: place for place, item_id in enumerate(results.sources)}
        self.left_out: dict[str, str] = {}
        self.columns: list[tuple[Factor, Array]] = []
        self.beside: list[Array] = []
        axes: Sequence[Mapping[str, Any]] = results.dataset.facts.get("axes", ())
        self.levels = {str(axis["name"]): tuple(map(str, axis["levels"])) for axis in axes}
        self.labels = {str(axis["name"]): str(axis.get("property", axis["name"])) for axis in axes}
        self.groups: dict[str, dict[str, dict[str, int]]] = {name: {} for name in self.levels}
        self.numbers = {one.name: np.full(len(self.sources), math.nan) for one in MEASURED}
        self.as_cut = np.ones(len(self.sources), np.bool_)
        for place, (attributes, parameters) in enumerate(_facts_of(results.dataset)):
            self.as_cut[place] = "of_clip" not in parameters
            for name, values in self.numbers.items():
                value = attributes.get(name)
                if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                    values[place] = value
            for name, groups in self.groups.items():
                level, group = attributes.get(LEVEL_OF + name), attributes.get(PAIR_OF + name)
                if level is not None and group is not None:
                    groups.setdefault(str(group), {})[str(level)] = place
        for one in MEASURED:
            if one.unchanged is not None:
                of_axes = (own for axis in one.of for own in self.groups.get(axis, {}).values())
                values, places = self.numbers[one.name], [place for own in of_axes for place in own.values()]
                values[places] = np.where(np.isnan(values[places]), one.unchanged, values[places])

    def found(self) -> Factors:
        """Measured attributes first, since a label that is cut from a told one says nothing more."""
        steps = tuple(self._steps())
        self.beside = [*self._levels()]
        measured: list[tuple[Factor, Array]] = []
        covered = dict.fromkeys(self.levels, "")
        for one in MEASURED:
            values = self.numbers[one.name]
            if (own := _measured(one, values)) is None:
                continue
            if axis := next((name for name in one.of if name in self.levels), None):
                self.left_out[one.name] = f"changed by the axis {axis}, whose pairs tell what that does"
            elif self._kept(*own) is not None:
                covered |= {name: f"told by the number that it is cut from, {one.name}" for name in one.of if name not in covered}
            if self.left_out.get(one.name) != _SAME:
                measured.append((own[0], values))
        for pair in self.results.pairs:
            if (why := covered.get(pair.attribute)) is not None:
                self.left_out |= {pair.attribute: why} if why else {}
            elif (column := self._labelled(pair.attribute, pair.low, pair.high)) is not None and not column.all():
                self.beside.append((column == 0).astype(np.float64))
        beside = np.stack(self.beside, axis=1) if self.beside else np.zeros((len(self.sources), 0))
        # Numbers that an axis states of its own levels are missed by nobody.
        left_out = {name: why for name, why in self.left_out.items() if not name.startswith("mask.axis_")}
        return Factors(steps, tuple(self.columns), tuple(measured), beside, left_out)

    def _steps(self) -> Iterator[Step]:
        for name, (first, *others) in self.levels.items():
            factor = Factor(name, "paired", (first, *others), f"{first} to {' or '.join(others)}", self.labels[name])
            whys: dict[str, str] = {}
            for high in others:
                pairs = [(own[first], own[high]) for own in self.groups[name].values() if first in own and high in own]
                low_places, high_places = np.array(pairs, np.int64).reshape(-1, 2).T
                if why := too_few(len(np.unique(self.sources[low_places]))):
                    whys[f"{name}, {first} to {high}"] = why
                else:
                    yield Step(factor, first, high, low_places, high_places)
            self.left_out |= {name: next(iter(whys.values()))} if whys and len(whys) == len(others) else whys

    def _levels(self) -> Iterator[Array]:
        """An indicator for each level of each axis."""
        for name, levels in self.levels.items():
            for level in levels:
                column = np.zeros(len(self.sources))
                column[[own[level] for own in self.groups[name].values() if level in own]] = 1
                if column.any():
                    yield column

    def _labelled(self, name: str, low: Slice, high: Slice) -> Array | None:
        column = np.zeros(len(self.sources))
        for part, value in ((low, -0.5), (high, 0.5)):
            column[[self.places[item_id] for item_id in part.item_ids]] = value
            if why := too_few(len(np.unique(self.sources[column == value]))):
                self.left_out[name] = why
                return None
        return self._kept(Factor(name, "labelled", ("low", "high"), "low to high", name.replace("_", " ")), column)

    def _kept(self, factor: Factor, column: Array) -> Array | None:
        """The column, taken in; or None with the reason in ``left_out``."""
        why = self._against(column)
        if why is not None:
            self.left_out[factor.name] = why
            return None
        self.columns.append((factor, column))
        return column

    def _against(self, column: Array) -> str | None:
        """Reason against a column beside those that are taken in; None where there is none."""
        taken = [known for _, known in self.columns]
        used = ~np.any([np.isnan(one) for one in (column, *taken)], axis=0)
        # What films show by themselves is measured on the clips that are cut from them.
        share = used[self.as_cut]
        if 2 * share.sum() < len(share):
            of = "items" if self.as_cut.all() else "items that show an unchanged clip"
            known = "it is known" if not taken else "it and every attribute taken before it are known"
            return f"{known} of only {share.sum():,} of {len(share):,} {of}, and half are needed"
        n_sources = len(np.unique(self.sources[used]))
        if n_sources < _SOURCES_OF_SLOPES:
            return f"{n_sources} sources: a slope needs at least {_SOURCES_OF_SLOPES}"
        if (len(taken) + 1) * _SOURCES_EACH > n_sources:
            return f"{n_sources} sources do not tell more than {len(taken)} attributes apart"
        own = column[used] - column[used].mean()
        if not own.any():
            return "the same of all items of which every number is known"
        others = np.stack([np.ones(len(own)), *(one[used] for one in (*self.beside, *taken))], axis=1)
        rest = own - others @ np.linalg.lstsq(others, own, rcond=None)[0]
        if rest @ rest < (1 - _MOST_SHARED) * (own @ own):
            return _SAME
        decided = np.bincount(self.sources[used], rest**2)
        effective = float(decided.sum() ** 2 / (decided**2).sum())
        return f"a few sources decide it, as if there were {effective:.1f}" if effective < _EFFECTIVE_SOURCES else None


def _measured(one: _Measured, values: Array) -> tuple[Factor, Array] | None:
    """A measured attribute in standard deviations from its mean; None where no item has it, or all the same: nobody misses it."""
    there = ~np.isnan(values)
    if not there.any() or np.ptp(values[there]) == 0:
        return None
    # Where more than half are 0 the mean takes the place of the median.
    skewed = one.skewed and values[there].min() >= 0  # labels that people give may be anything
    typical = float(np.median(values[there]) or values[there].mean()) if skewed else 0.0
    scaled = np.log(values + typical) if skewed else values
    mean, deviation = float(scaled[there].mean()), float(scaled[there].std())
    ends = mean - deviation / 2, mean + deviation / 2
    low, high = (max(0.0, math.exp(end) - typical) for end in ends) if skewed else ends
    words = f"{one.scale * low:.3g} to {one.scale * high:.3g} {one.unit}".strip()
    return Factor(one.name, "measured", (), words, one.label), (scaled - mean) / deviation


def _facts_of(dataset: Dataset) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Attributes of the items in their order and the parameters that made them, item by item."""
    if not isinstance(dataset.items, Rows):
        yield from ((row.get("attributes", {}), row.get("generator_parameters", {})) for row in dataset.items)
        return
    for batch in dataset.items.batches(JSON_COLUMNS):
        for texts in zip(*(batch[name].to_pylist() for name in JSON_COLUMNS), strict=True):
            attributes, parameters = map(mapping_of, texts)
            yield attributes, parameters
