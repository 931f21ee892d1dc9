"""The dataset card: README.md, written from the manifest alone, and the pictures that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.export.card import evidence, limits, loading, making, overview, rights, scoring, statistics
from inpaintbench.export.card.header import card_text
from inpaintbench.export.card.plots import Plot, plots
from inpaintbench.types import Dataset

__all__ = ["Plot", "card", "plots"]


def card(dataset: Dataset, *, pictures: Sequence[Plot], sizes: Mapping[str, int]) -> str:
    """The text of README.md: what a reader needs first comes first.

    Args:
        dataset: with the hashes of its data; its own documents may be missing there.
        pictures: of ``plots``.
        sizes: of the data files, in bytes.
    """
    sections = [
        overview.top(dataset, sizes),
        loading.how_to_load(dataset),
        scoring.scoring(dataset),
        overview.slices(dataset),
        limits.limits(dataset),
        statistics.statistics(dataset, pictures),
        evidence.evidence(dataset),
        loading.columns(dataset),
        rights.licences(dataset),
        rights.removed(dataset),
        making.citation(dataset),
        making.how_it_was_made(dataset),
    ]
    return card_text(dataset, "\n".join(line for section in sections for line in section))
