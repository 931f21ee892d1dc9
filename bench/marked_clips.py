"""What attributes say of real clips that a person looked at: camera motion, running water, foreground objects.

python bench/marked_clips.py [--quick] [--sheets FOLDER]

The judgements lie in `marked_clips.toml`; `--sheets` makes the pictures that they rest on, with today's values beside them.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
if ASSETS := os.environ.get("INPAINTBENCH_TEST_ASSETS", ""):
    os.environ.setdefault("INPAINTBENCH_WEIGHTS", f"{ASSETS}/weights")

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation.attributes.camera_motion import CameraMotion, CameraMotionConfidence, CameraMotionPerFrame
from inpaintbench.curation.attributes.changes import CutScore
from inpaintbench.curation.attributes.detections import ForegroundFraction, SceneryObjectFraction
from inpaintbench.curation.attributes.scene_motion import WaterSuggestion
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.errors import NotMeasurable
from inpaintbench.models.detectors import KINDS
from inpaintbench.recipes.devil import FOREGROUND_LIMIT, LEAST_CONFIDENCE, DevilRecipe
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES = 854, 480, 90
SHORTEST_REST, SHORTEST_FILE = 45, 10
PICTURE = (256, 144)
# As `foreground_fraction` was in version 1: every kind of the detector, in any frame, and its limit for Flickr.
FORMER_FOREGROUND = ForegroundFraction(classes=KINDS, consecutive_frames=1)
FORMER_LIMIT = 0.1
LEAVES = {
    "camera_motion": CameraMotion(),
    "by features": CameraMotion(fallback=False),
    "camera_motion_per_frame": CameraMotionPerFrame(),
    "camera_motion_confidence": CameraMotionConfidence(),
    "cut_score": CutScore(),
    "water_suggestion": WaterSuggestion(),
    "foreground_fraction": ForegroundFraction(),
    "former foreground": FORMER_FOREGROUND,
    "scenery_object_fraction": SceneryObjectFraction(),
}
# Films of one place are one film where films are left out together.
SAME_PLACE = {"brink_20_640x360.mp4": "brink_loop_512.mp4", "carphone_distorted.mp4": "carphone_pristine.mp4"}

cv2.setNumThreads(1)


@dataclass(frozen=True)
class MarkedClip:
    """A stretch of a file with what a person sees in it."""

    file: str
    window: int
    marks: dict[str, Any]
    pictures: list[Frames]
    """Five of its frames, small."""
    values: dict[str, float | None]
    """What ``LEAVES`` measure; nothing where the clip is left out."""

    @property
    def name(self) -> str:
        return f"{self.file}@{self.window}"

    @property
    def film(self) -> str:
        return SAME_PLACE.get(self.file, self.file)


def measured(frames: Frames, *, fps: float) -> dict[str, float | None]:
    luma = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames])
    view, values = ItemView.of_arrays(truth=frames, luma=luma, fps=fps), {}
    for name, leaf in LEAVES.items():
        try:
            values[name] = float(leaf.measure(view))
        except NotMeasurable:
            values[name] = None
    return values


def marked_stretches(limit: int | None = None) -> Iterator[tuple[str, int, Frames, float, dict[str, Any]]]:
    """File, number, frames, rate and marks of the stretches of the marked files, in the order of the marks."""
    marks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in tomllib.loads(Path(__file__).with_name("marked_clips.toml").read_text())["clip"]:
        marks[entry["file"]].append(entry)
    paths = {path.name: path for room in ("videos", "edited") for path in Path(ASSETS, room).rglob("*") if path.name in marks}
    for name, entries in list(marks.items())[:limit]:
        for window, frames in enumerate(_stretches(paths[name])):
            mine = [entry for entry in entries if window in entry.get("windows", [window])]
            if mine:
                yield name, window, frames, float(video.probe(paths[name]).fps), mine[0]


def marked_clips(limit: int | None = None) -> Iterator[MarkedClip]:
    """The clips, measured one after the other: all of their frames at once are too many."""
    for name, window, frames, fps, marks in marked_stretches(limit):
        chosen = np.linspace(0, len(frames) - 1, 5).round().astype(int)
        pictures = [cv2.resize(frames[index], PICTURE, interpolation=cv2.INTER_AREA) for index in chosen]
        values = {} if "left_out" in marks else measured(frames, fps=fps)
        yield MarkedClip(name, window, marks, pictures, values)


def _stretches(path: Path) -> Iterator[Frames]:
    cover, frames, given = Cover(width=WIDTH, height=HEIGHT), [], 0
    for frame in video.Decoder(path):
        frames.append(cover.apply(video.upright(frame), pixel_aspect=1.0))
        if len(frames) == FRAMES:
            yield np.stack(frames)
            frames, given = [], given + 1
    if len(frames) >= (SHORTEST_REST if given else SHORTEST_FILE):
        yield np.stack(frames)


def camera_rows(clips: list[MarkedClip]) -> Iterator[str]:
    """Clips that pass the default rule on cuts, and where the ranks of the recipe put them."""
    recipe = DevilRecipe()
    kept = [clip for clip in clips if "left_out" not in clip.marks and clip.values["cut_score"] <= recipe.cut_score_limit]
    without = {name: [clip.name for clip in kept if clip.values[name] is None] for name in ("by features", "camera_motion")}
    share = len(without["camera_motion"]) / len(kept)
    ranked = sorted(
        (
            clip
            for clip in kept
            if clip.values["camera_motion_per_frame"] is not None and clip.values["camera_motion_confidence"] >= LEAST_CONFIDENCE
        ),
        key=lambda clip: clip.values["camera_motion_per_frame"],
    )
    unsure = [clip.name for clip in kept if clip.values["camera_motion"] is not None and clip not in ranked]
    most = min(round(recipe.level_share * len(ranked)), recipe.level_limit)
    low, high = ranked[:most], ranked[-most:]
    still = [clip.name for clip in high if clip.marks["camera"] == "still"]
    moving = [clip.name for clip in low if clip.marks["camera"] == "moves"]
    answered = [clip for clip in kept if clip.values["by features"] is None and clip.values["camera_motion"] is not None]
    by_features = without["by features"]
    yield f"| clips of one scene, marked | | {len(kept)} of {len({clip.film for clip in kept})} films |"
    yield f"| without a value by features alone, as published | | {len(by_features)}: {_told(by_features)} |"
    yield f"| without a value | at most 2 % | {len(without['camera_motion'])} ({share:.1%}): {_told(without['camera_motion'])} |"
    yield f"| without a label for want of confidence | | {len(unsure)}: {_told(unsure)} |"
    yield f"| still cameras among the {most} called high | 0 | {len(still)}: {_told(still)} |"
    yield f"| moving cameras among the {most} called low | 0 | {len(moving)}: {_told(moving)} |"
    for clip in answered:
        value, confidence = clip.values["camera_motion_per_frame"], clip.values["camera_motion_confidence"]
        below = sum(other.values["camera_motion_per_frame"] < value for other in ranked)
        place = f"above {below} of {len(ranked)} sure ones, by eye {clip.marks['camera']}"
        yield f"| {clip.name}, by patches | | {value:.4f} of the view a frame, {place}, confidence {confidence:.2f} |"


def water_rows(clips: list[MarkedClip]) -> Iterator[str]:
    """By film: a film counts with the mean of its clips."""
    for what, chosen in (("all films", clips), ("scenery", [clip for clip in clips if not clip.marks["foreground"]])):
        found: dict[bool, dict[str, list[float]]] = {True: defaultdict(list), False: defaultdict(list)}
        for clip in chosen:
            found[bool(clip.marks["water"])][clip.film].append(clip.values["water_suggestion"] or 0.0)
        wet, dry = (np.array([np.mean(values) for values in found[water].values()]) for water in (True, False))
        limit = limit_at(dry)
        yield (
            f"| films with water found at {np.mean(dry > limit):.0%} of {len(dry)} dry ones, {what} | at least 80 % at 10 % | "
            f"{np.mean(wet > limit):.0%} of {len(wet)} (suggestion above {limit:.2f}) |"
        )


def limit_at(dry: np.ndarray, *, false_share: float = 0.1) -> float:
    """The smallest of the values that at most ``false_share`` of them exceed."""
    return float(np.sort(dry)[-1 - int(false_share * len(dry))])


def foreground_rows(clips: list[MarkedClip]) -> Iterator[str]:
    kept = [clip for clip in clips if clip.values["foreground_fraction"] is not None]
    if not kept:
        yield "| foreground | | not measured: no weights |"
        return
    for title, name, limit in (
        ("version 1, every kind in any frame", "former foreground", FORMER_LIMIT),
        ("version 2, kinds of scenery apart, for three frames", "foreground_fraction", FOREGROUND_LIMIT),
    ):
        dropped = [clip.name for clip in kept if not clip.marks["foreground"] and clip.values[name] > limit]
        missed = [clip for clip in kept if clip.marks["foreground"] and clip.values[name] <= limit]
        largest = max(clip.values[name] for clip in kept if not clip.marks["foreground"])
        yield (
            f"| {title}, limit {limit:g} | no scenery dropped | {len(dropped)} of "
            f"{sum(not clip.marks['foreground'] for clip in kept)} ({_told(dropped)}); the largest value of scenery is "
            f"{largest:.3f}; of {sum(clip.marks['foreground'] for clip in kept)} clips with objects {len(missed)} stay, of the "
            f"films {_told(sorted({clip.film for clip in missed}))} |"
        )
    apart = {clip.film for clip in kept if clip.values["scenery_object_fraction"] > FOREGROUND_LIMIT}
    yield f"| films with more than {FOREGROUND_LIMIT:g} of `scenery_object_fraction` | | {_told(sorted(apart))} |"


def _told(names: list[str]) -> str:
    return ", ".join(names) or "none"


def write_sheets(clips: list[MarkedClip], folder: Path, *, rows: int = 12) -> None:
    """Five frames of each clip with its values and its marks, twelve clips a PNG; marked water is outlined."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for clip in clips:
        pictures = [picture.copy() for picture in clip.pictures]
        for polygon in clip.marks.get("water", []):
            outline = np.rint(np.array(polygon) * PICTURE).astype(np.int32)
            for picture in pictures:
                cv2.polylines(picture, [outline], isClosed=True, color=(255, 255, 0))
        side = np.full((PICTURE[1], 400, 3), 255, np.uint8)
        marks = {name: value for name, value in clip.marks.items() if name in ("camera", "foreground", "left_out")}
        texts = [clip.name, *(f"{name}: {value}" for name, value in marks.items())]
        texts += [f"{name} {'none' if value is None else f'{value:.4f}'}" for name, value in clip.values.items()]
        for place, text in enumerate(texts):
            cv2.putText(side, text, (4, 10 + 11 * place), cv2.FONT_HERSHEY_SIMPLEX, 0.33, (0, 0, 0), 1, cv2.LINE_AA)
        lines.append(np.concatenate([*pictures, side], axis=1))
    for sheet, start in enumerate(range(0, len(lines), rows)):
        picture = np.concatenate(lines[start : start + rows])
        cv2.imwrite(str(folder / f"{sheet:02d}.png"), picture[..., ::-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the first eight files")
    parser.add_argument("--sheets", type=Path, help="write contact sheets into this folder")
    options = parser.parse_args()
    print("## Real clips, judged by eye\n")
    if not ASSETS:
        print("Not measured: INPAINTBENCH_TEST_ASSETS is not set.")
        return
    clips = list(marked_clips(8 if options.quick else None))
    if options.sheets:
        write_sheets(clips, options.sheets)
    judged = [clip for clip in clips if "left_out" not in clip.marks]
    print(
        f"Stretches of {FRAMES} frames at {WIDTH}x{HEIGHT} from every video of the test assets. What a person saw in them "
        "stands in `marked_clips.toml`, the pictures come from `--sheets`. Levels are those of `build devil`: ranks "
        "among these clips.\n"
    )
    print("| what | asked | measured |\n| --- | --- | --- |")
    for rows in (camera_rows, water_rows, foreground_rows):
        print("\n".join(rows(judged)))


if __name__ == "__main__":
    main()
