"""What a method of the challenge gave, read and scored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage.metrics import structural_similarity
from tests.eval.scoring.test_score import scored

from inpaintbench import video
from inpaintbench.types import Dataset


@pytest.mark.real
def test_a_challenge_methods_stored_outputs_are_read_and_scored(assets: Path, tmp_path: Path) -> None:
    """The truth was never published, so what is scored is how far the third-placed method went from its inputs."""
    given = assets / "weights" / "fpd-m-net" / "test"
    names, rows = ("1", "10", "11", "12", "14"), []
    for name in names:
        video.write_image(tmp_path / f"{name}.png", video.read_image(given / f"{name}.jpg"))
        rows.append({
            "item_id": name, "truth_rgb_sha256": name, "hole_sha256": None, "input_sha256": name,
            "truth_file_name": f"{name}.png", "input_file_name": f"{name}.png",
            "fill": 0, "hole_is_given": False, "frames": 1, "height": 400, "width": 275, "fps": 25.0,
        })  # fmt: skip
    found = scored(tmp_path, Dataset("challenge", {}, tuple(rows), (), {}, {}, {}), given / "Results", "fingerprint/as-published")
    for name in names:
        grey = [np.asarray(Image.open(folder / f"{name}.jpg").convert("L")) / 255 for folder in (given, given / "Results")]
        assert found[name, "mse"].value == pytest.approx(np.mean((grey[0] - grey[1]) ** 2), abs=2e-7)
        assert found[name, "ssim"].value == pytest.approx(structural_similarity(*grey, data_range=2), abs=2e-7)
        assert found[name, "mse"].reason is None
