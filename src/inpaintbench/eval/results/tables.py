"""Scores arranged for a reader: who stands where, and who may stand there at all. Numbers and their order, no markup."""

from __future__ import annotations

from collections.abc import Sequence

from inpaintbench.claims import too_few
from inpaintbench.eval.results.measured import Measured, kept
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.slices import Pair
from inpaintbench.eval.values.permutation import LEVEL, PairTest, like_best, paired, told_from
from inpaintbench.eval.values.statistics import Spread, apart, rank, relative_improvement, share_first, spread_of
from inpaintbench.types import Slice

# Why nobody has a place by a diagnostic quantity that nothing stands beside.
NO_PRIMARY = "damage can better it, and no primary quantity that damage cannot better was measured"
# Seed of the sign flips of paired tests.
SEED = 0


class Results(Measured):
    """The scores of one protocol on one dataset, with the places that methods have by them; arguments as of ``Measured``."""

    def unfit(self, one: Slice, method: str, quantity: Quantity) -> str | None:
        """Reason, one clause, why a method's number in a slice bears no comparison with the others'; None where it does.

        Gate of places, bold and filled bars on every page: all items that any contender has (see ``lacking``), of enough sources;
        and by a diagnostic quantity that the protocol's primary one does not contradict (see ``contradicted``).
        """
        thin = self._thin(one, method, quantity)
        return thin or (self.contradicted(one, method, quantity) if self.gated(quantity) else None)

    def _thin(self, one: Slice, method: str, quantity: Quantity) -> str | None:
        if count := self.lacking(one, quantity)[method]:
            return f"it lacks {count} item{'' if count == 1 else 's'} that others have"
        return too_few(self.n_sources(one, method, quantity))

    def gated(self, quantity: Quantity) -> bool:
        """Return whether a place by it needs the consent of the primary quantity: see ``Protocol.gates``."""
        return self.protocol.gates(quantity.metric)

    def barred(self, one: Slice, method: str, other: str, quantity: Quantity) -> bool:
        """Return whether a gated quantity must not put a method before another, which is better by the primary one."""
        return self.gated(quantity) and self.worse(one, method, other)

    def contradicted(self, one: Slice, method: str, quantity: Quantity) -> str | None:
        """Reason, one clause, against a place by a diagnostic quantity that a method has the values for; None where it puts the
        method before nobody who is better by the primary quantity, for other quantities, and for those ``aside``."""
        own = self.level(one, method, quantity)
        if not quantity.diagnostic or method in self.aside or own is None or self._thin(one, method, quantity):
            return None
        primary = Quantity(*self.protocol.primary)
        if primary.diagnostic or primary not in self.quantities:
            return NO_PRIMARY
        if reason := self.unfit(one, method, primary):
            return f"damage can better it, and by the primary quantity {reason}"
        sign = 1 if quantity.higher_is_better else -1
        for other in self.contenders:
            level = self.level(one, other, quantity)
            passed = level is not None and not self._thin(one, other, quantity) and sign * level < sign * own
            if passed and not self.unfit(one, other, primary) and self.worse(one, method, other):
                return f"damage can better it, and {other}, which it would pass, is better by the primary quantity"
        return None

    def worse(self, one: Slice, method: str, other: str) -> bool:
        """Return whether a method is worse than another by the primary quantity, by the paired test of the two.

        That test is not corrected for others, since what it is to prevent is a place that damage gained. Where it could never be
        small, or where numbers are of sets, the means decide.
        """
        primary = Quantity(*self.protocol.primary)
        test = next((test for test in self.pair_tests(primary, one) if {test.one, test.other} == {method, other}), None)
        if test is None or test.p is None or test.least_p >= LEVEL:
            levels = {name: self.level(one, name, primary) for name in (method, other)}
            return rank(levels, higher_is_better=primary.higher_is_better)[method] != 1
        return test.one == other and test.p < LEVEL

    def unfit_change(self, pair: Pair, method: str, quantity: Quantity) -> str | None:
        """Reason against a method's ``improvement`` beside those of others and in a finding, from either slice; None where it may
        stand there. Published protocols keep their tables, but no finding of theirs rests on what damage can better."""
        reasons = (of(one, method, quantity) for one in (pair.low, pair.high) for of in (self.unfit, self.contradicted))
        return next(filter(None, reasons), None)

    def places(self, one: Slice, quantity: Quantity, *, as_printed: bool = False) -> dict[str, int | None]:
        """Place of each method in a slice, 1 = best; None without a value, for who is ``unfit`` or ``aside``, and for metrics
        that rank nobody.

        Equal means share a place, and all that are ``best`` the first. Under a protocol that follows a publication places are by
        the means alone.

        Args:
            one: the slice.
            quantity: metric in a region.
            as_printed: in the direction that the publication ranked it, which may be the wrong one.
        """
        if not quantity.ranked:
            return dict.fromkeys(self.methods)
        upwards = quantity.higher_is_better != (as_printed and quantity.metric in self.protocol.ranked_against)
        places = rank(self.placed_levels(one, quantity), higher_is_better=upwards)
        shared = set() if self.protocol.follows else self.best(one, quantity)
        return dict.fromkeys(self.methods) | share_first(places, shared)

    @kept
    def placed_levels(self, one: Slice, quantity: Quantity) -> dict[str, float | None]:
        """What contenders are placed by in a slice; None for who is ``unfit``."""
        fit = {method: not self.unfit(one, method, quantity) for method in self.contenders}
        return {method: self.level(one, method, quantity) if fit[method] else None for method in self.contenders}

    def ranking(self, one: Slice, quantity: Quantity) -> list[tuple[str, int | None]]:
        """Contenders with their places from best to worst; those without a place by their mean, then those with values of
        fewer items than others, last those without a value."""
        places, fair = self.places(one, quantity), self.comparable(one, quantity)

        def order(method: str) -> tuple[bool, int, bool, bool, float]:
            place, level = places[method], self.level(one, method, quantity)
            worse = 0.0 if level is None else -level if quantity.higher_is_better else level
            return place is None, place or 0, level is None, not fair[method], worse if quantity.ranked else 0.0

        return [(method, places[method]) for method in sorted(self.contenders, key=order)]

    @kept
    def best(self, one: Slice, quantity: Quantity) -> set[str]:
        """Methods that stand out as the best, see ``like_best``; none where fewer than two have a place, or nobody is ranked.

        By a diagnostic quantity whoever is worse than the best of them by the primary one does not.
        """

        def told(best: str, others: Sequence[str]) -> set[str]:
            if quantity.of_sets:
                own = self.summary(one, best, quantity)
                return {other for other in others if apart(own, self.summary(one, other, quantity))}
            barred = {other for other in others if self.barred(one, other, best, quantity)}
            return barred | told_from(self.tests_of_best(one, quantity).values(), best)

        levels = self.placed_levels(one, quantity) if quantity.ranked else {}
        return like_best(levels, told, higher_is_better=quantity.higher_is_better)

    def tests_of_best(self, one: Slice, quantity: Quantity) -> dict[str, PairTest]:
        """A test of the best mean in a slice against that of each other method with a place, corrected over these; none for a
        quantity ``of_sets`` or one that ranks nobody."""
        levels = self.placed_levels(one, quantity) if quantity.ranked and not quantity.of_sets else {}
        known = {method: level for method, level in levels.items() if level is not None}
        if len(known) < 2:
            return {}
        best = (max if quantity.higher_is_better else min)(known, key=known.__getitem__)
        others = tuple(method for method in known if method != best)
        return dict(zip(others, self.pair_tests(quantity, one, tuple((best, other) for other in others)), strict=True))

    def compared(self, one: Slice, quantity: Quantity) -> list[str]:
        """Contenders whose means are of the same items: those that a mean over methods is made of."""
        return [method for method, fair in self.comparable(one, quantity).items() if fair and method in self.contenders]

    def few(self, one: Slice, quantity: Quantity) -> str | None:
        """Reason against a claim from a slice's mean over methods: the sources of what it ``compared`` are too few; or None."""
        return too_few(min((self.n_sources(one, method, quantity) for method in self.compared(one, quantity)), default=0))

    def difficulty(self, one: Slice, quantity: Quantity) -> Spread:
        """Mean and standard error over the means of the ``compared`` methods in a slice (DEVIL, CVPR 2022, Figure 4)."""
        found = spread_of([self.summary(one, method, quantity).mean for method in self.compared(one, quantity)])
        return found._replace(standard_error=None) if self.few(one, quantity) else found

    def improvement(self, pair: Pair, method: str, quantity: Quantity) -> float | None:
        """Relative improvement from low to high, as a share (DEVIL, CVPR 2022, Figures 5 to 9); None where it has none."""
        if not quantity.ranked:
            return None
        low, high = (self.level(one, method, quantity) for one in (pair.low, pair.high))
        return relative_improvement(low, high, higher_is_better=quantity.higher_is_better)

    def pair_tests(
        self, quantity: Quantity, one: Slice | None = None, pairs: tuple[tuple[str, str], ...] | None = None
    ) -> list[PairTest]:
        """Tests of pairs of methods over the items of a slice, by default of every two over all; none for a quantity ``of_sets``
        or one that ranks nobody.

        Items weigh and infinite values count as in the means, but that an infinite value that is kept leaves its item out.
        """
        return self.paired_tests(quantity, one or self.everything, pairs) if quantity.ranked and not quantity.of_sets else []

    @kept
    def paired_tests(
        self, quantity: Quantity, part: Slice, pairs: tuple[tuple[str, str], ...] | None
    ) -> list[PairTest]:  # fmt: skip
        """The same of a quantity that methods can be tested by."""
        items = self.scored_items(part)
        return paired(
            {method: [self.value(method, item_id, quantity) for item_id in items] for method in self.contenders},
            [self.sources[item_id] for item_id in items],
            higher_is_better=quantity.higher_is_better,
            seed=SEED,
            infinite=self.protocol.infinite_rule(quantity.metric),
            weights={method: [self.weight(method, item_id, quantity) for item_id in items] for method in self.contenders},
            pairs=pairs,
        )
