"""Near-duplicates among stored hashes, against comparing every clip with every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import luma, pan_clip

from inpaintbench import video
from inpaintbench.curation import duplicates
from inpaintbench.curation.attributes.hashes import PerceptualHash, hash_words
from inpaintbench.curation.duplicates import HashIndex, Sequences, find
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.types import Attribute, Clip, Frames, Luma, stated
from inpaintbench.view import ItemView

Hashes = list[int | None]
ANYTHING = np.random.default_rng(7).integers(0, 2**64, (40, 12), np.uint64).tolist()
"""Forty shots of a dozen hashes each that have nothing to do with each other."""


def clip(clip_id: str, source: str, start: int = 0) -> Clip:
    return Clip(clip_id, source, start, start + 60, 30.0, 64, 48, 60, "", "", "", 0, 50.0)


def row(clip_id: str, hashes: Hashes | None, *, rate: str = "6", reason: str | None = None) -> Attribute:
    words = hashes and " ".join([rate, *("-" if hash_ is None else f"{hash_:016x}" for hash_ in hashes)])
    return Attribute(clip_id, "perceptual_hash", words, reason, "perceptual_hash", "1")


def named(rows: Sequence[Attribute], name: str = "duplicate_of") -> dict[str, float | str | None]:
    return {found.subject_id: found.value for found in rows if found.name == name}


def flipped(hashes: Hashes, bits: int, *, seed: int = 0) -> Hashes:
    """The same with ``bits`` of each changed."""
    rng = np.random.default_rng(seed)
    changed = [sum(1 << int(bit) for bit in rng.choice(64, bits, replace=False)) for _ in hashes]
    return [None if hash_ is None else hash_ ^ change for hash_, change in zip(hashes, changed, strict=True)]


def found_among(shots: dict[str, Hashes], **options: float) -> dict[str, float | str | None]:
    """``duplicate_of`` of clips of one source each, in the order of their names."""
    return named(find([clip(name, name) for name in shots], [row(name, shot) for name, shot in shots.items()], **options))


def test_a_copy_names_what_it_is_of() -> None:
    shots = {"a": ANYTHING[0], "b": ANYTHING[1], "c": flipped(ANYTHING[0], 5)}
    assert found_among(shots) == {"a": None, "b": None, "c": "a"}


@pytest.mark.parametrize(
    ("bits", "expected"), [((10,) * 11, "a"), ((10,) * 10 + (12,), None), ((1,) * 11, "a"), ((30,) * 11, None)]
)
def test_up_to_ten_bits_on_average(bits: tuple[int, ...], expected: str | None) -> None:
    # The first hash is the same but for ten bits of one quarter, so that it is looked up with certainty.
    copy: Hashes = [ANYTHING[0][0] ^ 0x3FF]
    copy += [flipped([hash_], count)[0] for hash_, count in zip(ANYTHING[0][1:], bits, strict=True)]
    assert found_among({"a": ANYTHING[0], "b": copy})["b"] == expected


@pytest.mark.parametrize(("start", "end", "share"), [(0, 12, 1.0), (3, 12, 1.0), (0, 6, 1.0), (5, 11, 1.0), (7, 12, 1.0)])
def test_a_trimmed_copy_lies_wholly_over_it(start: int, end: int, share: float) -> None:
    rows = find([clip("a", "a"), clip("b", "b")], [row("a", ANYTHING[0]), row("b", ANYTHING[0][start:end])])
    assert named(rows)["b"] == "a"
    assert named(rows, "duplicate_share")["b"] == share


@pytest.mark.parametrize(("common", "expected"), [(6, "a"), (5, "a"), (4, None)])
def test_windows_that_overlap_by_less_than_two_fifths_are_none(common: int, expected: str | None) -> None:
    moved = ANYTHING[0][12 - common :] + ANYTHING[1][: 12 - common]
    rows = find([clip("a", "a"), clip("b", "b")], [row("a", ANYTHING[0]), row("b", moved)])
    assert named(rows)["b"] == expected
    assert named(rows, "duplicate_share")["b"] == (stated(common / 12) if expected else None)


def test_of_several_the_best_is_named_and_of_equals_the_first() -> None:
    shot = ANYTHING[0]
    near, half = flipped(shot, 6, seed=3), shot[:6] + ANYTHING[2][:6]
    clips = [clip("a", "s", 0), clip("b", "s", 60), clip("c", "s", 120), clip("d", "s", 180), clip("e", "t")]
    rows = [row(name, shown) for name, shown in {"a": half, "b": near, "c": shot, "d": shot, "e": shot}.items()]
    assert named(find(clips, rows))["e"] == "c"


def test_the_order_is_of_names_then_starts_and_not_of_the_arguments() -> None:
    clips = [clip("late", "s1", 60), clip("early", "s1", 0), clip("other", "s2")]
    hashes = [row(one.clip_id, ANYTHING[0]) for one in clips]
    for turned in (clips, clips[::-1]):
        assert named(find(turned, hashes[::-1])) == {"early": None, "late": None, "other": "early"}
        swapped = named(find(turned, hashes, names={"s1": "zebra", "s2": "apple"}))
        assert swapped == {"early": "other", "late": "other", "other": None}
    rows = find(clips, hashes)
    assert [(found.subject_id, found.name) for found in rows[:2]] == [("late", "duplicate_of"), ("late", "duplicate_share")]


def test_clips_of_one_source_only_when_asked() -> None:
    clips = [clip("one", "s", 0), clip("two", "s", 60)]
    hashes = [row("one", ANYTHING[0]), row("two", ANYTHING[0])]
    assert named(find(clips, hashes))["two"] is None
    assert named(find(clips, hashes, same_source=True))["two"] == "one"


def test_nothing_is_a_duplicate_of_what_is_dropped() -> None:
    # b is near a, c is near b alone: without b, c is the only one of its kind.
    near, far = flipped(ANYTHING[0], 8, seed=1), flipped(flipped(ANYTHING[0], 8, seed=1), 8, seed=2)
    assert found_among({"a": ANYTHING[0], "b": near, "c": far}) == {"a": None, "b": "a", "c": None}
    assert found_among({"b": near, "c": far}) == {"b": None, "c": "b"}


def test_flat_frames_match_nothing() -> None:
    gap: Hashes = [None] * 12
    dark = {"a": gap[:11] + ANYTHING[0][:1], "b": gap[:11] + ANYTHING[1][:1], "c": gap[:11] + ANYTHING[0][:1]}
    assert set(found_among(dark).values()) == {None}
    faded = [None, None, *ANYTHING[0][2:]]
    assert found_among({"a": ANYTHING[0], "b": faded})["b"] == "a"


def test_reasons() -> None:
    clips = [clip("a", "a"), clip("b", "b"), clip("c", "c"), clip("d", "d")]
    hashes = [row("a", ANYTHING[0]), row("b", ANYTHING[1]), row("c", None, reason="every frame is flat")]
    reasons = {found.subject_id: found.reason for found in find(clips, hashes)}
    assert reasons == {
        "a": "no near-duplicate among 2 clips",
        "b": "no near-duplicate among 2 clips",
        "c": "no perceptual hash: every frame is flat",
        "d": "no perceptual hash: not measured",
    }


@pytest.mark.parametrize("count", [0, 1])
def test_few_clips(count: int) -> None:
    clips = [clip(f"c{number}", "s") for number in range(count)]
    assert len(find(clips, [row(one.clip_id, ANYTHING[0]) for one in clips])) == 2 * count


def test_hashes_of_different_rates_are_an_error() -> None:
    with pytest.raises(InputError, match="6 and 12 a second"):
        find([clip("a", "a"), clip("b", "b")], [row("a", ANYTHING[0]), row("b", ANYTHING[0], rate="12")])


def test_texts_are_read_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_TEXTS_AT_ONCE", 2)
    texts = ["6 - 00000000000000ff", None, "6 FFffFFffFFffFFff", "6 abc", "6 -", "6 0123456789abcdef - 8000000000000000"]
    read = Sequences.of_words(texts)
    expected = [hash_words(text)[1] if text else [] for text in texts]
    assert read.lengths.tolist() == [len(hashes) for hashes in expected]
    flat = [hash_ for hashes in expected for hash_ in hashes]
    assert read.known.tolist() == [hash_ is not None for hash_ in flat]
    assert read.values.tolist() == [hash_ or 0 for hash_ in flat]
    turned = read.take(np.array([5, 0]))
    assert turned.values.tolist() == [hash_ or 0 for place in (5, 0) for hash_ in expected[place]]
    assert turned.known.tolist() == [hash_ is not None for place in (5, 0) for hash_ in expected[place]]
    assert turned.starts.tolist() == [0, 3, 5]


@pytest.mark.parametrize("text", ["", "six 00", "6 xyz", "6 ", "6 00000000000000001", "6 é0"])
def test_what_is_no_hash_is_named(text: str) -> None:
    with pytest.raises(InputError, match=r"perceptual hash.*: measure the attribute perceptual_hash again"):
        Sequences.of_words(["6 00", text])


@pytest.mark.parametrize("step", [1, 3])
def test_candidates_do_not_depend_on_how_many_are_looked_at_at_once(step: int) -> None:
    shots = list(crowd(2).hashes.values())
    flat = [hash_ for shot in shots for hash_ in shot]
    known, starts = np.array([hash_ is not None for hash_ in flat]), np.cumsum([0, *map(len, shots)])
    sequences = Sequences(np.array([hash_ or 0 for hash_ in flat], np.uint64), known, starts)
    index = HashIndex(sequences, np.arange(len(shots)) // 3)
    parts = []
    for block in (11, len(shots)):
        found = [
            index.candidates(first, min(first + block, len(shots)), among=np.ones(len(shots), bool), at_most_bits=10.0, step=step)
            for first in range(0, len(shots), block)
        ]
        parts.append(
            {row for one in found for row in zip(*map(np.ndarray.tolist, (one.earlier, one.later, one.shift)), strict=True)}
        )
    assert parts[0] == parts[1]
    assert len(parts[0]) > 30


@pytest.mark.parametrize("many_from", [10**9, 0])
@given(seed=st.integers(0, 2**32 - 1), common=st.integers(0, 64))
@settings(max_examples=60, deadline=None)
def test_no_pair_of_hashes_that_differ_in_seven_bits_is_missed(many_from: int, seed: int, common: int) -> None:
    """However wide the bands are, and whatever bits of all hashes are the same; what is found beyond these pairs is near, too."""
    rng, count = np.random.default_rng(seed), 200
    same = np.uint64((1 << common) - 1)
    values = rng.integers(0, 2**64, count, np.uint64) & ~same | np.uint64(0x0123456789ABCDEF) & same
    # Bits that differ lie anywhere, or all in a few places, which is what bands are afraid of.
    width = int(rng.integers(12, 65))
    for copy, original in zip(range(count // 2, count), rng.integers(0, count // 2, count // 2), strict=True):
        lowest = int(rng.integers(0, 65 - width))
        bits = rng.choice(width, int(rng.integers(0, 12)), replace=False) + lowest
        values[copy] = values[original] ^ np.uint64(sum(1 << int(bit) for bit in bits))
    differ = np.bitwise_count(values[:, None] ^ values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "MANY_FROM", many_from)
        index = HashIndex(Sequences(values, np.ones(count, bool), np.arange(count + 1)), np.arange(count))
        found = index.candidates(0, count, among=np.ones(count, bool), at_most_bits=10.0)
    pairs = set(zip(found.earlier.tolist(), found.later.tolist(), strict=True))
    certain = {(one, other) for one, other in np.argwhere(differ <= duplicates.CERTAIN_BITS).tolist() if one < other}
    assert certain <= pairs
    assert all(differ[pair] <= 10 for pair in pairs)


@pytest.mark.parametrize("many_from", [10**9, 0])
def test_a_frame_that_all_clips_share_costs_no_pair_and_hides_no_copy(many_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A logo leads each of two thousand clips, and one in twenty is a copy of an earlier one.
    monkeypatch.setattr(duplicates, "MANY_FROM", many_from)
    monkeypatch.setattr(duplicates, "MOST_UNDER_A_KEY", 5)
    monkeypatch.setattr(duplicates, "MOST_UNDER_ALL", 60)
    rng, count = np.random.default_rng(3), 2_000
    values = rng.integers(0, 2**64, (count, 6), np.uint64)
    values[:, 0] = np.uint64(0x123456789ABCDEF0) ^ (np.uint64(1) << rng.integers(0, 64, count, np.uint64))
    copies = {later: int(rng.integers(0, later)) for later in range(20, count, 20)}
    for later, earlier in copies.items():
        values[later, 1:] = values[earlier, 1:] ^ (np.uint64(1) << rng.integers(0, 64, 5, np.uint64))
    sequences = Sequences(values.ravel(), np.ones(values.size, bool), np.arange(count + 1) * 6)
    found = HashIndex(sequences, np.arange(count)).candidates(0, count, among=np.ones(count, bool), at_most_bits=10.0)
    assert set(copies.items()) <= set(zip(found.later.tolist(), found.earlier.tolist(), strict=True))
    assert len(found.later) < 4 * duplicates.MOST_UNDER_A_KEY * count + 2 * len(copies)  # of 1,999,000 that the logo suggests


@dataclass(frozen=True)
class Crowd:
    """Clips of all lengths, with copies of copies among them."""

    clips: list[Clip]
    hashes: dict[str, Hashes]


def crowd(seed: int) -> Crowd:
    rng = np.random.default_rng(seed)
    shots: list[Hashes] = []
    for number in range(150):
        if number > 20 and rng.random() < 0.4:
            shot = shots[int(rng.integers(len(shots)))]
            start = int(rng.integers(0, len(shot)))
            shot = flipped(shot[start:] or shot, int(rng.integers(0, 5)), seed=number)
        else:
            shot = rng.integers(0, 2**64, int(rng.integers(1, 30)), np.uint64).tolist()
        shots.append([None if rng.random() < 0.05 else hash_ for hash_ in shot])
    clips = [clip(f"{number:03d}", f"s{number // 3:03d}") for number in range(len(shots))]
    return Crowd(clips, dict(zip([one.clip_id for one in clips], shots, strict=True)))


def alike(one: Hashes, other: Hashes) -> float:
    """Largest overlap times 11 less its mean bits, of the shifts that lay 0.4 of the shorter over the other in 10 bits; or 0."""
    best = 0.0
    for shift in range(-len(other) + 1, len(one)):
        both = [(one[place + shift], other[place]) for place in range(len(other)) if 0 <= place + shift < len(one)]
        bits = [(a ^ b).bit_count() for a, b in both if a is not None and b is not None]
        if len(both) >= 0.4 * min(len(one), len(other)) and 2 * len(bits) > len(both) and sum(bits) <= 10 * len(bits):
            best = max(best, len(both) * (11 - sum(bits) / len(bits)))
    return best


@pytest.mark.parametrize(("block", "many_from"), [(7, 10**9), (250, 10**9), (250, 0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_comparing_every_pair(seed: int, block: int, many_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "BLOCK", block)
    monkeypatch.setattr(duplicates, "MANY_FROM", many_from)
    made = crowd(seed)
    expected: dict[str, str | None] = {}
    for later in made.clips:
        originals = [one for one in made.clips if one.clip_id < later.clip_id and expected[one.clip_id] is None]
        evidence = {
            one.clip_id: alike(made.hashes[one.clip_id], made.hashes[later.clip_id])
            for one in originals
            if one.source_id != later.source_id
        }
        matching = [(found, clip_id) for clip_id, found in evidence.items() if found]
        expected[later.clip_id] = max(matching, default=(0.0, None), key=lambda match: match[0])[1]
    rows = [row(clip_id, shot if any(hash_ is not None for hash_ in shot) else None) for clip_id, shot in made.hashes.items()]
    assert named(find(made.clips[::-1], rows)) == expected
    assert sum(value is not None for value in expected.values()) > 30


def measured(clip_id: str, plane: Luma, fps: float) -> Attribute:
    try:
        value = PerceptualHash().measure(ItemView.of_arrays(luma=plane, fps=fps))
    except NotMeasurable as error:
        return Attribute(clip_id, "perceptual_hash", None, str(error), "perceptual_hash", "1")
    return Attribute(clip_id, "perceptual_hash", value, None, "perceptual_hash", "1")


def smaller(frames: Frames, *, width: int, height: int) -> Frames:
    return np.stack([cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA) for frame in frames])


def test_a_re_encoded_trimmed_and_shrunken_pan_but_not_its_continuation(tmp_path: Path) -> None:
    pan = pan_clip("coffee", pixels_per_frame=3, frames=90, width=320, height=180)
    path = tmp_path / "copy.mp4"
    video.write_browser(path, smaller(pan[7:40], width=200, height=112), fps=30)
    planes = {"first": luma(pan[:45]), "second": luma(pan[45:]), "copy": video.read_luma(path)}
    clips = [clip(name, "~copy" if name == "copy" else name) for name in planes]
    rows = find(clips, [measured(name, plane, 30.0) for name, plane in planes.items()])
    assert named(rows) == {"first": None, "second": None, "copy": "first"}


@pytest.mark.real
def test_the_same_film_in_another_container_is_found_and_other_films_are_not(assets: Path) -> None:
    folder = assets / "videos" / "scenery"
    names = ("cc0-mdn/flower.mp4", "cc0-mdn/flower.webm", "cc0-mdn/stream-of-water.mp4", "cc0-mdn/stream-of-water.webm",
             "panda70m/LDBkx1me1Y8.60.mp4", "panda70m/UBdicUlzAng.35.mp4")  # fmt: skip
    hashes = []
    for name in names:
        decoder = video.Decoder(folder / f"scenery-{name}")
        plane = luma(np.stack([video.upright(frame) for frame in islice(decoder, 60)]))
        hashes.append(measured(name, plane, 30.0))
    found = named(find([clip(name, name) for name in names], hashes))
    assert found == dict.fromkeys(names) | {names[1]: names[0], names[3]: names[2]}
