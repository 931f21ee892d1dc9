"""The protocols against a scorer of its own: Pillow reads, converts and resizes, scikit-image measures."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage.metrics import mean_squared_error, peak_signal_noise_ratio, structural_similarity

from inpaintbench import video
from inpaintbench.eval.adapters.fitting import grey_view
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.video import nearest
from inpaintbench.view import ItemView

NUMBERS = (1, 10, 11, 12, 14)


def published_scores(truth: Path, prediction: Path) -> dict[str, float]:
    """MSE, PSNR and SSIM of two files as in 2018: grey, nearest pixel, 0..1, and SSIM with the range of -1..1."""
    with Image.open(truth) as one, Image.open(prediction) as other:
        wanted = np.asarray(one.convert("L")) / 255
        found = np.asarray(other.convert("L").resize(one.size, Image.Resampling.NEAREST)) / 255
    return {
        "mse": float(mean_squared_error(wanted, found)),
        "psnr": float(peak_signal_noise_ratio(wanted, found, data_range=1)),
        "ssim": float(structural_similarity(wanted, found, data_range=2)),
    }


def measured(protocol: str, truth: Path, prediction: Path) -> dict[str, float | None]:
    wanted, found = video.read_frames(truth), video.read_frames(prediction)
    found = nearest(found, height=wanted.shape[1], width=wanted.shape[2])
    hole = np.ones(wanted.shape[:3], np.bool_)
    view = grey_view(ItemView.of_arrays(truth=wanted, hole=hole, prediction=found))
    return {metric.name: metric.measure(view)["frame"].value for metric in PROTOCOLS.get(protocol).build_metrics()}


def saved(folder: Path, name: str, *, height: int = 60, width: int = 44, mode: str = "RGB") -> Path:
    rng = np.random.default_rng(len(name))
    pixels = rng.integers(0, 256, (height // 4, width // 4, 3), dtype=np.uint8)
    image = Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC).convert(mode)
    image.save(folder / name, quality=80)
    return folder / name


@pytest.mark.parametrize("size", [(60, 44), (60, 45), (31, 23), (120, 88), (7, 200)])
def test_as_published_equals_pillow_and_scikit_image(tmp_path: Path, size: tuple[int, int]) -> None:
    truth = saved(tmp_path, "truth.jpg", mode="L")
    prediction = saved(tmp_path, "p.jpg", height=size[0], width=size[1])
    expected = published_scores(truth, prediction)
    found = measured("fingerprint/as-published", truth, prediction)
    assert found == pytest.approx(expected, abs=2e-7)
    assert measured("fingerprint/corrected", truth, prediction)["ssim"] != pytest.approx(expected["ssim"], abs=1e-3)


def test_the_two_protocols_differ_in_what_is_corrected_and_nowhere_else() -> None:
    published, corrected = PROTOCOLS.get("fingerprint/as-published"), PROTOCOLS.get("fingerprint/corrected")
    assert published.fingerprint != corrected.fingerprint
    differences = {
        (metric, constant): (value, corrected.metrics[metric][constant])
        for metric, constants in published.metrics.items()
        for constant, value in constants.items()
        if corrected.metrics[metric][constant] != value
    }
    assert differences == {
        ("psnr", "averaged"): ("decibels", "errors"),
        ("psnr", "ceiling_decibels"): (None, 58.92),
        ("ssim", "data_range"): (2.0, 1.0),
    }
    same = {"name", "primary", "metrics", "missing", "resize", "mean_places"}
    assert published.model_dump(exclude=same) == corrected.model_dump(exclude=same)
    assert dict(published.missing) == {"mse": math.inf, "psnr": 0.0, "ssim": 0.0}
    assert (published.resize, corrected.resize, dict(corrected.missing)) == ("nearest", "none", {})
    assert published.regions == corrected.regions == ("frame",)


def test_golden_values() -> None:
    """64x48 pixels, row i, column j: truth ((7i + 13j) mod 256) / 255, prediction 0.1 ((i + j) mod 3 - 1) off, clipped."""
    i, j = np.mgrid[:64, :48]
    truth = np.mod(7 * i + 13 * j, 256) / 255
    prediction = np.clip(truth + 0.1 * (np.mod(i + j, 3) - 1), 0, 1)
    levels = [np.rint(255 * one).astype(np.uint8)[None, ..., None].repeat(3, axis=3) for one in (truth, prediction)]
    view = ItemView.of_arrays(truth=levels[0], hole=np.ones((1, 64, 48), np.bool_), prediction=levels[1])
    for protocol, ssim in (("fingerprint/as-published", 0.8833084778), ("fingerprint/corrected", 0.8752254107)):
        found = {one.name: one.measure(grey_view(view))["frame"].value for one in PROTOCOLS.get(protocol).build_metrics()}
        # Whole grey levels are half a level off at most.
        assert found == pytest.approx({"mse": 0.0062292748, "psnr": 22.0556254, "ssim": ssim}, rel=0.02)


def test_a_perfect_copy_scores_best() -> None:
    truth = np.random.default_rng(0).integers(0, 256, (1, 20, 30, 3), dtype=np.uint8)
    view = grey_view(ItemView.of_arrays(truth=truth, hole=np.ones((1, 20, 30), np.bool_), prediction=truth))
    found = {one.name: one.measure(view)["frame"].value for one in PROTOCOLS.get("fingerprint/as-published").build_metrics()}
    assert found == {"mse": 0, "psnr": math.inf, "ssim": 1}


@pytest.mark.parametrize("given", [(1, 1), (3, 5), (400, 275), (401, 274), (97, 53), (7, 200), (320, 220)])
def test_the_nearest_pixel_is_that_of_pillow(given: tuple[int, int]) -> None:
    picture = np.random.default_rng(1).integers(0, 256, (*given, 3), dtype=np.uint8)
    expected = np.asarray(Image.fromarray(picture).resize((110, 160), Image.Resampling.NEAREST))
    np.testing.assert_array_equal(nearest(picture[None], height=160, width=110)[0], expected)


@pytest.mark.real
@pytest.mark.parametrize("number", NUMBERS)
def test_stored_files_of_the_challenge_score_as_by_its_formula(assets: Path, number: int) -> None:
    folder = assets / "weights" / "fpd-m-net" / "test"
    given, drawn = folder / f"{number}.jpg", folder / "Results" / f"{number}.jpg"
    assert measured("fingerprint/as-published", drawn, given) == pytest.approx(published_scores(drawn, given), abs=2e-7)


@pytest.mark.real
def test_a_black_submission_scores_what_the_challenge_printed(assets: Path, tmp_path: Path) -> None:
    """Its table has 1.3781 dB and SSIM 0.0001, which a range of 1 would have printed as 0.0000."""
    black = tmp_path / "black.jpg"
    Image.new("L", (275, 400)).save(black)
    prints = [assets / "weights" / "fpd-m-net" / "test" / "Results" / f"{number}.jpg" for number in NUMBERS]
    ssim = [measured("fingerprint/as-published", path, black)["ssim"] for path in prints]
    assert f"{np.mean(np.array(ssim, float)):.4f}" == "0.0001"
    narrow = [measured("fingerprint/corrected", path, black)["ssim"] for path in prints]
    assert f"{np.mean(np.array(narrow, float)):.4f}" == "0.0000"
