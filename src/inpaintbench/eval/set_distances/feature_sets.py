"""Sets of vectors that come item by item: checked, cut into blocks of bounded size, resampled by source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import numpy as np
import numpy.typing as npt

from inpaintbench.claims import jackknife_error, students_t, too_few
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.values.measurement import Comparison, Features
from inpaintbench.types import Plain

P = ParamSpec("P")
Matrix = npt.NDArray[np.float64]
Vectors = npt.NDArray[Any]

# Vectors that are read at once: 16 MiB of 2048 numbers in float64.
BLOCK_ROWS = 1024
# Below this many vectors a dimension a Frechet distance still moves by percents of the variance with their number.
_FEW = 5


class Extent(NamedTuple):
    """Numbers of vectors of two sets, and their length."""

    n: int
    """Vectors of the predictions."""
    n_truth: int
    d: int

    @property
    def details(self) -> Plain:
        """``n``, ``d``, that the sets are paired, and ``n_truth`` where it is another number."""
        other = {} if self.n == self.n_truth else {"n_truth": self.n_truth}
        return {"n": self.n, "d": self.d, "paired": True, **other}


class Spread(NamedTuple):
    """Standard error and 95 % interval of a number about sets; None where there are too few sources."""

    standard_error: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None


def or_reason(compare: Callable[P, Comparison]) -> Callable[P, Comparison]:
    """``compare``, which gives no value and the reason where it raises ``NotMeasurable``."""

    @wraps(compare)
    def compared(*given: P.args, **named: P.kwargs) -> Comparison:
        try:
            return compare(*given, **named)
        except NotMeasurable as error:
            return Comparison(None, str(error))

    return compared


def extent(sets: Sequence[Features], clusters: Sequence[str], *, fewest: int = 2) -> Extent:
    """The size of two sets, after a look at every value.

    Args:
        sets: the vectors of each item, ``float[n, d]`` each.
        clusters: the source of each item, to name the one with a fault.
        fewest: vectors that each set needs.

    Raises:
        NotMeasurable: features that are no table of finite numbers, of several lengths, or too few.
    """
    counts, lengths = [0, 0], set()
    for one, source in zip(sets, clusters, strict=True):
        for index, (features, whose) in enumerate(zip(one, ("prediction", "truth"), strict=True)):
            check(features, whose=f"the {whose} of an item of source {source!r}")
            counts[index] += len(features)
            lengths.add(features.shape[1])
    if len(lengths) > 1:
        raise NotMeasurable(f"features have several lengths: {', '.join(map(str, sorted(lengths)))}")
    if min(counts) < fewest:
        raise NotMeasurable(f"needs at least {fewest} vectors in each set, and there are {min(counts)}")
    return Extent(counts[0], counts[1], lengths.pop())


def check(features: Vectors, *, whose: str = "an item") -> None:
    """Raise ``NotMeasurable`` unless ``features`` is a table ``float[n, d]`` of finite numbers."""
    if features.ndim != 2 or not features.shape[1]:
        raise NotMeasurable(f"the features of {whose} have the shape {features.shape}, not (vectors, dimensions)")
    if not np.isfinite(features).all():
        raise NotMeasurable(f"the features of {whose} hold NaN or infinite values")


def blocks(arrays: Sequence[Vectors], *, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, Matrix]]:
    """All rows in order as ``float64[rows, d]`` (the last may be shorter), each with the place of its first row.

    Where a block ends does not depend on where an item does.
    """
    begin, held, parts = 0, 0, []
    for array in arrays:
        at = 0
        while at < len(array):
            parts.append(np.asarray(array[at : at + rows - held], np.float64))
            at, held = at + len(parts[-1]), held + len(parts[-1])
            if held == rows:
                yield begin, np.concatenate(parts)
                begin, held, parts = begin + rows, 0, []
    if parts:
        yield begin, np.concatenate(parts)


def groups(clusters: Sequence[str], *, most: int) -> tuple[list[int], int]:
    """A number for each item, the same for items of one source, and how many numbers there are, at most ``most``.

    Where there are more sources several share a number, so that leaving one out is a jackknife over groups of sources.
    """
    names = sorted(set(clusters))
    number = {name: index % most for index, name in enumerate(names)}
    return [number[name] for name in clusters], min(len(names), most)


def row_labels(arrays: Sequence[Vectors], labels: Sequence[int]) -> npt.NDArray[np.intp]:
    """The label of its item for each row."""
    return np.repeat(np.asarray(labels, np.intp), [len(array) for array in arrays])


def jackknife(value: float, without_each: Sequence[float]) -> Spread:
    """Standard error and 95 % interval from the values without one source each; nothing where these are ``too_few``.

    The interval is ``value +- t se`` with one degree of freedom less than there are sources.
    """
    if too_few(len(without_each)):
        return Spread()
    error = jackknife_error(without_each)
    reach = students_t(0.95, len(without_each) - 1) * error
    return Spread(error, value - reach, value + reach)


def frechet_warning(size: Extent) -> Plain:
    """``{"warning": text}`` where so few vectors make a Frechet distance larger than that of whole populations, else nothing."""
    n, d = min(size.n, size.n_truth), size.d
    if n < d:
        text = f"N = {n} < d = {d}: the value is dominated by how few vectors there are; never compare it with one of another N"
    elif n < _FEW * d:
        text = (
            f"N = {n} is less than {_FEW} times d = {d}: the value is raised by how few vectors there are; compare it at equal N"
        )
    else:
        return {}
    return {"warning": text}
