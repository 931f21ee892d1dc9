"""Answers of one dimension as arrays: one line an answer, one task for each item and pair of methods."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from inpaintbench.wings.align.bootstrap import Floats, Places
from inpaintbench.wings.align.reading import TIE, Ballot

# What an answer says of the pair of a task, whatever side a method stood on.
FIRST, SECOND, TIED = 0, 1, 2


@dataclass(frozen=True)
class Pair:
    """Item and methods of a comparison; the methods in the order of their names."""

    item: str
    first: str
    second: str


@dataclass(frozen=True)
class Votes:
    """All comparisons of pairs under one dimension; arrays have one entry an answer unless they say otherwise."""

    dimension: str
    pairs: tuple[Pair, ...]
    source_of_pair: Places
    """``int64[pairs]``, places in ``sources``."""
    sources: tuple[str, ...]
    pair: Places
    """``int64[n]``, places in ``pairs``."""
    choice: Places
    """``int64[n]``, ``FIRST``, ``SECOND`` or ``TIED``."""
    count: Floats
    """``float64[n]``, answers that the line stands for."""
    rater: Places | None
    """``int64[n]``; None where raters are unknown."""

    @property
    def answers(self) -> int:
        """Number of answers."""
        return round(float(self.count.sum()))

    @property
    def source(self) -> Places:
        """``int64[n]``, the source of each answer's item."""
        return self.source_of_pair[self.pair]

    def tally(self) -> Floats:
        """``float64[pairs, 3]``, answers for the first, for the second, and ties."""
        flat = np.bincount(self.pair * 3 + self.choice, weights=self.count, minlength=3 * len(self.pairs))
        return np.asarray(flat, np.float64).reshape(-1, 3)

    def among(self, items: Collection[str]) -> Votes:
        """Votes about some items; the pairs and sources keep their places."""
        wanted = np.array([pair.item in items for pair in self.pairs], np.bool_)[self.pair]
        rater = None if self.rater is None else self.rater[wanted]
        return Votes(
            self.dimension, self.pairs, self.source_of_pair, self.sources,
            self.pair[wanted], self.choice[wanted], self.count[wanted], rater,
        )  # fmt: skip


def votes_of(dimension: str, ballots: Sequence[Ballot]) -> Votes:
    """The comparisons of pairs of one dimension, the same for any order of ballots and either side of a method."""
    own = sorted(
        (ballot for ballot in ballots if ballot.dimension == dimension and len(ballot.candidates) == 2),
        key=lambda one: (one.item, sorted(one.candidates), one.rater or "", one.choice),
    )
    source_of = {one.item: one.source for one in own}
    sources = tuple(sorted(set(source_of.values())))
    pairs = tuple(dict.fromkeys(_pair(one) for one in own))
    place = {pair: index for index, pair in enumerate(pairs)}
    source_place = {name: index for index, name in enumerate(sources)}
    raters = {name: index for index, name in enumerate(sorted({one.rater or "" for one in own}))}
    known = all(one.rater is not None for one in own)
    return Votes(
        dimension=dimension,
        pairs=pairs,
        source_of_pair=np.array([source_place[source_of[pair.item]] for pair in pairs], np.int64),
        sources=sources,
        pair=np.array([place[_pair(one)] for one in own], np.int64),
        choice=np.array([_said(one) for one in own], np.int64),
        count=np.array([one.count for one in own], np.float64),
        rater=np.array([raters[one.rater or ""] for one in own], np.int64) if known else None,
    )


def _pair(one: Ballot) -> Pair:
    return Pair(one.item, *sorted(one.candidates))


def _said(one: Ballot) -> int:
    return TIED if one.choice == TIE else sorted(one.candidates).index(one.choice)
