"""The one item whose scores by the released code of DEVIL, CVPR 2022, are known: 21 frames of 432x240."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.video import read_image_folder
from inpaintbench.view import ItemView


def published_item() -> ItemView:
    """Truth, hole and one method's prediction; skips the test where the files are not at hand."""
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        pytest.skip("INPAINTBENCH_TEST_ASSETS is not set")
    folder = Path(assets) / "results" / "scenery-devil-sample" / "devkit"
    inputs, outputs = folder / "sample-inpainting-inputs", folder / "sample-inpainting-outputs"
    return ItemView.of_arrays(
        truth=read_image_folder(inputs, pattern="*_gt.png"),
        hole=read_image_folder(inputs, pattern="*_mask.png")[..., 0] == 0,
        prediction=read_image_folder(outputs, pattern="*_pred.png"),
    )


def metric_of(protocol: str, name: str) -> Metric:
    """The metric ``name`` with the constants of ``protocol``."""
    [metric] = PROTOCOLS.get(protocol).build_metrics([name])
    return metric
