"""The form for videos: patches that stay for some frames, and D averaged over frames."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from built import built
from footage import write_sources

from inpaintbench import frozen
from inpaintbench.eval.metrics.psnr import decibels
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.reinpaint.recipe import ReinpaintRecipe
from inpaintbench.wings.reinpaint.setting import Patches, patch_mask, second_hole, setting_of
from inpaintbench.wings.reinpaint.step import inpaint_again_all, natural
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("reinpaint/corrected")


def test_d_of_a_clip_pools_the_errors_of_its_frames_under_patch_tubes(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", count=1)
    recipe = ReinpaintRecipe(size=64, preset="medium-256", clip_frames=6, motion="tube", second_masks=0, area_edges=(0.1, 0.3))
    source = SourceSpec("folder", {"folder": str(tmp_path / "sources")})
    _, root, dataset = built(tmp_path / "workspace", recipe, source, workers=0)
    patches, second = Patches(ratio=0.4, size_pixels=8, tube_frames=3, seed=2), MethodSpec("telea", "telea")
    setting = setting_of(CORRECTED, second=second, masks=2, patches=patches, submetrics=["psnr"])
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        [rows] = inpaint_again_all(
            executor, dataset, root=root, firsts=[natural()], settings=[setting], protocol=CORRECTED.name,
            fingerprint=CORRECTED.fingerprint,
        ).values()  # fmt: skip
    found = {row.item_id: row for row in rows if row.metric == "reinpaint_psnr"}
    assert len(found) == len(dataset.items)

    row = dataset.items[0]
    truth, first = frozen.truth_and_hole(root, row)
    expected = []
    for number in range(2):
        patch = patch_mask(patches, item_id=row["item_id"], number=number, frames=6, height=64, width=64)
        assert [(patch[frame] == patch[0]).all() for frame in range(6)] == [True] * 3 + [False] * 3
        hidden = second_hole(patch, first)
        errors = []
        for frame, hole in zip(truth, hidden, strict=True):
            shown = frame.copy()
            shown[hole] = 0
            again = cv2.inpaint(shown, hole.astype(np.uint8), 3.0, cv2.INPAINT_TELEA)
            errors.append(float(np.mean((again.astype(float) - frame) ** 2)) / 255**2)
        expected.append(decibels(float(np.mean(errors)), data_range=1.0))
    assert found[row["item_id"]].details["values"] == pytest.approx(expected)
    assert found[row["item_id"]].value == pytest.approx(np.mean(expected))
