"""Films and their copies as one source, before anything is labelled, drawn or split; and films that have nothing in common.

python bench/near_duplicates.py [--quick]

Twenty films, each a window of its own of a real film of the test assets or a photograph that a virtual camera films, with three
copies: encoded again, a tenth of both sides cropped off at a place that is drawn, and mirrored. They go through `build devil` up
to their items, in two splits. Two hundred films that show different things, some of them other views of one place, follow.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation import duplicates
from inpaintbench.curation.attributes.hashes import VIEWS, frame_hash
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes import devil, leakage, look_alikes
from inpaintbench.recipes.look_alikes import STEP_OF_COPIES
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import LEVELS
from inpaintbench.types import Attribute, Clip, Frames, Item, Source, item_rng
from inpaintbench.workspace import Workspace

WIDTH, HEIGHT, FRAMES, FPS = 416, 240, 45, 30.0
FILMS, UNRELATED = 20, 200
COPIED = 1_000
COPIES = ("encoded", "cropped", "mirrored")
# Of every film one suffix: files of the assets that show the same.
SAME = ("flower.webm", "stream-of-water.webm", "stream-of-water-audioless.webm", "carphone_distorted.mp4", "boats_mask.mp4",
        "issue-134-rotate.mp4", "brink_20_640x360.mp4", "river1.gif", "river2.gif")  # fmt: skip
PLACES = "photos/images-migan-places512/examples/places2_512"
PICTURES = (f"{PLACES}_object/images", f"{PLACES}_freeform/images", "photos/images-nipponjo-deepfillv2",
            "photos/scenery-cc0-hhoppe", "photos/scenery-editly", "poses/pose-mmpose/tests/data")  # fmt: skip


def films(root: Path) -> Iterator[tuple[str, Frames]]:
    """The first window of every real film that is long enough and shows something, then pans over photographs."""
    for path in sorted(
        path for part in ("videos", "edited") for path in (root / part).rglob("*") if path.suffix in video.VIDEO_SUFFIXES
    ):
        if path.name not in SAME:
            frames = [_small(video.upright(frame)) for frame in islice(video.Decoder(path), FRAMES)]
            # A grey ramp among them has no hash; by default `build devil` keeps no blank frames.
            if len(frames) == FRAMES and any(frame_hash(frame[..., 1]) is not None for frame in frames):
                yield path.stem, np.stack(frames)
    for path, picture in pictures(root):
        yield path.stem, _pan(picture, item_rng(0, "pan", path.name))


def pictures(root: Path) -> Iterator[tuple[Path, np.ndarray]]:
    """Photographs, in RGB; masks and results of methods lie among them."""
    for path in sorted(path for folder in PICTURES for path in (root / folder).rglob("*") if path.suffix in (".png", ".jpg")):
        if "mask" not in path.name and "out" not in path.name:
            yield path, cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)


def _small(frame: np.ndarray) -> np.ndarray:
    return cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)


def _pan(picture: np.ndarray, rng: np.random.Generator) -> Frames:
    """A camera that goes over a photograph of at least 1.3 times the view, slow enough that most of it stays."""
    scale = 1.3 * max(WIDTH / picture.shape[1], HEIGHT / picture.shape[0])
    large = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    room = np.array([large.shape[1] - WIDTH, large.shape[0] - HEIGHT])
    ends = rng.uniform(0, room, (2, 2))
    places = np.linspace(ends[0], ends[1], FRAMES).astype(int)
    return np.stack([large[y : y + HEIGHT, x : x + WIDTH] for x, y in places])


def unrelated(root: Path) -> Iterator[tuple[str, Frames]]:
    """Films, then pans over quarters of the photographs, at twice their size: no two share more than a part of a view."""
    yield from films(root)
    for path, picture in pictures(root):
        if min(picture.shape[:2]) >= 256:
            rows, columns = picture.shape[0] // 2, picture.shape[1] // 2
            parts = picture[:rows, :columns], picture[rows:, columns:], picture[:rows, columns:], picture[rows:, :columns]
            for at, part in enumerate(parts):
                yield f"{path.stem} {at}", _pan(part, item_rng(0, "part", f"{path.name} {at}"))


def copy_of(frames: Frames, kind: str, name: str) -> Frames:
    if kind == "mirrored":
        return frames[:, :, ::-1]
    if kind == "cropped":
        height, width = round(0.9 * HEIGHT), round(0.9 * WIDTH)
        top, left = (item_rng(0, "crop", name).uniform(0, 1, 2) * (HEIGHT - height, WIDTH - width)).astype(int)
        return np.stack([_small(frame[top : top + height, left : left + width]) for frame in frames])
    return frames


def write(path: Path, frames: Frames, *, crf: int) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=round(FPS), options={"crf": str(crf), "preset": "fast"})
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
        container.mux(stream.encode(None))


def built(folder: Path, scratch: Path, **options: object) -> tuple[Workspace, dict[str, str], dict[str, str], float]:
    """A workspace with items of the films in ``folder``: clip -> film, clip -> group, and CPU seconds of finding the groups."""
    workspace = Workspace(scratch / "workspace")
    recipe = devil.DevilRecipe(width=WIDTH, height=HEIGHT, splits={"train": 0.5, "test": 0.5}, per_slice=1000, **options)
    with LocalExecutor(workspace, workers=os.cpu_count()) as executor:
        devil.curate(recipe, [SourceSpec(FolderSource.name, {"folder": str(folder)})], executor, workspace)
        devil.label(recipe, executor, workspace)
        started = time.process_time()
        leakage.group(workspace)
        seconds = time.process_time() - started
        devil.corrupt(recipe, executor, workspace)
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    film = {clip.clip_id: uri[clip.source_id] for clip in workspace.table("clips", Clip)}
    groups = leakage.groups_of(workspace)
    source = {clip.clip_id: groups.get(clip.clip_id, clip.source_id) for clip in workspace.table("clips", Clip)}
    return workspace, film, source, seconds


def tell_copies(root: Path, count: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "films"
        folder.mkdir()
        for number, (_, frames) in enumerate(islice(films(root), count)):
            write(folder / f"film{number:02d}_original.mp4", frames, crf=18)
            for kind in COPIES:
                write(folder / f"film{number:02d}_{kind}.mp4", copy_of(frames, kind, f"{number}"), crf=28)
        workspace, film, source, seconds = built(folder, Path(scratch), level_share=0.5)
        of = {clip: name.partition("_")[0] for clip, name in film.items()}
        original = {of[clip]: source[clip] for clip, name in film.items() if "original" in name}
        found = {clip: source[clip] == original[of[clip]] for clip, name in film.items() if "original" not in name}
        missed = sorted(film[clip] for clip, hit in found.items() if not hit)
        split_of: dict[str, set[str]] = defaultdict(set)
        for item in workspace.table("items", Item):
            split_of[of[item.clip_id]].add(item.split)
        places: Counter[tuple[str, str]] = Counter()
        for row in workspace.table("attributes", Attribute, step=LEVELS):
            if row.value is not None:
                places[of[row.subject_id], row.name] += 1
        mixed = sum(len({of[clip] for clip in source if source[clip] == group}) > 1 for group in set(source.values()))
        grouped = f"{sum(found.values())} of {len(found)}"
        print(f"| {count} films, three copies each | copies grouped with their film | at least 95 % | {grouped} |")
        print(f"| | films in two splits | 0 | {sum(len(splits) > 1 for splits in split_of.values())} |")
        print(f"| | most label places of a film | 1 | {max(places.values(), default=0)} ({sum(places.values())} places) |")
        print(f"| | groups of two films | 0 | {mixed} |")
        print(f"| | CPU seconds of comparing {len(film)} clips | reported | {seconds:.1f} |")
        if missed:
            print(f"\nNot grouped: {', '.join(missed)}.\n")


def tell_unrelated(root: Path, count: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "films"
        folder.mkdir()
        for number, (name, frames) in enumerate(islice(unrelated(root), count)):
            write(folder / f"{number:03d} {name}.mp4", frames, crf=23)
        workspace = Workspace(Path(scratch) / "workspace")
        recipe = devil.DevilRecipe(width=WIDTH, height=HEIGHT)
        with LocalExecutor(workspace, workers=os.cpu_count()) as executor:
            devil.curate(recipe, [SourceSpec(FolderSource.name, {"folder": str(folder)})], executor, workspace)
            leakage.group(workspace, executor=executor)
        uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        film = {clip.clip_id: uri[clip.source_id] for clip in workspace.table("clips", Clip)}
        rows = [row for row in workspace.table("attributes", Attribute, step="alike") if row.name == leakage.SAME_AS]
        print(f"| {len(film)} films of different things | clips that are called copies | at most 1 % | {len(rows)} |")
        for row in rows:
            print(f"\n{film[row.subject_id]} as {film[str(row.value)]}\n")


def tell_scale(count: int, *, views: int = VIEWS, logo: int = 0) -> None:
    """Hashes alone, of clips of 18 hashes that change slowly, none of them alike but a thousand copies, a bit off in each hash.

    Args:
        count: of the clips.
        views: further sequences of each.
        logo: so many hashes of every clip are the same in all, up to a bit.
    """
    rng = np.random.default_rng(0)
    whole = np.empty((count, 18), np.uint64)
    whole[:, 0] = rng.integers(0, 2**64, count, np.uint64)
    for at in range(1, 18):
        whole[:, at] = whole[:, at - 1] ^ (np.uint64(1) << rng.integers(0, 64, count, np.uint64))
    whole[:, :logo] = np.uint64(0x123456789ABCDEF0) ^ (np.uint64(1) << rng.integers(0, 64, (count, logo), np.uint64))
    later = np.arange(count - COPIED, count)
    originals = rng.choice(count // 2, COPIED, replace=False)
    whole[later] = whole[originals] ^ (np.uint64(1) << rng.integers(0, 64, (COPIED, 18), np.uint64))
    parts = rng.integers(0, 2**64, (count, views, 6), np.uint64)
    flat = np.concatenate([whole.ravel(), parts.ravel()])
    lengths = np.r_[np.full(count, 18), np.full(count * views, 6)]
    sequences = duplicates.Sequences(flat, np.ones(len(flat), bool), np.r_[0, np.cumsum(lengths)])
    groups = np.r_[np.arange(count), np.repeat(np.arange(count), views)]
    del whole, parts, flat
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    index = duplicates.HashIndex(sequences, groups, found=count)
    among, candidates, found = np.arange(len(groups)) < count, 0, set[tuple[int, int]]()
    for begin, end, step in ((0, count, 1), (count, len(groups), STEP_OF_COPIES)):
        for first in range(begin, end, look_alikes.AT_ONCE):
            pairs = index.candidates(
                first, min(first + look_alikes.AT_ONCE, end), among=among, at_most_bits=duplicates.MOST_BITS, step=step
            )
            candidates += len(pairs.earlier)
            bits, overlap = duplicates.compared(sequences, pairs)
            alike = (step == 1) & (bits <= duplicates.MOST_BITS) & (overlap >= duplicates.LEAST_SHARE * 18)
            found.update(zip(pairs.earlier[alike].tolist(), pairs.later[alike].tolist(), strict=True))
    hits = len(found & set(zip(originals.tolist(), later.tolist(), strict=True)))
    taken, most = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    what = f"{count:,} made-up clips{f', {views} views each' if views else ''}{f', {logo} of 18 hashes one logo' if logo else ''}"
    print(f"| {what} | CPU seconds of looking for candidates in {len(index.bands)} bands | reported |", end=" ")
    print(f"{taken:.0f}, {1e6 * taken / count:.0f} us each; {candidates:,} candidates |")
    print(
        f"| | copies found | {COPIED} | {hits} |\n| | MiB before it, and at most | reported | {before >> 10}, {most >> 10} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 films, 40 unrelated ones, 4,000 made-up clips")
    quick = parser.parse_args().quick
    root = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    print("## Near-duplicates as one source\n\n| what | | asked | measured |\n|---|---|---|---|")
    tell_copies(root, 5 if quick else FILMS)
    tell_unrelated(root, 40 if quick else UNRELATED)
    # Each in a process of its own, for the sake of its memory.
    tell = get_context("spawn").Process
    for count in (4_000,) if quick else (10_000, 100_000, 1_000_000):
        for how in ({"views": 0}, {"views": 0, "logo": 6}):
            process = tell(target=tell_scale, args=(count,), kwargs=how)
            process.start()
            process.join()
    tell_scale(4_000 if quick else 10_000)


if __name__ == "__main__":
    main()
