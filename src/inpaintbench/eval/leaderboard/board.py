"""Numbers of a leaderboard: who stands where by which metric in which slice, and which leads are more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from inpaintbench.claims import too_few
from inpaintbench.eval.comparing.permutation import PairTest
from inpaintbench.eval.comparing.ranking import Column, decimal, standings_of_places
from inpaintbench.eval.comparing.statistics import Summary, best_of, rank
from inpaintbench.eval.leaderboard.unpack import Submission
from inpaintbench.eval.leaderboard.verify import Verdict
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.report.labels import quantity_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.tables import REGION_ORDER, Results, in_reading_order
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.types import Dataset, Slice

LEVEL = 0.05


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

    @property
    def competes(self) -> bool:
        """Return whether it is ranked; a reference is not."""
        return not self.submission.header.reference

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
    test: PairTest | None
    """Against the best; None for the best itself and where nothing was tested."""
    least_p: float
    """The smallest corrected p that this test could have given."""

    @property
    def like_best(self) -> bool:
        """Return whether a test could have told it from the best and did not."""
        return self.test is not None and self.test.p_holm is not None and self.test.p_holm >= LEVEL >= self.least_p


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
        # References come last wherever submissions are listed.
        self.entries, self.refused = tuple(sorted(entries, key=lambda entry: not entry.competes)), tuple(refused)
        self.contenders = tuple(entry for entry in self.entries if entry.competes)
        scores = [replace(row, method=entry.label) for entry in entries for row in entry.submission.scores]
        sets = [replace(row, method=entry.label) for entry in entries for row in entry.submission.slice_scores]
        references = [entry.label for entry in self.entries if not entry.competes]
        self.results = Results(dataset, scores, protocol=protocol, slice_scores=sets, references=references)
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._within: dict[str, Results] = {}

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
        """Regions where something was measured, the hole first."""
        there = {quantity.region for quantity in self.results.quantities}
        return [region for region in REGION_ORDER if region in there]

    def quantities(self, region: str) -> list[Quantity]:
        """Quantities measured in a region, in the protocol's order."""
        return [quantity for quantity in self.results.quantities if quantity.region == region]

    def counted(self, part: Slice, region: str) -> list[Quantity]:
        """The quantities that mean places are made of: those that more than half of the submissions have a number for."""
        return [
            quantity for quantity in self.quantities(region)
            if quantity.ranked
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
        if none:
            return [Row(one, None, None, "–", none, {q: cells[q][label] for q in cells}) for label, one in entries.items()]
        places = {
            contender.label: [cells[quantity][contender.label].place for quantity in counted] for contender in self.contenders
        }
        beside = [
            Row(one, None, None, "–", "a reference, which does not compete", {q: cells[q][one.label] for q in cells})
            for one in self.entries if not one.competes
        ]  # fmt: skip
        how = self.results.protocol.mean_places
        return [
            Row(
                entries[place.method], place.place, place.mean, "–" if place.mean is None else decimal(place.mean, how=how),
                place.reason and place.reason.replace("no value", "no place"),
                {quantity: cells[quantity][place.method] for quantity in cells},
            )
            for place in standings_of_places(columns, places)
        ] + beside  # fmt: skip

    def _column(self, part: Slice, quantity: Quantity) -> dict[str, Cell]:
        labels = [entry.label for entry in self.entries]
        left_out = self.results.lacking(part, quantity)
        levels = {
            label: None if self.results.unfit(part, label, quantity) else self.results.level(part, label, quantity)
            for label in labels
        }
        upwards = quantity.higher_is_better != (quantity.metric in self.results.protocol.ranked_against)
        competing = {entry.label: levels[entry.label] for entry in self.contenders}
        places = dict.fromkeys(labels) | (rank(competing, higher_is_better=upwards) if quantity.ranked else {})
        firsts, best = best_of(places), next((label for label in labels if places[label] == 1), None)
        tests = {frozenset((test.one, test.other)): test for test in self._tests(part, quantity)}
        against = {
            label: None if best is None or places[label] in (None, 1) else tests.get(frozenset((label, best))) for label in labels
        }
        tested = sum(test.p is not None for test in tests.values())
        return {
            label: Cell(
                summary=self.results.summary(part, label, quantity),
                place=places[label],
                left_out=left_out[label],
                best=label in firsts,
                test=test,
                least_p=1.0 if test is None else min(1.0, test.least_p * tested),
            )
            for label, test in against.items()
        }

    def leads(self, part: Slice, region: str, first: Row, other: Row) -> list[Quantity]:
        """The counted quantities by which a test tells that ``first`` is better than ``other``; empty where none can."""
        pair = {first.entry.label, other.entry.label}
        return [
            quantity for quantity in self.counted(part, region)
            for test in self._tests(part, quantity)
            if {test.one, test.other} == pair and test.one == first.entry.label
            and test.p_holm is not None and test.p_holm < LEVEL
        ]  # fmt: skip

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
        """The quantities of a row in which it is first and every other with a place is behind by more than chance."""
        found = []
        for quantity, cell in row.cells.items():
            others = [one for one in self.rows(part, quantity.region) if one is not row and one.cells[quantity].place is not None]
            tests = [other.cells[quantity].test for other in others]
            told = [test is not None and test.p_holm is not None and test.p_holm < LEVEL for test in tests]
            if cell.place == 1 and others and all(told):
                found.append(quantity)
        return found

    def _tests(self, part: Slice, quantity: Quantity) -> list[PairTest]:
        """All pairs of submissions over the items of a slice, corrected together."""
        if part.name not in self._within:
            inside, dataset = set(part.item_ids), self.results.dataset
            self._within[part.name] = Results(
                replace(dataset, items=tuple(row for row in dataset.items if row["item_id"] in inside), slices=()),
                [row for row in self.results.scores if row.item_id in inside],
                protocol=self.results.protocol,
                references=self.results.references,
            )
        return self._within[part.name].pair_tests(quantity)
