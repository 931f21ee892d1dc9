"""Polarity (white or black is the hole) of a folder of saved masks: folders have one, though single masks may be unclear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError, Rejected
from inpaintbench.masks.saved_polarity import GREY_THRESHOLD, STATE_IT, Vote, are_objects, outermost, vote_by_shares

# Largest number of masks of a folder that are read.
SAMPLE = 50
# Of the sampled sequences that are not of one colour; a single clear one must not decide for a folder of free-form masks.
LEAST_SHARE = 0.5
# Histogram of pixel values, `int64[256]`.
Counts = npt.NDArray[np.int64]


def folder_polarity(sequences: Mapping[str, Sequence[Path]], *, threshold: int | None = None) -> Vote:
    """Polarity of a folder by a vote of its masks.

    Up to 50 masks, evenly spaced in the order of ``sequences``, are read; the masks of a sequence have one vote, and object
    numbers, files that cannot be read and masks of one colour have none. At least half of the votes must agree.

    Args:
        sequences: result of ``saved_sequences.sequence_files``.
        threshold: values above it are white; by default 127.

    Raises:
        Rejected: some masks contradict others.
    """
    votes = _votes(_sampled(sequences), threshold)
    voters = {polarity: [name for name, vote in votes if vote == polarity] for _, polarity in votes}
    white, black = voters.get("white_is_hole", []), voters.get("black_is_hole", [])
    if white and black:
        raise Rejected(f"masks {white[0]!r} look as if white were the hole, but {black[0]!r} as if black were: {STATE_IT}")
    if len(white or black) < LEAST_SHARE * len(votes) or not votes:
        return "unclear"
    return "white_is_hole" if white else "black_is_hole"


def _sampled(sequences: Mapping[str, Sequence[Path]]) -> tuple[tuple[str, Path, int, int], ...]:
    """Sampled files as (sequence, file, size in bytes, modification time); the last two make the cache notice changes."""
    files = [(name, path) for name, paths in sequences.items() for path in paths]
    count = min(SAMPLE, len(files))
    sample = [files[place * len(files) // count] for place in range(count)]
    return tuple((name, path, path.stat().st_size, path.stat().st_mtime_ns) for name, path in sample)


@lru_cache(maxsize=16)
def _votes(sample: tuple[tuple[str, Path, int, int], ...], threshold: int | None) -> tuple[tuple[str, Vote], ...]:
    """Vote of every sequence of the sample that has one."""
    pixels: dict[str, Counts] = {}
    borders: dict[str, Counts] = {}
    for name, path, _, _ in sample:
        try:
            image = video.read_index_image(path)
        except MediaError:  # reported when that mask itself is rendered
            continue
        pixels[name] = pixels.get(name, 0) + _counts(image)
        borders[name] = borders.get(name, 0) + _counts(outermost(image[None]))
    shares = {name: (_white(pixels[name], threshold), _white(borders[name], threshold)) for name in pixels}
    voting = [name for name in pixels if 0 < shares[name][0] < 1 and not _has_objects(pixels[name], threshold)]
    return tuple((name, vote_by_shares(*shares[name])) for name in voting)


def _counts(values: npt.NDArray[np.uint8]) -> Counts:
    return np.bincount(values.ravel(), minlength=256)


def _white(counts: Counts, threshold: int | None) -> float:
    return float(counts[(GREY_THRESHOLD if threshold is None else threshold) + 1 :].sum() / counts.sum())


def _has_objects(counts: Counts, threshold: int | None) -> bool:
    return threshold is None and are_objects(np.flatnonzero(counts).tolist())
