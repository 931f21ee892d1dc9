"""How exact camera motion is where 60 to 95 % of the view moves by itself, against cameras that are known.

python bench/camera_in_water.py [--quick]
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
from camera_motion import FRAMES, HEIGHT, WIDTH, luma_of, score

from inpaintbench import video
from inpaintbench.curation.attributes.camera_motion import CameraMotion, CameraMotionConfidence, score_from_transforms
from inpaintbench.curation.sources import virtual_camera
from inpaintbench.curation.sources.embedded import Shot, film
from inpaintbench.curation.sources.virtual_camera import MOTIONS, PHOTOGRAPHS, Transforms
from inpaintbench.errors import NotMeasurable
from inpaintbench.recipes.devil import LEAST_CONFIDENCE
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

VIEW = (416, 240)
SHARES = (0.6, 0.7, 0.8, 0.9, 0.95)
CAMERAS = (
    ("tripod", 0.0), ("pan_right", 0.25), ("hand_shake", 0.02), ("tripod", 0.0), ("zoom_in", 0.2), ("tilt_up", 0.1),
    ("hand_held_pan", 0.15), ("pan_left", 0.06),
)  # fmt: skip
# Of the view, `camera_motion`: real cameras called high have more than the first, those called low less than the second.
MOVES, STANDS = 0.02, 0.01
# Films of a still camera, and where they hold nothing but water: left, top, right, bottom as shares of the view.
REAL_WATER = (("brink_loop_512.mp4", (0.07, 0.3, 0.65, 1.0)), ("boats_input.mp4", (0.0, 0.55, 0.35, 1.0)))


@dataclass(frozen=True)
class Drowned:
    """A clip of which most moves by itself, with what is known and what was measured."""

    share: float
    """Of the view that moves, 0..1."""
    truth: float
    by_features: float | None
    score: float | None
    confidence: float


def drowned_clips(count: int) -> Iterator[Drowned]:
    """Two kinds in turn: photographs above painted water, and above water from real films of a still camera."""
    for place in range(count):
        motion, speed = CAMERAS[place // 2 % len(CAMERAS)]
        rng = np.random.default_rng(100 + place)
        fitting = [
            name
            for name, picture in PHOTOGRAPHS.items()
            if virtual_camera.largest_scale(
                MOTIONS[motion], speed=speed, view=VIEW, photograph=(picture.width, picture.height)
            ) >= 1
        ]  # fmt: skip
        name = str(rng.choice(fitting))
        yield drowned(place, name, motion, speed, share=SHARES[place // 2 % len(SHARES)], rng=rng)


def still_clips(quick: bool) -> Iterator[Drowned]:
    """A still camera before every photograph, with 90 and 95 % of painted and of real water."""
    names = list(PHOTOGRAPHS)[: 2 if quick else None]
    for place, (name, share, _) in enumerate((name, share, kind) for name in names for share in SHARES[-2:] for kind in range(2)):
        yield drowned(place, name, "tripod", 0.0, share=share, rng=np.random.default_rng(500 + place))


def drowned(place: int, name: str, motion: str, speed: float, *, share: float, rng: np.random.Generator) -> Drowned:
    """The clip of a photograph and a camera, with painted water at even places."""
    if place % 2 == 0 or "INPAINTBENCH_TEST_ASSETS" not in os.environ:
        shot = Shot(f"drowned {place}", name, motion, speed, FRAMES, water_share=share, seed=7)
        filmed = film(shot, width=VIEW[0], height=VIEW[1])
        luma, path = luma_of(filmed.frames), filmed.homographies
    else:
        water = REAL_WATER[place // 2 % len(REAL_WATER)]
        luma, path = over_real_water(name, motion, speed, share=share, water=water, rng=rng)
    seen = ItemView.of_arrays(luma=luma)
    try:
        by_features: float | None = CameraMotion(fallback=False).measure(seen)
    except NotMeasurable:
        by_features = None
    found = score(luma)
    confidence = CameraMotionConfidence().measure(seen) if found is not None else 0.0
    truth = score_from_transforms(path, width=VIEW[0], height=VIEW[1])
    return Drowned(share, truth, by_features, found, confidence)


def over_real_water(
    name: str, motion: str, speed: float, *, share: float, water: tuple[str, tuple[float, float, float, float]],
    rng: np.random.Generator,
) -> tuple[Luma, Transforms]:  # fmt: skip
    """A scene of a photograph above the water of a film, both still in the scene, under a camera on an exact path."""
    (width, height), (file, (left, top, right, bottom)) = VIEW, water
    path = next(Path(os.environ["INPAINTBENCH_TEST_ASSETS"], "videos").rglob(file))
    frames = luma_of(np.stack([video.upright(frame) for frame in islice(video.Decoder(path), FRAMES)]))
    rows, columns = frames.shape[1:]
    frames = frames[:, int(top * rows) : int(bottom * rows), int(left * columns) : int(right * columns)]
    scene = cv2.resize(
        luma_of(video.read_image(PHOTOGRAPHS[name].path())[None])[0], (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA
    )
    size = (round(0.6 * WIDTH), round(0.6 * HEIGHT))
    looks = virtual_camera.transforms(
        MOTIONS[motion], speed=speed, frames=FRAMES, view=size, photograph=(WIDTH, HEIGHT), focus=(WIDTH / 2, HEIGHT / 2),
        lift=0.0, rng=rng,
    )  # fmt: skip
    # From pixels of the view to those of the larger window that the camera looks through.
    looks = looks @ np.array([[size[0] / width, 0, 0], [0, size[1] / height, 0], [0, 0, 1]])
    shore = int(np.mean([(look @ [width / 2, (1 - share) * height, 1])[1] for look in looks]))
    clip = []
    for frame, look in zip(frames, looks, strict=True):
        scene[shore:] = cv2.resize(frame, (WIDTH, HEIGHT - shore))
        seen = cv2.warpAffine(scene, look[:2], (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
        clip.append(np.clip(seen + rng.normal(0, 1, seen.shape), 0, 255).round().astype(np.uint8))
    return np.stack(clip), looks


def drowned_rows(clips: list[Drowned]) -> Iterator[tuple[str, str, str]]:
    for low, high in ((0.6, 0.8), (0.9, 0.95)):
        some = [clip for clip in clips if low <= clip.share <= high]
        patched = [clip for clip in some if clip.by_features is None and clip.score is not None]
        title = f"{low:.0%} to {high:.0%} of the view moves, {len(some)} clips"
        yield (
            f"{title}: without a value",
            "0",
            f"{sum(clip.score is None for clip in some)}; {sum(clip.by_features is None for clip in some)} by features alone",
        )
        for sure in (True, False):
            errors = [abs(clip.score - clip.truth) for clip in patched if (clip.confidence >= 0.5) == sure]
            still = [clip.score for clip in patched if clip.truth < 0.005 and (clip.confidence >= 0.5) == sure]
            yield (
                f"{title}: errors by patches, confidence {'of 0.5 and more' if sure else 'below 0.5'}",
                "<= 0.02" if sure else "reported",
                f"{len(errors)} clips: median {np.median(errors):.3f}, largest {max(errors):.3f}; "
                f"still cameras score at most {max(still, default=0):.3f}"
                if errors
                else "no clip",
            )


def level_rows(title: str, clips: list[Drowned]) -> Iterator[tuple[str, str, str]]:
    """Clips that a label could be wrong for: those that are sure alone get one, whether features or patches answered."""
    some = [clip for clip in clips if clip.score is not None]
    still, moving = ([clip for clip in some if (clip.truth < STANDS) == rest] for rest in (True, False))
    for what, which, wrong in (
        (f"still cameras that score above {MOVES:g}", still, lambda clip: clip.score > MOVES),
        (f"moving cameras that score below {STANDS:g}", moving, lambda clip: clip.score < STANDS),
    ):
        sure = sum(clip.confidence >= LEAST_CONFIDENCE and wrong(clip) for clip in which)
        unsure = sum(clip.confidence < LEAST_CONFIDENCE and wrong(clip) for clip in which)
        if which:
            yield f"{title}: {what}", "0 with a label", f"of {len(which)} {sure} with a label, {unsure} without"
    unlabelled = sum(clip.confidence < LEAST_CONFIDENCE for clip in some)
    yield f"{title}: without a label, as confidence is below {LEAST_CONFIDENCE:g}", "reported", f"{unlabelled} of {len(some)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 clips instead of 80")
    quick = parser.parse_args().quick
    clips, still = list(drowned_clips(10 if quick else 80)), list(still_clips(quick))
    print("## Camera motion where most of the view moves\n")
    print(
        f"{FRAMES}-frame {'x'.join(map(str, VIEW))} clips of a photograph above water, half of them painted, half from real "
        "films of a still camera, under a virtual camera that is known; eight motions, two of them none, shares of 60, 70, 80, "
        "90 and 95 %, and further still cameras. Patches are asked where features agree on no camera. The error is that of "
        "`camera_motion`, a share of the view.\n"
    )
    print("| what | asked | measured |\n| --- | --- | --- |")
    of_all, of_still = level_rows("all of these", clips), level_rows("still cameras, 90 and 95%", still)
    for row in (*drowned_rows(clips), *of_all, *of_still):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
