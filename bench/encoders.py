"""What libvpx-vp9, which stands in for libx264, takes beside it: CPU time, bytes and PSNR by use, on real films."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from inpaintbench import video
from inpaintbench.types import Frames
from inpaintbench.video.encoding import ENVIRONMENT

FILMS, FRAMES, WIDTH, HEIGHT = 4, 30, 320, 180
Use = Callable[[Path, Frames], object]
USES: dict[str, Use] = {
    "truth": lambda path, frames: video.write_clip(path, frames, fps=25.0),
    "hole": lambda path, frames: video.write_hole(path, frames[..., 0] > 128, fps=25.0),
    "lossless": lambda path, frames: video.write_lossless(path, frames, fps=25.0),
    "proxy, crf 12": lambda path, frames: video.write_browser(path, frames, fps=25.0, crf=12),
    "report, crf 20": lambda path, frames: video.write_browser(path, frames, fps=25.0),
}


def measured(use: Use, path: Path, frames: Frames) -> tuple[float, float, int, float]:
    """CPU seconds of encoding and of decoding, bytes, and PSNR in dB."""
    seconds = []
    for _ in range(3):
        before = time.process_time()
        use(path, frames)
        seconds.append(time.process_time() - before)
    before = time.process_time()
    shown = video.read_frames(path)
    decoding = time.process_time() - before
    error = float(np.mean((shown.astype(np.float32) - frames) ** 2))
    return min(seconds), decoding, path.stat().st_size, 10 * np.log10(255**2 / error) if error else np.inf


def film_frames(film: Path) -> Frames:
    """The first frames, made smaller."""
    frames = islice(video.Decoder(film), FRAMES)
    return np.stack([video.scaled(frame.to_ndarray(format="rgb24"), width=WIDTH, height=HEIGHT) for frame in frames])


def main() -> None:
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    print("## Writing video without libx264\n")
    if assets is None:
        print("Not run: INPAINTBENCH_TEST_ASSETS names no folder of real films.")
        return
    films = sorted(Path(assets).glob("videos/scenery/*/*.mp4"))[:FILMS]
    frames = np.concatenate([film_frames(film) for film in films])
    print(f"`libvpx-vp9` against `libx264` on {len(frames)} frames of {WIDTH}x{HEIGHT} from {len(films)} films: ratios of CPU")
    print("time and bytes, and the PSNR of both in dB. Holes, inputs and predictions lose nothing.\n")
    print("| use | encoding | decoding | bytes | PSNR libx264 | PSNR libvpx-vp9 |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name, use in USES.items():
            told = []
            for encoder in ("libx264", "libvpx-vp9"):
                os.environ[ENVIRONMENT] = encoder
                told.append(measured(use, Path(folder, "clip.mp4"), frames))
            (encoded, decoded, size, psnr), (encoded_vp9, decoded_vp9, size_vp9, psnr_vp9) = told
            quality = "" if name == "hole" else f"{psnr:.1f} | {psnr_vp9:.1f}"
            ratios = f"{encoded_vp9 / encoded:.1f} | {decoded_vp9 / decoded:.1f} | {size_vp9 / size:.2f}"
            print(f"| {name} | {ratios} | {quality or ' | '} |")


if __name__ == "__main__":
    main()
