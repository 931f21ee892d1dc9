"""RC-S and RC-T: whether what was filled in belongs to what surrounds it, and stays the same."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Unpack, get_args

import numpy as np

from inpaintbench.catalogue import known_name
from inpaintbench.deviations import Deviation
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, mean_over_clip
from inpaintbench.eval.passes.removal_tokens import (
    BACKBONES,
    Crop,
    Mask,
    Network,
    Picture,
    components,
    crop_tokens,
    discrepancy,
    network_of,
    square_of,
    windows,
)
from inpaintbench.view import ItemView

Rule = Literal["as-published", "corrected"]
# A window counts with more tokens than this of each side (RC-S), or at least so many (RC-T).
_FEW_TOKENS = 5
# Of RC-S: exp(-d / 3).
_SOFTNESS = 3.0


class _Coherence(SingleRegionMetric):
    """Base of both.

    Args:
        rule: ``"as-published"``: the square around a mask is cut to the frame's shorter side, and tokens beyond the last whole
            step of the windows are not looked at. ``"corrected"``: the square contains the mask and is filled up with the nearest
            pixels, which count as nothing, and windows reach the end.
        backbone: network of the tokens, one of ``removal_tokens.BACKBONES``; published is DINOv2-giant.
    """

    follows = "PROVE (Apache-2.0)"
    version = "1"
    diagnostic = "it knows no truth: a fill that is blurred resembles what surrounds it, and one that is frozen stays the same"
    decimals = 4
    needs = ("composite", "hole")
    deviations = (
        Deviation(
            "network",
            "DINOv2-giant, patches of 14 pixels",
            "DINO ViT-B/16 (Apache-2.0), whose weights this program knows",
            "values do not compare with those that others print",
        ),
        Deviation(
            "what belongs to a mask",
            "RC-S: every level above 0, so that a black which a codec brings to 1 leaves no background; RC-T: above 127",
            "the dataset's mask, which is exact",
            "frames that the code drops have a value",
        ),
    )

    def __init__(self, *, rule: Rule, backbone: str, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("rule", rule, get_args(Rule))
        self.rule: Rule = rule
        self.backbone = known_name("network of tokens", backbone, BACKBONES)

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The network's."""
        return (known_name("network of tokens", constants["backbone"], BACKBONES),)

    def measurement(self, view: ItemView) -> Measurement:
        """One value for the clip.

        Raises:
            NotMeasurable: the weights are not there, or there are too few frames.
            MissingExtraError: PyTorch is not installed.
        """
        if view.frames < self.fewest_frames:
            raise NotMeasurable("one frame has no next frame")
        return self._over_clip(view, network_of(view.shared))

    @abstractmethod
    def _over_clip(self, view: ItemView, network: Network) -> Measurement:
        """The mean over frames or pairs that have a value."""

    def crop(self, frame: Picture, mask: Mask, around: Mask, network: Network, *, patch_pixels: int | None = None) -> Crop:
        """Tokens of a frame in the square around a mask."""
        box = square_of(around, cut=self.rule == "as-published")
        return crop_tokens(frame, mask, box, network=network, patch_pixels=patch_pixels or BACKBONES[self.backbone])

    def windows(self, crop: Crop) -> Iterator[tuple[slice, slice]]:
        """Those of the rule."""
        return windows(*crop.inside.shape, cover=self.rule == "corrected")


class RcS(_Coherence):
    """RC-S of PROVE (ACM MM 2026): how well a removed object's place fits its surroundings, in 0..1; higher is better.

    Around each piece of the hole a square crop becomes tokens. In each window with tokens of both kinds the discrepancy of those
    inside and outside the hole is taken, in windows full of hole that of its tokens and all outside; a piece has
    exp(-max(0, mean) / 3), a clip the mean over pieces and frames. A frame without hole or without background is left out and
    counted. No truth is needed; whoever leaves the object loses, unless it looks like its surroundings.
    """

    name = "rc_s"
    label = "RC-S"
    higher_is_better = True
    bounds = (0.0, 1.0)

    def _over_clip(self, view: ItemView, network: Network) -> Measurement:
        values = [self.of_frame(frame, mask, network) for frame, mask in zip(view.composite, view.hole, strict=True)]
        return _mean(values, parts="frames", missing="no frame has both a hole and background around it")

    def of_frame(self, frame: Picture, mask: Mask, network: Network, *, patch_pixels: int | None = None) -> float | None:
        """The mean over the pieces of one frame's mask; None without one that has a value."""
        each = [
            self._of_crop(self.crop(frame, mask, piece, network, patch_pixels=patch_pixels))
            for piece in components(np.ascontiguousarray(mask))
        ]
        values = [value for value in each if value is not None]
        return math.fsum(values) / len(values) if values else None

    def _of_crop(self, crop: Crop) -> float | None:
        outside = crop.valid & ~crop.inside
        if not outside.any():
            return None
        apart = []
        for window in self.windows(crop):
            tokens, inside, around = crop.tokens[window], crop.inside[window], outside[window]
            if inside.sum() > _FEW_TOKENS and around.sum() > _FEW_TOKENS:
                apart.append(discrepancy(tokens[inside], tokens[around]))
            elif inside.all():
                apart.append(discrepancy(tokens[inside], crop.tokens[outside]))
        return math.exp(-max(0.0, math.fsum(apart) / len(apart)) / _SOFTNESS) if apart else None


class RcT(_Coherence):
    """RC-T of PROVE (ACM MM 2026): how much what fills a removed object's place changes from frame to frame; lower is better.

    In the crop around the holes of two consecutive frames, in each window the discrepancy of the tokens that lie in both holes,
    averaged over windows and pairs: 0..39.6. A frozen fill has 0 while the camera moves, so read it beside ``warp_error``.
    """

    name = "rc_t"
    label = "RC-T"
    higher_is_better = False
    bounds = (0.0, 40.0)
    fewest_frames = 2

    def _over_clip(self, view: ItemView, network: Network) -> Measurement:
        frames, holes = view.composite, view.hole
        values = [self.of_pair(frames[at : at + 2], holes[at : at + 2], network) for at in range(view.frames - 1)]
        return _mean(values, parts="pairs", missing="no two consecutive frames share enough of a hole")

    def of_pair(self, frames: Picture, masks: Mask, network: Network, *, patch_pixels: int | None = None) -> float | None:
        """The mean over windows of two frames ``uint8[2, H, W, 3]``; None without one that has a value."""
        either = masks[0] | masks[1]
        if not either.any():
            return None
        one, other = (
            self.crop(frame, mask, either, network, patch_pixels=patch_pixels) for frame, mask in zip(frames, masks, strict=True)
        )
        both = one.inside & other.inside
        apart = [
            discrepancy(one.tokens[window][both[window]], other.tokens[window][both[window]])
            for window in self.windows(one)
            if both[window].sum() >= _FEW_TOKENS
        ]
        return math.fsum(apart) / len(apart) if apart else None


def _mean(values: list[float | None], *, parts: str, missing: str) -> Measurement:
    kept = [value for value in values if value is not None]
    found = mean_over_clip(kept, parts=parts, missing=missing)
    if len(kept) == len(values):
        return found
    return Measurement(found.value, found.reason, {**found.details, f"{parts}_without_value": len(values) - len(kept)})
