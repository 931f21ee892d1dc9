"""CLIP maximum mean discrepancy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Comparison, Features, Measurement, SetMetric, Where
from inpaintbench.eval.metrics.removal_coherence import discrepancy
from inpaintbench.eval.passes.clip_frames import check_way, frame_clip_vectors
from inpaintbench.eval.set_distances import feature_sets
from inpaintbench.models.clip import shape_of
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


class Cmmd(SetMetric):
    """Squared maximum mean discrepancy, times 1000, of CLIP's vectors of all predicted and of all true frames; lower is better.

    Jayasumana et al., CVPR 2024, by its PyTorch code: vectors of length one, Gaussian kernel of width 10, biased, at least 0. At
    that width the kernel is linear: to 3e-4 the value is ten times the squared distance of the two mean vectors. Unlike a Frechet
    distance it needs few frames, but like any biased estimate it grows as they become fewer, so ``n`` stands beside it. Frames
    are cut to the middle square and brought to the network's size by Pillow's bicubic filter.

    Args:
        network: one of ``inpaintbench.models.clip.NETWORKS``; published ViT-L/14@336px.
    """

    name = "cmmd"
    follows = "cmmd-pytorch (Apache-2.0)"
    version = "1"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, np.inf)
    needs = ("truth", "composite")
    answers = ("frame",)

    def __init__(self, *, network: str, **where: Unpack[Where]) -> None:
        shape_of(network)
        check_way("pillow", "centre")
        super().__init__(**where)
        self.network = network

    @classmethod
    def weights_of(cls, constants: Mapping[str, Any]) -> tuple[str, ...]:
        """The network's."""
        return (shape_of(constants["network"]).weights,)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The vectors of the frames of both.

        Raises:
            NotMeasurable: the weights are missing, damaged or others.
            MissingExtraError: PyTorch or ``open_clip_torch`` is not installed.
        """
        if not self.regions:
            return {}
        ours, truth = (self._vectors(view, frames) for frames in (view.composite, view.truth))
        return {"frame": Measurement(None, details={"frames": view.frames}, features=Features(ours, truth))}

    def _vectors(self, view: ItemView, frames: Frames) -> Any:
        def made() -> Any:
            square = _middle(frames)
            found = frame_clip_vectors(square, view.shared, network=self.network, preprocess="pillow", portrait="centre")
            return found.astype(np.float32)

        return view.shared.once_of([frames], ("cmmd", self.network), made)

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        """The value, with the numbers of frames in the details."""
        try:
            size = feature_sets.extent(sets, clusters)
        except NotMeasurable as error:
            return Comparison(None, str(error))
        ours, truth = (np.concatenate([one[side] for one in sets]).astype(np.float64) for side in (0, 1))
        return Comparison(max(0.0, discrepancy(ours, truth)), details=size.details)


def _middle(frames: Frames) -> Frames:
    """The middle squares of ``uint8[T, H, W, 3]``."""
    height, width = frames.shape[1:3]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return frames[:, top : top + side, left : left + side]
