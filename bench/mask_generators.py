"""Speed of the brush, box and patch masks beside straightforward loops, and the area of masks in bins."""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import math
import time
from collections.abc import Callable, Iterator
from statistics import fmean

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.masks.generators.base import Generator
from inpaintbench.masks.generators.brush_box import PRESETS, BrushBox, BrushPreset, Reach
from inpaintbench.masks.generators.shapes import Patches
from inpaintbench.types import Hole
from inpaintbench.view import ItemView

SIZE = 512
VIEW = ItemView(item_id="bench", frames=1, height=SIZE, width=SIZE, fps=30.0, parts={})
BINS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6))
DEFAULT = BrushBox().preset_name
GROW_BAR, PATCH_BAR = 4000, 30_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the masks")
    masks = 30 if parser.parse_args().quick else 300
    cv2.setNumThreads(1)
    print("## Mask generators\n")
    print(
        f"Masks a second at {SIZE}x{SIZE} in CPU time of one thread, all random draws included, best of 3 runs of {masks} masks. "
        "The loop draws each number with its own call and counts the whole image after each stroke; a mask that overshoots "
        "its bin is thrown away.\n"
    )
    print("| what | asked | measured | beside the plain loop |\n|---|---|---|---|")
    for row in (*brush_rows(masks), *patch_rows(masks)):
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"\nArea of {masks} masks in a bin: mean, standard deviation (0.058 where uniform), deciles 10 ... 90 %.\n")
    print("| preset | bin | grow | rejection | draws a mask by rejection |\n|---|---|---|---|---|")
    for name in (name for name, preset in PRESETS.items() if preset.image_size == SIZE):
        for bounds in BINS:
            print("| " + " | ".join(area_row(name, bounds, masks)) + " |", flush=True)


def brush_rows(masks: int) -> Iterator[tuple[str, str, str, str]]:
    every: list[float] = []
    own: list[float] = []
    loop: list[float] = []
    for bounds in BINS:
        loops = [seconds(lambda rng, p=preset, b=bounds: plain_brush(p, b, rng), masks // 3) for preset in PRESETS.values()]
        loop.append(loops[list(PRESETS).index(DEFAULT)])
        own.append(leaf_seconds(BrushBox(area=bounds), masks))
        for reach in ("grow", "rejection"):
            times = [leaf_seconds(BrushBox(preset=name, area=bounds, reach=reach), masks) for name in PRESETS]  # type: ignore[arg-type]
            every += times if reach == "grow" else []
            slowest = max(zip(times, PRESETS, strict=True))
            text = f"{1 / fmean(times):,.0f}/s (slowest {slowest[1]}: {1 / slowest[0]:,.0f}/s)"
            yield f"brush_box, {reach}, {words(bounds)}", "-", text, f"{fmean(loops) / fmean(times):.1f} x"
    text = f"{1 / fmean(own):,.0f}/s ({', '.join(f'{1 / time:,.0f}' for time in own)})"
    yield f"brush_box as it comes ({DEFAULT}), grow, three bins", f"{GROW_BAR:,}/s", text, f"{fmean(loop) / fmean(own):.1f} x"
    yield "brush_box, grow, mean time of all presets and bins", "-", f"{1 / fmean(every):,.0f}/s", "-"


def patch_rows(masks: int) -> Iterator[tuple[str, str, str, str]]:
    loop = seconds(plain_patches, masks)
    for count in ("bernoulli", "exact"):
        own = leaf_seconds(Patches(count=count), 10 * masks)  # type: ignore[arg-type]
        yield f"patches of 32 pixels, {count}", f"{PATCH_BAR:,}/s", f"{1 / own:,.0f}/s", f"{loop / own:.1f} x"


def area_row(name: str, bounds: tuple[float, float], masks: int) -> tuple[str, ...]:
    grown, rejected = facts(name, bounds, "grow", masks), facts(name, bounds, "rejection", masks)
    return name, words(bounds), law(grown[0]), law(rejected[0]), f"{rejected[1]:.1f}"


def facts(name: str, bounds: tuple[float, float], reach: Reach, masks: int) -> tuple[npt.NDArray[np.float64], float]:
    """The areas, and the mean number of masks drawn for one."""
    leaf, rng = BrushBox(preset=name, area=bounds, reach=reach), np.random.default_rng(2)
    found = [leaf.generate(VIEW, rng).facts for _ in range(masks)]
    areas = np.array([one["area_fraction"] for one in found])
    if areas.min() <= bounds[0] or areas.max() > bounds[1]:
        raise SystemExit(f"a mask of {name} left its bin: {areas.min()}, {areas.max()}")
    return areas, fmean(one["draws"] for one in found)


def law(areas: npt.NDArray[np.float64]) -> str:
    deciles = " ".join(f"{value:.2f}" for value in np.quantile(areas, np.linspace(0.1, 0.9, 9)))
    return f"{areas.mean():.3f}, {areas.std():.3f}, {deciles}"


def words(bounds: tuple[float, float]) -> str:
    return f"{100 * bounds[0]:.0f}-{100 * bounds[1]:.0f} %"


def leaf_seconds(leaf: Generator, masks: int) -> float:
    return seconds(lambda rng: leaf.generate(VIEW, rng).hole, masks)


def seconds(draw: Callable[[np.random.Generator], Hole], masks: int) -> float:
    """CPU seconds of one mask."""
    times = []
    for _ in range(3):
        rng, start = np.random.default_rng(0), time.process_time()
        for _ in range(masks):
            draw(rng)
        times.append((time.process_time() - start) / masks)
    return min(times)


def plain_brush(preset: BrushPreset, bounds: tuple[float, float], rng: np.random.Generator) -> Hole:
    """Strokes, or boxes, until the bin is reached, written down as one would first."""
    scale = SIZE / preset.image_size
    while True:
        mask, target = np.zeros((SIZE, SIZE), dtype=np.uint8), rng.uniform(*bounds)
        brush, number = preset.boxes is None or rng.random() < 1 / 1.3, 0
        while mask.mean() < target or not mask.any():
            if brush:
                plain_stroke(mask, preset, scale, number, rng)
            else:
                plain_box(mask, preset, scale, rng)
            number += 1
        if bounds[0] < mask.mean() <= bounds[1]:
            return mask[None].astype(np.bool_)


def plain_stroke(mask: npt.NDArray[np.uint8], preset: BrushPreset, scale: float, number: int, rng: np.random.Generator) -> None:
    x, y = int(rng.integers(SIZE)), int(rng.integers(SIZE))
    for _ in range(int(rng.integers(1, 6))):
        angle = 0.01 + float(rng.integers(4))
        if number % 2 == 0:
            angle = 2 * math.pi - angle
        length, width = scale * float(10 + rng.integers(preset.max_length)), scale * float(5 + rng.integers(preset.max_width))
        end_x = int(np.clip(x + length * np.sin(angle), 0, SIZE))
        end_y = int(np.clip(y + length * np.cos(angle), 0, SIZE))
        cv2.line(mask, (x, y), (end_x, end_y), 1, round(width))
        x, y = end_x, end_y


def plain_box(mask: npt.NDArray[np.uint8], preset: BrushPreset, scale: float, rng: np.random.Generator) -> None:
    assert preset.boxes is not None
    least, most = preset.boxes.side_pixels
    margin = round(preset.boxes.margin_pixels * scale)
    width, height = (round(scale * float(rng.integers(least, most + 1))) for _ in range(2))
    x, y = (int(rng.integers(margin, SIZE - margin - side + 1)) for side in (width, height))
    mask[y : y + height, x : x + width] = 1


def plain_patches(rng: np.random.Generator) -> Hole:
    mask = np.zeros((1, SIZE, SIZE), dtype=np.bool_)
    for top in range(0, SIZE, 32):
        for left in range(0, SIZE, 32):
            if rng.random() <= 0.4:
                mask[0, top : top + 32, left : left + 32] = True
    return mask


if __name__ == "__main__":
    main()
