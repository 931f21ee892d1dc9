"""How much of the view shows objects or text, by detectors.

Objects are the published rule for clips without foreground, with boxes for masks.

DEVIL (CVPR 2022) takes ten frames, the union of the instance masks that Mask R-CNN (ResNet-50 FPN, trained on COCO, scores
above 0.5) finds in each, and the mean of their shares of the frame. Here YOLOX-nano answers in boxes, so a value is higher
where an object does not fill its box (for a standing person by about a third) and lower where a small one is missed. A
threshold has to be chosen for these numbers, not taken over.

In scenery such a network sees what is not there: a rock is a bear, reeds are a giraffe, a leaf is a bird. Two things tell these
from objects. They are called by the names of what lives in scenery (``SCENERY``), which is counted apart, in
``scenery_object_fraction``. And the names change from frame to frame: a box counts where the same name stands there for a while.

The detector of text lines does not tell text laid over the picture from text in the scene (signs, number plates, clothes), so
both count; ``static_overlay`` tells what stays in place. It is trained on Chinese and Latin script and finds others less surely.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.base import AttributeLeaf, evenly_spaced
from inpaintbench.errors import InputError
from inpaintbench.models import detectors
from inpaintbench.ranges import AtLeastOne, Share, Side
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

# Classes of COCO that live or stand in scenery, and food, which leaves, flowers and stones are taken for.
SCENERY = (
    "airplane", "boat", "traffic light", "fire hydrant", "stop sign", "parking meter", "bench", "bird", "horse", "sheep", "cow",
    "elephant", "bear", "zebra", "giraffe", "umbrella", "frisbee", "skis", "snowboard", "sports ball", "kite", "surfboard",
    "banana", "apple", "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "potted plant", "clock",
)  # fmt: skip
OBJECTS = tuple(kind for kind in detectors.KINDS if kind not in SCENERY)

# Boxes `[n, 4]` (left, top, right, bottom) and kinds `[n]`, as indices into `detectors.KINDS`.
Detected = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


class _Staying(AttributeLeaf):
    """Mean share of the sampled frames in boxes of some kinds that stay."""

    unit = "fraction of the view"
    needs = ("truth",)
    weights = (detectors.OBJECT_WEIGHTS,)
    kinds: Collection[str]

    def __init__(self, *, sampled_frames: AtLeastOne, score_threshold: Share, consecutive_frames: AtLeastOne) -> None:
        self.sampled_frames, self.score_threshold, self.consecutive_frames = sampled_frames, score_threshold, consecutive_frames

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` while the weights are missing or damaged."""
        chosen = evenly_spaced(view.frames, count=self.sampled_frames)
        frames = np.stack([view.truth_frame(index) for index in chosen])
        # What was found in the last clip is remembered by content, so leaves that share it pay once.
        detected = _detected(frames.tobytes(), frames.shape, self.score_threshold)
        counted = [detectors.KINDS.index(kind) for kind in self.kinds]
        shares = [
            covered(boxes[np.isin(found, counted)], height=view.height, width=view.width)
            for boxes, found in staying(detected, consecutive_frames=self.consecutive_frames)
        ]
        return float(np.mean(shares))


class ForegroundFraction(_Staying):
    """Mean share of ten frames in boxes of objects with scores above ``score_threshold`` that stay; scenery is counted apart.

    ``classes`` are the kinds that count, by their COCO names; when empty, all but those of scenery (``scenery_object_fraction``).
    An object stays where boxes of its kind overlap in ``consecutive_frames`` of the ten, one after the other. Ten frames as
    published, or all of fewer.
    """

    name = "foreground_fraction"
    version = "2"
    direction = "higher: more of the view shows objects (people, pets, vehicles, furniture ...)"
    cost = 1.3

    def __init__(
        self, *, sampled_frames: AtLeastOne = 10, score_threshold: Share = 0.5, classes: Sequence[str] = (),
        consecutive_frames: AtLeastOne = 3,
    ) -> None:  # fmt: skip
        unknown = sorted(set(classes) - set(detectors.KINDS))
        if unknown:
            raise InputError(f"{unknown[0]!r} is no class of COCO, choose from {', '.join(detectors.KINDS)}")
        super().__init__(sampled_frames=sampled_frames, score_threshold=score_threshold, consecutive_frames=consecutive_frames)
        self.kinds = frozenset(classes or OBJECTS)


class SceneryObjectFraction(_Staying):
    """Mean share of ten frames in boxes of birds, cattle, boats, plants that stay, which ``foreground_fraction`` leaves out.

    Some of it is there: a boat is a boat, a butterfly is a bird to the detector. Some is not: a rock is a bear, reeds are a
    giraffe. So no rule asks for it by default; look at the clips that have much of it.
    """

    name = "scenery_object_fraction"
    version = "1"
    direction = "higher: more of the view shows what may be an object, or a rock or a leaf"
    cost = 0.05
    kinds = SCENERY

    def __init__(
        self, *, sampled_frames: AtLeastOne = 10, score_threshold: Share = 0.5, consecutive_frames: AtLeastOne = 3
    ) -> None:
        super().__init__(sampled_frames=sampled_frames, score_threshold=score_threshold, consecutive_frames=consecutive_frames)


class TextOverlayFraction(AttributeLeaf):
    """Mean share of a few frames that lies in boxes of text lines, of overlays and of the scene alike.

    A frame goes in with its longer side at ``longer_side`` pixels. Letters of 1/40 of the height of a landscape view are still
    found there; a line that small measures up to half too large.
    """

    name = "text_overlay_fraction"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view is text"
    needs = ("truth",)
    weights = (detectors.TEXT_WEIGHTS,)
    cost = 1.1

    def __init__(self, *, sampled_frames: AtLeastOne = 4, longer_side: Side = 544, score_threshold: Share = 0.6) -> None:
        self.sampled_frames, self.longer_side, self.score_threshold = sampled_frames, longer_side, score_threshold

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` while the weights are missing or damaged."""
        chosen = evenly_spaced(view.frames, count=self.sampled_frames)
        shares = []
        for frame in map(view.truth_frame, chosen):
            inside = np.zeros(frame.shape[:2], np.uint8)
            lines = detectors.text_boxes(frame, longer_side=self.longer_side, score_threshold=self.score_threshold)
            for corners, _ in lines:
                cv2.fillConvexPoly(inside, np.rint(corners - 0.5).astype(np.int32), 1)
            shares.append(inside.mean())
        return float(np.mean(shares))


@lru_cache(maxsize=1)
def _detected(pixels: bytes, shape: tuple[int, ...], score_threshold: float) -> tuple[Detected, ...]:
    frames: Frames = np.frombuffer(pixels, np.uint8).reshape(shape)
    return tuple(detectors.object_boxes(frame, score_threshold=score_threshold) for frame in frames)


def staying(detected: Sequence[Detected], *, consecutive_frames: int) -> list[Detected]:
    """The boxes of each frame that lie in a chain of boxes of one kind, each overlapping the last, of that many frames or all."""
    before, after = _chains(detected), _chains(detected[::-1])[::-1]
    least = min(consecutive_frames, len(detected))
    stays = [first + last - 1 >= least for first, last in zip(before, after, strict=True)]
    return [(boxes[kept], kinds[kept]) for (boxes, kinds), kept in zip(detected, stays, strict=True)]


def _chains(detected: Sequence[Detected]) -> list[npt.NDArray[np.int64]]:
    """Frames of the longest chain that ends in each box of each frame, ``int64[n]`` a frame."""
    lengths: list[npt.NDArray[np.int64]] = []
    for place, (boxes, kinds) in enumerate(detected):
        length = np.ones(len(boxes), np.int64)
        if place and len(boxes) and len(lengths[-1]):
            former, former_kinds = detected[place - 1]
            corner = np.maximum(boxes[:, None, :2], former[None, :, :2])
            overlap = (np.minimum(boxes[:, None, 2:], former[None, :, 2:]) > corner).all(axis=2)
            linked = overlap & (kinds[:, None] == former_kinds[None])
            length += np.where(linked, lengths[-1][None], 0).max(axis=1)
        lengths.append(length)
    return lengths


def covered(boxes: npt.NDArray[np.float64], *, height: int, width: int) -> float:
    """Share of a frame in the union of boxes, 0..1, their edges rounded to whole pixels.

    Args:
        boxes: ``float64[n, 4]``: left, top, right, bottom.
        height: of the frame, in pixels.
        width: of the frame, in pixels.
    """
    inside = np.zeros((height, width), bool)
    for left, top, right, bottom in np.rint(boxes).astype(np.int64).clip(min=0).tolist():
        inside[top:bottom, left:right] = True
    return float(inside.mean())
