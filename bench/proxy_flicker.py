"""Flicker that the proxies of a study add to what "which is steadier?" asks about, on real pairs of results.

python bench/proxy_flicker.py [--quick] [--made]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.annotate.preparing.pictures import Grid, layout, outline, patches
from inpaintbench.annotate.preparing.proxies import CRF, KEY_EVERY, LIGHT_BITS, LIGHT_WORST_CRF, encoded
from inpaintbench.video.decoding import Decoder
from inpaintbench.workspace import Blobs

WIDTH, FRAMES, FPS = 480, 61, 25.0
# crf, frames between key frames at most.
SETTINGS = ((20, 15), (16, 15), (12, 15), (10, 15), (8, 15), (12, 250))
# Levels of 255 that a difference in flicker has at least to be called one.
VISIBLE = 0.05
Film = npt.NDArray[np.uint8]


@dataclass
class Pair:
    """Two results of one clip, ``uint8[T, H, W, 3]``, and where they were made, ``bool[H, W]``."""

    name: str
    truth: Film
    results: tuple[Film, Film]
    hole: npt.NDArray[np.bool_]


def films(folder: Path, *, most: int) -> Iterator[tuple[str, Film]]:
    """The beginnings of real films, one of each name."""
    paths = {
        path.stem: path for path in sorted(folder.rglob("*")) if path.suffix in (".mp4", ".webm") and "mask" not in path.stem
    }
    given = 0
    for name, path in sorted(paths.items()):
        pictures = (frame.to_ndarray(format="rgb24") for frame in islice(Decoder(path), FRAMES))
        frames = [
            cv2.resize(one, (WIDTH, round(one.shape[0] * WIDTH / one.shape[1] / 2) * 2), interpolation=cv2.INTER_AREA)
            for one in pictures
        ]
        if len(frames) == FRAMES and given < most:
            given += 1
            yield name, np.stack(frames)


def pair_of(name: str, truth: Film) -> Pair:
    """Results of two kinds in an ellipse: each frame by itself, and the median over frames around it, which is steadier."""
    height, width = truth.shape[1:3]
    rows, columns = np.mgrid[:height, :width]
    hole = ((rows - height / 2) / (height / 5)) ** 2 + ((columns - width / 2) / (width / 5)) ** 2 < 1
    alone = np.stack([cv2.inpaint(frame, hole.astype(np.uint8), 3, cv2.INPAINT_TELEA) for frame in truth])
    steady = alone.copy()
    for number in range(len(truth)):
        around = alone[max(0, number - 4) : number + 5]
        steady[number][hole] = np.median(around[:, hole], axis=0)
    return Pair(name, truth, (alone, steady), hole)


def flicker(film: Film, hole: npt.NDArray[np.bool_]) -> float:
    """Mean absolute second difference in time of luma inside the hole, in levels: even motion gives 0."""
    luma = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2YUV)[..., 0] for frame in film]).astype(np.float32)
    second = luma[1:-1] - (luma[:-2] + luma[2:]) / 2
    return float(np.abs(second[:, hole]).mean())


def pulse(film: Film, shown: Film, key_every: int) -> float:
    """How much more the coding error changes at key frames than elsewhere, as a ratio."""
    error = shown.astype(np.float32) - film.astype(np.float32)
    change = np.abs(np.diff(error, axis=0)).mean(axis=(1, 2, 3))
    at = np.arange(1, len(film)) % key_every == 0
    return float(change[at].mean() / change[~at].mean()) if at.any() else float("nan")


@dataclass
class Loss:
    """What one setting does to one pair."""

    bytes: int
    psnr: float
    added: tuple[float, float]
    difference: tuple[float, float]
    """Flicker of the first less the second: as made, as shown."""
    pulse: float


def measured(pair: Pair, crf: int, key_every: int, folder: Path) -> Loss:
    """Through one proxy as a study makes it: both results, the original and the input on one sheet."""
    players = [*pair.results, pair.truth, pair.truth]
    height, width = pair.truth.shape[1:3]
    grid = layout(len(players), width=width, height=height, largest_side=960)
    path = folder / "proxy.mp4"
    video.write_browser(
        path, (grid.sheet(list(frames)) for frames in zip(*players, strict=True)), fps=FPS, crf=crf, key_every=key_every
    )
    sheet = video.read_frames(path)
    wide, tall = grid.picture
    shown = []
    for index in range(2):
        x, y = grid.place(index)
        shown.append(sheet[:, y : y + tall, x : x + wide])
    made = pair.results
    error = np.mean((shown[0].astype(np.float32) - made[0]) ** 2)
    before = [flicker(film, pair.hole) for film in made]
    after = [flicker(film, pair.hole) for film in shown]
    return Loss(
        path.stat().st_size, float(10 * np.log10(255**2 / error)), (after[0] - before[0], after[1] - before[1]),
        (before[0] - before[1], after[0] - after[1]), pulse(made[0], shown[0], key_every),
    )  # fmt: skip


# As studies make proxies: films of 90 frames.
MADE_WIDTH, MADE_HEIGHT, MADE_FRAMES, MADE_FPS = 480, 270, 90, 30.0


def made_pair(name: str, path: Path) -> tuple[str, Film, npt.NDArray[np.bool_], tuple[Film, Film]]:
    """A film of ``MADE_FRAMES`` frames, a hole that moves, and two results: each frame by itself, and the median of nine."""
    size = (MADE_WIDTH, MADE_HEIGHT)
    pictures = (frame.to_ndarray(format="rgb24") for frame in islice(Decoder(path), MADE_FRAMES))
    truth = np.stack([cv2.resize(one, size, interpolation=cv2.INTER_AREA) for one in pictures])
    rows, columns = np.mgrid[:MADE_HEIGHT, :MADE_WIDTH]
    hole = np.stack([
        ((rows - MADE_HEIGHT / 2 - 20 * np.sin(number / 15)) / (MADE_HEIGHT / 5)) ** 2
        + ((columns - MADE_WIDTH / 2 - number / 2 + 22) / (MADE_WIDTH / 5)) ** 2 < 1
        for number in range(len(truth))
    ])  # fmt: skip
    alone = np.stack([
        cv2.inpaint(frame, part.astype(np.uint8), 3, cv2.INPAINT_TELEA) for frame, part in zip(truth, hole, strict=True)
    ])  # fmt: skip
    steady = alone.copy()
    for number, part in enumerate(hole):
        steady[number][part] = np.median(alone[max(0, number - 4) : number + 5][:, part], axis=0)
    return name, truth, hole, (alone, steady)


def moving_flicker(film: Film, hole: npt.NDArray[np.bool_]) -> float:
    """As ``flicker``, in a hole that moves."""
    luma = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2YUV)[..., 0] for frame in film]).astype(np.float32)
    return float(np.abs(luma[1:-1] - (luma[:-2] + luma[2:]) / 2)[hole[1:-1]].mean())


def as_made(pair: tuple[str, Film, npt.NDArray[np.bool_], tuple[Film, Film]], folder: Path) -> list[tuple[int, float, float]]:
    """Bytes, share of the difference in flicker that is kept, and PSNR in the hole: before patches, then in both qualities."""
    _, truth, hole, results = pair
    before = truth.copy()
    before[hole] = 0
    rows: list[tuple[int, float, float]] = []
    blobs, flickers = Blobs(folder), [moving_flicker(film, hole) for film in results]
    for patched in (False, True):
        grid = layout(5 + patched, width=MADE_WIDTH, height=MADE_HEIGHT, largest_side=960)

        def sheets(grid: Grid = grid, patched: bool = patched) -> Iterator[Film]:
            for number in range(len(truth)):
                shown = {key: film[number] for key, film in zip("iab", (before, *results), strict=True)}
                cut, mask = patches(shown, hole[number], grid=grid)
                lines = outline(hole[number], size=grid.picture)
                yield grid.sheet([truth[number], *(cut if patched else shown).values(), lines, *[mask] * patched])

        names = encoded(sheets, blobs, fps=MADE_FPS, frames=len(truth), picture=grid.picture)
        for blob in names[: 1 + patched]:
            path = blobs.path(blob or names[0])
            decoded = video.read_frames(path)
            places = [grid.place(index) for index in (2, 3)]
            shown = [decoded[:, y : y + MADE_HEIGHT, x : x + MADE_WIDTH] for x, y in places]
            after = [moving_flicker(film, hole) for film in shown]
            loss = np.mean((shown[0][hole].astype(np.float32) - results[0][hole]) ** 2)
            kept = (after[0] - after[1]) / (flickers[0] - flickers[1])
            rows.append((path.stat().st_size, kept, float(10 * np.log10(255**2 / loss))))
    return rows


def print_made(folder: Path, *, most: int) -> None:
    """The table of what studies make."""
    paths = {
        path.stem: path for path in sorted(folder.rglob("*")) if path.suffix in (".mp4", ".webm") and "mask" not in path.stem
    }
    found: list[list[tuple[int, float, float]]] = []
    print(
        f"As studies make them: {MADE_FRAMES} frames of {MADE_WIDTH}x{MADE_HEIGHT} of real films, a hole that moves, the same "
        "two kinds of results beside original, input, outline. Before, each picture was whole; now the original is there once, "
        f"the others are patches. The light quality is for lines on which the full one would stall; it may take {LIGHT_BITS} "
        f"bits a pixel of one picture, unless it is at crf {LIGHT_WORST_CRF} already.\n"
    )
    print(f"| film | before, MB | kept | full, MB | kept | PSNR dB | light, MB | kept | PSNR dB |\n|{'---|' * 9}")
    for name, path in sorted(paths.items()):
        if len(found) == most or sum(1 for _ in islice(Decoder(path), MADE_FRAMES)) < MADE_FRAMES:
            continue
        with tempfile.TemporaryDirectory() as made:
            before, full, light = as_made(made_pair(name, path), Path(made))
        found.append([before, full, light])
        print(
            f"| {name} | {before[0] / 1e6:.2f} | {before[1]:.0%} | {full[0] / 1e6:.2f} | {full[1]:.0%} | {full[2]:.1f} "
            f"| {light[0] / 1e6:.2f} | {light[1]:.0%} | {light[2]:.1f} |", flush=True,
        )  # fmt: skip
    b, f, e = np.mean(found, axis=0)
    print(
        f"| mean | {b[0] / 1e6:.2f} | {b[1]:.0%} | {f[0] / 1e6:.2f} | {f[1]:.0%} | {f[2]:.1f} | {e[0] / 1e6:.2f} | {e[1]:.0%} "
        f"| {e[2]:.1f} |"
    )


def _pulse_words(rows: list[Loss]) -> str:
    mean = float(np.mean([row.pulse for row in rows]))
    return "" if np.isnan(mean) else f"{mean:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--made", action="store_true", help="the second table alone")
    options = parser.parse_args()
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        print("left out: INPAINTBENCH_TEST_ASSETS is not set", file=sys.stderr)
        return 0
    if options.made:
        print_made(Path(assets) / "videos" / "scenery", most=2 if options.quick else 12)
        return 0
    pairs = [pair_of(*film) for film in films(Path(assets) / "videos" / "scenery", most=2 if options.quick else 8)]
    settings = SETTINGS[:2] if options.quick else SETTINGS
    with tempfile.TemporaryDirectory() as folder:
        losses = {setting: [measured(pair, *setting, Path(folder)) for pair in pairs] for setting in settings}
    print("## Flicker that proxies add\n")
    print(
        f"{len(pairs)} real films, {FRAMES} frames of {WIDTH} pixels: a hole filled frame by frame (Telea) and by the median "
        "over nine such frames, which is steadier. Flicker is the mean absolute second difference in time of luma there, in "
        f"levels of 255. Studies take crf {CRF} with a key frame every {KEY_EVERY} frames; the first row is what they took "
        "before. The pulse is how much more the coding error changes at key frames than elsewhere.\n"
    )
    columns = (
        "crf", "key frame every", "bytes", "PSNR dB", "flicker added, frame by frame", "added, steadier",
        "kept of the difference (least)", "key-frame pulse",
    )  # fmt: skip
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    first = sum(loss.bytes for loss in losses[settings[0]])
    for (crf, key_every), rows in losses.items():
        kept = [row.difference[1] / row.difference[0] for row in rows if row.difference[0] > VISIBLE]
        print(
            f"| {crf} | {key_every} | {sum(row.bytes for row in rows) / first:.2f} x | {np.mean([row.psnr for row in rows]):.1f} "
            f"| {np.mean([row.added[0] for row in rows]):+.3f} | {np.mean([row.added[1] for row in rows]):+.3f} "
            f"| {np.mean(kept):.0%} ({min(kept):.0%}) | {_pulse_words(rows)} |"
        )
    print()
    print_made(Path(assets) / "videos" / "scenery", most=2 if options.quick else 12)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
