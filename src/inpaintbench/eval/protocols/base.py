"""Protocols: every constant of a measurement by its name, and a fingerprint of them all."""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, field_serializer, field_validator, model_validator

from inpaintbench.catalogue import Deviation, holding, known_name, tables_at
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Metric, check_regions
from inpaintbench.eval.values.statistics import InfiniteRule, check_infinite_rule
from inpaintbench.models import weights
from inpaintbench.types import Dataset, Plain, canonical_json

Constant = bool | int | float | str | None
# Fields that came after the first scores were published.
_LATER = ("missing", "size", "hole_dilations", "known_from", "resample", "by_item", "object_is_hole")
# The same of constants of metrics, with what metrics did before they could be said.
_LATER_CONSTANTS: Mapping[str, Constant] = {
    "averaged": "decibels",
    "ceiling_decibels": None,
    "least_cosine": 0.0,
    "missing_joints": "leave_out",
    "encoder": "program",
    "levels": "exact",
    "network": "dino-vit-b-16",
    "stride": 1,
}
# Fields that change no score.
_OF_RANKS = ("primary", "ranked_against", "mean_places")
# How intervals were made when protocols still said so. No score depends on it, but every published fingerprint holds it.
_ONCE_SAID = {"interval": [0.95, 2000, 0]}


class Protocol(BaseModel):
    """A named way to measure.

    Fields with one allowed value state what the code does with pixels; another value is refused instead of being believed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    name: str
    metrics: Mapping[str, Mapping[str, Constant]]
    """Metric -> its own constants, all of them."""
    regions: tuple[str, ...]
    band_radius_pixels: PositiveInt = 8
    """Reach of the boundary band on both sides of the hole's border; where nothing is measured there, no score depends on it. At
    832x480 eight pixels are wide enough to hold a seam and narrow enough to be about nothing else."""
    primary: tuple[str, str]
    """Metric and region that claims are made of, chosen before anything is scored; all others are exploratory."""
    composite: bool = True
    """Known pixels are laid around the prediction before anything is measured; False: predictions are measured as given."""
    known_from: Literal["truth", "input"] = "truth"
    """Part that known pixels come from. In the input of an item whose object is to be removed they still show its shadow, say."""
    object_is_hole: bool = False
    """The hole of an item without an object mask is exact, and stands for its object; False: nothing is measured there."""
    polarity: Literal["true_is_hole"] = "true_is_hole"
    colours: Literal["rgb_full_range", "grey"] = "rgb_full_range"
    """Three channels of 0..255, or their ITU-R 601 luma in whole levels (Pillow's mode L); measured as 0..1."""
    resize: Literal["none", "nearest"] = "none"
    """Predictions have the size of the published truth; padding for a method is cropped off before. One of another size is not
    measured, or is brought to that size by the nearest pixel."""
    missing: Mapping[str, float] = {}
    """Metric -> what a missing or unreadable prediction scores; a metric that is not named here has no value then."""
    size: tuple[PositiveInt, PositiveInt] | None = None
    """Width and height at which everything is measured, frames by ``resample``, masks by the nearest pixel; None = those of the
    published truth."""
    resample: Literal["pillow-bicubic", "opencv-linear", "none"] = "pillow-bicubic"
    """Filter that brings frames to ``size``: Pillow's bicubic one, whose reach grows with the scale; OpenCV's bilinear one, whose
    reach does not; none, so that items of another size are not measured."""
    hole_dilations: NonNegativeInt = 0
    """Number of times that the hole grows by a 3x3 cross, at the size of the measurement, before it is filled from the
    prediction.
    """
    averaging: Literal["frames_then_items", "all_frames"] = "frames_then_items"
    """Unit that weighs the same in means over items: each item, or each frame (pair of frames) that has a value."""
    by_item: tuple[str, ...] = ()
    """Metrics of which each item weighs the same whatever ``averaging`` says."""
    ranked_against: tuple[str, ...] = ()
    """Metrics that `eval table --for ranks` orders against their direction, as a challenge printed it; no score depends on it."""
    mean_places: Literal["rounded", "truncated"] = "rounded"
    """Way in which `eval table --for ranks` brings mean places to one decimal; no score depends on it."""
    follows: str = Field("", exclude=True)
    """The publication whose numbers it is to give, and which form of it; empty for protocols that follow none."""
    scorer: str = Field("", exclude=True)
    """Module that scores under it in place of `eval run`, for metrics that run methods again: its functions ``score`` (the
    command), ``mark`` (behind the fingerprint, of what a run chooses where nothing was chosen) and ``cautions`` (sentences that
    readers of its tables have to know); empty for all that look once at a prediction."""
    deviations: tuple[Deviation, ...] = Field((), exclude=True)
    """Differences from what it follows, beside what its metrics state of themselves: see ``all_deviations``."""

    @field_validator("regions")
    @classmethod
    def _known_regions(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return check_regions(names)

    @model_validator(mode="after")
    def _fits_itself(self) -> Protocol:
        metric, region = self.primary
        for name in (*self.missing, *self.ranked_against, *self.by_item, metric):
            self._known_metric(name)
        known_name(f"region of protocol {self.name!r}:", region, self.regions)
        for name, value in self.missing.items():
            if math.isnan(value):
                raise ValueError(f"a missing prediction cannot score NaN in {name!r}; leave {name!r} out for no value")
        # Predictions that are measured whole are measured as they are.
        if not self.composite and (self.size is not None or self.hole_dilations):
            raise ValueError("size and hole_dilations are of composites: leave them out, or composite=False")
        if self.size is None and self.resample != "pillow-bicubic":
            raise ValueError(f"resample {self.resample!r} does nothing without a size")
        return self

    @field_serializer("missing", when_used="json")
    def _infinity_as_text(self, missing: Mapping[str, float]) -> dict[str, float | str]:
        return {name: value if math.isfinite(value) else str(value) for name, value in missing.items()}

    @property
    def command(self) -> str:
        """Words of the command that scores under it."""
        return next((command for name in self.metrics if (command := METRICS.get(name).command)), "eval run --for scores")

    def its_scorer(self) -> Any:
        """The module ``scorer``; None where there is none."""
        return importlib.import_module(self.scorer) if self.scorer else None

    def fingerprint_of(self, dataset: Dataset) -> str:
        """The fingerprint of scores of a dataset for which nothing was chosen."""
        scorer = self.its_scorer()
        return self.fingerprint + (scorer.mark(self, dataset) if scorer else "")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields, of which nothing is known yet."""
        made = super().model_copy(update=update, deep=deep)
        made.__dict__.pop("_said", None)
        return made

    @property
    def fingerprint(self) -> str:
        """12 hex digits that change with any constant, the version of any metric and the weights of any network, but not with
        the protocol's name.

        A protocol that leaves a field of ``_LATER`` unsaid, or says one of ``_LATER_CONSTANTS`` as it used to be, has the digits
        that it had before protocols could say it.
        """
        versions = {name: METRICS.get(name).version for name in self.metrics}
        digests = {name: weights.named(name).sha256 for name in self.weights_of()}
        texts = [self._said, canonical_json(versions), *([canonical_json(digests)] if digests else [])]
        return hashlib.sha256(f"[{','.join(texts)}]".encode()).hexdigest()[:12]

    @cached_property
    def _said(self) -> str:
        """The constants as canonical JSON, which takes longer than all else of a fingerprint."""
        unsaid = {"name", *_OF_RANKS, *(name for name in _LATER if getattr(self, name) == type(self).model_fields[name].default)}
        said = {**self.model_dump(mode="json", exclude=unsaid), **_ONCE_SAID}
        said["metrics"] = {
            # Less constants of ``_LATER_CONSTANTS`` that say what the metric did before.
            name: {key: value for key, value in constants.items() if _LATER_CONSTANTS.get(key, ...) != value}
            for name, constants in self.metrics.items()
        }
        return canonical_json(said)

    def weights_of(self, metrics: Sequence[str] | None = None) -> list[str]:
        """Names in ``weights.toml`` of the parameters that some metrics need, or all of the protocol's."""
        names = self.metrics if metrics is None else metrics
        return list(dict.fromkeys(weight for name in names for weight in METRICS.get(name).weights_of(self.metrics[name])))

    def infinite_rule(self, metric: str) -> InfiniteRule:
        """Rule for infinite values of ``metric`` in means over items.

        Where a missing prediction scores infinity they stay, so that nobody gains by leaving an item out.
        """
        if math.isinf(self.missing.get(metric, 0.0)):
            return "keep"
        return check_infinite_rule(str(self.metrics[metric].get("infinite", "count")))  # type: ignore[arg-type]

    def gates(self, metric: str) -> bool:
        """Return whether nobody has a place by a metric without the consent of the primary quantity.

        A metric that damage can better needs it, but for published protocols, whose tables are as they were printed.
        """
        return bool(METRICS.get(metric).diagnostic) and not self.follows

    def ceiling_decibels(self, metric: str) -> float | None:
        """The largest value that ``metric`` gives, so that none is infinite; None where it has none."""
        ceiling = self.metrics[metric].get("ceiling_decibels")
        return None if ceiling is None else float(ceiling)

    def weight(self, metric: str, details: Plain) -> int:
        """Weight of an item in means over items: 1, or how many of its frames (pairs of frames) are in its value.

        Args:
            metric: its name.
            details: those of its measurement.
        """
        parts = next((name for name in ("frames", "pairs") if name in details), None)
        if self.averaging == "frames_then_items" or metric in self.by_item or parts is None:
            return 1
        infinite = int(details.get(f"infinite_{parts}", 0)) if self.infinite_rule(metric) == "count" else 0
        return (int(details[parts]) - infinite) or int(details[parts])

    def all_deviations(self) -> list[tuple[str, Deviation]]:
        """Return where it differs from what it follows, each with the metric that states it, or "" for its own.

        None of a free one.
        """
        if not self.follows:
            return []
        stated = [(name, one) for name in self.metrics for one in holding(METRICS.get(name).deviations, self.metrics[name])]
        return [("", deviation) for deviation in self.deviations] + stated

    def build_metrics(self, names: Sequence[str] | None = None, *, regions: Sequence[str] | None = None) -> list[Metric]:
        """The metrics ``names``, or all of the protocol's, ready to measure ``regions``, or all of its own.

        Raises:
            UnknownNameError: a name that is not a metric of this protocol.
        """
        where = self.regions if regions is None else tuple(regions)
        return [
            METRICS.get(self._known_metric(name))(
                regions=where, band_radius_pixels=self.band_radius_pixels, **dict[str, Any](self.metrics[name])
            )
            for name in (self.metrics if names is None else names)
        ]

    def _known_metric(self, name: str) -> str:
        return known_name(f"metric of protocol {self.name!r}:", name, self.metrics)


Constants = Mapping[str, float | str | None]

# PSNR of the error that rounding to 8 bits leaves: uniform within half a level, (1/255)^2 / 12 of squared intensity, which is 10
# log10(12 * 255^2) = 58.9226 dB. The truth itself is no nearer to the scene, so nothing is said to be better than this, and a
# perfect copy has a finite value. Two decimals, as it is printed: the last digits of a logarithm differ between machines.
CEILING_DECIBELS = 58.92

# Of the error pooled over a clip, at most the ceiling, so that nothing is infinite and nothing is left out. `keep`: were there
# something, it would stay.
POOLED: Constants = MappingProxyType(
    {"data_range": 1.0, "averaged": "errors", "ceiling_decibels": CEILING_DECIBELS, "infinite": "keep"}
)


def mean_of_decibels(infinite: InfiniteRule) -> Constants:
    """Decibels of each frame (pair of frames), then averaged, as papers have it; an exact one is infinite."""
    return {"data_range": 1.0, "averaged": "decibels", "ceiling_decibels": None, "infinite": infinite}


_UNIFORM_7: Mapping[str, float | int | str] = {
    "data_range": 1.0, "window": "uniform", "window_pixels": 7, "sigma": 0.0, "k1": 0.01, "k2": 0.03, "ddof": 1,
    "padding": "valid",
}  # fmt: skip
_GAUSSIAN_11 = {**_UNIFORM_7, "window": "gaussian", "window_pixels": 11, "sigma": 1.5, "ddof": 0}

# `uniform_7`: the default of scikit-image with the range that intensities have. `devil`: DEVIL, CVPR 2022, whose library guessed
# a range of 2, that of float images of -1..1. `wang`: Wang et al., 2004. `e2fgvi`: E2FGVI, CVPR 2022, and those who score with
# its code. `lama`: LaMa, WACV 2022. `torchmetrics`: the default of that package, 1.6 to 1.9, with which VideoPainter and FiVE
# score. The same pictures score differently under each.
SSIM_VARIANTS: Mapping[str, Mapping[str, float | int | str]] = MappingProxyType(
    {
        "uniform_7": _UNIFORM_7,
        "devil": {**_UNIFORM_7, "data_range": 2.0},
        "wang": _GAUSSIAN_11,
        "e2fgvi": {**_UNIFORM_7, "window_pixels": 65},
        "lama": {**_GAUSSIAN_11, "padding": "zero"},
        "torchmetrics": {**_GAUSSIAN_11, "padding": "mirror"},
    }
)

# Of the warping error, by Lai et al., ECCV 2018.
OCCLUSION = {"occlusion_relative": 0.01, "occlusion_absolute": 0.5, "boundary_relative": 0.01, "boundary_absolute": 0.002}
ALEX = {"net": "alex", "version": "0.1"}
# How pictures come into the network of FID.
INCEPTION: Mapping[str, str | int] = {"resize": "bilinear", "side_pixels": 299}

# Names of constants that metrics of several protocols share, as files of protocols bring them.
SHARED: Mapping[str, Mapping[str, Constant]] = {
    "pooled": POOLED,
    "unbounded": {"ceiling_decibels": None},
    **{f"decibels/{rule}": mean_of_decibels(rule) for rule in get_args(InfiniteRule)},
    **{f"ssim/{name}": constants for name, constants in SSIM_VARIANTS.items()},
    "occlusion": OCCLUSION,
    "alex": ALEX,
    "inception": INCEPTION,
}


@lru_cache
def protocols_in(address: str) -> dict[str, Protocol]:
    """Name -> protocol of a file, of which each table is one, with the fields of ``Protocol``.

    One that is ``like`` another above it has the fields of that where it states none of its own. Among the constants of a metric
    ``of`` brings others, in its place: those of a name in ``SHARED`` or in the file's table ``constants``, of several such names,
    or the constants that the same metric has in a protocol above.

    Args:
        address: ``package:FILE.toml``.

    Raises:
        ValueError: a protocol that does not fit itself.
    """
    tables, whole = tables_at(address), dict[str, dict[str, Any]]()
    sets = {**SHARED, **tables.pop("constants", {})}
    for name, stated in tables.items():
        whole[name] = {**whole.get(stated.pop("like", ""), {}), **stated}
        for metric, given in stated.get("metrics", {}).items():
            made: dict[str, Constant] = {}
            for key, value in given.items():
                if key != "of":
                    made[key] = value
                    continue
                for one in [value] if isinstance(value, str) else value:
                    made |= sets[one] if one in sets else whole[one]["metrics"][metric]
            stated["metrics"][metric] = made
    return {name: Protocol(name=name, **fields) for name, fields in whole.items()}
