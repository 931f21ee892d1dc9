"""Metrics of EditBoard, AAAI 2025: does an edit move as its source does, and leave everything but one object as it was?"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Unpack, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation
from inpaintbench.eval.adapters.fitting import sizes_in_words
from inpaintbench.eval.metrics.base import (
    INAPPLICABLE,
    Measurement,
    SingleRegionMetric,
    SingleRegionTogether,
    Where,
    mean_over_clip,
)
from inpaintbench.eval.metrics.warp_error import FlowMetric
from inpaintbench.eval.passes.flow_pairs import Field, Mask, SourceRule, carried, largest, sources
from inpaintbench.ranges import Pixels, Share, WholeLevel
from inpaintbench.types import Frames
from inpaintbench.video.images import gif_frames
from inpaintbench.view import ItemView

Empty = Literal["no_value", "leave_out"]


def check_empty(rule: Empty) -> Empty:
    """``rule`` when it is one of the two."""
    if rule not in get_args(Empty):
        raise ValueError(f"empty is {rule!r}, choose {' or '.join(map(repr, get_args(Empty)))}")
    return rule


def misfit(view: ItemView) -> str | None:
    """Return why the edited frames cannot be laid over those of the source; None where they can."""
    if view.prediction.shape == view.truth.shape:
        return None
    shape, asked = sizes_in_words(view.prediction.shape, view.truth.shape)
    return f"the edit is {shape}, its source is {asked}"


def mean_over_edit(
    values: Sequence[float | None], *, parts: str, lacking: str, empty: Empty, details: Mapping[str, Any]
) -> Measurement:
    """The mean over the frames or pairs of an edit, with the value of each in the details.

    Args:
        values: of each part; None where no pixel is left to measure, NaN where it could not be measured.
        parts: "frames" or "pairs".
        lacking: what such a part lacks, to complete "no pair has ...".
        empty: whether one such part leaves the clip without a value, or is left out of the mean.
        details: further ones.
    """
    known = [value for value in values if value is not None]
    mean = mean_over_clip(known, parts=parts, missing=f"no {parts.removesuffix('s')} has {lacking}")
    numbers = [None if value is None or math.isnan(value) else value for value in values]
    facts = {**mean.details, f"{parts.removesuffix('s')}_values": numbers, **details}
    missing = len(values) - len(known)
    if not missing:
        return Measurement(mean.value, mean.reason, facts)
    facts[f"empty_{parts}"] = missing
    if not known or empty == "leave_out":
        return Measurement(mean.value, mean.reason, facts)
    return Measurement(None, f"{missing} of {len(values)} {parts} lack {lacking}", facts)


WITHOUT_GIF = Deviation(
    "what the metric looks at",
    "a GIF of 256 colours without repeated frames, written into the user's folder",
    "the frames themselves; with `gif` such a GIF is looked at, in memory",
    "40 dB between both on EditBoard's photographs; stuttering clips are measured on all their frames, still ones have a value",
    {"gif": False},
)


def through_gif(view: ItemView) -> ItemView:
    """A view whose prediction went through a GIF: fewer colours, and of equal frames in a row one alone."""
    frames = view.prediction
    seen: Frames = view.shared.once_of([frames], ("gif",), lambda: gif_frames(frames))
    return ItemView.of_arrays(item_id=view.item_id, fps=view.fps, shared=view.shared, prediction=seen)


OTHER_FLOW = Deviation(
    "optical flow",
    "the paper names PWC-Net and FlowNet",
    "RAFT (large, torchvision's parameters)",
    "numbers of another flow, which compare with none that were printed",
    {"flow": "raft_large"},
)


class SourceConstants(Where):
    """Constants of metrics of an edit along its source's motion; see ``FfAlpha``."""

    flow: str
    mask: Mask
    mask_level: WholeLevel
    least_valid_share: Share


class SourceMetric(SingleRegionTogether, FlowMetric):
    """Base of FF-alpha and FF-beta; arguments as for ``FfAlpha``."""

    diagnostic = "it asks for motion alone, which a blurred clip can keep better than a sharp one, and an unchanged one best"
    higher_is_better = False
    needs = ("truth", "prediction")

    def __init__(
        self, *, flow: str, mask: Mask, mask_level: WholeLevel, least_valid_share: Share, **where: Unpack[Where]
    ) -> None:
        super().__init__(**where)
        self.rule = SourceRule(flow, mask, mask_level, least_valid_share)

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """Several edits of one source, whose flow is estimated once; those that do not fit it have no value."""
        misfits = [misfit(view) for view in views]
        fitting = [view.prediction for view, fault in zip(views, misfits, strict=True) if fault is None]
        measured = iter(self.of_edits(views[0], fitting))
        return [next(measured) if fault is None else Measurement(None, fault) for fault in misfits]

    @abstractmethod
    def of_edits(self, source: ItemView, edits: Sequence[Frames]) -> Iterable[Measurement]:
        """The value of each of several edits that fit their source."""


class FfAlpha(SourceMetric):
    """Mean difference between each edited frame and the one before it, carried along the optical flow of the source.

    EditBoard, AAAI 2025: with F the flow from frame i of the source to the next, a frame X is carried to p by reading it,
    bilinearly, at p - F(p), black outside. Where the carried source looks like its next frame the pixel is valid; there the
    largest absolute difference over the channels between the edit's next frame and its carried frame counts. A pair's value
    is the mean over its valid pixels, in grey levels 0..255, the clip's the mean over pairs. Lower is better; a copy of the
    source does not get 0 but what the flow fails to explain of the source.

    Clips with too few valid pixels have no value here: FF-beta applies to them. The released code scores them 0, which would be
    the best there is. It divides counts by 512 x 512 whatever the size of the frames, here it is their own size. The valid share
    belongs to the source, so it is the same for all its edits. The details hold it with that of each pair, the value of each
    pair, and which of both metrics applies.

    Args:
        flow: one of ``inpaintbench.eval.flows.FLOWS``. Values of different flows do not compare.
        mask: ``"luma_at_most"`` or ``"channels_below"``, see ``passes.flow_pairs.SourceRule``.
        mask_level: grey levels of the mask. The paper does not say it; 5 in the released code.
        least_valid_share: of a clip that has a value. The paper does not say it; 0.70 in the released code.
        empty: ``"no_value"``: a pair without a valid pixel leaves the clip without a value, where the released code gives NaN;
            ``"leave_out"``: such a pair is left out of the mean.
    """

    name = "ff_alpha"
    version = "1"
    label = "FF-alpha"
    deviations = (
        Deviation(
            "valid share",
            "valid pixels over 512 x 512, whatever the size of the frames",
            "over the pixels that the frames have",
            "none at 512x512; at other sizes the released share is wrong, and with it which of FF-alpha and FF-beta applies",
        ),
        Deviation(
            "valid share below the limit",
            "the clip scores 0, the best there is",
            "no value, and FF-beta applies",
            "means of FF-alpha rise where such clips are",
            {"flow": "farneback"},
        ),
        Deviation(
            "pairs without a valid pixel",
            "the clip is NaN, and so is every mean with it",
            "the clip has no value, and a reason",
            "none where the mask leaves something in every pair",
            {"empty": "no_value"},
        ),
        Deviation(
            "version of OpenCV, whose Farneback flow differs",
            "whichever is installed",
            "whichever is installed",
            "15.5548 by OpenCV 4.10 and 15.5556 by 5.0 on EditBoard's sample `bear_white`",
            {"flow": "farneback"},
        ),
        OTHER_FLOW,
        Deviation(
            "level of the mask, least valid share",
            "the paper does not state them",
            "5 grey levels and 0.70, those of the released code",
            "both decide which clips have a value: EditBoard's sample has a share of 0.62 by this mask, of 0.79 by the code's",
            {"mask": "channels_below"},
        ),
    )
    unit = "grey levels"
    decimals = 3

    def __init__(self, *, empty: Empty, **source: Unpack[SourceConstants]) -> None:
        super().__init__(**source)
        self.empty = check_empty(empty)

    def of_edits(self, source: ItemView, edits: Sequence[Frames]) -> list[Measurement]:
        """See ``SourceMetric``."""
        values: list[list[float | None]] = [[] for _ in edits]
        counts = []
        for pair in self.rule.pairs(source):
            valid = pair.valid.view(np.uint8)
            counts.append(cv2.countNonZero(valid))
            places = sources(pair.motion)
            for edit, of_edit in zip(edits, values, strict=True):
                levels = largest(cv2.absdiff(edit[pair.first + 1], carried(edit[pair.first], places)))
                total = float(cv2.sumElems(cv2.multiply(levels, valid))[0])  # a whole number
                of_edit.append(total / counts[-1] if counts[-1] else None)
        facts = self.rule.facts(counts, source)
        found = [mean_over_edit(one, parts="pairs", lacking="a valid pixel", empty=self.empty, details=facts) for one in values]
        if facts["applies"] == "ff_alpha":
            return found
        shares = f"{100 * facts['valid_share']:.2f} % of the source's pixels follow its flow"
        reason = f"{shares}, fewer than the {100 * self.rule.least_valid_share:g} % of FF-alpha: FF-beta applies"
        return [replace(one, value=None, reason=reason) for one in found]


# Of one frame, `float32[H, W]`.
Plane = npt.NDArray[Any]
# Added to both lengths, so that vectors of no length have a cosine of 0.
_LENGTH_OFFSET_PIXELS = 1e-7


class FfBeta(SourceMetric):
    """Mean over pixels of 1 - cosine between the optical flow of the source and that of its edit, averaged over pairs of frames.

    EditBoard, AAAI 2025: with a and b the two flows at a pixel, 1 - a.b / ((|a| + 1e-7) (|b| + 1e-7)). From 0, the same
    directions everywhere, over 1 for perpendicular ones to 2 for opposite ones; lower is better. Lengths do not count. A pixel
    where either does not move costs 1, so that a still clip does not get 0 against itself: ``least_motion_pixels`` leaves out
    what moves neither in the source nor in the edit, and a pair in which nothing does costs 0.

    It is meant for clips to which FF-alpha does not apply, and computed for all. The details tell which of both applies, with
    the valid share of the source behind it; the share of pixels that count; and the value of each pair.

    Args:
        flow: one of ``inpaintbench.eval.flows.FLOWS``, for both clips. Values of different flows do not compare.
        mask: as in FF-alpha, for the valid share.
        mask_level: as in FF-alpha.
        least_valid_share: as in FF-alpha.
        least_motion_pixels: a pixel counts where one of both vectors is at least so long; 0 counts all, as published.
    """

    name = "ff_beta"
    label = "FF-beta"
    deviations = (OTHER_FLOW,)
    version = "2"
    decimals = 4

    def __init__(self, *, least_motion_pixels: Pixels, **source: Unpack[SourceConstants]) -> None:
        if not least_motion_pixels >= 0:
            raise ValueError(f"least_motion_pixels is {least_motion_pixels}, it must be 0 or more")
        super().__init__(**source)
        self.least_motion_pixels = least_motion_pixels

    def of_edits(self, source: ItemView, edits: Sequence[Frames]) -> list[Measurement]:
        """See ``SourceMetric``."""
        angles: list[list[_Angle]] = [[] for _ in edits]
        counts: list[int] = []
        leaf = self.rule.leaf
        for batch in self.rule.batches(source):
            counts += [int(np.count_nonzero(pair.valid)) for pair in batch]
            directions = [_directions(pair.motion) for pair in batch]
            for edit, of_edit in zip(edits, angles, strict=True):
                frames = edit[batch[0].first : batch[-1].first + 2]
                motions = leaf.flow(frames[:-1], frames[1:], source.shared.compute)
                of_edit += [
                    _angle(*one, other, least=self.least_motion_pixels) for one, other in zip(directions, motions, strict=True)
                ]
        facts = self.rule.facts(counts, source)
        return [
            mean_over_edit(
                [angle.value for angle in of_edit], parts="pairs", lacking="a pixel that counts", empty="leave_out",
                details={**facts, "counted_share": sum(angle.share for angle in of_edit) / len(of_edit)},
            )
            for of_edit in angles
        ]  # fmt: skip


class _Angle(NamedTuple):
    value: float
    """Mean of 1 - cosine over the pixels that count; 0 without one, NaN where the flow of the edit is not finite."""
    share: float
    """Share of pixels that count."""


def _directions(motion: Field) -> tuple[Plane, Plane, Plane]:
    """Both parts of vectors of length 1 (0 where nothing moves), and the lengths that they had."""
    right, down = cv2.split(motion)
    lengths = _lengths(right, down)
    offset = lengths + _LENGTH_OFFSET_PIXELS
    return right / offset, down / offset, lengths


def _lengths(right: Plane, down: Plane) -> Plane:
    # Not OpenCV's, whose last digit depends on where in memory the numbers lie.
    squares = right * right
    squares += down * down
    np.sqrt(squares, out=squares)
    return squares


def _angle(right: Plane, down: Plane, lengths: Plane, other: Field, *, least: float) -> _Angle:
    other_right, other_down = cv2.split(other)
    other_lengths = _lengths(other_right, other_down)
    if not math.isfinite(np.sum(other_lengths)):
        return _Angle(math.nan, 0.0)
    # Written over what was split: new memory would take as long as the sums.
    cosines = np.multiply(other_right, right, out=other_right)
    cosines += np.multiply(other_down, down, out=other_down)
    cosines /= other_lengths + _LENGTH_OFFSET_PIXELS
    if least == 0:
        return _Angle(_one_less(cosines, cosines.size), 1.0)
    moving = np.maximum(lengths, other_lengths) >= least
    count = int(np.count_nonzero(moving))
    cosines *= moving
    # Where nothing moves in either they agree: without a value, who keeps a still clip still would be left out of the means that
    # whoever makes it flicker is in.
    return _Angle(_one_less(cosines, count) if count else 0.0, count / moving.size)


def _one_less(cosines: Plane, count: int) -> float:
    return max(0.0, 1 - float(np.sum(cosines, dtype=np.float64)) / count)  # rounded cosines can be above 1


NO_MASK = "the item has no mask of an object"


class SemanticScore(SingleRegionMetric):
    """Mean over the pixels outside the object's mask of the largest absolute difference over channels, edit against source.

    EditBoard, AAAI 2025, in grey levels 0..255, each frame with equal weight; lower is better, 0 where nothing but the object was
    touched. It is defined for edits of a single object: items without a mask have no value, and neither have those whose
    mask is empty in every frame, where the released code would measure the whole frame. A frame without the object counts whole.
    The details hold the value of each frame and the share of pixels that count.

    Args:
        empty: ``"no_value"``: a frame that the mask covers whole leaves the clip without a value, where the released code gives
            NaN; ``"leave_out"``: such a frame is left out of the mean.
    """

    name = "semantic_score"
    version = "1"
    deviations = (
        Deviation(
            "masks that are empty in every frame",
            "the whole frame is measured",
            "no value: the edit has no object",
            "means are over fewer clips",
        ),
        Deviation(
            "a frame that the mask covers whole",
            "the clip is NaN",
            "the clip has no value, and a reason",
            "none where the mask leaves something in every frame",
            {"empty": "no_value"},
        ),
        Deviation(
            "numbers of frames",
            "the sum over the frames of the mask, divided by the number of frames of the original",
            "a mask with another number of frames is refused",
            "none where both numbers are the same",
        ),
    )
    unit = "grey levels"
    higher_is_better = False
    decimals = 3
    needs = ("truth", "prediction", "object_mask")

    def __init__(self, *, empty: Empty, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.empty = check_empty(empty)

    def measurement(self, view: ItemView) -> Measurement:
        """A value in 0..255; None where there is no mask, or it or the edit does not fit the source."""
        if not view.has("object_mask"):
            return Measurement(None, NO_MASK, {INAPPLICABLE: True})
        mask, wanted = view.object_mask, view.truth.shape[:3]
        if mask.shape != wanted:
            shape, asked = ("x".join(map(str, shape)) for shape in (mask.shape, wanted))
            return Measurement(None, f"the object's mask has the shape {shape} (frames, height, width), its source {asked}")
        if not mask.any():
            return Measurement(None, "the mask of the object is empty in every frame")
        if fault := misfit(view):
            return Measurement(None, fault)
        values: list[float | None] = []
        counted = 0
        for edit, source, masked in zip(view.prediction, view.truth, mask, strict=True):
            outside = (~masked).view(np.uint8)
            pixels = cv2.countNonZero(outside)
            levels = largest(cv2.absdiff(edit, source))
            # Sums of whole numbers are exact; OpenCV's mean under a mask is not.
            values.append(cv2.sumElems(cv2.multiply(levels, outside))[0] / pixels if pixels else None)
            counted += pixels
        share = counted / mask.size
        lacking = "a pixel outside the object's mask"
        return mean_over_edit(values, parts="frames", lacking=lacking, empty=self.empty, details={"counted_share": share})
