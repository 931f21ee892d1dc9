"""Metrics of the features that I3D gives for clips: DEVIL, CVPR 2022, section 5.2, and sets of windows by second moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, get_args

from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.eval.metrics.base import (
    Array,
    Comparison,
    Features,
    Measurement,
    SetMetric,
    SingleRegionTogether,
    Where,
    check_next_frame,
)
from inpaintbench.eval.metrics.blackened import Levels, as_levels
from inpaintbench.eval.passes import i3d_clip, i3d_windows
from inpaintbench.eval.set_distances import frechet, second_moment
from inpaintbench.eval.set_distances.frechet import ROOT_OF_COVARIANCES
from inpaintbench.eval.set_distances.second_moment import Estimate
from inpaintbench.models import weights
from inpaintbench.models.i3d import WEIGHTS, BatchNorm
from inpaintbench.ranges import AtLeastOne, Number, Whole
from inpaintbench.view import ItemView

# By which JEDi prints its values.
SCALE = 100
SHORT_CLIPS = Deviation(
    "clips of fewer than ten frames",
    "the truth's last frame fills up both clips",
    "each clip repeats its own last frame",
    "such clips score worse here; clips of ten frames and more, as all of DEVIL's are, score the same",
)


class I3dMetric(SingleRegionTogether):
    """Base of all; for the frame alone, since features see far beyond any region.

    ``measurements`` raises ``NotMeasurable`` for a single frame, else as ``models.i3d.i3d``.
    """

    higher_is_better = False
    decimals = 4
    needs = ("truth", "composite")
    fewest_frames = 2
    weights = (WEIGHTS,)


class Vfid(I3dMetric, SetMetric):
    """Frechet distance between composites and true clips, each one vector of I3D: its last layer averaged over the whole clip.

    DEVIL, CVPR 2022, section 5.2. Measured for the whole frame alone.

    Args:
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``.
        ddof: covariances are divided by n - ``ddof``.
        levels: of the truth, one of ``blackened.Levels``.
    """

    name = "vfid"
    version = "1"
    deviations = (ROOT_OF_COVARIANCES,)

    def __init__(
        self, *, input_low: Number, input_high: Number, batch_norm: BatchNorm, ddof: Whole, levels: Levels,
        **where: Unpack[Where],
    ) -> None:  # fmt: skip
        super().__init__(**where)
        self.constants, self.ddof = i3d_clip.Constants(input_low, input_high, batch_norm), ddof
        self.levels = known_name("levels of the truth", levels, get_args(Levels))

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """No values, but one vector each, ``float32[1, 1024]``; the truth's is the stored one where there is one."""
        view, composites = views[0], [view.composite for view in views]
        check_next_frame(view.frames)
        made: list[i3d_clip.Clip] = []
        frames, key = as_levels(view.truth, self.levels), stored_key("i3d clip", i3d_clip.VERSION, self.constants)

        def both() -> Array:
            made.append(i3d_clip.i3d_clip(frames, composites, self.constants, view.shared))
            return made[0].truth

        truth = view.shared.stored(view.truth, key if self.levels == "exact" else f"{key} {self.levels}", both)
        if not made:
            made.append(i3d_clip.i3d_clip(frames, composites, self.constants, view.shared, truth=truth))
        rows = made[0].composites
        return [Measurement(None, details={"vectors": 1}, features=Features(row[None], truth[None])) for row in rows]

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The Frechet distance between the vectors of all composites and those of all true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)


class WindowConstants(Where):
    """Constants of all metrics of windows; see ``Pvcs``."""

    window_frames: AtLeastOne
    stride_frames: AtLeastOne
    input_low: Number
    input_high: Number
    batch_norm: BatchNorm


class WindowMetric(I3dMetric):
    """Base of metrics of overlapping windows of frames; arguments as for ``Pvcs``."""

    def __init__(
        self,
        *,
        window_frames: AtLeastOne,
        stride_frames: AtLeastOne,
        input_low: Number,
        input_high: Number,
        batch_norm: BatchNorm,
        **where: Unpack[Where],
    ) -> None:
        super().__init__(**where)
        self.constants = i3d_windows.Constants(window_frames, stride_frames, input_low, input_high, batch_norm)


class Pvcs(WindowMetric):
    """Distance of I3D features between the composite and the truth, averaged over overlapping windows of frames; 0..8.

    DEVIL, CVPR 2022, section 5.2. At each position of four layers the features are divided by their length over channels + 1e-10;
    a layer's distance is the mean over positions of the sum over channels of squared differences, a window's the sum of the
    layers'. Clips shorter than a window repeat their last frame, the composite its own; the released code repeats the truth's in
    both, which flatters short clips. Measured for the whole frame alone, since features see far beyond any region.

    Args:
        window_frames: length of a window.
        stride_frames: from the start of one window to that of the next; frames behind the last whole window do not count.
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``; ``"train"`` takes the statistics of each window itself.
    """

    name = "pvcs"
    version = "1"
    deviations = (SHORT_CLIPS,)

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """The details count the windows and have the mean of each layer."""
        check_next_frame(views[0].frames)
        measured = []
        for distances in i3d_windows.i3d_distances(views, self.constants):  # float64[layers, windows]
            layers = distances.mean(axis=1)
            details = {"windows": distances.shape[1], "layers": dict(zip(i3d_windows.LAYERS, layers.tolist(), strict=True))}
            measured.append(Measurement(float(layers.sum()), details=details))
        return measured


class WindowSets(WindowMetric, SetMetric):
    """Base of metrics that compare sets of windows, each one vector of I3D: its last layer averaged over the window."""

    def measurements(self, views: Sequence[ItemView]) -> list[Measurement]:
        """No values, but one vector a window, ``float32[windows, 1024]``."""
        check_next_frame(views[0].frames)
        key = stored_key("i3d windows", i3d_windows.VERSION, self.constants)
        predictions, truth = i3d_windows.i3d_vectors(views, self.constants, key=key)
        return [Measurement(None, details={"vectors": len(truth)}, features=Features(vectors, truth)) for vectors in predictions]


class VfidClips(WindowSets):
    """``Vfid`` of overlapping windows: each is one vector of I3D, its last layer averaged over the window.

    Not in the DEVIL paper, but in its released code. Windows and short clips as for ``Pvcs``; vectors of one clip are far from
    independent, so their number says little about how certain the distance is. Measured for the whole frame alone.

    Args:
        window_frames: length of a window.
        stride_frames: from the start of one window to that of the next.
        input_low: what black is to the network.
        input_high: what white is.
        batch_norm: as for ``models.i3d.i3d``; ``"train"`` takes the statistics of each window itself.
        ddof: covariances are divided by n - ``ddof``.
    """

    name = "vfid_clips"
    version = "1"
    label = "VFID-clips"
    deviations = (ROOT_OF_COVARIANCES, SHORT_CLIPS)

    def __init__(self, *, ddof: Whole, **windows: Unpack[WindowConstants]) -> None:
        super().__init__(**windows)
        self.ddof = ddof

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The Frechet distance between the vectors of all composites and those of all true clips."""
        return frechet.compare(sets, clusters, ddof=self.ddof)


class SecondMoment(WindowSets):
    """Squared maximum mean discrepancy, times 100, of I3D's vectors of short windows under the kernel ``(x.y / d)^2``.

    The kernel of ``jedi`` on the network of ``vfid_clips``. Unlike a Frechet distance the unbiased form does not grow as sets
    become smaller, and it is below 0 as often as chance has it. Lower is better; measured for the whole frame alone.

    Args:
        estimate: ``"unbiased"``, or ``"biased"``, which is at least 0.
        constants: those of ``VfidClips``, without ``ddof``.
    """

    name = "second_moment"
    version = "1"
    label = "Second moment"
    deviations = VfidClips.deviations
    decimals = 6

    def __init__(self, *, estimate: Estimate, **windows: Unpack[WindowConstants]) -> None:
        super().__init__(**windows)
        known_name("estimate", estimate, get_args(Estimate))
        self.estimate: Estimate = estimate

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The value, with the numbers of vectors in the details."""
        return scaled(second_moment.compare(sets, clusters, estimate=self.estimate))


def scaled(found: Comparison) -> Comparison:
    """A comparison times 100."""
    if found.value is None:
        return found
    details = {name: SCALE * value if name == "unbiased" else value for name, value in found.details.items()}
    return replace(found, value=SCALE * found.value, details=details)


def stored_key(kind: str, version: str, constants: Any) -> str:
    """Under which vectors of the truth are kept: everything that decides their numbers."""
    return f"{kind} {version} {weights.named(WEIGHTS).sha256} {constants}"
