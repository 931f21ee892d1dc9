"""Cameras that stand still: what moves past them, and the exposure, are neither camera motion nor a transition.

python bench/fixed_cameras.py [--quick]

The clips are made from the test assets: views that real cameras on tripods filmed, and photographs with sensor noise, past which
things with the outlines of DAVIS objects and the texture of photographs move, while the exposure changes. All go through
`build devil` up to its labels, by themselves: ranks alone would call some of them high. Beside them, films of fixed cameras that
other people made, where `INPAINTBENCH_MARKED_FILMS` has them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import LEVELS
from inpaintbench.types import Attribute, Clip, Frames, Selection, Source, item_rng
from inpaintbench.workspace import Workspace

WIDTH, HEIGHT, FRAMES, FPS = 416, 240, 90, 30.0
# Asphalt from above with cars on it, CC-BY-4.0.
OTHERS = ("intel-iot-devkit/sample-videos/car-detection.mp4", "intel-iot-devkit/sample-videos/one-by-one-person-detection.mp4")
# Views of cameras on tripods, and photographs; of those with a box, only left, top, right, bottom as shares: road, sky.
VIEWS = {
    "sea": ("videos/scenery/scenery-cc0-hhoppe/brink_loop_512.mp4", None),
    "palms": ("videos/scenery/scenery-cc0-hhoppe/palmtrees_loop_512.mp4", None),
    "harbour": ("videos/scenery/scenery-dynamic-textures/trainingVideo/background_inpainting/data/boats/boats_input.mp4", None),
    "stream": ("videos/scenery/scenery-cc0-mdn/stream-of-water.mp4", None),
    "dog": ("videos/general/general-torchcodec/dog_eating_854132.mp4", None),
    "city": ("photos/scenery-cc0-hhoppe/seattle_1024.png", None),
    "canal": ("photos/scenery-cc0-hhoppe/burano_768x512.png", None),
    "mountains": ("photos/scenery-editly/img1.jpg", None),
    "road": ("photos/scenery-editly/img1.jpg", (0.0, 0.75, 0.5, 1.0)),
    "asphalt": ("videos/scenery/scenery-driving-carnd/solidWhiteRight.mp4", (0.4, 0.72, 0.7, 0.95)),
    "sky": ("photos/scenery-editly/img1.jpg", (0.0, 0.0, 0.4, 0.2)),
}
OUTLINES = ("car-shadow", "car-roundabout", "camel", "cows", "drift-straight", "loading", "goat", "blackswan")
TEXTURES = tuple(f"photos/images-migan-places512/examples/places2_512_object/images/{number}.png" for number in (2, 5, 9, 14))
# How things pass: one across, two against each other, one away and smaller.
PASSINGS = ("across", "two", "away")
EXPOSURES = ("steady", "by what passes", "cloud", "step")
SENSOR_NOISE = 1.5


@dataclass(frozen=True)
class Thing:
    """What moves: pixels ``uint8[h, w, 3]`` where ``inside``, from ``start`` to ``end`` (x, y of its middle), in frames."""

    pixels: npt.NDArray[np.uint8]
    inside: npt.NDArray[np.bool_]
    path: tuple[tuple[float, float], tuple[float, float]]
    frames: tuple[int, int]
    shrinks: float

    def put(self, frame: npt.NDArray[np.uint8], at: int) -> float:
        """Draw it into ``frame``; the share of the view that it covers."""
        done = (at - self.frames[0]) / (self.frames[1] - self.frames[0])
        if not 0 <= done <= 1:
            return 0.0
        scale = self.shrinks**done
        middle = (1 - done) * np.array(self.path[0]) + done * np.array(self.path[1])
        height, width = self.inside.shape
        matrix = np.array([[scale, 0, middle[0] - scale * width / 2], [0, scale, middle[1] - scale * height / 2]])
        size = frame.shape[1::-1]
        there = cv2.warpAffine(self.inside.astype(np.uint8), matrix, size, flags=cv2.INTER_NEAREST) > 0
        frame[there] = cv2.warpAffine(self.pixels, matrix, size)[there]
        return float(there.mean())


def things(root: Path, passing: str, rng: np.random.Generator) -> list[Thing]:
    """One or two, each of 8 to 35 % of the view."""
    made = []
    for number in range(1 + (passing == "two")):
        masks = sorted((root / "masks/masks-davis2017-osvos/results/semi-supervised/osvos" / str(rng.choice(OUTLINES))).iterdir())
        outline = cv2.imread(str(masks[len(masks) // 2]), cv2.IMREAD_GRAYSCALE) > 0
        rows, columns = np.flatnonzero(outline.any(axis=1)), np.flatnonzero(outline.any(axis=0))
        outline = outline[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        scale = np.sqrt(rng.uniform(0.08, 0.35) * WIDTH * HEIGHT / outline.sum())
        size = (max(8, round(outline.shape[1] * scale)), max(8, round(outline.shape[0] * scale)))
        texture = cv2.cvtColor(cv2.imread(str(root / rng.choice(TEXTURES))), cv2.COLOR_BGR2RGB)
        inside = cv2.resize(outline.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
        height = HEIGHT * rng.uniform(0.3, 0.7)
        path = (-size[0] / 2, height), (WIDTH + size[0] / 2, height)
        if passing == "away":
            path = (WIDTH * 0.4, HEIGHT + size[1] / 2), (WIDTH * 0.5, -size[1] / 4)
        first = int(rng.integers(5, 25))
        span = first, min(FRAMES - 2, first + int(rng.integers(25, 70)))
        made.append(
            Thing(cv2.resize(texture, size), inside, path[::-1] if number else path, span, 0.6 if passing == "away" else 1)
        )
    return made


def view(root: Path, name: str, rng: np.random.Generator) -> Frames:
    """Frames without what passes; photographs with the noise of a sensor, films forwards and back where they are short."""
    file, box = VIEWS[name]
    stills = box is not None or Path(file).suffix in video.IMAGE_SUFFIXES
    if Path(file).suffix in video.IMAGE_SUFFIXES:
        shown = [cv2.cvtColor(cv2.imread(str(root / file)), cv2.COLOR_BGR2RGB)]
    else:
        shown = [video.upright(frame) for frame in islice(video.Decoder(root / file), 1 if stills else FRAMES)]
    if box is not None:
        height, width = shown[0].shape[:2]
        left, top, right, bottom = (round(share * side) for share, side in zip(box, (width, height) * 2, strict=True))
        shown = [shown[0][top:bottom, left:right]]
    small = np.stack([cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA) for frame in shown])
    if not stills:
        return np.asarray(np.concatenate([small, small[::-1]])[:FRAMES])
    noisy = small.astype(np.float32) + rng.normal(scale=SENSOR_NOISE, size=(FRAMES, HEIGHT, WIDTH, 1))
    return np.asarray(np.clip(noisy, 0, 255).astype(np.uint8))


def gains(exposure: str, covered: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Factor of the light of each frame: an automatic exposure that lags behind, a cloud, or a step."""
    if exposure == "by what passes":
        wanted, gain = 1 / (1 + 4 * covered), np.ones(FRAMES)
        for at in range(1, FRAMES):
            gain[at] = gain[at - 1] + 0.2 * (wanted[at] - gain[at - 1])
        return gain
    if exposure == "cloud":
        middle, width = rng.uniform(30, 60), rng.uniform(6, 14)
        return np.asarray(1 - 0.6 * np.exp(-(((np.arange(FRAMES) - middle) / width) ** 2)))
    if exposure == "step":
        low, high = rng.permutation([0.45, 1.0])
        return np.asarray(low + (high - low) / (1 + np.exp(-(np.arange(FRAMES) - rng.uniform(30, 60)) / 2)))
    return np.ones(FRAMES)


def clip(root: Path, name: str, passing: str, exposure: str) -> Frames:
    rng = item_rng(0, "fixed camera", f"{name} {passing} {exposure}")
    frames, moving = view(root, name, rng), things(root, passing, rng)
    covered = np.array([sum(thing.put(frame, at) for thing in moving) for at, frame in enumerate(frames)])
    light = gains(exposure, covered, rng)[:, None, None, None]
    return np.asarray(np.clip(frames * light ** (1 / 2.2), 0, 255).astype(np.uint8))


def plan(*, quick: bool) -> Iterator[tuple[str, str, str]]:
    """Every view with two of the twelve pairs of passing and exposure, four of those with little texture."""
    pairs = list(product(PASSINGS, EXPOSURES))
    for number, name in enumerate(VIEWS):
        times = 1 if quick else 6 if name in ("road", "asphalt", "sky") else 4
        for turn in range(times):
            yield (name, *pairs[(5 * number + 7 * turn) % len(pairs)])


def judged(folder: Path) -> tuple[list[str], dict[str, str], dict[str, list[str]], dict[str, float]]:
    """Clips of the films in ``folder``, labels, the rules that drop a clip, and camera motion as labels are ranked by it."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Workspace(Path(scratch) / "workspace")
        recipe = devil.DevilRecipe(width=WIDTH, height=HEIGHT, rules=devil.rules_of_footage([], without=["text", "logo"]))
        with LocalExecutor(workspace, workers=os.cpu_count()) as executor:
            devil.curate(recipe, [SourceSpec(FolderSource.name, {"folder": str(folder)})], executor, workspace)
            devil.label(recipe, executor, workspace)
        uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        names = {row.clip_id: f"{uri[row.source_id]}@{row.start_frame}" for row in workspace.table("clips", Clip)}
        levels = {
            names[row.subject_id]: str(row.value) for row in workspace.table("attributes", Attribute, step=LEVELS) if row.value
        }
        dropped: dict[str, list[str]] = {}
        for row in workspace.table("selection", Selection):
            if not row.keep:
                dropped.setdefault(names[row.clip_id], []).append(row.rule.partition(" (")[0])
        motion = {
            names[row.subject_id]: float(row.value)
            for row in workspace.table("attributes", Attribute)
            if row.name.startswith("camera_motion_per") and row.value is not None
        }
    return sorted(names.values()), levels, dropped, motion


def tell(title: str, folder: Path) -> None:
    clips, levels, dropped, motion = judged(folder)
    moved = [name for name in clips if motion.get(name, 0.0) >= 0.001]
    lost = {name: rules for name, rules in dropped.items() if "no cuts, fades or dissolves" in rules}
    high = [name for name in clips if levels.get(name) == "high"]
    counts = (len(clips), len(high), len(lost), len(dropped), len(clips) - len(motion))
    print(f"| {title} | {' | '.join(map(str, counts))} | {max(motion.values()):.5f} |")
    for what, names in (("high", high), ("moves by 0.001 a frame and more", moved), ("dropped as a transition", lost)):
        if names:
            print(f"\n{what}: {', '.join(names)}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one clip a view")
    parser.add_argument("--keep", type=Path, help="folder that the films are written to, and stay in")
    asked = parser.parse_args()
    root = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    print("## Fixed cameras\n")
    print(
        "| films | clips | labelled high | dropped as a transition | dropped at all | no camera motion | largest a frame |\n"
        + "|---" * 7
        + "|"
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        for name, passing, exposure in plan(quick=asked.quick):
            path = folder / f"{name} {passing} {exposure}.mp4".replace(" ", "_")
            if not path.exists():
                video.write_clip(path, clip(root, name, passing, exposure), fps=FPS)
        tell("made from the test assets", folder)
    others = Path(os.environ.get("INPAINTBENCH_MARKED_FILMS", "/nowhere"))
    if films := [others / name for name in OTHERS if (others / name).is_file()]:
        with tempfile.TemporaryDirectory() as scratch:
            for film in films:
                (Path(scratch) / film.name).symlink_to(film)
            tell("of other people", Path(scratch))


if __name__ == "__main__":
    main()
