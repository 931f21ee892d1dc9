"""Whether white or black is the hole in a whole folder of saved masks: nobody mixes both, and single masks may not tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError, Rejected
from inpaintbench.masks.saved_polarity import GREY_THRESHOLD, STATE_IT, Told, are_objects, outermost, told_by_shares

# Most masks of a folder that are looked at.
SAMPLE = 50
# Of the sequences that were looked at and are not of one colour; a lone one must not decide for a folder of free forms.
LEAST_SHARE = 0.5
# `int64[256]`: how many pixels have each value.
Counts = npt.NDArray[np.int64]


def folder_polarity(sequences: Mapping[str, Sequence[Path]], *, threshold: int | None = None) -> Told:
    """What the masks of a folder tell together.

    Up to 50 masks, evenly spaced in the order of ``sequences``, are looked at; the masks of a sequence count as one, and
    numbers of objects, files that cannot be read and masks of one colour do not count. At least half must tell the same.

    Args:
        sequences: as ``saved_sequences.sequence_files`` gives them.
        threshold: values above it are white; by default 127.

    Raises:
        Rejected: some masks tell the contrary of others.
    """
    told = _told_in(_looked_at(sequences), threshold)
    says = {polarity: [name for name, told_here in told if told_here == polarity] for _, polarity in told}
    white, black = says.get("white_is_hole", []), says.get("black_is_hole", [])
    if white and black:
        raise Rejected(f"masks {white[0]!r} look as if white were the hole, but {black[0]!r} as if black were: {STATE_IT}")
    if len(white or black) < LEAST_SHARE * len(told) or not told:
        return "unclear"
    return "white_is_hole" if white else "black_is_hole"


def _looked_at(sequences: Mapping[str, Sequence[Path]]) -> tuple[tuple[str, Path, int, int], ...]:
    """(sequence, file, bytes, time of change) of the sample."""
    files = [(name, path) for name, paths in sequences.items() for path in paths]
    taken = min(SAMPLE, len(files))
    chosen = [files[place * len(files) // taken] for place in range(taken)]
    return tuple((name, path, path.stat().st_size, path.stat().st_mtime_ns) for name, path in chosen)


@lru_cache(maxsize=16)
def _told_in(sample: tuple[tuple[str, Path, int, int], ...], threshold: int | None) -> tuple[tuple[str, Told], ...]:
    """What every sequence of the sample tells, less those that do not count."""
    pixels: dict[str, Counts] = {}
    borders: dict[str, Counts] = {}
    for name, path, _, _ in sample:
        try:
            image = video.read_index_image(path)
        except MediaError:  # told when it is that mask's turn
            continue
        pixels[name] = pixels.get(name, 0) + _counts(image)
        borders[name] = borders.get(name, 0) + _counts(outermost(image[None]))
    shares = {name: (_white(pixels[name], threshold), _white(borders[name], threshold)) for name in pixels}
    counting = [name for name in pixels if 0 < shares[name][0] < 1 and not _of_objects(pixels[name], threshold)]
    return tuple((name, told_by_shares(*shares[name])) for name in counting)


def _counts(values: npt.NDArray[np.uint8]) -> Counts:
    return np.bincount(values.ravel(), minlength=256)


def _white(counts: Counts, threshold: int | None) -> float:
    return float(counts[(GREY_THRESHOLD if threshold is None else threshold) + 1 :].sum() / counts.sum())


def _of_objects(counts: Counts, threshold: int | None) -> bool:
    return threshold is None and are_objects(np.flatnonzero(counts).tolist())
