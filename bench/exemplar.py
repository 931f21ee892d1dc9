"""How long fillings of one frame take, and how near the truth they come, beside their detail."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import statistics
import time
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from skimage import data
from skimage.metrics import structural_similarity

from inpaintbench import video
from inpaintbench.eval.methods import METHODS
from inpaintbench.view import ItemView

Picture = npt.NDArray[np.uint8]
SIDE, CELL = 512, 32
SHARES = (0.2, 0.4)
METHODS_SHOWN = ("exemplar", "telea", "navier_stokes", "biharmonic")
PHOTOGRAPHS = ("astronaut", "coffee", "chelsea", "rocket")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two pictures")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    pictures = _pictures()[: 2 if options.quick else None]
    print("## Fillers of single frames\n")
    print(f"{len(pictures)} photographs of {SIDE}x{SIDE}, holes of {CELL}-pixel cells drawn one by one. Processor time of one")
    print(
        "thread, median; PSNR in the hole; SSIM of the frame; detail: mean |Laplacian| in the hole as a share of the truth's.\n"
    )
    print("| cells missing | method | s a frame | PSNR, dB | SSIM | detail |\n|---|---|---|---|---|---|")
    for share in SHARES:
        for name in METHODS_SHOWN:
            rows = [_measured(name, picture, _cells(share, number)) for number, picture in enumerate(pictures)]
            seconds = statistics.median(row[0] for row in rows)
            psnr, ssim, detail = (float(np.mean([row[part] for row in rows])) for part in (1, 2, 3))
            print(f"| {share:.0%} | `{name}` | {seconds:.3f} | {psnr:.2f} | {ssim:.3f} | {detail:.2f} |", flush=True)
    print(f"\nPlain numpy beside numba, same bytes, 128x128 pixels: {_slowdown(pictures[0][:128, :128]):.0f} times slower.")


def _pictures() -> list[Picture]:
    """Real photos where the test assets are, else those that scikit-image carries."""
    folder = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    found = sorted(Path(folder, "photos").rglob("*_512.png")) if folder else []
    found += sorted(Path(folder, "photos").glob("images-migan-places512/examples/*/images/*"))[:9] if folder else []
    pictures = [video.read_frames(path)[0] for path in found] or [getattr(data, name)() for name in PHOTOGRAPHS]
    return [cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for picture in pictures]


def _cells(share: float, seed: int) -> npt.NDArray[np.bool_]:
    cells = np.random.default_rng(seed).random((SIDE // CELL, SIDE // CELL)) < share
    return np.kron(cells, np.ones((CELL, CELL), np.bool_))


def _filled(name: str, picture: Picture, hole: npt.NDArray[np.bool_], **constants: str) -> tuple[Picture, float]:
    given = np.where(hole[..., None], np.uint8(0), picture)[None]
    method = METHODS.get(name)(**constants)
    begun = time.process_time()
    found = method.inpaint(ItemView.of_arrays(input=given, hole=hole[None]))[0]
    return found, time.process_time() - begun


def _measured(name: str, picture: Picture, hole: npt.NDArray[np.bool_]) -> tuple[float, float, float, float]:
    if name == "exemplar":
        _filled(name, picture[:64, :64], hole[:64, :64] | (np.indices((64, 64)).sum(axis=0) < 20))  # compiles
    found, seconds = _filled(name, picture, hole)
    psnr = 10 * np.log10(255**2 / np.mean((found[hole].astype(float) - picture[hole]) ** 2))
    inner = cv2.erode(hole.astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    detail = [np.abs(cv2.Laplacian(one, cv2.CV_64F))[inner].mean() for one in (found, picture)]
    return seconds, float(psnr), float(structural_similarity(found, picture, channel_axis=2)), float(detail[0] / detail[1])


def _slowdown(picture: Picture) -> float:
    hole = _cells(0.3, 1)[:128, :128]
    seconds = {}
    for backend in ("numba", "numpy"):
        found = [_filled("exemplar", picture, hole, backend=backend) for _ in range(2)]
        seconds[backend] = min(one[1] for one in found)
    return seconds["numpy"] / seconds["numba"]


if __name__ == "__main__":
    main()
