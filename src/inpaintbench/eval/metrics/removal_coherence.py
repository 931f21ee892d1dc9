"""RC-S and RC-T: whether what was filled in belongs to what surrounds it, and stays the same.

PROVE, ACM MM 2026 (`utils/metrics.py`, Apache-2.0): crops around what was removed as tokens of a vision transformer, and how far
sets of tokens lie apart. Distances are squared maximum mean discrepancies of unit vectors under a Gaussian kernel of width 10,
times 1000, biased: to 3e-4 that is ten times the squared distance of the two mean vectors.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Unpack, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.compute import Shared
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, Where, check_next_frame, mean_over_clip
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors, normalised, unit_length
from inpaintbench.models.dino import (
    DEVIATION,
    GIANT,
    GIANT_LENGTH,
    GIANT_PATCH_PIXELS,
    LENGTH,
    MEAN,
    PATCH_PIXELS,
    WEIGHTS,
    dino,
    giant_dino,
)
from inpaintbench.view import ItemView

Picture = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
# Picture `uint8[H, W, 3]` whose sides are multiples of a patch -> tokens `float64[rows, columns, d]`.
Network = Callable[[Picture], Vectors]

# Longer side of a crop, and what fills it up to whole patches.
SIDE_PIXELS = 448
FILL = (123, 116, 103)
# Smaller pieces of a mask do not count beside larger ones.
LEAST_PIXELS = 200
# Of the kernel exp(-|x - y|^2 / (2 sigma^2)), and the factor that values are printed with.
_GAMMA, _SCALE = 1 / 200, 1000.0
# Entries of `weights.toml` of the networks that give tokens -> side of their patches.
BACKBONES = {WEIGHTS: PATCH_PIXELS[WEIGHTS], GIANT: GIANT_PATCH_PIXELS}
_BYTES_PER_NUMBER = 80


class Box(NamedTuple):
    """Square crop, half open; it may reach beyond the frame."""

    left: int
    top: int
    right: int
    bottom: int


class Crop(NamedTuple):
    """Tokens of a crop, by rows and columns."""

    tokens: Vectors
    """``float64[rows, columns, d]``, of length one."""
    inside: Mask
    """Of the mask, ``bool[rows, columns]``."""
    valid: Mask
    """Of the frame, not only of what fills the crop up."""


def discrepancy(one: Vectors, other: Vectors) -> float:
    """Squared maximum mean discrepancy of two sets of vectors, each brought to length one, times 1000.

    Args:
        one: ``float64[n, d]``.
        other: ``float64[m, d]``.
    """
    x, y = unit_length(one), unit_length(other)
    first, second, between = (_mean_kernel(*pair) for pair in ((x, x), (y, y), (x, y)))
    return _SCALE * (first + second - 2 * between)


def _mean_kernel(one: Vectors, other: Vectors) -> float:
    squares = (one * one).sum(axis=1)[:, None] + (other * other).sum(axis=1)[None] - 2 * one @ other.T
    return float(np.exp(-_GAMMA * np.maximum(squares, 0)).mean())


def components(mask: Mask) -> Iterator[Mask]:
    """The pieces of ``bool[H, W]``, joined along sides, of 200 pixels and more; else the largest; none of an empty mask."""
    count, labels, facts, _ = cv2.connectedComponentsWithStats(mask.view(np.uint8), connectivity=4)
    areas = facts[1:, cv2.CC_STAT_AREA]
    if count > 1:
        kept = np.flatnonzero(areas >= LEAST_PIXELS).tolist() or [int(areas.argmax())]
        for label in kept:
            yield labels == label + 1


def square_of(mask: Mask, *, cut: bool) -> Box:
    """The square around a mask that is not empty, with a margin of a third of its side.

    Args:
        mask: ``bool[H, W]``.
        cut: as published: the margin is as large as the frame leaves room for on every side, the side at most the frame's
            shorter one, which may leave some of the mask out; else the square may reach beyond the frame.
    """
    height, width = mask.shape
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    side = max(right - left, bottom - top)
    left, top = round((left + right) / 2 - side / 2), round((top + bottom) / 2 - side / 2)
    grown = min(round(side / 3), side // 2)
    if cut:
        grown = max(0, min(grown, left, top, width - left - side, height - top - side))
    left, top, side = left - grown, top - grown, side + 2 * grown
    if cut:
        side = min(side, height, width)
        left, top = min(max(left, 0), width - side), min(max(top, 0), height - side)
    return Box(left, top, left + side, top + side)


def crop_tokens(frame: Picture, mask: Mask, box: Box, *, network: Network, patch_pixels: int) -> Crop:
    """Tokens of a crop of a frame; beyond the frame it is filled up with the nearest pixel."""
    height, width = mask.shape
    rows, columns = np.arange(box.top, box.bottom), np.arange(box.left, box.right)
    near = np.ix_(np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1))
    real = ((rows >= 0) & (rows < height))[:, None] & ((columns >= 0) & (columns < width))[None]
    side = box.right - box.left
    scale = SIDE_PIXELS / side
    size = (int(side * scale), int(side * scale))
    picture = cv2.resize(frame[near], size, interpolation=cv2.INTER_LINEAR)
    beyond = -size[0] % patch_pixels
    picture = cv2.copyMakeBorder(picture, 0, beyond, 0, beyond, cv2.BORDER_CONSTANT, value=FILL)
    flags = []
    for part in (mask[near] & real, real):
        scaled = cv2.resize(part.view(np.uint8), size, interpolation=cv2.INTER_NEAREST)
        scaled = cv2.copyMakeBorder(scaled, 0, beyond, 0, beyond, cv2.BORDER_CONSTANT, value=(0,))
        count = scaled.shape[0] // patch_pixels
        flags.append(scaled.reshape(count, patch_pixels, count, patch_pixels).max(axis=(1, 3)).astype(np.bool_))
    return Crop(unit_length(network(np.asarray(picture, np.uint8))), flags[0], flags[1] | flags[0])


def windows(rows: int, columns: int, *, cover: bool) -> Iterator[tuple[slice, slice]]:
    """Windows of a quarter of the longer side, half overlapping; ``cover``: the last ones end where the tokens end."""
    scale = max(rows, columns) / 64
    length, step = max(1, int(16 * scale)), max(1, int(8 * scale))
    for top in _starts(rows, length, step, cover=cover):
        for left in _starts(columns, length, step, cover=cover):
            yield slice(top, top + length), slice(left, left + length)


def _starts(count: int, length: int, step: int, *, cover: bool) -> list[int]:
    starts = list(range(0, count - length + 1, step))
    return [*starts, count - length] if cover and starts and starts[-1] + length < count else starts


def network_of(shared: Shared, backbone: str = WEIGHTS) -> Network:
    """The tokens of the patches of a picture, after the last norm, by one of ``BACKBONES``.

    Raises:
        NotMeasurable: the weights are missing, damaged or others.
        MissingExtraError: PyTorch is not installed.
    """
    module = (giant_dino if backbone == GIANT else dino)(shared.compute)
    length, patch_pixels = GIANT_LENGTH if backbone == GIANT else LENGTH, BACKBONES[backbone]

    def tokens(picture: Picture) -> Vectors:
        size = _BYTES_PER_NUMBER * length * (1 + picture.shape[0] * picture.shape[1] // patch_pixels**2)
        found = frame_vectors(
            picture[None], Shared(compute=shared.compute), lambda some: module.patch_tokens(normalised(some, MEAN, DEVIATION)),
            picture_bytes=size,
        )  # fmt: skip
        return np.asarray(found[0])

    return tokens


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
    diagnostic = "it knows no truth: a fill that is blurred resembles what surrounds it, and one that is frozen stays the same"
    decimals = 4
    needs = ("composite", "hole")
    deviations = (
        Deviation(
            "network",
            "DINOv2-giant, patches of 14 pixels",
            "DINO ViT-B/16 (Apache-2.0), whose weights this program knows",
            "values do not compare with those that others print",
            {"backbone": WEIGHTS},
        ),
        Deviation(
            "precision",
            "the kernel in single precision, so that its last digits are rounding",
            "in double precision, on the network's tokens in single",
            "on the 20 results of bench/named_metrics.md RC-T differs by 4.9e-05 at most, RC-S by 7.7e-06",
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
        if self.fewest_frames > 1:
            check_next_frame(view.frames)
        return self._over_clip(view, network_of(view.shared, self.backbone))

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
    version = "1"
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
    version = "1"
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
