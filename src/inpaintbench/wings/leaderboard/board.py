"""Numbers of a leaderboard: who stands where by which metric in which slice, and which leads are more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from inpaintbench import frozen
from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.looked_at import effects_of, told_leads
from inpaintbench.eval.comparing.ranking import Column, decimal, shared, standings_of_places
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.results.measured import REFERENCE, REGION_ORDER
from inpaintbench.eval.results.quantity import Quantity, quantity_label
from inpaintbench.eval.results.slices import in_reading_order
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import DEPENDS, ON_ORDER, Effort
from inpaintbench.eval.values.permutation import PairTest
from inpaintbench.eval.values.statistics import Summary, best_of
from inpaintbench.manifest import column
from inpaintbench.types import Dataset, Slice
from inpaintbench.wings.leaderboard.checking import Submission, Verdict

# Reason why a submission holds no place.
UNMEASURED = "its pixels were not measured again here"


@dataclass(frozen=True)
class Entry:
    """A submission that stands on the leaderboard."""

    label: str
    """Unlike those of the others."""
    submission: Submission
    missing: dict[str, str]
    """Item id -> why it has no prediction."""
    verdict: Verdict | None
    """None where nobody asked for measuring again."""
    version: str = ""
    """Id of the dataset that it was scored on."""
    trusted: bool = False
    """The host gives it a place though nobody measured its pixels again."""
    exposed: bool = False
    """Inputs of the dataset show what its items hide, so that a method gains by what it saw before."""

    @property
    def aside(self) -> str | None:
        """Reason why it holds no place, in words; None for those that compete."""
        if self.submission.header.reference:
            return REFERENCE
        if self.exposed and self.effort.between_items == DEPENDS:
            return f"it {ON_ORDER}"
        measured = self.verdict is not None and self.verdict.agrees
        return None if measured or self.trusted else UNMEASURED

    @property
    def competes(self) -> bool:
        """Return whether it is ranked."""
        return self.aside is None

    @property
    def part_measured(self) -> str:
        """How many of its predictions were measured again, in words, such as ``5 of 174``; empty where all were."""
        again, of = len(self.verdict.items) if self.verdict else 0, len(self.submission.header.predictions)
        return f"{again} of {of}" if again < of else ""

    @property
    def agreement(self) -> str:
        """What measuring again found, in words; empty where nobody asked for it."""
        if self.verdict is None:
            return ""
        if self.verdict.agrees:
            return f"{self.verdict.values} numbers of {self.part_measured or len(self.verdict.items)} items agree"
        return self.verdict.reason or "nothing could be measured here"

    @property
    def effort(self) -> Effort:
        """What the method took in its submitters' run."""
        return Effort.of(self.submission.header.effort)

    @property
    def page(self) -> str:
        """Name of its page."""
        return f"{self.submission.identity[:16]}.html"


class Refused(NamedTuple):
    """A file that does not."""

    name: str
    reason: str


class Cell(NamedTuple):
    """One method by one metric in one slice."""

    summary: Summary
    place: int | None
    left_out: int
    """Items without a value that another submission has one for: with any there is no place."""
    best: bool
    """It stands out as the best, or cannot be told from it: see ``Results.best``."""
    test: PairTest | None
    """Against the best; None for the best itself and where nothing was tested."""
    least_p: float
    """The smallest corrected p that this test could have given."""
    reason: str | None
    """Reason against a place of a number that is there; None where it has one or nobody has."""


class Row(NamedTuple):
    """One method in one slice and region."""

    entry: Entry
    place: int | None
    mean: Fraction | None
    mean_text: str
    """To one decimal as the protocol says; a dash where there is none."""
    reason: str | None
    """Reason why there is no mean place."""
    cells: dict[Quantity, Cell]


class Board:
    """All accepted submissions under one protocol.

    Args:
        dataset: the manifest, or the part of it that all entries can be compared on.
        protocol: theirs.
        entries: at least one.
        refused: files that were left out.
        items: of the whole dataset; by default those of ``dataset``.
    """

    def __init__(
        self,
        dataset: Dataset,
        protocol: Protocol,
        entries: Sequence[Entry],
        refused: Sequence[Refused] = (),
        *,
        items: int | None = None,
    ) -> None:
        self.items_of_dataset = len(dataset.items) if items is None else items
        exposed = frozen.exposed((share, 1) for share in column(dataset, frozen.SHOWN)).above > 0
        entries = [replace(entry, exposed=exposed) for entry in entries]
        # Who does not compete comes last wherever submissions are listed.
        self.entries, self.refused = tuple(sorted(entries, key=lambda entry: not entry.competes)), tuple(refused)
        self.contenders = tuple(entry for entry in self.entries if entry.competes)
        scores = [replace(row, method=entry.label) for entry in entries for row in entry.submission.scores]
        sets = [replace(row, method=entry.label) for entry in entries for row in entry.submission.slice_scores]
        self.results = Results(
            dataset, scores, protocol=protocol, slice_scores=sets,
            references=[entry.label for entry in self.entries if entry.submission.header.reference],
            efforts={entry.label: entry.effort for entry in self.entries},
            aside={entry.label: entry.aside for entry in self.entries if entry.aside},
        )  # fmt: skip
        self._rows: dict[tuple[str, str], list[Row]] = {}
        # Metrics by which nobody is ranked, since for some contender its word is all there is.
        self.unchecked = {
            name for entry in self.contenders if entry.verdict and not entry.trusted for name in entry.verdict.unchecked
        }

    @property
    def versions(self) -> list[str]:
        """Ids of the datasets that its entries were scored on, in their order."""
        return list(dict.fromkeys(entry.version for entry in self.entries))

    @property
    def slices(self) -> list[Slice]:
        """All items first, then the dataset's slices in reading order."""
        return [self.results.everything, *in_reading_order(self.results.slices)]

    @property
    def regions(self) -> list[str]:
        """Regions where something was measured, that of the primary quantity first, then the hole."""
        there = {quantity.region for quantity in self.results.quantities}
        _, primary = self.results.protocol.primary
        return sorted((region for region in REGION_ORDER if region in there), key=lambda region: region != primary)

    def quantities(self, region: str) -> list[Quantity]:
        """Quantities measured in a region, in the protocol's order."""
        return [quantity for quantity in self.results.quantities if quantity.region == region]

    def counted(self, part: Slice, region: str) -> list[Quantity]:
        """The quantities that mean places are made of: those that more than half of the submissions have a number for, and none
        that damage can better or that is ``unchecked``."""
        return [
            quantity for quantity in self.quantities(region)
            if quantity.ranked and not self.results.gated(quantity) and quantity.metric not in self.unchecked
            and 2 * sum(self.results.level(part, contender.label, quantity) is not None for contender in self.contenders)
            > len(self.contenders)
        ]  # fmt: skip

    def rows(self, part: Slice, region: str) -> list[Row]:
        """The submissions from best to worst mean place, those without one last."""
        key = (part.name, region)
        if key not in self._rows:
            self._rows[key] = self._standing(part, region)
        return self._rows[key]

    def _standing(self, part: Slice, region: str) -> list[Row]:
        cells = {quantity: self._column(part, quantity) for quantity in self.quantities(region)}
        counted, against = self.counted(part, region), self.results.protocol.ranked_against
        columns = [Column(quantity_label(one), one.higher_is_better != (one.metric in against)) for one in counted]
        entries = {entry.label: entry for entry in self.entries}
        none = too_few(self.results.n_sources(part)) or ("" if columns else "no metric here ranks methods")

        def row_of(one: Entry, reason: str | None) -> Row:
            return Row(one, None, None, "–", reason, {quantity: cells[quantity][one.label] for quantity in cells})

        if none or not self.contenders:
            return [row_of(one, one.aside or none) for one in self.entries]
        places = {one.label: [cells[quantity][one.label].place for quantity in counted] for one in self.contenders}
        beside = [row_of(one, one.aside) for one in self.entries if not one.competes]
        how = self.results.protocol.mean_places
        rows = [
            Row(
                entries[place.method], place.place, place.mean, "–" if place.mean is None else decimal(place.mean, how=how),
                place.reason and place.reason.replace("no value", "no place"),
                {quantity: cells[quantity][place.method] for quantity in cells},
            )
            for place in standings_of_places(columns, places)
        ]  # fmt: skip
        if not self.results.protocol.follows:
            alike = shared({row.entry.label: row.place for row in rows}, self.results, part, counted, self._leads)
            rows = [row._replace(place=alike[row.entry.label]) for row in rows]
            rows.sort(key=lambda row: (row.place is None, row.place or 0))
        return rows + beside

    def _column(self, part: Slice, quantity: Quantity) -> dict[str, Cell]:
        results = self.results
        left_out, places = results.lacking(part, quantity), results.places(part, quantity, as_printed=True)
        # Whoever is first the wrong way round is not the best.
        best = set() if quantity.metric in results.protocol.ranked_against else results.best(part, quantity)
        if quantity.metric in self.unchecked:
            places, best = dict.fromkeys(places), set()
        tests = results.tests_of_best(part, quantity)
        tested = sum(test.p is not None for test in tests.values())
        return {
            label: Cell(
                summary=results.summary(part, label, quantity),
                place=places[label],
                left_out=left_out[label],
                best=label in best,
                test=test,
                least_p=1.0 if test is None else min(1.0, test.least_p * tested),
                reason=results.contradicted(part, label, quantity),
            )
            for label, test in ((entry.label, tests.get(entry.label)) for entry in self.entries)
        }

    def leads(self, part: Slice, region: str, first: Row, other: Row) -> list[Quantity]:
        """The counted quantities by which ``first`` is better than ``other`` by more than chance; empty where none tells."""
        return [quantity for quantity in self.counted(part, region) if self._ahead(part, quantity, first, other)]

    def _ahead(self, part: Slice, quantity: Quantity, first: Row, other: Row) -> bool:
        """Return whether a lead is told, beside all that the site compares: every pair, by every quantity, in every slice."""
        return (part.name, quantity, first.entry.label, other.entry.label) in self._leads

    @cached_property
    def _leads(self) -> set[tuple[str, Quantity, str, str]]:
        return told_leads(effects_of(self.results, within=self.slices[1:]))

    def like_first(self, part: Slice, region: str) -> list[Row]:
        """The rows behind the first, or beside it, that no counted quantity tells from the first; empty without a first."""
        placed = [row for row in self.rows(part, region) if row.place is not None]
        return [row for row in placed[1:] if not self.leads(part, region, placed[0], row)]

    def firsts(self, part: Slice, region: str) -> list[Row]:
        """The rows of the best mean place; none where fewer than two have one."""
        rows = {row.entry.label: row for row in self.rows(part, region)}
        first = best_of({label: row.place for label, row in rows.items()})
        return [row for label, row in rows.items() if label in first]

    def clear_firsts(self, part: Slice, row: Row) -> list[Quantity]:
        """The quantities of a row in which it alone is the best: every other with a place is behind by more than chance."""
        found = []
        for quantity in row.cells:
            rows = self.rows(part, quantity.region)
            others = [one for one in rows if one is not row and one.cells[quantity].place is not None]
            alone = self.results.best(part, quantity) == {row.entry.label}
            if alone and all(self._ahead(part, quantity, row, other) for other in others):
                found.append(quantity)
        return found
