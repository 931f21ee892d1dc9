"""SSIM and PSNR of whole frames and of small holes, against scikit-image and OpenCV, and what regions cost.

python bench/pixel_metrics.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np
from pcons import panned_clip
from skimage.metrics import structural_similarity

from inpaintbench import regions
from inpaintbench.eval.metrics.psnr import Psnr
from inpaintbench.eval.metrics.ssim import Ssim
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import SSIM_VARIANTS
from inpaintbench.view import ItemView

PROTOCOL = "devil/corrected"
METHODS, METRICS = 4, ("mse", "psnr", "ssim")
REFERENCE = {
    "uniform_7": {"win_size": 7},
    "wang": {"win_size": 11, "gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False},
}


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def view_of(clip: ItemView, *, whole: bool) -> ItemView:
    """The prediction as it is, or pasted into the hole."""
    composite = clip.prediction if whole else clip.composite
    return ItemView.of_arrays(truth=clip.truth, composite=composite, hole=clip.hole)


def ssim_of(variant: str, view: ItemView) -> float:
    metric = Ssim(regions=("frame",), band_radius_pixels=8, **SSIM_VARIANTS[variant])
    value = metric.measure(view)["frame"].value
    assert value is not None
    return value


def reference_ssim(variant: str, view: ItemView) -> float:
    half, values = REFERENCE[variant]["win_size"] // 2, []
    for truth, composite in zip(view.truth, view.composite, strict=True):
        _, similarity = structural_similarity(truth, composite, data_range=255, channel_axis=2, full=True, **REFERENCE[variant])
        values.append(similarity[half:-half, half:-half].mean())
    return float(np.mean(values))


def bands_found(view: ItemView) -> int:
    """How often the geometry of a frame's hole is worked out when four methods are measured in three regions."""
    found, select = 0, regions.select

    def counted(hole: np.ndarray, region: str, *, band_radius: int) -> np.ndarray:
        nonlocal found
        found += len(hole) * (region == "band")
        return select(hole, region, band_radius=band_radius)

    regions.select = counted
    try:
        for method in range(METHODS):
            parts = {"truth": view.truth, "composite": np.roll(view.composite, method, axis=0), "hole": view.hole}
            for metric in PROTOCOLS.get(PROTOCOL).build_metrics(METRICS):
                metric.measure(ItemView.of_arrays(**parts, shared=view.shared))
    finally:
        regions.select = select
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 2 if parser.parse_args().quick else 9
    cv2.setNumThreads(1)
    clip = panned_clip(frames=30)
    print("## SSIM and PSNR\n")
    print(f"832x480, {len(clip.truth)} frames, one thread, CPU time, medians of {rounds} rounds.\n")
    print("| what | asked | measured |\n|---|---|---|")
    for whole in (True, False):
        view = view_of(clip, whole=whole)
        for variant in REFERENCE:
            difference = abs(ssim_of(variant, view) - reference_ssim(variant, view))  # compiles, too
            ratio = np.median([seconds(lambda: reference_ssim(variant, view)) / seconds(lambda: ssim_of(variant, view)) for _ in range(rounds)])  # fmt: skip  # noqa: B023, E501
            where = "every pixel differs" if whole else "only a small hole differs"
            asked = "at least 5 times" if whole else ""
            print(
                f"| SSIM `{variant}` against scikit-image, {where} | {asked} | {ratio:.0f} times, difference {difference:.0e} |"
            )
        psnr = Psnr(regions=("frame",), band_radius_pixels=8, **PROTOCOLS.get(PROTOCOL).metrics["psnr"])
        ours = [seconds(lambda: [psnr.measure(view) for _ in range(10)]) for _ in range(rounds)]  # noqa: B023
        theirs = [
            seconds(lambda: [cv2.PSNR(a, b) for _ in range(10) for a, b in zip(view.truth, view.composite, strict=True)])  # noqa: B023
            for _ in range(rounds)
        ]
        print(f"| PSNR of whole frames against `cv2.PSNR`, {where} | | {np.median(np.divide(ours, theirs)):.1f} times its time |")
    view = view_of(clip, whole=False)
    print(
        f"| bands around holes found for {METHODS} methods and {len(METRICS)} metrics | {len(clip.hole)} | {bands_found(view)} |"
    )


if __name__ == "__main__":
    main()
