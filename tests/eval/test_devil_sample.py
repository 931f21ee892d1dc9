"""The sample of DEVIL, CVPR 2022, through the whole chain of files, predictions, scoring and tables."""

from __future__ import annotations

import math
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.eval.metrics.published import metric_of, published_item

from inpaintbench import video
from inpaintbench.eval.metrics.pcons import Pcons, smallest_squared_difference
from inpaintbench.eval.metrics.psnr import decibels
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Frames, Hole, Score
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.real

PSNR, PCONS, PCONS_RANDOM = 41.16293134667157, 37.590961192944334, 31.928118861317326
SSIM = {"devil/as-published": 0.994285869365951, "devil/corrected": 0.9918304909629476}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, assets: Path) -> tuple[Path, Dataset]:
    """The sample as a frozen dataset, with one method's images as they come in ``saved`` and the truth's in ``perfect``."""
    root = tmp_path_factory.mktemp("sample")
    given = assets / "results" / "scenery-devil-sample" / "devkit"
    item = published_item()
    video.write_lossless(root / "truth.mp4", item.truth, fps=25.0)
    video.write_hole(root / "hole.mp4", item.hole, fps=25.0)
    for name, pattern in (("saved", "sample-inpainting-outputs/*_pred.png"), ("perfect", "sample-inpainting-inputs/*_gt.png")):
        (root / name / "sample").mkdir(parents=True)
        for path in given.glob(pattern):
            shutil.copy(path, root / name / "sample")
    yuv, rgb = video.decoded_hashes(root / "truth.mp4")
    row = {
        "item_id": "sample", "truth_file_name": "truth.mp4", "hole_file_name": "hole.mp4", "fps": 25.0, "frames": item.frames,
        "height": item.height, "width": item.width, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb, "hole_sha256": "published",
        "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test",
    }  # fmt: skip
    return root, Dataset("sample", {}, (row,), (), {}, {}, {})


def scored(world: tuple[Path, Dataset], folder: Path, protocol: str) -> dict[tuple[str, str, str], Score]:
    root, dataset = world
    with LocalExecutor(Workspace(folder), workers=0) as executor:
        methods = []
        for name in ("saved", "perfect"):
            method = MethodSpec(name, "saved_folder", {"folder": str(root / name)})
            made = predict(executor, dataset, root=root, method=method)
            assert not made.rejected
            methods.append(Predicted(name, made.records))
        rows = score(executor, dataset, root=root, methods=methods, protocol=protocol, metrics=["psnr", "ssim", "mse", "pcons"])
    return {(name, row.metric, row.region): row for name, outcome in rows.items() for row in outcome.records}


@pytest.mark.parametrize("protocol", list(SSIM))
def test_files_through_prediction_and_scoring_give_the_published_numbers(
    world: tuple[Path, Dataset], tmp_path: Path, protocol: str
) -> None:
    found = scored(world, tmp_path / "run", protocol)
    item = published_item()
    squares = ((item.composite.astype(np.float64) - item.truth) / 255) ** 2
    # The released code takes the mean of the frames' decibels, in float32; corrected is that of the pooled error.
    psnr = PSNR if protocol == "devil/as-published" else 10 * math.log10(1 / squares.mean())
    assert found["saved", "psnr", "frame"].value == pytest.approx(psnr, abs=2e-6)
    assert found["saved", "ssim", "frame"].value == pytest.approx(SSIM[protocol], abs=1e-6)
    if protocol == "devil/as-published":
        assert found["saved", "pcons", "hole"].value == pytest.approx(PCONS, abs=1e-6)
    else:  # the pooled error gives less than the mean of decibels (Jensen); a search one pixel wider finds a little more
        assert PCONS - 3 < found["saved", "pcons", "hole"].value < PCONS + 1
    for metric, value in (("psnr", math.inf if protocol == "devil/as-published" else 58.92), ("ssim", 1.0), ("mse", 0.0)):
        assert found["perfect", metric, "frame"].value == value
        assert found["perfect", metric, "hole"].value == value


def test_the_truth_itself_is_infinitely_consistent_as_published_alone(world: tuple[Path, Dataset], tmp_path: Path) -> None:
    """One of its pairs repeats exactly, which decides all; pooled with the others it decides nothing."""
    published = scored(world, tmp_path / "published", "devil/as-published")["perfect", "pcons", "hole"]
    assert published.value == math.inf
    assert 1 <= published.details["infinite_pairs"] < published.details["pairs"]
    corrected = scored(world, tmp_path / "corrected", "devil/corrected")["perfect", "pcons", "hole"]
    assert "infinite_pairs" not in corrected.details
    assert 0 < corrected.value < 58.92


def random_patches(composite: Frames) -> float:
    """The published variant without masks: one generator for all pairs of all videos, searched by our own arithmetic."""
    rng = np.random.default_rng(1234)
    values = []
    for frame, following in pairwise(composite):
        height, width = frame.shape[:2]
        top, left = rng.integers(height - 50), rng.integers(width - 50)
        rows, columns = (slice(max(at - 20, 0), at + 19 + 50) for at in (top, left))
        patch = frame[top : top + 50, left : left + 50]
        error = smallest_squared_difference(patch, following[rows, columns])
        values.append(decibels(error / (patch.size * 255**2), data_range=1.0))
    return float(np.mean(values))


def test_random_patches_of_one_stream_give_the_published_number() -> None:
    """Our own ``frame`` region draws from a generator keyed by the item, so that its values depend on no order of videos."""
    view = published_item()
    assert random_patches(view.composite) == pytest.approx(PCONS_RANDOM, abs=1e-6)
    metric = metric_of("devil/as-published", "pcons")
    assert isinstance(metric, Pcons)
    keyed = metric.measure(view)["frame"].value
    assert keyed == metric.measure(view)["frame"].value
    assert keyed == pytest.approx(PCONS_RANDOM, abs=5)
    assert keyed != pytest.approx(PCONS_RANDOM, abs=1e-3)


def test_masks_are_black_where_pixels_are_missing() -> None:
    view: ItemView = published_item()
    hole: Hole = view.hole
    assert hole.mean() == pytest.approx(0.03143, abs=5e-6)
    assert (view.composite[~hole] == view.truth[~hole]).all()
