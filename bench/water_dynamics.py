"""Whether running water can be told by how its texture moves: a classifier, trained on all films but one and tried on that one.

python bench/water_dynamics.py [--quick]

Why `water_suggestion` is shown to no rater, and what to beat before it is. Blocks of 16 pixels are described by how their texture
changes once the camera is taken out, and by where they lie and what colour they have; water and land are marked in
`marked_clips.toml`, and filmed photographs with painted water are trained on too.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import cv2
import numpy as np
import numpy.typing as npt
from marked_clips import ASSETS, SAME_PLACE, limit_at, marked_stretches
from scipy.optimize import minimize

from inpaintbench.curation.attributes import motion_field
from inpaintbench.curation.sources.embedded import FRAMES_PER_SECOND, film, shots
from inpaintbench.types import Frames

Maps = npt.NDArray[np.float64]

WIDTH, HEIGHT, BLOCK = 256, 144, 16
LAGS_SECONDS = (0.15, 0.6)
PAIRS = 6
DYNAMICS = ("change", "change later", "texture", "horizontality", "fineness", "change of texture", "change of texture later",
    "unexplained", "unexplained later", "speed", "speed later", "bursts")  # fmt: skip
LOOKS = ("red", "blue", "blue over red", "level", "colourfulness", "row", "row squared")
GENERATED = "generated"
# Strength of the pull of coefficients to 0, for standardised features.
RIDGE = 0.01


@dataclass(frozen=True)
class Described:
    """The blocks of one clip."""

    film: str
    features: Maps
    """``float64[features, rows, columns]``."""
    marks: npt.NDArray[np.int64]
    """1 water, 0 land, -1 not marked, ``[rows, columns]``."""
    wet: bool
    scenery: bool


def blocks(plane: npt.NDArray[np.float32]) -> Maps:
    """Means of the blocks."""
    cut = plane[: HEIGHT // BLOCK * BLOCK, : WIDTH // BLOCK * BLOCK].astype(np.float64)
    return cut.reshape(HEIGHT // BLOCK, BLOCK, WIDTH // BLOCK, BLOCK).mean(axis=(1, 3))


def features(frames: Frames, *, fps: float) -> Maps:
    luma = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames])
    soon, later = (dynamics(luma, fps=fps, lag_seconds=lag) for lag in LAGS_SECONDS)
    across, down = soon[1], soon[2]
    texture = across + down
    moving = [
        np.log(soon[0] + 0.5), np.log(later[0] + 0.5), np.log(texture + 0.5), np.log((down + 0.5) / (across + 0.5)),
        np.log((soon[3] + 0.5) / (texture + 0.5)), np.log((soon[0] + 0.5) / (texture + 0.5)),
        np.log((later[0] + 0.5) / (texture + 0.5)), soon[4], later[4], np.log(soon[5] + 0.05), np.log(later[5] + 0.05),
        np.log((soon[6] + 1) / (np.square(soon[0]) + 1)),
    ]  # fmt: skip
    red, green, blue = np.mean([[blocks(frame[..., channel]) for channel in range(3)] for frame in frames[::15]], axis=0)
    total = red + green + blue + 30
    most, least = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    row = np.repeat(np.linspace(0, 1, red.shape[0])[:, None], red.shape[1], axis=1)
    looks = [red / total, blue / total, (blue - red) / total, total / 800, (most - least) / (most + 10), row, np.square(row)]
    return np.stack([*moving, *looks])


def dynamics(luma: Frames, *, fps: float, lag_seconds: float) -> Maps:
    """Energy of change beyond the camera, gradients across and down, fine detail, unexplained, speed, fourth power; per block."""
    lag = min(max(round(fps * lag_seconds), 1), len(luma) - 1)
    described = []
    for number, start in enumerate(sorted({round(place) for place in np.linspace(0, len(luma) - 1 - lag, PAIRS)})):
        pair = motion_field._pair(luma[start], luma[start + lag], number=number)
        first, second = luma[start].astype(np.float32), luma[start + lag].astype(np.float32)
        still = np.zeros((*first.shape, 2), np.float32)
        camera = still if pair is None else pair.camera
        inside = motion_field._inside(camera, margin=2)
        change = motion_field._sampled(second, camera) - first
        change = (change - cv2.GaussianBlur(change, (0, 0), 6)) * inside
        fine = first - cv2.GaussianBlur(first, (0, 0), 3)
        gradients = [cv2.Sobel(first, cv2.CV_32F, *way, ksize=3) / 8 for way in ((1, 0), (0, 1))]
        speed = np.linalg.norm(still if pair is None else pair.residual, axis=2) / WIDTH * 100 / lag_seconds
        unexplained = np.zeros_like(first) if pair is None else np.minimum(pair.unexplained, 2)
        squares = [np.square(plane) for plane in (change, *gradients, fine)]
        described.append([blocks(plane) for plane in (*squares, unexplained, speed, np.minimum(np.abs(change), 40) ** 4)])
    return np.mean(described, axis=0)


def real_clips(limit: int | None) -> Iterator[Described]:
    """Every third stretch of long films is enough."""
    for file, window, frames, fps, marks in marked_stretches(limit):
        if "left_out" in marks or window % 3:
            continue
        small = np.stack([cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA) for frame in frames])
        drawn = np.full((HEIGHT, WIDTH), -1 if marks["water"] else 0, np.int32)
        for mark, polygons in ((1, marks["water"]), (0, marks.get("land", []))):
            for polygon in polygons:
                cv2.fillPoly(drawn, [np.rint(np.array(polygon) * [WIDTH, HEIGHT]).astype(np.int32)], mark)
        centres = drawn[BLOCK // 2 :: BLOCK, BLOCK // 2 :: BLOCK].astype(np.int64)
        yield Described(
            SAME_PLACE.get(file, file), features(small, fps=fps), centres, bool(marks["water"]), not marks["foreground"]
        )


def generated_clips(count: int) -> Iterator[Described]:
    for shot in shots(count, width=WIDTH, height=HEIGHT, frames=60):
        made = film(shot, width=WIDTH, height=HEIGHT)
        share = blocks(np.zeros((HEIGHT, WIDTH), np.float32) if made.water is None else made.water.mean(axis=0))
        marks = np.where(share > 0.9, 1, np.where(share < 0.1, 0, -1))
        yield Described(GENERATED, features(made.frames, fps=FRAMES_PER_SECOND), marks, made.water is not None, True)


def trained(clips: list[Described], chosen: list[int]) -> tuple[Maps, Maps, Maps]:
    """Logistic regression: coefficients with the constant last, means, deviations; films count alike, and so do both marks."""
    rows, marks, weights = [], [], []
    for clip in clips:
        for mark in (0, 1):
            some = clip.features[chosen][:, clip.marks == mark].T
            alike = sum((other.marks == mark).sum() for other in clips if other.film == clip.film)
            rows.append(some)
            marks.append(np.full(len(some), mark))
            weights.append(np.full(len(some), 1 / max(alike, 1)))
    table, answers, weight = np.concatenate(rows), np.concatenate(marks), np.concatenate(weights)
    for mark in (0, 1):
        weight[answers == mark] /= 2 * weight[answers == mark].sum()
    mean, deviation = table.mean(axis=0), table.std(axis=0) + 1e-6
    table = np.column_stack([(table - mean) / deviation, np.ones(len(table))])

    def cost(coefficients: Maps) -> tuple[float, Maps]:
        reached = table @ coefficients
        pull = RIDGE * np.append(coefficients[:-1], 0)
        loss = weight @ (np.logaddexp(0, reached) - answers * reached) + 0.5 * pull @ coefficients
        return float(loss), table.T @ (weight * (1 / (1 + np.exp(-reached)) - answers)) + pull

    return minimize(cost, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x, mean, deviation


def found_share(clip: Described, chosen: list[int], model: tuple[Maps, Maps, Maps]) -> float:
    coefficients, mean, deviation = model
    standard = (clip.features[chosen].transpose(1, 2, 0) - mean) / deviation
    return float(np.mean(standard @ coefficients[:-1] + coefficients[-1] > 0))


def rows(real: list[Described], generated: list[Described]) -> Iterator[str]:
    everything = list(range(len(DYNAMICS) + len(LOOKS)))
    for title, chosen, extra in (
        ("dynamics alone", everything[: len(DYNAMICS)], []),
        ("dynamics, place and colour", everything, []),
        ("dynamics alone, generated clips too", everything[: len(DYNAMICS)], generated),
        ("dynamics, place and colour, generated clips too", everything, generated),
    ):
        shares: dict[str, list[float]] = {}
        facts = {clip.film: (clip.wet, clip.scenery) for clip in real}
        for left_out in facts:
            model = trained([*(clip for clip in real if clip.film != left_out), *extra], chosen)
            shares[left_out] = [found_share(clip, chosen, model) for clip in real if clip.film == left_out]
        for what, asked in (("all films", False), ("scenery", True)):
            wet, dry = (
                np.array(
                    [
                        np.mean(shares[name])
                        for name, (water, scenery) in facts.items()
                        if water == wanted and (scenery or not asked)
                    ]
                )
                for wanted in (True, False)
            )
            limit = limit_at(dry)
            yield (
                f"| {title} | {what} | {np.mean(wet > limit):.0%} of {len(wet)} | {np.mean(dry > limit):.0%} of {len(dry)} | "
                f"{np.mean(wet[:, None] > dry[None]):.2f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few films and generated clips")
    quick = parser.parse_args().quick
    print("## Running water by its texture\n")
    if not ASSETS:
        print("Not measured: INPAINTBENCH_TEST_ASSETS is not set.")
        return
    real, generated = list(real_clips(12 if quick else None)), list(islice(generated_clips(4 if quick else 20), None))
    print(
        f"Logistic regression over {len(DYNAMICS) + len(LOOKS)} features of blocks of {BLOCK} pixels, trained on all real films "
        f"but one (and on {len(generated)} filmed photographs, half of them with painted water) and tried on that one; the share "
        "of the view that is found is that of its clips. Asked: at least 80 % of films with water, at 10 % of those without.\n"
    )
    print("| trained with | films | with water, found | without, found | a film with water has more than one without |")
    print("|---|---|---|---|---|")
    print("\n".join(rows(real, generated)))


if __name__ == "__main__":
    main()
