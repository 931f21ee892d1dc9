"""Methods ranked by several metrics at once: the mean of their places (ChaLearn LAP 2018, all three tracks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from inpaintbench.errors import InputError
from inpaintbench.eval.statistics import rank

# How a mean place is brought to one decimal; halves are rounded up.
MeanPlaces = Literal["rounded", "truncated"]


class Column(NamedTuple):
    """One metric that methods are ranked by."""

    name: str
    """Unlike those of the other columns."""
    higher_is_better: bool


class Standing(NamedTuple):
    """Where one method stands."""

    method: str
    places: tuple[int | None, ...]
    """In each column, 1 = best; equal values share the better place and the next one is skipped."""
    mean: Fraction | None
    """Of the places; None where a column has none."""
    place: int | None
    """By the mean, ties shared."""
    reason: str | None
    """Why there is no mean; None when there is one."""

    def plain(self, columns: Sequence[Column], values: Sequence[object]) -> dict[str, object]:
        """For scripts: places and values by the names of the columns."""
        names = [column.name for column in columns]
        return {
            "method": self.method, "place": self.place, "mean_place": None if self.mean is None else float(self.mean),
            "places": dict(zip(names, self.places, strict=True)), "values": dict(zip(names, values, strict=True)),
            "reason": self.reason,
        }  # fmt: skip


def standings(columns: Sequence[Column], values: Mapping[str, Sequence[float | None]]) -> list[Standing]:
    """Methods from best to worst mean place; those without one last, equals in the order given.

    Args:
        columns: the metrics, with their directions.
        values: method -> its value in each column, None where it has none.

    Raises:
        InputError: no column, or a method with another number of values.
        ValueError: a value is NaN.
    """
    for method, row in values.items():
        if len(row) != len(columns):
            raise InputError(
                f"{method!r} has {len(row)} values for {len(columns)} metrics; give one for each, None where missing"
            )
    by_column = [
        rank({method: row[index] for method, row in values.items()}, higher_is_better=column.higher_is_better)
        for index, column in enumerate(columns)
    ]
    return standings_of_places(columns, {method: tuple(places[method] for places in by_column) for method in values})


def standings_of_places(columns: Sequence[Column], places: Mapping[str, Sequence[int | None]]) -> list[Standing]:
    """``standings`` where the place of each method in each column is known already."""
    if not columns:
        raise InputError("there is no metric to rank by; name at least one")
    means = {method: _mean(row) for method, row in places.items()}
    final = rank({method: None if mean is None else float(mean) for method, mean in means.items()}, higher_is_better=False)
    found = [Standing(method, tuple(row), means[method], final[method], _reason(columns, row)) for method, row in places.items()]
    return sorted(found, key=lambda one: (one.place is None, one.place or 0))


def _mean(places: Sequence[int | None]) -> Fraction | None:
    known = [place for place in places if place is not None]
    return Fraction(sum(known), len(known)) if len(known) == len(places) else None


def _reason(columns: Sequence[Column], places: Sequence[int | None]) -> str | None:
    missing = [column.name for column, place in zip(columns, places, strict=True) if place is None]
    return f"no place by {', '.join(missing)}" if missing else None


def decimal(mean: Fraction, *, how: MeanPlaces) -> str:
    """A mean place with one decimal, cut off or rounded: 8/3 is ``2.6`` truncated and ``2.7`` rounded."""
    tenths = int(mean * 10) if how == "truncated" else int(mean * 10 + Fraction(1, 2))
    return f"{tenths // 10}.{tenths % 10}"
