"""Distances of sets of clips by features that a program of the user's gives: JEDi and FVMD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.catalogue import known_name
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Array, Comparison, Features, Measurement, SetMetric, SingleRegionMetric, Where
from inpaintbench.eval.metrics.i3d import scaled
from inpaintbench.eval.passes.brought_programs import BroughtProgram
from inpaintbench.eval.set_distances import feature_sets, frechet, second_moment
from inpaintbench.eval.set_distances.frechet import Moments
from inpaintbench.eval.set_distances.second_moment import Estimate
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

LENGTH = 1280


class Jedi(SingleRegionMetric, SetMetric):
    """Squared maximum mean discrepancy, times 100, of V-JEPA's vectors of clips under the kernel ``(x.y / d)^2``.

    Luo et al., ICLR 2025; lower is better. One vector a clip, of the attentive pooler of ViT-H/16's probe; as 100 / d^2 times
    the squared distance of both sets' raw second moments it needs no table of pairs. The network comes from the user, since its
    code and parameters are CC-BY-NC-4.0: ``INPAINTBENCH_JEDI`` is a command that writes ``array.npy``, ``float32[1280]``, for a
    folder of frames (docs/metrics.md). The published form is biased: it grows as clips become fewer.

    Args:
        estimate: ``"biased"``, as published, or ``"unbiased"``.
    """

    name = "jedi"
    version = "1"
    label = "JEDi"
    follows = "JEDi (Apache-2.0)"
    brings = "a program with V-JEPA ViT-H (CC-BY-NC-4.0), `INPAINTBENCH_JEDI`"
    brought = BroughtProgram(
        "INPAINTBENCH_JEDI",
        f"writes V-JEPA's pooled vector of a clip, {LENGTH} numbers",
        "V-JEPA's parameters are CC-BY-NC-4.0 and not part of this program",
    )
    higher_is_better = False
    decimals = 4
    needs = ("truth", "composite")

    def __init__(self, *, estimate: Estimate, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("estimate", estimate, get_args(Estimate))
        self.estimate: Estimate = estimate

    def measurement(self, view: ItemView) -> Measurement:
        """One vector each of prediction and truth.

        Raises:
            NotMeasurable: there is no program, or it fails.
        """

        def vector(frames: Frames) -> Array:
            return self.brought.array((LENGTH,), frames, fps=view.fps, item_id=view.item_id)

        ours = vector(view.composite)
        truth = view.shared.stored(view.truth, f"jedi {self.brought.state()} at {view.fps!r}", lambda: vector(view.truth))
        return Measurement(None, details={"vectors": 1}, features=Features(ours[None], truth[None]))

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The value, with the numbers of clips in the details."""
        return scaled(second_moment.compare(sets, clusters, estimate=self.estimate))


Rule = Literal["as-published", "corrected"]
# float64[frames, points, 2], x and y.
Vectors = npt.NDArray[np.float64]
WINDOW_FRAMES, SIDE_PIXELS, GRID = 16, 256, 20
# A cell of the histogram: frames, and points along a side of the grid.
CELL_FRAMES, CELL_POINTS, ANGLES = 4, 5, 8
# Magnitudes are cut off here, and weighted by the whole number above their logarithm over that of this many.
_MAGNITUDES = 256
# Times the identity, added to both covariances under the root.
SHIFT = 1e-5


class Fvmd(SingleRegionMetric, SetMetric):
    """Frechet distance between histograms of the velocities and accelerations of tracked points; lower is better.

    Liu et al., 2024 (Apache-2.0): in every window of 16 frames, squashed to 256x256, 400 points of a grid are tracked; cells of
    4 frames and 5x5 points count 8 directions, weighted by ceil(log2(magnitude + 1)) / 8; 1024 numbers a window. The tracker
    comes from the user: ``INPAINTBENCH_FVMD`` is a command that writes ``array.npy``, ``float32[T - 15, 16, 400, 2]`` (x, y), for
    the squashed frames (docs/metrics.md). It takes many more windows than 1024 for the distance to say something.

    Args:
        rule: ``"as-published"``: what the released code calls acceleration is the difference of *positions* again, from the
            second frame on, and 1e-5 is added to the covariances under the root alone, so that a set has -0.02048 from itself.
            ``"corrected"``: the difference of velocities, and 0.
    """

    name = "fvmd"
    version = "1"
    follows = "FVMD (Apache-2.0)"
    brings = "a program with PIPs++ (licence of its parameters not stated), `INPAINTBENCH_FVMD`"
    brought = BroughtProgram(
        "INPAINTBENCH_FVMD",
        f"writes PIPs++'s tracks of {GRID}x{GRID} points in every window of {WINDOW_FRAMES} frames",
        "PIPs++ is not part of this program (the licence of its parameters is not stated)",
    )
    higher_is_better = False
    decimals = 2
    needs = ("truth", "composite")
    fewest_frames = WINDOW_FRAMES

    def __init__(self, *, rule: Rule, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        known_name("rule", rule, get_args(Rule))
        self.rule: Rule = rule

    def measurement(self, view: ItemView) -> Measurement:
        """The histograms of all windows of prediction and truth, ``float32[T - 15, 1024]``.

        Raises:
            NotMeasurable: there are fewer than 16 frames, there is no program, or it fails.
        """
        if view.frames < self.fewest_frames:
            raise NotMeasurable(f"{view.frames} frames are no window of {WINDOW_FRAMES}")
        ours = self._histograms(view, view.composite)
        truth = view.shared.stored(
            view.truth, f"fvmd {self.rule} {self.brought.state()} at {view.fps!r}", lambda: self._histograms(view, view.truth)
        )
        return Measurement(None, details={"vectors": len(ours)}, features=Features(ours, truth))

    def _histograms(self, view: ItemView, frames: Frames) -> Array:
        size = (SIDE_PIXELS, SIDE_PIXELS)
        squashed = np.stack([np.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BILINEAR)) for frame in frames])
        shape = (len(frames) - WINDOW_FRAMES + 1, WINDOW_FRAMES, GRID**2, 2)
        tracks = self.brought.array(shape, squashed, fps=view.fps, item_id=view.item_id).astype(np.float64)
        # Eighths, which float32 holds exactly.
        return np.stack([self.histogram_of(window) for window in tracks]).astype(np.float32)

    def histogram_of(self, tracks: Vectors) -> npt.NDArray[np.float64]:
        """``float64[1024]`` of the places of points, ``float64[16, 400, 2]``: of velocities, then of accelerations."""
        velocity, acceleration = np.zeros_like(tracks), np.zeros_like(tracks)
        velocity[1:] = np.diff(tracks, axis=0)
        acceleration[2:] = np.diff((tracks if self.rule == "as-published" else velocity)[1:], axis=0)
        return np.concatenate([histogram(velocity).ravel(), histogram(acceleration).ravel()])

    @feature_sets.or_reason
    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The distance between the histograms of all windows of predictions and those of truths."""
        if self.rule == "corrected":
            return frechet.compare(sets, clusters, ddof=1)
        size = feature_sets.extent(sets, clusters)
        moments = Moments(), Moments()
        for features in sets:
            for one, vectors in zip(moments, features, strict=True):
                one.add(vectors)
        value = frechet.shifted_distance(*moments, ddof=1, shift=SHIFT)
        return Comparison(value, details={**size.details, **feature_sets.frechet_warning(size)})


def histogram(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Weights by cell and direction, ``float64[4, 4, 4, 8]``: frames, rows, columns, angle of atan2(x, y) from -pi on.

    Args:
        vectors: ``float64[16, 400, 2]``, points row by row.
    """
    angle = np.arctan2(vectors[..., 0], vectors[..., 1])
    bins = np.clip((angle + np.pi) // (2 * np.pi / ANGLES), 0, ANGLES - 1).astype(np.intp)
    magnitude = np.minimum(np.linalg.norm(vectors, axis=-1), _MAGNITUDES - 1)
    weight = np.ceil(np.log2(magnitude + 1)) / np.log2(_MAGNITUDES)
    frame, point = np.indices(bins.shape)
    cell = (frame // CELL_FRAMES, point // GRID // CELL_POINTS, point % GRID // CELL_POINTS, bins)
    along = GRID // CELL_POINTS
    made = np.zeros((len(vectors) // CELL_FRAMES, along, along, ANGLES))
    np.add.at(made, cell, weight)
    return made
