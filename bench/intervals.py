"""How often the 95 % interval of a mean over items holds the truth, by number of sources.

Values of items are a source's effect plus what is the item's own, of which sources have no share, half or nine tenths of the
variance. Effects are normal, or log-normal with a deviation of the logarithm of 0.5 (skewness 1.8) or 1 (skewness 6.2).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.eval.comparing.statistics import summarise

SOURCES = (6, 10, 20, 50)
ITEMS = {"4 each": (4,), "1 to 8": (1, 2, 3, 4, 6, 8), "one in six has half": (1, 1, 2, 3, 5, 12)}
"""Items a source, repeated for as many sources as there are."""
SHAPES = {"normal": 0.0, "log-normal, 0.5": 0.5, "log-normal, 1": 1.0}
SHARES = (0.0, 0.5, 0.9)
STUDIES = 2000
REPLICATES = 1000
"""Of the percentile bootstrap that stands beside."""
Numbers = npt.NDArray[np.float64]


class Coverage(NamedTuple):
    """Shares of studies, in per cent."""

    interval: float
    percentiles: float
    """Of a bootstrap over sources, which is what reports showed before."""
    by_items: float
    """Mean +- 1.96 standard errors of items taken for independent."""
    width: float
    """Median width of the interval over that of the interval that holds the truth in 95 % of such studies."""


def effects(rng: np.random.Generator, shape: float, size: int) -> Numbers:
    """``float64[size]`` with mean 0 and variance 1."""
    drawn = rng.standard_normal(size)
    if not shape:
        return drawn
    square = shape * shape
    return np.asarray((np.exp(shape * drawn) - np.exp(square / 2)) / np.sqrt((np.exp(square) - 1) * np.exp(square)))


def coverage(
    rng: np.random.Generator, sources: int, sizes: tuple[int, ...], shape: float, share: float, studies: int
) -> Coverage:
    """Of ``studies`` studies whose true mean is 0."""
    counts = np.resize(sizes, sources)
    places = np.repeat(np.arange(sources), counts)
    clusters = [f"{place:03}" for place in places]
    drawn = rng.multinomial(sources, np.full(sources, 1 / sources), size=REPLICATES)
    held, means, widths = np.zeros(3), [], []
    for _ in range(studies):
        values = np.sqrt(share) * effects(rng, shape, sources)[places] + np.sqrt(1 - share) * effects(rng, shape, len(places))
        found = summarise(values.tolist(), clusters=clusters)
        if found.mean is None or found.interval_low is None or found.interval_high is None:
            raise SystemExit(f"no interval of {sources} sources: {found.reason}")
        low, high = np.quantile(drawn @ np.bincount(places, values) / (drawn @ counts), [0.025, 0.975])
        error = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
        held += (found.interval_low <= 0 <= found.interval_high, low <= 0 <= high, abs(found.mean) <= error)
        means.append(found.mean)
        widths.append(found.interval_high - found.mean)
    ideal = float(np.quantile(np.abs(means), 0.95))
    return Coverage(*(100 * held / studies).tolist(), float(np.median(widths)) / ideal)


def lines(studies: int) -> Iterator[str]:
    """The table, a row for each setting."""
    heads = "".join(f" {sources} sources |" for sources in SOURCES)
    yield f"| items a source | effects | share of sources |{heads}"
    yield "|---|---|---|" + "---|" * len(SOURCES)
    kept: list[tuple[str, Coverage]] = []
    for place, (items, sizes) in enumerate(ITEMS.items()):
        for shape, spread in SHAPES.items():
            for share in SHARES:
                rng = np.random.default_rng([place, round(10 * spread), round(10 * share)])
                found = [coverage(rng, sources, sizes, shape=spread, share=share, studies=studies) for sources in SOURCES]
                kept += [(shape, one) for one in found]
                cells = "".join(
                    f" **{one.interval:.1f}** ({one.percentiles:.1f}, {one.by_items:.1f}; {one.width:.2f}) |" for one in found
                )
                yield f"| {items} | {shape} | {share:g} |{cells}"
    yield ""
    mild = [one for shape, one in kept if shape != "log-normal, 1"]
    yield f"Normal and log-normal, 0.5: {_summed(mild)}"
    yield f"Log-normal, 1: {_summed([one for shape, one in kept if shape == 'log-normal, 1'])}"


def _summed(cells: list[Coverage]) -> str:
    within = {name: sum(93 <= getattr(one, name) <= 97 for one in cells) for name in ("interval", "percentiles")}
    ends = {name: sorted(getattr(one, name) for one in cells) for name in within}
    told = [
        f"{ends[name][0]:.1f} to {ends[name][-1]:.1f} %, {within[name]} of {len(cells)} cells within 93 to 97 %"
        for name in within
    ]
    return f"{told[0]}; percentiles {told[1]}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few studies")
    studies = 20 if parser.parse_args().quick else STUDIES
    print("## Intervals of means over items\n")
    print(
        f"How often the 95 % interval of `eval/comparing/statistics.py` holds the true mean, per cent of {studies:,} studies\n"
        "a cell (one standard error: 0.5). In brackets what percentiles of a bootstrap over sources hold, and what the mean ±\n"
        "1.96 standard errors of items taken for independent holds; then the median width over that of an exact interval.\n"
        "Below six sources nothing gives an interval.\n"
    )
    for line in lines(studies):
        print(line)
    print(
        "\nStrongly skewed effects (log-normal, 1) that make most of the variance fall short: their far tail is rarely among\n"
        "the sources drawn, no interval over so few knows of it, and more than fifty sources would be needed."
    )


if __name__ == "__main__":
    main()
