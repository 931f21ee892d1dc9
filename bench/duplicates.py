"""How many re-encoded, rescaled, trimmed, retimed and brightened copies of real clips are found, and what is found wrongly.

python bench/duplicates.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import av
import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation import duplicates
from inpaintbench.curation.attributes.hashes import PerceptualHash
from inpaintbench.curation.duplicates import Pairs, Sequences, compared
from inpaintbench.errors import NotMeasurable
from inpaintbench.types import Attribute, Clip, Frames, item_rng
from inpaintbench.view import ItemView

WINDOW_SECONDS = 3.0
FEWEST_FRAMES = 12
LARGEST_SIDE = 480
ENCODERS = {
    "libx264": ({"crf": ("18", "23", "28", "34")}, {"preset": "veryfast", "threads": "1"}),
    "libvpx-vp9": ({"crf": ("30", "40", "48")}, {"b": "0", "deadline": "realtime", "cpu-used": "8", "threads": "1"}),
    "mpeg4": ({"qscale": ("4", "8", "12")}, {"threads": "1"}),
}
RATES = (15.0, 24.0, 25.0, 30.0, 50.0)
ALIKE = 0.9
"""Mean correlation of aligned thumbnails of two windows of one shot from which nobody could tell which of them a copy is of."""
SAME_FILM = (
    {"flower.mp4", "flower.webm"},
    {"stream-of-water.mp4", "stream-of-water.webm", "stream-of-water-audioless.webm"},
    {"carphone_distorted.mp4", "carphone_pristine.mp4"},
    {"brink_20_640x360.mp4", "brink_loop_512.mp4"},
    {"river1.gif", "river2.gif", "river_org.gif"},
    {"goldeneye-vfr-drop3.mp4", "issue-134-rotate.mp4"},
)
"""Files that other people made of one film; by eye."""

cv2.setNumThreads(1)


@dataclass
class Seen:
    """A clip, or a copy of one, and where in which film it is from."""

    clip: Clip
    hashes: Attribute
    film: str
    start_seconds: float
    end_seconds: float
    changes: dict[str, str] = field(default_factory=dict)
    thumbnails: npt.NDArray[np.float32] | None = None

    def overlap(self, other: Seen) -> float:
        """Share of the shorter one, by the clock of the film."""
        common = min(self.end_seconds, other.end_seconds) - max(self.start_seconds, other.start_seconds)
        shorter = min(self.end_seconds - self.start_seconds, other.end_seconds - other.start_seconds)
        return max(common, 0.0) / shorter


def windows(path: Path) -> Iterator[tuple[Frames, float, float]]:
    """Frames of at most 480 pixels a side, rate and start of the windows of a file."""
    fps = video.probe(path).fps
    length = round(WINDOW_SECONDS * fps)
    frames: list[npt.NDArray[np.uint8]] = []
    start = 0
    for frame, _ in video.upright_frames(path):
        frames.append(resized(frame, min(1.0, LARGEST_SIDE / max(frame.shape[:2]))))
        if len(frames) == length:
            yield np.stack(frames), fps, start / fps
            start, frames = start + length, []
    if len(frames) >= FEWEST_FRAMES:
        yield np.stack(frames), fps, start / fps


def resized(frame: npt.NDArray[np.uint8], x: float, y: float | None = None) -> npt.NDArray[np.uint8]:
    """Scaled, to even sides of at least 32 pixels."""
    sides = (frame.shape[1] * x, frame.shape[0] * (y or x))
    size = tuple(max(32, 2 * round(side / 2)) for side in sides)
    return cv2.resize(frame, size, interpolation=cv2.INTER_AREA if x < 1 else cv2.INTER_CUBIC)


def altered(
    frames: Frames, fps: float, rng: np.random.Generator
) -> tuple[list[npt.NDArray[np.uint8]], float, float, float, dict[str, str]]:
    """Frames, rate, start and end within the clip, and what was changed."""
    count = len(frames)
    kept = count if rng.random() < 0.3 else int(np.ceil(count * rng.uniform(0.5, 1.0)))
    first = int(rng.integers(0, count - kept + 1))
    changes = {"trim": "whole" if kept == count else f"{'half to 3/4' if kept < 0.75 * count else 'over 3/4'}"}
    picked = frames[first : first + kept]
    rate = fps
    if rng.random() < 0.4:
        rate = float(rng.choice([other for other in RATES if abs(other / fps - 1) > 0.02]))
        times = np.arange(max(1, round(kept / fps * rate))) / rate
        picked = picked[np.minimum((times * fps + 1e-6).astype(int), kept - 1)]
    changes["rate"] = "kept" if rate == fps else "changed"
    scale, squeeze = rng.uniform(0.4, 1.5), (0.9 if rng.random() < 0.25 else 1.0)
    changes["scale"] = ("below 0.7" if scale < 0.7 else "0.7 and over") + (", 90 % wide" if squeeze < 1 else "")
    gamma, gain, lift = rng.uniform(0.8, 1.25), rng.uniform(0.85, 1.15), rng.uniform(-12, 12)
    if rng.random() < 0.5:
        gamma, gain, lift = 1.0, 1.0, 0.0
    changes["levels"] = "kept" if gamma == 1.0 else "changed"
    table = np.clip(255 * (np.arange(256) / 255) ** gamma * gain + lift, 0, 255).astype(np.uint8)
    out = [resized(table[frame], scale * squeeze, scale) for frame in picked]
    return out, rate, first / fps, (first + kept) / fps, changes


def encoded(path: Path, frames: list[npt.NDArray[np.uint8]], fps: float, rng: np.random.Generator) -> str:
    """Write the copy with an encoder that is drawn; its name and quality."""
    codec = str(rng.choice(list(ENCODERS)))
    choices, options = ENCODERS[codec]
    ((name, values),) = choices.items()
    value = str(rng.choice(values))
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            codec, rate=Fraction(fps).limit_denominator(1001), options=options | ({} if codec == "mpeg4" else {name: value})
        )
        stream.width, stream.height, stream.pix_fmt = frames[0].shape[1], frames[0].shape[0], "yuv420p"
        if codec == "mpeg4":
            stream.codec_context.qmin = stream.codec_context.qmax = int(value)
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    return f"{codec} {name} {value}"


def seen(luma: npt.NDArray[np.uint8], fps: float, *, source: str, clip_id: str, film: str, start: float, end: float) -> Seen:
    view = ItemView.of_arrays(luma=luma, fps=fps)
    leaf = PerceptualHash()
    try:
        value, reason = leaf.measure(view.declaring(leaf.name, leaf.needs)), None
    except NotMeasurable as error:
        value, reason = None, str(error)
    clip = Clip(
        clip_id, source, round(start * fps), round(end * fps), fps, luma.shape[2], luma.shape[1], len(luma), "", "", "", 0, 99.0
    )
    return Seen(clip, Attribute(clip_id, leaf.name, value, reason, leaf.name, leaf.version), film, start, end)


def thumbnails(frames: Frames, fps: float) -> npt.NDArray[np.float32]:
    """Normalised 48x27 pictures, six a second: what windows of one shot are judged alike by."""
    picked = frames[np.minimum((np.arange(int(len(frames) / fps * 6)) * fps / 6).astype(int), len(frames) - 1)]
    small = [cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), (48, 27), interpolation=cv2.INTER_AREA) for frame in picked]
    flat = np.array(small, np.float32).reshape(len(small), -1)
    flat -= flat.mean(axis=1, keepdims=True)
    return flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-6)


def made(folder: Path, *, quick: bool) -> tuple[list[Seen], list[Seen]]:
    """All clips, and copies of them that differ in everything at once."""
    root = Path(os.environ["INPAINTBENCH_TEST_ASSETS"])
    paths = sorted(
        path for part in ("videos", "edited") for path in (root / part).rglob("*") if path.suffix in video.VIDEO_SUFFIXES
    )
    clips, copies = [], []
    for path in paths:
        film = next((min(group) for group in SAME_FILM if path.name in group), path.name)
        for number, (frames, fps, start) in enumerate(windows(path)):
            clip_id = f"{path.name}#{number}"
            luma = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in frames])
            clip = seen(luma, fps, source=path.name, clip_id=clip_id, film=film, start=start, end=start + len(frames) / fps)
            clip.thumbnails = thumbnails(frames, fps)
            clips.append(clip)
            if quick and number % 4:
                continue
            for turn in range(1 if quick else 3):
                copies.append(copied(clip, frames, fps, turn, folder))
    return clips, copies


def copied(clip: Seen, frames: Frames, fps: float, turn: int, folder: Path) -> Seen:
    rng = item_rng(turn, "copy", clip.clip.clip_id)
    changed, rate, first, last, changes = altered(frames, fps, rng)
    path = folder / "copy.mkv"
    changes["encoder"] = encoded(path, changed, rate, rng)
    start = clip.start_seconds
    source = f"~copy {turn} of {clip.clip.clip_id}"
    copy = seen(video.read_luma(path), rate, source=source, clip_id=source, film=clip.film, start=start + first, end=start + last)
    copy.changes = changes
    return copy


def right(item: Seen, own: Seen, named: Seen) -> bool:
    """Whether ``named`` shows what ``item``, a copy of ``own``, shows: the same film at the same time, or a view as alike.

    Files of one film by other people have clocks of their own, so between those the film alone decides.
    """
    if item.film != named.film:
        return False
    other_file = own.clip.source_id != named.clip.source_id
    return other_file or item.overlap(named) >= duplicates.LEAST_SHARE or correlation(own, named) >= ALIKE


def correlation(one: Seen, other: Seen) -> float:
    """Mean over the thumbnails of one window of the best correlation with one of the other's."""
    assert one.thumbnails is not None
    assert other.thumbnails is not None
    return float((one.thumbnails @ other.thumbnails.T).max(axis=1).mean())


@dataclass(frozen=True)
class Outcome:
    """What came of one clip or copy: found, missed, wrong, alone (rightly nothing) or none (flat: no hash)."""

    item: Seen
    word: str
    named: str | None


def outcomes(clips: list[Seen], copies: list[Seen], owns: dict[str, Seen]) -> list[Outcome]:
    """Of all clips and copies in one search; a copy of a copy counts as the clip that the copy is of."""
    everything = clips + copies
    rows = duplicates.find([item.clip for item in everything], [item.hashes for item in everything])
    named = {row.subject_id: row.value for row in rows if row.name == duplicates.OF}
    result = []
    for item in everything:
        value = named[item.clip.clip_id]
        own = owns[item.clip.clip_id]
        if item.hashes.value is None:
            word = "none"
        elif value is None:
            word = "missed" if item.changes else "alone"
        else:
            word = "found" if right(item, own, owns[str(value)]) else "wrong"
        result.append(Outcome(item, word, None if value is None else str(value)))
    return result


def distances(clips: list[Seen], copies: list[Seen], owns: dict[str, Seen]) -> dict[str, list[float]]:
    """Smallest mean difference over all shifts of each copy and each clip, by what the two have to do with each other."""
    kinds: dict[str, list[float]] = {"copy and its clip": [], "other window, looks otherwise": [], "another film": []}
    hashed = [item for item in clips + copies if item.hashes.value is not None]
    sequences = Sequences.of_words([str(item.hashes.value) for item in hashed])
    for later, copy in enumerate(hashed):
        for earlier, clip in enumerate(hashed):
            if copy.changes and not clip.changes and (kind := relation(copy, clip, owns[copy.clip.clip_id])):
                kinds[kind].append(nearest(sequences, earlier, later))
    return kinds


def relation(copy: Seen, clip: Seen, own: Seen) -> str | None:
    if own is clip:
        return "copy and its clip"
    if copy.film != clip.film:
        return "another film"
    apart = own.clip.source_id == clip.clip.source_id and copy.overlap(clip) == 0 and correlation(own, clip) < ALIKE
    return "other window, looks otherwise" if apart else None


def nearest(sequences: Sequences, earlier: int, later: int) -> float:
    lengths = sequences.lengths
    shifts = np.arange(1 - lengths[later], lengths[earlier])
    bits, overlap = compared(sequences, Pairs(np.full(len(shifts), earlier), np.full(len(shifts), later), shifts))
    return float(bits[overlap >= duplicates.LEAST_SHARE * min(lengths[earlier], lengths[later])].min())


def crowd(count: int) -> tuple[list[Clip], list[Attribute], dict[str, str]]:
    """Shots of 18 hashes that change slowly, one in twenty a shifted copy that differs in 5 bits, and what each is a copy of."""
    rng = np.random.default_rng(0)
    hashes = np.empty((count, 18), np.uint64)
    hashes[:, 0] = rng.integers(0, 2**64, count, np.uint64)
    for place in range(1, 18):
        hashes[:, place] = hashes[:, place - 1] ^ flips(rng, (count,), 3)
    chosen = rng.permutation(count)[: 2 * (count // 20)]
    first, second = np.sort(chosen.reshape(2, -1), axis=0)
    hashes[second, :15] = hashes[first, 3:]
    hashes[second] ^= flips(rng, (len(second), 18), 5)
    ids = [f"{number:06d}" for number in range(count)]
    clips = [Clip(name, name, 0, 90, 30.0, 832, 480, 90, "", "", "", 0, 50.0) for name in ids]
    words = ["6 " + " ".join(f"{hash_:016x}" for hash_ in shot) for shot in hashes.tolist()]
    rows = [Attribute(name, PerceptualHash.name, word, None, "", "1") for name, word in zip(ids, words, strict=True)]
    return clips, rows, {ids[copy]: ids[original] for original, copy in zip(first, second, strict=True)}


def flips(rng: np.random.Generator, shape: tuple[int, ...], times: int) -> npt.NDArray[np.uint64]:
    changed = np.zeros(shape, np.uint64)
    for _ in range(times):
        changed ^= np.uint64(1) << rng.integers(0, 64, shape, np.uint64)
    return changed


def print_found(result: list[Outcome]) -> None:
    words = Counter((bool(outcome.item.changes), outcome.word) for outcome in result)
    copies = words[True, "found"] + words[True, "missed"] + words[True, "wrong"]
    said = sum(words[kind, word] for kind in (True, False) for word in ("found", "wrong"))
    wrong = words[True, "wrong"] + words[False, "wrong"]
    print("| | found | missed | wrong | rightly alone | flat, no hash |\n|---|---|---|---|---|---|")
    for kind, label in ((True, "copies"), (False, "originals")):
        row = [str(words[kind, word]) for word in ("found", "missed", "wrong", "alone", "none")]
        print(f"| {label} | {' | '.join(row)} |")
    print(f"\nRecall **{words[True, 'found'] / copies:.4f}**, precision **{1 - wrong / said:.4f}**.\n")
    for outcome in result:
        if outcome.word in ("missed", "wrong"):
            print(f"- {outcome.word}: {outcome.item.clip.clip_id} {outcome.named or ''} {outcome.item.changes}")


def print_by_change(result: list[Outcome]) -> None:
    print("\n| change | copies | recall |\n|---|---|---|")
    found: dict[tuple[str, str], list[bool]] = {}
    for outcome in result:
        if outcome.word in ("found", "missed", "wrong"):
            for change in outcome.item.changes.items():
                found.setdefault(change, []).append(outcome.word == "found")
    for (name, value), hits in sorted(found.items()):
        print(f"| {name}: {value} | {len(hits)} | {np.mean(hits):.3f} |")


def print_neighbours(clips: list[Seen], copies: list[Seen], owns: dict[str, Seen]) -> None:
    """What copies are said to be of when their own clip is not there, only every second other window of the shot."""
    words: Counter[str] = Counter()
    for parity in (0, 1):
        there = [clip for clip in clips if window(clip) % 2 == parity]
        asked = [copy for copy in copies if window(owns[copy.clip.clip_id]) % 2 != parity and copy.hashes.value is not None]
        for copy in asked:
            everything = [*there, copy]
            row = duplicates.find([item.clip for item in everything], [item.hashes for item in everything])[-2]
            named = None if row.value is None else owns[str(row.value)]
            if named is None:
                words["nothing"] += 1
            elif named.film != copy.film:
                words["another film"] += 1
            else:
                words["alike" if right(copy, owns[copy.clip.clip_id], named) else "less alike"] += 1
    print("\nCopies whose own clip is left out, with every second window of the same shot there:\n")
    print("| nothing | another window, alike | another window, less alike | another film |\n|---|---|---|---|")
    print(f"| {words['nothing']} | {words['alike']} | {words['less alike']} | {words['another film']} |")


def window(clip: Seen) -> int:
    return int(clip.clip.clip_id.rpartition("#")[2])


def print_distances(kinds: dict[str, list[float]]) -> None:
    print("\nBits of 64 that differ on average at the best shift, over at least 0.4 of the shorter:\n")
    print("| pair | pairs | least | 1 % | 5 % | median | 95 % | 99 % | largest | within 10 |\n" + "|---" * 10 + "|")
    for kind, values in kinds.items():
        marks = np.percentile(values, [0, 1, 5, 50, 95, 99, 100], method="nearest") if values else [float("nan")] * 7
        within = np.mean(np.array(values) <= duplicates.MOST_BITS) if values else float("nan")
        print(f"| {kind} | {len(values)} | {' | '.join(f'{mark:.1f}' for mark in marks)} | {within:.4f} |")


def print_scaling(counts: tuple[int, ...]) -> None:
    print("\n| made-up clips | seconds of one core | of the copies found | wrong |\n|---|---|---|---|")
    for count in counts:
        clips, rows, expected = crowd(count)
        started = time.process_time()
        found = duplicates.find(clips, rows)
        seconds = time.process_time() - started
        named = {row.subject_id: row.value for row in found if row.name == duplicates.OF and row.value is not None}
        hits = sum(named.get(copy) == original for copy, original in expected.items())
        print(f"| {count:,} | {seconds:.1f} | {hits / len(expected):.4f} | {sum(copy not in expected for copy in named)} |")


def print_cost() -> None:
    """CPU time of the leaf against that of decoding a clip of 832x480, 90 frames, once."""
    from inpaintbench.curation.sources.embedded import film, shots

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        video.write_clip(path, film(shots(1, width=832, height=480)[0], width=832, height=480).frames[:90], fps=30)
        started = time.process_time()
        plane = video.read_luma(path)
        decoded = time.process_time()
        PerceptualHash().measure(ItemView.of_arrays(luma=plane, fps=30.0))
        ended = time.process_time()
    hashing, decoding = 1000 * (ended - decoded), 1000 * (decoded - started)
    print(f"\nHashing {len(plane)} frames of 832x480: {hashing:.0f} ms; decoding them: {decoding:.0f} ms.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fifth of the copies, and 10,000 made-up clips")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        clips, copies = made(Path(folder), quick=quick)
    owns = {clip.clip.clip_id: clip for clip in clips}
    owns |= {copy.clip.clip_id: owns[copy.clip.clip_id.split(" of ", 1)[1]] for copy in copies}
    print("## Near-duplicates\n")
    print(f"{len(clips)} windows of {len({clip.clip.source_id for clip in clips})} real files and {len(copies)} copies.\n")
    result = outcomes(clips, copies, owns)
    print_found(result)
    print_by_change(result)
    print_neighbours(clips, copies, owns)
    print_distances(distances(clips, copies, owns))
    print_scaling((10_000,) if quick else (10_000, 100_000))
    print_cost()


if __name__ == "__main__":
    main()
