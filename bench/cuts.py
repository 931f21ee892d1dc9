"""How well cuts, fades and dissolves are found, on generated films and on real ones marked by eye, beside plain scenedetect.

python bench/cuts.py [--quick]
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

import cv2
import numpy as np
from _film_strip import frames_of
from cut_films import CutFilm, Truth, cut_film, matched
from scenedetect.common import FrameTimecode
from scenedetect.detectors import AdaptiveDetector, ContentDetector, HashDetector, HistogramDetector, ThresholdDetector

from inpaintbench import video
from inpaintbench.curation.splitters.shots import Transition, shots_between, transitions

cv2.setNumThreads(1)

HELD_OUT_SEED = 1000
MARKED, SPANS = Path(__file__).with_name("marked_films.toml"), ("gradual", "either")
REAL_CUTS = Path(__file__).parents[1] / "tests" / "curation" / "real_cuts.csv"
DETECTORS = (ContentDetector, AdaptiveDetector, HistogramDetector, HashDetector, ThresholdDetector)
OURS = "this package"
Counts = dict[str, dict[str, list[int]]]


def plain(detector: Any, frames: Iterable[Any], fps: float) -> list[Transition]:
    """What one scenedetect detector with its defaults cuts, as its scene manager would: at 256 columns or a little more."""
    cuts: list[Any] = []
    now = FrameTimecode(0, fps=fps)
    for index, frame in enumerate(frames):
        factor = max(1, frame.shape[1] // 256)
        small = cv2.resize(frame, None, fx=1 / factor, fy=1 / factor, interpolation=cv2.INTER_LINEAR) if factor > 1 else frame
        now = FrameTimecode(index, fps=fps)
        cuts += detector.process_frame(now, cv2.cvtColor(small, cv2.COLOR_RGB2BGR))
    cuts += detector.post_process(now)
    return [Transition(cut.frame_num, cut.frame_num, "cut", 1.0) for cut in cuts]


def methods() -> dict[str, Callable[[Sequence[Any], float], list[Transition]]]:
    found: dict[str, Callable[[Sequence[Any], float], list[Transition]]] = {OURS: lambda frames, _: transitions(frames)}
    for kind in DETECTORS:
        found[f"{kind.__name__}, defaults"] = lambda frames, fps, kind=kind: plain(kind(), frames, fps)
    return found


def any_cut_matched(truth: Sequence[Truth], found: Sequence[Transition]) -> tuple[int, int, int]:
    """For detectors that know cuts alone: a gradual transition is found when there is a cut in it or within two frames."""
    free = list(found)
    hits = misses = 0
    for transition in (one for one in truth if one.kind == "gradual"):
        inside = [cut for cut in free if transition.start_frame - 2 <= cut.start_frame <= transition.end_frame + 2]
        hits, misses = hits + bool(inside), misses + (not inside)
        free = [cut for cut in free if cut not in inside]
    return hits, misses, 0


def count(name: str, truth: Sequence[Truth], found: Sequence[Transition], counts: Counts) -> None:
    spans = [one for one in truth if one.kind == "gradual"]
    cuts = [one for one in found if one.kind == "cut"]
    near = [cut for cut in cuts if any(one.start_frame - 2 <= cut.start_frame <= one.end_frame + 2 for one in spans)]
    gradual = matched(truth, found, kind="gradual") if name == OURS else any_cut_matched(truth, near)
    results = {"cut": matched(truth, [cut for cut in cuts if cut not in near], kind="cut"), "gradual": gradual}
    for kind, result in results.items():
        counts[name][kind] = [one + other for one, other in zip(counts[name][kind], result, strict=True)]


def f1(counts: Sequence[int]) -> str:
    hits, misses, false = counts
    return f"{2 * hits / max(1, 2 * hits + misses + false):.3f} ({hits}, {misses}, {false})"


def generated(number: int) -> None:
    counts: Counts = defaultdict(lambda: {"cut": [0, 0, 0], "gradual": [0, 0, 0]})
    uncut: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    seconds: dict[str, float] = defaultdict(float)
    frames = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(HELD_OUT_SEED, HELD_OUT_SEED + number):
            film = cut_film(seed)
            decoded = coded(film, Path(folder) / "film.mp4")
            frames += len(decoded)
            for name, method in methods().items():
                started = time.process_time()
                found = method(decoded, 25.0)
                seconds[name] += time.process_time() - started
                count(name, film.transitions, found, counts)
                if not film.transitions:
                    uncut[name][film.kind].append(bool(found))
    kinds = ("fast_pan", "flashes", "shake_and_water")
    print("| method | cuts F1 (hits, misses, false) | gradual F1 | fast pans falsely cut | flashes | shake, water | ms a frame |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in counts:
        shares = [f"{np.mean(uncut[name][kind]):.1%} of {len(uncut[name][kind])}" for kind in kinds]
        row = [name, f1(counts[name]["cut"]), f1(counts[name]["gradual"]), *shares, f"{1000 * seconds[name] / frames:.1f}"]
        print(f"| {' | '.join(row)} |")


def coded(film: CutFilm, path: Path) -> list[Any]:
    """The film after ordinary H.264."""
    video.write_browser(path, film.frames, fps=25.0, crf=23)
    return [frame for frame, _ in video.upright_frames(path)]


def real(limit: int | None) -> None:
    folder = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    marked: dict[str, list[Truth]] = defaultdict(list)
    edges, jumps = defaultdict(list), defaultdict(list)
    for row in csv.DictReader(REAL_CUTS.read_text().splitlines()):
        own = marked[row["file"]]
        if row["kind"] in ("cut", "gradual"):
            one = Truth(int(row["start_frame"]), int(row["end_frame"]), row["kind"])
            # A fade at the edge of a file joins no two shots: to find it is neither right nor wrong.
            (edges[row["file"]] if row["note"].startswith("edge of the file") else own).append(one)
            if row["note"].startswith("jump cut"):
                jumps[row["file"]].append(one)
    counts: Counts = defaultdict(lambda: {"cut": [0, 0, 0], "gradual": [0, 0, 0]})
    smooth: Counts = defaultdict(lambda: {"cut": [0, 0, 0], "gradual": [0, 0, 0]})
    differing = []
    for file, truth in list(marked.items())[:limit]:
        for name, method in methods().items():
            frames = (frame for frame, _ in video.upright_frames(folder / file))
            found = [one for one in method(frames, 25.0) if not any(map(one_of(one), edges[file]))]  # type: ignore[arg-type]
            count(name, truth, found, counts)
            jumped = [one for one in found if not any(map(one_of(one), jumps[file]))]
            count(name, [one for one in truth if one not in jumps[file]], jumped, smooth)
            if name == OURS and any(matched(truth, found, kind=kind)[1:] != (0, 0) for kind in ("cut", "gradual")):
                differing.append(f"{Path(file).name}: {told(truth)} by eye, {told(found)} found")
    print("| method | cuts F1 (hits, misses, false) | without jump cuts | gradual F1 |\n| --- | --- | --- | --- |")
    for name in counts:
        print(f"| {name} | {f1(counts[name]['cut'])} | {f1(smooth[name]['cut'])} | {f1(counts[name]['gradual'])} |")
    print("\nJump cuts leave out some time of one view: the same framing goes on.")
    print("\nWhere this package and the eye differ: " + "; ".join(differing) + ".")


@dataclass(frozen=True)
class Film:
    """A film of `marked_films.toml`."""

    file: str
    tuned: bool
    first: int
    last: int | None
    truth: list[Truth]
    either: list[Truth]


def marked_films() -> list[Film]:
    told = tomllib.loads(MARKED.read_text())["film"]
    spans = {name: [[Truth(start, end, "gradual") for start, end in film.get(name, ())] for film in told] for name in SPANS}
    return [
        Film(film["file"], film["tuned"], film.get("first", 0), film.get("last"),
             [*(Truth(cut, cut, "cut") for cut in film.get("cuts", ())), *gradual], either)
        for film, gradual, either in zip(told, *spans.values(), strict=True)
    ]  # fmt: skip


def marked(folder: Path, *, quick: bool) -> None:
    """Counts over the films of other people, those that were looked at while the detector was made apart."""
    print("| films | method | cuts F1 (hits, misses, false) | gradual F1 | transitions left out of clips |")
    print("| --- | --- | --- | --- | --- |")
    for tuned in (True, False):
        counts: Counts = defaultdict(lambda: {"cut": [0, 0, 0], "gradual": [0, 0, 0]})
        clean: dict[str, list[bool]] = defaultdict(list)
        films = [film for film in marked_films() if film.tuned == tuned][: 1 if quick else None]
        frames = 0
        for film in films:
            # Small pictures show the same transitions, and five methods look at them.
            pixels = [small(frame) for frame in islice(frames_of(folder / film.file), film.last and film.last + 80)]
            frames += min(film.last or len(pixels), len(pixels)) - film.first
            for name, method in methods().items():
                found = [
                    one for one in method(pixels, 25.0)
                    if film.first <= one.start_frame < (film.last or len(pixels)) and not any(map(one_of(one), film.either))
                ]  # fmt: skip
                count(name, film.truth, found, counts)
                clips = list(shots_between(found, frames=len(pixels), margin=2))
                clean[name] += [not any(start < one.end_frame and one.start_frame < end for start, end in clips)
                                for one in film.truth]  # fmt: skip
        label = f"{'looked at' if tuned else '**not looked at**'}: {len(films)} films, {frames:,} frames"
        for name in counts:
            row = [label, name, f1(counts[name]["cut"]), f1(counts[name]["gradual"]), f"{np.mean(clean[name]):.0%}"]
            print(f"| {' | '.join(row)} |")


def small(frame: Any) -> Any:
    width = min(320, frame.shape[1])
    return cv2.resize(frame, (width, round(frame.shape[0] * width / frame.shape[1])), interpolation=cv2.INTER_AREA)


def one_of(one: Any) -> Callable[[Truth], bool]:
    """Whether a transition that is known is, or overlaps, ``one``."""
    return lambda known: known.start_frame - 1 <= one.end_frame and one.start_frame <= known.end_frame + 1


def told(transitions: Sequence[Any]) -> str:
    return (
        ", ".join(str(one.start_frame) if one.kind == "cut" else f"{one.start_frame}-{one.end_frame}" for one in transitions)
        or "none"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="21 generated and 6 real films instead of 200 and all")
    quick = parser.parse_args().quick
    print("## Cuts\n")
    print(
        "Generated films of seeds that nothing was tuned on, 320x180, H.264 at CRF 23: hard cuts, fades of 8 to 40 frames, "
        "dissolves of 6 to 30, flashes, whip pans of up to a quarter of the view a frame, shaking hands and moving "
        "water. A cut counts within one frame, a gradual transition where it is overlapped; a detector that knows cuts alone is "
        "credited with a gradual transition for any cut in it or within two frames, and its further cuts there are not "
        "counted against it.\n"
    )
    generated(21 if quick else 200)
    if "INPAINTBENCH_TEST_ASSETS" in os.environ:
        print("\nReal films, transitions marked by eye before any detector ran:\n")
        real(6 if quick else None)
    folder = os.environ.get("INPAINTBENCH_MARKED_FILMS")
    if folder:
        print(
            "\nFilms of other people with many transitions, marked by eye on contact sheets before any detector ran "
            "(`bench/marked_films.toml`). Six of them nobody looked at while its constants were chosen; their totals were "
            "read three times before. A transition is left out of clips when `--splitter shots` "
            "has no clip that reaches over any of it. Asked on films that were not looked at: cuts "
            "0.9, gradual 0.8.\n"
        )
        marked(Path(folder), quick=quick)


if __name__ == "__main__":
    main()
