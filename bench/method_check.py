"""Which planted mistakes the check of a method names on real clips, what it says of methods that make none, and what it costs.

python bench/method_check.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

from old_format import write_one_file
from scoring_probes import write_items
from tests.eval.scoring.planted_mistakes import PLANTED, good

from inpaintbench.eval.adapters.checking import Checked, findings
from inpaintbench.eval.adapters.fitting import ceiling_db, written
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.methods.brought import PythonCallable
from inpaintbench.eval.scoring.check import made_view, tried
from inpaintbench.types import Frames, Hole
from inpaintbench.video.decoding import Decoder
from inpaintbench.view import ItemView

ASSETS = Path(os.environ.get("INPAINTBENCH_TEST_ASSETS", Path(__file__).parents[2] / "shared" / "assets"))
FRAMES, LONGER_SIDE = 12, 240
FORMS = ("jpeg", "mp4v", "h264-crf25", "h264-crf15")
# Those of this package that fill holes without weights.
BUILT_IN = ("telea", "temporal_median", "affine_propagation", "decaption_median")
Clip = Callable[[], tuple[ItemView, Hole]]


def films(quick: bool) -> dict[str, Frames]:
    """The first frames of the videos of the test assets, small; one of them also standing still, and one grey."""
    paths = sorted(path for suffix in ("mp4", "webm") for path in (ASSETS / "videos").rglob(f"*.{suffix}"))
    found = {path.name: frames for path in paths[:: 12 if quick else 2] if len(frames := _first(path)) == FRAMES}
    name, frames = next(iter(found.items()))
    grey = frames.mean(axis=-1, keepdims=True).astype(np.uint8).repeat(3, axis=-1)
    return {**found, f"{name}, still": frames[:1].repeat(FRAMES, axis=0), f"{name}, grey": grey}


def _first(path: Path) -> Frames:
    pictures = []
    for frame in islice(Decoder(path), FRAMES):
        picture = frame.to_ndarray(format="rgb24")
        scale = LONGER_SIDE / max(picture.shape[:2])
        pictures.append(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA))
    return np.stack(pictures) if pictures else np.zeros((0, 1, 1, 3), np.uint8)


def with_hole(name: str, frames: Frames) -> Clip:
    hole = np.zeros(frames.shape[:3], np.bool_)
    height, width = frames.shape[1:3]
    for number, missing in enumerate(hole):
        missing[height // 3 : height // 2, width // 4 + number : width // 2 + number] = True
    view = ItemView.of_arrays(item_id=name, input=np.where(hole[..., None], np.uint8(127), frames), hole=hole)
    return lambda: (view, hole)


class Lossy(Method):
    """Fills well and gives what a written file holds."""

    name = "lossy"
    version = "1"
    needs = ("input", "hole")

    def __init__(self, *, how: str, declared: bool) -> None:
        self.how, self.lossy, self.divisor = how, how if declared else None, 2

    def inpaint(self, view: ItemView) -> Frames:
        frames = written(good(view.input, view.hole), self.how)
        assert frames is not None
        return frames


def alarms(looked: list[Checked]) -> Iterator[str]:
    return (f"{one.mistake}: {one.told}" for one in findings(looked) if one.weight != "noted")


def named(clips: dict[str, Clip]) -> tuple[Counter[str], list[str]]:
    """Planted mistake -> clips beside which it alone was named, by its words; and what was said otherwise."""
    right: Counter[str] = Counter()
    wrong = []
    for mistake, (name, words) in PLANTED.items():
        leaf = partial(PythonCallable, address=f"{mistake.__module__}:{mistake.__name__}")
        made = tried(leaf(), partial(made_view, "hole"))
        for film, clip in clips.items():
            found = findings([made, tried(leaf(), clip)])
            if [one.mistake for one in found] == [name] and words in found[0].told:
                right[mistake.__name__] += 1
            else:
                wrong.append(f"{mistake.__name__} beside {film}: {[(one.weight, one.told) for one in found]}")
    return right, wrong


def false_alarms(clips: dict[str, Clip], *, quick: bool) -> tuple[int, list[str], list[float]]:
    """Pairs of method and film, what was refused or warned of, and the dB that written forms keep of the films."""
    leaves: list[Method] = [METHODS.get(name)() for name in BUILT_IN[:: 3 if quick else 1]]
    leaves += [Lossy(how=how, declared=declared) for how in FORMS for declared in (True, False)]
    found, kept = [], []
    for leaf in leaves:
        made = tried(leaf, partial(made_view, "hole"))
        for film, clip in clips.items():
            looked = tried(leaf, clip)
            found += [f"{leaf.name} {getattr(leaf, 'how', '')} beside {film}: {words}" for words in alarms([made, looked])]
            found += [f"{leaf.name} {getattr(leaf, 'how', '')} on {film} alone: {words}" for words in alarms([looked])]
    for clip in clips.values():
        kept += [decibels for how in FORMS if (decibels := ceiling_db(clip()[0].input, how)) is not None]
    return len(leaves) * len(clips), found, kept


TRIVIAL = "def fill(frames, hole):\n    done = frames.copy()\n    done[hole] = 200\n    return done\n"


def cost(folder: Path) -> tuple[float, float]:
    """CPU seconds of `eval run` of a trivial callable on three items with the check, and with one that stands in the ledger."""
    (folder / "data").mkdir()
    write_one_file(folder / "data", write_items(folder / "data", count=3, frames=(12, 12, 12)))
    (folder / "trivial.py").write_text(TRIVIAL)
    words = [
        sys.executable,
        "-m",
        "inpaintbench",
        "eval",
        "run",
        "data",
        "--run",
        "run",
        "--method",
        "trivial:fill",
        "--workers",
        "2",
    ]

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    first = seconds()
    shutil.rmtree(folder / "run" / "tables")
    for ledger in (folder / "run" / "ledger").glob("predict.*"):
        ledger.unlink()
    return first, seconds()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    clips = {name: with_hole(name, frames) for name, frames in films(quick).items()}
    right, wrong = named(clips)
    pairs, alarmed, kept = false_alarms(clips, quick=quick)
    with tempfile.TemporaryDirectory() as folder:
        costs = [cost(Path(tempfile.mkdtemp(dir=folder))) for _ in range(1 if quick else 3)]
    whole = sum(right[mistake.__name__] == len(clips) for mistake in PLANTED)
    print("## What the check of a method sees\n")
    print(f"{len(clips)} clips of {FRAMES} frames from the videos of the test assets, the first of them still and grey too.\n")
    print("| what | asked | measured |\n|---|---|---|")
    planted = len(PLANTED)
    print(f"| planted mistakes named, each alone, beside every clip | {planted} of {planted} | {whole} of {planted} |")
    print(f"| mistake and clip | all | {sum(right.values())} of {len(PLANTED) * len(clips)} |")
    print(f"| refused or warned of, of {pairs} pairs of a method that works and a clip | 0 | {len(alarmed)} |")
    print(f"| what lossy forms keep of these clips, dB | | {min(kept):.1f} to {max(kept):.1f} |")
    more = max(with_check - without for with_check, without in costs)
    print(f"| CPU seconds that it adds to a run of a trivial callable, most of {len(costs)} | at most 5 | {more:.1f} |")
    for words in [*wrong, *alarmed]:
        print(f"\n{words}", file=sys.stderr)
    return int(bool(wrong or alarmed or more > 5))


if __name__ == "__main__":
    sys.exit(main())
