"""Methods ranked by several metrics at once: the mean of their places (ChaLearn LAP 2018, all three tracks)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from inpaintbench.catalogue import unknown_name
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.comparing.looked_at import effects_of, looked_at, told_leads
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.results.cautions import exposure_sentences, size_words
from inpaintbench.eval.results.quantity import Quantity, exploratory, place_label, usual_quantities
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.eval.values.statistics import rank, share_first
from inpaintbench.regions import ALL_REGIONS
from inpaintbench.types import Slice

# How a mean place is brought to one decimal; halves are rounded up.
MeanPlaces = Literal["rounded", "truncated"]


class Column(NamedTuple):
    """One metric that methods are ranked by."""

    name: str
    """Unlike those of the other columns."""
    higher_is_better: bool


class Standing(NamedTuple):
    """Standing of one method."""

    method: str
    places: tuple[int | None, ...]
    """In each column, 1 = best; equal values share the better place and the next one is skipped."""
    mean: Fraction | None
    """Mean of the places; None where a column has none."""
    place: int | None
    """By the mean, ties shared."""
    reason: str | None
    """Reason why there is no mean; None when there is one."""

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
    found = []
    for method, row in places.items():
        known = [place for place in row if place is not None]
        missing = [column.name for column, place in zip(columns, row, strict=True) if place is None]
        mean = None if missing else Fraction(sum(known), len(known))
        found.append(Standing(method, tuple(row), mean, None, f"no place by {', '.join(missing)}" if missing else None))
    means = {one.method: None if one.mean is None else float(one.mean) for one in found}
    final = rank(means, higher_is_better=False)
    return sorted((one._replace(place=final[one.method]) for one in found), key=_by_place)


def _by_place(standing: Standing) -> tuple[bool, int]:
    return standing.place is None, standing.place or 0


def shared(
    places: Mapping[str, int | None], results: Results, part: Slice, quantities: Sequence[Quantity],
    leads: Collection[tuple[str, Quantity, str, str]],
) -> dict[str, int | None]:  # fmt: skip
    """Places by mean place, of which all share the first that its method is not surely ahead of by one of the quantities.

    Args:
        places: of contenders.
        results: what they come from.
        part: over its items.
        quantities: those that mean places are made of.
        leads: ``looked_at.told_leads``. Who shares the best place of a column is not behind by it.
    """
    ranked = [name for name, place in places.items() if place is not None]
    first = min(ranked, key=lambda name: places[name] or 0, default="")
    behind = {
        name for name in ranked for one in quantities
        if (part.name, one, first, name) in leads and name not in results.best(part, one)
    }  # fmt: skip
    return share_first(places, [name for name in ranked if name not in behind])


def decimal(mean: Fraction, *, how: MeanPlaces) -> str:
    """A mean place with one decimal, cut off or rounded: 8/3 is ``2.6`` truncated and ``2.7`` rounded."""
    tenths = int(mean * 10) if how == "truncated" else int(mean * 10 + Fraction(1, 2))
    return f"{tenths // 10}.{tenths % 10}"


# Methods of a run

SHARED = f"place 1 is shared: {BOLD.removeprefix('Bold: ')[:-1]}"
ABSENT = "–"


def ranked_quantities(results: Results, metrics: Sequence[str] | None, region: str | None) -> list[Quantity]:
    """Quantities that methods are ranked by: each metric in its usual region, or in one; all metrics that rank, or some.

    Raises:
        UnknownNameError: no such region, or a metric without values there. InputError: nothing that ranks was measured.
    """
    if region and region not in ALL_REGIONS:
        raise UnknownNameError(unknown_name("region", region, list(ALL_REGIONS)))
    where = f" in the region {region!r}" if region else ""
    ranked = [
        quantity for quantity in results.quantities
        if quantity.ranked and region in (None, quantity.region)
        and (not results.gated(quantity) or quantity.metric in (metrics or ()))
    ]  # fmt: skip
    there = ranked if region else usual_quantities(ranked, results.protocol)
    if not there:
        raise InputError(f"nothing that ranks methods was measured{where}; choose another {'--region' if region else 'protocol'}")
    named = {quantity.metric: quantity for quantity in there}
    reasons = {quantity.metric: reason for quantity, reason in results.unmeasured.items()}
    for name in metrics or ():
        if name not in named and name in METRICS and not region:
            why = f" ({reasons[name]})" if name in reasons else ""
            known = ", ".join(sorted(named))
            raise UnknownNameError(f"{name} was not measured under {results.protocol.name!r} in this run{why}, only {known} were")
        if name not in named:
            raise UnknownNameError(unknown_name(f"metric with values{where}:", name, named))
    return [named[name] for name in dict.fromkeys(metrics)] if metrics else there


class RunStandings:
    """The methods of a run over the items of one slice.

    ``columns`` are the metrics with their directions, ``values`` those of every method in them, and ``standings`` the methods
    by what is fair to compare, references and others without a place behind them.
    """

    def __init__(self, results: Results, part: Slice, quantities: Sequence[Quantity]) -> None:
        self.results, self.part, self.quantities = results, part, quantities
        against = results.protocol.ranked_against
        self.columns = [
            Column(quantity.metric, quantity.higher_is_better != (quantity.metric in against)) for quantity in quantities
        ]
        self.values = {method: [results.level(part, method, quantity) for quantity in quantities] for method in results.methods}
        by_column = [results.places(part, one, as_printed=True) for one in quantities]
        self.few = too_few(results.n_sources(part))
        placed = standings_of_places(
            self.columns, {method: tuple(places[method] for places in by_column) for method in results.contenders}
        )
        if not self.few and not results.protocol.follows:
            leads = told_leads(looked_at(results) if part == results.everything else effects_of(results, within=[part]))
            places = shared({one.method: one.place for one in placed}, results, part, quantities, leads)
            placed = sorted((one._replace(place=places[one.method]) for one in placed), key=_by_place)
        beside = [Standing(method, (None,) * len(self.columns), None, None, why) for method, why in results.aside.items()]
        self.standings = [*([one._replace(reason=self.few) for one in placed] if self.few else placed), *beside]

    @property
    def named_columns(self) -> list[Column]:
        """The columns, whose names say the regions."""
        pairs = zip(self.columns, self.quantities, strict=True)
        protocol = self.results.protocol
        return [
            column._replace(name=f"{column.name} {place_label(of.region)}{exploratory(of, protocol)}") for column, of in pairs
        ]

    @property
    def texts(self) -> dict[str, list[str]]:
        """Method -> its values; the number of items stands behind where it is not all, and what the protocol leaves out."""
        texts: dict[str, list[str]] = {}
        for method, row in self.values.items():
            texts[method] = []
            for value, quantity in zip(row, self.quantities, strict=True):
                summary = self.results.summary(self.part, method, quantity)
                counts = [] if quantity.of_sets or summary.n == len(self.part.item_ids) else [f"n {summary.n}"]
                counts += [f"{summary.n_infinite} infinite"] if summary.n_infinite else []
                behind = f" [{', '.join(counts)}]" if counts else ""
                texts[method].append(ABSENT if value is None else f"{value:.4f}{behind}")
        return texts

    def remarks(self) -> Iterator[str]:
        """Sentences on places that are missing, directions that were printed wrong, and the sizes of sets."""
        if self.few:
            yield f"means without ranks: the items come from {self.few}"
        for standing in self.standings:
            if standing.reason and (not self.few or standing.method in self.results.aside):
                yield f"{standing.method} has no mean place: {standing.reason}"
        if not self.few and not self.results.protocol.follows:
            firsts = [one.method for one in self.standings if one.place == 1]
            if len(firsts) > 1:
                yield f"place 1 by mean place is shared by {', '.join(firsts)}: by no metric is its first surely ahead of them"
            if any(column.count(1) > 1 for column in zip(*(one.places for one in self.standings), strict=True)):
                yield SHARED
        for name in (one.metric for one in self.quantities if one.metric in self.results.protocol.ranked_against):
            yield f"{name} is ranked the wrong way round, as this protocol's tables were printed"
        for quantity in self.quantities:
            # Who leaves out the hard items would gain.
            fair = self.results.comparable(self.part, quantity)
            unfair = [method for method in self.results.contenders if not fair[method]]
            sizes = {method: len(self.results.measured(self.part, method, quantity)) for method in unfair}
            if fewer := [f"{method} ({size})" for method, size in sizes.items() if size]:
                yield f"no place by {quantity.metric}, with values of fewer items than others: {', '.join(fewer)}"
        yield from (words for quantity in self.quantities if not self.few for words in self._of_few_sources(quantity))
        yield from (self._of_sets(quantity) for quantity in self.quantities if quantity.of_sets)
        yield from (sentence.removesuffix(".") for sentence in exposure_sentences(self.results))
        for quantity in self.quantities:
            over = {method: self.results.over_unexposed(self.part, method, quantity) for method in self.results.methods}
            told = [f"{method} {one.mean:.4f} (n {one.n})" for method, one in over.items() if one and one.mean is not None]
            if told:
                yield f"{quantity.metric} over the items not shown by others: {', '.join(told)}"

    def _of_few_sources(self, quantity: Quantity) -> Iterator[str]:
        """Return who has the items of the others and no place: the values in its mean are of too few sources, or the primary
        quantity contradicts a diagnostic one."""
        for method in self.results.compared(self.part, quantity):
            against = self.results.contradicted(self.part, method, quantity)
            few = self.results.unfit(self.part, method, quantity)
            if few and self.results.level(self.part, method, quantity) is not None:
                yield f"no place for {method} by {quantity.metric}{f': {against}' if against else f', whose mean rests on {few}'}"

    def _of_sets(self, quantity: Quantity) -> str:
        """Return how large the sets are that a number comes from, and what that means."""
        scores = [self.results.slice_score(self.part, method, quantity) for method in self.results.methods]
        there = [score for score in scores if score is not None]
        sizes = dict.fromkeys(filter(None, map(size_words, there)))
        warnings = dict.fromkeys(str(score.details["warning"]) for score in there if score.details.get("warning"))
        return "; ".join([f"{quantity.metric}: {' and '.join(sizes) or 'not compared'}", *warnings])

    def unmeasured(self, region: str | None) -> Iterator[tuple[str, str]]:
        """Metrics without a number where it was asked for, each once with its reason."""
        ranked = {quantity.metric for quantity in self.quantities}
        reasons = {one.metric: reason for one, reason in self.results.unmeasured.items() if region in (None, one.region)}
        yield from ((name, reason) for name, reason in reasons.items() if name not in ranked)

    def plain(self) -> dict[str, Any]:
        """Everything in full numbers, for scripts."""
        results, part = self.results, self.part
        of_items = [quantity for quantity in self.quantities if not quantity.of_sets]
        methods = []
        for one in self.standings:
            known = {of.metric: len(results.measured(part, one.method, of)) for of in of_items}
            infinite = {of.metric: results.summary(part, one.method, of).n_infinite for of in of_items}
            items = {"items_with_values": known, "items_infinite": infinite}
            methods.append(one.plain(self.columns, self.values[one.method]) | items)
        return {
            "protocol": results.protocol.name,
            "fingerprint": results.fingerprint,
            "slice": part.name,
            "regions": {one.metric: one.region for one in self.quantities},
            "items": len(part.item_ids),
            "shown_by_other_inputs": results.exposed._asdict(),
            "between_items": {method: effort.between_items for method, effort in results.efforts.items()},
            "metrics": [column._asdict() for column in self.columns],
            "methods": methods,
        }
