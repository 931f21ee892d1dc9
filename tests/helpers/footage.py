"""A small folder of real pictures in motion, for building whole benchmarks in tests."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np
from skimage import data

from inpaintbench import video

WIDTH, HEIGHT = 128, 80


def write_sources(folder: Path, *, count: int = 6, frames: int = 50, times: int = 1) -> Path:
    """``count`` pans over photographs, ten by ten lower, with speeds from 1 to 10 half pixels a frame, each so many ``times``."""
    folder.mkdir(parents=True, exist_ok=True)
    photographs = (data.coffee(), data.chelsea(), data.astronaut(), data.rocket())
    for place in range(count):
        picture = photographs[place % len(photographs)]
        noise = np.random.default_rng(place).normal(0, 1.5, (frames, HEIGHT, WIDTH, 3))
        steps, top = (np.arange(frames) * (place % 10 + 1)) // 2, 60 + place // 10 * 30
        pan = np.stack([picture[top : top + HEIGHT, 20 + step : 20 + step + WIDTH] for step in steps])
        shown = np.tile(np.clip(pan + noise, 0, 255).astype(np.uint8), (times, 1, 1, 1))
        video.write_lossless(folder / f"pan {place}.mp4", shown, fps=25.0)
    return folder


def write_labels(path: Path, *, count: int = 6) -> Path:
    """Every second source is called water."""
    rows = [f"pan {place}.mp4,bg_scene_motion_level,{'high' if place % 2 else 'low'}" for place in range(count)]
    path.write_text("subject,name,value\n" + "\n".join(rows) + "\n")
    return path


def build_command(folder: Path, name: str, *, workers: int) -> list[str]:
    """`build devil` over ``folder/sources`` with ``folder/labels.csv`` into the workspace ``folder/name``."""
    return [
        sys.executable, "-m", "inpaintbench", "build", "devil", "--sources", str(folder / "sources"), "--out", str(folder / name),
        "--labels", str(folder / "labels.csv"), "--size", f"{WIDTH}x{HEIGHT}", "--per-slice", "2", "--workers", str(workers),
    ]  # fmt: skip


def contents(workspace: Path) -> dict[str, str]:
    """Every table, blob and export, by hash; the ledger holds clock times and is not compared."""
    files = (path for part in ("tables", "blobs", "exports") for path in sorted((workspace / part).rglob("*")) if path.is_file())
    return {str(path.relative_to(workspace)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
