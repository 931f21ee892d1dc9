"""Draw the pictures of the concept pages in docs/concepts. Every number in them is computed here, from seeds.

Needs the extra `eval` (PyTorch and lpips) and no weights: the network of the LPIPS picture is untrained on purpose.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from drawing import BLUE, GREEN, GREY, ORANGE, Axis, Figure
from PIL import Image
from skimage import data

from inpaintbench import frozen
from inpaintbench.eval.set_distances.frechet import Moments, distance
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset, Plain
from inpaintbench.workspace import Workspace

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Vectors in each set."""
DIMENSIONS: Mapping[int, str] = {16: GREEN, 64: BLUE, 256: ORANGE}
TRUE_DISTANCE, DRAWS = 1.0, 8
PER_SLICE, WIDTH, HEIGHT = 8, 208, 120
SEEDS = 12
SIDE = 256


def main() -> None:
    """Write every picture."""
    with tempfile.TemporaryDirectory() as folder:
        root, dataset = demo_build(Path(folder) / "slices", design="slices")
        thumbnails(root, dataset, PICTURES / "slice_items.png")
        slice_dots(dataset)
        paired_root, pairs = demo_build(Path(folder) / "paired", design="paired")
        thumbnails(paired_root, pairs, PICTURES / "pair_items.png")
        pair_lines({"slices of other clips": (root, dataset), "pairs of the same clips": (paired_root, pairs)})
    frechet_curves()
    untrained_lpips()


# What a slice is


def demo_build(folder: Path, *, design: Literal["slices", "paired"]) -> tuple[Path, Dataset]:
    """A benchmark of twelve films that come with the program."""
    workspace = Workspace(folder)
    recipe = devil.DevilRecipe(
        width=WIDTH, height=HEIGHT, per_slice=PER_SLICE, design=design, axes=("size",) if design == "paired" else ()
    )
    with LocalExecutor(workspace, workers=2) as executor:
        return build(recipe, [SourceSpec("embedded", {"count": 12, "width": WIDTH, "height": HEIGHT})], executor, workspace)


def rows_of(dataset: Dataset, name: str) -> list[Plain]:
    """The rows of a slice in its order."""
    by_id = {row["item_id"]: row for row in dataset.items}
    return [by_id[item_id] for part in dataset.slices if part.name == name for item_id in part.item_ids]


def thumbnails(root: Path, dataset: Dataset, path: Path) -> None:
    """Four items of each of two slices; outlines show where the hole is at six moments."""
    rows = [[_thumbnail(root, row) for row in rows_of(dataset, f"size-{level}")[:4]] for level in ("low", "high")]
    gap = np.full((8, 4 * WIDTH + 24, 3), 255, np.uint8)
    bands = [np.hstack([np.hstack([one, np.full((HEIGHT, 8, 3), 255, np.uint8)]) for one in row])[:, :-8] for row in rows]
    sheet = Image.fromarray(np.vstack([bands[0], gap, bands[1]]))
    sheet.quantize(160, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)


def _thumbnail(root: Path, row: Plain) -> np.ndarray:
    truth, hole = frozen.truth_and_hole(root, row)
    middle = len(truth) // 2
    picture = truth[middle].copy()
    picture[hole[middle]] = (0.25 * picture[hole[middle]] + 0.75 * np.array([255, 255, 255])).astype(np.uint8)
    for moment in np.linspace(0, len(hole) - 1, 6).astype(int):
        outlines, _ = cv2.findContours(hole[moment].astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(picture, outlines, -1, (255, 214, 0), 1)
    return np.asarray(picture)


MEASURED = (
    ("hole.hole_fraction", "share of the frame", "size"),
    ("hole.centroid_displacement_pixels", "pixels", "displacement"),
    ("hole.pose_change", "0 to 1", "change of shape"),
    ("camera_motion_per_frame", "share of the view a frame", "camera motion"),
)
"""Attribute, unit, what it is called in the picture."""


def slice_dots(dataset: Dataset) -> None:
    """What was measured on the items of size-low and size-high: one attribute apart, the others mixed."""
    figure = Figure(860, 330, "Measured attributes of the items of size-low and size-high")
    slices = {name: rows_of(dataset, name) for name in ("size-low", "size-high")}
    for place, (name, unit, title) in enumerate(MEASURED):
        left = 20 + place * 212
        values = {part: [_value(row, name) for row in rows] for part, rows in slices.items()}
        top = max(value for one in values.values() for value in one if value is not None) * 1.1
        axis = Axis(0, top, 270, 60)
        figure.text(left + 52, 28, title, size=15)
        figure.text(left + 52, 46, unit, size=11, colour="#5b6370")
        figure.line([(left + 46, 60), (left + 46, 270), (left + 196, 270)], colour=GREY, width=1)
        for share in (0, 0.5, 1):
            value = top * share / 1.1
            figure.text(left + 42, axis.at(value) + 4, f"{value:.3g}", size=11, anchor="end", colour="#5b6370")
        for column, (part, colour) in enumerate((("size-low", BLUE), ("size-high", ORANGE))):
            for number, found in enumerate(values[part]):
                if found is not None:
                    figure.dot(left + 76 + column * 76 + number % 4 * 6, axis.at(found), colour=colour)
            figure.text(left + 85 + column * 76, 290, part, size=12, anchor="middle", colour=colour)
    figure.text(20, 318, f"Each dot is an item; {PER_SLICE} items a slice, of twelve films that come with the program.", size=12)
    figure.save(PICTURES / "slice_attributes.svg")


def _value(row: Plain, name: str) -> float | None:
    value = row["attributes"].get(name)
    return float(value) if isinstance(value, int | float) else None


# Why pairs


def pair_lines(datasets: Mapping[str, tuple[Path, Dataset]]) -> None:
    """What Telea's method scores on small and large holes, of two designs: clouds of other clips, and lines of one clip each."""
    figure = Figure(860, 360, "Scores on small and large holes of other clips, and of the same clips")
    scores = {name: telea_scores(root, dataset) for name, (root, dataset) in datasets.items()}
    every = [score for levels in scores.values() for found in levels.values() for score in found.values()]
    axis = Axis(min(every) - 1, max(every) + 1, 300, 50)
    for place, (name, levels) in enumerate(scores.items()):
        left = 70 + place * 420
        figure.text(left + 150, 24, name, size=15, anchor="middle")
        figure.line([(left, 50), (left, 300), (left + 320, 300)], colour=GREY, width=1)
        for value in range(10, 60, 5):
            if axis.low < value < axis.high:
                figure.text(left - 6, axis.at(value) + 4, str(value), size=11, anchor="end", colour="#5b6370")
        low, high = levels["low"], levels["high"]
        for clip in sorted(low.keys() & high.keys()) if place else ():
            figure.line([(left + 90, axis.at(low[clip])), (left + 230, axis.at(high[clip]))], colour=GREY, width=1.5)
        for column, (level, found, colour) in enumerate((("small hole", low, BLUE), ("large hole", high, ORANGE))):
            for score in found.values():
                figure.dot(left + 90 + column * 140, axis.at(score), colour=colour)
            figure.text(left + 90 + column * 140, 320, level, size=13, anchor="middle", colour=colour)
    figure.text(
        70, 348, "PSNR in the hole, dB, of Telea's method. Each dot is an item, each line a clip with both holes.", size=12
    )
    figure.save(PICTURES / "pair_lines.svg")


def telea_scores(root: Path, dataset: Dataset) -> dict[str, dict[str, float]]:
    """Level of size -> clip -> PSNR in the hole, dB."""
    found: dict[str, dict[str, float]] = {}
    for level in ("low", "high"):
        for row in rows_of(dataset, f"size-{level}"):
            truth, hole = frozen.truth_and_hole(root, row)
            filled = frozen.filled(truth, hole, fill=0)
            made = [cv2.inpaint(*pair, 3, cv2.INPAINT_TELEA) for pair in zip(filled, hole.astype(np.uint8), strict=True)]
            error = np.mean((np.stack(made)[hole].astype(float) - truth[hole]) ** 2)
            found.setdefault(level, {})[row["clip_id"]] = float(10 * np.log10(255**2 / error))
    return found


# Why Frechet distances need N


def frechet_curves() -> None:
    """The distance between two sets of N normal vectors whose true distance is 1, against N, for three lengths of vectors."""
    figure = Figure(760, 430, "Frechet distance measured from N vectors, where the true distance is 1")
    x, y = Axis(SIZES[0], SIZES[-1], 70, 640, logarithmic=True), Axis(0.8, 600, 360, 50, logarithmic=True)
    for size in SIZES:
        figure.line([(x.at(size), 360), (x.at(size), 366)], colour=GREY, width=1)
        figure.text(x.at(size), 382, str(size), size=12, anchor="middle")
    for value in (1, 3, 10, 30, 100, 300):
        figure.line([(70, y.at(value)), (640, y.at(value))], colour=GREY, width=0.6)
        figure.text(62, y.at(value) + 4, str(value), size=12, anchor="end")
    figure.line([(70, y.at(TRUE_DISTANCE)), (640, y.at(TRUE_DISTANCE))], colour="#20242b", width=1.5, dashed=True)
    figure.text(650, y.at(TRUE_DISTANCE) + 4, "true: 1", size=13)
    for length, colour in DIMENSIONS.items():
        drawn = {size: measured_distances(length, size) for size in SIZES}
        means = [(x.at(size), y.at(float(np.mean(values)))) for size, values in drawn.items()]
        ends = [[(x.at(size), y.at(float(end(values)))) for size, values in drawn.items()] for end in (max, min)]
        figure.area(*ends, colour=colour)
        figure.line(means, colour=colour)
        for place in means:
            figure.dot(*place, colour=colour, radius=3)
        figure.text(means[1][0] + 6, means[1][1] - 8, f"d = {length}", size=14, colour=colour)
    figure.text(355, 408, "N, vectors in each set", anchor="middle")
    figure.text(70, 20, f"measured distance: mean and range of {DRAWS} draws")
    figure.save(PICTURES / "frechet_and_n.svg")


def measured_distances(length: int, size: int) -> list[float]:
    """Distances between ``size`` vectors of N(0, I) and as many of N(m, I) with ``|m|^2`` = 1, one a draw."""
    found = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([length, size, draw])
        sets = rng.standard_normal((2, size, length))
        sets[1, :, 0] += TRUE_DISTANCE**0.5
        one, other = Moments(), Moments()
        one.add(sets[0])
        other.add(sets[1])
        found.append(distance(one, other, ddof=1))
    return found


# Why the LPIPS of the DEVIL paper is wrong


def untrained_lpips() -> None:
    """LPIPS with the package's trained heads on an AlexNet that was never trained, as the released code had it."""
    corners: tuple[tuple[Any, int, int], ...] = ((data.chelsea, 20, 100), (data.coffee, 60, 150), (data.astronaut, 0, 100))
    photographs = [picture()[top : top + SIDE, left : left + SIDE] for picture, top, left in corners]
    hole = np.zeros((SIDE, SIDE), bool)
    hole[80:176, 80:176] = True
    made = [fills(photograph, hole, seed) for seed, photograph in enumerate(photographs)]
    names = list(made[0])
    values: dict[str, list[float]] = {name: [] for name in names}
    for seed in range(SEEDS):
        network = random_network(seed)
        for name in names:
            pairs = zip(photographs, made, strict=True)
            values[name].append(float(np.mean([apart(network, truth, one[name]) for truth, one in pairs])))
    _draw_lpips(values)
    _draw_fills(made[0])


def fills(photograph: np.ndarray, hole: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """What a method might put into the hole."""
    noise = np.random.default_rng(seed).normal(0, 25, photograph.shape)
    contents = {
        "truth, 4 pixels aside": np.roll(photograph, 4, 1),
        "truth, blurred": cv2.GaussianBlur(photograph, (0, 0), 4),
        "truth, darker": (photograph * 0.8).astype(np.uint8),
        "truth, noisy": np.clip(photograph + noise, 0, 255).astype(np.uint8),
        "telea": cv2.inpaint(photograph, hole.astype(np.uint8), 5, cv2.INPAINT_TELEA),
        "grey": np.full_like(photograph, 127),
    }
    return {name: np.where(hole[..., None], content, photograph) for name, content in contents.items()}


def random_network(seed: int) -> Any:
    """LPIPS of AlexNet with the package's heads and random parameters below them."""
    import torch
    from lpips import LPIPS  # type: ignore[import-untyped]

    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LPIPS(net="alex", pnet_rand=True, verbose=False).eval()


def apart(network: Any, one: np.ndarray, other: np.ndarray) -> float:
    """The network's distance of two pictures ``uint8[H, W, 3]``."""
    import torch

    tensors = [torch.from_numpy(np.ascontiguousarray(p)).permute(2, 0, 1)[None].float() / 127.5 - 1 for p in (one, other)]
    with torch.no_grad():
        return float(network(*tensors))


def _draw_lpips(values: Mapping[str, Sequence[float]]) -> None:
    figure = Figure(760, 330, "Numbers of an untrained LPIPS for six fills, under twelve seeds")
    x = Axis(0.002, 0.05, 190, 720, logarithmic=True)
    for value in (0.002, 0.005, 0.01, 0.02, 0.05):
        figure.line([(x.at(value), 36), (x.at(value), 280)], colour=GREY, width=0.8)
        figure.text(x.at(value), 298, f"{value:g}", size=12, anchor="middle")
    for place, (name, found) in enumerate(values.items()):
        y = 56 + place * 40
        figure.text(178, y + 4, name, size=14, anchor="end")
        figure.line([(x.at(min(found)), y), (x.at(max(found)), y)], colour=BLUE, width=1)
        for value in found:
            figure.dot(x.at(value), y, colour=BLUE)
    figure.text(190, 22, f"each dot is one random network; {SEEDS} seeds")
    figure.text(455, 320, '"LPIPS" with an untrained trunk', anchor="middle")
    figure.save(PICTURES / "devil_lpips.svg")


def _draw_fills(made: Mapping[str, np.ndarray]) -> None:
    gap = np.full((SIDE, 8, 3), 255, np.uint8)
    strip = np.hstack([part for picture in made.values() for part in (picture, gap)])[:, :-8]
    small = Image.fromarray(strip).resize((strip.shape[1] // 2, SIDE // 2), Image.Resampling.LANCZOS)
    small.save(PICTURES / "devil_lpips_fills.png", optimize=True)


if __name__ == "__main__":
    main()
