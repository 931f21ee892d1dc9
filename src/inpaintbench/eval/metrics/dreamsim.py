"""DreamSim: how different people would find two pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt
from PIL import Image

from inpaintbench.catalogue import known_name
from inpaintbench.deviations import Deviation
from inpaintbench.eval.metrics.base import Measurement, Metric, Where, mean_over_clip, region_pixels
from inpaintbench.eval.passes.frame_vectors import Vectors, frame_vectors, normalised, unit_length
from inpaintbench.models.dino import DEVIATION, LENGTH, MEAN, WEIGHTS
from inpaintbench.models.dreamsim import ADAPTERS, dreamsim
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

Branch = Literal["dino-vit-b-16"]
SIDE_PIXELS = 224
# Of activations of a picture: 197 tokens.
_PICTURE_BYTES = 80 * LENGTH * (1 + (SIDE_PIXELS // 16) ** 2)


class DreamSim(Metric):
    """Mean distance of prediction and truth, frame by frame, by DreamSim's network of one branch; 0 for equal frames.

    Fu et al., NeurIPS 2023: pictures are squashed to 224x224 by Pillow's bicubic filter; the class token after the last block of
    the adapted DINO ViT-B/16, less the mean of its numbers, is the vector; the distance is 1 less the cosine of both, 0..2; lower
    is better. In ``hole`` and ``object`` the box around the hole or the object of each frame is what is looked at, and frames
    without one are left out. Code and adapters are MIT, DINO's parameters Apache-2.0.

    Args:
        branch: ``"dino-vit-b-16"``. The published default, of three networks, is not built.
    """

    name = "dreamsim"
    label = "DreamSim"
    follows = "DreamSim (MIT)"
    brings = "its adapters (MIT), `INPAINTBENCH_DREAMSIM`"
    version = "1"
    higher_is_better = False
    decimals = 4
    bounds = (0.0, 2.0)
    needs = ("truth", "composite", "hole")
    answers = ("frame", "hole", "object")
    weights = (WEIGHTS,)
    deviations = (
        Deviation(
            "networks",
            'by default an ensemble of DINO, CLIP and OpenCLIP (`dreamsim_type="ensemble"`)',
            'the single branch DINO ViT-B/16, which the same release has (`dreamsim_type="dino_vitb16"`)',
            "values compare with those of that branch alone",
        ),
    )

    def __init__(self, *, branch: Branch, **where: Unpack[Where]) -> None:
        super().__init__(**where)
        self.branch = known_name("branch of DreamSim", branch, get_args(Branch))

    @staticmethod
    def state() -> str:
        """The SHA-256 of the adapters that the user brought."""
        return ADAPTERS.sha256()

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        """The mean over frames for each region.

        Raises:
            NotMeasurable: DINO's weights or the adapters are not there.
            MissingExtraError: PyTorch is not installed.
        """
        return {region: self._of_region(view, region) for region in self.regions}

    def _of_region(self, view: ItemView, region: str) -> Measurement:
        kept: list[tuple[int, tuple[slice, slice]]] = [(at, (slice(None), slice(None))) for at in range(view.frames)]
        if region != "frame":
            pixels = region_pixels(view, region, band_radius_pixels=self.band_radius_pixels)
            kept = [(at, _box(mask)) for at, mask in enumerate(pixels) if mask.any()]
        if not kept:
            return Measurement(None, f"no frame has a pixel of the region {region!r}")
        ours, truth = (self._vectors(view, frames, kept, region) for frames in (view.composite, view.truth))
        # Half the squared distance of unit vectors is 1 less their cosine, and exactly 0 for equal ones.
        return mean_over_clip((np.square(ours - truth).sum(axis=1) / 2).tolist(), parts="frames", missing="there is no frame")

    def _vectors(self, view: ItemView, frames: Frames, kept: Sequence[tuple[int, tuple[slice, slice]]], region: str) -> Vectors:
        """Vectors of length one of the parts of frames, ``float64[n, 768]``; those of the truth serve all predictions."""

        def made() -> Vectors:
            module, pictures = dreamsim(view.shared.compute), np.stack([_squashed(frames[at][box]) for at, box in kept])
            found = frame_vectors(
                pictures, view.shared, lambda some: module.raw_class_token(normalised(some, MEAN, DEVIATION)),
                picture_bytes=_PICTURE_BYTES,
            )  # fmt: skip
            return unit_length(found - found.mean(axis=1, keepdims=True))

        vectors: Vectors = view.shared.once_of([frames], ("dreamsim", region), made)
        return vectors


def _squashed(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    size = (SIDE_PIXELS, SIDE_PIXELS)
    return np.asarray(Image.fromarray(np.ascontiguousarray(picture)).resize(size, Image.Resampling.BICUBIC))


def _box(mask: npt.NDArray[np.bool_]) -> tuple[slice, slice]:
    """Rows and columns of the tight box of a mask that is not empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
