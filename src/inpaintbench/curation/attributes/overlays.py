"""What lies around the view or over it: bars, logos, watermarks, frames, player controls.

Edges of an overlay are at the same pixels in every frame; edges of the scene move as the camera does, and its alignments (see
``camera_motion``) tell where to. So for every pixel only those pairs of frames are compared between which the scene has moved
across the edge there. Their gradients agree when the edge belongs to an overlay, also to a transparent one (that the gradients
of many pictures keep those of a common watermark is from Dekel et al., "On the Effectiveness of Visible Watermarks", CVPR 2017),
and agree by chance alone when it belongs to the scene.

A camera that does not move shows nothing of this, and a clip without enough motion has no value. What moves along with the camera
(a car's bonnet, a tracked object) looks like an overlay, and so does a far edge that parallax leaves in place.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.curation.attributes.alignment import pair_matrices, sampled_indices
from inpaintbench.curation.attributes.base import AttributeLeaf
from inpaintbench.curation.bars import find_bars
from inpaintbench.errors import NotMeasurable
from inpaintbench.ranges import AtLeastOne, Share
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

Plane = npt.NDArray[np.float32]
# Half of the usual width: strokes of two pixels there still have their edges, and noise is halved.
WORKING_WIDTH = 416
# Widths of the view that the scene has to move across an edge between two frames: further than an edge is wide.
MOVED = 0.015
# Of 45 pairs of frames: more than one odd frame among ten gives.
FEWEST_PAIRS = 16
# Levels a pixel, of the mean over the frames: a logo of 30 % opacity has 5 and more.
LEAST_GRADIENT = 3.0
# Agreement is 1 for equal gradients and 0 for unrelated ones.
AGREES, SURELY_AGREES = 0.6, 0.85
# Length of sure edges, in widths of the view, without which edges nearby that agree do not count.
LEAST_SURE_EDGE = 24 / 416
# Gaps of twice this, in widths of the view, between the edges of one overlay are filled.
JOINED = 4 / 416


class StaticOverlay(AttributeLeaf):
    """Share of the view inside edges that stay in place while the scene moves across them.

    The inside of a large plain shape has no edges and does not count. Bars at the border of the view do.
    """

    name = "static_overlay"
    version = "3"
    unit = "fraction of the view"
    direction = "higher: more of the view is covered by logos, watermarks or controls"
    needs = ("luma",)
    cost = 0.75
    """Beside ``camera_motion``, whose alignments are remembered; 1.4 alone."""

    def __init__(self, *, least_moving_share: Share = 0.5) -> None:
        self.least_moving_share = least_moving_share

    def measure(self, view: ItemView) -> float:
        """The share in 0..1; ``NotMeasurable`` when less than ``least_moving_share`` of the view moves, or nothing aligns."""
        edges = _edges(view.luma)
        if edges.moving_share < self.least_moving_share:
            raise NotMeasurable(
                f"the camera moves {edges.moving_share:.0%} of the view far enough to tell overlays from the scene, "
                f"{self.least_moving_share:.0%} are needed"
            )
        return float(_joined(edges).mean())


@dataclass(frozen=True)
class _Edges:
    """Evidence of ten frames for every pixel; planes are ``[H, W]`` at the working size."""

    agree: npt.NDArray[np.bool_]
    surely: npt.NDArray[np.bool_]
    moving_share: float


def _edges(luma: Luma) -> _Edges:
    indices = sampled_indices(len(luma))
    height, width = luma.shape[1:]
    scale = min(1.0, WORKING_WIDTH / width)
    size = (round(width * scale), max(1, round(height * scale)))
    matrices = pair_matrices(luma)
    places = _places(matrices[:, len(matrices) // 2], full=(width, height), size=size)
    # Change of level a pixel to the right and downwards, `[N, 2, H, W]`.
    planes = [cv2.resize(luma[index], size, interpolation=cv2.INTER_AREA) for index in indices]
    along = ((1, 0), (0, 1))
    gradients = np.stack([[cv2.Scharr(plane, cv2.CV_32F, *way, scale=1 / 32) for way in along] for plane in planes])
    mean = gradients.mean(axis=0)
    strength = np.hypot(*mean)
    across = (places * (mean / np.maximum(strength, 1e-6))).sum(axis=1)
    agreement, pairs, moving = _agreement(gradients, across, places, least=MOVED * size[0])
    tested = (pairs >= FEWEST_PAIRS) & (strength > LEAST_GRADIENT)
    return _Edges(tested & (agreement > AGREES), tested & (agreement > SURELY_AGREES), float((moving >= FEWEST_PAIRS).mean()))


def _places(matrices: npt.NDArray[np.float64], *, full: tuple[int, int], size: tuple[int, int]) -> Plane:
    """Return where in a plane common to all frames the scene behind each pixel lies, ``float32[N, 2, H, W]``, working pixels."""
    step = (full[0] / size[0], full[1] / size[1])
    x, y = np.meshgrid((np.arange(size[0]) + 0.5) * step[0] - 0.5, (np.arange(size[1]) + 0.5) * step[1] - 0.5)
    points = np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
    there = matrices @ points
    flat = there[:, :2] / there[:, 2:] / np.array(step)[:, None]
    places: Plane = flat.reshape(len(matrices), 2, size[1], size[0]).astype(np.float32)
    return places


def _agreement(gradients: Plane, across: Plane, places: Plane, *, least: float) -> tuple[Plane, Plane, Plane]:
    """Agreement of gradients over the pairs of frames between which the scene moved across the edge, -1..1.

    Beside it the number of these pairs, and of all pairs between which the scene moved in any direction.
    """
    power: Plane = np.square(gradients).sum(axis=1)
    alike, total, pairs, moving = np.zeros((4, *power.shape[1:]), np.float32)
    for index in range(len(gradients)):
        for other in range(index + 1, len(gradients)):
            far = (np.abs(across[index] - across[other]) > least).astype(np.float32)
            alike += far * (gradients[index] * gradients[other]).sum(axis=0)
            total += far * (power[index] + power[other]) / 2
            pairs += far
            moving += np.square(places[index] - places[other]).sum(axis=0) > least**2
    agreement: Plane = alike / np.maximum(total, np.float32(1e-6))
    return agreement, pairs, moving


def _joined(edges: _Edges) -> npt.NDArray[np.bool_]:
    """The edges that agree, with the gaps between them filled, where enough of them surely do."""
    width = edges.agree.shape[1]
    reach = max(1, round(JOINED * width))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    # Closed on a wider canvas, so that overlays at the border of the view are not eaten from outside.
    grown = cv2.dilate(np.pad(edges.agree.astype(np.uint8), 2 * reach), disc)
    inner = (slice(2 * reach, -2 * reach), slice(2 * reach, -2 * reach))
    count, labels = cv2.connectedComponents(grown)
    sure = np.bincount(labels[inner][edges.surely], minlength=count)
    kept = sure >= max(4, round(LEAST_SURE_EDGE * width))
    kept[0] = False
    closed: npt.NDArray[np.bool_] = cv2.erode(kept[labels].astype(np.uint8), disc)[inner] > 0
    return closed


class Letterbox(AttributeLeaf):
    """Share of the view that letterbox and pillarbox bars take, averaged over the frames.

    Bars are found as for whole sources, in at most ``looks`` frames spread over the clip: one frame shows what stays, and a
    dozen what changes. A clip that is dark all over has none.
    """

    name = "letterbox"
    version = "1"
    unit = "fraction of the view"
    direction = "higher: more of the view is bars"
    needs = ("truth",)
    cost = 0.29

    def __init__(self, *, looks: AtLeastOne = 12) -> None:
        self.looks = looks

    def measure(self, view: ItemView) -> float:
        """The share in 0..1, 0 without bars."""
        numbers = np.unique(np.linspace(0, view.frames - 1, min(self.looks, view.frames)).astype(int)).tolist()
        spans = find_bars(((number, view.truth_frame(number)) for number in numbers), frames=view.frames)
        shares = [(span.end_frame - span.start_frame) * span.bars.share(height=view.height, width=view.width) for span in spans]
        return float(sum(shares) / view.frames)
