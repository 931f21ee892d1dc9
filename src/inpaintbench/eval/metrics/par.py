"""Share of a fill that people would see as an artefact, by a network that the user brings."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement, SingleRegionMetric, mean_over_clip
from inpaintbench.eval.passes.frame_vectors import normalised
from inpaintbench.models import torch_networks
from inpaintbench.models.brought import Brought
from inpaintbench.view import ItemView

PAR = Brought(
    "INPAINTBENCH_PAR_NETWORK", "its file of TorchScript", "the network of PAR may not be shipped: get it from its authors"
)  # fmt: skip
# Of the channels in 0..1, that pictures are brought to.
MEAN, DEVIATION = (123.675 / 255, 116.28 / 255, 103.53 / 255), (58.395 / 255, 57.12 / 255, 57.375 / 255)


class Par(SingleRegionMetric):
    """Perceived artefact ratio: the share of hole pixels that a network marks as an artefact, averaged over frames; 0..1.

    Zhang et al., "Perceptual Artifacts Localization for Inpainting", ECCV 2022. Its network may be neither used commercially nor
    passed on, so nothing of it comes with this package: ``INPAINTBENCH_PAR_NETWORK`` names a file of TorchScript that takes
    ``float32[N, 3, H, W]`` (RGB of 0..255 less 123.675, 116.28, 103.53, over 58.395, 57.12, 57.375) and gives
    ``[N, 2, H, W]``, the second channel larger where there is an artefact. Its code is run, so it has to come from people one
    trusts. The SHA-256 of the file is in the details. Frames without a hole are left out.
    """

    name = "par"
    brings = "the network of PAL4Inpaint (Adobe, non-commercial), `INPAINTBENCH_PAR_NETWORK`"
    version = "1"
    diagnostic = "it knows no truth, and a flat fill has nothing that looks like an artefact"
    higher_is_better = False
    decimals = 4
    answers = ("hole",)
    needs = ("composite", "hole")

    @staticmethod
    def state() -> str:
        """The SHA-256 of the file that the user brought, or ``missing``: what a score depends on besides the item."""
        return PAR.sha256()

    def measurement(self, view: ItemView) -> Measurement:
        """The share; None where no frame has a hole.

        Raises:
            NotMeasurable: no network was given, or what was given cannot be used.
        """
        path = PAR.path()
        with torch_networks.running(view.shared.compute) as device:
            module = _network(str(path), PAR.changed(), str(device))
            pairs = zip(view.composite, view.hole, strict=True)
            values = [float(_artefacts(module, frame, device)[hole].mean()) for frame, hole in pairs if hole.any()]
        mean = mean_over_clip(values, parts="frames", missing="no frame has a hole")
        return replace(mean, details={**mean.details, "network_sha256": PAR.sha256()})


@lru_cache(maxsize=1)
def _network(path: str, changed: int, device: str) -> Any:  # noqa: ARG001 - the time is part of what is remembered
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return torch_networks.torch().jit.load(path, map_location=device).eval()
    except RuntimeError as error:
        raise NotMeasurable(f"{PAR.variable} names {Path(path).name!r}, which is no file of TorchScript") from error


def _artefacts(module: Any, frame: npt.NDArray[np.uint8], device: Any) -> npt.NDArray[np.bool_]:
    """Return where the network sees an artefact, ``bool[H, W]``."""
    try:
        answer = module(normalised(torch_networks.pictures(frame[None], device), MEAN, DEVIATION))
    except RuntimeError as error:
        raise NotMeasurable(f"the network of PAR failed on a frame of {frame.shape[1]}x{frame.shape[0]}") from error
    expected, shape = (1, 2, *frame.shape[:2]), tuple(getattr(answer, "shape", ()))
    if shape != expected:
        raise NotMeasurable(f"the network of PAR gave {shape or type(answer).__name__} for a frame, not {expected}")
    marked: npt.NDArray[np.bool_] = answer.argmax(dim=1)[0].bool().cpu().numpy()
    return marked
